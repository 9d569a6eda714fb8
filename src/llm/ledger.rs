//! What was asked and what it cost.

use std::collections::BTreeMap;
use std::sync::Mutex;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Tokens of one request or of many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Prompt tokens, cached ones included.
    pub prompt: u64,
    /// Prompt tokens that the server read from its prefix cache.
    pub cached: u64,
    /// Completion tokens, reasoning included.
    pub completion: u64,
    /// Whether they were estimated, since the server gave none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}

/// USD per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Prompt tokens.
    #[schemars(range(min = 0.0))]
    pub input: f64,
    /// Prompt tokens read from a prefix cache; as `input` when silent.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub cached_input: Option<f64>,
    /// Completion tokens.
    #[schemars(range(min = 0.0))]
    pub output: f64,
}

impl Price {
    /// What the offline engine costs.
    pub const FREE: Self = Self { input: 0.0, cached_input: None, output: 0.0 };

    /// Returns the cost of a usage in USD.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "token counts stay far below 2^52")]
    pub fn of(&self, usage: &Usage) -> f64 {
        let fresh = usage.prompt.saturating_sub(usage.cached) as f64;
        let cached = usage.cached as f64 * self.cached_input.unwrap_or(self.input);
        (fresh * self.input + cached + usage.completion as f64 * self.output) / 1e6
    }
}

/// Sums over calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Calls answered in this process.
    pub made: u64,
    /// Calls read back from the journal.
    pub journal: u64,
    /// Calls without an answer.
    pub failed: u64,
    /// HTTP requests behind all of them, those of earlier processes included.
    pub requests: u64,
    /// Tokens of all of them.
    pub usage: Usage,
    /// USD for all of them; null when a price is unknown.
    pub usd: Option<f64>,
}

impl Totals {
    fn add(&mut self, other: &Self) {
        self.made += other.made;
        self.journal += other.journal;
        self.failed += other.failed;
        self.requests += other.requests;
        self.usage.prompt += other.usage.prompt;
        self.usage.cached += other.usage.cached;
        self.usage.completion += other.usage.completion;
        self.usage.estimated |= other.usage.estimated;
        self.usd = self.usd.zip(other.usd).map(|(a, b)| a + b);
    }
}

/// How a call came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Answered in this process.
    Made,
    /// Read back.
    Journal,
    /// No answer.
    Failed,
}

/// Counts calls and tokens per model and ask.
#[derive(Debug, Default)]
pub struct Ledger {
    entries: Mutex<BTreeMap<(String, &'static str), Totals>>,
    faults: Mutex<BTreeMap<(String, &'static str), u64>>,
}

impl Ledger {
    /// Adds a request's tokens. Those of a priced model cost; an unknown price makes the sum unknown.
    pub(super) fn spend(&self, model: &str, ask: &'static str, price: Option<&Price>, requests: u32, usage: &Usage) {
        let usd = price.map(|price| price.of(usage));
        self.add(model, ask, &Totals { requests: u64::from(requests), usage: *usage, usd, ..Totals::default() });
    }

    /// Counts the end of a call.
    pub(super) fn close(&self, model: &str, ask: &'static str, outcome: Outcome) {
        let one = |which| u64::from(outcome == which);
        let call = Totals {
            made: one(Outcome::Made),
            journal: one(Outcome::Journal),
            failed: one(Outcome::Failed),
            usd: Some(0.0),
            ..Totals::default()
        };
        self.add(model, ask, &call);
    }

    fn add(&self, model: &str, ask: &'static str, totals: &Totals) {
        let mut entries = self.entries.lock().expect("no panic while the ledger is held");
        let entry = entries.entry((model.to_owned(), ask)).or_insert(Totals { usd: Some(0.0), ..Totals::default() });
        entry.add(totals);
    }

    /// Counts a request or reply that was of no use, by its kind. Those of earlier processes are not counted again.
    pub(super) fn fault(&self, model: &str, kind: &'static str) {
        let mut faults = self.faults.lock().expect("no panic while the ledger is held");
        *faults.entry((model.to_owned(), kind)).or_default() += 1;
    }

    /// Returns how many requests and replies of this process were of no use, by model and kind, in order: `rate_limited`,
    /// `server_error`, `timed_out`, `broken`, `no_completion`, `form_refused`, `model_refused`, `content_filter`,
    /// `empty_reply`, `cut_reply`, `bad_reply`, `context_too_long` …
    #[must_use]
    pub fn faults(&self) -> Vec<(String, &'static str, u64)> {
        let faults = self.faults.lock().expect("no panic while the ledger is held");
        faults.iter().map(|((model, kind), count)| (model.clone(), *kind, *count)).collect()
    }

    /// Returns the sum of everything.
    #[must_use]
    pub fn totals(&self) -> Totals {
        let mut sum = Totals { usd: Some(0.0), ..Totals::default() };
        self.entries.lock().expect("no panic while the ledger is held").values().for_each(|totals| sum.add(totals));
        sum
    }

    /// Returns the sums by model and ask, in order.
    #[must_use]
    pub fn by_model_and_ask(&self) -> Vec<(String, &'static str, Totals)> {
        let entries = self.entries.lock().expect("no panic while the ledger is held");
        entries.iter().map(|((model, ask), totals)| (model.clone(), *ask, *totals)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_tokens_cost_less() {
        let price = Price { input: 1.0, cached_input: Some(0.1), output: 2.0 };
        let usage = Usage { prompt: 1_000_000, cached: 500_000, completion: 1_000_000, estimated: false };
        assert!((price.of(&usage) - 2.55).abs() < 1e-9);
    }

    #[test]
    fn an_unknown_price_makes_the_sum_unknown() {
        let ledger = Ledger::default();
        ledger.spend("a", "x", Some(&Price::FREE), 1, &Usage::default());
        ledger.close("a", "x", Outcome::Made);
        assert_eq!(ledger.totals().usd, Some(0.0));
        ledger.spend("b", "x", None, 1, &Usage::default());
        ledger.close("b", "x", Outcome::Failed);
        assert_eq!(ledger.totals().usd, None);
        assert_eq!((ledger.totals().made, ledger.totals().failed, ledger.totals().requests), (1, 1, 2));
    }
}
