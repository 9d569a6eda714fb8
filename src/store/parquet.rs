//! Tables as Parquet files that every reader takes: the same bytes for the same rows, whatever the machine.

use std::io::Write;
use std::path::PathBuf;

use polars::error::{PolarsError, PolarsResult};
use polars::frame::DataFrame;
use polars::prelude::{ParquetCompression, ParquetWriter, StatisticsOptions};

/// The most rows of a row group; readers fetch whole groups.
const GROUP: usize = 10_000;

/// The rows of one split of one config of the data set.
#[derive(Debug, Clone)]
pub struct Table {
    /// The config, such as `samples`.
    pub config: String,
    /// The split, such as `test`.
    pub split: String,
    /// The rows, sorted, under the columns that the card names.
    pub frame: DataFrame,
}

impl Table {
    /// Returns where the table stands below the data set's folder.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        PathBuf::from(&self.config).join(format!("{}-00000-of-00001.parquet", self.split))
    }

    /// Writes the table as a Parquet file. All columns are nullable.
    pub(super) fn write(&self, sink: impl Write) -> PolarsResult<()> {
        let mut writer = ParquetWriter::new(sink)
            .with_compression(ParquetCompression::Zstd(None))
            .with_statistics(StatisticsOptions::default())
            .batched(self.frame.schema())?;
        let height =
            i64::try_from(self.frame.height()).map_err(|error| PolarsError::ComputeError(error.to_string().into()))?;
        for offset in (0..height).step_by(GROUP) {
            // One chunk is one row group, however the frame was put together.
            let mut group = self.frame.slice(offset, GROUP);
            group.rechunk_mut_par();
            writer.write_batch(&group)?;
        }
        // Ending the file by hand leaves out the Arrow schema that polars would embed: older readers refuse its types.
        writer.get_writer().lock().expect("no panic while a group is written").end(Some(Vec::new()))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use polars::prelude::*;

    use super::*;

    /// Returns rows with a column of every kind that the data set has.
    fn frame(rows: usize) -> DataFrame {
        let ids = Column::new("id".into(), (0..rows).map(|n| format!("第{n}行")).collect::<Vec<_>>());
        let scores =
            Column::new("score".into(), (0..rows).map(|n| (n % 3 > 0).then_some(n as u64)).collect::<Vec<_>>());
        let turn = |n: usize| {
            let speakers = Column::new("speaker".into(), vec!["Mrs. O’Dowd", "薛嵩"][..=n % 2].to_vec());
            let tests = Column::new("is_test".into(), vec![true, false][..=n % 2].to_vec());
            let frame = DataFrame::new(n % 2 + 1, vec![speakers, tests]).expect("columns of one height");
            frame.into_struct("".into()).into_series()
        };
        let turns: Vec<Series> = (0..rows).map(turn).collect();
        let turns = Column::from(Series::new("turns".into(), turns));
        DataFrame::new(rows, vec![ids, scores, turns]).expect("columns of one height")
    }

    fn bytes(frame: DataFrame) -> Vec<u8> {
        let mut bytes = Vec::new();
        Table { config: "samples".to_owned(), split: "test".to_owned(), frame }.write(&mut bytes).expect("written");
        bytes
    }

    #[test]
    fn a_table_is_read_back_as_it_was_and_written_the_same() {
        let frame = frame(25);
        assert!(
            matches!(frame.column("turns").unwrap().dtype(), DataType::List(inner) if matches!(**inner, DataType::Struct(_)))
        );
        let written = bytes(frame.clone());
        assert_eq!(written, bytes(frame.clone()));
        let mut parts = frame.slice(0, 10);
        parts.vstack_mut(&frame.slice(10, 15)).unwrap();
        assert_eq!(written, bytes(parts), "how a frame was put together must not show");
        assert!(!String::from_utf8_lossy(&written).contains("ARROW:schema"));
        let read = ParquetReader::new(Cursor::new(written)).finish().unwrap();
        assert!(read.equals_missing(&frame), "{read:?}");
    }

    #[test]
    fn groups_stay_small() {
        let rows = 2 * GROUP + 1;
        let numbers = Column::new("n".into(), (0..rows as u64).collect::<Vec<_>>());
        let written = bytes(DataFrame::new(rows, vec![numbers]).unwrap());
        let mut reader = ParquetReader::new(Cursor::new(written));
        assert_eq!(reader.num_rows().unwrap(), rows);
        let mut groups = Vec::new();
        for group in &reader.get_metadata().unwrap().row_groups {
            groups.push(group.num_rows());
        }
        assert_eq!(groups, [GROUP, GROUP, 1]);
    }

    #[test]
    fn a_table_without_rows_is_a_file_all_the_same() {
        let read = ParquetReader::new(Cursor::new(bytes(frame(3).slice(0, 0)))).finish().unwrap();
        assert_eq!((read.height(), read.width()), (0, 3));
    }
}
