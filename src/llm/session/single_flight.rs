//! At most one call per journal key at a time.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OwnedMutexGuard;

use super::Session;
use super::budget_guard::BudgetReservation;
use crate::llm::error::AskError;
use crate::llm::usage::budget::Weight;

/// The keys of the calls in flight.
pub(super) type Flights = Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>;

/// Exclusive permission to make calls with one key.
pub(in crate::llm) struct SingleFlight<'a> {
    session: &'a Session,
    key: String,
    guard: Option<OwnedMutexGuard<()>>,
    has_started: AtomicBool,
}

impl<'a> SingleFlight<'a> {
    /// Waits until no other call with this key is in flight, and blocks others until the returned value is dropped.
    pub(super) async fn new(session: &'a Session, key: &str) -> Self {
        let lock =
            session.flights.lock().unwrap_or_else(PoisonError::into_inner).entry(key.to_owned()).or_default().clone();
        let guard = Some(lock.lock_owned().await);
        Self { session, key: key.to_owned(), guard, has_started: AtomicBool::new(false) }
    }

    /// Returns the key.
    pub(in crate::llm) fn key(&self) -> &str {
        &self.key
    }

    /// Reserves budget for a request, waiting if necessary. Fails if no new request may start, or no new call if this
    /// is its first request. Drop the reservation after its usage was counted.
    pub(in crate::llm) async fn begin(&self, weight: Weight) -> Result<BudgetReservation<'a>, AskError> {
        let session = self.session;
        let reservation = tokio::select! {
            biased;
            () = self.stopped() => return Err(AskError::Interrupted),
            reservation = session.budget_guard.reserve(|| session.usage_tracker.paid(), weight) => reservation?,
        };
        if !self.has_started.load(Ordering::Relaxed) {
            session.budget_guard.start_call()?;
            self.has_started.store(true, Ordering::Relaxed);
        }
        Ok(reservation)
    }

    /// Waits until the run is asked to stop.
    pub(in crate::llm) async fn stopped(&self) {
        self.session.stopped().await;
    }

    /// Returns the shared session.
    pub(in crate::llm) const fn session(&self) -> &Session {
        self.session
    }

    /// Counts a request as in flight until the value is dropped.
    pub(in crate::llm) fn request(&self) -> InFlight<'_> {
        self.session.in_flight.fetch_add(1, Ordering::Relaxed);
        InFlight(&self.session.in_flight)
    }
}

impl Drop for SingleFlight<'_> {
    fn drop(&mut self) {
        let mut flights = self.session.flights.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.guard.take());
        // One reference is held by the map; a second one belongs to a waiting call.
        if flights.get(&self.key).is_some_and(|lock| Arc::strong_count(lock) == 1) {
            flights.remove(&self.key);
        }
    }
}

/// A request in flight.
pub(in crate::llm) struct InFlight<'a>(&'a AtomicU64);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
