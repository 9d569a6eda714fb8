//! Groups questions that are connected by similarity, which must not be separated by a split.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU32, Ordering};

use super::postings::{Postings, Search};
use super::question_weights::Questions;
use super::terms::to_u32;
use super::threads::each;

/// Returns the family of each question: the index of the first of the questions that are connected to it by
/// similarities of at least `at_least`, directly or through others. Questions of different families are all less
/// similar. Unlike in [`duplicates`](super::duplicates), questions of one pattern count as similar even if they share
/// no rare word: a model trained on one must not be tested on the other.
#[must_use]
pub fn families<T: AsRef<str>>(questions: &[T], at_least: f64, threads: NonZeroUsize) -> Vec<usize> {
    let (distinct, numbers, firsts) = Questions::new(questions);
    let distinct = distinct.of_one_pattern();
    let all = Postings::new(&distinct, (0..to_u32(distinct.len())).collect());
    let search = || Search::new(&distinct);
    let at_least = at_least.clamp(super::MIN_THRESHOLD, 1.0);
    let parents: Vec<AtomicU32> = (0..to_u32(distinct.len())).map(AtomicU32::new).collect();
    each(distinct.len(), threads, search, |search, at| {
        let number = to_u32(at);
        let are_apart = |other| root(&parents, number) != root(&parents, other);
        search.each_before(&all, number, at_least, are_apart, |other| join(&parents, number, other));
    });
    numbers.into_iter().map(|number| firsts[root(&parents, number) as usize] as usize).collect()
}

/// Joins two families, safe with other threads joining at the same time. The first question is the root: a parent never
/// comes after its child, so the families do not depend on the order of joins.
fn join(parents: &[AtomicU32], one: u32, other: u32) {
    loop {
        let (one, other) = (root(parents, one), root(parents, other));
        let (first, second) = (one.min(other), one.max(other));
        let joined = || parents[second as usize].compare_exchange(second, first, Ordering::AcqRel, Ordering::Acquire);
        if first == second || joined().is_ok() {
            return;
        }
    }
}

fn root(parents: &[AtomicU32], number: u32) -> u32 {
    let mut at = number;
    loop {
        let parent = parents[at as usize].load(Ordering::Acquire);
        if parent == at {
            return at;
        }
        let above = parents[parent as usize].load(Ordering::Acquire);
        // Another thread may have shortened the path already, which is fine.
        let _ = parents[at as usize].compare_exchange(parent, above, Ordering::AcqRel, Ordering::Acquire);
        at = parent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thread_count_does_not_change_the_families() {
        let questions: Vec<String> = (0..400)
            .map(|number| match number % 4 {
                0 => format!("Where did you bury the old lamp of number {}?", number / 40),
                1 => format!("谁在渡口改了第{}本账？", number / 40),
                2 => format!("So where did you bury the old lamp of number {}, sir?", number / 40),
                _ => format!("Q{number} z{number}"),
            })
            .collect();
        let one = families(&questions, 0.5, NonZeroUsize::MIN);
        assert!(one.iter().enumerate().all(|(at, first)| *first <= at && one[*first] == *first));
        let distinct: std::collections::BTreeSet<_> = one.iter().collect();
        assert!((2..300).contains(&distinct.len()), "{}", distinct.len());
        for _ in 0..10 {
            assert_eq!(families(&questions, 0.5, NonZeroUsize::new(4).expect("it is four")), one);
        }
    }

    #[test]
    fn indirectly_similar_questions_are_one_family() {
        let questions = [
            "Where did you bury the old lamp?",
            "Who sold the ferry to the miller?",
            "Where did you bury the old lamp now?",
            "So where did you bury the old lamp now?",
            "Where did you bury the old lamp?",
            "账是谁改的？",
            "账是谁改的呢？",
        ];
        assert_eq!(families(&questions, 0.5, NonZeroUsize::MIN), [0, 1, 0, 0, 0, 5, 5]);
        assert_eq!(families(&questions, 1.0, NonZeroUsize::MIN), [0, 1, 2, 3, 0, 5, 6]);
        assert!(families::<&str>(&[], 0.5, NonZeroUsize::MIN).is_empty());
    }
}
