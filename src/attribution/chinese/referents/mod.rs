//! Resolves Chinese nouns and pronouns to characters.
//!
//! A noun means the character whom the book has recently named with it, introduced by it, or mentioned by a longer form
//! of it; otherwise it is a new character. Speech is not considered here.

mod bindings;
mod naming;
mod resolution;
mod subjects;

use std::collections::BTreeMap;

use self::bindings::{NounOffsets, noun_name_phrases, nouns_of_names, titles_in_names};
use super::names::Names;
use crate::attribution::Gender;
use crate::attribution::known_characters::KnownCharacters;
use crate::attribution::people::CharacterDraft;

/// The character that a noun phrase refers to, with the certainty of that.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Referent {
    /// Certainly this character.
    Sure(usize),
    /// This character unless other evidence is stronger; with its score.
    Likely(usize, f32),
    /// Any character of this gender.
    Pronoun(Gender),
    /// Several characters at once.
    Several,
}

/// A character introduced by a noun.
struct IntroducedPerson {
    pub(super) noun: Vec<char>,
    person: usize,
    pub(super) at: usize,
}

/// The characters of a book, resolved from start to end.
pub(super) struct Referents<'a> {
    pub(super) text: &'a [char],
    pub(super) chars: &'a [char],
    pub(super) names: &'a Names,
    /// Whether the book distinguishes 她 from 他.
    pub(super) modern: bool,
    /// Whether the book is in traditional characters.
    traditional: bool,
    pub(super) cast: Vec<CharacterDraft>,
    pub(super) known_characters: &'a KnownCharacters,
    pub(super) roles: BTreeMap<String, usize>,
    /// By noun: the offsets where it precedes a name or is equated with one, and the character with that name.
    bound_nouns: NounOffsets,
    /// By noun: the mentions whose name ends in it, as surname and title.
    pub(super) titled: NounOffsets,
    pub(super) narrator: Option<usize>,
    introduced: Vec<IntroducedPerson>,
    /// The introductions already made, as (offset, character), so that none is made twice.
    pub(super) introductions: Vec<(usize, usize)>,
    /// Characters introduced by a noun, mapped to the named characters they turned out to be.
    pub(super) merged: BTreeMap<usize, usize>,
    /// The subjects of the clauses so far, as (offset, character).
    subjects: Vec<(usize, usize)>,
}

impl<'a> Referents<'a> {
    /// Starts with the named characters.
    pub(super) fn new(
        text: &'a [char],
        chars: &'a [char],
        names: &'a Names,
        mut cast: Vec<CharacterDraft>,
        modern: bool,
        known_characters: &'a KnownCharacters,
    ) -> Self {
        let roles = known_characters.roles(&mut cast);
        let written = chars.iter().zip(text).take(4000);
        let traditional = written.filter(|(original, folded)| original != folded).count() * 20 > chars.len().min(4000);
        let allowed = |mut nouns: NounOffsets, cast: &[CharacterDraft]| {
            nouns.retain(|noun, bearers| {
                let noun: String = noun.iter().collect();
                bearers.retain(|&(_, person)| known_characters.allows(&noun, &cast[person]));
                !bearers.is_empty()
            });
            nouns
        };
        let (bound, titled) = (allowed(nouns_of_names(text, names), &cast), allowed(titles_in_names(names), &cast));
        for (person, (phrase, count)) in noun_name_phrases(text, chars, names, &bound) {
            if known_characters.allows(&phrase, &cast[person]) {
                cast[person].add(&phrase, count);
            }
        }
        Self {
            text,
            chars,
            names,
            modern,
            traditional,
            cast,
            known_characters,
            roles,
            bound_nouns: bound,
            titled,
            narrator: None,
            introduced: Vec::new(),
            introductions: Vec::new(),
            merged: BTreeMap::new(),
            subjects: Vec::new(),
        }
    }

    fn character_for(&mut self, key: &str, gender: Gender) -> usize {
        if let Some(&person) = self.roles.get(key) {
            return person;
        }
        let person = self.cast.len();
        self.roles.insert(key.to_owned(), person);
        let known_gender = (gender != Gender::Unknown).then_some(gender);
        self.cast.push(CharacterDraft { role: true, known_gender, ..CharacterDraft::default() });
        person
    }

    fn add_unnamed(&mut self, phrase: &str, gender: Gender) -> usize {
        let person = self.character_for(phrase, gender);
        self.cast[person].add(phrase, 1);
        person
    }

    pub(super) fn printed(&self, from: usize, to: usize) -> String {
        self.chars[from..to].iter().collect()
    }
}
