//! Compares two runs by their manifests and data sets; needs no books, models or journals.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use super::rejects_diff::{RejectChanges, reject_counts};
use crate::dataset::error::DatasetError;
use crate::store::{self, Digests, StoreError};

/// The configs to compare, each with its id column.
const CONFIGS: [(&str, &str); 7] = [
    ("samples", "id"),
    ("conversations", "id"),
    ("scenes", "id"),
    ("characters", "id"),
    ("roles", "role_id"),
    ("role_specific", "id"),
    ("role_general", "id"),
];

/// The differences between two runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Changes {
    /// The folder of the first run.
    pub before: PathBuf,
    /// The folder of the second run.
    pub after: PathBuf,
    /// Keys of the configuration.
    pub configuration: Vec<Change>,
    /// Other inputs of a data set, by name: the program's version, hashes of the pool, dimensions, roles and vetoes.
    pub inputs: Vec<Change>,
    /// Hashes of books and scripts, by slug or path.
    pub books: Vec<Change>,
    /// Hashes of prompt templates, by name.
    pub prompts: Vec<Change>,
    /// Models, by their part.
    pub models: Vec<Change>,
    /// Rows, by config and split.
    pub rows: Vec<CountChange>,
    /// Samples, by language and dimension.
    pub balance: Vec<CountChange>,
    /// Number of rejected items, by stage and reason.
    pub rejected: Vec<CountChange>,
    /// Ids that only one of the runs rejected, by stage and reason; reasons without a difference are omitted.
    pub left_out: BTreeMap<String, RejectChanges>,
    /// Calls, requests and tokens.
    pub calls: Vec<CountChange>,
    /// USD of the first and second run; null if a price is unknown.
    pub usd: (Option<f64>, Option<f64>),
    /// Rows by config; configs without a difference are omitted.
    pub tables: BTreeMap<String, RowChanges>,
}

/// A value that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Its name.
    pub name: String,
    /// The value in the first run; null if missing.
    pub before: Option<String>,
    /// The value in the second run; null if missing.
    pub after: Option<String>,
}

/// A count that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CountChange {
    /// What is counted.
    pub name: String,
    /// The count in the first run.
    pub before: u64,
    /// The count in the second run.
    pub after: u64,
}

/// How the rows of a config differ.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RowChanges {
    /// Number of identical rows.
    pub same: u64,
    /// Ids of rows only in the second run.
    pub added: Vec<String>,
    /// Ids of rows only in the first run.
    pub removed: Vec<String>,
    /// Ids of rows in both runs that differ, with the differing columns; `split` if the row is in another split.
    pub changed: BTreeMap<String, Vec<String>>,
    /// Number of differing rows, by column.
    pub columns: BTreeMap<String, u64>,
}

/// Compares two runs by their folders.
pub fn changes(before: &Path, after: &Path) -> Result<Changes, DatasetError> {
    let (one, other) = (manifest(before)?, manifest(after)?);
    let texts = |pointer: &str| changed(&strings(one.pointer(pointer)), &strings(other.pointer(pointer)));
    let counts = |pointer: &str| count_changes(&numbers(one.pointer(pointer)), &numbers(other.pointer(pointer)));
    let inputs = |manifest: &Value| -> BTreeMap<String, String> {
        let names = ["version", "seed", "limit", "dimensions", "pool", "roles", "vetoes"];
        names.into_iter().filter_map(|name| Some((name.to_owned(), as_text(manifest.get(name)?)?))).collect()
    };
    let calls = |manifest: &Value| -> BTreeMap<String, u64> {
        let entries = [
            ("calls", "/calls"),
            ("requests", "/requests"),
            ("re-asks", "/reasks"),
            ("prompt tokens", "/tokens/prompt"),
            ("completion tokens", "/tokens/completion"),
        ];
        let count = |pointer| manifest.pointer(pointer).and_then(Value::as_u64).unwrap_or_default();
        entries.into_iter().map(|(name, pointer)| (name.to_owned(), count(pointer))).collect()
    };
    let books = |manifest: &Value| {
        let mut books = listed(manifest, "books", "slug", |book| as_text(&book["blake3"]));
        books.extend(strings(manifest.get("scripts")));
        books
    };
    let models = |manifest: &Value| {
        let parts = manifest["cast"].as_array().into_iter().flatten();
        let mut models: BTreeMap<String, String> = BTreeMap::new();
        for part in parts {
            let text = format!(
                "{} ({})",
                as_text(&part["model"]).unwrap_or_default(),
                as_text(&part["id"]).unwrap_or_default()
            );
            let model = models.entry(as_text(&part["part"]).unwrap_or_default()).or_default();
            model.push_str(if model.is_empty() { "" } else { ", " });
            model.push_str(&text);
        }
        models
    };
    let (mut tables, mut balance) = (BTreeMap::new(), Vec::new());
    for (config, key) in CONFIGS {
        let columns: &[&str] = if config == "samples" { &["language", "dimension"] } else { &[] };
        let rows = |run: &Path| store::digests(&run.join("dataset"), config, key, columns);
        let (one, other) = (rows(before)?, rows(after)?);
        if config == "samples" {
            balance = count_changes(&balance_of(&one), &balance_of(&other));
        }
        let changes = RowChanges::between(&one, &other);
        if changes.differ() {
            tables.insert(config.to_owned(), changes);
        }
    }
    Ok(Changes {
        before: before.to_owned(),
        after: after.to_owned(),
        configuration: changed(&configuration(&one), &configuration(&other)),
        inputs: changed(&inputs(&one), &inputs(&other)),
        books: changed(&books(&one), &books(&other)),
        prompts: texts("/prompts"),
        models: changed(&models(&one), &models(&other)),
        rows: counts("/rows"),
        balance,
        rejected: counts("/rejected"),
        left_out: RejectChanges::between(&reject_counts(before)?, &reject_counts(after)?),
        calls: count_changes(&calls(&one), &calls(&other)),
        usd: (one["usd"].as_f64(), other["usd"].as_f64()),
        tables,
    })
}

impl Changes {
    /// Returns whether nothing differs except the names of the runs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self { configuration, inputs, books, prompts, models, .. } = self;
        let Self { rows, balance, rejected, left_out, calls, tables, usd, .. } = self;
        [configuration, inputs, books, prompts, models].iter().all(|changes| changes.is_empty())
            && [rows, balance, rejected, calls].iter().all(|counts| counts.is_empty())
            && tables.is_empty()
            && left_out.is_empty()
            && usd.0 == usd.1
    }
}

impl RowChanges {
    fn between(one: &Digests, other: &Digests) -> Self {
        let mut changes = Self::default();
        let names: BTreeSet<&String> = one.columns.iter().chain(&other.columns).collect();
        let column_index = |digests: &Digests, name: &String| digests.columns.iter().position(|column| column == name);
        // A column that only one run has differs in every row.
        let entries: Vec<_> =
            names.into_iter().map(|name| (name, column_index(one, name), column_index(other, name))).collect();
        for (id, row) in &one.rows {
            let Some(now) = other.rows.get(id) else {
                changes.removed.push(id.clone());
                continue;
            };
            let differs = |(_, before, after): &&(&String, Option<usize>, Option<usize>)| {
                before.map(|at| row.columns[at]) != after.map(|at| now.columns[at])
            };
            let mut columns: Vec<String> = entries.iter().filter(differs).map(|(name, ..)| (*name).clone()).collect();
            if row.split != now.split {
                columns.push("split".to_owned());
            }
            if columns.is_empty() {
                changes.same += 1;
                continue;
            }
            for column in &columns {
                *changes.columns.entry(column.clone()).or_default() += 1;
            }
            changes.changed.insert(id.clone(), columns);
        }
        changes.added = other.rows.keys().filter(|id| !one.rows.contains_key(*id)).cloned().collect();
        changes
    }

    fn differ(&self) -> bool {
        !self.added.is_empty() || !self.removed.is_empty() || !self.changed.is_empty()
    }
}

/// Reads the manifest of a run.
pub(crate) fn manifest(run: &Path) -> Result<Value, StoreError> {
    let path = run.join("manifest.json");
    let bytes = std::fs::read(&path).map_err(|source| StoreError::Io { tried: "read", path: path.clone(), source })?;
    serde_json::from_slice(&bytes).map_err(|source| StoreError::InvalidJson { path, source })
}

/// Returns all keys of a run's configuration, dotted, with their values as TOML. The run's name is not compared.
fn configuration(manifest: &Value) -> BTreeMap<String, String> {
    fn add_keys(key: &str, value: &toml::Value, keys: &mut BTreeMap<String, String>) {
        match value {
            toml::Value::Table(table) if !table.is_empty() => {
                for (name, value) in table {
                    let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                    add_keys(&key, value, keys);
                }
            }
            value => drop(keys.insert(key.to_owned(), value.to_string())),
        }
    }
    let text = manifest["configuration"].as_str().unwrap_or_default();
    let mut keys = BTreeMap::new();
    if let Ok(table) = toml::from_str::<toml::Table>(text) {
        add_keys("", &toml::Value::Table(table), &mut keys);
    }
    keys.remove("name");
    keys
}

fn balance_of(samples: &Digests) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for row in samples.rows.values() {
        *counts.entry(row.texts.join(" ")).or_default() += 1;
    }
    counts
}

/// Returns the entries of an object as texts.
fn strings(value: Option<&Value>) -> BTreeMap<String, String> {
    let object = value.and_then(Value::as_object).into_iter().flatten();
    object.filter_map(|(name, value)| Some((name.clone(), as_text(value)?))).collect()
}

/// Returns the counts of a nested object, by both keys.
fn numbers(value: Option<&Value>) -> BTreeMap<String, u64> {
    let outer = value.and_then(Value::as_object).into_iter().flatten();
    let inner = |(outer, value): (&String, &Value)| -> Vec<(String, u64)> {
        let object = value.as_object().into_iter().flatten();
        object.filter_map(|(name, count)| Some((format!("{outer} {name}"), count.as_u64()?))).collect()
    };
    outer.flat_map(inner).collect()
}

/// Returns a property of each entry of a list, by name.
fn listed(manifest: &Value, list: &str, name: &str, of: impl Fn(&Value) -> Option<String>) -> BTreeMap<String, String> {
    let entries = manifest[list].as_array().into_iter().flatten();
    entries.filter_map(|entry| Some((as_text(&entry[name])?, of(entry)?))).collect()
}

/// Returns a value as text, or `None` for null.
fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

fn changed(one: &BTreeMap<String, String>, other: &BTreeMap<String, String>) -> Vec<Change> {
    let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let change =
        |name: &String| Change { name: name.clone(), before: one.get(name).cloned(), after: other.get(name).cloned() };
    names.into_iter().map(change).filter(|change| change.before != change.after).collect()
}

fn count_changes(one: &BTreeMap<String, u64>, other: &BTreeMap<String, u64>) -> Vec<CountChange> {
    let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let count = |counts: &BTreeMap<String, u64>, name: &String| counts.get(name).copied().unwrap_or_default();
    let count_changes =
        |name: &String| CountChange { name: name.clone(), before: count(one, name), after: count(other, name) };
    names.into_iter().map(count_changes).filter(|count_changes| count_changes.before != count_changes.after).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::store::RowDigest;

    fn rows(columns: &[&str], rows: &[(&str, &str, &[u64])]) -> Digests {
        let row = |(id, split, columns): &(&str, &str, &[u64])| {
            let digest = RowDigest { split: (*split).to_owned(), columns: columns.to_vec(), texts: vec![] };
            ((*id).to_owned(), digest)
        };
        Digests {
            columns: columns.iter().map(|name| (*name).to_owned()).collect(),
            rows: rows.iter().map(row).collect(),
        }
    }

    #[test]
    fn rows_are_added_removed_changed_or_the_same() {
        let one = rows(
            &["id", "score"],
            &[("a", "test", &[1, 1]), ("b", "test", &[2, 1]), ("雨", "test", &[3, 1]), ("d", "test", &[4, 4])],
        );
        let other = rows(
            &["id", "score"],
            &[("a", "test", &[1, 1]), ("b", "test", &[2, 9]), ("雨", "dev", &[3, 1]), ("e", "test", &[5, 5])],
        );
        let changes = RowChanges::between(&one, &other);
        assert_eq!((changes.same, changes.added, changes.removed), (1, vec!["e".to_owned()], vec!["d".to_owned()]));
        let columns: Vec<(&str, String)> =
            changes.changed.iter().map(|(id, columns)| (id.as_str(), columns.join(" "))).collect();
        assert_eq!(columns, [("b", "score".to_owned()), ("雨", "split".to_owned())]);
        let more = rows(&["id", "score", "edit_reason"], &[("a", "test", &[1, 1, 0])]);
        assert_eq!(RowChanges::between(&one, &more).changed["a"], ["edit_reason"], "a new column");
        assert!(!RowChanges::between(&one, &one).differ());
    }

    #[test]
    fn keys_of_the_configuration_are_compared_one_by_one() {
        let manifest = |text: &str| json!({ "configuration": text });
        let one = configuration(&manifest("name = 'a'\nseed = 7\n[simulate]\ntau = 3\n[models.'作者']\nmodel = 'm'\n"));
        let other = configuration(&manifest("name = 'b'\nseed = 7\n[simulate]\ntau = 10\nbatch_size = 2\n"));
        let text: Vec<String> = changed(&one, &other)
            .into_iter()
            .map(|Change { name, before, after }| format!("{name} {before:?} {after:?}"))
            .collect();
        let expected = [
            "models.作者.model Some(\"\\\"m\\\"\") None",
            "simulate.batch_size None Some(\"2\")",
            "simulate.tau Some(\"3\") Some(\"10\")",
        ];
        assert_eq!(text, expected);
    }
}
