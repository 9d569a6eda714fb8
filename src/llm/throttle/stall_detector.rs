//! Detects addresses that do not respond while requests are waiting, and when to report it. Takes the time as an
//! argument and reads no clock.

use std::time::Duration;

use tokio::time::Instant;

/// Shortest stall that is reported.
pub(crate) const MIN_REPORTED_STALL: Duration = Duration::from_secs(30);
/// A stall is reported when it lasts this many times as long as the slowest answer so far.
const SLOWER: u32 = 3;

/// Stall detector of one address.
#[derive(Debug)]
pub(crate) struct StallDetector {
    /// Time of the last response, or of the start of a request while no other was in flight.
    since: Instant,
    /// The longest response time so far.
    slowest: Duration,
    /// Duration of the current stall when it was last reported.
    reported: Duration,
}

impl StallDetector {
    /// Creates a stall detector.
    pub(crate) const fn new(now: Instant) -> Self {
        Self { since: now, slowest: Duration::ZERO, reported: Duration::ZERO }
    }

    /// Records the start of a request while no other is in flight.
    pub(crate) const fn begin(&mut self, now: Instant) {
        self.since = now;
        self.reported = Duration::ZERO;
    }

    /// Records a response to a request that started at `begun`. Returns whether it ends a reported stall.
    pub(crate) fn record_response(&mut self, begun: Instant, now: Instant) -> bool {
        self.slowest = self.slowest.max(now.saturating_duration_since(begun));
        self.since = now;
        !std::mem::take(&mut self.reported).is_zero()
    }

    /// Returns the duration of the stall if it is to be reported: at first, and whenever it has doubled.
    pub(crate) fn report_due(&mut self, now: Instant) -> Option<Duration> {
        let stall = now.saturating_duration_since(self.since);
        let worth = MIN_REPORTED_STALL.max(self.slowest * SLOWER).max(self.reported * 2);
        (stall >= worth).then(|| {
            self.reported = stall;
            stall
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_stall_is_reported_again_when_it_has_doubled() {
        let begun = Instant::now();
        let mut stall = StallDetector::new(begun);
        let due: Vec<u32> = (0..300).filter(|n| stall.report_due(begun + *n * SECOND).is_some()).collect();
        assert_eq!(due, [30, 60, 120, 240]);
        assert!(stall.record_response(begun, begun + 300 * SECOND));
        assert!(!stall.record_response(begun, begun + 301 * SECOND), "the end is reported once");
    }

    #[test]
    fn a_slow_server_is_not_stalled() {
        let begun = Instant::now();
        let mut stall = StallDetector::new(begun);
        assert!(!stall.record_response(begun, begun + 25 * SECOND));
        let due: Vec<u32> = (25..170).filter(|n| stall.report_due(begun + *n * SECOND).is_some()).collect();
        assert_eq!(due, [100]);
        stall.begin(begun + 500 * SECOND);
        assert_eq!(stall.report_due(begun + 560 * SECOND), None, "no request was waiting before");
    }
}
