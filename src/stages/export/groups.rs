//! Builds tables one row group at a time, so that memory does not grow with the table.

use polars::prelude::DataFrame;

use super::ExportError;
use super::quote_limits::QuoteLimits;
use super::tally::{Table, TableCounts};

/// The number of rows that are converted to columns at once.
const STEP: usize = 250;
/// The maximum number of rows of a group.
pub(super) const GROUP_ROWS: usize = 10_000;
/// A group is complete when it takes this many bytes in memory.
pub(super) const GROUP_BYTES: usize = 16 << 20;

/// A record that becomes a row of the data set.
pub trait TableRow {
    /// The config: the name of the folder in `dataset/` and the argument of `load_dataset`.
    const CONFIG: &'static str;
    /// The split.
    const SPLIT: &'static str;

    /// Converts rows to columns.
    fn frame(rows: &[Self]) -> Result<DataFrame, ExportError>
    where
        Self: Sized;

    /// Adds the row to the counts on the card.
    fn count(&self, tally: &mut TableCounts);
}

/// Builds a table and passes each row group to `write`. Returns the facts for the card, or `None` if there are no rows.
///
/// Rows must be sorted. Where a group ends depends only on the rows. All columns are nullable. `quote_limits` removes what
/// must not be published.
pub fn table<T: TableRow, E: From<ExportError>>(
    quote_limits: &QuoteLimits,
    rows: impl IntoIterator<Item = Result<T, E>>,
    mut write: impl FnMut(DataFrame) -> Result<(), E>,
) -> Result<Option<Table>, E> {
    let mut rows = rows.into_iter();
    let mut table: Option<Table> = None;
    let mut group: Option<(DataFrame, usize)> = None;
    loop {
        let step: Vec<T> = rows.by_ref().take(STEP).collect::<Result<_, E>>()?;
        if step.is_empty() {
            break;
        }
        let frame = quote_limits.apply(T::CONFIG, T::frame(&step)?)?;
        let table = table.get_or_insert_with(|| Table::new(T::CONFIG, T::SPLIT, &frame));
        for row in &step {
            row.count(&mut table.tally);
        }
        drop(step);
        let bytes = table.add(&frame);
        let (rows, size) = match group.take() {
            None => (frame, bytes),
            Some((rows, size)) => (stacked(T::CONFIG, rows, frame)?, size + bytes),
        };
        if rows.height() >= GROUP_ROWS || size >= GROUP_BYTES {
            write(rows)?;
        } else {
            group = Some((rows, size));
        }
    }
    if let Some((rest, _)) = group {
        write(rest)?;
    }
    Ok(table)
}

fn stacked(config: &'static str, mut rows: DataFrame, frame: DataFrame) -> Result<DataFrame, ExportError> {
    rows.vstack_mut_owned(frame).map_err(|source| ExportError::Frame { config, source })?;
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Scene;
    use crate::stages::export::Params;
    use crate::stages::export::fixture::records;

    fn all() -> QuoteLimits {
        QuoteLimits::new(&Params::default(), 0)
    }

    /// Builds a table of `count` scenes whose summaries have `bytes` bytes. Returns the heights of its groups, and its
    /// size.
    fn groups(count: usize, bytes: usize) -> (Vec<usize>, usize) {
        let scene = Scene { summary: "x".repeat(bytes), ..records().scenes[0].clone() };
        let mut heights = Vec::new();
        let rows = (0..count).map(|_| Ok::<_, ExportError>(scene.clone()));
        let write = |group: DataFrame| {
            heights.push(group.height());
            Ok(())
        };
        let table = table(&all(), rows, write).unwrap().expect("it has rows");
        assert_eq!(table.rows, count);
        (heights, table.bytes.total())
    }

    #[test]
    fn groups_stay_small() {
        let (heights, _) = groups(GROUP_ROWS + 1, 0);
        assert_eq!(heights, [GROUP_ROWS, 1]);
        let (heights, bytes) = groups(3 * STEP + 1, 40_000);
        assert_eq!(heights, [2 * STEP, STEP + 1], "{bytes}");
        // The totals do not depend on where groups end.
        assert_eq!(bytes - groups(3 * STEP + 1, 1).1, (3 * STEP + 1) * (40_000 - 1));
    }

    #[test]
    fn an_unreadable_row_is_an_error() {
        let scene = records().scenes.remove(0);
        let rows = (0..2 * STEP).map(|n| match n {
            STEP => Err(ExportError::Number { config: "scenes", column: "end", value: 1 }),
            _ => Ok(scene.clone()),
        });
        assert!(table(&all(), rows, |_| Ok(())).is_err());
        let written: Result<_, ExportError> =
            table(&all(), [Ok(scene)], |_| Err(ExportError::Number { config: "scenes", column: "end", value: 2 }));
        assert!(written.is_err());
    }
}
