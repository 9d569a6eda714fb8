//! Enforces the budget of a run.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

use crate::llm::error::AskError;
use crate::llm::record::Journal;
use crate::llm::usage::budget::{Budget, ReachedLimit, Room, Weight};
use crate::llm::usage::{Price, Usage};

/// Enforces the budget of a run, which counts what earlier processes have paid for.
#[derive(Debug)]
pub(super) struct BudgetGuard {
    budget: Budget,
    /// Calls started by this process.
    started: AtomicU64,
    /// Usage in the journal at the start, by the names of models that are not registered yet.
    unregistered: Mutex<BTreeMap<String, Usage>>,
    reserved: Mutex<Reserved>,
    released: Notify,
}

/// Usage that new requests have to leave room for.
#[derive(Debug, Default)]
struct Reserved {
    /// Usage paid for by earlier processes. It counts from the start, because otherwise new requests would use its
    /// share of the budget before it is read from the journal.
    before: Weight,
    /// Maximum usage of the requests in flight.
    in_flight: Weight,
}

impl BudgetGuard {
    pub(super) fn new(budget: Budget, journal: &dyn Journal) -> Self {
        let unregistered = if budget.bounds_requests() { journal.paid() } else { BTreeMap::new() };
        Self {
            budget,
            started: AtomicU64::new(0),
            unregistered: Mutex::new(unregistered),
            reserved: Mutex::default(),
            released: Notify::new(),
        }
    }

    /// Whether the budget limits tokens or cost.
    pub(super) const fn bounds_requests(&self) -> bool {
        self.budget.bounds_requests()
    }

    /// Registers a model, and counts its usage in the journal at its price.
    pub(super) fn register(&self, model: &str, price: Option<&Price>) {
        let mut unregistered = self.unregistered.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(usage) = unregistered.remove(model) {
            let mut reserved = self.reserved.lock().unwrap_or_else(PoisonError::into_inner);
            reserved.before = reserved.before.plus(Weight::of(&usage, price));
        }
    }

    /// Reserves budget for a request, waiting for others to finish if necessary. `paid` returns the usage of this
    /// process so far. Fails if no new request may start.
    pub(super) async fn reserve(
        &self,
        paid: impl Fn() -> Weight,
        weight: Weight,
    ) -> Result<BudgetReservation<'_>, AskError> {
        loop {
            let released = self.released.notified();
            if let Some(reservation) = self.try_reserve(&paid, weight)? {
                return Ok(reservation);
            }
            released.await;
        }
    }

    fn try_reserve(
        &self,
        paid: &impl Fn() -> Weight,
        weight: Weight,
    ) -> Result<Option<BudgetReservation<'_>>, AskError> {
        let mut reserved = self.reserved.lock().unwrap_or_else(PoisonError::into_inner);
        if self.budget.bounds_requests() {
            match self.budget.room(reserved.before.plus(paid()), reserved.in_flight, weight) {
                Room::Enough => {}
                Room::Later => return Ok(None),
                Room::None(limit) => return Err(AskError::Budget(limit)),
            }
        }
        reserved.in_flight = reserved.in_flight.plus(weight);
        Ok(Some(BudgetReservation { guard: self, weight }))
    }

    /// Counts a new call. Fails if the maximum number of calls has been started.
    pub(super) fn start_call(&self) -> Result<(), AskError> {
        let max = self.budget.max_calls.unwrap_or(u64::MAX);
        // Calls in flight count, since they cannot be undone.
        let more = |started| (started < max).then_some(started + 1);
        let started = self.started.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        let reached = || ReachedLimit { key: "max_calls", value: max.to_string() };
        started.map(drop).map_err(|_| AskError::Budget(reached()))
    }
}

/// Budget reserved for a request.
#[derive(Debug)]
pub(in crate::llm) struct BudgetReservation<'a> {
    guard: &'a BudgetGuard,
    weight: Weight,
}

impl Drop for BudgetReservation<'_> {
    fn drop(&mut self) {
        let mut reserved = self.guard.reserved.lock().unwrap_or_else(PoisonError::into_inner);
        reserved.in_flight = reserved.in_flight.minus(self.weight);
        drop(reserved);
        self.guard.released.notify_waiters();
    }
}
