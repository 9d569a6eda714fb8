//! State shared by all models of a run.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use jsonschema::Validator;
use serde_json::Value;
use tokio::sync::{Notify, OwnedMutexGuard, watch};

use super::budget::{Budget, Room, Weight};
use super::dry_run::Rehearsal;
use super::error::AskError;
use super::record::{Journal, hash};
use super::usage::{Price, Usage, UsageTracker};
use crate::prompt::Prompts;
use crate::schema::Draw;

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
    /// Limits on usage.
    pub budget: Budget,
    /// Whether every answer has to come from the journal.
    pub replay: bool,
    /// Calls that may be made even in a replay.
    exempt: Option<Box<Exempt>>,
    /// Replaces the servers in a dry run.
    rehearsal: Option<Arc<Rehearsal>>,
    /// Calls started by this process.
    begun: AtomicU64,
    /// Requests in flight.
    in_flight: AtomicU64,
    /// Usage in the journal at the start, by the names of models that are not registered yet.
    paid: Mutex<BTreeMap<String, Usage>>,
    held: Mutex<Held>,
    released: Notify,
    /// Receives messages about addresses that stop or resume responding.
    listener: OnceLock<Box<dyn Fn(String) + Send + Sync>>,
    stopped: watch::Sender<bool>,
    flights: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

/// Returns whether a call may be made.
type Exempt = dyn Fn(&Draw) -> bool + Send + Sync;

/// Usage that new requests have to leave room for.
#[derive(Debug, Default)]
struct Held {
    /// Usage paid for by earlier processes. It counts from the start, because otherwise new requests would use its
    /// share of the budget before it is read from the journal.
    before: Weight,
    /// Maximum usage of the requests in flight.
    in_flight: Weight,
}

/// Maximum number of cached schema validators; schemas that list the characters of a scene change often.
const MOST_VALIDATORS: usize = 256;

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk").field("seed", &self.seed).field("replay", &self.replay).finish_non_exhaustive()
    }
}

impl Session {
    /// Creates a session.
    pub fn new(seed: u64, prompts: Prompts, journal: Arc<dyn Journal>, budget: Budget, replay: bool) -> Self {
        let paid = Mutex::new(if budget.bounds_requests() { journal.paid() } else { BTreeMap::new() });
        Self {
            seed,
            prompts,
            journal,
            paid,
            usage_tracker: UsageTracker::default(),
            budget,
            replay,
            exempt: None,
            rehearsal: None,
            begun: AtomicU64::new(0),
            in_flight: AtomicU64::new(0),
            held: Mutex::default(),
            released: Notify::new(),
            listener: OnceLock::new(),
            stopped: watch::Sender::new(false),
            flights: Mutex::default(),
            validators: Mutex::default(),
        }
    }

    /// Creates a session for a dry run: no server is called, and no limits apply.
    pub fn rehearsing(seed: u64, prompts: Prompts, journal: Arc<dyn Journal>, rehearsal: Arc<Rehearsal>) -> Self {
        let session = Self::new(seed, prompts, journal, Budget::default(), false);
        Self { rehearsal: Some(rehearsal), ..session }
    }

    /// Makes every answer come from the journal, except for calls selected by `exempt`.
    #[must_use]
    pub fn replaying_but(self, exempt: impl Fn(&Draw) -> bool + Send + Sync + 'static) -> Self {
        Self { replay: true, exempt: Some(Box::new(exempt)), ..self }
    }

    /// Whether the answer of a call has to come from the journal.
    pub(super) fn replays(&self, draw: &Draw) -> bool {
        self.replay && !self.exempt.as_ref().is_some_and(|exempt| exempt(draw))
    }

    /// Returns what replaces the servers in a dry run.
    #[must_use]
    pub const fn rehearsal(&self) -> Option<&Arc<Rehearsal>> {
        self.rehearsal.as_ref()
    }

    /// Makes every later call, and every call that waits for its next try, end with [`AskError::Interrupted`]; requests
    /// in flight finish and are kept.
    pub fn stop(&self) {
        self.stopped.send_replace(true);
    }

    /// Waits until [`stop`](Self::stop) is called.
    async fn stopped(&self) {
        let stopped = self.stopped.subscribe().wait_for(|stopped| *stopped).await.map(drop);
        stopped.expect("the sender is a field of `self`");
    }

    /// Registers a model, and counts its usage in the journal at its price.
    pub(super) fn engage(&self, model: &str, price: Option<&Price>) {
        let mut paid = self.paid.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(usage) = paid.remove(model) {
            let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            held.before = held.before.plus(Weight::of(&usage, price));
        }
    }

    /// Reserves budget for a request. Returns `None` if the request has to wait for others to finish, and an error if
    /// no new request may start.
    fn hold(&self, weight: Weight) -> Result<Option<Hold<'_>>, AskError> {
        if *self.stopped.borrow() {
            return Err(AskError::Interrupted);
        }
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if self.budget.bounds_requests() {
            match self.budget.room(held.before.plus(self.usage_tracker.paid()), held.in_flight, weight) {
                Room::Enough => {}
                Room::Later => return Ok(None),
                Room::None(bound) => return Err(AskError::Budget(bound)),
            }
        }
        held.in_flight = held.in_flight.plus(weight);
        Ok(Some(Hold { session: self, weight }))
    }

    /// Waits until no other call with this key is in flight, and blocks others until the returned value is dropped.
    ///
    /// Two concurrent calls with the same key would get two answers, of which a replay has only one.
    pub(super) async fn flight(&self, key: &str) -> Flight<'_> {
        let lock =
            self.flights.lock().unwrap_or_else(PoisonError::into_inner).entry(key.to_owned()).or_default().clone();
        let guard = Some(lock.lock_owned().await);
        Flight { session: self, key: key.to_owned(), guard, begun: AtomicBool::new(false) }
    }

    /// Returns the number of requests in flight, not counting calls that wait for their turn or their next try.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Registers a listener for messages about addresses that stop or resume responding. Later listeners are ignored.
    pub fn on_news(&self, listener: impl Fn(String) + Send + Sync + 'static) {
        // A run has only one reporter.
        let _ = self.listener.set(Box::new(listener));
    }

    /// Sends a message to the listener.
    pub(super) fn tell(&self, news: String) {
        tracing::info!("{news}");
        if let Some(listener) = self.listener.get() {
            listener(news);
        }
    }

    /// Returns the compiled validator of a schema.
    pub(super) fn validator(&self, schema: &Value) -> Result<Arc<Validator>, String> {
        let key = hash(schema);
        let validators = || self.validators.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(validator) = validators().get(&key) {
            return Ok(Arc::clone(validator));
        }
        let validator =
            jsonschema::validator_for(schema).map_err(|error| format!("the ask's schema is invalid: {error}"))?;
        let validator = Arc::new(validator);
        let mut validators = validators();
        if validators.len() >= MOST_VALIDATORS {
            validators.clear();
        }
        validators.insert(key, Arc::clone(&validator));
        Ok(validator)
    }
}

/// Exclusive permission to make calls with one key.
pub(super) struct Flight<'a> {
    session: &'a Session,
    key: String,
    guard: Option<OwnedMutexGuard<()>>,
    begun: AtomicBool,
}

impl<'a> Flight<'a> {
    /// Returns the key.
    pub(super) fn key(&self) -> &str {
        &self.key
    }

    /// Reserves budget for a request, waiting if necessary. Fails if no new request may start, or no new call if this
    /// is its first request. Drop the reservation after its usage was counted.
    pub(super) async fn begin(&self, weight: Weight) -> Result<Hold<'a>, AskError> {
        let hold = loop {
            let released = self.session.released.notified();
            if let Some(hold) = self.session.hold(weight)? {
                break hold;
            }
            tokio::select! {
                () = released => {}
                () = self.stopped() => return Err(AskError::Interrupted),
            }
        };
        self.begin_call()?;
        Ok(hold)
    }

    fn begin_call(&self) -> Result<(), AskError> {
        if self.begun.load(Ordering::Relaxed) {
            return Ok(());
        }
        let max = self.session.budget.max_calls.unwrap_or(u64::MAX);
        // Calls in flight count, since they cannot be undone.
        let more = |begun| (begun < max).then_some(begun + 1);
        let taken = self.session.begun.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        taken.map_err(|_| AskError::Budget(format!("max_calls = {max}")))?;
        self.begun.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Waits until the run is asked to stop.
    pub(super) async fn stopped(&self) {
        self.session.stopped().await;
    }

    /// Returns the shared session.
    pub(super) const fn session(&self) -> &Session {
        self.session
    }

    /// Counts a request as in flight until the value is dropped.
    pub(super) fn request(&self) -> InFlight<'_> {
        self.session.in_flight.fetch_add(1, Ordering::Relaxed);
        InFlight(&self.session.in_flight)
    }
}

/// Budget reserved for a request.
#[derive(Debug)]
pub(super) struct Hold<'a> {
    session: &'a Session,
    weight: Weight,
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        let mut held = self.session.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.in_flight = held.in_flight.minus(self.weight);
        drop(held);
        self.session.released.notify_waiters();
    }
}

/// A request in flight.
pub(super) struct InFlight<'a>(&'a AtomicU64);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        let mut flights = self.session.flights.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.guard.take());
        // One reference is held by the map; a second one belongs to a waiting call.
        if flights.get(&self.key).is_some_and(|lock| Arc::strong_count(lock) == 1) {
            flights.remove(&self.key);
        }
    }
}
