//! What all models of a run share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{AskError, Budget, Journal, Ledger};
use crate::prompt::Prompts;

/// What all models of a run share: templates, journal, ledger and bounds.
pub struct Desk {
    /// The run's seed.
    pub seed: u64,
    /// The templates.
    pub prompts: Prompts,
    /// Where answers are kept.
    pub journal: Arc<dyn Journal>,
    /// What was asked.
    pub ledger: Ledger,
    /// What may be asked.
    pub budget: Budget,
    /// Whether every answer has to come from the journal.
    pub replay: bool,
    stopped: AtomicBool,
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk").field("seed", &self.seed).field("replay", &self.replay).finish_non_exhaustive()
    }
}

impl Desk {
    /// Makes a desk.
    pub fn new(seed: u64, prompts: Prompts, journal: Arc<dyn Journal>, budget: Budget, replay: bool) -> Self {
        Self { seed, prompts, journal, ledger: Ledger::default(), budget, replay, stopped: AtomicBool::new(false) }
    }

    /// Asks every later call to end with [`AskError::Interrupted`]; those in flight finish and are kept.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Fails when no new call may begin.
    pub(super) fn may_begin(&self) -> Result<(), AskError> {
        if self.stopped.load(Ordering::Relaxed) {
            return Err(AskError::Interrupted);
        }
        self.budget.reached(&self.ledger.totals()).map_or(Ok(()), |bound| Err(AskError::Budget(bound)))
    }
}
