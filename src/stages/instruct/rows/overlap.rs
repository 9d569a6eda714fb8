//! Measures how similar test rows are to training rows, on the rows as written.
//!
//! Independent of how the rows were split: tantivy ranks the training rows for each test row by BM25, and the score is
//! normalized in both directions by the score of a row with itself, ½ (s(a, b) / s(a, a) + s(b, a) / s(b, b)). Rare
//! words that distinguish two questions of the same pattern are not considered.

use std::collections::{BTreeMap, BTreeSet};

use crate::schema::Overlap;
use crate::text::bm25::Index;

/// The number of training rows compared with a test row: the top ones by BM25.
const COMPARED: usize = 20;
/// The number of rows ranked per row, large enough that the row itself is among them.
const RANKED: usize = 256;

/// Measures the overlap of test texts with training texts.
pub(super) fn overlap(test: &[&str], train: &[&str], near: f64) -> Overlap {
    let mut overlap = Overlap { test: test.len() as u64, ..Overlap::default() };
    if test.is_empty() || train.is_empty() {
        return overlap;
    }
    let trained: BTreeSet<&str> = train.iter().copied().collect();
    let mut rows: BTreeMap<&str, u64> = BTreeMap::new();
    for text in test {
        *rows.entry(text).or_default() += 1;
    }
    let texts: Vec<&str> =
        trained.iter().copied().chain(rows.keys().copied().filter(|text| !trained.contains(text))).collect();
    let indices: BTreeMap<&str, usize> = texts.iter().enumerate().map(|(index, text)| (*text, index)).collect();
    let mut ranks = Ranks { index: Index::new(&texts), texts: &texts, trained: trained.len(), known: BTreeMap::new() };
    for (text, count) in rows {
        let index = indices[text];
        let highest = if trained.contains(text) { 1.0 } else { ranks.highest(index) };
        overlap.alike += if highest >= near { count } else { 0 };
        overlap.highest = overlap.highest.max(highest);
    }
    overlap
}

/// Texts with their index; training texts come first.
struct Ranks<'a> {
    index: Index,
    texts: &'a [&'a str],
    trained: usize,
    /// Scores of training texts for test rows.
    known: BTreeMap<usize, Scores>,
}

/// The scores of a text for others, divided by its score with itself.
struct Scores {
    /// Sorted by the other text's index.
    shares: Vec<(u32, f32)>,
    /// The upper bound for texts that are not ranked.
    rest: f32,
}

impl Ranks<'_> {
    /// Returns the similarity of a test row to the most similar training text.
    fn highest(&mut self, index: usize) -> f64 {
        let trained = self.trained;
        let mut candidates = self.scores(index, |other| other < trained).shares;
        candidates.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        candidates.truncate(COMPARED);
        let similarity =
            |(other, share): (u32, f32)| f64::midpoint(f64::from(share), f64::from(self.share(other as usize, index)));
        candidates.into_iter().map(similarity).fold(0.0, f64::max)
    }

    /// Returns the normalized score of a training text for a test row.
    fn share(&mut self, trained: usize, index: usize) -> f32 {
        if !self.known.contains_key(&trained) {
            let scores = self.scores(trained, |other| other >= self.trained);
            self.known.insert(trained, scores);
        }
        let Scores { shares, rest } = &self.known[&trained];
        shares.binary_search_by_key(&index, |(other, _)| *other as usize).map_or(*rest, |position| shares[position].1)
    }

    /// Ranks the most similar texts, and keeps those that `is_asked` selects.
    fn scores(&self, index: usize, is_asked: impl Fn(usize) -> bool) -> Scores {
        let ranked = self.index.nearest(self.texts[index], RANKED);
        let last = ranked.last().map_or(1.0, |(_, score)| *score);
        // A text that is not among its own top results has many equals.
        let own = ranked.iter().find(|(other, _)| *other == index).map_or(last, |(_, score)| *score);
        let share = |score: f32| (score / own).min(1.0);
        let rest = if ranked.len() < RANKED { 0.0 } else { share(last) };
        let asked = ranked.iter().filter(|(other, _)| is_asked(*other));
        let share_of = |(other, score): &(usize, f32)| {
            (u32::try_from(*other).expect("there are fewer than 2^32 texts"), share(*score))
        };
        let mut shares: Vec<(u32, f32)> = asked.map(share_of).collect();
        shares.sort_unstable_by_key(|(other, _)| *other);
        Scores { shares, rest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_similarities_of_test_rows_are_kept() {
        let texts: Vec<String> = (0..300).map(|n| format!("Ann, is the ferry of day {n} late?")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let mut ranks = Ranks { index: Index::new(&texts), texts: &texts, trained: 290, known: BTreeMap::new() };
        for index in 290..300 {
            let highest = ranks.highest(index);
            assert!(highest > 0.0 && highest < 1.0, "{highest}");
        }
        assert!((1..=10 * COMPARED).contains(&ranks.known.len()));
        for scores in ranks.known.values() {
            assert!(scores.shares.len() <= 10 && scores.shares.iter().all(|(other, _)| *other >= 290));
            assert!(scores.shares.is_sorted_by_key(|(other, _)| *other));
        }
    }

    #[test]
    fn overlap_is_measured_in_both_languages() {
        let train = [
            "Ann, where did you bury the old lamp?",
            "Ann, who taught the miller to sing?",
            "Ann, what does a winter in the hills cost?",
            "阿满，账是谁改的？",
            "阿满，渡口夜里谁收船钱？",
        ];
        let near = |text: &str| overlap(&[text], &train, 0.6);
        assert!((near("Ann, where did you bury the old lamp?").highest - 1.0).abs() < 1e-9);
        let measured = near("Ann, where did you bury that old lamp?");
        assert_eq!((measured.test, measured.alike), (1, 1), "{measured:?}");
        assert_eq!(near("阿满，这账是谁改的？").alike, 1);
        let measured = near("Ann, why is the ferry late?");
        assert!(measured.alike == 0 && measured.highest > 0.0 && measured.highest < 0.4, "{measured:?}");
        assert_eq!(overlap(&["Why?"], &[], 0.5), Overlap { test: 1, ..Overlap::default() });
        assert_eq!(overlap(&[], &train, 0.5), Overlap::default());
        // Each row counts, and a row with many equals is no less similar.
        let many: Vec<String> = (0..400).map(|n| format!("Ann, is it late{}?", " now".repeat(n % 3))).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(overlap(&["Ann, is it so late now?"; 3], &many, 0.6).alike, 3);
    }
}
