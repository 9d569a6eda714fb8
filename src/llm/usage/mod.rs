//! What calls cost: tokens, prices, statistics and the budget of a run.

pub(super) mod budget;
pub(super) mod fault;
pub(super) mod pricing;
pub(super) mod tracker;

pub use budget::{Budget, ReachedLimit};
pub use pricing::{Price, Usage};
pub use tracker::{Account, Totals, UsageTracker, part};
