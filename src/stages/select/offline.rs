//! The offline answer of `select`'s ask: from the input record and a seeded generator alone.

use rand::RngExt as _;

use super::{Judge, Judgement};
use crate::llm::Offline;

/// Judges by chance.
pub(super) fn judge(ask: &Judge, offline: &mut Offline<'_>) -> Judgement {
    let criterion = &ask.criteria[offline.rng.random_range(0..ask.criteria.len())];
    Judgement {
        dimension_reason: "by chance".to_owned(),
        dimension: ask.hint.clone().unwrap_or_else(|| criterion.code.clone()),
        comparison: "by chance".to_owned(),
        score: offline.rng.random_range(1..=5),
    }
}
