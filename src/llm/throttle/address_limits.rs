//! State of one address: its limits, its circuit breaker, and what responses say about it.

use std::time::Duration;

use tokio::time::Instant;

use super::circuit_breaker::{Change, CircuitBreaker};
use super::concurrency_limit::ConcurrencyLimit;
use super::rate_limiter::{RateDecision, RateLimiter};
use super::stall_detector::StallDetector;
use super::token_bucket::Bucket;

/// Maximum time that one rejection closes an address, regardless of the requested wait.
const MAX_CLOSURE_TIME: Duration = Duration::from_mins(1);
/// After this many closures in a row without an answer, the breaker opens.
const MAX_CLOSURES: u32 = 3;
/// With a token rate above this (tokens per second), requests are not weighed by tokens.
const MAX_WEIGHED_RATE: f64 = 1e6;
/// Waits of this length or longer are reported.
const MIN_REPORTED_WAIT: Duration = Duration::from_secs(10);

/// Limits of a model at each address, from the pipeline file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ConfiguredLimits {
    /// Maximum number of requests in flight, over all addresses.
    pub(crate) concurrency: usize,
    /// Requests per minute.
    pub(crate) requests_per_minute: Option<u32>,
    /// Tokens per minute, prompts and replies together.
    pub(crate) tokens_per_minute: Option<u32>,
}

/// How a request ended, as far as its address is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestEnd {
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
pub(crate) enum Reaction {
    /// None beyond that of the end itself.
    Nothing,
    /// The address is closed, so the call goes back to the queue without a wait of its own.
    Queue,
    /// All addresses have been unavailable for too long.
    GiveUp,
}

/// Changes at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AddressChange {
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

/// Remaining quota according to response headers, and the time until it is reset.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct QuotaHeaders {
    /// Requests.
    pub(crate) requests: Option<(f64, Duration)>,
    /// Tokens.
    pub(crate) tokens: Option<(f64, Duration)>,
}

/// A started request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start {
    pub(super) address: usize,
    pub(super) begun: Instant,
    /// Number of the request at its address.
    number: u64,
    pub(super) is_probe: bool,
}

/// State of an address.
#[derive(Debug)]
pub(super) struct AddressLimits {
    pub(super) in_flight: usize,
    rate_limiter: RateLimiter,
    concurrency: ConcurrencyLimit,
    circuit_breaker: CircuitBreaker,
    tokens: Option<Tokens>,
    /// Closures in a row without an answer in between.
    closures: u32,
    /// When it was last closed, or when it opens again; answers to earlier requests carry no information about it.
    opened: Instant,
    stall_detector: StallDetector,
    /// Whether a problem was reported whose end has to be reported too.
    pub(super) was_reported: bool,
}

/// Limit in tokens per second, from the pipeline file or from response headers.
#[derive(Debug)]
struct Tokens {
    bucket: Bucket,
    configured: Option<f64>,
    from_headers: Option<(f64, Instant)>,
}

impl Tokens {
    fn rate(&self, now: Instant) -> f64 {
        let from_headers = self.from_headers.filter(|(_, until)| now < *until).map_or(f64::INFINITY, |(rate, _)| rate);
        from_headers.min(self.configured.unwrap_or(f64::INFINITY)).min(1e12)
    }

    /// Returns how long a cost has to wait. The bucket holds the tokens of one second.
    fn wait(&mut self, cost: f64, now: Instant) -> Duration {
        let rate = self.rate(now);
        self.bucket.fill(rate, rate, now);
        self.bucket.wait(cost, rate, rate)
    }
}

impl AddressLimits {
    /// Creates the state of an address with a maximum of requests in flight.
    pub(super) fn new(most: usize, limits: ConfiguredLimits, now: Instant) -> Self {
        let per_second = |per_minute: Option<u32>| per_minute.map(|per_minute| f64::from(per_minute.max(1)) / 60.0);
        Self {
            in_flight: 0,
            rate_limiter: RateLimiter::new(per_second(limits.requests_per_minute), now),
            concurrency: ConcurrencyLimit::new(most, now),
            circuit_breaker: CircuitBreaker::default(),
            tokens: per_second(limits.tokens_per_minute).map(|rate| Tokens {
                bucket: Bucket::new(rate, now),
                configured: Some(rate),
                from_headers: None,
            }),
            closures: 0,
            opened: now,
            stall_detector: StallDetector::new(now),
            was_reported: false,
        }
    }

    /// Returns the load: requests in flight plus failures in a row, because an address that rejects immediately never
    /// looks busy.
    pub(super) const fn load(&self) -> usize {
        self.in_flight + self.circuit_breaker.failures() as usize
    }

    /// Returns `Ok` if a request with this cost may start, otherwise when to try again.
    pub(super) fn ready(&mut self, cost: f64, now: Instant) -> Result<(), Option<Instant>> {
        self.circuit_breaker.ready(now)?;
        if self.circuit_breaker.is_open() {
            return Ok(()); // a probe is not rate limited
        }
        if !self.concurrency.has_room(self.in_flight) {
            return Err(None);
        }
        if let Some(until) = self.rate_limiter.wait(now, self.in_flight == 0) {
            return Err(Some(until));
        }
        let wait = self.tokens.as_mut().map_or(Duration::ZERO, |tokens| tokens.wait(cost, now));
        if wait.is_zero() { Ok(()) } else { Err(Some(now.checked_add(wait).unwrap_or(now + MAX_CLOSURE_TIME))) }
    }

    /// Records the start of a request.
    pub(super) fn begin(&mut self, address: usize, cost: f64, now: Instant) -> Start {
        if self.in_flight == 0 {
            self.stall_detector.begin(now);
        }
        self.in_flight += 1;
        let number = self.rate_limiter.begin();
        if let Some(tokens) = &mut self.tokens {
            tokens.bucket.spend(cost);
        }
        Start { address, begun: now, number, is_probe: self.circuit_breaker.begin() }
    }

    /// Records an answer.
    pub(super) fn answer(&mut self, begun: Instant, now: Instant) -> Option<AddressChange> {
        self.concurrency.answer(now);
        if begun < self.opened {
            return None; // it started before the address was closed
        }
        self.closures = 0;
        let closed = self.circuit_breaker.answer();
        (closed.is_some() | std::mem::take(&mut self.was_reported)).then_some(AddressChange::Back)
    }

    /// Records a rate-limit rejection.
    pub(super) fn refuse(
        &mut self,
        start: Start,
        asked: Option<Duration>,
        now: Instant,
    ) -> (Reaction, Option<AddressChange>) {
        let wait = asked.unwrap_or(Duration::from_secs(1)).min(MAX_CLOSURE_TIME);
        if start.is_probe {
            self.opened = now;
            return match self.circuit_breaker.stay_open(now, asked) {
                Some(Change::Opened(wait)) => (Reaction::Queue, Some(AddressChange::Saturated(wait))),
                Some(Change::GivenUp) => (Reaction::GiveUp, None),
                Some(Change::Closed) | None => (Reaction::Queue, None),
            };
        }
        let was_closed = self.circuit_breaker.is_open() || self.rate_limiter.is_held(now);
        match self.rate_limiter.refuse(start.number, start.begun, wait, now) {
            _ if was_closed => return (Reaction::Queue, None),
            RateDecision::Open => return (Reaction::Nothing, None),
            RateDecision::Closed => self.concurrency.refuse(now),
        }
        self.closures += 1;
        if self.closures >= MAX_CLOSURES {
            self.opened = now;
            return match self.circuit_breaker.open(now, asked) {
                Change::Opened(wait) => (Reaction::Queue, Some(AddressChange::Saturated(wait))),
                Change::Closed | Change::GivenUp => (Reaction::Queue, None),
            };
        }
        self.opened = now + wait;
        self.was_reported = wait >= MIN_REPORTED_WAIT;
        (Reaction::Queue, self.was_reported.then_some(AddressChange::Saturated(wait)))
    }

    /// Records a failure.
    pub(super) fn fail(
        &mut self,
        is_probe: bool,
        asked: Option<Duration>,
        may_open: bool,
        now: Instant,
    ) -> (Reaction, Option<AddressChange>) {
        self.concurrency.fail(now);
        match self.circuit_breaker.fail(now, is_probe, asked, may_open) {
            Some(Change::Opened(wait)) => {
                self.opened = now;
                self.rate_limiter.restart(now);
                (Reaction::Queue, Some(AddressChange::Down(wait)))
            }
            Some(Change::GivenUp) => (Reaction::GiveUp, None),
            Some(Change::Closed) | None if self.circuit_breaker.is_open() => (Reaction::Queue, None),
            Some(Change::Closed) | None => (Reaction::Nothing, None),
        }
    }

    /// Records a response to a request that started at `begun`, and the quota in its headers.
    pub(super) fn record_response(&mut self, begun: Instant, quota: &QuotaHeaders, now: Instant) {
        self.was_reported |= self.stall_detector.record_response(begun, now);
        if let Some((remaining, reset)) = quota.requests {
            self.rate_limiter.apply_quota(remaining, reset, now);
        }
        if let Some((remaining, reset)) = quota.tokens.filter(|(_, reset)| !reset.is_zero()) {
            let rate = remaining.max(1.0) / reset.as_secs_f64();
            if self.tokens.is_none() && rate < MAX_WEIGHED_RATE {
                self.tokens = Some(Tokens { bucket: Bucket::new(rate, now), configured: None, from_headers: None });
            }
            if let Some(tokens) = &mut self.tokens {
                tokens.from_headers = Some((rate, now + reset.min(MAX_CLOSURE_TIME)));
            }
        }
    }

    /// Whether requests are weighed by tokens.
    pub(super) const fn weighs(&self) -> bool {
        self.tokens.is_some()
    }

    /// Whether its breaker is open.
    pub(super) const fn is_breaker_open(&self) -> bool {
        self.circuit_breaker.is_open()
    }

    /// Returns how long it has not responded, if that is to be reported now.
    pub(super) fn stall(&mut self, now: Instant) -> Option<Duration> {
        self.stall_detector.report_due(now)
    }

    /// Records that a request is no longer in flight. `used` is its actual number of tokens if it ended, `cost` the
    /// estimated one.
    pub(super) fn release(&mut self, is_probe: bool, cost: f64, used: Option<f64>) {
        self.in_flight -= 1;
        if used.is_none() && is_probe {
            self.circuit_breaker.forget();
        }
        if let Some(tokens) = &mut self.tokens {
            tokens.bucket.spend(used.unwrap_or_default() - cost);
        }
    }
}
