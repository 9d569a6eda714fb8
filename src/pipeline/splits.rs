//! The road of `split`: reads what a division needs of a data set, has it decided, and writes the data set anew. Holds of its rows
//! their ids and short texts, and a group for each split.

mod carried;
mod error;
mod files;
mod rows;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

pub use error::SplitError;

use crate::stages::export::{SplitRows, recard};
use crate::stages::split::{self, Params, Report};
use crate::store::{self, Dataset, DatasetPlace, NewDataset, Table};
use carried::Carried;
use rows::{merged, read};

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
}

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
    let (rows, tails) = read(config, &split.params, &tables)?;
    let threads = std::thread::available_parallelism().unwrap_or(std::num::NonZero::<usize>::MIN);
    let mut divided = split::divide(&rows, &split.params, threads);
    let order = merged(&rows, &tails);
    let chats: Vec<&Table> = dataset.of(carried::CONFIG).collect();
    let carried = match config {
        "samples" if !chats.is_empty() => Some(Carried::new(&chats, &rows, &divided, &split.params)?),
        _ => None,
    };
    divided.report.carried = carried.as_ref().map(|carried| carried.counts(&divided.names)).unwrap_or_default();
    drop(rows);
    if split.dry_run {
        return Ok(SplitDone { dataset: out.to_owned(), report: divided.report });
    }
    if split.out.is_none() {
        NewDataset::mend(&target)?;
    }
    let mut new = NewDataset::beside(&target, split.shard_bytes)?;
    let (splits, all) = (divided.splits.as_slice(), divided.names.as_slice());
    let told = files::write(config, &tables, &tails, &order, (splits, all), &mut new)?;
    let mut divisions = vec![(config, told, json!(divided.report), divided.report.section(config))];
    if let Some(carried) = carried {
        let told =
            files::write(carried::CONFIG, &chats, &carried.tails, &carried.order, (&carried.splits, all), &mut new)?;
        divisions.push((carried::CONFIG, told, carried.report(&divided.report), carried.section()));
    }
    let of_division = |table: &&Table| divisions.iter().any(|(config, ..)| *config == table.config);
    let replaced: BTreeSet<String> = dataset
        .tables
        .iter()
        .filter(of_division)
        .flat_map(|table| &table.files)
        .map(|file| dataset.relative(file))
        .collect();
    for name in names.iter().filter(|name| *name != CARD && *name != SPLITS && !replaced.contains(*name)) {
        new.add(&dataset.path, name)?;
    }
    new.add_json(SPLITS, &with_reports(&dataset.path.join(SPLITS), &divisions))?;
    let card = divisions.iter().fold(store::read_card(&dataset.path)?, |card, (config, told, _, section)| {
        recard(&card, config, told, section)
    });
    let files = new.finish(&card)?;
    if let (Some(run), None, Some(manifest)) = (&split.place.run, &split.out, manifest) {
        retell(&run.join("manifest.json"), manifest, &divisions, &files)?;
    }
    Ok(SplitDone { dataset: out.to_owned(), report: divided.report })
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

/// A config that was divided: the rows of its splits, what `splits.json` tells of it, and what the card does.
type Division = (&'static str, Vec<SplitRows>, Value, String);

/// Returns what `splits.json` tells, with other reports of some configs.
fn with_reports(path: &Path, divisions: &[Division]) -> Value {
    let old = fs::read_to_string(path).ok().and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let configs = old.and_then(|old| old.get("configs").and_then(Value::as_object).cloned()).unwrap_or_default();
    let mut configs: BTreeMap<String, Value> = configs.into_iter().collect();
    configs.extend(divisions.iter().map(|(config, _, report, _)| ((*config).to_owned(), report.clone())));
    json!({"format": 1, "version": env!("CARGO_PKG_VERSION"), "configs": configs})
}

/// Puts the new counts and hashes into a run's manifest.
fn retell(
    path: &Path,
    mut manifest: Value,
    divisions: &[Division],
    files: &BTreeMap<String, String>,
) -> Result<(), SplitError> {
    for (config, told, ..) in divisions {
        let rows: BTreeMap<&str, usize> = told.iter().map(|split| (split.name.as_str(), split.rows)).collect();
        manifest["rows"][*config] = json!(rows);
    }
    manifest["files"] = json!(files);
    Ok(store::write_json(path, &manifest)?)
}
