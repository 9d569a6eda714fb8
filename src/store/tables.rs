//! Reading the tables of a data set from its folder, a few row groups at a time.

use std::fs::{self, File};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use polars::error::{PolarsError, PolarsResult};
use polars::frame::DataFrame;
use polars::prelude::{ParquetReader, SerReader as _};

use super::error::StoreError;

/// An existing data set: its folder and its tables.
#[derive(Debug, Clone)]
pub struct Dataset {
    /// The folder with the card and a folder for each config.
    pub path: PathBuf,
    /// The tables, sorted by config and split.
    pub tables: Vec<Table>,
}

/// The files of one split of one config.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The config, which is the name of its folder.
    pub config: String,
    /// The split, which is the first part of the file names.
    pub split: String,
    /// The files, in order.
    pub files: Vec<PathBuf>,
}

impl Dataset {
    /// Lists the tables of a data set. The list is empty if the folder has none.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let mut tables: Vec<Table> = Vec::new();
        for folder in entries(path)?.into_iter().filter(|path| path.is_dir()) {
            let config = name(&folder);
            for file in entries(&folder)?.into_iter().filter(|path| is_parquet(path)) {
                let split = split_of(&name(&file)).to_owned();
                match tables.last_mut() {
                    Some(table) if table.config == config && table.split == split => table.files.push(file),
                    _ => tables.push(Table { config: config.clone(), split, files: vec![file] }),
                }
            }
        }
        tables.sort_by(|a, b| (&a.config, &a.split).cmp(&(&b.config, &b.split)));
        Ok(Self { path: path.to_owned(), tables })
    }

    /// Returns the tables of a config, one for each split.
    pub fn of<'a>(&'a self, config: &'a str) -> impl Iterator<Item = &'a Table> {
        self.tables.iter().filter(move |table| table.config == config)
    }

    /// Returns the path of a file relative to the data set, with `/` as the separator, as the manifest has it.
    #[must_use]
    pub fn relative(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.path).unwrap_or(path);
        below.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
    }

    /// Returns the relative path of every file of the data set, except hidden files, sorted.
    pub fn files(&self) -> Result<Vec<String>, StoreError> {
        let mut files = Vec::new();
        let mut open = vec![self.path.clone()];
        while let Some(folder) = open.pop() {
            for path in entries(&folder)?.into_iter().filter(|path| !name(path).starts_with('.')) {
                if path.is_dir() {
                    open.push(path);
                } else {
                    files.push(self.relative(&path));
                }
            }
        }
        files.sort();
        Ok(files)
    }
}

/// Returns the split of a file: the part of its name before the shard number.
fn split_of(name: &str) -> &str {
    name.trim_end_matches(".parquet").split('-').next().unwrap_or_default()
}

fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "parquet")
}

fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Returns the entries of a folder, sorted.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let list = || -> std::io::Result<Vec<PathBuf>> { fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect() };
    let mut paths = list().map_err(StoreError::io("read the folder", folder))?;
    paths.sort();
    Ok(paths)
}

/// Returns the card of a data set, or an empty string if it has none.
pub fn read_card(dataset: &Path) -> Result<String, StoreError> {
    let path = dataset.join("README.md");
    match fs::read_to_string(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(StoreError::io("read", &path)(error)),
        card => Ok(card.unwrap_or_default()),
    }
}

/// Returns the column names of a file.
pub fn columns(path: &Path) -> Result<Vec<String>, StoreError> {
    read_parquet(path, |mut reader| Ok(reader.schema()?.iter_names().map(ToString::to_string).collect()))
}

/// Small row groups are read together, up to this many rows and this many uncompressed bytes.
const RUN_ROWS: usize = 10_000;
const RUN_BYTES: usize = 16 << 20;

/// A row group with more bytes than this is read in several parts.
const PART_BYTES: usize = 64 << 20;

/// Reads a file part by part, all columns or only some. Each part comes with the number of its first row, from 0.
///
/// A part is a row group, several small ones, or a section of a large one.
pub fn groups(
    path: &Path,
    columns: Option<&[&str]>,
) -> Result<impl Iterator<Item = Result<(usize, DataFrame), StoreError>> + Send + use<>, StoreError> {
    // Read once: the footer describes every row group, and a file may have many.
    let metadata = read_parquet(path, |mut reader| reader.get_metadata().cloned())?;
    let parts = parts(metadata.row_groups.iter().map(|group| (group.num_rows(), group.total_byte_size())));
    let columns: Option<Vec<String>> = columns.map(|columns| columns.iter().map(ToString::to_string).collect());
    let path = path.to_owned();
    Ok(parts.into_iter().map(move |(first, height)| {
        let part = read_parquet(&path, |mut reader| {
            reader.set_metadata(metadata.clone());
            reader.with_columns(columns.clone()).with_slice(Some((first, height))).finish()
        })?;
        Ok((first, part))
    }))
}

/// Returns the columns of a file that cannot be read although others can.
///
/// Each column is read separately, so call this only for a file that is known to be damaged.
#[must_use]
pub fn broken_columns(path: &Path) -> Vec<String> {
    let names = columns(path).unwrap_or_default();
    let is_broken =
        |name: &&String| groups(path, Some(&[name.as_str()])).is_ok_and(|mut all| all.any(|part| part.is_err()));
    let broken: Vec<String> = names.iter().filter(is_broken).cloned().collect();
    if broken.len() < names.len() { broken } else { Vec::new() }
}

/// Returns the first row and the number of rows of each part, given the rows and bytes of the row groups.
fn parts(groups: impl Iterator<Item = (usize, usize)>) -> Vec<(usize, usize)> {
    let mut parts = Vec::new();
    let (mut first, mut rows, mut bytes) = (0_usize, 0_usize, 0_usize);
    for (height, size) in groups {
        if rows > 0 && (rows.saturating_add(height) > RUN_ROWS || bytes.saturating_add(size) > RUN_BYTES) {
            parts.push((first, rows));
            (first, rows, bytes) = (first + rows, 0, 0);
        }
        if size > PART_BYTES {
            let step = height.div_ceil(size.div_ceil(PART_BYTES)).max(1);
            let starts = (0..height).step_by(step);
            parts.extend(starts.map(|start| (first + start, step.min(height - start))));
            first = first.saturating_add(height);
        } else {
            (rows, bytes) = (rows.saturating_add(height), bytes.saturating_add(size));
        }
    }
    if rows > 0 {
        parts.push((first, rows));
    }
    parts
}

/// Reads from a Parquet file. A damaged file is an error even where the reader panics.
fn read_parquet<T>(path: &Path, read: impl FnOnce(ParquetReader<File>) -> PolarsResult<T>) -> Result<T, StoreError> {
    let file = File::open(path).map_err(StoreError::io("read", path))?;
    let read = catch_unwind(AssertUnwindSafe(|| read(ParquetReader::new(file))));
    let read = read.unwrap_or_else(|_| Err(PolarsError::ComputeError("the file is damaged".into())));
    read.map_err(|source| StoreError::Rows { path: path.to_owned(), source })
}

/// The unread parts of a file.
type Parts = Box<dyn Iterator<Item = Result<(usize, DataFrame), StoreError>> + Send>;

/// Reads the rows of a table from first to last, across its files. Holds one part in memory.
pub struct RowReader {
    files: std::vec::IntoIter<PathBuf>,
    parts: Parts,
    rest: Option<DataFrame>,
}

impl RowReader {
    /// Creates a reader that starts at the first row.
    #[must_use]
    pub fn new(table: &Table) -> Self {
        Self { files: table.files.clone().into_iter(), parts: Box::new(std::iter::empty()), rest: None }
    }

    /// Returns the next rows: at most `most`, fewer at the end of a part, `None` at the end of the table.
    pub fn next(&mut self, most: usize) -> Result<Option<DataFrame>, StoreError> {
        let Some(rest) = self.rest.take() else {
            let Some(part) = self.next_part()? else { return Ok(None) };
            self.rest = Some(part);
            return self.next(most);
        };
        if rest.height() <= most {
            return Ok(Some(rest));
        }
        self.rest = Some(rest.slice(i64::try_from(most).unwrap_or(i64::MAX), rest.height()));
        Ok(Some(rest.slice(0, most)))
    }

    fn next_part(&mut self) -> Result<Option<DataFrame>, StoreError> {
        loop {
            if let Some(part) = self.parts.next() {
                return Ok(Some(part?.1));
            }
            let Some(path) = self.files.next() else { return Ok(None) };
            self.parts = Box::new(groups(&path, None)?);
        }
    }
}

/// The folder of a data set, and of the run that made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatasetLocation {
    /// The data set's folder.
    pub dataset: PathBuf,
    /// The run's folder, if the data set is in one.
    pub run: Option<PathBuf>,
}

impl DatasetLocation {
    /// Finds the data set of a path to a run folder or a data set. Returns `None` if it is neither.
    #[must_use]
    pub fn find(path: &Path) -> Option<Self> {
        let within = path.join("dataset");
        if within.is_dir() {
            let run = super::characters::is_run(path).then(|| path.to_owned());
            return Some(Self { dataset: within, run });
        }
        if !holds_tables(path) {
            return None;
        }
        // `canonicalize`, because the path may be `.`.
        let whole = path.canonicalize().ok().filter(|whole| whole.ends_with("dataset"));
        let run =
            whole.and_then(|whole| whole.parent().map(Path::to_owned)).filter(|run| super::characters::is_run(run));
        Some(Self { dataset: path.to_owned(), run })
    }
}

/// Returns whether a folder has a config with a Parquet file, or the card of a data set.
fn holds_tables(path: &Path) -> bool {
    if Dataset::open(path).is_ok_and(|dataset| !dataset.tables.is_empty()) {
        return true;
    }
    let card = fs::read_to_string(path.join("README.md")).unwrap_or_default();
    card.starts_with("---\n") && (card.contains("\nconfigs:\n") || card.contains("\n- \"dramaturg\"\n"))
}

#[cfg(test)]
mod tests {
    use polars::prelude::{Column, ParquetWriter};

    use super::*;

    #[test]
    fn small_row_groups_are_combined_and_large_ones_split() {
        let groups = [(4_000, 10), (0, 0), (6_000, 10), (1, 10), (7, PART_BYTES * 3), (2, 10), (3, RUN_BYTES)];
        let expected = [(0, 10_000), (10_000, 1), (10_001, 3), (10_004, 3), (10_007, 1), (10_008, 2), (10_010, 3)];
        assert_eq!(parts(groups.into_iter()), expected);
        assert!(parts([(0, 0)].into_iter()).is_empty());
    }

    #[test]
    fn every_row_of_a_file_with_many_groups_is_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("train-00000-of-00001.parquet");
        let numbers: Vec<i32> = (0..25_000).collect();
        let mut frame = DataFrame::new_infer_height(vec![Column::new("n".into(), &numbers)]).unwrap();
        let writer = ParquetWriter::new(File::create(&path).unwrap());
        writer.with_row_group_size(Some(1_000)).finish(&mut frame).unwrap();
        let read: Vec<(usize, DataFrame)> = groups(&path, Some(&["n"])).unwrap().map(Result::unwrap).collect();
        assert!(read.len() < 5, "{} parts", read.len());
        let mut seen = Vec::new();
        for (first, part) in read {
            assert_eq!(first, seen.len());
            seen.extend(part.column("n").unwrap().i32().unwrap().iter().flatten());
        }
        assert_eq!(seen, numbers);
        let table = Table { config: "c".into(), split: "train".into(), files: vec![path.clone(), path] };
        let (mut reader, mut count) = (RowReader::new(&table), 0);
        while let Some(rows) = reader.next(700).unwrap() {
            assert!(rows.height() <= 700);
            count += rows.height();
        }
        assert_eq!(count, 50_000);
    }
}
