//! The requests that an address refused of late: whether they are chance, or a limit. It is told the time and reads no clock.

use std::time::Duration;

use tokio::time::Instant;

/// So many refusals among the requests of a span are more than a known pace puts up with.
pub(super) const MOST: usize = 3;
/// The longest span: three of a hundred.
const LONGEST_SPAN: u64 = 100;
/// The shortest span: a quarter, by chance.
const SHORTEST_SPAN: u64 = 12;
/// After so long a time without a refusal the span is the longest again.
const QUIET: Duration = Duration::from_secs(10);
/// So many refusals, and that share of all requests from the first of them to the last, are a row. Refusals are not heard in
/// the order of their requests.
const ROWS: [(u64, f64); 3] = [(3, 0.7), (5, 0.5), (8, 0.25)];
/// Refusals that come so long after the first of a row begin another one.
const LONGEST_ROW: Duration = Duration::from_millis(250);
/// Slow requests are given the time of so many.
const SLOW_ROW: f64 = 8.0;

/// The requests that an address refused of late.
#[derive(Debug)]
pub(super) struct Refusals {
    /// The first request whose refusal is news: from the earlier ones has been learned.
    fresh: u64,
    /// When the next request is that first one.
    settles: Option<Instant>,
    /// The last requests whose refusals were news, the latest one first.
    latest: [Option<u64>; MOST],
    row: Option<Row>,
    /// When a request was last refused.
    pub(super) last: Option<Instant>,
    /// Refusals among so many requests are too many.
    span: u64,
}

/// Refusals of requests that began near to each other.
#[derive(Debug, Clone, Copy)]
struct Row {
    since: Instant,
    first: u64,
    last: u64,
    count: u64,
}

/// How sure one has to be that refusals are no chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    /// Three in a row do.
    Little,
    /// Three in a row may be chance.
    Some,
    /// Refusals by chance are known to come.
    Much,
}

impl Refusals {
    /// Makes a list without any.
    pub(super) const fn new() -> Self {
        Self { fresh: 0, settles: None, latest: [None; MOST], row: None, last: None, span: LONGEST_SPAN }
    }

    /// Says whether the refusal of a request would be news.
    pub(super) const fn is_news(&self, number: u64) -> bool {
        number >= self.fresh
    }

    /// Returns the count of requests whose refusals are news, up to one of them.
    pub(super) const fn heard(&self, number: u64) -> u64 {
        number.saturating_sub(self.fresh) + 1
    }

    /// Says whether refusals come by chance.
    pub(super) const fn are_chance(&self) -> bool {
        self.span < LONGEST_SPAN
    }

    /// Takes a refusal that is news, at a pace of so many requests a second.
    pub(super) fn take(&mut self, number: u64, rate: f64, now: Instant) {
        let longest = LONGEST_ROW.max(Duration::from_secs_f64(SLOW_ROW / rate.max(0.1)));
        let row = self.row.filter(|row| now.saturating_duration_since(row.since) <= longest);
        let row = row.unwrap_or(Row { since: now, first: number, last: number, count: 0 });
        let (first, last) = (row.first.min(number), row.last.max(number));
        self.row = Some(Row { first, last, count: row.count + 1, ..row });
        self.latest.rotate_right(1);
        self.latest[0] = Some(number);
        self.last = Some(now);
    }

    /// Says whether the last refusals are too near to each other for chance.
    pub(super) fn are_a_row(&self, doubt: Doubt) -> bool {
        self.row.is_some_and(|row| {
            let share = to_f64(row.count) / to_f64(row.last - row.first + 1);
            ROWS[doubt as usize..].iter().any(|(count, least)| row.count >= *count && share >= *least)
        })
    }

    /// Says whether more requests were refused of late than a known pace puts up with.
    pub(super) fn are_many(&self) -> bool {
        self.among().is_some_and(|among| among <= self.span)
    }

    /// Returns the share of refusals of late; all of them where there are too few to count.
    pub(super) fn share(&self) -> f64 {
        to_f64(MOST as u64) / to_f64(self.among().unwrap_or(MOST as u64))
    }

    /// Returns among how many requests the last refusals were.
    fn among(&self) -> Option<u64> {
        let (mut first, mut last) = (u64::MAX, 0);
        for number in self.latest {
            (first, last) = (first.min(number?), last.max(number?));
        }
        Some(last - first + 1)
    }

    /// Takes refusals for chance that no lower pace has cured: more of them are put up with.
    pub(super) fn put_up_with_more(&mut self) {
        self.span = (self.span / 2).max(SHORTEST_SPAN);
    }

    /// Takes no refusal for news of a request that begins before a time.
    pub(super) const fn settle(&mut self, until: Instant) {
        (self.settles, self.fresh, self.latest, self.row) = (Some(until), u64::MAX, [None; MOST], None);
    }

    /// Lets time pass; `begun` is the number of the next request.
    pub(super) fn pass(&mut self, begun: u64, now: Instant) {
        if self.settles.is_some_and(|until| until <= now) {
            (self.settles, self.fresh) = (None, begun);
        }
        if self.quiet(now) >= QUIET {
            self.span = LONGEST_SPAN;
        }
    }

    /// Returns how long no request was refused.
    pub(super) fn quiet(&self, now: Instant) -> Duration {
        self.last.map_or(Duration::MAX, |last| now.saturating_duration_since(last))
    }
}

/// Returns a count for a sum of shares.
#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
pub(super) const fn to_f64(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes refusals at a thousand requests a second.
    fn refusals(numbers: impl IntoIterator<Item = u64>) -> Refusals {
        let (now, mut refusals) = (Instant::now(), Refusals::new());
        for number in numbers {
            refusals.take(number, 1000.0, now + Duration::from_millis(number));
        }
        refusals
    }

    #[test]
    fn a_row_is_told_from_chance_even_when_it_is_heard_in_disorder() {
        assert!(refusals([7, 8, 9]).are_a_row(Doubt::Little));
        assert!(!refusals([7, 8, 9]).are_a_row(Doubt::Some));
        assert!(refusals([7, 8, 10, 9, 11]).are_a_row(Doubt::Some));
        // Of sixty that were refused, every other one is heard of so far.
        let heard = (0..60).map(|n| n * 37 % 61).filter(|n| n % 2 == 0);
        assert!(refusals(heard).are_a_row(Doubt::Much));
        // One of fifty, for long.
        assert!(!refusals((0..100).map(|n| n * 50)).are_a_row(Doubt::Little));
        assert!(!refusals([7, 8]).are_a_row(Doubt::Little));
        assert!(!refusals([7, 400, 800]).are_a_row(Doubt::Little));
    }

    #[test]
    fn three_of_a_hundred_are_many_unless_they_are_chance() {
        let mut refusals = refusals([10, 40, 70]);
        assert!(refusals.are_many() && (0.04..0.06).contains(&refusals.share()));
        refusals.put_up_with_more();
        assert!(!refusals.are_many() && refusals.are_chance());
        let now = Instant::now() + Duration::from_mins(1);
        refusals.pass(1000, now);
        assert!(!refusals.are_chance(), "they are long past");
        refusals.settle(now + Duration::from_secs(1));
        assert!(!refusals.is_news(1000) && !refusals.are_many());
        refusals.pass(1001, now + Duration::from_secs(1));
        assert!(!refusals.is_news(1000) && refusals.is_news(1001));
        assert_eq!(refusals.heard(1003), 3);
    }
}
