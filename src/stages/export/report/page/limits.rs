//! The limits of the page: how many rows, bars and characters of untrusted input it shows.

use crate::stages::export::report::sanitize::line;

/// The maximum number of rows in a table of characters, sources or reasons.
pub(super) const ROWS: usize = 100;
/// The maximum number of bars in a plot.
pub(super) const BARS: usize = 24;
/// The maximum length of a name.
pub(super) const NAME: usize = 60;

/// Returns counts by name, the largest first, and by name where they are equal.
pub(super) fn largest_first<'a>(counts: impl Iterator<Item = (&'a str, u64)>) -> Vec<(String, u64)> {
    let mut rows: Vec<(String, u64)> = counts.map(|(name, count)| (line(name, NAME), count)).collect();
    rows.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    rows
}
