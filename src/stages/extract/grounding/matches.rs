//! Results of searching for utterances, and the ranges already matched.

use std::collections::BTreeSet;
use std::ops::Range;

use super::alignment::Alteration;
use crate::schema::Grounded;

/// The result of a search for an utterance.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    pub(crate) grounded: Grounded,
    /// Similarity to the text of the book, 0 to 1.
    pub(crate) similarity: f64,
    /// Range in code points of the decoded text.
    pub(crate) range: Option<(u32, u32)>,
    /// The most similar range, if the utterance was not found.
    pub(crate) nearest: Option<(u32, u32)>,
    /// The difference from the nearest range that changes the meaning.
    pub(crate) alteration: Option<Alteration>,
    /// The range, if the text is there but was already matched to another utterance.
    pub(crate) repeated: Option<(u32, u32)>,
}

impl Found {
    pub(crate) const fn absent(similarity: f64) -> Self {
        let grounded = Grounded::Absent;
        Self { grounded, similarity, range: None, nearest: None, alteration: None, repeated: None }
    }

    pub(crate) const fn at(grounded: Grounded, similarity: f64, range: (u32, u32)) -> Self {
        Self { grounded, similarity, range: Some(range), nearest: None, alteration: None, repeated: None }
    }
}

/// Ranges that are already matched; each range of the book is used once.
#[derive(Debug, Clone, Default)]
pub(crate) struct MatchedRanges {
    pub(crate) ranges: BTreeSet<(u32, u32)>,
    /// The length of the longest range.
    pub(crate) longest: u32,
}

impl MatchedRanges {
    pub(crate) fn add(&mut self, range: (u32, u32)) {
        self.longest = self.longest.max(range.1 - range.0);
        self.ranges.insert(range);
    }

    /// Whether more than half of a range is already matched.
    pub(crate) fn has(&self, (start, end): (u32, u32)) -> bool {
        let shared = |(from, to): &(u32, u32)| (*to).min(end).saturating_sub((*from).max(start));
        let near = self.ranges.range((start.saturating_sub(self.longest), 0)..(end, 0));
        near.into_iter().any(|matched| shared(matched) * 2 > (end - start).min(matched.1 - matched.0))
    }
}

/// A range that contains an utterance's characters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExactMatch {
    pub(crate) range: (u32, u32),
    /// Whether it was already matched to another utterance.
    pub(crate) already_matched: bool,
    /// Whether it is cut out of its clause.
    pub(crate) is_cut_off: bool,
}

/// A range that may match an utterance, in characters of the dialogue or of the whole text.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    /// Whether it is a range of the dialogue; otherwise of the whole text.
    pub(crate) is_dialogue: bool,
    /// The window that is most similar.
    pub(crate) matching: Range<usize>,
    /// The segment it lies in.
    pub(crate) within: Range<usize>,
}
