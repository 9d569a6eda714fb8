//! Circuit breaker for one address: stops sending after repeated failures, and probes with one request at a time. Takes
//! the time as an argument and reads no clock.

use std::time::Duration;

use tokio::time::Instant;

/// Failures in a row after which the breaker opens.
const MOST_FAILURES: u32 = 8;
/// First wait of an open breaker; it doubles up to [`LAST_WAIT`].
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// Maximum wait of an open breaker.
const LAST_WAIT: Duration = Duration::from_mins(1);
/// An address whose breaker has been open for this long is given up.
pub(crate) const PATIENCE: Duration = Duration::from_mins(10);

/// Circuit breaker of one address.
#[derive(Debug, Default)]
pub(crate) struct CircuitBreaker {
    /// Failures in a row.
    failures: u32,
    open: Option<OpenBreaker>,
}

#[derive(Debug)]
struct OpenBreaker {
    since: Instant,
    until: Instant,
    wait: Duration,
    is_probed: bool,
}

/// Change of state after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// The breaker opened or stays open; the wait until the next probe.
    Opened(Duration),
    /// The address is responding again.
    Closed,
    /// The breaker has been open for too long.
    GivenUp,
}

impl CircuitBreaker {
    /// Whether the breaker is open.
    pub(crate) const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Returns the number of failures in a row; 0 if the breaker is open.
    pub(crate) const fn failures(&self) -> u32 {
        if self.is_open() { 0 } else { self.failures }
    }

    /// Returns `Ok` if a request may start, otherwise when to try again; the time is unknown while a probe is in
    /// flight.
    pub(crate) fn ready(&self, now: Instant) -> Result<(), Option<Instant>> {
        match &self.open {
            Some(open) if open.is_probed => Err(None),
            Some(open) if now < open.until => Err(Some(open.until)),
            Some(_) | None => Ok(()),
        }
    }

    /// Records the start of a request, and returns whether it is a probe.
    pub(crate) const fn begin(&mut self) -> bool {
        match &mut self.open {
            Some(open) => {
                open.is_probed = true;
                true
            }
            None => false,
        }
    }

    /// Records an answer.
    pub(crate) fn answer(&mut self) -> Option<Change> {
        self.failures = 0;
        self.open.take().map(|_| Change::Closed)
    }

    /// Records a failure. `may_open` allows the breaker to open.
    pub(crate) fn fail(
        &mut self,
        now: Instant,
        is_probe: bool,
        asked: Option<Duration>,
        may_open: bool,
    ) -> Option<Change> {
        if self.open.is_some() {
            return if is_probe { self.stay_open(now, asked) } else { None };
        }
        self.failures += 1;
        (self.failures >= MOST_FAILURES && may_open).then(|| self.open(now, asked))
    }

    /// Opens the breaker.
    pub(crate) fn open(&mut self, now: Instant, asked: Option<Duration>) -> Change {
        let wait = asked.unwrap_or_default().clamp(FIRST_WAIT, LAST_WAIT);
        self.open = Some(OpenBreaker { since: now, until: now + wait, wait, is_probed: false });
        Change::Opened(wait)
    }

    /// Records a failed probe.
    pub(crate) fn stay_open(&mut self, now: Instant, asked: Option<Duration>) -> Option<Change> {
        let open = self.open.as_mut()?;
        open.wait = (open.wait * 2).max(asked.unwrap_or_default()).min(LAST_WAIT);
        open.until = now + open.wait;
        open.is_probed = false;
        let is_too_long = now.saturating_duration_since(open.since) >= PATIENCE;
        Some(if is_too_long { Change::GivenUp } else { Change::Opened(open.wait) })
    }

    /// Records that a probe was cancelled.
    pub(crate) const fn forget(&mut self) {
        if let Some(open) = &mut self.open {
            open.is_probed = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn failures_in_a_row_open_the_breaker_and_a_probe_closes_it() {
        let now = Instant::now();
        let mut circuit_breaker = CircuitBreaker::default();
        for _ in 1..MOST_FAILURES {
            assert_eq!(circuit_breaker.fail(now, false, None, true), None);
        }
        assert_eq!(circuit_breaker.answer(), None, "an answer resets the count");
        for _ in 1..MOST_FAILURES {
            assert_eq!(circuit_breaker.fail(now, false, None, true), None);
        }
        assert_eq!(circuit_breaker.fail(now, false, None, true), Some(Change::Opened(SECOND)));
        assert_eq!(circuit_breaker.fail(now, false, None, true), None, "a request that was in flight");
        assert_eq!(circuit_breaker.ready(now), Err(Some(now + SECOND)));
        let now = now + SECOND;
        assert_eq!(circuit_breaker.ready(now), Ok(()));
        assert!(circuit_breaker.begin());
        assert_eq!(circuit_breaker.ready(now), Err(None), "one probe at a time");
        assert_eq!(circuit_breaker.fail(now, true, None, true), Some(Change::Opened(2 * SECOND)));
        let now = now + 2 * SECOND;
        assert!(circuit_breaker.begin());
        circuit_breaker.forget();
        assert_eq!(circuit_breaker.ready(now), Ok(()), "the probe was cancelled");
        assert_eq!(circuit_breaker.answer(), Some(Change::Closed));
        assert!(!circuit_breaker.begin());
    }

    #[test]
    fn an_open_breaker_gives_up_and_waits_at_most_a_minute() {
        let mut now = Instant::now();
        let begun = now;
        let mut circuit_breaker = CircuitBreaker::default();
        circuit_breaker.open(now, Some(5 * SECOND));
        let mut probes = 0;
        loop {
            let Err(Some(until)) = circuit_breaker.ready(now) else { panic!("the breaker is open") };
            assert!(until - now <= LAST_WAIT);
            now = until;
            circuit_breaker.begin();
            probes += 1;
            match circuit_breaker.fail(now, true, Some(Duration::from_hours(1)), true) {
                Some(Change::Opened(_)) => {}
                change => break assert_eq!(change, Some(Change::GivenUp)),
            }
        }
        assert!(now - begun >= PATIENCE && probes < 20, "{probes}");
    }

    #[test]
    fn the_breaker_of_an_address_that_never_answered_stays_closed() {
        let mut circuit_breaker = CircuitBreaker::default();
        assert!((0..50).all(|_| circuit_breaker.fail(Instant::now(), false, None, false).is_none()));
    }
}
