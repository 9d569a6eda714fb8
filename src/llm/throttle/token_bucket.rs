//! A token bucket for costs of any size. Takes the time as an argument and reads no clock.

use std::time::Duration;

use tokio::time::Instant;

/// A token bucket for requests or tokens. Spending more than its content creates a debt that is paid back over time.
#[derive(Debug, Clone)]
pub(crate) struct Bucket {
    level: f64,
    filled: Instant,
}

impl Bucket {
    /// Creates a bucket with some content.
    pub(crate) const fn new(level: f64, now: Instant) -> Self {
        Self { level, filled: now }
    }

    /// Returns the time since it was last filled.
    pub(crate) fn age(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.filled)
    }

    /// Advances the time at `rate` per second; the bucket holds at most `most`.
    pub(crate) fn fill(&mut self, rate: f64, most: f64, now: Instant) {
        let more = rate * self.age(now).as_secs_f64();
        self.level = if self.level > most { self.level } else { (self.level + more).min(most) };
        self.filled = self.filled.max(now);
    }

    /// Returns how long a cost has to wait at `rate`. A cost that exceeds the capacity waits until the bucket is full.
    pub(crate) fn wait(&self, cost: f64, rate: f64, most: f64) -> Duration {
        let lacking = cost.min(most) - self.level;
        // Avoids waits of a few picoseconds due to rounding, which would never end.
        if lacking <= 1e-9 {
            return Duration::ZERO;
        }
        Duration::try_from_secs_f64(lacking / rate).unwrap_or(Duration::MAX).max(Duration::from_micros(1))
    }

    /// Takes out a cost, or returns a negative one.
    pub(crate) const fn spend(&mut self, cost: f64) {
        self.level -= cost;
    }

    /// Empties the bucket; a debt remains.
    pub(crate) const fn empty(&mut self, now: Instant) {
        self.level = self.level.min(0.0);
        self.filled = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_fills_up_to_its_capacity() {
        let now = Instant::now();
        let mut bucket = Bucket::new(1.0, now);
        bucket.spend(1.0);
        assert_eq!(bucket.wait(1.0, 10.0, 2.0), Duration::from_millis(100));
        bucket.fill(10.0, 2.0, now + Duration::from_millis(100));
        assert_eq!(bucket.wait(1.0, 10.0, 2.0), Duration::ZERO);
        bucket.fill(10.0, 2.0, now + Duration::from_hours(1));
        bucket.spend(2.0);
        assert_eq!(bucket.wait(1.0, 10.0, 2.0), Duration::from_millis(100), "the bucket holds two");
    }

    #[test]
    fn a_cost_above_the_capacity_waits_for_a_full_bucket_and_leaves_a_debt() {
        let now = Instant::now();
        let mut bucket = Bucket::new(0.0, now);
        assert_eq!(bucket.wait(500.0, 100.0, 100.0), Duration::from_secs(1));
        bucket.fill(100.0, 100.0, now + Duration::from_secs(1));
        assert_eq!(bucket.wait(500.0, 100.0, 100.0), Duration::ZERO);
        bucket.spend(500.0);
        assert_eq!(bucket.wait(1.0, 100.0, 100.0), Duration::from_millis(4010));
        bucket.spend(-400.0);
        assert_eq!(bucket.wait(1.0, 100.0, 100.0), Duration::from_millis(10), "unused tokens are returned");
    }

    #[test]
    fn a_rate_of_zero_waits_forever() {
        let bucket = Bucket::new(0.0, Instant::now());
        assert_eq!(bucket.wait(1.0, 0.0, 1.0), Duration::MAX);
    }
}
