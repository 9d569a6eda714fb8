//! The road of `split`: reads what a division needs of a data set, has it decided, and writes the data set anew. Holds of its rows
//! their ids and short texts, and a group for each split.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use polars::prelude::{DataFrame, IdxCa, PolarsError};
use serde_json::{Value, json};

use crate::stages::export::{CardFault, Division, ExportError, Groups, SplitRows, recard, rereport};
use crate::stages::split::{self, Divided, Params, Report, Rows};
use crate::store::{self, Dataset, DatasetPlace, NewDataset, RowReader, StoreError, Table};

/// What is to be divided, and how.
#[derive(Debug, Clone)]
pub struct Split {
    /// The data set.
    pub place: DatasetPlace,
    /// The config.
    pub config: String,
    /// How.
    pub params: Params,
    /// Where the new data set is to stand; in the old one's place when silent.
    pub out: Option<PathBuf>,
    /// How large a file may grow.
    pub shard_bytes: u64,
    /// Decides and writes nothing.
    pub dry_run: bool,
}

/// What came of it.
#[derive(Debug)]
pub struct SplitDone {
    /// Where the data set stands.
    pub dataset: PathBuf,
    /// What was decided.
    pub report: Report,
    /// What is worth knowing.
    pub notes: Vec<String>,
}

/// Why nothing was divided.
#[derive(Debug, thiserror::Error)]
pub enum SplitError {
    /// The config is none that can be divided, or the data set lacks it.
    #[error("the data set `{}` has no config `{config}` that can be divided", path.display())]
    NoConfig {
        /// The data set.
        path: PathBuf,
        /// The config.
        config: String,
        /// Those that it has.
        has: Vec<String>,
    },
    /// A column that was named is none of the config's.
    #[error("`{config}` has no column `{column}`")]
    NoColumn {
        /// The config.
        config: String,
        /// The column.
        column: String,
        /// Those that it has.
        has: Vec<String>,
    },
    /// A value that was named is in no row.
    #[error("no row of `{config}` has `{value}` as its `{column}`")]
    NoValue {
        /// The config.
        config: String,
        /// The column.
        column: String,
        /// The value.
        value: String,
    },
    /// The folder for the new data set holds something.
    #[error("`{}` holds something already", path.display())]
    Taken {
        /// The folder.
        path: PathBuf,
    },
    /// The folder for the new data set lies in the old one.
    #[error("`{}` lies within the data set", path.display())]
    Within {
        /// The folder.
        path: PathBuf,
    },
    /// A file is not what the run has written.
    #[error("`{file}` is not what the run has written, by its manifest")]
    Altered {
        /// The file below the data set.
        file: String,
    },
    /// The card cannot be understood, and would be written over.
    #[error("tell `{}` of the new splits", path.display())]
    Card {
        /// Its path.
        path: PathBuf,
        /// What is wrong.
        #[source]
        source: CardFault,
    },
    /// A file could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Rows could not be made into groups.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// Rows could not be taken out of their table.
    #[error("divide the rows of `{config}`")]
    Frame {
        /// The config.
        config: String,
        /// What polars says.
        #[source]
        source: PolarsError,
    },
    /// The manifest is none.
    #[error("read `{}`", path.display())]
    Manifest {
        /// Its path.
        path: PathBuf,
        /// What is wrong.
        #[source]
        source: serde_json::Error,
    },
}

/// So many rows go from the old tables to the new ones at a time.
const STEP: usize = 1000;

/// Divides a config of a data set anew.
///
/// The data set is written beside the old one and takes its place whole; the run's manifest is told of it. The same data set and
/// parameters give the same bytes, whatever splits the config had before.
pub fn split(split: &Split) -> Result<SplitDone, SplitError> {
    let _lock = match (&split.place.run, &split.out) {
        (Some(run), None) if !split.dry_run => Some(store::lock(run)?),
        _ => None,
    };
    let out = split.out.as_deref().unwrap_or(&split.place.dataset);
    // A path such as `.` has no name beside which something could stand.
    let (target, source) = (whole(out), whole(&split.place.dataset));
    if split.out.is_some() && target != source && target.starts_with(&source) {
        return Err(SplitError::Within { path: out.to_owned() });
    }
    let is_taken = |out: &&PathBuf| fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_some());
    if let Some(out) = split.out.as_ref().filter(is_taken) {
        return Err(SplitError::Taken { path: out.clone() });
    }
    let dataset = Dataset::open(&split.place.dataset)?;
    let tables: Vec<&Table> = dataset.of(&split.config).collect();
    let config = split::CONFIGS.into_iter().find(|config| *config == split.config && !tables.is_empty());
    let Some(config) = config else {
        let mut has: Vec<String> = dataset.tables.iter().map(|table| table.config.clone()).collect();
        has.retain(|config| split::CONFIGS.contains(&config.as_str()));
        has.dedup();
        return Err(SplitError::NoConfig { path: split.place.dataset.clone(), config: split.config.clone(), has });
    };
    let names = dataset.files()?;
    let manifest = match &split.place.run {
        Some(run) => manifest(&run.join("manifest.json"))?,
        None => None,
    };
    if let Some(manifest) = &manifest {
        unaltered(&dataset, &names, manifest)?;
    }
    let card = store::read_card(&dataset.path)?;
    let card_fault = |source| SplitError::Card { path: dataset.path.join(CARD), source };
    // Before the long work: what cannot be understood keeps anything from being written.
    let mut others: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for table in dataset.tables.iter().filter(|table| table.config != config) {
        others.entry(table.config.clone()).or_default().insert(table.split.clone());
    }
    let columns = RowReader::new(tables[0]).next(1)?;
    let blank = Division { config, splits: &[], section: "", columns: columns.as_ref(), others: &others };
    recard(&card, &blank).map_err(card_fault)?;
    let (rows, tails) = read(config, &split.params, &tables)?;
    let threads = std::thread::available_parallelism().unwrap_or(std::num::NonZero::<usize>::MIN);
    let divided = split::divide(&rows, &split.params, threads);
    let order = merged(&rows, &tails);
    drop(rows);
    if split.dry_run {
        return Ok(SplitDone { dataset: out.to_owned(), report: divided.report, notes: Vec::new() });
    }
    if split.out.is_none() {
        NewDataset::mend(&target)?;
    }
    let mut new = NewDataset::beside(&target, split.shard_bytes)?;
    let told = write(config, &tables, &tails, &order, &divided, &mut new)?;
    let replaced: BTreeSet<String> =
        tables.iter().flat_map(|table| &table.files).map(|file| dataset.relative(file)).collect();
    for name in names.iter().filter(|name| *name != CARD && *name != SPLITS && !replaced.contains(*name)) {
        new.add(&dataset.path, name)?;
    }
    new.add_json(SPLITS, &with_report(&dataset.path.join(SPLITS), config, &divided.report))?;
    let section = divided.report.section(config);
    let card = recard(&card, &Division { splits: &told, section: &section, ..blank }).map_err(card_fault)?;
    let mut files = new.finish(&card)?;
    let mut notes = Vec::new();
    // One may lie in the data set's own folder; the run's, or what was left of it, lies above.
    let within = target.join(REPORT);
    let above = target.parent().filter(|_| split.out.is_none() && target.ends_with("dataset"));
    for path in std::iter::once(within.clone()).chain(above.map(|run| run.join(REPORT))) {
        notes.extend(rereported(&path, config, &told, &section)?);
    }
    if within.is_file() {
        files.insert(REPORT.to_owned(), store::hash_of(&within)?);
    } else {
        files.remove(REPORT);
    }
    if let (Some(run), None, Some(manifest)) = (&split.place.run, &split.out, manifest) {
        retell(&run.join("manifest.json"), manifest, config, &told, &files)?;
    }
    Ok(SplitDone { dataset: out.to_owned(), report: divided.report, notes })
}

/// The report of a run.
const REPORT: &str = "report.html";

/// Tells a report of the new splits. One that tells of the old ones and has no place for others is put aside, which is noted.
fn rereported(path: &Path, config: &str, splits: &[SplitRows], section: &str) -> Result<Option<String>, SplitError> {
    let Ok(html) = fs::read_to_string(path) else { return Ok(None) };
    if let Ok(Some(new)) = rereport(&html, config, splits, section) {
        store::write_text(path, &new)?;
        return Ok(None);
    }
    // Somebody's own page, or a report of a version that tells of no splits, says nothing wrong.
    if !html.contains("<tr class=\"split\">") {
        return Ok(None);
    }
    let aside = path.with_file_name("report.old.html");
    store::rename(path, &aside)?;
    let (from, to) = (path.display(), aside.display());
    Ok(Some(format!(
        "`{from}` was changed by hand and tells of other splits; it is `{to}` now, and `dramaturg build --replay` writes one"
    )))
}

/// The file beside the card that says how each config was divided.
pub(super) const SPLITS: &str = "splits.json";

/// The card, which may be written by hand and stays so.
const CARD: &str = "README.md";

/// Returns a path from the root, also where its end is not there yet.
fn whole(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for above in path.ancestors() {
        if let Ok(there) = above.canonicalize() {
            let rest = path.strip_prefix(above).expect("it is an ancestor");
            // Joined to nothing, a path would end with a slash.
            return if rest.as_os_str().is_empty() { there } else { there.join(rest) };
        }
    }
    path
}

/// Reads the manifest of a run; none where it has none.
fn manifest(path: &Path) -> Result<Option<Value>, SplitError> {
    let Ok(text) = fs::read_to_string(path) else { return Ok(None) };
    let manifest = serde_json::from_str::<Value>(&text).and_then(|manifest| {
        if manifest.is_object() { Ok(manifest) } else { Err(serde::de::Error::custom("it is no object")) }
    });
    manifest.map(Some).map_err(|source| SplitError::Manifest { path: path.to_owned(), source })
}

/// Compares the files with what the run has written: what was changed since would be hashed anew, and pass for its own from then on.
fn unaltered(dataset: &Dataset, names: &[String], manifest: &Value) -> Result<(), SplitError> {
    let Some(written) = manifest["files"].as_object() else { return Ok(()) };
    let lost = written.keys().find(|file| file.ends_with(".parquet") && !names.contains(file));
    if let Some(file) = lost {
        return Err(SplitError::Altered { file: file.clone() });
    }
    for file in names.iter().filter(|file| *file != CARD) {
        let is_altered = match written.get(file) {
            Some(hash) => Some(store::hash_of(&dataset.path.join(file))?.as_str()) != hash.as_str(),
            // What stands beside the tables may be anybody's; a table is the run's or nobody's.
            None => dataset.tables.iter().flat_map(|table| &table.files).any(|path| dataset.relative(path) == *file),
        };
        if is_altered {
            return Err(SplitError::Altered { file: file.clone() });
        }
    }
    Ok(())
}

/// Reads what a division needs of each table, one after the other; returns it with where each table's rows end.
fn read(config: &'static str, params: &Params, tables: &[&Table]) -> Result<(Rows, Vec<usize>), SplitError> {
    let mut rows = Rows::new(config, params);
    let mut tails = Vec::new();
    for table in tables {
        for path in &table.files {
            let all = store::columns(path)?;
            let has = |column: &str| all.iter().any(|name| name == column);
            check_columns(config, params, &all)?;
            let columns = split::needed(config, params, has);
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            for group in store::groups(path, Some(&columns))? {
                let (_, group) = group?;
                rows.add(config, params, &group).map_err(frame(config))?;
            }
        }
        tails.push(rows.len());
    }
    if let Some((held, _)) = params.hold_out.iter().zip(rows.held_counts()).find(|(_, count)| *count == 0) {
        let (column, value) = (held.column.clone(), held.value.clone());
        return Err(SplitError::NoValue { config: config.to_owned(), column, value });
    }
    Ok((rows, tails))
}

fn frame(config: &str) -> impl Fn(PolarsError) -> SplitError {
    move |source| SplitError::Frame { config: config.to_owned(), source }
}

fn check_columns(config: &str, params: &Params, has: &[String]) -> Result<(), SplitError> {
    let words = params.by.iter().chain(params.hold_out.iter().map(|held| &held.column)).chain(&params.stratify);
    for word in words {
        if !split::column_of(config, word).iter().any(|column| has.contains(column)) {
            let (config, column) = (config.to_owned(), word.clone());
            return Err(SplitError::NoColumn { config, column, has: has.to_vec() });
        }
    }
    Ok(())
}

/// Returns the rows of all tables in the order of their ids. A table's own order stays, so that each is read from its first row to
/// its last.
fn merged(rows: &Rows, tails: &[usize]) -> Vec<usize> {
    let mut heads: Vec<(usize, usize)> = Vec::new();
    let mut start = 0;
    for tail in tails {
        heads.push((start, *tail));
        start = *tail;
    }
    let mut order = Vec::with_capacity(rows.len());
    while let Some(head) = heads
        .iter_mut()
        .filter(|(at, tail)| at < tail)
        .min_by(|a, b| rows.id(a.0).cmp(rows.id(b.0)).then(a.0.cmp(&b.0)))
    {
        order.push(head.0);
        head.0 += 1;
    }
    order
}

/// Writes the rows to their splits, in the order of their ids.
fn write(
    config: &'static str,
    tables: &[&Table],
    tails: &[usize],
    order: &[usize],
    divided: &Divided,
    new: &mut NewDataset,
) -> Result<Vec<SplitRows>, SplitError> {
    let mut readers: Vec<RowReader> = tables.iter().map(|table| RowReader::new(table)).collect();
    let mut files: Vec<_> = divided.names.iter().map(|name| (new.table(config, name), Groups::default())).collect();
    for step in order.chunks(STEP) {
        let mut counts = vec![0; tables.len()];
        let of: Vec<usize> = step.iter().map(|row| tails.partition_point(|tail| tail <= row)).collect();
        for table in &of {
            counts[*table] += 1;
        }
        let mut frame: Option<DataFrame> = None;
        let mut starts = vec![0; tables.len()];
        for (table, count) in counts.into_iter().enumerate() {
            starts[table] = frame.as_ref().map_or(0, DataFrame::height);
            let mut left = count;
            while left > 0 {
                let part = readers[table].next(left)?;
                // The file is the one that was read just now.
                let part = part.ok_or_else(|| StoreError::Changed { path: tables[table].files[0].clone() })?;
                left -= part.height();
                match &mut frame {
                    Some(frame) => frame.vstack_mut_owned(part).map(drop).map_err(self::frame(config))?,
                    none => *none = Some(part),
                }
            }
        }
        let Some(frame) = frame else { continue };
        let mut taken: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for (row, table) in step.iter().zip(of) {
            let place = u32::try_from(starts[table]).expect("a step has few rows");
            taken.entry(divided.splits[*row]).or_default().push(place);
            starts[table] += 1;
        }
        for (split, places) in taken {
            let part = frame.take(&IdxCa::from_vec("".into(), places)).map_err(self::frame(config))?;
            let (file, groups) = &mut files[split];
            if let Some(group) = groups.add(config, part)? {
                file.write(group)?;
            }
        }
    }
    let mut told = Vec::new();
    for ((mut file, groups), name) in files.into_iter().zip(&divided.names) {
        let (rest, rows) = groups.end(name);
        if let Some(rest) = rest {
            file.write(rest)?;
        }
        new.end(file)?;
        if rows.rows > 0 {
            told.push(rows);
        }
    }
    told.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(told)
}

/// Returns what `splits.json` tells, with another report of a config.
fn with_report(path: &Path, config: &str, report: &Report) -> Value {
    let old = fs::read_to_string(path).ok().and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let configs = old.and_then(|old| old.get("configs").and_then(Value::as_object).cloned()).unwrap_or_default();
    let mut configs: BTreeMap<String, Value> = configs.into_iter().collect();
    configs.insert(config.to_owned(), serde_json::to_value(report).expect("a report is JSON"));
    json!({"format": 1, "version": env!("CARGO_PKG_VERSION"), "configs": configs})
}

/// Puts the new counts and hashes into a run's manifest.
fn retell(
    path: &Path,
    mut manifest: Value,
    config: &str,
    splits: &[SplitRows],
    files: &BTreeMap<String, String>,
) -> Result<(), SplitError> {
    let rows: BTreeMap<&str, usize> = splits.iter().map(|split| (split.name.as_str(), split.rows)).collect();
    manifest["rows"][config] = json!(rows);
    manifest["files"] = json!(files);
    Ok(store::write_json(path, &manifest)?)
}
