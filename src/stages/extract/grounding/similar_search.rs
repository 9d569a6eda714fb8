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
    pub(super) fn align_candidate(&self, line: &[Token], candidate: Candidate) -> Option<(Alignment, (u32, u32))> {
        let Candidate { is_dialogue, matching, within } = candidate;
        let margin = matching.len() / 2 + 12;
        let text = self.normalized(is_dialogue);
        let from = matching.start.saturating_sub(margin).max(within.start);
        let to = (matching.end + margin).min(within.end);
        let (start, end) = text.book_range(from, to);
        let passage = if is_dialogue {
            let pieces = self.quotations(start..end).iter();
            let pieces = pieces.map(|quotation| (quotation.start.max(start), quotation.end.min(end)));
            pieces.flat_map(|(start, end)| self.words(self.book.slice(start, end), start)).collect()
        } else {
            self.words(self.book.slice(start, end), start)
        };
        let alignment = align(line, &passage, self.book.language, &|word| self.is_used(word))?;
        let (first, last) = alignment.words;
        let range = (passage[first].start, passage[last - 1].end);
        Some((alignment, range))
    }

    /// Finds the segments with the best Dice coefficient over any window of the utterance's length, with that window.
    /// The most similar comes first.
    pub(super) fn candidates(&self, speech: &NormalizedText) -> Vec<(f64, Candidate)> {
        let own = grams(&speech.chars, self.gram_length);
        if own.len() < 3 {
            return Vec::new();
        }
        let mut shared: Vec<u32> = vec![0; self.segments.last().map_or(0, |last| last.pieces.end)];
        for gram in &own {
            for piece in self.postings.get(gram).into_iter().flatten() {
                shared[*piece as usize] += 1;
            }
        }
        let mut order: Vec<(u32, usize, Range<usize>)> = Vec::new();
        for (at, segment) in self.segments.iter().enumerate() {
            let most = likely(&shared[segment.pieces.clone()], own.len());
            order.extend(most.into_iter().map(|(sum, pieces)| (sum, at, pieces)));
        }
        order.sort_by_key(|(sum, at, pieces)| (std::cmp::Reverse(*sum), *at, pieces.start));
        let mut utterance_grams: HashMap<u64, i32> = HashMap::new();
        for gram in &own {
            *utterance_grams.entry(*gram).or_default() += 1;
        }
        let mut candidates: Vec<(f64, Candidate)> = Vec::new();
        for (_, segment, pieces) in order.into_iter().take(4) {
            let Segment { is_dialogue, chars: within, .. } = &self.segments[segment];
            let text = self.normalized(*is_dialogue);
            let from = within.start + pieces.start * PIECE;
            let to = (within.start + pieces.end * PIECE + self.gram_length - 1).min(within.end);
            let (similarity, start, end) =
                window(&grams(&text.chars[from..to], self.gram_length), own.len(), &utterance_grams);
            let matching = from + start..(from + end + self.gram_length - 1).min(to);
            if similarity > 0.0 && !matching.is_empty() {
                candidates
                    .push((similarity, Candidate { is_dialogue: *is_dialogue, matching, within: within.clone() }));
            }
        }
        candidates.sort_by(|a, b| b.0.total_cmp(&a.0));
        candidates
    }
}
