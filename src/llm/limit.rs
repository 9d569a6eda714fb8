//! A pace that refusals have taught, and how it feels its way. It is told the time and reads no clock.

use std::time::Duration;

use tokio::time::Instant;

use super::refusals::{Refusals, to_f64};

/// A pace after a refusal, as a share of what was let in.
pub(super) const SHADE: f64 = 0.985;
/// What each refusal of a known pace takes off it, once a second.
const CREEP: f64 = 0.005;
/// How a pace grows: by a share per second right after a refusal, which has doubled after so many seconds and grows with their
/// square. What one burst has taught may be far off; what further steps have taught is not.
const GROWTH: [(f64, f64); 3] = [(0.08, 1.0), (0.006, 5.0), (0.0008, 8.0)];
/// The growth is that of so many quiet seconds at most.
const LONGEST_QUIET: f64 = 30.0;
/// How long a pace does not grow after a refusal, by how sure it is; and a slow one is given the time of so many requests.
const PAUSE: [Duration; 3] = [Duration::from_millis(500), Duration::from_secs(5), Duration::from_secs(5)];
const SLOW_PAUSE: f64 = 60.0;
/// A pace that has grown by less was not changed by growing.
const GROWN: f64 = 1.003;
/// Requests of so many seconds, and so many at least, tell of a step back whether it was enough.
const LEAST_HEARD: (f64, f64) = (0.07, 6.0);
/// The share of refusals from which they are no chance.
const DENSE: f64 = 0.25;
/// So many steps back that cure nothing show that the refusals are chance.
const MOST_STEPS: u32 = 3;
/// Where less is let in, the door is closed.
const CLOSED: f64 = 0.1;
/// A step that leaves less is a guess, and none leaves less than half.
const DEEP: f64 = 0.75;
/// The first wait before a door that is closed right after a step back; it doubles.
const BREATH: Duration = Duration::from_millis(50);
const SECOND: Duration = Duration::from_secs(1);
/// No limit is below one request a minute.
const SLOWEST: f64 = 1.0 / 60.0;

/// A pace that refusals have taught.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    /// Requests a second.
    pub(super) rate: f64,
    /// The same, when it was last changed.
    from: f64,
    /// When it was last changed.
    since: Instant,
    /// Which growth it has, and which pause.
    sureness: usize,
    /// Refusals since it was last changed.
    refused: u64,
    /// When a refusal last took something off.
    crept: Option<Instant>,
    /// When the last step back was made, and how long the next wait is if the door is closed behind it.
    stepped: Option<Instant>,
    breath: Duration,
    /// The share of refusals before the steps that cured nothing, and how many those were.
    share: f64,
    steps: u32,
}

/// What becomes of a pace that was refused too often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Too little is known of the step before.
    None,
    /// It is lower.
    Back,
    /// It is lower, though that is not what cures the refusals: they are chance.
    InVain,
    /// Nothing is let in, for a moment as it seems.
    Breath(Duration),
    /// Nothing is let in.
    Closed,
}

impl Limit {
    /// Makes a pace that one burst has taught.
    pub(super) const fn new(rate: f64, now: Instant) -> Self {
        Self {
            rate: rate.max(SLOWEST),
            from: rate.max(SLOWEST),
            since: now,
            sureness: 0,
            refused: 0,
            crept: None,
            stepped: None,
            breath: BREATH,
            share: 0.0,
            steps: 0,
        }
    }

    /// Takes a wait before a closed door. So short a time says little of what was let in before it: no cut is deeper than half.
    pub(super) fn reopen(&mut self, let_in: Option<f64>, now: Instant) {
        let rate = let_in.map_or(self.rate, |rate| (rate * SHADE).clamp(self.rate / 2.0, self.rate * SHADE));
        *self = Self { sureness: self.sureness, ..Self::new(rate, now) };
    }

    /// Takes a refusal. Returns whether it is enough for a step: the first of a pace that has just been learned is.
    pub(super) fn refuse(&mut self, are_chance: bool, now: Instant) -> bool {
        self.refused += 1;
        let is_due = self.crept.is_none_or(|crept| now.saturating_duration_since(crept) >= SECOND);
        if self.sureness > 0 && !are_chance && is_due {
            self.rate *= 1.0 - CREEP;
            self.crept = Some(now);
        }
        self.sureness == 0 && !are_chance && self.has_grown()
    }

    fn has_grown(&self) -> bool {
        self.rate > self.from * GROWN
    }

    /// Forgets the refusals so far: they are no news any more.
    pub(super) const fn settle(&mut self) {
        self.refused = 0;
    }

    /// Steps back after the refusal of a request that began at `begun`, when there are too many. `quiet` is when a request was
    /// last refused before them.
    pub(super) fn step(
        &mut self,
        (number, begun): (u64, Instant),
        quiet: Option<Instant>,
        refusals: &Refusals,
        now: Instant,
    ) -> Step {
        let heard = to_f64(refusals.heard(number));
        let let_in = 1.0 - to_f64(self.refused) / heard;
        if let_in < CLOSED {
            // The server's count is full for a moment yet, or it does not count by the second.
            let is_soon = self.stepped.is_some_and(|at| now.saturating_duration_since(at) < SECOND);
            let breath = self.breath;
            self.breath *= 2;
            return if is_soon { Step::Breath(breath) } else { Step::Closed };
        }
        let has_grown = self.has_grown();
        let (rate, sureness) = if has_grown {
            // What has been grown since the request began was too much, and a little more.
            let since = now.saturating_duration_since(begun).as_secs_f64();
            let rate = self.rate * (-self.growth(quiet, now) * since).exp() * SHADE;
            (rate.max(self.from * 0.9), (self.sureness + 1).min(2))
        } else if let Some(at) = self.stepped.filter(|_| self.breath > BREATH) {
            // The door was closed behind the last step too: what is let in between is the limit.
            let seconds = now.saturating_duration_since(at).as_secs_f64().max(1.0);
            ((heard * let_in / seconds).clamp(self.rate * DEEP, self.rate * SHADE), 1)
        } else if heard < LEAST_HEARD.1.max(self.rate * LEAST_HEARD.0) {
            return Step::None;
        } else {
            let sureness = if let_in < DEEP { 1 } else { self.sureness };
            (self.rate * let_in.clamp(0.5, SHADE), sureness)
        };
        let share = refusals.share();
        let mut next = Self { sureness, stepped: Some(now), share, ..Self::new(rate, now) };
        if !has_grown && share <= DENSE && share >= self.share / 2.0 {
            (next.share, next.steps) = (self.share.max(share), self.steps + 1);
            if next.steps >= MOST_STEPS {
                *self = Self::new(rate, now);
                return Step::InVain;
            }
        }
        *self = next;
        Step::Back
    }

    /// Lets it grow for a time in which it was used up.
    pub(super) fn grow(&mut self, passed: Duration, refusals: &Refusals, now: Instant) {
        let pause = match self.sureness {
            _ if refusals.are_chance() => Duration::ZERO,
            0 => PAUSE[0],
            sureness => PAUSE[sureness].max(Duration::from_secs_f64(SLOW_PAUSE / self.rate)),
        };
        if refusals.quiet(now) >= pause && now.saturating_duration_since(self.since) >= SECOND / 4 {
            self.rate *= 1.0 + self.growth(refusals.last, now) * passed.min(SECOND).as_secs_f64();
        }
    }

    /// Returns the growth per second.
    fn growth(&self, refused: Option<Instant>, now: Instant) -> f64 {
        let (growth, doubling) = GROWTH[self.sureness];
        let since = refused.map_or(self.since, |refused| self.since.max(refused));
        let quiet = now.saturating_duration_since(since).as_secs_f64().min(LONGEST_QUIET) / doubling;
        growth * (1.0 + quiet * quiet)
    }
}
