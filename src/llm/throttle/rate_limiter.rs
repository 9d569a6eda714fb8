//! Rate limiter for requests to one address. Combines the limit of the pipeline file, the quota in response headers,
//! and a rate learned from rejections. Takes the time as an argument and reads no clock.
//!
//! As long as no limit is known, the rate doubles every tenth of a second, so that a limit is reached by a few requests
//! and not by a burst. Rejections in a row show how many requests were accepted; the rate is then set to that and grows
//! again, faster the longer no request is rejected. A rejection stops the growth; several mean that the last step was
//! too large, and it is undone without a pause, so that the accepted rate stays in use. (This is BBR's idea of using
//! the delivered rate as the limit; the sawtooth of AIMD would waste a tenth.) Rejections that are as frequent at a
//! lower rate are random, and are tolerated.

use std::time::Duration;

use tokio::time::Instant;

use super::rate_estimator::{LearnedRate, SHADE, Step};
use super::rejection_window::{EvidenceLevel, RejectionWindow, to_f64};
use super::token_bucket::Bucket;

/// Initial rate, in requests per second.
const FIRST: f64 = 200.0;
/// Time in which a rate that has met no limit doubles.
const DOUBLING: Duration = Duration::from_millis(100);
/// Rate after the very first rejection, until it is clear whether it was random.
const CAREFUL: f64 = FIRST / 4.0;
/// Up to this many requests, three rejections in a row are not considered random, and a single one lowers the rate.
const FEW: u64 = 100;
/// Lateness that is caught up with, in seconds: timers are late, but catching up with more would be a burst.
const SLACK: f64 = 0.05;
/// Limits are assumed to count over at least a second.
const SECOND: Duration = Duration::from_secs(1);
/// A window has at least this many requests and lasts at least a second; fewer would be too coarse.
const LEAST_COUNT: u64 = 6;
/// Requests started this soon after a step back carry no information about it, because the server's counter is still
/// full.
const SETTLING: Duration = Duration::from_millis(100);
/// Rejections that ask for a longer wait than this close the address; shorter ones only affect the rate.
const SHORT: Duration = Duration::from_secs(2);

/// Rate limiter for requests to one address.
#[derive(Debug)]
pub(crate) struct RateLimiter {
    /// Requests per second allowed by the pipeline file.
    configured: Option<f64>,
    /// Limit learned from rejections.
    learned: Option<LearnedRate>,
    /// Requests per second according to headers, and until when this applies.
    from_headers: Option<(f64, Instant)>,
    /// Requests per second while no limit is known.
    ramp: f64,
    bucket: Bucket,
    /// Until when no request may start, and whether the rate is learned again then.
    held: Option<Instant>,
    learns: bool,
    /// Number of requests so far, which is the number of the next one.
    begun: u64,
    /// Requests of the current window (a second or longer) and of the window before.
    window: Window,
    before: Option<Window>,
    rejections: RejectionWindow,
    /// Whether a request had to wait for the rate limit: only a fully used rate grows.
    bound: bool,
}

/// Consequence of a rejection for the next requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RateDecision {
    /// None, or a lower rate.
    Open,
    /// No request may start for as long as the server asks.
    Closed,
}

/// Request counts over a period.
#[derive(Debug, Clone, Copy)]
struct Window {
    since: Instant,
    until: Instant,
    first: u64,
    begun: u64,
    refused: u64,
}

impl Window {
    const fn new(first: u64, now: Instant) -> Self {
        Self { since: now, until: now, first, begun: 0, refused: 0 }
    }

    fn seconds(&self) -> f64 {
        self.until.saturating_duration_since(self.since).as_secs_f64()
    }
}

impl RateLimiter {
    /// Creates a rate limiter that knows only the configured limit.
    pub(crate) const fn new(configured: Option<f64>, now: Instant) -> Self {
        Self {
            configured,
            learned: None,
            from_headers: None,
            ramp: FIRST,
            bucket: Bucket::new(1.0, now),
            held: None,
            learns: false,
            begun: 0,
            window: Window::new(0, now),
            before: None,
            rejections: RejectionWindow::new(),
            bound: false,
        }
    }

    /// Returns the current rate in requests per second.
    pub(crate) fn rate(&self, now: Instant) -> f64 {
        let from_headers = self.from_headers.filter(|(_, until)| now < *until).map_or(f64::INFINITY, |(rate, _)| rate);
        self.learned
            .map_or(self.ramp, |limit| limit.rate)
            .min(from_headers)
            .min(self.configured.unwrap_or(f64::INFINITY))
    }

    /// Whether the address is closed.
    pub(crate) fn is_held(&self, now: Instant) -> bool {
        self.held.is_some_and(|until| now < until)
    }

    /// Returns when a request may start, or `None` if it may start now.
    pub(crate) fn wait(&mut self, now: Instant, is_idle: bool) -> Option<Instant> {
        self.advance(now, is_idle);
        if let Some(until) = self.held {
            return Some(until);
        }
        let rate = self.rate(now);
        let wait = self.bucket.wait(1.0, rate, most(rate));
        self.bound |= !wait.is_zero();
        (!wait.is_zero()).then(|| now.checked_add(wait).unwrap_or(now + Duration::from_hours(1)))
    }

    /// Counts a started request, and returns its number.
    pub(crate) const fn begin(&mut self) -> u64 {
        self.bucket.spend(1.0);
        self.window.begun += 1;
        self.begun += 1;
        self.begun - 1
    }

    /// Learns from the rejection of a request, given its number, when it started, and the wait asked for by the server.
    pub(crate) fn refuse(&mut self, number: u64, begun: Instant, wait: Duration, now: Instant) -> RateDecision {
        match &mut self.before {
            Some(before) if number < self.window.first => before.refused += 1,
            _ => self.window.refused += 1,
        }
        if self.is_held(now) || !self.rejections.is_relevant(number) {
            return RateDecision::Open;
        }
        let quiet = self.rejections.last;
        self.rejections.record(number, self.rate(now), now);
        let are_random = self.rejections.are_random();
        let is_enough = if let Some(limit) = &mut self.learned {
            let doubt = if are_random { EvidenceLevel::Much } else { EvidenceLevel::Little };
            limit.refuse(are_random, now) || self.rejections.are_many() || self.rejections.are_a_streak(doubt)
        } else {
            if self.begun <= FEW {
                self.ramp = self.ramp.min(CAREFUL);
            }
            self.rejections.are_a_streak(if self.window.begun <= FEW {
                EvidenceLevel::Little
            } else {
                EvidenceLevel::Some
            })
        };
        let step = match &mut self.learned {
            _ if wait > SHORT => Step::Closed,
            _ if !is_enough => Step::None,
            Some(limit) => limit.step((number, begun), quiet, &self.rejections, now),
            None => Step::Closed,
        };
        match step {
            Step::None => return RateDecision::Open,
            Step::Back => self.settle(now + SETTLING),
            Step::NoEffect => {
                self.rejections.tolerate_more();
                self.settle(now + SETTLING);
            }
            Step::ShortPause(short_pause) if short_pause < wait => {
                self.held = Some(now + short_pause);
                self.settle(now + short_pause);
            }
            Step::ShortPause(_) | Step::Closed => {
                self.window.until = now;
                (self.held, self.learns) = (Some(now + wait), true);
                self.settle(now + wait);
                return RateDecision::Closed;
            }
        }
        RateDecision::Open
    }

    /// Ignores rejections of requests that started before a time.
    fn settle(&mut self, until: Instant) {
        self.rejections.settle(until);
        if let Some(limit) = &mut self.learned {
            limit.settle();
        }
    }

    /// Restarts at the initial rate unless a limit was learned, so that the requests after an outage are not sent at
    /// once.
    pub(crate) fn restart(&mut self, now: Instant) {
        self.ramp = FIRST;
        self.bucket.empty(now);
    }

    /// Applies the quota in response headers: `remaining` requests until the reset. With a server that refills
    /// continuously this settles at its rate with half of the quota left; with one that counts by windows the quota is
    /// used up when the window ends.
    pub(crate) fn apply_quota(&mut self, remaining: f64, reset: Duration, now: Instant) {
        if reset > Duration::ZERO {
            let until = now + reset.min(Duration::from_mins(2));
            self.from_headers = Some((remaining.max(1.0) / reset.as_secs_f64(), until));
        }
    }

    /// Advances the time.
    fn advance(&mut self, now: Instant, is_idle: bool) {
        if let Some(until) = self.held {
            if now < until {
                return;
            }
            (self.held, self.ramp) = (None, FIRST);
            if std::mem::take(&mut self.learns) {
                self.learn(now);
            }
            self.bucket.empty(now);
            self.bucket.spend(-1.0);
        }
        self.rejections.advance(self.begun, now);
        let passed = self.bucket.age(now);
        if passed.is_zero() {
            return;
        }
        match &mut self.learned {
            Some(limit) if self.bound => limit.grow(passed, &self.rejections, now),
            Some(_) => {}
            None if is_idle && passed >= SECOND => self.ramp = FIRST,
            None if self.begun <= FEW && self.rejections.quiet(now) < DOUBLING => {}
            None => {
                let doublings = passed.min(DOUBLING).as_secs_f64() / DOUBLING.as_secs_f64();
                self.ramp = (self.ramp * doublings.exp2()).min(1e6);
            }
        }
        self.bound = false;
        if now.saturating_duration_since(self.window.since) >= SECOND && self.window.begun >= LEAST_COUNT {
            self.window.until = now;
            self.before = Some(std::mem::replace(&mut self.window, Window::new(self.begun, now)));
        }
        let rate = self.rate(now);
        self.bucket.fill(rate, most(rate), now);
    }

    /// Learns from the recently accepted requests. Limits are assumed to count over at least a second.
    fn learn(&mut self, now: Instant) {
        let windows = [Some(self.window), self.before.take()];
        let windows = || windows.iter().flatten();
        let seconds: f64 = windows().map(Window::seconds).sum();
        let accepted: u64 = windows().map(|window| window.begun.saturating_sub(window.refused)).sum();
        let rate = to_f64(accepted) / seconds.max(1.0);
        match &mut self.learned {
            // Nothing can be learned if no request was accepted, or from less than a second.
            Some(limit) => limit.reopen((accepted > 0 && seconds >= 1.0).then_some(rate), now),
            None if accepted == 0 => {}
            None => self.learned = Some(LearnedRate::new(rate * SHADE, now)),
        }
        self.window = Window::new(self.begun, now);
    }
}

/// Returns the maximum burst.
fn most(rate: f64) -> f64 {
    1.0 + rate.min(1e6) * SLACK
}

/// Parses the time until a reset in `x-ratelimit-reset-*` headers: `1s`, `6m0s`, `120ms`, `1h2m3.5s`, or seconds.
/// Returns `None` for points in time.
pub(crate) fn reset_of(text: &str) -> Option<Duration> {
    let text = text.trim();
    let seconds = if let Ok(seconds) = text.parse::<f64>() {
        seconds
    } else {
        let (mut sum, mut rest) = (0.0, text);
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
            let number: f64 = rest[..digits].parse().ok()?;
            rest = &rest[digits..];
            let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
            sum += number
                * match &rest[..letters] {
                    "ms" => 1e-3,
                    "s" => 1.0,
                    "m" => 60.0,
                    "h" => 3600.0,
                    "d" => 86_400.0,
                    _ => return None,
                };
            rest = &rest[letters..];
        }
        sum
    };
    // More than a week is a Unix timestamp.
    (seconds < 604_800.0).then(|| Duration::try_from_secs_f64(seconds).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// How a test server counts the requests of a second.
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Counts {
        /// In windows of a second, starting with the first request.
        Windows,
        /// In seconds of its own clock.
        Clock,
        /// Over the second before each request.
        Sliding,
        /// With a bucket of this many seconds' requests.
        Bucket(f64),
    }

    /// A test server that accepts a number of requests per second.
    struct Server {
        counts: Counts,
        most: f64,
        since: Instant,
        count: f64,
        accepted: std::collections::VecDeque<Instant>,
    }

    impl Server {
        fn new(counts: Counts, most: f64, now: Instant) -> Self {
            let since = if counts == Counts::Clock { now - 370 * MS } else { now };
            let count = if let Counts::Bucket(seconds) = counts { seconds * most } else { 0.0 };
            Self { counts, most, since, count, accepted: std::collections::VecDeque::new() }
        }

        fn accepts(&mut self, now: Instant) -> bool {
            match self.counts {
                Counts::Windows | Counts::Clock => {
                    let passed = now - self.since;
                    if passed >= SECOND {
                        let whole = Duration::from_secs(passed.as_secs());
                        self.since = if self.counts == Counts::Clock { self.since + whole } else { now };
                        self.count = 0.0;
                    }
                    self.count += 1.0;
                    self.count <= self.most
                }
                Counts::Sliding => {
                    while self.accepted.front().is_some_and(|at| now - *at >= SECOND) {
                        self.accepted.pop_front();
                    }
                    let accepts = to_f64(self.accepted.len() as u64) < self.most;
                    self.accepted.extend(accepts.then_some(now));
                    accepts
                }
                Counts::Bucket(seconds) => {
                    let more = (now - self.since).as_secs_f64() * self.most;
                    (self.count, self.since) = ((self.count + more).min(seconds * self.most), now);
                    let accepts = self.count >= 1.0;
                    self.count -= f64::from(u8::from(accepts));
                    accepts
                }
            }
        }
    }

    /// Sends requests as fast as the limiter allows; rejections are reported `report_delay` later. Returns (accepted,
    /// rejected).
    fn play(
        rate_limiter: &mut RateLimiter,
        server: &mut Server,
        from: Instant,
        time: Duration,
        report_delay: Duration,
    ) -> (u64, u64) {
        let (mut now, mut counts) = (from, (0, 0));
        let mut report_due: std::collections::VecDeque<(u64, Instant)> = std::collections::VecDeque::new();
        while now < from + time {
            while report_due.front().is_some_and(|(_, begun)| *begun + report_delay <= now) {
                let (number, begun) = report_due.pop_front().expect("just seen");
                rate_limiter.refuse(number, begun, SECOND, now);
            }
            if rate_limiter.wait(now, false).is_none() {
                let number = rate_limiter.begin();
                if server.accepts(now) {
                    counts.0 += 1;
                } else {
                    counts.1 += 1;
                    report_due.push_back((number, now));
                }
            } else {
                now += MS;
            }
        }
        counts
    }

    #[test]
    fn an_unknown_limit_is_used_and_hardly_exceeded() {
        for counts in [Counts::Windows, Counts::Clock, Counts::Sliding, Counts::Bucket(1.0), Counts::Bucket(0.2)] {
            for (most, report_delay) in
                [(20_u32, 2), (20, 10), (100, 2), (100, 20), (300, 2), (300, 50), (1000, 5), (1000, 20)]
            {
                let now = Instant::now();
                let mut rate_limiter = RateLimiter::new(None, now);
                let mut server = Server::new(counts, f64::from(most), now);
                let report_delay = Duration::from_millis(report_delay);
                let (accepted, refused) =
                    play(&mut rate_limiter, &mut server, now, Duration::from_mins(1), report_delay);
                let all = u64::from(most) * 60;
                let summary = format!(
                    "{counts:?}, {most} a second, {report_delay:?}: {accepted} of {all} accepted, {refused} refused"
                );
                // A small bucket looks like a lower limit at first.
                let least = if counts == Counts::Bucket(0.2) && most == 20 { 90 } else { 95 };
                assert!(accepted * 100 >= all * least && refused * 100 < (accepted + refused) * 2, "{summary}");
            }
        }
    }

    #[test]
    fn low_limits_are_used() {
        for (counts, most) in [(Counts::Windows, 5.0), (Counts::Clock, 5.0), (Counts::Sliding, 3.0)] {
            let now = Instant::now();
            let mut rate_limiter = RateLimiter::new(None, now);
            let mut server = Server::new(counts, most, now);
            let (accepted, refused) = play(&mut rate_limiter, &mut server, now, Duration::from_mins(2), 10 * MS);
            let all = most * 120.0;
            // One request too many is a fifth of the limit.
            assert!(to_f64(accepted) >= all * 0.85, "{counts:?}: {accepted} of {all} accepted");
            assert!(to_f64(refused) <= all * 0.06, "{counts:?}: {refused} of {all} refused");
        }
    }

    #[test]
    fn random_rejections_have_little_effect() {
        for one_of in [50, 20] {
            let begun = Instant::now();
            let (mut rate_limiter, mut now, mut count) = (RateLimiter::new(None, begun), begun, 0_u64);
            while now < begun + Duration::from_mins(1) && count < 40_000 {
                if rate_limiter.wait(now, false).is_some() {
                    now += MS;
                    continue;
                }
                let number = rate_limiter.begin();
                count += 1;
                if number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32 & 0xffff < 0x1_0000 / one_of {
                    rate_limiter.refuse(number, now, SECOND, now);
                }
            }
            let took = now - begun;
            assert!(
                count >= 40_000 && took < Duration::from_secs(30),
                "1 of {one_of}: {count} in {took:?}: {rate_limiter:?}"
            );
        }
    }

    #[test]
    fn a_changing_limit_is_followed() {
        for counts in [Counts::Windows, Counts::Sliding, Counts::Bucket(1.0)] {
            let now = Instant::now();
            let mut rate_limiter = RateLimiter::new(None, now);
            let mut server = Server::new(counts, 100.0, now);
            play(&mut rate_limiter, &mut server, now, Duration::from_secs(20), MS);
            server.most = 25.0;
            let later = now + Duration::from_secs(20);
            let (accepted, refused) = play(&mut rate_limiter, &mut server, later, Duration::from_secs(30), MS);
            assert!(accepted >= 600 && refused <= 100, "{counts:?}: {accepted} accepted, {refused} refused");
            server.most = 100.0;
            play(&mut rate_limiter, &mut server, later + Duration::from_secs(30), Duration::from_mins(2), MS);
            let rate = rate_limiter.rate(later + Duration::from_mins(3));
            assert!(rate > 80.0, "{counts:?}: {rate}");
        }
    }

    #[test]
    fn a_closed_address_gets_few_requests() {
        let begun = Instant::now();
        let (mut rate_limiter, mut now, mut count, mut closed) = (RateLimiter::new(None, begun), begun, 0, 0);
        while now < begun + Duration::from_secs(10) {
            if rate_limiter.wait(now, false).is_some() {
                now += MS;
                continue;
            }
            let number = rate_limiter.begin();
            count += 1;
            closed += u32::from(rate_limiter.refuse(number, now, SECOND, now) == RateDecision::Closed);
        }
        assert!(closed >= 9 && count <= 40, "{count} requests, closed {closed} times");
        // A long wait applies to all requests.
        let minute = Duration::from_mins(1);
        assert_eq!(rate_limiter.wait(now + minute, false), None);
        let number = rate_limiter.begin();
        assert_eq!(rate_limiter.refuse(number, now + minute, minute, now + minute), RateDecision::Closed);
        assert!(rate_limiter.is_held(now + 2 * minute - MS));
    }

    #[test]
    fn without_a_limit_the_rate_grows_and_an_idle_limiter_restarts() {
        let now = Instant::now();
        let mut rate_limiter = RateLimiter::new(None, now);
        let mut server = Server::new(Counts::Windows, f64::INFINITY, now);
        let (first, _) = play(&mut rate_limiter, &mut server, now, 50 * MS, MS);
        assert!((5..=20).contains(&first), "{first}: there must be no burst");
        let (accepted, _) = play(&mut rate_limiter, &mut server, now + 50 * MS, 450 * MS, MS);
        assert!(accepted > 600, "{accepted}");
        let later = now + Duration::from_secs(5);
        assert_eq!(rate_limiter.wait(later, true), None);
        assert!(rate_limiter.rate(later) <= FIRST);
    }

    #[test]
    fn configured_limits_and_quotas_are_not_exceeded() {
        let now = Instant::now();
        let mut rate_limiter = RateLimiter::new(Some(50.0), now);
        let mut server = Server::new(Counts::Windows, f64::INFINITY, now);
        let (accepted, _) = play(&mut rate_limiter, &mut server, now, Duration::from_secs(10), MS);
        assert!((490..=502).contains(&accepted), "{accepted}");
        let later = now + Duration::from_secs(10);
        rate_limiter.apply_quota(20.0, Duration::from_secs(2), later);
        let (accepted, _) = play(&mut rate_limiter, &mut server, later, Duration::from_secs(1), MS);
        assert!((9..=12).contains(&accepted), "{accepted}");
        let (accepted, _) =
            play(&mut rate_limiter, &mut server, later + Duration::from_secs(2), Duration::from_secs(1), MS);
        assert!(accepted >= 45, "{accepted}: the quota of the headers has expired");
    }

    #[test]
    fn resets_are_parsed() {
        for (text, milliseconds) in [
            ("1s", Some(1000)),
            ("6m0s", Some(360_000)),
            ("120ms", Some(120)),
            ("1h2m3.5s", Some(3_723_500)),
            ("17", Some(17_000)),
            ("1763700000", None),
            ("2026-11-21T00:00:00Z", None),
            ("soon", None),
            ("-3", None),
        ] {
            assert_eq!(reset_of(text), milliseconds.map(Duration::from_millis), "{text}");
        }
    }
}
