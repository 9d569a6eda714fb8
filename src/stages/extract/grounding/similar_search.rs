//! The approximate search for an utterance.

use std::collections::HashMap;
use std::ops::Range;

use super::alignment::{Alignment, align};
use super::matches::Candidate;
use super::ngrams::{PIECE, grams, likely, window};
use super::normalized::NormalizedText;
use super::passage_search::{PassageIndex, Segment};
use super::token::Token;

impl PassageIndex<'_> {
    /// Aligns an utterance with a segment plus a margin. Returns the alignment and the matched range.
    pub(super) fn beside(&self, line: &[Token], candidate: Candidate) -> Option<(Alignment, (u32, u32))> {
        let Candidate { talk, alike, within } = candidate;
        let margin = alike.len() / 2 + 12;
        let ground = self.plain(talk);
        let from = alike.start.saturating_sub(margin).max(within.start);
        let to = (alike.end + margin).min(within.end);
        let (start, end) = ground.place(from, to);
        let passage = if talk {
            let pieces = self.quotations(start..end).iter();
            let pieces = pieces.map(|quotation| (quotation.start.max(start), quotation.end.min(end)));
            pieces.flat_map(|(start, end)| self.words(self.book.slice(start, end), start)).collect()
        } else {
            self.words(self.book.slice(start, end), start)
        };
        let alignment = align(line, &passage, self.book.language, &|word| self.is_used(word))?;
        let (first, last) = alignment.words;
        let place = (passage[first].start, passage[last - 1].end);
        Some((alignment, place))
    }

    /// Finds the segments with the best Dice coefficient over any window of the utterance's length, with that window.
    /// The most similar comes first.
    pub(super) fn candidates(&self, plain: &NormalizedText) -> Vec<(f64, Candidate)> {
        let own = grams(&plain.chars, self.run);
        if own.len() < 3 {
            return Vec::new();
        }
        let mut shared: Vec<u32> = vec![0; self.passages.last().map_or(0, |last| last.pieces.end)];
        for gram in &own {
            for piece in self.postings.get(gram).into_iter().flatten() {
                shared[*piece as usize] += 1;
            }
        }
        let mut order: Vec<(u32, usize, Range<usize>)> = Vec::new();
        for (at, passage) in self.passages.iter().enumerate() {
            let most = likely(&shared[passage.pieces.clone()], own.len());
            order.extend(most.into_iter().map(|(sum, pieces)| (sum, at, pieces)));
        }
        order.sort_by_key(|(sum, at, pieces)| (std::cmp::Reverse(*sum), *at, pieces.start));
        let mut wanted: HashMap<u64, i32> = HashMap::new();
        for gram in &own {
            *wanted.entry(*gram).or_default() += 1;
        }
        let mut candidates: Vec<(f64, Candidate)> = Vec::new();
        for (_, passage, pieces) in order.into_iter().take(4) {
            let Segment { talk, chars: within, .. } = &self.passages[passage];
            let ground = self.plain(*talk);
            let from = within.start + pieces.start * PIECE;
            let to = (within.start + pieces.end * PIECE + self.run - 1).min(within.end);
            let (similarity, start, end) = window(&grams(&ground.chars[from..to], self.run), own.len(), &wanted);
            let alike = from + start..(from + end + self.run - 1).min(to);
            if similarity > 0.0 && !alike.is_empty() {
                candidates.push((similarity, Candidate { talk: *talk, alike, within: within.clone() }));
            }
        }
        candidates.sort_by(|a, b| b.0.total_cmp(&a.0));
        candidates
    }
}
