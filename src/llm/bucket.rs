//! A bucket that fills with time and is emptied by costs of any size. It is told the time and reads no clock.

use std::time::Duration;

use tokio::time::Instant;

/// A bucket of requests or tokens. What is spent beyond its content is a debt that time pays back.
#[derive(Debug, Clone)]
pub(super) struct Bucket {
    level: f64,
    filled: Instant,
}

impl Bucket {
    /// Makes a bucket with some content.
    pub(super) const fn new(level: f64, now: Instant) -> Self {
        Self { level, filled: now }
    }

    /// Returns how long ago it was filled.
    pub(super) fn age(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.filled)
    }

    /// Lets time pass at `rate` a second; the bucket holds no more than `most`.
    pub(super) fn fill(&mut self, rate: f64, most: f64, now: Instant) {
        let more = rate * self.age(now).as_secs_f64();
        self.level = if self.level > most { self.level } else { (self.level + more).min(most) };
        self.filled = self.filled.max(now);
    }

    /// Returns how long a cost has to wait at `rate`. One that the bucket can never hold waits until it is full.
    pub(super) fn wait(&self, cost: f64, rate: f64, most: f64) -> Duration {
        let lacking = cost.min(most) - self.level;
        // The rounding of sums must not make a wait of a few picoseconds, which would not be over when it is over.
        if lacking <= 1e-9 {
            return Duration::ZERO;
        }
        Duration::try_from_secs_f64(lacking / rate).unwrap_or(Duration::MAX).max(Duration::from_micros(1))
    }

    /// Takes a cost out, or gives back a negative one.
    pub(super) const fn spend(&mut self, cost: f64) {
        self.level -= cost;
    }

    /// Empties it, a debt aside.
    pub(super) const fn empty(&mut self, now: Instant) {
        self.level = self.level.min(0.0);
        self.filled = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_fills_with_time_up_to_what_it_holds() {
        let now = Instant::now();
        let mut bucket = Bucket::new(1.0, now);
        bucket.spend(1.0);
        assert_eq!(bucket.wait(1.0, 10.0, 2.0), Duration::from_millis(100));
        bucket.fill(10.0, 2.0, now + Duration::from_millis(100));
        assert_eq!(bucket.wait(1.0, 10.0, 2.0), Duration::ZERO);
        bucket.fill(10.0, 2.0, now + Duration::from_hours(1));
        bucket.spend(2.0);
        assert_eq!(bucket.wait(1.0, 10.0, 2.0), Duration::from_millis(100), "it held two");
    }

    #[test]
    fn a_cost_beyond_what_it_holds_waits_for_a_full_bucket_and_leaves_a_debt() {
        let now = Instant::now();
        let mut bucket = Bucket::new(0.0, now);
        assert_eq!(bucket.wait(500.0, 100.0, 100.0), Duration::from_secs(1));
        bucket.fill(100.0, 100.0, now + Duration::from_secs(1));
        assert_eq!(bucket.wait(500.0, 100.0, 100.0), Duration::ZERO);
        bucket.spend(500.0);
        assert_eq!(bucket.wait(1.0, 100.0, 100.0), Duration::from_millis(4010));
        bucket.spend(-400.0);
        assert_eq!(bucket.wait(1.0, 100.0, 100.0), Duration::from_millis(10), "what was not used is given back");
    }

    #[test]
    fn rates_of_nothing_wait_for_ever() {
        let bucket = Bucket::new(0.0, Instant::now());
        assert_eq!(bucket.wait(1.0, 0.0, 1.0), Duration::MAX);
    }
}
