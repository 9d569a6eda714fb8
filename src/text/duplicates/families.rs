//! Which questions are alike, over any number of steps: what may not stand on both sides of a split.

use std::num::NonZeroUsize;

use super::postings::{Postings, Search};
use super::questions::{Questions, to_u32};
use super::threads::each;

/// Returns the family of each question: the place of the first of those that are at least so alike, directly or over
/// others between them. Questions of different families are all less alike than that. Questions of one pattern count as
/// alike here although they share no rare word: who learns from one must not be tested by the other.
#[must_use]
pub fn families<T: AsRef<str>>(questions: &[T], at_least: f64, threads: NonZeroUsize) -> Vec<usize> {
    let (distinct, numbers, firsts) = Questions::new(questions);
    let distinct = distinct.of_one_pattern();
    let all = Postings::new(&distinct, (0..to_u32(distinct.len())).collect());
    let search = || Search::new(&distinct);
    let at_least = at_least.clamp(super::LEAST, 1.0);
    let alike = each(distinct.len(), threads, search, |search, at| search.all_before(&all, to_u32(at), at_least));
    let mut parents: Vec<u32> = (0..to_u32(distinct.len())).collect();
    for (number, others) in (0..).zip(alike) {
        for other in others {
            let (one, other) = (root(&mut parents, number), root(&mut parents, other));
            // The first of a family stands for it.
            parents[one.max(other) as usize] = one.min(other);
        }
    }
    numbers.into_iter().map(|number| firsts[root(&mut parents, number) as usize] as usize).collect()
}

fn root(parents: &mut [u32], number: u32) -> u32 {
    let mut at = number;
    while parents[at as usize] != at {
        parents[at as usize] = parents[parents[at as usize] as usize];
        at = parents[at as usize];
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_alike_over_another_is_one_family() {
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
