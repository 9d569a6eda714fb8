//! English names and their mentions in a book.

mod bylines;
mod characters;
mod detection;
mod groups;
mod mentions;
pub(super) mod merging;
mod name_starts;
pub(super) mod self_naming;
pub(super) mod titles;
pub(super) mod vocatives;

use self::name_starts::NameStarts;
use super::sentence_position::SentencePosition;
use super::tokens::Tokens;
use crate::attribution::words::english::{ROLE, TITLE};

/// A name form, such as `Mr. Hale` or `Margaret`.
#[derive(Debug, Clone, Default)]
pub(super) struct Name {
    /// The form as first printed in the book.
    pub(super) form: String,
    /// Word index of the title.
    pub(super) title: Option<u32>,
    /// Word indices of the other words.
    pub(super) words: Vec<u32>,
    pub(super) count: u32,
    /// Its first mention, as an index into [`Names::mentions`].
    pub(super) first: usize,
    /// Number of mentions within a sentence, where capitalisation is informative.
    pub(super) inner: u32,
    /// Number of mentions in narration.
    pub(super) narrated: u32,
    /// Number of mentions next to a speech verb.
    pub(super) speech: u32,
    /// Number of mentions as a vocative.
    pub(super) vocative: u32,
    /// Number of mentions followed by a verb that takes only people as subjects.
    actions: u32,
    /// Number of mentions in positions typical of places: after `in`, `at`, `from` and the like.
    local: u32,
    female: u32,
    male: u32,
}

/// An occurrence of a name in the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mention {
    /// Index of the first token.
    pub(super) first: usize,
    /// Index after the last token.
    pub(super) end: usize,
    /// Index into [`Names::list`].
    pub(super) name: usize,
    pub(super) possessive: bool,
    /// Whether the name is a vocative.
    pub(super) vocative: bool,
    /// Grammatical position in the sentence.
    pub(super) position: SentencePosition,
    /// The character meant, if the name is a character's.
    pub(super) person: Option<usize>,
}

/// All names of a book.
pub(super) struct Names {
    pub(super) list: Vec<Name>,
    pub(super) mentions: Vec<Mention>,
    /// The tokens at which mentions begin.
    name_starts: NameStarts,
    /// The character of each name, if it has one.
    pub(super) people: Vec<Option<usize>>,
}

impl Names {
    /// Returns the mention that begins at a token.
    pub(super) fn mention(&self, at: usize) -> Option<Mention> {
        let (mention, begins) = self.name_starts.rank(at);
        begins.then(|| self.mentions[mention])
    }

    /// Returns the mentions that begin between two tokens.
    pub(super) fn between(&self, from: usize, to: usize) -> &[Mention] {
        &self.mentions[self.name_starts.rank(from).0..self.name_starts.rank(to).0]
    }

    /// Returns the character whose name begins at a token.
    pub(super) fn person(&self, at: usize) -> Option<usize> {
        self.mention(at).and_then(|mention| self.people[mention.name])
    }

    /// Whether a name is only a role noun: `the Captain`, in a book that capitalises it.
    pub(super) fn is_role(&self, book: &Tokens, name: usize) -> bool {
        let name = &self.list[name];
        name.title.is_none() && name.words.len() == 1 && book.words[name.words[0] as usize].class & (ROLE | TITLE) != 0
    }
}
