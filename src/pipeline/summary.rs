//! Options and summary of a run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::ser::SerializeMap as _;
use serde::{Deserialize, Serialize, Serializer};
use tokio::sync::watch;

use crate::llm::{Account, Totals, UsageTracker};
use crate::schema::Stage;
use crate::schema::{Language, Reject, RoleTally, Sample};
use crate::stages::export::{Agreement, AskCost, Table, TableRow as _};

/// Command-line options of a run, apart from the pipeline file.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// The run's folder. `outputs/<name>` if unset.
    pub out: Option<PathBuf>,
    /// Maximum number of chunks per book, characters per language and conversations per lane.
    pub limit: Option<u32>,
    /// Whether every answer must come from the journal.
    pub replay: bool,
    /// Additional judges to ask, with all other answers taken from the journal. If empty, any model may be asked.
    pub judges: Vec<String>,
    /// The last stage to run.
    pub until: Stage,
    /// Set to true to stop the run: no new calls are started, and calls in flight are finished and saved.
    pub stop: watch::Receiver<bool>,
}

/// Number of calls by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    /// Answered in this process, including by the offline engine.
    pub made: u64,
    /// Answered from the journal.
    pub journal: u64,
    /// Failed.
    pub failed: u64,
}

impl Calls {
    /// Returns the calls of a total.
    pub(super) const fn of(totals: &Totals) -> Self {
        Self { made: totals.made, journal: totals.journal, failed: totals.failed }
    }
}

/// Tokens over all requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// Prompt tokens, cached ones included.
    pub prompt: u64,
    /// Prompt tokens that a server read from its prefix cache.
    pub cached: u64,
    /// Prompt tokens that extend an earlier prompt of the same ask to the same model, which an unlimited prefix cache
    /// could serve.
    pub cacheable: u64,
    /// Completion tokens, reasoning included.
    pub completion: u64,
    /// Completion tokens used for reasoning, if the server reports them.
    pub reasoning: u64,
    /// Prompt and completion tokens that were estimated because the server did not count them.
    pub estimated: u64,
}

impl Tokens {
    /// Returns the tokens of a total.
    pub(super) const fn of(totals: &Totals, cacheable: u64) -> Self {
        Self {
            prompt: totals.usage.prompt,
            cached: totals.usage.cached,
            cacheable,
            completion: totals.usage.completion,
            reasoning: totals.usage.reasoning,
            estimated: totals.estimated,
        }
    }
}

/// Usage of one ask by one model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AskSummary {
    /// The ask.
    pub ask: String,
    /// The model's name in the pipeline file.
    pub model: String,
    /// Calls.
    pub calls: Calls,
    /// HTTP requests, including those of earlier processes.
    pub requests: u64,
    /// Invalid replies that were asked for again.
    pub reasks: u64,
    /// Tokens.
    pub tokens: Tokens,
    /// USD; null if the price is unknown.
    pub usd: Option<f64>,
}

impl AskSummary {
    fn of(account: &Account) -> Self {
        let totals = &account.totals;
        Self {
            ask: account.ask.to_owned(),
            model: account.model.clone(),
            calls: Calls::of(totals),
            requests: totals.requests,
            reasks: totals.reasks,
            tokens: Tokens::of(totals, account.cacheable()),
            usd: totals.usd,
        }
    }
}

/// Usage per sample: all asks of `simulate` and `select`, including those for conversations without samples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PerSample {
    /// Number of calls.
    pub calls: f64,
    /// Prompt and completion tokens.
    pub billed: f64,
    /// Prompt tokens that extend an earlier prompt of the same ask to the same model.
    pub cacheable: f64,
}

impl PerSample {
    /// Divides usage by the number of samples; `None` without samples.
    fn of(asks: &[AskSummary], samples: u64) -> Option<Self> {
        let plays = |ask: &&AskSummary| stage_of(&ask.ask) == Some(Stage::Simulate);
        let each = |of: fn(&AskSummary) -> u64| {
            let sum: u64 = asks.iter().filter(plays).map(of).sum();
            shared_out(sum, samples)
        };
        (samples > 0).then(|| Self {
            calls: each(|ask| ask.calls.made + ask.calls.journal + ask.calls.failed),
            billed: each(|ask| ask.tokens.prompt + ask.tokens.completion),
            cacheable: each(|ask| ask.tokens.cacheable),
        })
    }
}

/// Returns the stage that an ask runs in: judging is a part of `simulate`.
pub(super) fn stage_of(ask: &str) -> Option<Stage> {
    // The name of an ask is `<stage>/<name>`.
    match ask.split('/').next()?.parse().ok()? {
        Stage::Select => Some(Stage::Simulate),
        // Chunk boundaries are asked for when the book is extracted.
        Stage::Chunk => Some(Stage::Extract),
        stage => Some(stage),
    }
}

/// Agreement of an additional judge with the main judge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct AgreementSummary {
    /// Number of turns that both have judged.
    pub turns: u64,
    /// Share of these turns with the same dimension, 0 to 1.
    pub same_dimension: f64,
    /// Cohen's kappa of σ with quadratic weights; null if agreement is certain by chance alone.
    pub kappa: Option<f64>,
}

impl AgreementSummary {
    pub(super) fn of(agreement: &Agreement) -> Self {
        let kappa = agreement.kappa().map(|kappa| (kappa * 10_000.0).round() / 10_000.0);
        let same_dimension = shared_out(agreement.same_dimension, agreement.turns.max(1));
        Self { turns: agreement.turns, same_dimension, kappa }
    }
}

/// Divides, rounded to two decimals.
#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
fn shared_out(sum: u64, parts: u64) -> f64 {
    (sum as f64 * 100.0 / parts as f64).round() / 100.0
}

/// Number of failed requests and invalid replies, by model and kind.
pub type FaultCounts = BTreeMap<String, BTreeMap<String, u64>>;

/// Collects fault counts by model.
pub(super) fn by_model(faults: Vec<(String, &'static str, u64)>) -> FaultCounts {
    let mut counts = FaultCounts::new();
    for (model, kind, count) in faults {
        counts.entry(model).or_default().insert(kind.to_owned(), count);
    }
    counts
}

/// The summary of a run, as printed by `build --json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Summary {
    /// The run's folder.
    pub run: PathBuf,
    /// The data set's folder; null if the run ended before `export`.
    pub dataset: Option<PathBuf>,
    /// Calls.
    pub calls: Calls,
    /// HTTP requests, including those of earlier processes.
    pub requests: u64,
    /// Invalid replies that were asked for again, including those of earlier processes.
    pub reasks: u64,
    /// Failed requests and invalid replies of this process, by model and kind.
    pub faults: FaultCounts,
    /// Tokens.
    pub tokens: Tokens,
    /// USD; null if a price is unknown.
    pub usd: Option<f64>,
    /// Usage by ask and model.
    pub asks: Vec<AskSummary>,
    /// Rows by config and split.
    pub rows: BTreeMap<String, BTreeMap<String, u64>>,
    /// Usage per sample; null without samples or data set.
    pub per_sample: Option<PerSample>,
    /// Agreement of additional judges with the main judge, by name; absent without any.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub agreement: BTreeMap<String, AgreementSummary>,
    /// Number of lanes that ended before a dimension reached τ counts, by dimension.
    pub dimensions_below_target: BTreeMap<String, u64>,
    /// Number of lanes that reached τ counts of a dimension without a sample of it, by dimension, because the judge
    /// prefers the base model there.
    pub dimensions_without_samples: BTreeMap<String, u64>,
    /// Statistics of roles and their questions, by language, and similarity of test rows to training rows.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub role_data: BTreeMap<Language, RoleTally>,
    /// Number of turns by format fault, including repaired ones and speakers that the director did not name clearly.
    pub turn_faults: BTreeMap<String, u64>,
    /// Number of rejects by stage and reason; in JSON by stage only.
    #[serde(serialize_with = "by_stage")]
    pub rejected: BTreeMap<String, BTreeMap<String, u64>>,
    /// Duration of the run in seconds.
    pub wall_s: f64,
}

impl Summary {
    /// Collects the summary of a run, except for its tables.
    pub(super) fn new(run: &Path, usage_tracker: &UsageTracker, rejects: &[Reject]) -> Self {
        let mut rejected: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
        for reject in rejects {
            *rejected.entry(reject.stage.to_string()).or_default().entry(reject.reason.to_string()).or_default() += 1;
        }
        let totals = usage_tracker.totals();
        let mut asks: Vec<AskSummary> = usage_tracker.accounts().iter().map(AskSummary::of).collect();
        asks.sort_by(|a, b| (&a.ask, &a.model).cmp(&(&b.ask, &b.model)));
        let cacheable = asks.iter().map(|ask| ask.tokens.cacheable).sum();
        Self {
            run: run.to_owned(),
            calls: Calls::of(&totals),
            requests: totals.requests,
            reasks: totals.reasks,
            faults: by_model(usage_tracker.faults()),
            tokens: Tokens::of(&totals, cacheable),
            usd: totals.usd,
            asks,
            rejected,
            ..Self::default()
        }
    }

    /// Counts the rows of the tables.
    pub(super) fn count(&mut self, tables: &[Table]) {
        for table in tables {
            let splits = self.rows.entry(table.config.to_owned()).or_default();
            splits.insert(table.split.to_owned(), table.rows as u64);
        }
        let samples = self.rows.get(Sample::CONFIG).map_or(0, |splits| splits.values().sum());
        self.per_sample = PerSample::of(&self.asks, samples);
    }

    /// Returns usage for the report, which does not distinguish journaled answers.
    pub(super) fn charges(&self) -> Vec<AskCost> {
        let charge = |ask: &AskSummary| AskCost {
            ask: ask.ask.clone(),
            model: ask.model.clone(),
            calls: ask.calls.made + ask.calls.journal,
            failed: ask.calls.failed,
            schema_retries: ask.reasks,
            prompt: ask.tokens.prompt,
            cached: ask.tokens.cached,
            cacheable: ask.tokens.cacheable,
            completion: ask.tokens.completion,
            estimated: ask.tokens.estimated,
            usd: ask.usd,
        };
        self.asks.iter().map(charge).collect()
    }

    /// Returns the total number of rows.
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
    fn the_json_summary_has_the_documented_keys() {
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
            "calls": {"made": 0, "journal": 0, "failed": 0}, "requests": 0, "reasks": 0, "faults": {}, "asks": [],
            "tokens": {"prompt": 0, "cached": 0, "cacheable": 0, "completion": 0, "reasoning": 0, "estimated": 0},
            "usd": null,
            "rows": {"samples": {"test": 4}}, "per_sample": null, "dimensions_below_target": {}, "dimensions_without_samples": {}, "turn_faults": {},
            "rejected": {"extract": 5}, "wall_s": 0.0,
        });
        assert_eq!(serde_json::to_value(summary).unwrap(), expected);
    }

    #[test]
    fn the_cost_of_conversations_is_divided_among_samples() {
        let ask = |ask: &str, made: u64, tokens: Tokens| AskSummary {
            ask: ask.to_owned(),
            calls: Calls { made, journal: 1, failed: 1 },
            tokens,
            ..AskSummary::default()
        };
        let tokens = Tokens { prompt: 900, cacheable: 700, completion: 50, ..Tokens::default() };
        let asks =
            [ask("extract/scenes", 99, tokens), ask("simulate/direct", 8, tokens), ask("select/judge", 5, tokens)];
        let per_sample = PerSample { calls: 5.67, billed: 633.33, cacheable: 466.67 };
        assert_eq!(PerSample::of(&asks, 3), Some(per_sample));
        assert_eq!(PerSample::of(&asks, 0), None);
    }
}
