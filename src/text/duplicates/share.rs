//! Finds the threshold that keeps a given share.

use std::num::NonZeroUsize;

use super::kept_questions::kept;
use super::question_weights::Questions;

/// The resolution of the search: thresholds are multiples of 1/1000.
const STEPS: u32 = 1000;

/// Returns a threshold that keeps at least `target` questions while the next lower thousandth keeps fewer, and the
/// questions kept at it.
///
/// The number kept falls with the threshold, though not at every step, so the search converges to one such place,
/// always the same. If even a similarity of 1 removes too many, the threshold is 1. If questions without any shared
/// word are still too many, the first ones are kept and the threshold is 0.
pub(super) fn kept_share(questions: &Questions, target: usize, threads: NonZeroUsize) -> (f64, Vec<u32>) {
    let at = |step: u32| kept(questions, f64::from(step) / f64::from(STEPS), threads);
    if questions.len() <= target {
        return (1.0, at(STEPS));
    }
    // Likely answers are in the middle, and both ends are known: at 0 one question is kept, above 1 all are.
    let (mut below, mut fewer) = (0, 1);
    let (mut above, mut more, mut found) = (STEPS + 1, questions.len(), None);
    let mut halve = false;
    while above - below > 1 {
        let step = if halve { u32::midpoint(above, below) } else { between(below, fewer, above, more, target) };
        let width = above - below;
        let stay = at(step);
        if stay.len() >= target {
            (above, more, found) = (step, stay.len(), Some(stay));
        } else {
            (below, fewer) = (step, stay.len());
        }
        halve = (above - below) * 2 > width;
    }
    let Some(mut stay) = found else { return (1.0, at(STEPS)) };
    if below == 0 && stay.len() > target {
        stay.truncate(target);
        return (0.0, stay);
    }
    (f64::from(above) / f64::from(STEPS), stay)
}

/// Returns the step where a linear interpolation between two steps keeps the wanted number.
fn between(below: u32, fewer: usize, above: u32, more: usize, target: usize) -> u32 {
    let (rise, missing) = ((more - fewer).max(1) as u64, target.saturating_sub(fewer) as u64);
    let step = below + u32::try_from(missing * u64::from(above - below) / rise).unwrap_or(0);
    step.clamp(below + 1, above - 1)
}
