//! What a run is when further judges are added to it: the configuration that its data set was made with, with them in the
//! cast. What a later command began, and `status.json` tells, is no part of that.

use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::load::load_text;
use super::splits::SPLITS;
use super::{Endpoints, Environment, Loaded, PipelineError, RunError, changes};
use crate::schema::Language;

/// The model that is there without a pipeline file.
const OFFLINE: &str = "offline";

/// Loads the configuration of a run's data set, or a pipeline file, with further judges in the cast and `--set` texts laid over
/// it. Returns it with what `--limit` kept the run to. A data set that was divided anew is refused: it would be written as it
/// was before.
pub fn rejudge(
    run: &Path,
    out: Option<&Path>,
    judges: &[String],
    sets: &[String],
    environment: &Environment,
    endpoints: Endpoints,
) -> Result<(Loaded, Option<u32>), RunError> {
    let (text, limit) = if run.is_dir() {
        let manifest = changes::manifest(run).map_err(|source| RunError::Unbuilt { run: run.to_owned(), source })?;
        let limit = manifest["limit"].as_u64().and_then(|limit| u32::try_from(limit).ok());
        (manifest["configuration"].as_str().unwrap_or_default().to_owned(), limit)
    } else {
        let open = |source| PipelineError::Open { path: run.to_owned(), nearest: None, source };
        (std::fs::read_to_string(run).map_err(open)?, None)
    };
    // What is wrong with the text is told with its place when it is loaded.
    let table: Table = toml::from_str(&text).unwrap_or_default();
    let mut all = Vec::new();
    let is_there = table.get("models").and_then(|models| models.get(OFFLINE)).is_some();
    if judges.iter().any(|judge| judge == OFFLINE) && !is_there {
        all.push(format!("models.{OFFLINE}.provider=\"offline\""));
    }
    all.push(format!("cast.judges={}", panel(&table, judges)));
    all.extend(sets.iter().cloned());
    let loaded = load_text(run, text, &all, environment, endpoints)?;
    let folder = match out {
        Some(out) => out.to_owned(),
        None if run.is_dir() => run.to_owned(),
        None => PathBuf::from("outputs").join(&loaded.file.name),
    };
    let dataset = folder.join("dataset");
    if dataset.join(SPLITS).exists() {
        return Err(RunError::Divided { dataset });
    }
    Ok((loaded, limit))
}

/// Returns the further judges of a cast with others behind them, each once.
fn panel(table: &Table, judges: &[String]) -> Value {
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
        let panel = |cast: &str, judges: &[&str]| {
            let table: Table = toml::from_str(&format!("[cast]\n{cast}\n")).expect("TOML");
            panel(&table, &judges.iter().map(|judge| (*judge).to_owned()).collect::<Vec<_>>()).to_string()
        };
        assert_eq!(panel("", &["甲", "b", "甲"]), r#"["甲", "b"]"#);
        assert_eq!(panel("judges = ['a']", &["a", "b"]), r#"["a", "b"]"#);
        assert_eq!(panel("judges = { en = ['a'], zh = [] }", &["b"]), r#"{ en = ["a", "b"], zh = ["b"] }"#);
    }

    #[test]
    fn a_folder_without_a_run_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let rejudged = |run: &Path| {
            rejudge(run, None, &["a".to_owned()], &[], &Environment::default(), Endpoints::Unneeded).unwrap_err()
        };
        // What a run that made no data set has noted is no data set.
        std::fs::write(folder.path().join("status.json"), "{}").unwrap();
        assert!(matches!(rejudged(folder.path()), RunError::Unbuilt { .. }));
        assert!(rejudged(&folder.path().join("no.toml")).to_string().contains("no.toml"));
    }
}
