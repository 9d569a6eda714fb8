//! Tables as Parquet files that other readers accept, with the same bytes for the same rows on every machine.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use polars::error::PolarsResult;
use polars::frame::DataFrame;
use polars::io::parquet::write::BatchedWriter;
use polars::prelude::{DataType, ParquetCompression, ParquetWriter, StatisticsOptions, TimeUnit};
use sha2::{Digest as _, Sha256};

use super::atomic;
use super::error::StoreError;

/// A file that would exceed this many bytes is followed by another one: the shard size of the Hugging Face Hub.
pub const SHARD_BYTES: u64 = 500_000_000;

/// The files of one split of one config of a data set. One row group is in memory at a time.
///
/// A split that exceeds the shard size has several files: `<split>-00000-of-00003.parquet` and so on. Where a file ends
/// depends only on the rows.
pub struct TableFile {
    folder: PathBuf,
    split: String,
    shard_bytes: u64,
    open: Option<Open>,
    /// The complete files that still have temporary names, with their SHA-256.
    ended: Vec<(PathBuf, String)>,
    /// The size in bytes of the last row group in its file.
    last_group: u64,
}

/// A file with at least one row group.
struct Open {
    path: PathBuf,
    writer: BatchedWriter<Hashing>,
    /// Whether a column has a type that Parquet alone cannot express.
    needs_schema: bool,
    /// A second handle of the file, for syncing it.
    file: File,
    written: Arc<Mutex<Sum>>,
}

/// The hash and length of the bytes written to a file.
#[derive(Default, Clone)]
struct Sum {
    hasher: Sha256,
    bytes: u64,
}

impl TableFile {
    /// Creates a table writer from the config's folder and the split. A file is created with its first row group, so a
    /// table without rows leaves no file.
    pub(super) const fn new(folder: PathBuf, split: String, shard_bytes: u64) -> Self {
        Self { folder, split, shard_bytes, open: None, ended: Vec::new(), last_group: 0 }
    }

    /// Returns the folder of the config.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes the next rows as one row group; readers fetch whole groups. All columns are nullable.
    pub fn write(&mut self, mut group: DataFrame) -> Result<(), StoreError> {
        if self.open.as_ref().is_some_and(|open| open.bytes() + self.last_group > self.shard_bytes) {
            self.end_file()?;
        }
        let open = match &mut self.open {
            Some(open) => open,
            none => {
                let path = self.folder.join(format!("{}-{:05}.new", self.split, self.ended.len()));
                none.insert(Open::new(path, &group)?)
            }
        };
        // The writer makes one row group per chunk, so the frame must have a single chunk.
        group.rechunk_mut_par();
        let before = open.bytes();
        let written = open.writer.write_batch(&group);
        written.map_err(|source| StoreError::Parquet { path: open.path.clone(), source })?;
        self.last_group = open.bytes() - before;
        Ok(())
    }

    /// Finishes the table. Returns the name and the SHA-256 of each file; the list is empty if there are no rows.
    pub(super) fn end(mut self) -> Result<Vec<(String, String)>, StoreError> {
        self.end_file()?;
        let count = self.ended.len();
        let mut named = Vec::with_capacity(count);
        for (number, (path, hash)) in self.ended.into_iter().enumerate() {
            let name = format!("{}-{number:05}-of-{count:05}.parquet", self.split);
            fs::rename(&path, self.folder.join(&name)).map_err(StoreError::io("rename", &path))?;
            named.push((name, hash));
        }
        if count > 0 {
            atomic::sync_folder(&self.folder)?;
        }
        Ok(named)
    }

    fn end_file(&mut self) -> Result<(), StoreError> {
        let Some(Open { path, writer, needs_schema, file, written }) = self.open.take() else { return Ok(()) };
        // Ending the file with an explicit schema omits the Arrow schema that polars would embed: older readers reject
        // its types. Columns of other programs may need it.
        let schema = (!needs_schema).then(Vec::new);
        let ended = writer.get_writer().lock().expect("writing a group does not panic").end(schema);
        ended.map_err(|source| StoreError::Parquet { path: path.clone(), source })?;
        file.sync_all().map_err(StoreError::io("write", &path))?;
        let written = written.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.ended.push((path, hexadecimal(written.hasher)));
        Ok(())
    }
}

impl Open {
    fn new(path: PathBuf, frame: &DataFrame) -> Result<Self, StoreError> {
        let folder = path.parent().expect("a table file is in the folder of its config");
        fs::create_dir_all(folder).map_err(StoreError::io("create the folder", folder))?;
        let files = || -> io::Result<(File, File)> {
            let file = File::create_new(&path)?;
            Ok((file.try_clone()?, file))
        };
        let (again, file) = files().map_err(StoreError::io("create", &path))?;
        let written = Arc::<Mutex<Sum>>::default();
        let sink = Hashing { file: BufWriter::new(file), written: Arc::clone(&written) };
        let writer = writer(sink, frame).map_err(|source| StoreError::Parquet { path: path.clone(), source })?;
        let needs_schema = frame.dtypes().iter().any(is_more);
        Ok(Self { path, writer, needs_schema, file: again, written })
    }

    fn bytes(&self) -> u64 {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).bytes
    }
}

/// Returns whether a type, or a nested one, cannot be expressed in Parquet alone: categories, time zones, durations,
/// fixed-length lists.
fn is_more(kind: &DataType) -> bool {
    match kind {
        DataType::List(inner) => is_more(inner),
        DataType::Struct(fields) => fields.iter().any(|field| is_more(field.dtype())),
        DataType::Categorical(..) | DataType::Enum(..) | DataType::Duration(_) | DataType::Array(..) => true,
        DataType::Datetime(unit, zone) => zone.is_some() || *unit == TimeUnit::Nanoseconds,
        _ => false,
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

/// A file writer that hashes and counts what is written.
struct Hashing {
    file: BufWriter<File>,
    written: Arc<Mutex<Sum>>,
}

impl io::Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = self.file.write(bytes)?;
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        written.hasher.update(&bytes[..length]);
        written.bytes += length as u64;
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

    /// Returns rows with every kind of column that the data set has.
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
        let mut file = TableFile::new(folder.path().join("samples"), "test".to_owned(), SHARD_BYTES);
        for group in groups {
            file.write(group).expect("the group is valid");
        }
        let [(name, hash)] = &file.end().expect("the file is writable")[..] else { panic!("the rows fit in one file") };
        assert_eq!(name, "test-00000-of-00001.parquet");
        let bytes = fs::read(folder.path().join("samples").join(name)).unwrap();
        assert_eq!(&hexadecimal(Sha256::new_with_prefix(&bytes)), hash);
        bytes
    }

    #[test]
    fn a_table_round_trips_with_identical_bytes() {
        let frame = frame(25);
        assert!(
            matches!(frame.column("turns").unwrap().dtype(), DataType::List(inner) if matches!(**inner, DataType::Struct(_)))
        );
        let written = bytes([frame.clone()]);
        assert_eq!(written, bytes([frame.clone()]));
        let mut parts = frame.slice(0, 10);
        parts.vstack_mut(&frame.slice(10, 15)).unwrap();
        assert_eq!(written, bytes([parts]), "the chunks of a frame must not affect the bytes");
        assert!(!String::from_utf8_lossy(&written).contains("ARROW:schema"));
        let read = ParquetReader::new(Cursor::new(written)).finish().unwrap();
        assert!(read.equals_missing(&frame), "{read:?}");
    }

    #[test]
    fn row_groups_are_kept() {
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
    fn a_table_without_rows_writes_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = TableFile::new(folder.path().join("samples"), "test".to_owned(), SHARD_BYTES);
        assert!(file.end().unwrap().is_empty());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_table_larger_than_a_shard_has_several_files() {
        let folder = tempfile::tempdir().unwrap();
        let whole = frame(40);
        let mut file = TableFile::new(folder.path().join("samples"), "test".to_owned(), 3_500);
        for step in 0..8 {
            file.write(whole.slice(step * 5, 5)).unwrap();
        }
        let files = file.end().unwrap();
        assert!(files.len() > 1, "{files:?}");
        let mut read: Option<DataFrame> = None;
        for (number, (name, _)) in files.iter().enumerate() {
            assert_eq!(*name, format!("test-{number:05}-of-{:05}.parquet", files.len()));
            let path = folder.path().join("samples").join(name);
            let rows = ParquetReader::new(File::open(path).unwrap()).finish().unwrap();
            match &mut read {
                Some(read) => drop(read.vstack_mut(&rows).unwrap()),
                None => read = Some(rows),
            }
        }
        assert!(read.unwrap().equals_missing(&whole));
        assert_eq!(
            fs::read_dir(folder.path().join("samples")).unwrap().count(),
            files.len(),
            "no temporary file is left"
        );
    }
}
