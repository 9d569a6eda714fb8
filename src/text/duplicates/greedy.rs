//! What is kept at a threshold.

use std::num::NonZeroUsize;

use super::postings::{Postings, Search};
use super::questions::{Questions, to_u32};
use super::threads::each;

/// How many questions are looked up at once. A block's own pairs are all found, so a larger one costs more of them; tests have few
/// questions, and want several blocks.
const BLOCK: usize = if cfg!(test) { 32 } else { 4096 };

/// Returns the kept questions, sorted: each that no kept one before it is at least so alike to.
///
/// A block is compared to what is kept of the blocks before it, then with itself, in parallel; only the decisions within the block
/// go one by one.
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
        // Each part is more than twice as large as the next: there are few of them, and a question seldom moves.
        while let Some(last) = kept.pop_if(|last| last.numbers().len() <= 2 * stay.len()) {
            stay.splice(..0, last.numbers().iter().copied());
        }
        kept.push(Postings::new(questions, stay));
    }
    kept.iter().flat_map(|kept| kept.numbers().iter().copied()).collect()
}
