//! Tables as Parquet files that every reader takes: the same bytes for the same rows, whatever the machine.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use polars::error::PolarsResult;
use polars::frame::DataFrame;
use polars::io::parquet::write::BatchedWriter;
use polars::prelude::{ParquetCompression, ParquetWriter, StatisticsOptions};
use sha2::{Digest as _, Sha256};

use super::{StoreError, atomic};

/// The file of one split of one config of a data set, written group by group: no more than a group is in memory.
pub struct TableFile {
    path: PathBuf,
    open: Option<Open>,
}

/// A file that has rows.
struct Open {
    writer: BatchedWriter<Hashing>,
    /// The file once more, to see it through to the disk.
    file: File,
    hasher: Arc<Mutex<Sha256>>,
}

impl TableFile {
    /// Names the file of a table. It is made with the first group, so that a table without rows leaves none.
    pub(super) const fn new(path: PathBuf) -> Self {
        Self { path, open: None }
    }

    /// Returns where the file stands.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the next rows as one row group; readers fetch whole groups. All columns are nullable.
    pub fn write(&mut self, mut group: DataFrame) -> Result<(), StoreError> {
        if self.open.is_none() {
            self.open = Some(Open::new(&self.path, &group)?);
        }
        // One chunk is one row group, however the frame was put together.
        group.rechunk_mut_par();
        let open = self.open.as_mut().expect("it was opened just now");
        open.writer.write_batch(&group).map_err(|source| StoreError::Parquet { path: self.path.clone(), source })
    }

    /// Ends the file and returns its SHA-256; none where there are no rows.
    pub(super) fn end(self) -> Result<Option<String>, StoreError> {
        let Some(Open { writer, file, hasher }) = self.open else { return Ok(None) };
        // Ending the file by hand leaves out the Arrow schema that polars would embed: older readers refuse its types.
        let ended = writer.get_writer().lock().expect("no panic while a group is written").end(Some(Vec::new()));
        ended.map_err(|source| StoreError::Parquet { path: self.path.clone(), source })?;
        file.sync_all().map_err(StoreError::io("write", &self.path))?;
        atomic::sync_folder(self.path.parent().expect("a table stands in its config's folder"))?;
        let hasher = hasher.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok(Some(hexadecimal(hasher)))
    }
}

impl Open {
    fn new(path: &Path, frame: &DataFrame) -> Result<Self, StoreError> {
        let folder = path.parent().expect("a table stands in its config's folder");
        fs::create_dir_all(folder).map_err(StoreError::io("make the folder", folder))?;
        let files = || -> io::Result<(File, File)> {
            let file = File::create_new(path)?;
            Ok((file.try_clone()?, file))
        };
        let (again, file) = files().map_err(StoreError::io("create", path))?;
        let hasher = Arc::<Mutex<Sha256>>::default();
        let sink = Hashing { file: BufWriter::new(file), hasher: Arc::clone(&hasher) };
        let writer = writer(sink, frame).map_err(|source| StoreError::Parquet { path: path.to_owned(), source })?;
        Ok(Self { writer, file: again, hasher })
    }
}

fn writer<W: io::Write>(sink: W, frame: &DataFrame) -> PolarsResult<BatchedWriter<W>> {
    ParquetWriter::new(sink)
        .with_compression(ParquetCompression::Zstd(None))
        .with_statistics(StatisticsOptions::default())
        .batched(frame.schema())
}

pub(super) fn hexadecimal(hasher: Sha256) -> String {
    format!("{:x}", hasher.finalize())
}

/// Hashes what goes into a file.
struct Hashing {
    file: BufWriter<File>,
    hasher: Arc<Mutex<Sha256>>,
}

impl io::Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = self.file.write(bytes)?;
        self.hasher.lock().unwrap_or_else(PoisonError::into_inner).update(&bytes[..length]);
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
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

    fn bytes(groups: impl IntoIterator<Item = DataFrame>) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("samples/test.parquet");
        let mut file = TableFile::new(path.clone());
        for group in groups {
            file.write(group).expect("written");
        }
        let hash = file.end().expect("ended").expect("it has rows");
        let bytes = fs::read(path).unwrap();
        assert_eq!(hexadecimal(Sha256::new_with_prefix(&bytes)), hash);
        bytes
    }

    #[test]
    fn a_table_is_read_back_as_it_was_and_written_the_same() {
        let frame = frame(25);
        assert!(
            matches!(frame.column("turns").unwrap().dtype(), DataType::List(inner) if matches!(**inner, DataType::Struct(_)))
        );
        let written = bytes([frame.clone()]);
        assert_eq!(written, bytes([frame.clone()]));
        let mut parts = frame.slice(0, 10);
        parts.vstack_mut(&frame.slice(10, 15)).unwrap();
        assert_eq!(written, bytes([parts]), "how a frame was put together must not show");
        assert!(!String::from_utf8_lossy(&written).contains("ARROW:schema"));
        let read = ParquetReader::new(Cursor::new(written)).finish().unwrap();
        assert!(read.equals_missing(&frame), "{read:?}");
    }

    #[test]
    fn groups_stay_as_they_were_given() {
        let numbers = Column::new("n".into(), (0..21_u64).collect::<Vec<_>>());
        let whole = DataFrame::new(21, vec![numbers]).unwrap();
        let mut doubled = whole.slice(0, 10);
        doubled.vstack_mut(&whole.slice(10, 10)).unwrap();
        let mut reader = ParquetReader::new(Cursor::new(bytes([doubled, whole.slice(20, 1)])));
        assert_eq!(reader.num_rows().unwrap(), 21);
        let mut groups = Vec::new();
        for group in &reader.get_metadata().unwrap().row_groups {
            groups.push(group.num_rows());
        }
        assert_eq!(groups, [20, 1]);
    }

    #[test]
    fn a_table_without_rows_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = TableFile::new(folder.path().join("samples/test.parquet"));
        assert_eq!(file.end().unwrap(), None);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
