//! How fast requests may begin at one address: what the pipeline file states, what the server tells in headers, and what its
//! refusals teach. It is told the time and reads no clock.
//!
//! While nothing is known the pace doubles every tenth of a second, so that a limit is met by a few requests and not by a
//! burst. Refusals in a row tell how many were let in; from then on the pace stays just below that and grows slowly, the
//! faster the longer nothing was refused. (BBR's idea: what was let in is the limit; a sawtooth of AIMD would waste a tenth.)

use std::time::Duration;

use tokio::time::Instant;

use super::bucket::Bucket;

/// The first pace, in requests a second.
const FIRST: f64 = 200.0;
/// The time in which a pace that met no limit doubles.
const DOUBLING: Duration = Duration::from_millis(100);
/// So much lateness is caught up with, in seconds; a timer is late, and more would be a burst.
const SLACK: f64 = 0.02;
/// The pace after a refusal, as a share of what was let in.
const SHADE: f64 = 0.98;
/// A further refusal teaches nothing new so soon.
const DEBOUNCE: Duration = Duration::from_secs(1);
/// The growth of a learned pace per second, right after a refusal.
const GROWTH: f64 = 0.0012;
/// The growth per second of a pace that one refusal has taught, which may have been chance.
const DOUBTFUL_GROWTH: f64 = 0.4;
/// The seconds without a refusal after which the growth has doubled; it goes with their square.
const QUIET: f64 = 6.0;
/// So many requests, and a second, make a window: fewer would count too coarsely.
const LEAST_COUNT: u64 = 20;
/// One of so many requests may be refused by chance.
const MOST_REFUSED: u64 = 33;
/// No limit is below one request a minute.
const SLOWEST: f64 = 1.0 / 60.0;

/// The pace of requests at one address.
#[derive(Debug)]
pub(super) struct Pace {
    /// Requests a second that the pipeline file allows.
    stated: Option<f64>,
    /// Requests a second that refusals have taught.
    learned: Option<f64>,
    /// Requests a second that headers tell, and until when that holds.
    told: Option<(f64, Instant)>,
    /// Requests a second while no limit is known.
    ramp: f64,
    bucket: Bucket,
    /// When no request may begin until.
    held: Option<Instant>,
    /// Since when refusals are news: those of earlier requests have been learned from.
    fresh: Instant,
    /// The requests of the last second or longer, and those of the window before.
    window: Window,
    before: Option<Window>,
    /// Whether the pace is learned anew when the hold ends.
    learns: bool,
    /// When the pace was last cut.
    cut: Option<Instant>,
    /// When a request was last refused.
    paused: Option<Instant>,
    /// Whether the learned pace has been met by refusals again; until then it may be far too low.
    confirmed: bool,
    /// Whether a request has waited for the pace: only a pace that is used up grows.
    bound: bool,
}

/// Requests that were counted for a while.
#[derive(Debug, Clone, Copy)]
struct Window {
    since: Instant,
    until: Instant,
    begun: u64,
    refused: u64,
}

impl Window {
    const fn new(now: Instant) -> Self {
        Self { since: now, until: now, begun: 0, refused: 0 }
    }

    fn seconds(&self) -> f64 {
        self.until.saturating_duration_since(self.since).as_secs_f64()
    }
}

impl Pace {
    /// Makes a pace that knows nothing but what is stated.
    pub(super) const fn new(stated: Option<f64>, now: Instant) -> Self {
        Self {
            stated,
            learned: None,
            told: None,
            ramp: FIRST,
            bucket: Bucket::new(1.0, now),
            held: None,
            fresh: now,
            window: Window::new(now),
            before: None,
            learns: false,
            cut: None,
            paused: None,
            confirmed: false,
            bound: false,
        }
    }

    /// Returns the requests a second that may begin now.
    pub(super) fn rate(&self, now: Instant) -> f64 {
        let told = self.told.filter(|(_, until)| now < *until).map_or(f64::INFINITY, |(rate, _)| rate);
        self.learned.unwrap_or(self.ramp).min(told).min(self.stated.unwrap_or(f64::INFINITY))
    }

    /// Says whether no request may begin for a while.
    pub(super) fn is_held(&self, now: Instant) -> bool {
        self.held.is_some_and(|until| now < until)
    }

    /// Returns when a request may begin that cannot begin now.
    pub(super) fn wait(&mut self, now: Instant, is_idle: bool) -> Option<Instant> {
        self.pass(now, is_idle);
        if let Some(until) = self.held {
            return Some(until);
        }
        let rate = self.rate(now);
        let wait = self.bucket.wait(1.0, rate, most(rate));
        self.bound |= !wait.is_zero();
        (!wait.is_zero()).then(|| now.checked_add(wait).unwrap_or(now + Duration::from_hours(1)))
    }

    /// Counts a request that begins.
    pub(super) const fn begin(&mut self) {
        self.bucket.spend(1.0);
        self.window.begun += 1;
    }

    /// Counts a refusal of a request that began at `begun`, and says whether it is news.
    pub(super) fn refuse(&mut self, begun: Instant) -> bool {
        let is_news = begun >= self.fresh;
        match &mut self.before {
            Some(before) if begun < self.window.since => before.refused += u64::from(is_news),
            _ => self.window.refused += u64::from(is_news),
        }
        is_news && !self.learns
    }

    /// Lets nothing begin until a time; then the pace is what was let in before.
    pub(super) fn hold(&mut self, now: Instant, until: Instant) {
        if !self.learns {
            self.window.until = now;
        }
        self.held = Some(self.held.map_or(until, |held| held.max(until)));
        self.learns = true;
    }

    /// Takes the pace down to what was let in, without a pause; says whether that could be measured.
    pub(super) fn cut(&mut self, now: Instant) -> bool {
        self.window.until = now;
        let measured = self.window.seconds() + self.before.as_ref().map_or(0.0, Window::seconds);
        let has_let_in = self.window.begun > self.window.refused || self.before.is_some();
        let can = self.learned.is_some() && has_let_in && measured >= DEBOUNCE.as_secs_f64();
        if can {
            self.learn(now);
            self.confirmed = true;
        }
        can
    }

    /// Says whether more than a few of a hundred requests were refused of late at a pace that is known. A slow limit never
    /// refuses many in a row.
    pub(super) fn is_over(&self) -> bool {
        let windows = || self.before.iter().chain([&self.window]);
        let refused: u64 = windows().map(|window| window.refused).sum();
        let begun: u64 = windows().map(|window| window.begun).sum();
        self.learned.is_some() && refused >= 2 && refused * MOST_REFUSED > begun
    }

    /// Takes note of a refusal that may be chance: nothing grows for a while.
    pub(super) const fn pause(&mut self, now: Instant) {
        self.paused = Some(now);
    }

    /// Begins anew as with an unknown server, where no limit has been learned: after an outage all would come at once.
    pub(super) fn restart(&mut self, now: Instant) {
        self.ramp = FIRST;
        self.bucket.empty(now);
    }

    /// Takes what a server tells: so many requests are left until its count begins anew. A server that refills steadily
    /// settles at its rate with half of its count left; one that counts by windows is used up when the window ends.
    pub(super) fn tell(&mut self, remaining: f64, reset: Duration, now: Instant) {
        if reset > Duration::ZERO {
            let until = now + reset.min(Duration::from_mins(2));
            self.told = Some((remaining.max(1.0) / reset.as_secs_f64(), until));
        }
    }

    /// Lets time pass.
    fn pass(&mut self, now: Instant, is_idle: bool) {
        if let Some(until) = self.held {
            if now < until {
                return;
            }
            (self.held, self.learns, self.ramp) = (None, false, FIRST);
            self.learn(now);
            self.bucket.empty(now);
            self.bucket.spend(-1.0);
        }
        let passed = self.bucket.age(now);
        if passed.is_zero() {
            return;
        }
        match &mut self.learned {
            Some(learned) if self.bound => {
                let quiet = self.cut.map_or(Duration::ZERO, |cut| now.saturating_duration_since(cut));
                let is_fresh =
                    |time: Option<Instant>| time.is_some_and(|time| now.saturating_duration_since(time) < DEBOUNCE);
                let growth = if is_fresh(self.cut) || is_fresh(self.paused) {
                    0.0
                } else if self.confirmed {
                    let quiet = quiet.min(Duration::from_secs(30)).as_secs_f64() / QUIET;
                    GROWTH * (1.0 + quiet * quiet)
                } else {
                    DOUBTFUL_GROWTH
                };
                *learned *= 1.0 + growth * passed.min(Duration::from_secs(1)).as_secs_f64();
            }
            Some(_) => {}
            None if is_idle && passed >= Duration::from_secs(1) => self.ramp = FIRST,
            None => {
                let doublings = passed.min(DOUBLING).as_secs_f64() / DOUBLING.as_secs_f64();
                self.ramp = (self.ramp * doublings.exp2()).min(1e6);
            }
        }
        self.bound = false;
        if now.saturating_duration_since(self.window.since) >= DEBOUNCE && self.window.begun >= LEAST_COUNT {
            self.window.until = now;
            self.before = Some(std::mem::replace(&mut self.window, Window::new(now)));
        }
        let rate = self.rate(now);
        self.bucket.fill(rate, most(rate), now);
    }

    /// Learns from what was let in of late. A limit counts whole seconds at least.
    #[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
    fn learn(&mut self, now: Instant) {
        let windows = [Some(self.window), self.before.take()];
        let windows = || windows.iter().flatten();
        let seconds: f64 = windows().map(Window::seconds).sum();
        let let_in: u64 = windows().map(|window| window.begun.saturating_sub(window.refused)).sum();
        let rate = let_in as f64 / seconds.max(1.0) * SHADE;
        self.learned = match self.learned {
            // Nothing is learned from a closed door.
            known if let_in == 0 => known,
            None => Some(rate.max(SLOWEST)),
            // So short a time says little: no cut is deeper than half, and none is none.
            Some(known) => Some(rate.clamp(known / 2.0, known * SHADE).max(SLOWEST)),
        };
        (self.cut, self.fresh, self.window) = (Some(now), now, Window::new(now));
    }
}

/// Returns how many requests may begin at once.
fn most(rate: f64) -> f64 {
    1.0 + rate.min(1e6) * SLACK
}

/// Reads how long until a count begins anew, as `x-ratelimit-reset-*` headers write it: `1s`, `6m0s`, `120ms`, `1h2m3.5s`, or
/// seconds. Points in time are left alone.
pub(super) fn reset_of(text: &str) -> Option<Duration> {
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
    // What is longer than a week is a point in time.
    (seconds < 604_800.0).then(|| Duration::try_from_secs_f64(seconds).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// A server that lets in so many requests per window, which begins with its first request.
    struct Server {
        most: u64,
        window: Duration,
        begun: Instant,
        count: u64,
    }

    impl Server {
        fn lets_in(&mut self, now: Instant) -> bool {
            if now - self.begun >= self.window {
                (self.begun, self.count) = (now, 0);
            }
            self.count += 1;
            self.count <= self.most
        }
    }

    /// Sends as fast as the pace allows for a time; refusals are heard `heard` later. Returns (let in, refused).
    fn play(pace: &mut Pace, server: &mut Server, from: Instant, time: Duration, heard: Duration) -> (u64, u64) {
        let (mut now, mut counts) = (from, (0, 0));
        let mut news: std::collections::VecDeque<(Instant, Instant)> = std::collections::VecDeque::new();
        let mut in_a_row = 0;
        while now < from + time {
            while news.front().is_some_and(|(at, _)| *at <= now) {
                let (_, begun) = news.pop_front().expect("just seen");
                if pace.refuse(begun) {
                    in_a_row += 1;
                    pace.pause(now);
                    if in_a_row >= 3 || pace.is_over() {
                        in_a_row = 0;
                        let wait = if pace.cut(now) { 200 * MS } else { Duration::from_secs(1) };
                        pace.hold(now, now + wait);
                    }
                }
            }
            if pace.wait(now, false).is_none() {
                pace.begin();
                if server.lets_in(now) {
                    counts.0 += 1;
                    in_a_row = 0;
                } else {
                    counts.1 += 1;
                    news.push_back((now + heard, now));
                }
            } else {
                now += MS;
            }
        }
        counts
    }

    #[test]
    fn a_limit_that_nobody_told_is_used_and_hardly_overrun() {
        for (most, window, heard) in [(100, 1000, 2), (100, 1000, 20), (1000, 1000, 5), (10, 1000, 20), (5, 1000, 2)] {
            let now = Instant::now();
            let mut pace = Pace::new(None, now);
            let window = Duration::from_millis(window);
            let mut server = Server { most, window, begun: now, count: 0 };
            let minute = Duration::from_mins(1);
            let (let_in, refused) = play(&mut pace, &mut server, now, minute, Duration::from_millis(heard));
            // A slow limit is counted coarsely: one request too many is a tenth of it.
            let (used, over) = if most >= 100 { (95, 50) } else { (90, 20) };
            assert!(let_in * 100 >= most * 60 * used, "{most}: {let_in} let in, {refused} refused");
            assert!(refused * over <= let_in, "{most}: {let_in} let in, {refused} refused");
        }
    }

    #[test]
    fn refusals_by_chance_teach_no_limit() {
        let now = Instant::now();
        let mut pace = Pace::new(None, now);
        let (mut at, mut begun, mut in_a_row) = (now, 0_u64, 0);
        while at < now + Duration::from_secs(10) {
            if pace.wait(at, false).is_some() {
                at += MS;
                continue;
            }
            pace.begin();
            begun += 1;
            // Two of a hundred, sometimes two in a row.
            if begun % 100 < 2 && pace.refuse(at) {
                in_a_row += 1;
                pace.pause(at);
                assert!(in_a_row < 3);
            } else {
                in_a_row = 0;
            }
            if begun > 20_000 {
                return;
            }
        }
        panic!("{begun} in ten seconds");
    }

    #[test]
    fn a_limit_that_rises_or_falls_is_followed() {
        let now = Instant::now();
        let mut pace = Pace::new(None, now);
        let mut server = Server { most: 100, window: Duration::from_secs(1), begun: now, count: 0 };
        play(&mut pace, &mut server, now, Duration::from_secs(20), MS);
        server.most = 25;
        let later = now + Duration::from_secs(20);
        let (let_in, refused) = play(&mut pace, &mut server, later, Duration::from_secs(30), MS);
        assert!(let_in >= 650 && refused <= 50, "{let_in} let in, {refused} refused");
        server.most = 100;
        play(&mut pace, &mut server, later + Duration::from_secs(30), Duration::from_mins(1), MS);
        assert!(pace.rate(later + Duration::from_mins(2)) > 80.0, "{pace:?}");
    }

    #[test]
    fn without_a_limit_the_pace_soon_hinders_nobody_and_an_idle_one_begins_anew() {
        let now = Instant::now();
        let mut pace = Pace::new(None, now);
        let mut server = Server { most: u64::MAX, window: Duration::from_secs(1), begun: now, count: 0 };
        let (first, _) = play(&mut pace, &mut server, now, 50 * MS, MS);
        assert!((5..=20).contains(&first), "{first}: no burst");
        let (let_in, _) = play(&mut pace, &mut server, now + 50 * MS, 450 * MS, MS);
        assert!(let_in > 600, "{let_in}");
        let later = now + Duration::from_secs(5);
        assert_eq!(pace.wait(later, true), None);
        assert!(pace.rate(later) <= FIRST);
    }

    #[test]
    fn what_is_stated_or_told_is_not_exceeded() {
        let now = Instant::now();
        let mut pace = Pace::new(Some(50.0), now);
        let mut server = Server { most: u64::MAX, window: Duration::from_secs(1), begun: now, count: 0 };
        let (let_in, _) = play(&mut pace, &mut server, now, Duration::from_secs(10), MS);
        assert!((490..=502).contains(&let_in), "{let_in}");
        let later = now + Duration::from_secs(10);
        pace.tell(20.0, Duration::from_secs(2), later);
        let (let_in, _) = play(&mut pace, &mut server, later, Duration::from_secs(1), MS);
        assert!((9..=12).contains(&let_in), "{let_in}");
        let (let_in, _) = play(&mut pace, &mut server, later + Duration::from_secs(2), Duration::from_secs(1), MS);
        assert!(let_in >= 45, "{let_in}: what was told is over");
    }

    #[test]
    fn resets_are_read() {
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
