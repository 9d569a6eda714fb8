//! Text normalized for matching, with the offsets of the original.

use super::tokens::folded;
use crate::text::is_han;

/// A separator that no match may cross.
pub(crate) const SEPARATOR: char = '\u{1}';

/// Text normalized for matching: without punctuation, case, width and insignificant white space.
#[derive(Debug, Default)]
pub(crate) struct NormalizedText {
    pub(crate) text: String,
    pub(crate) chars: Vec<char>,
    /// The byte offset of each character.
    pub(crate) bytes: Vec<usize>,
    /// The offset of each character in the book, in code points.
    pub(crate) points: Vec<u32>,
    pub(crate) blank: bool,
}

impl NormalizedText {
    pub(crate) fn of(text: &str) -> Self {
        let mut normalized = Self::default();
        normalized.extend(text, 0);
        normalized
    }

    pub(crate) fn extend(&mut self, text: &str, start: u32) {
        for (point, c) in (start..).zip(text.chars()) {
            let c = folded(c);
            if c == '\'' {
                continue;
            }
            if !c.is_alphanumeric() {
                self.blank = true;
                continue;
            }
            let spaced = |c: char| !is_han(c) && c != SEPARATOR;
            if std::mem::take(&mut self.blank) && spaced(c) && self.chars.last().is_some_and(|before| spaced(*before)) {
                self.push(' ', point);
            }
            for c in c.to_lowercase() {
                self.push(c, point);
            }
        }
    }

    pub(crate) fn push(&mut self, c: char, point: u32) {
        self.bytes.push(self.text.len());
        self.text.push(c);
        self.chars.push(c);
        self.points.push(point);
    }

    /// Adds a separator before the text that follows.
    pub(crate) fn separate(&mut self) {
        if self.chars.last().is_some_and(|c| *c != SEPARATOR) {
            let point = self.points.last().map_or(0, |point| point + 1);
            self.push(SEPARATOR, point);
        }
        self.blank = false;
    }

    /// Returns the index of the character at a byte offset.
    pub(crate) fn char_index(&self, byte: usize) -> usize {
        self.bytes.partition_point(|at| *at < byte)
    }

    /// Returns the range in the book, in code points, of a range of characters.
    pub(crate) fn book_range(&self, from: usize, to: usize) -> (u32, u32) {
        (self.points[from], self.points[to - 1] + 1)
    }
}

/// Normalizes an utterance without surrounding punctuation; `None` if nothing is left.
pub(crate) fn normalize(text: &str) -> Option<NormalizedText> {
    let normalized =
        NormalizedText::of(text.trim_matches(|c: char| c.is_whitespace() || ".,;:!?。，；：！？．…—-".contains(c)));
    (!normalized.chars.is_empty()).then_some(normalized)
}
