//! Scheduler for the addresses of a model: decides which call is sent next, where and when. Opens no connections.
//!
//! All waiting calls are in one queue: calls of work in progress before new ones, then by arrival. The first call goes
//! to the least busy address that accepts a request now; recent failures of an address count as load. A call that waits
//! for its next try is not in the queue and blocks no other. The order of requests does not affect the answers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::time::Instant;

use super::address_limits::{
    AddressChange, AddressLimits, ConfiguredLimits, QuotaHeaders, Reaction, RequestEnd, Start,
};

/// Position of a call in the queue, kept over its tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct QueuePosition {
    /// `false` for work in progress, which goes first.
    is_new: bool,
    arrived: u64,
}

impl QueuePosition {
    /// Moves a call that has started ahead of new calls.
    pub(crate) const fn begun(self) -> Self {
        Self { is_new: false, ..self }
    }
}

/// A change at an address that is reported to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AddressEvent {
    /// Index of the address.
    pub(crate) address: usize,
    /// The change.
    pub(crate) change: AddressChange,
    /// Number of waiting calls.
    pub(crate) waiting: usize,
}

/// Scheduler for the addresses of a model.
#[derive(Debug)]
pub(crate) struct Scheduler {
    most: usize,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    addresses: Vec<AddressLimits>,
    queue: BTreeMap<QueuePosition, Arc<Notify>>,
    arrived: u64,
    in_flight: usize,
    has_answered: bool,
    /// Whether a request failed before any was answered.
    has_failed: bool,
}

impl Scheduler {
    /// Creates a scheduler for this many addresses.
    pub(crate) fn new(addresses: usize, limits: ConfiguredLimits) -> Self {
        let now = Instant::now();
        let most = limits.concurrency.max(1);
        let addresses =
            std::iter::repeat_with(|| AddressLimits::new(most, limits, now)).take(addresses.max(1)).collect();
        let state = State {
            addresses,
            queue: BTreeMap::new(),
            arrived: 0,
            in_flight: 0,
            has_answered: false,
            has_failed: false,
        };
        Self { most, state: Mutex::new(state) }
    }

    /// Returns the queue position of a new call.
    pub(crate) fn new_position(&self, has_begun: bool) -> QueuePosition {
        let mut state = self.state();
        state.arrived += 1;
        QueuePosition { is_new: !has_begun, arrived: state.arrived }
    }

    /// Whether requests are weighed by tokens.
    pub(crate) fn weighs(&self) -> bool {
        self.state().addresses.iter().any(AddressLimits::weighs)
    }

    /// Whether any address has ever answered.
    pub(crate) fn has_answered(&self) -> bool {
        self.state().has_answered
    }

    /// Waits until a request with this many tokens may start.
    pub(crate) async fn enter(&self, position: QueuePosition, tokens: u32) -> Permit<'_> {
        let cost = f64::from(tokens);
        {
            let mut state = self.state();
            if state.queue.is_empty()
                && let Ok(start) = state.start_request(self.most, cost)
            {
                return Permit { scheduler: self, start, cost, used: None };
            }
        }
        let waiter = Waiter::new(self, position);
        loop {
            let (permit, until) = {
                let mut state = self.state();
                if state.queue.first_key_value().is_some_and(|(first, _)| *first == position) {
                    match state.start_request(self.most, cost) {
                        Ok(start) => (Some(Permit { scheduler: self, start, cost, used: None }), None),
                        Err(until) => (None, until),
                    }
                } else {
                    (None, None)
                }
            };
            if let Some(permit) = permit {
                return permit; // dropping the waiter wakes the next call
            }
            match until {
                Some(until) => {
                    // A timeout has the same effect as a notification.
                    let _ = tokio::time::timeout_at(until, waiter.notify.notified()).await;
                }
                None => waiter.notify.notified().await,
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Reserves a slot at the least busy address that accepts a request, or returns when to try again.
    fn start_request(&mut self, most: usize, cost: f64) -> Result<Start, Option<Instant>> {
        if self.in_flight >= most {
            return Err(None);
        }
        let now = Instant::now();
        let (mut best, mut until): (Option<usize>, Option<Instant>) = (None, None);
        for at in 0..self.addresses.len() {
            match self.addresses[at].ready(cost, now) {
                Ok(()) => {
                    let load = |at: usize| self.addresses[at].load();
                    best = best.filter(|best| load(*best) <= load(at)).or(Some(at));
                }
                Err(wait) => until = until.into_iter().chain(wait).min(),
            }
        }
        let at = best.ok_or(until)?;
        self.in_flight += 1;
        Ok(self.addresses[at].begin(at, cost, now))
    }

    fn wake(&self) {
        if let Some((_, first)) = self.queue.first_key_value() {
            first.notify_one();
        }
    }
}

/// Permission to have one request in flight.
#[derive(Debug)]
pub(crate) struct Permit<'a> {
    scheduler: &'a Scheduler,
    start: Start,
    cost: f64,
    /// Actual number of tokens, once the request has ended.
    used: Option<f64>,
}

impl Permit<'_> {
    /// Returns the index of the address to send the request to.
    pub(crate) const fn address(&self) -> usize {
        self.start.address
    }

    /// Whether the request probes an address whose breaker is open.
    pub(crate) const fn is_probe(&self) -> bool {
        self.start.is_probe
    }

    /// Records a response and the quota in its headers.
    pub(crate) fn record_response(&self, quota: &QuotaHeaders) {
        let mut state = self.scheduler.state();
        state.has_answered = true;
        state.addresses[self.start.address].record_response(self.start.begun, quota, Instant::now());
    }

    /// Returns news if the address has been silent long enough to report.
    pub(crate) fn stall(&self) -> Option<AddressEvent> {
        let mut state = self.scheduler.state();
        let address = &mut state.addresses[self.start.address];
        let change = AddressChange::Silent(address.stall(Instant::now())?);
        Some(AddressEvent { address: self.start.address, change, waiting: address.in_flight })
    }

    /// Ends the request. `used` is the actual number of tokens.
    pub(crate) fn end(mut self, end: RequestEnd, used: u64) -> (Reaction, Option<AddressEvent>) {
        #[expect(clippy::cast_precision_loss, reason = "token counts stay far below 2^52")]
        let used = used as f64;
        self.used = Some(used);
        let mut state = self.scheduler.state();
        let is_only = state.addresses.len() == 1;
        let is_first = is_only && !state.has_answered && !state.has_failed;
        state.has_failed |= is_first;
        // If nothing was ever answered, failures soon repeat and end the run, but timeouts would block it for a long
        // time.
        let may_open = state.has_answered || !is_only || end == RequestEnd::TimedOut;
        state.has_answered |= !matches!(end, RequestEnd::Failed(_) | RequestEnd::TimedOut);
        let (address, now) = (&mut state.addresses[self.start.address], Instant::now());
        let (mut reaction, change) = match end {
            RequestEnd::Answered => (Reaction::Nothing, address.answer(self.start.begun, now)),
            RequestEnd::Refused(asked) => address.refuse(self.start, asked, now),
            RequestEnd::Failed(asked) => address.fail(self.start.is_probe, asked, may_open, now),
            RequestEnd::TimedOut => address.fail(self.start.is_probe, None, may_open, now),
        };
        let is_unreached = change.is_none() && is_first && end != RequestEnd::Answered;
        address.was_reported |= is_unreached;
        let change = if is_unreached { Some(AddressChange::Unreached) } else { change };
        if reaction == Reaction::GiveUp && !state.addresses.iter().all(AddressLimits::is_breaker_open) {
            reaction = Reaction::Queue;
        }
        let waiting = state.queue.len() + usize::from(end != RequestEnd::Answered);
        (reaction, change.map(|change| AddressEvent { address: self.start.address, change, waiting }))
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let mut state = self.scheduler.state();
        state.in_flight -= 1;
        let address = &mut state.addresses[self.start.address];
        address.release(self.start.is_probe, self.cost, self.used);
        state.wake();
    }
}

/// A call in the queue.
struct Waiter<'a> {
    scheduler: &'a Scheduler,
    position: QueuePosition,
    notify: Arc<Notify>,
}

impl<'a> Waiter<'a> {
    fn new(scheduler: &'a Scheduler, position: QueuePosition) -> Self {
        let notify = Arc::new(Notify::new());
        scheduler.state().queue.insert(position, Arc::clone(&notify));
        Self { scheduler, position, notify }
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        let mut state = self.scheduler.state();
        state.queue.remove(&self.position);
        state.wake();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn scheduler(addresses: usize, concurrency: usize) -> Scheduler {
        Scheduler::new(addresses, ConfiguredLimits { concurrency, ..ConfiguredLimits::default() })
    }

    /// Starts a new call without tokens.
    async fn enter(scheduler: &Scheduler) -> Permit<'_> {
        scheduler.enter(scheduler.new_position(false), 0).await
    }

    /// Starts a new call if that is possible now.
    async fn try_enter(scheduler: &Scheduler) -> Option<Permit<'_>> {
        tokio::select! { biased; permit = enter(scheduler) => Some(permit), () = std::future::ready(()) => None }
    }

    fn seconds(since: Instant) -> f64 {
        since.elapsed().as_secs_f64()
    }

    #[tokio::test(start_paused = true)]
    async fn starts_are_spread_and_concurrency_is_limited() {
        let scheduler = scheduler(1, 20);
        let begun = Instant::now();
        let mut permits = Vec::new();
        for _ in 0..20 {
            permits.push(enter(&scheduler).await);
        }
        assert!((0.02..0.1).contains(&seconds(begun)), "{}", seconds(begun));
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert!(try_enter(&scheduler).await.is_none());
        permits.pop().expect("twenty").end(RequestEnd::Answered, 0);
        assert!(try_enter(&scheduler).await.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn work_in_progress_goes_first_then_by_arrival() {
        let scheduler = scheduler(1, 1);
        let only = enter(&scheduler).await;
        let finished = Mutex::new(Vec::new());
        let go = async |name: &str, position: QueuePosition| {
            let permit = scheduler.enter(position, 0).await;
            finished.lock().unwrap().push(name.to_owned());
            permit.end(RequestEnd::Answered, 0);
        };
        let (new, later, begun, again) = (
            scheduler.new_position(false),
            scheduler.new_position(false),
            scheduler.new_position(true),
            scheduler.new_position(false),
        );
        let free = async {
            tokio::task::yield_now().await;
            only.end(RequestEnd::Answered, 0);
        };
        tokio::join!(go("later", later), go("new", new), go("begun", begun), go("tried again", again.begun()), free,);
        assert_eq!(*finished.lock().unwrap(), ["begun", "tried again", "new", "later"]);
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_that_just_failed_is_less_preferred() {
        let scheduler = scheduler(2, 4);
        let first = enter(&scheduler).await;
        assert_eq!(first.address(), 0);
        first.end(RequestEnd::Failed(None), 0);
        for _ in 0..3 {
            tokio::time::sleep(Duration::from_secs(1)).await; // so that the rate limiter does not delay it
            let next = enter(&scheduler).await;
            assert_eq!(next.address(), 1);
            next.end(RequestEnd::Answered, 0);
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        let (one, two) = (enter(&scheduler).await, enter(&scheduler).await);
        assert_eq!([one.address(), two.address()], [1, 0], "a busy address is not preferred to one that failed");
    }

    #[tokio::test(start_paused = true)]
    async fn a_cancelled_waiter_blocks_no_other() {
        let scheduler = scheduler(1, 1);
        let only = enter(&scheduler).await;
        let position = scheduler.new_position(true);
        let waits = tokio::time::timeout(Duration::from_secs(1), scheduler.enter(position, 0)).await;
        assert!(waits.is_err() && scheduler.state().queue.is_empty());
        drop(only);
        assert!(try_enter(&scheduler).await.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_configured_token_limit_is_kept_and_corrected_by_actual_usage() {
        let limits =
            ConfiguredLimits { concurrency: 100, tokens_per_minute: Some(60_000), ..ConfiguredLimits::default() };
        let scheduler = Scheduler::new(1, limits);
        assert!(scheduler.weighs());
        let begun = Instant::now();
        for _ in 0..10 {
            // Half of the estimated tokens are returned.
            scheduler.enter(scheduler.new_position(false), 2000).await.end(RequestEnd::Answered, 1000);
        }
        assert!((8.0..11.0).contains(&seconds(begun)), "{}", seconds(begun));
        let begun = Instant::now();
        for _ in 0..5 {
            scheduler.enter(scheduler.new_position(false), 1000).await.end(RequestEnd::Failed(None), 0);
        }
        assert!(seconds(begun) < 2.0, "failed requests use no tokens: {}", seconds(begun));
    }

    #[tokio::test(start_paused = true)]
    async fn rejections_in_a_row_close_the_address_once() {
        let scheduler = scheduler(1, 50);
        let mut permits = Vec::new();
        for _ in 0..30 {
            permits.push(enter(&scheduler).await);
        }
        for permit in permits.drain(..20) {
            permit.end(RequestEnd::Answered, 0);
        }
        let begun = Instant::now();
        for (n, permit) in permits.into_iter().enumerate() {
            let (reaction, event) = permit.end(RequestEnd::Refused(Some(Duration::from_secs(1))), 0);
            let expected = if n < 2 { Reaction::Nothing } else { Reaction::Queue };
            assert_eq!((reaction, event), (expected, None), "up to two rejections count as random");
        }
        enter(&scheduler).await.end(RequestEnd::Answered, 0);
        assert!((0.99..1.1).contains(&seconds(begun)), "{}", seconds(begun));
        // Twenty requests were accepted in less than a second.
        for _ in 0..20 {
            enter(&scheduler).await.end(RequestEnd::Answered, 0);
        }
        assert!((1.9..2.2).contains(&seconds(begun)), "{}", seconds(begun));
        // A single rejection neither closes the address nor lowers the rate.
        let (reaction, event) = enter(&scheduler).await.end(RequestEnd::Refused(Some(Duration::from_secs(1))), 0);
        assert_eq!((reaction, event), (Reaction::Nothing, None));
        let refused = Instant::now();
        enter(&scheduler).await.end(RequestEnd::Answered, 0);
        assert!(seconds(refused) < 0.2);
    }

    #[tokio::test(start_paused = true)]
    async fn repeated_rejections_open_the_breaker_and_one_probe_is_sent() {
        let scheduler = scheduler(1, 50);
        enter(&scheduler).await.end(RequestEnd::Answered, 0);
        let mut changes = Vec::new();
        let mut requests = 0;
        let begun = Instant::now();
        while changes.len() < 3 {
            requests += 1;
            let permit = enter(&scheduler).await;
            let is_probe = permit.is_probe();
            assert_eq!(is_probe, !changes.is_empty());
            if is_probe {
                assert!(try_enter(&scheduler).await.is_none(), "only one probe at a time");
            }
            changes
                .extend(permit.end(RequestEnd::Refused(Some(Duration::from_secs(1))), 0).1.map(|event| event.change));
        }
        let second = Duration::from_secs(1);
        assert_eq!(
            changes,
            [
                AddressChange::Saturated(second),
                AddressChange::Saturated(2 * second),
                AddressChange::Saturated(4 * second)
            ]
        );
        assert!(requests < 12, "{requests} in {} s", seconds(begun));
        let (_, event) = enter(&scheduler).await.end(RequestEnd::Answered, 0);
        assert_eq!(event, Some(AddressEvent { address: 0, change: AddressChange::Back, waiting: 0 }));
        assert!(!enter(&scheduler).await.is_probe());
    }

    #[tokio::test(start_paused = true)]
    async fn long_waits_and_their_end_are_reported() {
        let scheduler = scheduler(1, 50);
        let minute = Duration::from_mins(1);
        let (reaction, event) = enter(&scheduler).await.end(RequestEnd::Refused(Some(Duration::from_hours(1))), 0);
        let saturated = AddressEvent { address: 0, change: AddressChange::Saturated(minute), waiting: 1 };
        assert_eq!((reaction, event), (Reaction::Queue, Some(saturated)));
        let begun = Instant::now();
        let (_, event) = enter(&scheduler).await.end(RequestEnd::Answered, 0);
        assert_eq!(event.map(|event| event.change), Some(AddressChange::Back));
        assert!((59.0..62.0).contains(&seconds(begun)));
    }

    #[tokio::test(start_paused = true)]
    async fn an_unavailable_server_is_probed_until_it_answers() {
        let scheduler = scheduler(1, 50);
        enter(&scheduler).await.end(RequestEnd::Answered, 0);
        let mut permits = Vec::new();
        for _ in 0..20 {
            permits.push(enter(&scheduler).await);
        }
        let event: Vec<_> =
            permits.into_iter().filter_map(|permit| permit.end(RequestEnd::Failed(None), 0).1).collect();
        assert_eq!(event.len(), 1, "it is reported once: {event:?}");
        assert_eq!(event[0].change, AddressChange::Down(Duration::from_secs(1)));
        let begun = Instant::now();
        let probe = enter(&scheduler).await;
        assert!(probe.is_probe() && seconds(begun) >= 1.0);
        drop(probe);
        let probe = enter(&scheduler).await;
        assert!(probe.is_probe(), "a dropped probe is replaced");
        assert_eq!(probe.end(RequestEnd::Answered, 0).1.map(|event| event.change), Some(AddressChange::Back));
        let mut count = 0;
        let begun = Instant::now();
        while seconds(begun) < 0.05 {
            enter(&scheduler).await.end(RequestEnd::Answered, 0);
            count += 1;
        }
        assert!(count < 30, "{count} requests at once after the wait");
    }

    #[tokio::test(start_paused = true)]
    async fn an_unavailable_server_is_given_up() {
        let scheduler = scheduler(1, 1);
        enter(&scheduler).await.end(RequestEnd::Answered, 0);
        let begun = Instant::now();
        while enter(&scheduler).await.end(RequestEnd::Failed(None), 0).0 != Reaction::GiveUp {}
        assert!((600.0..800.0).contains(&seconds(begun)), "{}", seconds(begun));
    }

    #[tokio::test(start_paused = true)]
    async fn timeouts_open_the_breaker_before_any_answer_and_failures_do_not() {
        for (end, parks) in [(RequestEnd::TimedOut, true), (RequestEnd::Failed(None), false)] {
            let scheduler = scheduler(1, 50);
            let mut permits = Vec::new();
            for _ in 0..20 {
                permits.push(enter(&scheduler).await);
            }
            let event = permits.into_iter().filter_map(|permit| permit.end(end, 0).1);
            let changes: Vec<_> = event.map(|event| event.change).collect();
            let down = AddressChange::Down(Duration::from_secs(1));
            let expected = if parks { vec![AddressChange::Unreached, down] } else { vec![AddressChange::Unreached] };
            assert_eq!(changes, expected);
            let next = enter(&scheduler).await;
            assert_eq!(next.is_probe(), parks);
            assert_eq!(next.end(RequestEnd::Answered, 0).1.map(|event| event.change), Some(AddressChange::Back));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_stall_is_reported_once_for_all_waiting_calls() {
        let scheduler = scheduler(1, 50);
        let (one, two) = (enter(&scheduler).await, enter(&scheduler).await);
        tokio::time::sleep(Duration::from_secs(40)).await;
        let event: Vec<AddressEvent> = [&one, &two].into_iter().filter_map(Permit::stall).collect();
        assert!(matches!(event[..], [AddressEvent { change: AddressChange::Silent(_), waiting: 2, .. }]), "{event:?}");
        one.record_response(&QuotaHeaders::default());
        assert_eq!(one.end(RequestEnd::Answered, 0).1.map(|event| event.change), Some(AddressChange::Back));
        two.record_response(&QuotaHeaders::default());
        assert_eq!(two.end(RequestEnd::Answered, 0).1, None);
    }

    #[tokio::test(start_paused = true)]
    async fn requests_go_to_the_least_busy_address_that_does_not_fail() {
        let scheduler = scheduler(2, 50);
        let (first, second, third) = (enter(&scheduler).await, enter(&scheduler).await, enter(&scheduler).await);
        assert_eq!([first.address(), second.address(), third.address()], [0, 1, 0]);
        for permit in [first, second, third] {
            permit.end(RequestEnd::Answered, 0);
        }
        let mut failures = 0;
        for _ in 0..100 {
            let permit = enter(&scheduler).await;
            let end = if permit.address() == 0 { RequestEnd::Failed(None) } else { RequestEnd::Answered };
            failures += u32::from(end != RequestEnd::Answered);
            permit.end(end, 0);
        }
        assert!((8..=9).contains(&failures), "{failures}");
        tokio::time::sleep(Duration::from_mins(1)).await;
        let probe = enter(&scheduler).await;
        assert!(probe.is_probe() && probe.address() == 0);
        assert_eq!(probe.end(RequestEnd::Answered, 0).1.map(|event| event.change), Some(AddressChange::Back));
    }

    #[tokio::test(start_paused = true)]
    async fn token_quotas_in_headers_slow_the_next_requests() {
        let scheduler = scheduler(1, 50);
        let permit = enter(&scheduler).await;
        permit.record_response(&QuotaHeaders {
            tokens: Some((1000.0, Duration::from_secs(10))),
            ..QuotaHeaders::default()
        });
        permit.end(RequestEnd::Answered, 0);
        let begun = Instant::now();
        for _ in 0..6 {
            scheduler.enter(scheduler.new_position(false), 100).await.end(RequestEnd::Answered, 100);
        }
        assert!((4.0..6.5).contains(&seconds(begun)), "{}", seconds(begun));
    }
}
