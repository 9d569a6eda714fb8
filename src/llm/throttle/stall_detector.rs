//! Detects addresses that do not respond while requests are waiting, and when to report it. Takes the time as an
//! argument and reads no clock.

use std::time::Duration;

use tokio::time::Instant;

/// Shortest stall that is reported.
pub(crate) const WORTH_TELLING: Duration = Duration::from_secs(30);
/// A stall is reported when it lasts this many times as long as the slowest answer so far.
const SLOWER: u32 = 3;

/// Stall detector of one address.
#[derive(Debug)]
pub(crate) struct Silence {
    /// Time of the last response, or of the start of a request while no other was in flight.
    since: Instant,
    /// The longest response time so far.
    slowest: Duration,
    /// Duration of the current stall when it was last reported.
    told: Duration,
}

impl Silence {
    /// Creates a stall detector.
    pub(crate) const fn new(now: Instant) -> Self {
        Self { since: now, slowest: Duration::ZERO, told: Duration::ZERO }
    }

    /// Records the start of a request while no other is in flight.
    pub(crate) const fn begin(&mut self, now: Instant) {
        self.since = now;
        self.told = Duration::ZERO;
    }

    /// Records a response to a request that started at `begun`. Returns whether it ends a reported stall.
    pub(crate) fn hear(&mut self, begun: Instant, now: Instant) -> bool {
        self.slowest = self.slowest.max(now.saturating_duration_since(begun));
        self.since = now;
        !std::mem::take(&mut self.told).is_zero()
    }

    /// Returns the duration of the stall if it is to be reported: at first, and whenever it has doubled.
    pub(crate) fn news(&mut self, now: Instant) -> Option<Duration> {
        let silence = now.saturating_duration_since(self.since);
        let worth = WORTH_TELLING.max(self.slowest * SLOWER).max(self.told * 2);
        (silence >= worth).then(|| {
            self.told = silence;
            silence
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_silence_is_told_and_again_when_it_has_doubled() {
        let begun = Instant::now();
        let mut silence = Silence::new(begun);
        let told: Vec<u32> = (0..300).filter(|n| silence.news(begun + *n * SECOND).is_some()).collect();
        assert_eq!(told, [30, 60, 120, 240]);
        assert!(silence.hear(begun, begun + 300 * SECOND));
        assert!(!silence.hear(begun, begun + 301 * SECOND), "the end is reported once");
    }

    #[test]
    fn a_slow_server_is_not_a_silent_one() {
        let begun = Instant::now();
        let mut silence = Silence::new(begun);
        assert!(!silence.hear(begun, begun + 25 * SECOND));
        let told: Vec<u32> = (25..170).filter(|n| silence.news(begun + *n * SECOND).is_some()).collect();
        assert_eq!(told, [100]);
        silence.begin(begun + 500 * SECOND);
        assert_eq!(silence.news(begun + 560 * SECOND), None, "no request was waiting before");
    }
}
