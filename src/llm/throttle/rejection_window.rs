//! Recent rate-limit rejections of an address: whether they are random or caused by a limit. Takes the time as an
//! argument and reads no clock.

use std::time::Duration;

use tokio::time::Instant;

/// Number of rejections within a span of requests above which they are too many for an established rate.
pub(crate) const MOST: usize = 3;
/// Longest span: 3 % rejections.
const LONGEST_SPAN: u64 = 100;
/// Shortest span, used for random rejections: 25 %.
const SHORTEST_SPAN: u64 = 12;
/// The span is reset to the longest after this time without a rejection.
const QUIET: Duration = Duration::from_secs(10);
/// A number of rejections, and their minimum fraction of all requests between the first and the last, that make a streak.
/// Rejections do not arrive in the order of their requests.
const STREAKS: [(u64, f64); 3] = [(3, 0.7), (5, 0.5), (8, 0.25)];
/// A rejection this long after the first of a streak starts a new streak.
const LONGEST_STREAK: Duration = Duration::from_millis(250);
/// At low rates a streak lasts for the time of this many requests.
const SLOW_STREAK: f64 = 8.0;

/// Recent rejections of an address.
#[derive(Debug)]
pub(crate) struct RejectionWindow {
    /// First request whose rejection counts; earlier ones have been used already.
    fresh: u64,
    /// When the next request becomes that first one.
    settles: Option<Instant>,
    /// The last requests whose rejections counted, latest first.
    latest: [Option<u64>; MOST],
    streak: Option<Streak>,
    /// Time of the last rejection.
    pub(crate) last: Option<Instant>,
    /// Three rejections among this many requests are too many.
    span: u64,
}

/// Rejections of requests that started close to each other.
#[derive(Debug, Clone, Copy)]
struct Streak {
    since: Instant,
    first: u64,
    last: u64,
    count: u64,
}

/// Evidence needed to conclude that rejections are not random; an index into [`STREAKS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EvidenceLevel {
    /// Three in a row are enough.
    Little,
    /// Three in a row may be random.
    Some,
    /// Random rejections are known to occur.
    Much,
}

impl RejectionWindow {
    /// Creates an empty record.
    pub(crate) const fn new() -> Self {
        Self { fresh: 0, settles: None, latest: [None; MOST], streak: None, last: None, span: LONGEST_SPAN }
    }

    /// Whether the rejection of a request counts.
    pub(crate) const fn is_relevant(&self, number: u64) -> bool {
        number >= self.fresh
    }

    /// Returns the number of requests whose rejections count, up to this one.
    pub(crate) const fn counted_requests(&self, number: u64) -> u64 {
        number.saturating_sub(self.fresh) + 1
    }

    /// Whether rejections are known to be random.
    pub(crate) const fn are_random(&self) -> bool {
        self.span < LONGEST_SPAN
    }

    /// Records a rejection that counts, at a rate in requests per second.
    pub(crate) fn record(&mut self, number: u64, rate: f64, now: Instant) {
        let longest = LONGEST_STREAK.max(Duration::from_secs_f64(SLOW_STREAK / rate.max(0.1)));
        let streak = self.streak.filter(|streak| now.saturating_duration_since(streak.since) <= longest);
        let streak = streak.unwrap_or(Streak { since: now, first: number, last: number, count: 0 });
        let (first, last) = (streak.first.min(number), streak.last.max(number));
        self.streak = Some(Streak { first, last, count: streak.count + 1, ..streak });
        self.latest.rotate_right(1);
        self.latest[0] = Some(number);
        self.last = Some(now);
    }

    /// Whether the last rejections are too close to each other to be random.
    pub(crate) fn are_a_streak(&self, doubt: EvidenceLevel) -> bool {
        self.streak.is_some_and(|streak| {
            let share = to_f64(streak.count) / to_f64(streak.last - streak.first + 1);
            STREAKS[doubt as usize..].iter().any(|(count, least)| streak.count >= *count && share >= *least)
        })
    }

    /// Whether there were too many rejections recently for an established rate.
    pub(crate) fn are_many(&self) -> bool {
        self.latest_span().is_some_and(|latest_span| latest_span <= self.span)
    }

    /// Returns the recent fraction of rejections; 1 if there are too few to count.
    pub(crate) fn share(&self) -> f64 {
        to_f64(MOST as u64) / to_f64(self.latest_span().unwrap_or(MOST as u64))
    }

    /// Returns the number of requests among which the last rejections occurred.
    fn latest_span(&self) -> Option<u64> {
        let (mut first, mut last) = (u64::MAX, 0);
        for number in self.latest {
            (first, last) = (first.min(number?), last.max(number?));
        }
        Some(last - first + 1)
    }

    /// Tolerates more rejections, after a lower rate had no effect on them.
    pub(crate) fn tolerate_more(&mut self) {
        self.span = (self.span / 2).max(SHORTEST_SPAN);
    }

    /// Ignores rejections of requests that started before a time.
    pub(crate) const fn settle(&mut self, until: Instant) {
        (self.settles, self.fresh, self.latest, self.streak) = (Some(until), u64::MAX, [None; MOST], None);
    }

    /// Advances the time; `begun` is the number of the next request.
    pub(crate) fn advance(&mut self, begun: u64, now: Instant) {
        if self.settles.is_some_and(|until| until <= now) {
            (self.settles, self.fresh) = (None, begun);
        }
        if self.quiet(now) >= QUIET {
            self.span = LONGEST_SPAN;
        }
    }

    /// Returns the time since the last rejection.
    pub(crate) fn quiet(&self, now: Instant) -> Duration {
        self.last.map_or(Duration::MAX, |last| now.saturating_duration_since(last))
    }
}

/// Converts a count to compute fractions.
#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
pub(crate) const fn to_f64(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records rejections at a rate of a thousand requests per second.
    fn rejections(numbers: impl IntoIterator<Item = u64>) -> RejectionWindow {
        let (now, mut rejections) = (Instant::now(), RejectionWindow::new());
        for number in numbers {
            rejections.record(number, 1000.0, now + Duration::from_millis(number));
        }
        rejections
    }

    #[test]
    fn streaks_differ_from_random_rejections_in_any_order() {
        assert!(rejections([7, 8, 9]).are_a_streak(EvidenceLevel::Little));
        assert!(!rejections([7, 8, 9]).are_a_streak(EvidenceLevel::Some));
        assert!(rejections([7, 8, 10, 9, 11]).are_a_streak(EvidenceLevel::Some));
        // Of sixty rejections, every other one has been reported so far.
        let reported = (0..60).map(|n| n * 37 % 61).filter(|n| n % 2 == 0);
        assert!(rejections(reported).are_a_streak(EvidenceLevel::Much));
        // One of fifty, over a long time.
        assert!(!rejections((0..100).map(|n| n * 50)).are_a_streak(EvidenceLevel::Little));
        assert!(!rejections([7, 8]).are_a_streak(EvidenceLevel::Little));
        assert!(!rejections([7, 400, 800]).are_a_streak(EvidenceLevel::Little));
    }

    #[test]
    fn three_percent_rejections_are_too_many_unless_random() {
        let mut rejections = rejections([10, 40, 70]);
        assert!(rejections.are_many() && (0.04..0.06).contains(&rejections.share()));
        rejections.tolerate_more();
        assert!(!rejections.are_many() && rejections.are_random());
        let now = Instant::now() + Duration::from_mins(1);
        rejections.advance(1000, now);
        assert!(!rejections.are_random(), "they are too long ago");
        rejections.settle(now + Duration::from_secs(1));
        assert!(!rejections.is_relevant(1000) && !rejections.are_many());
        rejections.advance(1001, now + Duration::from_secs(1));
        assert!(!rejections.is_relevant(1000) && rejections.is_relevant(1001));
        assert_eq!(rejections.counted_requests(1003), 3);
    }
}
