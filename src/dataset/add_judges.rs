//! Adds judges to a finished run: reconstructs the configuration that its data set was made with, with the judges added
//! to the cast. Later commands in the same folder, recorded in `status.json`, are not part of that configuration.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use toml::{Table, Value};

use super::diff;
use super::split::apply::SPLITS;
use crate::config::load::{load_text, only_pace};
use crate::config::{self, Endpoints, Environment, Loaded};
use crate::dataset::error::{AddJudgesError, DatasetError};
use crate::schema::Language;

/// The model name that needs no pipeline file.
const OFFLINE: &str = "offline";

/// A run with added judges.
#[derive(Debug)]
pub struct RunToJudge {
    /// Its configuration, judges included.
    pub loaded: Loaded,
    /// The run's folder.
    pub folder: PathBuf,
    /// The `--limit` of the run.
    pub limit: Option<u32>,
}

/// Options for adding judges.
#[derive(Debug, Clone, Copy)]
pub struct AddJudges<'a> {
    /// The run's folder, or its pipeline file, of which only the judges are used.
    pub run: &'a Path,
    /// The run's folder, if the pipeline file's is not `outputs/<name>`.
    pub out: Option<&'a Path>,
    /// The judges to ask.
    pub judges: &'a [String],
    /// `--set` assignments that define the judges or change no row.
    pub sets: &'a [String],
    /// The `--limit` option, which must match the run's.
    pub limit: Option<u32>,
    /// Whether the judges are asked, rather than replayed. No other model is asked.
    pub is_asked: bool,
}

/// Loads the configuration of a run's data set with judges added to the cast.
///
/// Fails if an option would change the run, or if the data set was changed by `split`, which writing it again would
/// undo. The pipeline file shown on the data card is the one that the run was made with.
pub fn add_judges(asked: &AddJudges<'_>, environment: &Environment) -> Result<RunToJudge, DatasetError> {
    let AddJudges { run, judges, .. } = *asked;
    let (folder, own) = if run.is_dir() {
        (asked.out.unwrap_or(run).to_owned(), Table::new())
    } else {
        // Problems of the file are reported with their spans; its other models are not asked.
        let file = config::load(run, &[], environment, Endpoints::Unneeded)?;
        let folder = asked.out.map_or_else(|| PathBuf::from("outputs").join(&file.file.name), Path::to_owned);
        let table: Table = toml::from_str(&file.effective).unwrap_or_default();
        (folder, table.get("models").and_then(Value::as_table).cloned().unwrap_or_default())
    };
    let from = if run.is_dir() { run } else { &folder };
    let manifest = diff::manifest(from).map_err(|source| AddJudgesError::NoDataset { run: from.to_owned(), source })?;
    let limit = manifest["limit"].as_u64().and_then(|limit| u32::try_from(limit).ok());
    let text = manifest["configuration"].as_str().unwrap_or_default().to_owned();
    // Problems of the text are reported with their spans when it is loaded.
    let table: Table = toml::from_str(&text).unwrap_or_default();
    if let Some(other) = asked.limit.filter(|other| limit != Some(*other)) {
        return Err(AddJudgesError::OtherRun { change: format!("--limit {other}") }.into());
    }
    let fixed = fixed(&table, judges);
    if let Some(set) = asked.sets.iter().find(|set| !(is_of_judge(set, judges, &fixed) || is_pace(set))) {
        return Err(AddJudgesError::OtherRun { change: format!("--set {}", crate::config::redact::redact(set)) }.into());
    }
    let mut all = Vec::new();
    for judge in judges {
        let is_there = table.get("models").and_then(|models| models.get(judge)).is_some();
        let key = Value::String(judge.clone());
        match own.get(judge) {
            Some(model) if !fixed.contains(judge.as_str()) => all.push(format!("models.{key}={model}")),
            None if judge == OFFLINE && !is_there => all.push(format!("models.{OFFLINE}.provider=\"offline\"")),
            _ => {}
        }
    }
    all.push(format!("cast.judges={}", judges_value(&table, judges)));
    all.extend(asked.sets.iter().cloned());
    let endpoints = if asked.is_asked { Endpoints::NeededBy(judges) } else { Endpoints::Unneeded };
    let name = from.join("manifest.json");
    let mut loaded = load_text(&name, text, &all, environment, endpoints)?;
    let dataset = folder.join("dataset");
    if dataset.join(SPLITS).exists() {
        return Err(AddJudgesError::WasSplit { dataset }.into());
    }
    as_written(&mut loaded, &manifest["pipeline"]);
    Ok(RunToJudge { loaded, folder, limit })
}

/// Replaces the effective configuration with the pipeline file as originally written, and puts the original
/// command-line changes before the present ones.
fn as_written(loaded: &mut Loaded, pipeline: &Json) {
    let Some(text) = pipeline["text"].as_str() else { return };
    text.clone_into(&mut loaded.source);
    let earlier = pipeline["changes"].as_array().into_iter().flatten().filter_map(Json::as_str);
    let mut overrides: Vec<String> = earlier.map(str::to_owned).collect();
    for change in std::mem::take(&mut loaded.overrides) {
        // If a key is set again, the last value counts.
        overrides.retain(|other| key(other) != key(&change));
        overrides.push(change);
    }
    loaded.overrides = overrides;
}

/// Returns the models that play a part in the run and must not change, excluding the additional judges.
fn fixed<'a>(table: &'a Table, judges: &[String]) -> BTreeSet<&'a str> {
    fn names<'a>(value: &'a Value, into: &mut BTreeSet<&'a str>) {
        match value {
            Value::String(name) => drop(into.insert(name)),
            Value::Array(items) => items.iter().for_each(|item| names(item, into)),
            Value::Table(table) => table.values().for_each(|value| names(value, into)),
            _ => {}
        }
    }
    let (mut parts, mut earlier) = (BTreeSet::new(), BTreeSet::new());
    for (part, value) in table.get("cast").and_then(Value::as_table).into_iter().flatten() {
        names(value, if part == "judges" { &mut earlier } else { &mut parts });
    }
    // Verdicts of an earlier judge stay valid only if its model stays the same, unless it is asked again.
    parts.extend(earlier.into_iter().filter(|judge| !judges.iter().any(|other| other == judge)));
    parts
}

/// Returns the parts of the key of a `--set`.
fn key(set: &str) -> Vec<String> {
    let key = set.split_once('=').map_or(set, |(key, _)| key);
    let mut table: Table = toml::from_str(&format!("{key}=0")).unwrap_or_default();
    let mut parts = Vec::new();
    while let Some((part, value)) = table.into_iter().next() {
        parts.push(part);
        table = match value {
            Value::Table(table) => table,
            _ => Table::new(),
        };
    }
    parts
}

/// Returns whether a `--set` defines one of the judges.
fn is_of_judge(set: &str, judges: &[String], fixed: &BTreeSet<&str>) -> bool {
    let key = key(set);
    key.len() > 1 && key[0] == "models" && judges.contains(&key[1]) && !fixed.contains(key[1].as_str())
}

/// Returns whether a `--set` changes only how models are reached or what they may cost.
fn is_pace(set: &str) -> bool {
    let key = key(set);
    match key.first().map(String::as_str) {
        Some("budget") => true,
        Some("models") => key.len() > 2 && only_pace(set),
        _ => false,
    }
}

/// Returns the additional judges of a cast with further ones appended, each once.
fn judges_value(table: &Table, judges: &[String]) -> Value {
    let known = table.get("cast").and_then(|cast| cast.get("judges"));
    let with = |known: Option<&Value>| {
        let mut all: Vec<Value> = known.and_then(Value::as_array).cloned().unwrap_or_default();
        for judge in judges {
            let judge = Value::String(judge.clone());
            if !all.contains(&judge) {
                all.push(judge);
            }
        }
        Value::Array(all)
    };
    match known {
        Some(Value::Table(by_language)) => {
            let both =
                Language::ALL.map(|language| (language.code().to_owned(), with(by_language.get(language.code()))));
            Value::Table(both.into_iter().collect())
        }
        known => with(known),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn judges_are_added_once() {
        let judges_value = |cast: &str, judges: &[&str]| {
            let table: Table = toml::from_str(&format!("[cast]\n{cast}\n")).expect("TOML");
            judges_value(&table, &judges.iter().map(|judge| (*judge).to_owned()).collect::<Vec<_>>()).to_string()
        };
        assert_eq!(judges_value("", &["甲", "b", "甲"]), r#"["甲", "b"]"#);
        assert_eq!(judges_value("judges = ['a']", &["a", "b"]), r#"["a", "b"]"#);
        assert_eq!(judges_value("judges = { en = ['a'], zh = [] }", &["b"]), r#"{ en = ["a", "b"], zh = ["b"] }"#);
    }

    #[test]
    fn only_judges_and_connection_settings_may_change() {
        let table: Table = toml::from_str(
            "[cast]\nextractor = 'a'\nsources = { en = ['b'], zh = ['作者'] }\njudge = 'c'\njudges = ['d', '法官']\n",
        )
        .expect("TOML");
        let judges = ["法官".to_owned(), "new".to_owned(), "c".to_owned()];
        let fixed = fixed(&table, &judges);
        assert_eq!(fixed, BTreeSet::from(["a", "b", "c", "d", "作者"]));
        for (set, is_taken) in [
            ("models.new={provider=\"offline\"}", true),
            ("models.\"法官\".model=m", true),
            ("models.'作者'.base_url=http://h/v1", true),
            ("models.a.headers.X-T=\"$T\"", true),
            ("budget.usd=3", true),
            ("models.c.model=m", false),
            ("models.d.variant=\"x\"", false),
            ("models={}", false),
            ("models.\"作者\".temperature=1", false),
            ("simulate.tau=4", false),
            ("extract.pool=\"p\"", false),
            ("seed=3", false),
            ("simulate.price=4", false),
            ("no key", false),
        ] {
            assert_eq!(is_of_judge(set, &judges, &fixed) || is_pace(set), is_taken, "{set}");
        }
    }

    #[test]
    fn a_folder_without_a_run_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let select_error = |run: &Path| {
            let judges = &["a".to_owned()];
            let asked = AddJudges { run, out: None, judges, sets: &[], limit: None, is_asked: false };
            add_judges(&asked, &Environment::default()).unwrap_err()
        };
        // The status of a run without a data set must not be taken for one.
        std::fs::write(folder.path().join("status.json"), "{}").unwrap();
        assert!(matches!(select_error(folder.path()), DatasetError::AddJudges(AddJudgesError::NoDataset { .. })));
        assert!(select_error(&folder.path().join("no.toml")).to_string().contains("no.toml"));
    }
}
