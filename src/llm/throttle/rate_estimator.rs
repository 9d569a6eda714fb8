//! A rate limit learned from rejections, and how it is adapted. Takes the time as an argument and reads no clock.

use std::time::Duration;

use tokio::time::Instant;

use super::rejection_window::{RejectionWindow, to_f64};

/// Rate after a rejection, as a fraction of the accepted rate.
pub(crate) const SHADE: f64 = 0.985;
/// Fraction by which a rejection lowers an established rate, at most once per second.
const CREEP: f64 = 0.005;
/// Growth of the rate by level of certainty: (growth per second right after a rejection, seconds after which it has
/// doubled); it grows with the square of the time. A limit learned from a single burst may be far off; one confirmed by
/// further steps is not.
const GROWTH: [(f64, f64); 3] = [(0.08, 1.0), (0.006, 5.0), (0.0008, 8.0)];
/// The growth stops accelerating after this many seconds without a rejection.
const LONGEST_QUIET: f64 = 30.0;
/// Pause of the growth after a rejection, by level of certainty. At low rates the pause is the time of [`SLOW_PAUSE`]
/// requests.
const PAUSE: [Duration; 3] = [Duration::from_millis(500), Duration::from_secs(5), Duration::from_secs(5)];
const SLOW_PAUSE: f64 = 60.0;
/// A rate that has grown by less than this factor counts as unchanged.
const GROWN: f64 = 1.003;
/// Requests needed to assess a step back: this many seconds' worth, and at least this number.
const MIN_COUNTED: (f64, f64) = (0.07, 6.0);
/// Fraction of rejections above which they are not random.
const DENSE: f64 = 0.25;
/// After this many steps back without effect, the rejections are considered random.
const MOST_STEPS: u32 = 3;
/// Below this fraction of accepted requests the address is considered closed.
const CLOSED: f64 = 0.1;
/// A step back below this fraction is uncertain; none is below one half.
const DEEP: f64 = 0.75;
/// First wait when the address closes right after a step back; it doubles.
const SHORT_PAUSE: Duration = Duration::from_millis(50);
const SECOND: Duration = Duration::from_secs(1);
/// Lowest rate: one request per minute.
const SLOWEST: f64 = 1.0 / 60.0;

/// A rate limit learned from rejections.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LearnedRate {
    /// Current rate, in requests per second.
    pub(crate) rate: f64,
    /// Rate after the last step.
    from: f64,
    /// Time of the last step.
    since: Instant,
    /// Level of certainty, an index into [`GROWTH`] and [`PAUSE`].
    certainty: usize,
    /// Rejections since the last step.
    refused: u64,
    /// When a rejection last lowered the rate by [`CREEP`].
    crept: Option<Instant>,
    /// Time of the last step back, and the next wait if the address closes right after it.
    stepped: Option<Instant>,
    short_pause: Duration,
    /// Fraction of rejections before the steps back without effect, and the number of these steps.
    share: f64,
    steps: u32,
}

/// Reaction to too many rejections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// None yet: too little is known about the last step.
    None,
    /// The rate was lowered.
    Back,
    /// The rate was lowered, but earlier steps had no effect: the rejections are random.
    NoEffect,
    /// No requests are accepted, probably only for a moment.
    ShortPause(Duration),
    /// No requests are accepted.
    Closed,
}

impl LearnedRate {
    /// Creates a limit learned from one burst.
    pub(crate) const fn new(rate: f64, now: Instant) -> Self {
        Self {
            rate: rate.max(SLOWEST),
            from: rate.max(SLOWEST),
            since: now,
            certainty: 0,
            refused: 0,
            crept: None,
            stepped: None,
            short_pause: SHORT_PAUSE,
            share: 0.0,
            steps: 0,
        }
    }

    /// Restarts after the address was closed, with the accepted rate if known. As it was measured over a short time,
    /// the rate is at most halved.
    pub(crate) fn reopen(&mut self, accepted: Option<f64>, now: Instant) {
        let rate = accepted.map_or(self.rate, |rate| (rate * SHADE).clamp(self.rate / 2.0, self.rate * SHADE));
        *self = Self { certainty: self.certainty, ..Self::new(rate, now) };
    }

    /// Records a rejection. Returns whether it justifies a step back: the first one of a newly learned rate that has
    /// grown does.
    pub(crate) fn refuse(&mut self, are_random: bool, now: Instant) -> bool {
        self.refused += 1;
        let is_due = self.crept.is_none_or(|crept| now.saturating_duration_since(crept) >= SECOND);
        if self.certainty > 0 && !are_random && is_due {
            self.rate *= 1.0 - CREEP;
            self.crept = Some(now);
        }
        self.certainty == 0 && !are_random && self.has_grown()
    }

    fn has_grown(&self) -> bool {
        self.rate > self.from * GROWN
    }

    /// Ignores the rejections so far.
    pub(crate) const fn settle(&mut self) {
        self.refused = 0;
    }

    /// Steps back if too many requests are rejected, after the rejection of a request that started at `begun`. `quiet`
    /// is the time of the last rejection before these.
    pub(crate) fn step(
        &mut self,
        (number, begun): (u64, Instant),
        quiet: Option<Instant>,
        rejections: &RejectionWindow,
        now: Instant,
    ) -> Step {
        let counted_requests = to_f64(rejections.counted_requests(number));
        let accepted = 1.0 - to_f64(self.refused) / counted_requests;
        if accepted < CLOSED {
            // Either the server's counter is still full for a moment, or it does not count by the second.
            let is_soon = self.stepped.is_some_and(|at| now.saturating_duration_since(at) < SECOND);
            let short_pause = self.short_pause;
            self.short_pause *= 2;
            return if is_soon { Step::ShortPause(short_pause) } else { Step::Closed };
        }
        let has_grown = self.has_grown();
        let (rate, certainty) = if has_grown {
            // Undoes the growth since the request started, and a little more.
            let since = now.saturating_duration_since(begun).as_secs_f64();
            let rate = self.rate * (-self.growth(quiet, now) * since).exp() * SHADE;
            (rate.max(self.from * 0.9), (self.certainty + 1).min(2))
        } else if let Some(at) = self.stepped.filter(|_| self.short_pause > SHORT_PAUSE) {
            // The address also closed right after the last step: the rate accepted in between is the limit.
            let seconds = now.saturating_duration_since(at).as_secs_f64().max(1.0);
            ((counted_requests * accepted / seconds).clamp(self.rate * DEEP, self.rate * SHADE), 1)
        } else if counted_requests < MIN_COUNTED.1.max(self.rate * MIN_COUNTED.0) {
            return Step::None;
        } else {
            let certainty = if accepted < DEEP { 1 } else { self.certainty };
            (self.rate * accepted.clamp(0.5, SHADE), certainty)
        };
        let share = rejections.share();
        let mut next = Self { certainty, stepped: Some(now), share, ..Self::new(rate, now) };
        if !has_grown && share <= DENSE && share >= self.share / 2.0 {
            (next.share, next.steps) = (self.share.max(share), self.steps + 1);
            if next.steps >= MOST_STEPS {
                *self = Self::new(rate, now);
                return Step::NoEffect;
            }
        }
        *self = next;
        Step::Back
    }

    /// Grows the rate over a period in which it was fully used.
    pub(crate) fn grow(&mut self, passed: Duration, rejections: &RejectionWindow, now: Instant) {
        let pause = match self.certainty {
            _ if rejections.are_random() => Duration::ZERO,
            0 => PAUSE[0],
            certainty => PAUSE[certainty].max(Duration::from_secs_f64(SLOW_PAUSE / self.rate)),
        };
        if rejections.quiet(now) >= pause && now.saturating_duration_since(self.since) >= SECOND / 4 {
            self.rate *= 1.0 + self.growth(rejections.last, now) * passed.min(SECOND).as_secs_f64();
        }
    }

    /// Returns the growth per second.
    fn growth(&self, refused: Option<Instant>, now: Instant) -> f64 {
        let (growth, doubling) = GROWTH[self.certainty];
        let since = refused.map_or(self.since, |refused| self.since.max(refused));
        let quiet = now.saturating_duration_since(since).as_secs_f64().min(LONGEST_QUIET) / doubling;
        growth * (1.0 + quiet * quiet)
    }
}
