//! The threshold that keeps a share.

use std::num::NonZeroUsize;

use super::greedy::kept;
use super::questions::Questions;

/// Thresholds are sought in thousandths.
const STEPS: u32 = 1000;

/// Returns the kept questions at the threshold that keeps at least so many, while the next lower thousandth keeps fewer, and
/// that threshold.
///
/// What is kept falls with the threshold, if not at every step, so the search closes in on one such place, the same each time. Where even
/// likeness of 1 removes too many, that is the threshold; where what shares no word is still too many, the first of it stay
/// and the threshold is 0.
pub(super) fn kept_share(questions: &Questions, wanted: usize, threads: NonZeroUsize) -> (f64, Vec<u32>) {
    let at = |step: u32| kept(questions, f64::from(step) / f64::from(STEPS), threads);
    if questions.len() <= wanted {
        return (1.0, at(STEPS));
    }
    // The likely answers lie in the middle, and both ends are known: at 0 one is kept, above 1 all are.
    let (mut below, mut fewer) = (0, 1);
    let (mut above, mut more, mut found) = (STEPS + 1, questions.len(), None);
    let mut halve = false;
    while above - below > 1 {
        let step = if halve { u32::midpoint(above, below) } else { between(below, fewer, above, more, wanted) };
        let width = above - below;
        let stay = at(step);
        if stay.len() >= wanted {
            (above, more, found) = (step, stay.len(), Some(stay));
        } else {
            (below, fewer) = (step, stay.len());
        }
        halve = (above - below) * 2 > width;
    }
    let Some(mut stay) = found else { return (1.0, at(STEPS)) };
    if below == 0 && stay.len() > wanted {
        stay.truncate(wanted);
        return (0.0, stay);
    }
    (f64::from(above) / f64::from(STEPS), stay)
}

/// Returns the step within two others where a straight line between what they keep meets what is wanted.
fn between(below: u32, fewer: usize, above: u32, more: usize, wanted: usize) -> u32 {
    let (rise, missing) = ((more - fewer).max(1) as u64, wanted.saturating_sub(fewer) as u64);
    let step = below + u32::try_from(missing * u64::from(above - below) / rise).unwrap_or(0);
    step.clamp(below + 1, above - 1)
}
