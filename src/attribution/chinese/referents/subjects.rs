//! The recent subjects of Chinese clauses, for the resolution of pronouns.

use super::{Referent, Referents};
use crate::attribution::Gender;
use crate::attribution::chinese::noun_phrases::NounPhrase;

impl Referents<'_> {
    /// Records the subject of a clause.
    pub(in crate::attribution::chinese) fn record_subject(&mut self, who: &NounPhrase, at: usize) {
        let person = match self.resolve(who) {
            Referent::Sure(person) | Referent::Likely(person, _) => person,
            Referent::Pronoun(gender) => match self.recent_subjects(at, gender).first() {
                Some(&person) => person,
                None => return,
            },
            Referent::Several => return,
        };
        self.focus.push((at, person));
    }

    /// Returns the last subject between two offsets.
    pub(in crate::attribution::chinese) fn last_subject(&self, start: usize, end: usize) -> Option<usize> {
        self.focus
            .iter()
            .rev()
            .find(|&&(place, _)| place < end)
            .filter(|&&(place, _)| place >= start)
            .map(|&(_, person)| person)
    }

    /// Returns the unnamed characters among the last subjects between two offsets, latest first.
    pub(in crate::attribution::chinese) fn recent_unnamed(&self, start: usize, end: usize) -> Vec<usize> {
        let inside =
            self.focus.iter().rev().skip_while(|&&(place, _)| place >= end).take_while(|&&(place, _)| place >= start);
        inside.take(6).map(|&(_, person)| person).filter(|&person| self.cast[person].role).collect()
    }

    /// Returns the recent subjects before an offset, latest first.
    pub(in crate::attribution::chinese) fn recent_subjects(&self, at: usize, gender: Gender) -> Vec<usize> {
        let mut people: Vec<usize> = Vec::new();
        for &(place, person) in self.focus.iter().rev().take(12) {
            let own = self.cast[person].gender();
            let fits = gender == Gender::Unknown || own == Gender::Unknown || own == gender;
            if at > place + 1200 || people.len() > 3 {
                break;
            }
            if place < at && fits && !people.contains(&person) && self.narrator != Some(person) {
                people.push(person);
            }
        }
        people
    }
}
