//! Concurrency limit of one address: lowered when the server rejects requests, then raised again. Takes the time as an
//! argument and reads no clock.

use std::time::Duration;

use tokio::time::Instant;

/// Factor applied to the limit after a rejection.
const CUT: f64 = 0.8;
/// For this long after a reduction, further rejections are ignored and the limit does not grow.
const DEBOUNCE: Duration = Duration::from_secs(1);
/// Growth per second.
const GROWTH: f64 = 1.05;

/// Concurrency limit of one address.
#[derive(Debug)]
pub(crate) struct ConcurrencyLimit {
    most: f64,
    now: f64,
    cut: Option<Instant>,
    /// When a request last failed for a reason other than concurrency, which only pauses the growth.
    trouble: Option<Instant>,
    grown: Instant,
}

impl ConcurrencyLimit {
    /// Creates a limit at its maximum.
    #[expect(clippy::cast_precision_loss, reason = "there are far fewer than 2^52 requests in flight")]
    pub(crate) const fn new(most: usize, now: Instant) -> Self {
        Self { most: most as f64, now: most as f64, cut: None, trouble: None, grown: now }
    }

    /// Whether one more request may be in flight.
    #[expect(clippy::cast_precision_loss, reason = "there are far fewer than 2^52 requests in flight")]
    pub(crate) fn has_room(&self, in_flight: usize) -> bool {
        (in_flight as f64) + 1.0 <= self.now
    }

    /// Records a rejection.
    pub(crate) fn refuse(&mut self, now: Instant) {
        if self.cut.is_none_or(|cut| now.saturating_duration_since(cut) >= DEBOUNCE) {
            self.now = (self.now * CUT).max(1.0);
            self.cut = Some(now);
        }
    }

    /// Records a failure.
    pub(crate) const fn fail(&mut self, now: Instant) {
        self.trouble = Some(now);
    }

    /// Records an answer.
    pub(crate) fn answer(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.grown).min(DEBOUNCE);
        self.grown = now;
        let is_recent = |time: Option<Instant>| time.is_some_and(|time| now.saturating_duration_since(time) < DEBOUNCE);
        if self.now < self.most && !is_recent(self.cut) && !is_recent(self.trouble) {
            self.now = (self.now * GROWTH.powf(passed.as_secs_f64())).min(self.most);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn rejections_lower_the_limit_once_a_second_and_answers_raise_it() {
        let now = Instant::now();
        let mut concurrency = ConcurrencyLimit::new(100, now);
        for _ in 0..50 {
            concurrency.refuse(now);
        }
        assert!(concurrency.has_room(79) && !concurrency.has_room(80));
        concurrency.refuse(now + SECOND);
        assert!(concurrency.has_room(63) && !concurrency.has_room(64));
        concurrency.answer(now + SECOND + SECOND / 2);
        assert!(!concurrency.has_room(64), "too soon");
        for second in 2..20 {
            concurrency.answer(now + second * SECOND);
        }
        assert!(concurrency.has_room(99) && !concurrency.has_room(100), "{concurrency:?}");
    }

    #[test]
    fn failures_only_pause_the_growth_and_one_request_is_always_allowed() {
        let now = Instant::now();
        let mut concurrency = ConcurrencyLimit::new(10, now);
        for second in 0..60 {
            concurrency.refuse(now + second * SECOND);
        }
        assert!(concurrency.has_room(0) && !concurrency.has_room(1));
        let later = now + Duration::from_mins(2);
        concurrency.fail(later);
        concurrency.answer(later + SECOND / 2);
        assert!(!concurrency.has_room(1));
        for second in 1..60 {
            concurrency.answer(later + second * SECOND);
        }
        assert!(concurrency.has_room(9));
    }
}
