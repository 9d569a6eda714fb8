//! Splits a config of a data set: reads the ids and relations of rows, decides the split of each, and writes the data
//! set anew. Keeps in memory only ids, short texts and one row group per split.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use polars::prelude::DataFrame;
use serde_json::{Value, json};

use crate::dataset::card_update::{ConfigSplits, update_card};
use crate::dataset::split::conversations::{CONFIG as CONVERSATIONS, ConversationSplits};
use crate::dataset::split::rows::SPLITTABLE_CONFIGS;
use crate::dataset::split::rows::input::{merged, read};
use crate::dataset::split::rows::output;
use crate::dataset::split::{Params, Report, SplitError, assign_splits};
use crate::stages::export::{SplitRows, report_has_splits, update_report};
use crate::store::{self, Dataset, DatasetLocation, NewDataset, RowReader, Table};

/// Options of a split.
#[derive(Debug, Clone)]
pub struct SplitOptions {
    /// The data set.
    pub location: DatasetLocation,
    /// The config to split.
    pub config: String,
    /// The parameters.
    pub params: Params,
    /// Folder of the new data set. If unset, the old one is replaced.
    pub out: Option<PathBuf>,
    /// Maximum file size in bytes.
    pub shard_bytes: u64,
    /// Whether to only decide and write nothing.
    pub dry_run: bool,
}

/// The result of a split.
#[derive(Debug)]
pub struct SplitOutcome {
    /// The folder of the data set.
    pub dataset: PathBuf,
    /// Report of the decisions.
    pub report: Report,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// Splits a config of a data set.
///
/// The data set is written to a temporary folder beside the old one and replaces it atomically; the run's manifest is
/// updated. The same data set and parameters give the same bytes, whatever splits the config had before.
pub fn split_dataset(options: &SplitOptions) -> Result<SplitOutcome, SplitError> {
    let _lock = match (&options.location.run, &options.out) {
        (Some(run), None) if !options.dry_run => Some(store::lock(run)?),
        _ => None,
    };
    let out = options.out.as_deref().unwrap_or(&options.location.dataset);
    // A path such as `.` has no parent and name, which the temporary folder needs.
    let (target, source) = (absolute(out), absolute(&options.location.dataset));
    if options.out.is_some() && target != source && target.starts_with(&source) {
        return Err(SplitError::Within { path: out.to_owned() });
    }
    let is_taken = |out: &&PathBuf| fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_some());
    if let Some(out) = options.out.as_ref().filter(is_taken) {
        return Err(SplitError::FolderNotEmpty { path: out.clone() });
    }
    let dataset = Dataset::open(&options.location.dataset)?;
    let tables: Vec<&Table> = dataset.of(&options.config).collect();
    let config = SPLITTABLE_CONFIGS.into_iter().find(|config| *config == options.config && !tables.is_empty());
    let Some(config) = config else {
        let mut has: Vec<String> = dataset.tables.iter().map(|table| table.config.clone()).collect();
        has.retain(|config| SPLITTABLE_CONFIGS.contains(&config.as_str()));
        has.dedup();
        return Err(SplitError::NoConfig {
            path: options.location.dataset.clone(),
            config: options.config.clone(),
            has,
        });
    };
    let names = dataset.files()?;
    let manifest = match &options.location.run {
        Some(run) => manifest(&run.join("manifest.json"))?,
        None => None,
    };
    if let Some(manifest) = &manifest {
        check_unaltered(&dataset, &names, manifest)?;
    }
    let chats: Vec<&Table> = dataset.of(CONVERSATIONS).filter(|_| config == "samples").collect();
    let card = store::read_card(&dataset.path)?;
    let card_fault = |source| SplitError::Card { path: dataset.path.join(CARD), source };
    let configs: Vec<&str> = std::iter::once(config).chain((!chats.is_empty()).then_some(CONVERSATIONS)).collect();
    let others = files_of_others(&dataset, &configs);
    // Checked before the long work: an unsupported data card prevents any writing.
    for config in &configs {
        let blank = ConfigSplits { config, splits: &[], section: "", columns: None, others: &others };
        update_card(&card, &blank).map_err(card_fault)?;
    }
    let mut notes = Vec::new();
    if !chats.is_empty()
        && reports(&dataset.path.join(SPLITS)).get(CONVERSATIONS).is_some_and(|old| old["with"] != "samples")
    {
        notes.push(
            "`conversations` had its own split and now follows its samples; `--config conversations` splits it separately again"
                .to_owned(),
        );
    }
    let (rows, tails) = read(config, &options.params, &tables)?;
    let threads = std::thread::available_parallelism().unwrap_or(std::num::NonZero::<usize>::MIN);
    let mut divided = assign_splits(&rows, &options.params, threads);
    let order = merged(&rows, &tails);
    let carried = match chats.as_slice() {
        [] => None,
        chats => Some(ConversationSplits::new(chats, &rows, &divided, &options.params)?),
    };
    divided.report.carried = carried.as_ref().map(|carried| carried.counts(&divided.names)).unwrap_or_default();
    drop(rows);
    if options.dry_run {
        return Ok(SplitOutcome { dataset: out.to_owned(), report: divided.report, notes });
    }
    if options.out.is_none() {
        NewDataset::repair(&target)?;
    }
    let mut new = NewDataset::beside(&target, options.shard_bytes)?;
    let (splits, all) = (divided.splits.as_slice(), divided.names.as_slice());
    let rows = output::write(config, &tables, &tails, &order, (splits, all), &mut new)?;
    let mut divisions = vec![SplitConfig::new(&tables, rows, json!(divided.report), divided.report.section(config))?];
    if let Some(carried) = carried {
        let rows =
            output::write(CONVERSATIONS, &chats, &carried.tails, &carried.order, (&carried.splits, all), &mut new)?;
        divisions.push(SplitConfig::new(&chats, rows, carried.report(&divided.report), carried.section())?);
    }
    let of_division = |table: &&Table| divisions.iter().any(|config_splits| config_splits.config == table.config);
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
    let mut updates = divisions.iter().map(|config_splits| config_splits.on_card(&others));
    let card = updates.try_fold(card, |card, update| update_card(&card, &update)).map_err(card_fault)?;
    let mut files = new.finish(&card)?;
    // A report may be in the data set's own folder, or in the run's folder above it.
    let within = target.join(REPORT);
    let above = target.parent().filter(|_| options.out.is_none() && target.ends_with("dataset"));
    let aside = update_report_file(&within, &divisions)?;
    for path in [Some(&within), aside.as_ref()].into_iter().flatten() {
        let name = path.file_name().expect("the path ends with a file name").to_string_lossy().into_owned();
        if path.is_file() {
            files.insert(name, store::hash_of(path)?);
        } else {
            files.remove(&name);
        }
    }
    notes.extend(aside.map(|aside| renamed_note(&within, &aside)));
    if let Some(path) = above.map(|run| run.join(REPORT)) {
        notes.extend(update_report_file(&path, &divisions)?.map(|aside| renamed_note(&path, &aside)));
    }
    if let (Some(run), None, Some(manifest)) = (&options.location.run, &options.out, manifest) {
        update_manifest(&run.join("manifest.json"), manifest, &divisions, &files)?;
    }
    Ok(SplitOutcome { dataset: out.to_owned(), report: divided.report, notes })
}

/// A config that was split.
struct SplitConfig {
    config: String,
    /// Row counts of its splits.
    rows: Vec<SplitRows>,
    /// Its entry in `splits.json`.
    report: Value,
    /// Its section on the data card and in the report.
    section: String,
    /// At most one row, with all columns.
    columns: Option<DataFrame>,
}

impl SplitConfig {
    fn new(tables: &[&Table], rows: Vec<SplitRows>, report: Value, section: String) -> Result<Self, SplitError> {
        let columns = RowReader::new(tables[0]).next(1)?;
        Ok(Self { config: tables[0].config.clone(), rows, report, section, columns })
    }

    fn on_card<'a>(&'a self, others: &'a BTreeMap<String, BTreeMap<String, Vec<String>>>) -> ConfigSplits<'a> {
        let Self { config, rows, section, columns, .. } = self;
        ConfigSplits { config, splits: rows, section, columns: columns.as_ref(), others }
    }
}

/// Returns the files of the other configs, by config and split.
fn files_of_others(dataset: &Dataset, divided: &[&str]) -> BTreeMap<String, BTreeMap<String, Vec<String>>> {
    let mut others: BTreeMap<String, BTreeMap<String, Vec<String>>> = BTreeMap::new();
    for table in dataset.tables.iter().filter(|table| !divided.contains(&table.config.as_str())) {
        let files = others.entry(table.config.clone()).or_default().entry(table.split.clone()).or_default();
        files.extend(table.files.iter().map(|file| dataset.relative(file)));
    }
    others
}

/// The report of a run.
const REPORT: &str = "report.html";

/// Updates the splits in a report. If the report lists the old splits and cannot be updated, it is renamed and its new
/// path is returned.
fn update_report_file(path: &Path, divisions: &[SplitConfig]) -> Result<Option<PathBuf>, SplitError> {
    let Ok(html) = fs::read_to_string(path) else { return Ok(None) };
    let new = divisions.iter().try_fold(html.clone(), |html, SplitConfig { config, rows, section, .. }| {
        update_report(&html, config, rows, section).ok().flatten()
    });
    if let Some(new) = new {
        store::write_text(path, &new)?;
        return Ok(None);
    }
    // A custom page, or a report from a version without splits, needs no update.
    if !report_has_splits(&html) {
        return Ok(None);
    }
    // An earlier renamed report is kept too.
    let names = std::iter::once("report.old.html".to_owned()).chain((2..).map(|n: u32| format!("report.old.{n}.html")));
    let aside = names.map(|name| path.with_file_name(name)).find(|aside| fs::symlink_metadata(aside).is_err());
    let aside = aside.expect("some name is unused");
    store::rename(path, &aside)?;
    Ok(Some(aside))
}

fn renamed_note(from: &Path, to: &Path) -> String {
    let (from, to) = (from.display(), to.display());
    format!(
        "`{from}` was edited by hand and lists other splits; it was renamed to `{to}`, and `dramaturg build --replay` writes a new one"
    )
}

/// The file beside the data card that records how each config was split.
pub(crate) const SPLITS: &str = "splits.json";

/// The data card. Hand-written parts are preserved.
const CARD: &str = "README.md";

/// Returns an absolute path, even if its last components do not exist yet.
fn absolute(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for above in path.ancestors() {
        if let Ok(there) = above.canonicalize() {
            let rest = path.strip_prefix(above).expect("`above` is an ancestor of `path`");
            // Joining an empty path would append a slash.
            return if rest.as_os_str().is_empty() { there } else { there.join(rest) };
        }
    }
    path
}

/// Reads the manifest of a run, or `None` if it has none.
fn manifest(path: &Path) -> Result<Option<Value>, SplitError> {
    let Ok(text) = fs::read_to_string(path) else { return Ok(None) };
    let manifest = serde_json::from_str::<Value>(&text).and_then(|manifest| {
        if manifest.is_object() { Ok(manifest) } else { Err(serde::de::Error::custom("it is not a JSON object")) }
    });
    manifest.map(Some).map_err(|source| SplitError::Manifest { path: path.to_owned(), source })
}

/// Compares the files with the run's manifest. The split rehashes all files, so that later changes made by hand would
/// pass as the run's own.
fn check_unaltered(dataset: &Dataset, names: &[String], manifest: &Value) -> Result<(), SplitError> {
    let Some(written) = manifest["files"].as_object() else { return Ok(()) };
    let lost = written.keys().find(|file| file.ends_with(".parquet") && !names.contains(file));
    if let Some(file) = lost {
        return Err(SplitError::Altered { file: file.clone() });
    }
    for file in names.iter().filter(|file| *file != CARD) {
        let is_altered = match written.get(file) {
            Some(hash) => Some(store::hash_of(&dataset.path.join(file))?.as_str()) != hash.as_str(),
            // Other files beside the tables may be anything; a table must be listed in the manifest.
            None => dataset.tables.iter().flat_map(|table| &table.files).any(|path| dataset.relative(path) == *file),
        };
        if is_altered {
            return Err(SplitError::Altered { file: file.clone() });
        }
    }
    Ok(())
}

/// Returns the entries of `splits.json` by config; empty if the file is missing or invalid.
fn reports(path: &Path) -> BTreeMap<String, Value> {
    let old = fs::read_to_string(path).ok().and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let configs = old.and_then(|old| old.get("configs").and_then(Value::as_object).cloned()).unwrap_or_default();
    configs.into_iter().collect()
}

/// Returns the contents of `splits.json`, with the entries of some configs replaced.
fn with_reports(path: &Path, divisions: &[SplitConfig]) -> Value {
    let mut configs = reports(path);
    configs.extend(divisions.iter().map(|config_splits| (config_splits.config.clone(), config_splits.report.clone())));
    json!({"format": 1, "version": env!("CARGO_PKG_VERSION"), "configs": configs})
}

/// Writes the new counts and hashes to a run's manifest.
fn update_manifest(
    path: &Path,
    mut manifest: Value,
    divisions: &[SplitConfig],
    files: &BTreeMap<String, String>,
) -> Result<(), SplitError> {
    for SplitConfig { config, rows, .. } in divisions {
        let rows: BTreeMap<&str, usize> = rows.iter().map(|split| (split.name.as_str(), split.rows)).collect();
        manifest["rows"][config.as_str()] = json!(rows);
    }
    manifest["files"] = json!(files);
    Ok(store::write_json(path, &manifest)?)
}
