//! Which of many questions say again what one before them has said.
//!
//! Two questions are as alike as the more doubtful of two measures says. One is BM25 within the group, each way normalised by
//! the score of the asking question with itself: ½ (s(a, b) / s(a, a) + s(b, a) / s(b, b)), a half being at most 1. The other
//! is Dice's coefficient over pairs of neighbouring letters ([`crate::text::likeness`]). The first knows which words matter,
//! the second that a question is more than its rarest words. The likeness lies in [0, 1], is symmetric, and is 1 where the
//! words and letters are the same.
//!
//! Questions are taken in the order in which they come, which is the caller's order of preference (confidence, then content). One is
//! kept unless a kept one before it is at least as alike as the threshold. So of equal questions the first is kept, no two
//! kept ones reach the threshold, and every removed one has a kept one that does. No figure depends on the number of threads,
//! nor on other groups.

mod families;
mod greedy;
mod postings;
mod questions;
mod share;
mod threads;

use std::num::NonZeroUsize;

pub use families::families;

use postings::{Postings, Search};
use questions::Questions;

/// How much is kept of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Keep {
    /// What is less alike than this to all kept before it, 0 to 1.
    Threshold(f64),
    /// This share of the group, 0 to 1, by the threshold that it takes.
    Share(f64),
}

impl Default for Keep {
    /// The share of RoleLLM, whose de-duplication removes about 66 % (section 3 and appendix).
    fn default() -> Self {
        Self::Share(0.34)
    }
}

/// What became of a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// Whether it stays.
    pub kept: bool,
    /// How alike it is to the most alike of the other kept questions of its group, 0 to 1.
    pub similarity: f64,
    /// The place of that question, the first of equals; none where no other kept one shares a word with it.
    pub nearest: Option<usize>,
}

/// What became of a group.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// A verdict for each question, in their order.
    pub verdicts: Vec<Verdict>,
    /// The likeness from which a question was removed.
    pub threshold: f64,
}

/// Judges the questions of one group, the preferred first.
#[must_use]
pub fn duplicates<T: AsRef<str>>(questions: &[T], keep: Keep, threads: NonZeroUsize) -> Found {
    let (distinct, numbers, firsts) = Questions::new(questions);
    let (threshold, kept) = match keep {
        Keep::Threshold(threshold) => {
            let threshold = threshold.clamp(LEAST, 1.0);
            (threshold, greedy::kept(&distinct, threshold, threads))
        }
        Keep::Share(share) => share::kept_share(&distinct, wanted(share, questions.len()), threads),
    };
    let kept = Postings::new(&distinct, kept);
    let nearest = threads::each(
        distinct.len(),
        threads,
        || Search::new(&distinct),
        |search, number| search.nearest(&kept, questions::to_u32(number), 0.0),
    );
    let verdict = |(place, number): (usize, u32)| {
        let first = firsts[number as usize] as usize;
        let stays = kept.numbers().binary_search(&number).is_ok();
        if stays && first != place {
            return Verdict { kept: false, similarity: 1.0, nearest: Some(first) };
        }
        let nearest = nearest[number as usize];
        Verdict {
            kept: stays,
            similarity: nearest.map_or(0.0, |(_, likeness)| likeness),
            nearest: nearest.map(|(other, _)| firsts[other as usize] as usize),
        }
    };
    Found { verdicts: numbers.into_iter().enumerate().map(verdict).collect(), threshold }
}

/// The least threshold: questions without a shared word are never alike.
const LEAST: f64 = 1e-6;

/// Returns how many questions a share of them is, rounded up.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count is a count")]
fn wanted(share: f64, questions: usize) -> usize {
    // A share such as 0.34 is a little more than it says, and 34 of 100 are meant.
    (share.clamp(0.0, 1.0) * crate::text::float(questions) - 1e-6).ceil().max(0.0) as usize
}
