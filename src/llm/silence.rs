//! Knows for how long an address has said nothing while requests wait for it, and when that is worth a word. It is told the
//! time and reads no clock.

use std::time::Duration;

use tokio::time::Instant;

/// The shortest silence that is told.
pub(super) const WORTH_TELLING: Duration = Duration::from_secs(30);
/// A silence is told when it is so many times as long as the slowest answer took.
const SLOWER: u32 = 3;

/// The silence of an address.
#[derive(Debug)]
pub(super) struct Silence {
    /// The last word, or when a request began that nobody else was waiting beside.
    since: Instant,
    /// The longest that an answer has taken.
    slowest: Duration,
    /// What has been told of this silence.
    told: Duration,
}

impl Silence {
    /// Begins to listen.
    pub(super) const fn new(now: Instant) -> Self {
        Self { since: now, slowest: Duration::ZERO, told: Duration::ZERO }
    }

    /// Takes note of a request that begins alone: nothing was to be heard before.
    pub(super) const fn begin(&mut self, now: Instant) {
        self.since = now;
        self.told = Duration::ZERO;
    }

    /// Takes a word of the server about a request that began then. Says whether it ends a silence that was told.
    pub(super) fn hear(&mut self, begun: Instant, now: Instant) -> bool {
        self.slowest = self.slowest.max(now.saturating_duration_since(begun));
        self.since = now;
        !std::mem::take(&mut self.told).is_zero()
    }

    /// Returns how long it has lasted when that is to be told: at first, and whenever it is twice as long as when it was.
    pub(super) fn news(&mut self, now: Instant) -> Option<Duration> {
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
        assert!(!silence.hear(begun, begun + 301 * SECOND), "its end is told once");
    }

    #[test]
    fn a_slow_server_is_not_a_silent_one() {
        let begun = Instant::now();
        let mut silence = Silence::new(begun);
        assert!(!silence.hear(begun, begun + 25 * SECOND));
        let told: Vec<u32> = (25..170).filter(|n| silence.news(begun + *n * SECOND).is_some()).collect();
        assert_eq!(told, [100]);
        silence.begin(begun + 500 * SECOND);
        assert_eq!(silence.news(begun + 560 * SECOND), None, "nobody waited before");
    }
}
