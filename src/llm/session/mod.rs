//! State shared by all models of a run.

mod budget_guard;
mod single_flight;
mod validators;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use jsonschema::Validator;
use serde_json::Value;
use tokio::sync::watch;

use super::dry_run::DryRun;
use super::record::Journal;
use super::usage::{Budget, Price, UsageTracker};
use crate::prompt::Prompts;
use crate::schema::Draw;
use budget_guard::BudgetGuard;
use single_flight::Flights;
use validators::Validators;

pub(super) use budget_guard::BudgetReservation;
pub(super) use single_flight::SingleFlight;

/// State shared by all models of a run: templates, journal, usage and budget.
pub struct Session {
    /// Seed of the run.
    pub seed: u64,
    /// Prompt templates.
    pub prompts: Prompts,
    /// Journal of answered requests.
    pub journal: Arc<dyn Journal>,
    /// Usage statistics.
    pub usage_tracker: UsageTracker,
    /// If set, only selected calls may be made; the answers of all others have to be in the journal.
    selected: Option<Box<Selected>>,
    /// Replaces the servers in a dry run.
    dry_run: Option<Arc<DryRun>>,
    budget_guard: BudgetGuard,
    /// Requests in flight.
    in_flight: AtomicU64,
    /// Receives messages about addresses that stop or resume responding.
    listener: OnceLock<Box<dyn Fn(String) + Send + Sync>>,
    stopped: watch::Sender<bool>,
    flights: Flights,
    validators: Validators,
}

/// Returns whether a call may be made.
type Selected = dyn Fn(&Draw) -> bool + Send + Sync;

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("seed", &self.seed).finish_non_exhaustive()
    }
}

impl Session {
    /// Creates a session. In a replay, every answer has to come from the journal.
    pub fn new(seed: u64, prompts: Prompts, journal: Arc<dyn Journal>, budget: Budget, replay: bool) -> Self {
        Self {
            seed,
            prompts,
            usage_tracker: UsageTracker::default(),
            selected: replay.then(|| Box::new(|_: &Draw| false) as Box<Selected>),
            dry_run: None,
            budget_guard: BudgetGuard::new(budget, &*journal),
            journal,
            in_flight: AtomicU64::new(0),
            listener: OnceLock::new(),
            stopped: watch::Sender::new(false),
            flights: Flights::default(),
            validators: Validators::default(),
        }
    }

    /// Creates a session for a dry run: no server is called, and no limits apply.
    pub fn dry_running(seed: u64, prompts: Prompts, journal: Arc<dyn Journal>, dry_run: Arc<DryRun>) -> Self {
        let session = Self::new(seed, prompts, journal, Budget::default(), false);
        Self { dry_run: Some(dry_run), ..session }
    }

    /// Makes every answer come from the journal, except for calls selected by `exempt`.
    #[must_use]
    pub fn replaying_but(self, exempt: impl Fn(&Draw) -> bool + Send + Sync + 'static) -> Self {
        Self { selected: Some(Box::new(exempt)), ..self }
    }

    /// Whether the answer of a call has to come from the journal.
    pub(super) fn replays(&self, draw: &Draw) -> bool {
        self.selected.as_ref().is_some_and(|is_selected| !is_selected(draw))
    }

    /// Returns what replaces the servers in a dry run.
    #[must_use]
    pub const fn dry_run(&self) -> Option<&Arc<DryRun>> {
        self.dry_run.as_ref()
    }

    /// Makes every later call, and every call that waits for its next try, end with
    /// [`AskError::Interrupted`](super::AskError::Interrupted); requests in flight finish and are kept.
    pub fn stop(&self) {
        self.stopped.send_replace(true);
    }

    /// Waits until [`stop`](Self::stop) is called.
    async fn stopped(&self) {
        let stopped = self.stopped.subscribe().wait_for(|stopped| *stopped).await.map(drop);
        stopped.expect("the sender is a field of `self`");
    }

    /// Registers a model, and counts its usage in the journal at its price.
    pub(super) fn register(&self, model: &str, price: Option<&Price>) {
        self.budget_guard.register(model, price);
    }

    /// Whether the budget limits tokens or cost.
    pub(super) const fn bounds_requests(&self) -> bool {
        self.budget_guard.bounds_requests()
    }

    /// Waits until no other call with this key is in flight, and blocks others until the returned value is dropped.
    ///
    /// Two concurrent calls with the same key would get two answers, of which a replay has only one.
    pub(super) async fn flight(&self, key: &str) -> SingleFlight<'_> {
        SingleFlight::new(self, key).await
    }

    /// Returns the number of requests in flight, not counting calls that wait for their turn or their next try.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Registers a listener for messages about addresses that stop or resume responding. Later listeners are ignored.
    pub fn on_address_message(&self, listener: impl Fn(String) + Send + Sync + 'static) {
        // A run has only one reporter.
        let _ = self.listener.set(Box::new(listener));
    }

    /// Sends a message to the listener.
    pub(super) fn report(&self, message: String) {
        tracing::info!("{message}");
        if let Some(listener) = self.listener.get() {
            listener(message);
        }
    }

    /// Returns the compiled validator of a schema.
    pub(super) fn validator(&self, schema: &Value) -> Result<Arc<Validator>, String> {
        self.validators.get(schema)
    }
}
