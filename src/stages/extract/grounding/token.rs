//! A token of an utterance.

use crate::text::is_han;

/// What a difference in a word means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// Any other word.
    Ordinary,
    /// Can be missing without changing the meaning: `oh`, 啊.
    Filler,
    /// A name.
    Name,
    /// Capitalized at the beginning of a sentence: a name unless the word is also used in lower case.
    Capital,
    /// Distinguishes two names: with another word instead, it is another name.
    Discriminator,
    /// A number.
    Number,
    /// A negation.
    Negation,
}

/// A token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    /// Normalized: folded case, width and script, expanded contractions, numbers in digits.
    pub(crate) text: String,
    pub(crate) kind: TokenKind,
    /// Start in code points.
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// What begins with the word, judged by the punctuation before it.
    pub(crate) begins: Begins,
}

/// What a word begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Begins {
    /// Nothing.
    Nothing,
    /// A clause.
    Clause,
    /// A sentence.
    Sentence,
}

impl Token {
    /// Returns its weight in comparisons: its number of letters, 0 for fillers.
    pub(crate) fn weight(&self) -> f64 {
        if self.kind == TokenKind::Filler { 0.0 } else { crate::text::float(self.text.chars().count()) }
    }

    pub(crate) fn is_han(&self) -> bool {
        self.text.chars().any(is_han)
    }
}
