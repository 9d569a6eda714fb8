//! Tables group by group: no more rows than one group's are in memory, whatever a table holds.

use polars::prelude::DataFrame;

use super::rights::Rights;
use super::tally::Tally;
use super::{ExportError, Table};

/// So many rows are made into columns at once.
const STEP: usize = 250;
/// The most rows of a group.
pub(super) const GROUP_ROWS: usize = 10_000;
/// A group that takes so many bytes in memory is closed.
pub(super) const GROUP_BYTES: usize = 16 << 20;

/// What a row of the data set is made of.
pub trait Row {
    /// The config: the folder below `dataset/` and the name that `load_dataset` takes.
    const CONFIG: &'static str;
    /// The split.
    const SPLIT: &'static str;

    /// Makes rows into columns.
    fn frame(rows: &[Self]) -> Result<DataFrame, ExportError>
    where
        Self: Sized;

    /// Counts the row in what the card tells.
    fn count(&self, tally: &mut Tally);
}

/// Builds a table group by group, each of which `write` takes; no more than one group is in memory. Returns what the card
/// tells of it; none without rows.
///
/// Rows come sorted. Where a group ends depends on the rows alone. All columns are nullable. What `rights` withholds is in no
/// group.
pub fn table<T: Row, E: From<ExportError>>(
    rights: &Rights,
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
        let frame = rights.apply(T::CONFIG, T::frame(&step)?)?;
        let table = table.get_or_insert_with(|| Table::new(T::CONFIG, T::SPLIT, &frame));
        for row in &step {
            row.count(&mut table.tally);
        }
        drop(step);
        let bytes = table.add(&frame);
        let (whole, held) = match group.take() {
            None => (frame, bytes),
            Some((whole, held)) => (stacked(T::CONFIG, whole, frame)?, held + bytes),
        };
        if whole.height() >= GROUP_ROWS || held >= GROUP_BYTES {
            write(whole)?;
        } else {
            group = Some((whole, held));
        }
    }
    if let Some((rest, _)) = group {
        write(rest)?;
    }
    Ok(table)
}

fn stacked(config: &'static str, mut whole: DataFrame, frame: DataFrame) -> Result<DataFrame, ExportError> {
    whole.vstack_mut_owned(frame).map_err(|source| ExportError::Frame { config, source })?;
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::super::Params;
    use super::super::fixture::records;
    use super::*;
    use crate::schema::Scene;

    fn all() -> Rights {
        Rights::new(&Params::default(), 0)
    }

    /// Returns the heights of the groups of a table of so many scenes, each with a summary of so many bytes.
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
        // Where groups end changes nothing of what is counted.
        assert_eq!(bytes - groups(3 * STEP + 1, 1).1, (3 * STEP + 1) * (40_000 - 1));
    }

    #[test]
    fn what_cannot_be_read_is_no_row_that_is_left_out() {
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
