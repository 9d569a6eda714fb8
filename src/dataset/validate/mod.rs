//! Validates a finished data set: files and hashes, columns, ids, references, balance, leaks between splits, private
//! values in public places, secrets, encoding damage. Reads each table once, row group by row group, and changes
//! nothing.

mod balance;
mod files;
mod findings;
mod privacy;
mod references;
mod row_group;
mod scan;
mod schema;
mod splits;
mod texts;
mod values;

pub use findings::Remedy;

pub(crate) use privacy::{is_recognizable, without_final_marks};

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use crate::config::Check;
use crate::dataset::error::DatasetError;
use crate::store::{Dataset, DatasetLocation, Table};
use findings::{Findings, Location};
use row_group::Group;
use scan::DatasetScan;

/// A problem in a data set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditFinding {
    /// The check that found it.
    pub check: Check,
    /// The file, relative to the data set; null if the finding concerns the whole data set.
    pub file: Option<String>,
    /// The row in the file, from 0.
    pub row: Option<usize>,
    /// The column, or a field within it, such as `messages[].content`.
    pub column: Option<String>,
    /// The row's id.
    pub id: Option<String>,
    /// The message.
    pub message: String,
    /// What to do about it.
    pub remedy: Remedy,
}

/// The result of validating a data set.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Audit {
    /// Number of rows, by config and split.
    pub rows: BTreeMap<String, BTreeMap<String, usize>>,
    /// Number of samples, by language, character type and dimension; dimensions without samples are included with 0.
    pub balance: BTreeMap<String, BTreeMap<String, BTreeMap<String, usize>>>,
    /// The findings, in the order of the checks, then of files and rows.
    pub findings: Vec<AuditFinding>,
    /// Number of further findings that are not listed, by check.
    pub more: BTreeMap<Check, usize>,
    /// Notes: what was not checked and why, and other remarks.
    pub notes: Vec<String>,
}

/// Configs in reading order: those that others refer to come first.
const ORDER: [&str; 8] =
    ["scenes", "characters", "roles", "conversations", "samples", "role_specific", "role_general", "rejected"];

/// Validates a data set.
pub fn audit(location: &DatasetLocation) -> Result<Audit, DatasetError> {
    let dataset = Dataset::open(&location.dataset)?;
    let mut findings = Findings::of(location.run.is_some());
    let manifest = location.run.as_deref().and_then(|run| manifest(run, &mut findings));
    let mut notes = Vec::new();
    files::check(&dataset, location.run.is_some(), manifest.as_ref(), &mut findings, &mut notes)?;
    let mut scan = DatasetScan::new(
        &dataset,
        location.run.as_deref(),
        manifest.as_ref(),
        split_configs(&dataset.path),
        findings,
        notes,
    );
    let mut tables: Vec<&Table> = dataset.tables.iter().collect();
    let rank = |config: &str| ORDER.iter().position(|known| *known == config).unwrap_or(ORDER.len());
    tables.sort_by_key(|table| (rank(&table.config), &table.config, &table.split));
    for of_config in tables.chunk_by(|one, other| one.config == other.config) {
        scan.config(of_config)?;
    }
    Ok(scan.finish())
}

/// Returns the manifest of a run, or `None` with a finding if it is missing or invalid.
fn manifest(run: &Path, findings: &mut Findings) -> Option<Value> {
    let message = match fs::read(run.join("manifest.json")) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => "the run's manifest is missing".to_owned(),
        Err(error) => format!("failed to read the run's manifest: {error}"),
        Ok(bytes) => match serde_json::from_slice::<Value>(&bytes) {
            Ok(manifest) if manifest.is_object() => return Some(manifest),
            Ok(_) => "the run's manifest is not a JSON object".to_owned(),
            Err(error) => format!("the run's manifest is not valid JSON: {error}"),
        },
    };
    findings.add(Location::of_file(Check::File, "../manifest.json"), &message, Remedy::Rebuild);
    None
}

/// Returns how each config was split, from `splits.json`.
fn split_configs(dataset: &Path) -> Value {
    let text = fs::read_to_string(dataset.join("splits.json")).unwrap_or_default();
    serde_json::from_str::<Value>(&text).map_or(Value::Null, |mut splits| splits["configs"].take())
}
