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
        let is_near = each(block.len(), threads, search, |search, at| {
            kept.iter().any(|kept| search.any(kept, block[at], threshold))
        });
        let remaining: Vec<u32> =
            block.iter().zip(is_near).filter(|(_, is_near)| !is_near).map(|(number, _)| *number).collect();
        let block_index = Postings::new(questions, remaining);
        let remaining = block_index.numbers();
        let similar = each(remaining.len(), threads, search, |search, at| {
            search.all_before(&block_index, remaining[at], threshold)
        });
        let mut kept_in_block: Vec<u32> = Vec::new();
        for (number, similar) in remaining.iter().zip(similar) {
            if !similar.iter().any(|other| kept_in_block.binary_search(other).is_ok()) {
                kept_in_block.push(*number);
            }
        }
        if kept_in_block.is_empty() {
            continue;
        }
        // Each index is more than twice as large as the next, so there are few of them and a question is rarely moved.
        while let Some(last) = kept.pop_if(|last| last.numbers().len() <= 2 * kept_in_block.len()) {
            kept_in_block.splice(..0, last.numbers().iter().copied());
        }
        kept.push(Postings::new(questions, kept_in_block));
    }
    kept.iter().flat_map(|kept| kept.numbers().iter().copied()).collect()
}
