//! What a run is told, and what it says at its end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use tokio::sync::watch;

use super::Stage;
use crate::llm::Totals;
use crate::schema::Reject;
use crate::stages::export::Table;

/// What the command line says about a run, beside the pipeline file.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// The run's folder; `outputs/<name>` when silent.
    pub out: Option<PathBuf>,
    /// The first so many chunks per book, characters per language and conversations per lane.
    pub limit: Option<u32>,
    /// Whether every answer has to come from the journal.
    pub replay: bool,
    /// The last stage that runs.
    pub until: Stage,
    /// Becomes true to end the run: nothing new begins, what is in flight is finished and kept.
    pub stop: watch::Receiver<bool>,
}

/// Calls by how they ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Calls {
    /// Answered in this process, offline answers too.
    pub made: u64,
    /// Read back from the journal.
    pub journal: u64,
    /// Without an answer.
    pub failed: u64,
}

/// Tokens over all requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Tokens {
    /// Prompt tokens, cached ones included.
    pub prompt: u64,
    /// Prompt tokens that a server read from its prefix cache.
    pub cached: u64,
    /// Completion tokens.
    pub completion: u64,
}

/// What a run left. Its JSON form is what `build --json` prints.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Summary {
    /// The run's folder.
    pub run: PathBuf,
    /// The data set's folder; null when the run ended before `export`.
    pub dataset: Option<PathBuf>,
    /// Calls.
    pub calls: Calls,
    /// HTTP requests, those of earlier processes included.
    pub requests: u64,
    /// Tokens.
    pub tokens: Tokens,
    /// USD; null where a price is unknown.
    pub usd: Option<f64>,
    /// Rows by config and split.
    pub rows: BTreeMap<String, BTreeMap<String, u64>>,
    /// Rejects by stage and reason; in JSON by stage alone.
    #[serde(serialize_with = "by_stage")]
    pub rejected: BTreeMap<String, BTreeMap<String, u64>>,
    /// How long the run took, in seconds.
    pub wall_s: f64,
}

impl Summary {
    /// Gathers what a run left, its tables aside.
    pub(super) fn new(run: &Path, totals: &Totals, rejects: &[Reject]) -> Self {
        let mut rejected: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
        for reject in rejects {
            *rejected.entry(reject.stage.clone()).or_default().entry(reject.reason.clone()).or_default() += 1;
        }
        let usage = totals.usage;
        Self {
            run: run.to_owned(),
            calls: Calls { made: totals.made, journal: totals.journal, failed: totals.failed },
            requests: totals.requests,
            tokens: Tokens { prompt: usage.prompt, cached: usage.cached, completion: usage.completion },
            usd: totals.usd,
            rejected,
            ..Self::default()
        }
    }

    /// Counts the rows of the tables.
    pub(super) fn count(&mut self, tables: &[Table]) {
        for table in tables {
            let splits = self.rows.entry(table.config.to_owned()).or_default();
            splits.insert(table.split.to_owned(), table.frame.height() as u64);
        }
    }

    /// Returns the rows of all configs and splits.
    #[must_use]
    pub fn total_rows(&self) -> u64 {
        self.rows.values().flat_map(BTreeMap::values).sum()
    }
}

fn by_stage<S: Serializer>(
    rejected: &BTreeMap<String, BTreeMap<String, u64>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(rejected.len()))?;
    for (stage, reasons) in rejected {
        map.serialize_entry(stage, &reasons.values().sum::<u64>())?;
    }
    map.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_json_form_has_the_keys_that_scripts_read() {
        let reasons = BTreeMap::from([("ungrounded".to_owned(), 2), ("no_dialogue".to_owned(), 3)]);
        let summary = Summary {
            run: "outputs/demo".into(),
            dataset: Some("outputs/demo/dataset".into()),
            rows: BTreeMap::from([("samples".to_owned(), BTreeMap::from([("test".to_owned(), 4)]))]),
            rejected: BTreeMap::from([("extract".to_owned(), reasons)]),
            ..Summary::default()
        };
        let expected = serde_json::json!({
            "run": "outputs/demo", "dataset": "outputs/demo/dataset",
            "calls": {"made": 0, "journal": 0, "failed": 0}, "requests": 0,
            "tokens": {"prompt": 0, "cached": 0, "completion": 0}, "usd": null,
            "rows": {"samples": {"test": 4}}, "rejected": {"extract": 5}, "wall_s": 0.0,
        });
        assert_eq!(serde_json::to_value(summary).unwrap(), expected);
    }
}
