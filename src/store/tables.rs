//! Reads the tables of a data set back from its folder, group by group.

use std::fs::{self, File};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use polars::error::{PolarsError, PolarsResult};
use polars::frame::DataFrame;
use polars::prelude::{ParquetReader, SerReader as _};

use super::StoreError;

/// A data set that is there: its folder and its tables.
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
    /// The config, the name of its folder.
    pub config: String,
    /// The split, as the files' names begin.
    pub split: String,
    /// The files in order.
    pub files: Vec<PathBuf>,
}

impl Dataset {
    /// Lists the tables of a data set; none where the folder holds none.
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

    /// Returns the path of a file below the data set, as a manifest names it.
    #[must_use]
    pub fn relative(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.path).unwrap_or(path);
        below.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
    }

    /// Returns the path of every file below the data set, hidden ones aside, sorted, as a manifest names them.
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

/// Returns the split of a file: what stands before its number.
fn split_of(name: &str) -> &str {
    name.trim_end_matches(".parquet").split('-').next().unwrap_or_default()
}

fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "parquet")
}

fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Returns what stands in a folder, sorted.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let list = || -> std::io::Result<Vec<PathBuf>> { fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect() };
    let mut paths = list().map_err(StoreError::io("read the folder", folder))?;
    paths.sort();
    Ok(paths)
}

/// Returns the card of a data set; an empty one where it has none.
pub fn read_card(dataset: &Path) -> Result<String, StoreError> {
    let path = dataset.join("README.md");
    match fs::read_to_string(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(StoreError::io("read", &path)(error)),
        card => Ok(card.unwrap_or_default()),
    }
}

/// Returns the names of a file's columns.
pub fn columns(path: &Path) -> Result<Vec<String>, StoreError> {
    whole(path, |mut reader| Ok(reader.schema()?.iter_names().map(ToString::to_string).collect()))
}

/// Reads a file group by group, all columns or some; each group comes with the number of its first row, from 0.
pub fn groups<'a>(
    path: &'a Path,
    columns: Option<&'a [&'a str]>,
) -> Result<impl Iterator<Item = Result<(usize, DataFrame), StoreError>> + 'a, StoreError> {
    let groups = group_heights(path)?;
    Ok(groups.into_iter().map(move |(first, height)| {
        let columns = columns.map(|columns| columns.iter().map(|column| (*column).to_owned()).collect());
        let group = whole(path, |reader| reader.with_columns(columns).with_slice(Some((first, height))).finish())?;
        Ok((first, group))
    }))
}

/// Returns where each group of a file that has rows begins, and how many it has.
fn group_heights(path: &Path) -> Result<Vec<(usize, usize)>, StoreError> {
    let heights = whole(path, |mut reader| {
        let mut heights = Vec::new();
        for group in &reader.get_metadata()?.row_groups {
            heights.push(group.num_rows());
        }
        Ok(heights)
    })?;
    let groups = heights.into_iter().scan(0, |end, height| {
        let first = *end;
        *end += height;
        Some((first, height))
    });
    Ok(groups.filter(|(_, height)| *height > 0).collect())
}

/// Reads something of a Parquet file. What is damaged is an error, also where the reader panics over it.
fn whole<T>(path: &Path, read: impl FnOnce(ParquetReader<File>) -> PolarsResult<T>) -> Result<T, StoreError> {
    let file = File::open(path).map_err(StoreError::io("read", path))?;
    let read = catch_unwind(AssertUnwindSafe(|| read(ParquetReader::new(file))));
    let read = read.unwrap_or_else(|_| Err(PolarsError::ComputeError("the file is damaged".into())));
    read.map_err(|source| StoreError::Rows { path: path.to_owned(), source })
}

/// Reads the rows of a table from its first to its last, across its files, some at a time; holds one group.
pub struct RowReader {
    files: std::vec::IntoIter<PathBuf>,
    groups: std::vec::IntoIter<(PathBuf, usize, usize)>,
    rest: Option<DataFrame>,
}

impl RowReader {
    /// Begins before the first row.
    #[must_use]
    pub fn new(table: &Table) -> Self {
        Self { files: table.files.clone().into_iter(), groups: Vec::new().into_iter(), rest: None }
    }

    /// Returns the next rows: as many as are asked for, or fewer where a group ends; none at the end.
    pub fn next(&mut self, most: usize) -> Result<Option<DataFrame>, StoreError> {
        let Some(rest) = self.rest.take() else {
            let Some(group) = self.next_group()? else { return Ok(None) };
            self.rest = Some(group);
            return self.next(most);
        };
        if rest.height() <= most {
            return Ok(Some(rest));
        }
        self.rest = Some(rest.slice(i64::try_from(most).unwrap_or(i64::MAX), rest.height()));
        Ok(Some(rest.slice(0, most)))
    }

    fn next_group(&mut self) -> Result<Option<DataFrame>, StoreError> {
        loop {
            if let Some((path, first, height)) = self.groups.next() {
                let group = whole(&path, |reader| reader.with_slice(Some((first, height))).finish())?;
                return Ok(Some(group));
            }
            let Some(path) = self.files.next() else { return Ok(None) };
            let heights = group_heights(&path)?;
            self.groups = heights
                .into_iter()
                .map(|(first, height)| (path.clone(), first, height))
                .collect::<Vec<_>>()
                .into_iter();
        }
    }
}

/// Where a data set stands, and the run that made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The data set's folder.
    pub dataset: PathBuf,
    /// The run's folder, where the data set stands in one.
    pub run: Option<PathBuf>,
}

impl Place {
    /// Finds the data set of a path that is a run's folder or a data set's; none where it is neither.
    #[must_use]
    pub fn find(path: &Path) -> Option<Self> {
        let within = path.join("dataset");
        if within.is_dir() {
            let run = super::is_run(path).then(|| path.to_owned());
            return Some(Self { dataset: within, run });
        }
        if !holds_tables(path) {
            return None;
        }
        let parent = path.canonicalize().ok().and_then(|path| path.parent().map(Path::to_owned));
        let is_of_run = |run: &PathBuf| path.ends_with("dataset") && super::is_run(run);
        Some(Self { dataset: path.to_owned(), run: parent.filter(is_of_run) })
    }
}

/// Says whether a folder has a config with a Parquet file, or a card of a data set.
fn holds_tables(path: &Path) -> bool {
    if Dataset::open(path).is_ok_and(|dataset| !dataset.tables.is_empty()) {
        return true;
    }
    let card = fs::read_to_string(path.join("README.md")).unwrap_or_default();
    card.starts_with("---\n") && (card.contains("\nconfigs:\n") || card.contains("\n- \"dramaturg\"\n"))
}
