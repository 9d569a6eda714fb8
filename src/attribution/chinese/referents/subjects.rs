//! The recent subjects of Chinese clauses, for the resolution of pronouns.

use super::{Referent, Referents};
use crate::attribution::Gender;
use crate::attribution::chinese::noun_phrases::NounPhrase;

impl Referents<'_> {
    /// Records the subject of a clause.
    pub(in crate::attribution::chinese) fn record_subject(&mut self, subject: &NounPhrase, at: usize) {
        let person = match self.resolve(subject) {
            Referent::Sure(person) | Referent::Likely(person, _) => person,
            Referent::Pronoun(gender) => match self.recent_subjects(at, gender).first() {
                Some(&person) => person,
                None => return,
            },
            Referent::Several => return,
        };
        self.subjects.push((at, person));
    }

    /// Returns the last subject between two offsets.
    pub(in crate::attribution::chinese) fn last_subject(&self, start: usize, end: usize) -> Option<usize> {
        self.subjects
            .iter()
            .rev()
            .find(|&&(offset, _)| offset < end)
            .filter(|&&(offset, _)| offset >= start)
            .map(|&(_, person)| person)
    }

    /// Returns the unnamed characters among the last subjects between two offsets, latest first.
    pub(in crate::attribution::chinese) fn recent_unnamed(&self, start: usize, end: usize) -> Vec<usize> {
        let inside = self
            .subjects
            .iter()
            .rev()
            .skip_while(|&&(offset, _)| offset >= end)
            .take_while(|&&(offset, _)| offset >= start);
        inside.take(6).map(|&(_, person)| person).filter(|&person| self.cast[person].role).collect()
    }

    /// Returns the recent subjects before an offset, latest first.
    pub(in crate::attribution::chinese) fn recent_subjects(&self, at: usize, gender: Gender) -> Vec<usize> {
        let mut people: Vec<usize> = Vec::new();
        for &(offset, person) in self.subjects.iter().rev().take(12) {
            let known_gender = self.cast[person].gender();
            let fits = gender == Gender::Unknown || known_gender == Gender::Unknown || known_gender == gender;
            if at > offset + 1200 || people.len() > 3 {
                break;
            }
            if offset < at && fits && !people.contains(&person) && self.narrator != Some(person) {
                people.push(person);
            }
        }
        people
    }
}
