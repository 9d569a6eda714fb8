//! Characters referred to by English kinship nouns.

use super::Dialogue;
use crate::attribution::Gender;
use crate::attribution::speakers::{SpeakerCue, Turn};
use crate::attribution::words::english::ENGLISH;

/// Maximum score for a character who has spoken as a relative of that kind before; scaled by their share.
const RELATIVE_SCORE: f32 = 2.5;

impl Dialogue<'_> {
    /// Scores who may be `her mother` or `his wife`: recent characters with a fitting title, above all those who share
    /// a surname with another recent one.
    pub(super) fn score_kin(&self, turn: &mut Turn, phrase: &str, gender: Gender) {
        // `my mother` is one person, related to the narrator.
        if phrase.starts_with("my ") {
            return;
        }
        if let SpeakerCue::Role(_, role_person) = turn.cue
            && self.cast[role_person].role
        {
            turn.weights.push((role_person, -1.5));
        }
        let word = phrase.rsplit(' ').next().unwrap_or_default();
        for &(name, share) in self.evidence.kin.get(word).into_iter().flatten() {
            turn.weights.extend(self.names.people[name].map(|person| (person, share * RELATIVE_SCORE)));
        }
        let elder = ENGLISH.elder_kin.contains(word);
        let end = self.spans[turn.first].outer_start;
        let before = self.names.between(0, self.book.first_token_from(end));
        let recent = &before[before.len().saturating_sub(60)..];
        let mut considered: Vec<usize> = Vec::new();
        for mention in recent.iter().rev() {
            let Some(person) = mention.person else { continue };
            if considered.contains(&person) || self.cast[person].gender() != gender {
                continue;
            }
            considered.push(person);
            let titles: &[&str] = match (word, gender) {
                ("ladyship" | "lordship", _) => &["Lady ", "Lord "],
                (_, Gender::Female) => &["Mrs", "Lady "],
                _ => &["Mr.", "Mr ", "Sir ", "Lord "],
            };
            let fits = self.cast[person].forms.keys().any(|form| titles.iter().any(|title| form.starts_with(title)));
            if fits != elder {
                continue;
            }
            let family = elder
                && self.surname(person).is_some_and(|surname| {
                    recent.iter().any(|other| {
                        other.person.is_some_and(|other| other != person && self.surname(other) == Some(surname))
                    })
                });
            turn.weights.push((person, if family { 2.5 } else { 1.0 }));
            if considered.len() > 4 {
                break;
            }
        }
    }

    /// Returns the surname of a character, if one of its names shows it.
    fn surname(&self, person: usize) -> Option<u32> {
        self.surnames.get(&person).copied()
    }
}
