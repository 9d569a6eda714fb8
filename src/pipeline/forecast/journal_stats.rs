//! Statistics of models from a journal, for forecasts, and assumptions where the journal has too few records.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Duration;

use serde::Deserialize;

use crate::config::Loaded;
use crate::llm::{AskError, Expected, Record, estimate_tokens};
use crate::pipeline::error::RunError;
use crate::store::JournalView;

/// Assumptions where the journal has too few records.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Assumptions {
    latency_s: u64,
    reply_tokens: u64,
    reply_tokens_by_ask: BTreeMap<String, u64>,
}

static ASSUMPTIONS: LazyLock<Assumptions> = LazyLock::new(|| embedded_toml!("assumptions.toml"));

/// Returns the assumed duration of a call, if neither an option nor the journal gives one.
pub(crate) fn assumed_latency() -> Duration {
    Duration::from_secs(ASSUMPTIONS.latency_s)
}

/// Minimum number of journal records for measured values to replace assumptions.
const MIN_RECORDS: u64 = 5;

/// Maximum number of journal records to read.
const MAX_RECORDS: usize = 20_000;

/// Statistics of a pipeline file's models.
#[derive(Debug, Default)]
pub(crate) struct JournalStats {
    asks: BTreeMap<(String, String), Sums>,
    /// Prompt tokens by model: as counted by the server, and as estimated.
    prompts: BTreeMap<String, (u64, u64)>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sums {
    calls: u64,
    reasks: u64,
    completion: u64,
    latency_ms: u64,
}

impl JournalStats {
    /// Reads the records of served models with their present ids, since a name may have been used for another model
    /// before.
    pub(crate) fn of(view: &JournalView, loaded: &Loaded) -> Result<Self, RunError> {
        let mut measured = Self::default();
        for record in view.records().take(MAX_RECORDS) {
            let record = record.map_err(AskError::from)?;
            if loaded.endpoints.get(&record.model).is_some_and(|endpoint| endpoint.model == record.request.model) {
                measured.add(&record);
            }
        }
        Ok(measured)
    }

    fn add(&mut self, record: &Record) {
        let sums = self.asks.entry((record.model.clone(), record.ask.clone())).or_default();
        sums.calls += u64::from(record.parent.is_none());
        sums.reasks += u64::from(record.parent.is_some());
        sums.completion += record.usage.completion;
        sums.latency_ms += record.latency_ms;
        if !record.usage.estimated {
            let messages = record.request.messages.iter();
            let (counted, estimated) = self.prompts.entry(record.model.clone()).or_default();
            *counted += record.usage.prompt;
            *estimated += messages.map(|message| u64::from(estimate_tokens(&message.content))).sum::<u64>();
        }
    }

    pub(crate) fn ask(&self, model: &str, ask: &str) -> Option<&Sums> {
        self.asks.get(&(model.to_owned(), ask.to_owned())).filter(|sums| sums.calls >= MIN_RECORDS)
    }

    pub(crate) fn has_latency(&self) -> bool {
        self.asks.values().any(|sums| sums.calls >= MIN_RECORDS)
    }

    #[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
    pub(crate) fn expected(&self, model: &str, ask: &str, latency: Option<Duration>) -> Expected {
        let ratio = self.prompts.get(model).filter(|(_, estimated)| *estimated > 0);
        let least = ASSUMPTIONS.reply_tokens_by_ask.get(ask).copied().unwrap_or(ASSUMPTIONS.reply_tokens);
        let sums = self.ask(model, ask);
        let records = |sums: &Sums| sums.calls + sums.reasks;
        let mean = |sums: &Sums| Duration::from_millis(sums.latency_ms / records(sums).max(1));
        Expected {
            latency: latency.or_else(|| sums.map(mean)).unwrap_or_else(assumed_latency),
            prompt_ratio: ratio.map_or(1.0, |(counted, estimated)| *counted as f64 / *estimated as f64),
            completion: sums.map(|sums| sums.completion / records(sums).max(1)),
            least,
            reasks: sums.map_or(0.0, |sums| sums.reasks as f64 / sums.calls.max(1) as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::Usage;
    use crate::schema::Message;
    use crate::stages;

    fn record(ask: &str, parent: Option<&str>, completion: u64) -> Record {
        let request = crate::llm::Request {
            model: "m".to_owned(),
            messages: vec![Message::user("one two three four")],
            sampling: serde_json::Value::Null,
            schema: serde_json::Value::Null,
            extra_body: serde_json::Value::Null,
        };
        Record {
            key: String::new(),
            parent: parent.map(str::to_owned),
            ask: ask.to_owned(),
            model: "writer".to_owned(),
            draw: String::new(),
            request,
            reply: crate::llm::Reply::default(),
            usage: Usage { prompt: 6, completion, ..Usage::default() },
            requests: 1,
            latency_ms: 1500,
        }
    }

    #[test]
    fn enough_measurements_replace_assumptions() {
        let mut measured = JournalStats::default();
        let expected = |measured: &JournalStats| measured.expected("writer", "simulate/direct", None);
        for _ in 0..MIN_RECORDS - 1 {
            measured.add(&record("simulate/direct", None, 20));
        }
        let few = expected(&measured);
        assert_eq!((few.completion, few.least, few.latency), (None, 60, assumed_latency()));
        assert!((few.prompt_ratio - 1.5).abs() < 1e-9, "token counting depends on the model, not on the ask");
        measured.add(&record("simulate/direct", None, 20));
        measured.add(&record("simulate/direct", Some("x"), 32));
        let enough = expected(&measured);
        assert_eq!((enough.completion, enough.latency), (Some(22), Duration::from_millis(1500)));
        assert!((enough.reasks - 0.2).abs() < 1e-9);
        assert_eq!(measured.expected("writer", "simulate/direct", Some(assumed_latency())).latency, assumed_latency());
        assert_eq!(measured.expected("other", "x/y", None).least, ASSUMPTIONS.reply_tokens);
    }

    #[test]
    fn every_assumed_length_names_an_ask() {
        let asks: Vec<&str> = stages::answers().into_iter().map(|(ask, _)| ask).collect();
        for ask in ASSUMPTIONS.reply_tokens_by_ask.keys() {
            assert!(asks.contains(&ask.as_str()), "no ask is called {ask}");
        }
    }
}
