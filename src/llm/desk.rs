//! What all models of a run share.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use jsonschema::Validator;
use serde_json::Value;
use tokio::sync::{Notify, OwnedMutexGuard, watch};

use super::budget::{Room, Weight};
use super::record::hash;
use super::{AskError, Budget, Journal, Ledger, Price, Rehearsal, Usage};
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
    /// What may be asked all the same where it has to.
    exempt: Option<Box<Exempt>>,
    /// What stands in for servers, where none is to be asked.
    rehearsal: Option<Arc<Rehearsal>>,
    /// Calls that this process has begun.
    begun: AtomicU64,
    /// Requests that are being answered.
    in_flight: AtomicU64,
    /// What the journal had at the beginning, by the names of the models that nobody has engaged yet.
    paid: Mutex<BTreeMap<String, Usage>>,
    held: Mutex<Held>,
    released: Notify,
    /// Who hears of addresses that fall silent and come back.
    listener: OnceLock<Box<dyn Fn(String) + Send + Sync>>,
    stopped: watch::Sender<bool>,
    flights: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

/// Says of an ask, a draw and a model's name whether the call may be made.
type Exempt = dyn Fn(&str, &str, &str) -> bool + Send + Sync;

/// What a new request has to leave room for.
#[derive(Debug, Default)]
struct Held {
    /// What earlier processes have paid for. It counts from the beginning: until a run has read it back, new requests would
    /// take its room.
    before: Weight,
    /// What requests in flight may take at most.
    in_flight: Weight,
}

/// So many compiled schemas are kept; schemas that name a scene's cast come and go.
const MOST_VALIDATORS: usize = 256;

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk").field("seed", &self.seed).field("replay", &self.replay).finish_non_exhaustive()
    }
}

impl Desk {
    /// Makes a desk.
    pub fn new(seed: u64, prompts: Prompts, journal: Arc<dyn Journal>, budget: Budget, replay: bool) -> Self {
        let paid = Mutex::new(if budget.bounds_requests() { journal.paid() } else { BTreeMap::new() });
        Self {
            seed,
            prompts,
            journal,
            paid,
            ledger: Ledger::default(),
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

    /// Makes a desk for a rehearsal: no server is asked, and nothing bounds what is.
    pub fn rehearsing(seed: u64, prompts: Prompts, journal: Arc<dyn Journal>, rehearsal: Arc<Rehearsal>) -> Self {
        let desk = Self::new(seed, prompts, journal, Budget::default(), false);
        Self { rehearsal: Some(rehearsal), ..desk }
    }

    /// Has every answer come from the journal but those of calls that `exempt` names by ask, draw and model.
    #[must_use]
    pub fn replaying_but(self, exempt: impl Fn(&str, &str, &str) -> bool + Send + Sync + 'static) -> Self {
        Self { replay: true, exempt: Some(Box::new(exempt)), ..self }
    }

    /// Says whether a call's answer has to come from the journal.
    pub(super) fn replays(&self, ask: &str, draw: &str, model: &str) -> bool {
        self.replay && !self.exempt.as_ref().is_some_and(|exempt| exempt(ask, draw, model))
    }

    /// Returns what stands in for servers, where none is to be asked.
    #[must_use]
    pub const fn rehearsal(&self) -> Option<&Arc<Rehearsal>> {
        self.rehearsal.as_ref()
    }

    /// Asks every later call to end with [`AskError::Interrupted`], and every call that waits for its next try; requests in
    /// flight finish and are kept.
    pub fn stop(&self) {
        self.stopped.send_replace(true);
    }

    /// Returns once [`stop`](Self::stop) was called.
    async fn stopped(&self) {
        let stopped = self.stopped.subscribe().wait_for(|stopped| *stopped).await.map(drop);
        stopped.expect("the sender lives as long as the desk");
    }

    /// Counts what the journal has of a model at its price.
    pub(super) fn engage(&self, model: &str, price: Option<&Price>) {
        let mut paid = self.paid.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(usage) = paid.remove(model) {
            let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            held.before = held.before.plus(Weight::of(&usage, price));
        }
    }

    /// Fails when no new request may begin. Returns nothing when one that may take so much has to wait for others; else
    /// what is held for it.
    fn hold(&self, weight: Weight) -> Result<Option<Hold<'_>>, AskError> {
        if *self.stopped.borrow() {
            return Err(AskError::Interrupted);
        }
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if self.budget.bounds_requests() {
            match self.budget.room(held.before.plus(self.ledger.paid()), held.in_flight, weight) {
                Room::Enough => {}
                Room::Later => return Ok(None),
                Room::None(bound) => return Err(AskError::Budget(bound)),
            }
        }
        held.in_flight = held.in_flight.plus(weight);
        Ok(Some(Hold { desk: self, weight }))
    }

    /// Waits until no other call with this key is in flight, and keeps others waiting until the flight is dropped.
    ///
    /// Two calls with one key would get two answers, of which a replay has only one.
    pub(super) async fn flight(&self, key: &str) -> Flight<'_> {
        let lock =
            self.flights.lock().unwrap_or_else(PoisonError::into_inner).entry(key.to_owned()).or_default().clone();
        let guard = Some(lock.lock_owned().await);
        Flight { desk: self, key: key.to_owned(), guard, begun: AtomicBool::new(false) }
    }

    /// Returns how many requests are being answered. What waits for its turn or its next try is none.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Names who hears of addresses that are parked and of those that answer again, in words; the first one named stays.
    pub fn on_news(&self, listener: impl Fn(String) + Send + Sync + 'static) {
        // Who is named later hears nothing: a run has one who watches.
        let _ = self.listener.set(Box::new(listener));
    }

    /// Tells whoever watches the run.
    pub(super) fn tell(&self, news: String) {
        tracing::info!("{news}");
        if let Some(listener) = self.listener.get() {
            listener(news);
        }
    }

    /// Returns the compiled form of a schema.
    pub(super) fn validator(&self, schema: &Value) -> Result<Arc<Validator>, String> {
        let key = hash(schema);
        let validators = || self.validators.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(validator) = validators().get(&key) {
            return Ok(Arc::clone(validator));
        }
        let validator = jsonschema::validator_for(schema).map_err(|error| format!("the ask's schema: {error}"))?;
        let validator = Arc::new(validator);
        let mut validators = validators();
        if validators.len() >= MOST_VALIDATORS {
            validators.clear();
        }
        validators.insert(key, Arc::clone(&validator));
        Ok(validator)
    }
}

/// The right to make the calls of one key.
pub(super) struct Flight<'a> {
    desk: &'a Desk,
    key: String,
    guard: Option<OwnedMutexGuard<()>>,
    begun: AtomicBool,
}

impl<'a> Flight<'a> {
    /// Returns the key.
    pub(super) fn key(&self) -> &str {
        &self.key
    }

    /// Fails when no new request may begin, or, before the call's first one, no new call. Keeps what the request may take
    /// from others until the value is dropped, which is to be when the ledger knows what it took.
    pub(super) async fn begin(&self, weight: Weight) -> Result<Hold<'a>, AskError> {
        let hold = loop {
            let released = self.desk.released.notified();
            if let Some(hold) = self.desk.hold(weight)? {
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
        let max = self.desk.budget.max_calls.unwrap_or(u64::MAX);
        // Calls in flight count before they end: they cannot be taken back.
        let more = |begun| (begun < max).then_some(begun + 1);
        let taken = self.desk.begun.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        taken.map_err(|_| AskError::Budget(format!("max_calls = {max}")))?;
        self.begun.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Returns once the run was asked to stop.
    pub(super) async fn stopped(&self) {
        self.desk.stopped().await;
    }

    /// Returns what all models of the run share.
    pub(super) const fn desk(&self) -> &Desk {
        self.desk
    }

    /// Counts a request as in flight until the value is dropped.
    pub(super) fn request(&self) -> InFlight<'_> {
        self.desk.in_flight.fetch_add(1, Ordering::Relaxed);
        InFlight(&self.desk.in_flight)
    }
}

/// What a request may take, kept from others.
#[derive(Debug)]
pub(super) struct Hold<'a> {
    desk: &'a Desk,
    weight: Weight,
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        let mut held = self.desk.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.in_flight = held.in_flight.minus(self.weight);
        drop(held);
        self.desk.released.notify_waiters();
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
        let mut flights = self.desk.flights.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.guard.take());
        // One reference is the table's own; another one belongs to a call that waits.
        if flights.get(&self.key).is_some_and(|lock| Arc::strong_count(lock) == 1) {
            flights.remove(&self.key);
        }
    }
}
