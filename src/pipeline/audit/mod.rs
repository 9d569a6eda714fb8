//! Checks a data set that is there: files and hashes, columns, ids, references, balance, leaks across splits, private values in
//! public places, secrets, damaged text. Reads each table once, group by group, and changes nothing.

mod card;
mod carried;
mod files;
mod leaks;
mod places;
mod privacy;
mod references;
mod schema;
mod texts;

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

use polars::prelude::DataFrame;
use serde::Serialize;
use serde_json::Value;

use super::RunError;
use crate::cells::Cells;
use crate::store::{self, Dataset, DatasetPlace, Table};
use carried::Carried;
use leaks::Leaks;
use places::{Findings, Spot};
use privacy::Privacy;
use references::References;

/// Something wrong in a data set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditFinding {
    /// What was checked: `file`, `hash`, `schema`, `card`, `id`, `reference`, `balance`, `leak`, `private`, `secret` or `text`.
    pub check: &'static str,
    /// The file below the data set; null where it is about the whole.
    pub file: Option<String>,
    /// The row in the file, from 0.
    pub row: Option<usize>,
    /// The column, or the field within, such as `messages[].content`.
    pub column: Option<String>,
    /// The row's id.
    pub id: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub remedy: &'static str,
}

/// What a check of a data set found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Audit {
    /// How many rows there are, by config and split.
    pub rows: BTreeMap<String, BTreeMap<String, usize>>,
    /// How many samples there are, by language and dimension.
    pub balance: BTreeMap<String, BTreeMap<String, usize>>,
    /// What is wrong, in the order of the checks, then of files and rows.
    pub findings: Vec<AuditFinding>,
    /// How much more is wrong and not told, by check.
    pub more: BTreeMap<&'static str, usize>,
    /// What was not checked, and why; and what is worth knowing.
    pub notes: Vec<String>,
}

/// Configs whose rows others refer to come first.
const ORDER: [&str; 8] =
    ["scenes", "characters", "roles", "conversations", "samples", "role_specific", "role_general", "rejected"];

/// Checks a data set.
pub fn audit(place: &DatasetPlace) -> Result<Audit, RunError> {
    let dataset = Dataset::open(&place.dataset)?;
    let mut audit = Audit::default();
    let mut findings = Findings::default();
    let manifest = place.run.as_deref().and_then(|run| manifest(run, &mut findings));
    files::check(&dataset, manifest.as_ref(), &mut findings, &mut audit.notes)?;
    let divided = divided(&dataset.path);
    let mut walk = Walk {
        dataset: &dataset,
        ids: HashSet::new(),
        references: References::default(),
        privacy: Privacy::default(),
        carried: Carried::default(),
        manifest: manifest.as_ref(),
        divided,
    };
    let mut tables: Vec<&Table> = dataset.tables.iter().collect();
    let rank = |config: &str| ORDER.iter().position(|known| *known == config).unwrap_or(ORDER.len());
    tables.sort_by_key(|table| (rank(&table.config), &table.config, &table.split));
    for of_config in tables.chunk_by(|one, other| one.config == other.config) {
        walk.config(of_config, &mut audit, &mut findings)?;
    }
    walk.references.check(&mut findings, &mut audit.notes);
    walk.carried.check(&mut findings, &mut audit.notes);
    card::check(&dataset.path, &audit.rows, &mut findings);
    balance(&audit.balance, &mut findings, &mut audit.notes);
    if audit.rows.is_empty() {
        audit.notes.push("the data set has no rows".to_owned());
    }
    (audit.findings, audit.more) = findings.end();
    Ok(audit)
}

/// Returns the manifest of a run; none where it has none, which is told where it should.
fn manifest(run: &Path, findings: &mut Findings) -> Option<Value> {
    let text = fs::read_to_string(run.join("manifest.json"));
    let manifest = text.ok().and_then(|text| serde_json::from_str(&text).ok());
    if manifest.is_none() {
        findings.add(Spot::of("file", "../manifest.json"), "the run's manifest is missing or no JSON", files::AGAIN);
    }
    manifest
}

/// Returns how each config was divided, by `splits.json`.
fn divided(dataset: &Path) -> Value {
    let text = fs::read_to_string(dataset.join("splits.json")).unwrap_or_default();
    serde_json::from_str::<Value>(&text).map_or(Value::Null, |mut splits| splits["configs"].take())
}

/// What is kept from table to table.
struct Walk<'a> {
    dataset: &'a Dataset,
    ids: HashSet<String>,
    references: References,
    privacy: Privacy,
    carried: Carried,
    manifest: Option<&'a Value>,
    divided: Value,
}

impl Walk<'_> {
    /// Reads the tables of a config.
    fn config(&mut self, tables: &[&Table], audit: &mut Audit, findings: &mut Findings) -> Result<(), RunError> {
        let config = tables[0].config.as_str();
        let Some(expected) = crate::stages::export::expected(config)? else {
            audit.notes.push(format!("`{config}` is no config that this version knows; only its texts were checked"));
            return self.unknown(tables, findings);
        };
        self.ids.clear();
        let mut leaks = Leaks::new(config, tables, self.manifest, &self.divided);
        let mut is_whole = true;
        for table in tables {
            for path in &table.files {
                let file = self.dataset.relative(path);
                let (height, has_ids) =
                    self.file(path, config, &file, &expected, &mut leaks, &table.split, audit, findings)?;
                is_whole &= has_ids;
                let rows = audit.rows.entry(config.to_owned()).or_default().entry(table.split.clone()).or_default();
                *rows += height;
            }
        }
        if is_whole {
            self.references.whole(config);
        }
        leaks.check(findings, &mut audit.notes);
        Ok(())
    }

    /// Reads one file and returns how many rows could be read, and whether these are all and have ids. Each check asks for the
    /// columns that it needs: one that is missing or of another type silences no check of the others.
    #[expect(clippy::too_many_arguments, reason = "each is a part of what a file is checked for")]
    fn file(
        &mut self,
        path: &Path,
        config: &str,
        file: &str,
        expected: &DataFrame,
        leaks: &mut Leaks,
        split: &str,
        audit: &mut Audit,
        findings: &mut Findings,
    ) -> Result<(usize, bool), RunError> {
        let mut height = 0;
        let mut has_ids = true;
        let groups = match store::groups(path, None) {
            Ok(groups) => groups,
            Err(error) => {
                files::unreadable(file, &error, findings);
                return Ok((0, false));
            }
        };
        for group in groups {
            let (first, frame) = match group {
                Ok(group) => group,
                Err(error) => {
                    files::unreadable(file, &error, findings);
                    return Ok((height, false));
                }
            };
            if first == 0 {
                schema::check(file, expected, &frame, findings);
            }
            height += frame.height();
            let group = Group::new(config, file, split, first, &frame)?;
            texts::check(&group, findings);
            has_ids &= group.texts("id").or_else(|| group.texts("role_id")).is_some();
            self.check_ids(&group, findings);
            self.references.add(&group);
            self.privacy.check(&group, findings);
            self.carried.add(&group);
            leaks.add(&group, &frame)?;
            if config == "samples" {
                count(&group, &mut audit.balance);
            }
        }
        Ok((height, has_ids))
    }

    /// Reads tables of which nothing but their texts is known.
    fn unknown(&self, tables: &[&Table], findings: &mut Findings) -> Result<(), RunError> {
        for path in tables.iter().flat_map(|table| &table.files) {
            let file = self.dataset.relative(path);
            let read = store::groups(path, None).and_then(Iterator::collect::<Result<Vec<_>, _>>);
            match read {
                Ok(groups) => {
                    for (first, frame) in groups {
                        texts::check(&Group::new("", &file, "", first, &frame)?, findings);
                    }
                }
                Err(error) => files::unreadable(&file, &error, findings),
            }
        }
        Ok(())
    }

    fn check_ids(&mut self, group: &Group<'_>, findings: &mut Findings) {
        let Some(ids) = group.texts("id").or_else(|| group.texts("role_id")) else { return };
        // Of one thing several stages may tell; a reject's id is no key.
        if group.config == "rejected" {
            return;
        }
        for row in 0..group.height {
            let spot = || group.spot("id", row, "id");
            match ids.text(row) {
                None | Some("") => findings.add(spot(), "the row has no id", "give it one, or leave the row out"),
                Some(id) if !self.ids.insert(id.to_owned()) => {
                    let message = format!("another row of `{}` has the id `{id}` too", group.config);
                    findings.add(spot(), &message, "leave one of them out: an id names one row, whatever its split");
                }
                Some(_) => {}
            }
        }
    }
}

/// Rows that are looked at together: their columns, and where they stand.
pub(super) struct Group<'a> {
    config: &'a str,
    file: &'a str,
    split: &'a str,
    /// The number of the first row in the file.
    first: usize,
    height: usize,
    columns: Vec<(String, Cells)>,
}

impl<'a> Group<'a> {
    fn new(config: &'a str, file: &'a str, split: &'a str, first: usize, frame: &DataFrame) -> Result<Self, RunError> {
        let columns = frame.columns().iter();
        let columns = columns.map(|column| Ok((column.name().to_string(), Cells::new(column)?)));
        let columns: Result<Vec<_>, polars::error::PolarsError> = columns.collect();
        let path = || file.into();
        let columns = columns.map_err(|source| store::StoreError::Rows { path: path(), source })?;
        Ok(Self { config, file, split, first, height: frame.height(), columns })
    }

    fn cells(&self, column: &str) -> Option<&Cells> {
        self.columns.iter().find(|(name, _)| name == column).map(|(_, cells)| cells)
    }

    /// Returns a column that holds strings.
    fn texts(&self, column: &str) -> Option<&Cells> {
        self.cells(column).filter(|cells| matches!(cells, Cells::Text(_)))
    }

    fn text(&self, column: &str, row: usize) -> Option<&str> {
        self.cells(column).and_then(|cells| cells.text(row))
    }

    /// Returns the place of a row's column.
    fn spot(&self, check: &'static str, row: usize, column: &str) -> Spot {
        Spot {
            check,
            file: Some(self.file.to_owned()),
            row: Some(self.first + row),
            column: Some(column.to_owned()),
            id: self.text("id", row).map(str::to_owned),
        }
    }
}

fn count(group: &Group<'_>, balance: &mut BTreeMap<String, BTreeMap<String, usize>>) {
    if group.texts("language").is_none() || group.texts("dimension").is_none() {
        return;
    }
    for row in 0..group.height {
        let of = |column| group.text(column, row).unwrap_or("-").to_owned();
        *balance.entry(of("language")).or_default().entry(of("dimension")).or_default() += 1;
    }
}

/// So many samples of a language make an uneven share more than chance.
const ENOUGH: usize = 200;

/// Tells dimensions that a language lacks, or has much less of than an even share.
fn balance(counts: &BTreeMap<String, BTreeMap<String, usize>>, findings: &mut Findings, notes: &mut Vec<String>) {
    let dimensions: std::collections::BTreeSet<&String> = counts.values().flat_map(BTreeMap::keys).collect();
    for (language, of_language) in counts {
        let all: usize = of_language.values().sum();
        for dimension in &dimensions {
            let count = of_language.get(*dimension).copied().unwrap_or(0);
            // Less than a quarter of an even share.
            if count * dimensions.len() * 4 >= all {
                continue;
            }
            let message = format!("of {all} samples in `{language}` {count} are of the dimension `{dimension}`");
            if all >= ENOUGH {
                let remedy = "raise `simulate.tau` or `simulate.emphasis` and build again, or weigh dimensions when scores are summed";
                findings.add(Spot::whole("balance"), &message, remedy);
            } else {
                notes.push(message);
            }
        }
    }
}
