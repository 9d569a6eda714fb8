//! Chinese noun phrases that refer to people: a name, a pronoun, or a noun with its description.

mod descriptions;
pub(super) mod parse;
mod possession;
pub(super) mod unknown_subjects;

use crate::attribution::Gender;

/// The possessor in a noun phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Possessor {
    /// None.
    None,
    /// A pronoun or another noun.
    Pronoun,
    /// A name, by index.
    Name(usize),
}

/// A noun phrase without a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DescribedNoun {
    /// Start of the phrase.
    pub(super) from: usize,
    /// End of its determiner: `一个`, `那`.
    pub(super) bare: usize,
    /// Start of the head noun.
    pub(super) head: usize,
    /// End of the phrase.
    pub(super) to: usize,
    pub(super) gender: Gender,
    /// Whether it introduces a person: `一个`, `又一个`.
    pub(super) new: bool,
    /// Whether it has a demonstrative: `那`, `这`.
    pub(super) demonstrative: bool,
    /// Its possessor.
    pub(super) owner: Possessor,
    /// Whether it is plural.
    pub(super) several: bool,
}

impl DescribedNoun {
    /// Returns an undescribed noun for one person.
    const fn undescribed(from: usize, to: usize) -> Self {
        let (gender, owner) = (Gender::Unknown, Possessor::None);
        Self { from, bare: from, head: from, to, gender, new: false, demonstrative: false, owner, several: false }
    }
}

/// A noun phrase for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NounPhrase {
    /// Index of the name, and its offset.
    Name(usize, usize),
    /// Gender of a pronoun, and whether it is plural.
    Pronoun(Gender, bool),
    /// The narrator.
    Narrator,
    /// A noun.
    Role(DescribedNoun),
}
