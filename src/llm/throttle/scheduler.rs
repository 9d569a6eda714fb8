//! Scheduler for the addresses of a model: decides which call is sent next, where and when. Opens no connections.
//!
//! All waiting calls are in one queue: calls of work in progress before new ones, then by arrival. The first call goes
//! to the least busy address that accepts a request now; recent failures of an address count as load. A call that waits
//! for its next try is not in the queue and blocks no other. The order of requests does not affect the answers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::circuit_breaker::{Breaker, Change};
use super::concurrency_limit::Width;
use super::rate_limiter::{Lesson, Pace};
use super::stall_detector::Silence;
use super::token_bucket::Bucket;

/// Maximum time that one rejection closes an address, regardless of the requested wait.
const LONGEST_HOLD: Duration = Duration::from_mins(1);
/// After this many closures in a row without an answer, the breaker opens.
const MOST_HOLDS: u32 = 3;
/// With a token rate above this (tokens per second), requests are not weighed by tokens.
const WORTH_WEIGHING: f64 = 1e6;
/// Waits of this length or longer are reported.
const WORTH_TELLING: Duration = Duration::from_secs(10);

/// Limits of a model at each address, from the pipeline file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Maximum number of requests in flight, over all addresses.
    pub(crate) concurrency: usize,
    /// Requests per minute.
    pub(crate) requests_per_minute: Option<u32>,
    /// Tokens per minute, prompts and replies together.
    pub(crate) tokens_per_minute: Option<u32>,
}

/// Position of a call in the queue, kept over its tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// `false` for work in progress, which goes first.
    is_new: bool,
    arrived: u64,
}

impl Place {
    /// Moves a call that has started ahead of new calls.
    pub(crate) const fn begun(self) -> Self {
        Self { is_new: false, ..self }
    }
}

/// How a request ended, as far as its address is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The server answered, possibly with an error about the request.
    Answered,
    /// The server rejected the request because of a rate limit and may have asked for a wait.
    Refused(Option<Duration>),
    /// The server failed or could not be reached, and may have asked for a wait.
    Failed(Option<Duration>),
    /// The server accepted the request and did not answer in time.
    TimedOut,
}

/// Consequence of a request's end for its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// None beyond that of the end itself.
    Nothing,
    /// The address is closed, so the call goes back to the queue without a wait of its own.
    Queue,
    /// All addresses have been unavailable for too long.
    GiveUp,
}

/// A change at an address that is reported to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct News {
    /// Index of the address.
    pub(crate) address: usize,
    /// The change.
    pub(crate) what: What,
    /// Number of waiting calls.
    pub(crate) waiting: usize,
}

/// Changes at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// It rejects further requests; the next one is sent after this wait.
    Saturated(Duration),
    /// It is failing or unreachable; the next request is sent after this wait.
    Down(Duration),
    /// The first request to the only address failed.
    Unreached,
    /// It has not responded for this long while calls are waiting.
    Silent(Duration),
    /// It is responding again.
    Back,
}

/// Scheduler for the addresses of a model.
#[derive(Debug)]
pub(crate) struct Gate {
    most: usize,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    addresses: Vec<Address>,
    queue: BTreeMap<Place, Arc<Notify>>,
    arrived: u64,
    in_flight: usize,
    has_answered: bool,
    /// Whether a request failed before any was answered.
    has_failed: bool,
}

#[derive(Debug)]
struct Address {
    in_flight: usize,
    pace: Pace,
    width: Width,
    breaker: Breaker,
    tokens: Option<Tokens>,
    /// Closures in a row without an answer in between.
    holds: u32,
    /// When it was last closed, or when it opens again; answers to earlier requests carry no information about it.
    opened: Instant,
    silence: Silence,
    /// Whether a problem was reported whose end has to be reported too.
    was_told: bool,
}

/// Limit in tokens per second, from the pipeline file or from response headers.
#[derive(Debug)]
struct Tokens {
    bucket: Bucket,
    stated: Option<f64>,
    told: Option<(f64, Instant)>,
}

impl Tokens {
    fn rate(&self, now: Instant) -> f64 {
        let told = self.told.filter(|(_, until)| now < *until).map_or(f64::INFINITY, |(rate, _)| rate);
        told.min(self.stated.unwrap_or(f64::INFINITY)).min(1e12)
    }

    /// Returns how long a cost has to wait. The bucket holds the tokens of one second.
    fn wait(&mut self, cost: f64, now: Instant) -> Duration {
        let rate = self.rate(now);
        self.bucket.fill(rate, rate, now);
        self.bucket.wait(cost, rate, rate)
    }
}

impl Gate {
    /// Creates a scheduler for this many addresses.
    pub(crate) fn new(addresses: usize, limits: Limits) -> Self {
        let now = Instant::now();
        let most = limits.concurrency.max(1);
        let per_second = |per_minute: Option<u32>| per_minute.map(|per_minute| f64::from(per_minute.max(1)) / 60.0);
        let address = || Address {
            in_flight: 0,
            pace: Pace::new(per_second(limits.requests_per_minute), now),
            width: Width::new(most, now),
            breaker: Breaker::default(),
            tokens: per_second(limits.tokens_per_minute).map(|rate| Tokens {
                bucket: Bucket::new(rate, now),
                stated: Some(rate),
                told: None,
            }),
            holds: 0,
            opened: now,
            silence: Silence::new(now),
            was_told: false,
        };
        let addresses = std::iter::repeat_with(address).take(addresses.max(1)).collect();
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
    pub(crate) fn place(&self, has_begun: bool) -> Place {
        let mut state = self.state();
        state.arrived += 1;
        Place { is_new: !has_begun, arrived: state.arrived }
    }

    /// Whether requests are weighed by tokens.
    pub(crate) fn weighs(&self) -> bool {
        self.state().addresses.iter().any(|address| address.tokens.is_some())
    }

    /// Whether any address has ever answered.
    pub(crate) fn has_answered(&self) -> bool {
        self.state().has_answered
    }

    /// Waits until a request with this many tokens may start.
    pub(crate) async fn enter(&self, place: Place, tokens: u32) -> Permit<'_> {
        let cost = f64::from(tokens);
        {
            let mut state = self.state();
            if state.queue.is_empty()
                && let Ok(start) = state.take(self.most, cost)
            {
                return Permit { gate: self, start, cost, used: None };
            }
        }
        let waiter = Waiter::new(self, place);
        loop {
            let (permit, until) = {
                let mut state = self.state();
                if state.queue.first_key_value().is_some_and(|(first, _)| *first == place) {
                    match state.take(self.most, cost) {
                        Ok(start) => (Some(Permit { gate: self, start, cost, used: None }), None),
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
    fn take(&mut self, most: usize, cost: f64) -> Result<Start, Option<Instant>> {
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

impl Address {
    /// Returns the load: requests in flight plus failures in a row, because an address that rejects immediately never
    /// looks busy.
    const fn load(&self) -> usize {
        self.in_flight + self.breaker.failures() as usize
    }

    /// Returns `Ok` if a request with this cost may start, otherwise when to try again.
    fn ready(&mut self, cost: f64, now: Instant) -> Result<(), Option<Instant>> {
        self.breaker.ready(now)?;
        if self.breaker.is_parked() {
            return Ok(()); // a probe is not rate limited
        }
        if !self.width.has_room(self.in_flight) {
            return Err(None);
        }
        if let Some(until) = self.pace.wait(now, self.in_flight == 0) {
            return Err(Some(until));
        }
        let wait = self.tokens.as_mut().map_or(Duration::ZERO, |tokens| tokens.wait(cost, now));
        if wait.is_zero() { Ok(()) } else { Err(Some(now.checked_add(wait).unwrap_or(now + LONGEST_HOLD))) }
    }

    /// Records the start of a request.
    fn begin(&mut self, address: usize, cost: f64, now: Instant) -> Start {
        if self.in_flight == 0 {
            self.silence.begin(now);
        }
        self.in_flight += 1;
        let number = self.pace.begin();
        if let Some(tokens) = &mut self.tokens {
            tokens.bucket.spend(cost);
        }
        Start { address, begun: now, number, is_probe: self.breaker.begin() }
    }

    /// Records an answer.
    fn answer(&mut self, begun: Instant, now: Instant) -> Option<What> {
        self.width.answer(now);
        if begun < self.opened {
            return None; // it started before the address was closed
        }
        self.holds = 0;
        let freed = self.breaker.answer();
        (freed.is_some() | std::mem::take(&mut self.was_told)).then_some(What::Back)
    }

    /// Records a rate-limit rejection.
    fn refuse(&mut self, start: Start, asked: Option<Duration>, now: Instant) -> (Then, Option<What>) {
        let wait = asked.unwrap_or(Duration::from_secs(1)).min(LONGEST_HOLD);
        if start.is_probe {
            self.opened = now;
            return match self.breaker.park_on(now, asked) {
                Some(Change::Parked(wait)) => (Then::Queue, Some(What::Saturated(wait))),
                Some(Change::GivenUp) => (Then::GiveUp, None),
                Some(Change::Freed) | None => (Then::Queue, None),
            };
        }
        let was_closed = self.breaker.is_parked() || self.pace.is_held(now);
        match self.pace.refuse(start.number, start.begun, wait, now) {
            _ if was_closed => return (Then::Queue, None),
            Lesson::Pace => return (Then::Nothing, None),
            Lesson::Closed => self.width.refuse(now),
        }
        self.holds += 1;
        if self.holds >= MOST_HOLDS {
            self.opened = now;
            return match self.breaker.park(now, asked) {
                Change::Parked(wait) => (Then::Queue, Some(What::Saturated(wait))),
                Change::Freed | Change::GivenUp => (Then::Queue, None),
            };
        }
        self.opened = now + wait;
        self.was_told = wait >= WORTH_TELLING;
        (Then::Queue, self.was_told.then_some(What::Saturated(wait)))
    }

    /// Records a failure.
    fn fail(&mut self, is_probe: bool, asked: Option<Duration>, may_park: bool, now: Instant) -> (Then, Option<What>) {
        self.width.fail(now);
        match self.breaker.fail(now, is_probe, asked, may_park) {
            Some(Change::Parked(wait)) => {
                self.opened = now;
                self.pace.restart(now);
                (Then::Queue, Some(What::Down(wait)))
            }
            Some(Change::GivenUp) => (Then::GiveUp, None),
            Some(Change::Freed) | None if self.breaker.is_parked() => (Then::Queue, None),
            Some(Change::Freed) | None => (Then::Nothing, None),
        }
    }
}

/// Remaining quota according to response headers, and the time until it is reset.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Told {
    /// Requests.
    pub(crate) requests: Option<(f64, Duration)>,
    /// Tokens.
    pub(crate) tokens: Option<(f64, Duration)>,
}

/// A started request.
#[derive(Debug, Clone, Copy)]
struct Start {
    address: usize,
    begun: Instant,
    /// Number of the request at its address.
    number: u64,
    is_probe: bool,
}

/// Permission to have one request in flight.
#[derive(Debug)]
pub(crate) struct Permit<'a> {
    gate: &'a Gate,
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
    pub(crate) fn hear(&self, told: &Told) {
        let mut state = self.gate.state();
        state.has_answered = true;
        let (address, now) = (&mut state.addresses[self.start.address], Instant::now());
        address.was_told |= address.silence.hear(self.start.begun, now);
        if let Some((remaining, reset)) = told.requests {
            address.pace.tell(remaining, reset, now);
        }
        if let Some((remaining, reset)) = told.tokens.filter(|(_, reset)| !reset.is_zero()) {
            let rate = remaining.max(1.0) / reset.as_secs_f64();
            if address.tokens.is_none() && rate < WORTH_WEIGHING {
                address.tokens = Some(Tokens { bucket: Bucket::new(rate, now), stated: None, told: None });
            }
            if let Some(tokens) = &mut address.tokens {
                tokens.told = Some((rate, now + reset.min(LONGEST_HOLD)));
            }
        }
    }

    /// Returns news if the address has been silent long enough to report.
    pub(crate) fn silence(&self) -> Option<News> {
        let mut state = self.gate.state();
        let address = &mut state.addresses[self.start.address];
        let what = What::Silent(address.silence.news(Instant::now())?);
        Some(News { address: self.start.address, what, waiting: address.in_flight })
    }

    /// Ends the request. `used` is the actual number of tokens.
    pub(crate) fn end(mut self, end: End, used: u64) -> (Then, Option<News>) {
        #[expect(clippy::cast_precision_loss, reason = "token counts stay far below 2^52")]
        let used = used as f64;
        self.used = Some(used);
        let mut state = self.gate.state();
        let is_only = state.addresses.len() == 1;
        let is_first = is_only && !state.has_answered && !state.has_failed;
        state.has_failed |= is_first;
        // If nothing was ever answered, failures soon repeat and end the run, but timeouts would block it for a long
        // time.
        let may_park = state.has_answered || !is_only || end == End::TimedOut;
        state.has_answered |= !matches!(end, End::Failed(_) | End::TimedOut);
        let (address, now) = (&mut state.addresses[self.start.address], Instant::now());
        let (mut then, what) = match end {
            End::Answered => (Then::Nothing, address.answer(self.start.begun, now)),
            End::Refused(asked) => address.refuse(self.start, asked, now),
            End::Failed(asked) => address.fail(self.start.is_probe, asked, may_park, now),
            End::TimedOut => address.fail(self.start.is_probe, None, may_park, now),
        };
        let is_unreached = what.is_none() && is_first && end != End::Answered;
        address.was_told |= is_unreached;
        let what = if is_unreached { Some(What::Unreached) } else { what };
        if then == Then::GiveUp && !state.addresses.iter().all(|address| address.breaker.is_parked()) {
            then = Then::Queue;
        }
        let waiting = state.queue.len() + usize::from(end != End::Answered);
        (then, what.map(|what| News { address: self.start.address, what, waiting }))
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let mut state = self.gate.state();
        state.in_flight -= 1;
        let address = &mut state.addresses[self.start.address];
        address.in_flight -= 1;
        if self.used.is_none() && self.start.is_probe {
            address.breaker.forget();
        }
        if let Some(tokens) = &mut address.tokens {
            tokens.bucket.spend(self.used.unwrap_or_default() - self.cost);
        }
        state.wake();
    }
}

/// A call in the queue.
struct Waiter<'a> {
    gate: &'a Gate,
    place: Place,
    notify: Arc<Notify>,
}

impl<'a> Waiter<'a> {
    fn new(gate: &'a Gate, place: Place) -> Self {
        let notify = Arc::new(Notify::new());
        gate.state().queue.insert(place, Arc::clone(&notify));
        Self { gate, place, notify }
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        let mut state = self.gate.state();
        state.queue.remove(&self.place);
        state.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(addresses: usize, concurrency: usize) -> Gate {
        Gate::new(addresses, Limits { concurrency, ..Limits::default() })
    }

    /// Starts a new call without tokens.
    async fn enter(gate: &Gate) -> Permit<'_> {
        gate.enter(gate.place(false), 0).await
    }

    /// Starts a new call if that is possible now.
    async fn try_enter(gate: &Gate) -> Option<Permit<'_>> {
        tokio::select! { biased; permit = enter(gate) => Some(permit), () = std::future::ready(()) => None }
    }

    fn seconds(since: Instant) -> f64 {
        since.elapsed().as_secs_f64()
    }

    #[tokio::test(start_paused = true)]
    async fn starts_are_spread_and_never_more_than_may_be_in_flight() {
        let gate = gate(1, 20);
        let begun = Instant::now();
        let mut permits = Vec::new();
        for _ in 0..20 {
            permits.push(enter(&gate).await);
        }
        assert!((0.02..0.1).contains(&seconds(begun)), "{}", seconds(begun));
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert!(try_enter(&gate).await.is_none());
        permits.pop().expect("twenty").end(End::Answered, 0);
        assert!(try_enter(&gate).await.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn what_has_begun_goes_before_what_is_new_then_by_arrival() {
        let gate = gate(1, 1);
        let only = enter(&gate).await;
        let gone = Mutex::new(Vec::new());
        let go = async |name: &str, place: Place| {
            let permit = gate.enter(place, 0).await;
            gone.lock().unwrap().push(name.to_owned());
            permit.end(End::Answered, 0);
        };
        let (new, later, begun, again) = (gate.place(false), gate.place(false), gate.place(true), gate.place(false));
        let free = async {
            tokio::task::yield_now().await;
            only.end(End::Answered, 0);
        };
        tokio::join!(go("later", later), go("new", new), go("begun", begun), go("tried again", again.begun()), free,);
        assert_eq!(*gone.lock().unwrap(), ["begun", "tried again", "new", "later"]);
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_just_failed_goes_behind_who_has_not() {
        let gate = gate(2, 4);
        let first = enter(&gate).await;
        assert_eq!(first.address(), 0);
        first.end(End::Failed(None), 0);
        for _ in 0..3 {
            tokio::time::sleep(Duration::from_secs(1)).await; // so that the rate limiter does not delay it
            let next = enter(&gate).await;
            assert_eq!(next.address(), 1);
            next.end(End::Answered, 0);
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        let (one, two) = (enter(&gate).await, enter(&gate).await);
        assert_eq!([one.address(), two.address()], [1, 0], "a busy address is not preferred to one that failed");
    }

    #[tokio::test(start_paused = true)]
    async fn a_waiter_that_leaves_keeps_nobody() {
        let gate = gate(1, 1);
        let only = enter(&gate).await;
        let place = gate.place(true);
        let waits = tokio::time::timeout(Duration::from_secs(1), gate.enter(place, 0)).await;
        assert!(waits.is_err() && gate.state().queue.is_empty());
        drop(only);
        assert!(try_enter(&gate).await.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_stated_limit_on_tokens_is_kept_and_corrected_by_what_was_used() {
        let limits = Limits { concurrency: 100, tokens_per_minute: Some(60_000), ..Limits::default() };
        let gate = Gate::new(1, limits);
        assert!(gate.weighs());
        let begun = Instant::now();
        for _ in 0..10 {
            // Half of the estimated tokens are returned.
            gate.enter(gate.place(false), 2000).await.end(End::Answered, 1000);
        }
        assert!((8.0..11.0).contains(&seconds(begun)), "{}", seconds(begun));
        let begun = Instant::now();
        for _ in 0..5 {
            gate.enter(gate.place(false), 1000).await.end(End::Failed(None), 0);
        }
        assert!(seconds(begun) < 2.0, "failed requests use no tokens: {}", seconds(begun));
    }

    #[tokio::test(start_paused = true)]
    async fn refusals_in_a_row_hold_the_address_and_their_followers_say_nothing_new() {
        let gate = gate(1, 50);
        let mut permits = Vec::new();
        for _ in 0..30 {
            permits.push(enter(&gate).await);
        }
        for permit in permits.drain(..20) {
            permit.end(End::Answered, 0);
        }
        let begun = Instant::now();
        for (n, permit) in permits.into_iter().enumerate() {
            let (then, news) = permit.end(End::Refused(Some(Duration::from_secs(1))), 0);
            let expected = if n < 2 { Then::Nothing } else { Then::Queue };
            assert_eq!((then, news), (expected, None), "up to two rejections count as random");
        }
        enter(&gate).await.end(End::Answered, 0);
        assert!((0.99..1.1).contains(&seconds(begun)), "{}", seconds(begun));
        // Twenty requests were accepted in less than a second.
        for _ in 0..20 {
            enter(&gate).await.end(End::Answered, 0);
        }
        assert!((1.9..2.2).contains(&seconds(begun)), "{}", seconds(begun));
        // A single rejection neither closes the address nor lowers the rate.
        let (then, news) = enter(&gate).await.end(End::Refused(Some(Duration::from_secs(1))), 0);
        assert_eq!((then, news), (Then::Nothing, None));
        let refused = Instant::now();
        enter(&gate).await.end(End::Answered, 0);
        assert!(seconds(refused) < 0.2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_goes_on_refusing_is_parked_told_of_and_probed_by_one() {
        let gate = gate(1, 50);
        enter(&gate).await.end(End::Answered, 0);
        let mut told = Vec::new();
        let mut requests = 0;
        let begun = Instant::now();
        while told.len() < 3 {
            requests += 1;
            let permit = enter(&gate).await;
            let is_probe = permit.is_probe();
            assert_eq!(is_probe, !told.is_empty());
            if is_probe {
                assert!(try_enter(&gate).await.is_none(), "only one probe at a time");
            }
            told.extend(permit.end(End::Refused(Some(Duration::from_secs(1))), 0).1.map(|news| news.what));
        }
        let second = Duration::from_secs(1);
        assert_eq!(told, [What::Saturated(second), What::Saturated(2 * second), What::Saturated(4 * second)]);
        assert!(requests < 12, "{requests} in {} s", seconds(begun));
        let (_, news) = enter(&gate).await.end(End::Answered, 0);
        assert_eq!(news, Some(News { address: 0, what: What::Back, waiting: 0 }));
        assert!(!enter(&gate).await.is_probe());
    }

    #[tokio::test(start_paused = true)]
    async fn a_long_wait_is_told_of_and_so_is_its_end() {
        let gate = gate(1, 50);
        let minute = Duration::from_mins(1);
        let (then, news) = enter(&gate).await.end(End::Refused(Some(Duration::from_hours(1))), 0);
        let saturated = News { address: 0, what: What::Saturated(minute), waiting: 1 };
        assert_eq!((then, news), (Then::Queue, Some(saturated)));
        let begun = Instant::now();
        let (_, news) = enter(&gate).await.end(End::Answered, 0);
        assert_eq!(news.map(|news| news.what), Some(What::Back));
        assert!((59.0..62.0).contains(&seconds(begun)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_is_away_is_parked_until_a_probe_is_answered() {
        let gate = gate(1, 50);
        enter(&gate).await.end(End::Answered, 0);
        let mut permits = Vec::new();
        for _ in 0..20 {
            permits.push(enter(&gate).await);
        }
        let news: Vec<_> = permits.into_iter().filter_map(|permit| permit.end(End::Failed(None), 0).1).collect();
        assert_eq!(news.len(), 1, "it is reported once: {news:?}");
        assert_eq!(news[0].what, What::Down(Duration::from_secs(1)));
        let begun = Instant::now();
        let probe = enter(&gate).await;
        assert!(probe.is_probe() && seconds(begun) >= 1.0);
        drop(probe);
        let probe = enter(&gate).await;
        assert!(probe.is_probe(), "a dropped probe is replaced");
        assert_eq!(probe.end(End::Answered, 0).1.map(|news| news.what), Some(What::Back));
        let mut count = 0;
        let begun = Instant::now();
        while seconds(begun) < 0.05 {
            enter(&gate).await.end(End::Answered, 0);
            count += 1;
        }
        assert!(count < 30, "{count} requests at once after the wait");
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_stays_away_is_given_up() {
        let gate = gate(1, 1);
        enter(&gate).await.end(End::Answered, 0);
        let begun = Instant::now();
        while enter(&gate).await.end(End::Failed(None), 0).0 != Then::GiveUp {}
        assert!((600.0..800.0).contains(&seconds(begun)), "{}", seconds(begun));
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_has_never_said_a_word_is_parked_and_one_that_is_not_there_is_not() {
        for (end, parks) in [(End::TimedOut, true), (End::Failed(None), false)] {
            let gate = gate(1, 50);
            let mut permits = Vec::new();
            for _ in 0..20 {
                permits.push(enter(&gate).await);
            }
            let news = permits.into_iter().filter_map(|permit| permit.end(end, 0).1);
            let told: Vec<_> = news.map(|news| news.what).collect();
            let down = What::Down(Duration::from_secs(1));
            let expected = if parks { vec![What::Unreached, down] } else { vec![What::Unreached] };
            assert_eq!(told, expected);
            let next = enter(&gate).await;
            assert_eq!(next.is_probe(), parks);
            assert_eq!(next.end(End::Answered, 0).1.map(|news| news.what), Some(What::Back));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_silence_is_told_once_however_many_wait() {
        let gate = gate(1, 50);
        let (one, two) = (enter(&gate).await, enter(&gate).await);
        tokio::time::sleep(Duration::from_secs(40)).await;
        let news: Vec<News> = [&one, &two].into_iter().filter_map(Permit::silence).collect();
        assert!(matches!(news[..], [News { what: What::Silent(_), waiting: 2, .. }]), "{news:?}");
        one.hear(&Told::default());
        assert_eq!(one.end(End::Answered, 0).1.map(|news| news.what), Some(What::Back));
        two.hear(&Told::default());
        assert_eq!(two.end(End::Answered, 0).1, None);
    }

    #[tokio::test(start_paused = true)]
    async fn the_least_busy_address_is_asked_and_one_that_fails_is_set_aside() {
        let gate = gate(2, 50);
        let (first, second, third) = (enter(&gate).await, enter(&gate).await, enter(&gate).await);
        assert_eq!([first.address(), second.address(), third.address()], [0, 1, 0]);
        for permit in [first, second, third] {
            permit.end(End::Answered, 0);
        }
        let mut failures = 0;
        for _ in 0..100 {
            let permit = enter(&gate).await;
            let end = if permit.address() == 0 { End::Failed(None) } else { End::Answered };
            failures += u32::from(end != End::Answered);
            permit.end(end, 0);
        }
        assert!((8..=9).contains(&failures), "{failures}");
        tokio::time::sleep(Duration::from_mins(1)).await;
        let probe = enter(&gate).await;
        assert!(probe.is_probe() && probe.address() == 0);
        assert_eq!(probe.end(End::Answered, 0).1.map(|news| news.what), Some(What::Back));
    }

    #[tokio::test(start_paused = true)]
    async fn what_headers_tell_of_tokens_slows_the_next_requests() {
        let gate = gate(1, 50);
        let permit = enter(&gate).await;
        permit.hear(&Told { tokens: Some((1000.0, Duration::from_secs(10))), ..Told::default() });
        permit.end(End::Answered, 0);
        let begun = Instant::now();
        for _ in 0..6 {
            gate.enter(gate.place(false), 100).await.end(End::Answered, 100);
        }
        assert!((4.0..6.5).contains(&seconds(begun)), "{}", seconds(begun));
    }
}
