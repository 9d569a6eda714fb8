//! Finds questions that repeat an earlier question of the same group.
//!
//! The similarity of two questions is a normalised BM25 score within the group: ½ (s(a, b) / s(a, a) + s(b, a) / s(b,
//! b)), with each half capped at ½. If one of them has rare terms and they share none of those, the similarity is
//! multiplied by 0.7, since they follow the same pattern rather than ask about the same thing. The similarity is in [0,
//! 1], symmetric, and 1 if the terms are equal. Weights are those of [`crate::text::bm25`], over the distinct questions
//! of the group.
//!
//! Questions are processed in the given order, which is the caller's order of preference (confidence, then content). A
//! question is kept unless its similarity to an earlier kept one is at least the threshold. So the first of equal
//! questions is kept, no two kept ones reach the threshold, and every removed one has a kept one that does. Results do
//! not depend on the number of threads or on other groups.
//!
//! tantivy finds the nearest texts for one query. Here every question is a query, and most have no match. The lists of
//! `postings` are therefore sorted so that a bound ends a search early without missing any match.

mod families;
mod kept_questions;
mod postings;
mod question_weights;
mod share;
mod terms;
mod threads;

pub use families::families;

use std::num::NonZeroUsize;

use postings::{Postings, Search};
use question_weights::Questions;

/// How much of a group is kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Keep {
    /// Keep questions whose similarity to all earlier kept ones is below this threshold, 0 to 1.
    Threshold(f64),
    /// Keep this share of the group, 0 to 1, by choosing the threshold.
    Share(f64),
}

impl Default for Keep {
    /// The share kept by `RoleLLM`, whose de-duplication removes about 66% (section 3 and appendix).
    fn default() -> Self {
        Self::Share(0.34)
    }
}

/// The result for one question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// Whether it is kept.
    pub kept: bool,
    /// The highest similarity to another kept question of the group, 0 to 1.
    pub similarity: f64,
    /// The index of that question (the first on a tie), or `None` if no other kept question shares a word with it.
    pub nearest: Option<usize>,
}

/// The result for a group.
#[derive(Debug, Clone, PartialEq)]
pub struct DuplicateReport {
    /// One verdict per question, in order.
    pub verdicts: Vec<Verdict>,
    /// The similarity at which a question is removed.
    pub threshold: f64,
    /// Whether similarities of kept questions were computed. If not, theirs is 0 and they have no nearest question; all
    /// that is known is that they do not reach the threshold.
    pub measured: bool,
}

/// Finds the duplicates in one group of questions, given in order of preference.
#[must_use]
pub fn duplicates<T: AsRef<str>>(questions: &[T], keep: Keep, threads: NonZeroUsize) -> DuplicateReport {
    find_duplicates(questions, keep, true, threads)
}

/// Like [`duplicates`], but skips the similarities of kept questions if `measured` is false. They take most of the time
/// in a large group, because each requires a search for a nearest question that is not near.
#[must_use]
pub fn find_duplicates<T: AsRef<str>>(
    questions: &[T],
    keep: Keep,
    measured: bool,
    threads: NonZeroUsize,
) -> DuplicateReport {
    let (distinct, numbers, firsts) = Questions::new(questions);
    let (threshold, kept) = match keep {
        Keep::Threshold(threshold) => {
            let threshold = threshold.clamp(MIN_THRESHOLD, 1.0);
            (threshold, kept_questions::kept(&distinct, threshold, threads))
        }
        Keep::Share(share) => share::kept_share(&distinct, target_count(share, questions.len()), threads),
    };
    let kept = Postings::new(&distinct, kept);
    let stays = |number: u32| kept.numbers().binary_search(&number).is_ok();
    let nearest = threads::each(
        distinct.len(),
        threads,
        || Search::new(&distinct),
        |search, number| match terms::to_u32(number) {
            number if !stays(number) => search.nearest(&kept, number, threshold),
            number if measured => search.nearest(&kept, number, 0.0),
            _ => None,
        },
    );
    let verdict = |(position, number): (usize, u32)| {
        let first = firsts[number as usize] as usize;
        let stays = stays(number);
        if stays && first != position {
            return Verdict { kept: false, similarity: 1.0, nearest: Some(first) };
        }
        let nearest = nearest[number as usize];
        Verdict {
            kept: stays,
            similarity: nearest.map_or(0.0, |(_, similarity)| similarity),
            nearest: nearest.map(|(other, _)| firsts[other as usize] as usize),
        }
    };
    DuplicateReport { verdicts: numbers.into_iter().enumerate().map(verdict).collect(), threshold, measured }
}

/// The minimum threshold, since questions without a shared word are never similar.
const MIN_THRESHOLD: f64 = 1e-6;

/// Returns a share of a count, rounded up.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count is a count")]
fn target_count(share: f64, questions: usize) -> usize {
    // 0.34 is slightly more than 34/100 in floating point, and 34 of 100 is meant.
    (share.clamp(0.0, 1.0) * crate::text::float(questions) - 1e-6).ceil().max(0.0) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const EN: [&str; 16] = [
        "who", "keeps", "the", "ferry", "ferries", "lamp", "at", "night", "sold", "you", "miller", "why", "did",
        "bury", "what", "is",
    ];
    const ZH: [&str; 16] =
        ["谁", "渡口", "船", "夜里", "你", "为什么", "账簿", "灯", "卖", "的", "是", "埋", "在", "东家", "水", "了"];

    fn threads(count: usize) -> NonZeroUsize {
        NonZeroUsize::new(count).expect("some")
    }

    /// Questions of few words, so that many are similar and some equal.
    fn groups() -> impl Strategy<Value = Vec<String>> {
        let words = prop::collection::vec(0_usize..16, 0..9);
        (any::<bool>(), prop::collection::vec(words, 0..70)).prop_map(|(zh, questions)| {
            let text = |words: Vec<usize>| {
                let words: Vec<&str> = words.into_iter().map(|word| if zh { ZH[word] } else { EN[word] }).collect();
                words.join(if zh { "" } else { " " })
            };
            questions.into_iter().map(text).collect()
        })
    }

    /// Reference implementation that compares all pairs.
    fn by_all_pairs(questions: &[String], threshold: f64) -> Vec<Verdict> {
        let (distinct, numbers, firsts) = Questions::new(questions);
        let mut kept: Vec<u32> = Vec::new();
        for number in 0..terms::to_u32(distinct.len()) {
            if kept.iter().all(|other| distinct.similarity(number, *other) < threshold) {
                kept.push(number);
            }
        }
        let verdict = |(position, number): (usize, &u32)| {
            let first = firsts[*number as usize] as usize;
            let stays = kept.contains(number);
            if stays && first != position {
                return Verdict { kept: false, similarity: 1.0, nearest: Some(first) };
            }
            let mut nearest: Option<(u32, f64)> = None;
            for other in kept.iter().filter(|other| *other != number) {
                let similarity = distinct.similarity(*number, *other);
                if similarity > nearest.map_or(0.0, |(_, most)| most) {
                    nearest = Some((*other, similarity));
                }
            }
            Verdict {
                kept: stays,
                similarity: nearest.map_or(0.0, |(_, similarity)| similarity),
                nearest: nearest.map(|(other, _)| firsts[other as usize] as usize),
            }
        };
        numbers.iter().enumerate().map(verdict).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_bounded_search_finds_every_duplicate(questions in groups(), thousandths in 1_u32..=1000) {
            let threshold = f64::from(thousandths) / 1000.0;
            let found = duplicates(&questions, Keep::Threshold(threshold), threads(1));
            prop_assert_eq!(&found.verdicts, &by_all_pairs(&questions, threshold));
            prop_assert_eq!(&found, &duplicates(&questions, Keep::Threshold(threshold), threads(3)));
            for verdict in &found.verdicts {
                // An empty question has no words to be similar by, but its repetition is still removed.
                prop_assert!(verdict.kept == (verdict.similarity < threshold), "{verdict:?}");
            }
            let fewer = find_duplicates(&questions, Keep::Threshold(threshold), false, threads(2));
            for (one, other) in found.verdicts.iter().zip(&fewer.verdicts) {
                prop_assert!(one == other || (one.kept && other.kept && other.nearest.is_none()));
            }
        }

        #[test]
        fn the_share_to_keep_is_met(questions in groups(), hundredths in 1_usize..=100) {
            let share = crate::text::float(hundredths) / 100.0;
            let found = duplicates(&questions, Keep::Share(share), threads(2));
            let kept = found.verdicts.iter().filter(|verdict| verdict.kept).count();
            let target_count = (questions.len() * hundredths).div_ceil(100);
            let count = |threshold: f64| {
                let found = duplicates(&questions, Keep::Threshold(threshold), threads(1));
                found.verdicts.iter().filter(|verdict| verdict.kept).count()
            };
            let target_count = target_count.min(count(1.0));
            prop_assert!(kept >= target_count, "{kept} of {target_count}");
            if found.threshold > 0.0 {
                prop_assert_eq!(&found.verdicts, &duplicates(&questions, Keep::Threshold(found.threshold), threads(1)).verdicts);
                let lower = count(((found.threshold * 1000.0).round() - 1.0) / 1000.0);
                prop_assert!(lower < target_count || found.threshold <= 0.001 || found.threshold >= 1.0, "{lower} of {target_count}");
            } else {
                prop_assert_eq!(kept, target_count);
            }
        }
    }

    #[test]
    fn the_block_size_does_not_change_the_result() {
        // More than two blocks, of words of which few are common.
        let text = |n: usize| {
            let word = |at: usize| (n * 2_654_435_761 + at * n * n) % (40 << (at * 2));
            format!("why did w{} keep the x{} of y{}", word(0), word(1), word(2))
        };
        let questions: Vec<String> = (0..2_200).map(text).collect();
        let found = duplicates(&questions, Keep::Threshold(0.6), threads(2));
        assert!(
            found.verdicts.iter().any(|verdict| verdict.kept) && found.verdicts.iter().any(|verdict| !verdict.kept)
        );
        assert_eq!(found.verdicts, by_all_pairs(&questions, 0.6));
    }

    #[test]
    fn the_first_of_equal_questions_is_kept() {
        let questions = ["Who sold the lamp?", "谁卖了灯？", "who SOLD the lamp", "Why?", "谁卖了灯。", "", "…"];
        let found = duplicates(&questions, Keep::Share(1.0), threads(1));
        let kept: Vec<bool> = found.verdicts.iter().map(|verdict| verdict.kept).collect();
        assert_eq!(kept, [true, true, false, true, false, true, true]);
        let nearest: Vec<Option<usize>> = found.verdicts.iter().map(|verdict| verdict.nearest).collect();
        assert_eq!(nearest, [None, None, Some(0), None, Some(1), None, None]);
    }

    #[test]
    fn questions_without_words_are_compared_by_their_text() {
        let questions = ["🌊?", "🔥?", "…", " 🌊? ", "", " ", "🌊🌊", "🔥?", "Why 🔥?", "Why?"];
        let found = duplicates(&questions, Keep::Threshold(0.5), threads(1));
        let kept: Vec<bool> = found.verdicts.iter().map(|verdict| verdict.kept).collect();
        assert_eq!(kept, [true, true, true, false, true, false, true, false, true, false]);
        assert_eq!(found.verdicts[7].nearest, Some(1));
    }

    #[test]
    fn an_empty_list_has_no_verdicts() {
        for keep in [Keep::default(), Keep::Threshold(0.5)] {
            assert!(duplicates::<&str>(&[], keep, threads(2)).verdicts.is_empty());
        }
    }

    #[test]
    fn keeping_a_share_removes_the_most_similar_first() {
        let questions = [
            "Where did you bury the old lamp?",
            "Who taught the miller to sing?",
            "Where did you bury that old lamp?",
            "What does a winter in the mountains cost?",
            "Where did you bury the lamp, then?",
        ];
        for (share, expected) in [(0.6, [true, true, false, true, false]), (0.2, [true, false, false, false, false])] {
            let found = duplicates(&questions, Keep::Share(share), threads(1));
            assert_eq!(found.verdicts.iter().map(|verdict| verdict.kept).collect::<Vec<_>>(), expected, "{share}");
        }
    }
}
