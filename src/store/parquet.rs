//! Tables as Parquet files that every reader takes: the same bytes for the same rows, whatever the machine.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use polars::error::PolarsResult;
use polars::frame::DataFrame;
use polars::io::parquet::write::BatchedWriter;
use polars::prelude::{DataType, ParquetCompression, ParquetWriter, StatisticsOptions, TimeUnit};
use sha2::{Digest as _, Sha256};

use super::{StoreError, atomic};

/// A file beyond so many bytes is followed by a further one: what the hub takes for a shard.
pub const SHARD_BYTES: u64 = 500_000_000;

/// The files of one split of one config of a data set, written group by group: no more than a group is in memory.
///
/// A split that is larger than a shard may be has several, `<split>-00000-of-00003.parquet` and so on. Where one ends depends on the
/// rows alone.
pub struct TableFile {
    folder: PathBuf,
    split: String,
    shard_bytes: u64,
    open: Option<Open>,
    /// The files that are whole but not yet named, with their SHA-256.
    ended: Vec<(PathBuf, String)>,
    /// How many bytes the last group took in its file.
    last_group: u64,
}

/// A file that has rows.
struct Open {
    path: PathBuf,
    writer: BatchedWriter<Hashing>,
    /// Whether the types of its columns are more than Parquet tells.
    needs_schema: bool,
    /// The file once more, to see it through to the disk.
    file: File,
    written: Arc<Mutex<Sum>>,
}

/// What went into a file.
#[derive(Default, Clone)]
struct Sum {
    hasher: Sha256,
    bytes: u64,
}

impl TableFile {
    /// Names the config's folder and the split. A file is made with the first group, so that a table without rows leaves none.
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
        // One chunk is one row group, however the frame was put together.
        group.rechunk_mut_par();
        let before = open.bytes();
        let written = open.writer.write_batch(&group);
        written.map_err(|source| StoreError::Parquet { path: open.path.clone(), source })?;
        self.last_group = open.bytes() - before;
        Ok(())
    }

    /// Ends the table and returns the name of each of its files with its SHA-256; none where there are no rows.
    pub(super) fn end(mut self) -> Result<Vec<(String, String)>, StoreError> {
        self.end_file()?;
        let count = self.ended.len();
        let mut named = Vec::with_capacity(count);
        for (number, (path, hash)) in self.ended.into_iter().enumerate() {
            let name = format!("{}-{number:05}-of-{count:05}.parquet", self.split);
            fs::rename(&path, self.folder.join(&name)).map_err(StoreError::io("name", &path))?;
            named.push((name, hash));
        }
        if count > 0 {
            atomic::sync_folder(&self.folder)?;
        }
        Ok(named)
    }

    fn end_file(&mut self) -> Result<(), StoreError> {
        let Some(Open { path, writer, needs_schema, file, written }) = self.open.take() else { return Ok(()) };
        // Ending the file by hand leaves out the Arrow schema that polars would embed: older readers refuse its types. What
        // others have made may need it.
        let schema = (!needs_schema).then(Vec::new);
        let ended = writer.get_writer().lock().expect("no panic while a group is written").end(schema);
        ended.map_err(|source| StoreError::Parquet { path: path.clone(), source })?;
        file.sync_all().map_err(StoreError::io("write", &path))?;
        let written = written.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.ended.push((path, hexadecimal(written.hasher)));
        Ok(())
    }
}

impl Open {
    fn new(path: PathBuf, frame: &DataFrame) -> Result<Self, StoreError> {
        let folder = path.parent().expect("a table stands in its config's folder");
        fs::create_dir_all(folder).map_err(StoreError::io("make the folder", folder))?;
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

/// Says whether a type, or one within it, is more than Parquet tells: categories, zones, durations, lists of one length.
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

/// Hashes what goes into a file.
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
        let mut file = TableFile::new(folder.path().join("samples"), "test".to_owned(), SHARD_BYTES);
        for group in groups {
            file.write(group).expect("written");
        }
        let [(name, hash)] = &file.end().expect("ended")[..] else { panic!("it has rows for one file") };
        assert_eq!(name, "test-00000-of-00001.parquet");
        let bytes = fs::read(folder.path().join("samples").join(name)).unwrap();
        assert_eq!(&hexadecimal(Sha256::new_with_prefix(&bytes)), hash);
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
        let file = TableFile::new(folder.path().join("samples"), "test".to_owned(), SHARD_BYTES);
        assert!(file.end().unwrap().is_empty());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_table_beyond_a_shard_has_further_files() {
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
        assert_eq!(fs::read_dir(folder.path().join("samples")).unwrap().count(), files.len(), "nothing else is left");
    }
}
