//! Selects the questions kept at a threshold.

use std::num::NonZeroUsize;

use super::postings::{Postings, Search};
use super::question_weights::Questions;
use super::terms::to_u32;
use super::threads::each;

/// How many questions are processed per block. Similar pairs inside a block are all searched for, so a larger block
/// costs more. Tests have few questions and need several blocks.
const BLOCK: usize = if cfg!(test) { 32 } else { 4096 };

/// Returns the kept questions, sorted: each whose similarity to all earlier kept ones is below the threshold.
///
/// A block is compared to the kept questions of earlier blocks, then with itself, both in parallel. Only the decisions
/// inside the block are sequential.
pub(super) fn kept(questions: &Questions, threshold: f64, threads: NonZeroUsize) -> Vec<u32> {
    let mut kept: Vec<Postings> = Vec::new();
    let count = to_u32(questions.len());
    for start in (0..count).step_by(BLOCK) {
        let block: Vec<u32> = (start..count.min(start + to_u32(BLOCK))).collect();
        let search = || Search::new(questions);
        let near = each(block.len(), threads, search, |search, at| {
            kept.iter().any(|kept| search.any(kept, block[at], threshold))
        });
        let left: Vec<u32> = block.iter().zip(near).filter(|(_, near)| !near).map(|(number, _)| *number).collect();
        let own = Postings::new(questions, left);
        let left = own.numbers();
        let edges = each(left.len(), threads, search, |search, at| search.all_before(&own, left[at], threshold));
        let mut stay: Vec<u32> = Vec::new();
        for (number, edges) in left.iter().zip(edges) {
            if !edges.iter().any(|other| stay.binary_search(other).is_ok()) {
                stay.push(*number);
            }
        }
        if stay.is_empty() {
            continue;
        }
        // Each index is more than twice as large as the next, so there are few of them and a question is rarely moved.
        while let Some(last) = kept.pop_if(|last| last.numbers().len() <= 2 * stay.len()) {
            stay.splice(..0, last.numbers().iter().copied());
        }
        kept.push(Postings::new(questions, stay));
    }
    kept.iter().flat_map(|kept| kept.numbers().iter().copied()).collect()
}
