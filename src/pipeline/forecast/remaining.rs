//! Estimates the remaining calls of a run with a dry run of its configuration and journal.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use super::{AskForecast, ForecastOptions};
use crate::config::load::load_text;
use crate::config::{Endpoints, Environment};
use crate::event::Silent;
use crate::llm::part;
use crate::pipeline::error::RunError;
use crate::pipeline::forecast;
use crate::pipeline::status::RunStatus;
use crate::pipeline::summary::{AskSummary, Calls};
use crate::schema::Stage;

/// The remaining work of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RemainingWork {
    /// Calls.
    pub calls: u64,
    /// Prompt tokens.
    pub prompt: u64,
    /// Completion tokens.
    pub completion: u64,
    /// USD without caching; null if a price is unknown.
    pub usd: Option<f64>,
    /// Seconds, at the configured concurrency and rate limits.
    pub wall_s: f64,
    /// By ask and model, in the order of the stages.
    pub asks: Vec<RemainingAsk>,
}

/// The remaining work of one ask to one model.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RemainingAsk {
    /// The ask.
    pub ask: String,
    /// The model's name in the pipeline file.
    pub model: String,
    /// Calls.
    pub calls: u64,
    /// Prompt tokens.
    pub prompt: u64,
    /// Completion tokens.
    pub completion: u64,
    /// USD without caching; null if the price is unknown.
    pub usd: Option<f64>,
    /// Number of calls answered at the time of the estimate.
    #[serde(skip)]
    answered: u64,
}

/// Estimates the remaining work of a run. Books and characters must be where they were, relative to the run's working
/// directory.
pub fn remaining_work(run: &Path, status: &RunStatus, environment: &Environment) -> Result<RemainingWork, RunError> {
    let text = status.configuration.clone();
    let loaded = load_text(run, text, &[], environment, Endpoints::Unneeded)?;
    let options = ForecastOptions { out: Some(run.to_owned()), limit: status.limit, judges: vec![], latency: None };
    let forecast = forecast(loaded, &options, Arc::new(Silent))?;
    let until = status.until.unwrap_or(Stage::Export);
    let ask = |ask: AskForecast| RemainingAsk {
        ask: ask.ask,
        model: ask.model,
        calls: ask.calls,
        prompt: ask.prompt,
        completion: ask.completion,
        usd: ask.usd,
        answered: ask.paid,
    };
    let asks = forecast.asks.into_iter().filter(|ask| ask.stage.is_some_and(|stage| stage <= until)).map(ask).collect();
    let wall_s = forecast.stages.iter().filter(|stage| stage.stage <= until).map(|stage| stage.wall_s).sum();
    Ok(RemainingWork::of(asks, wall_s))
}

impl RemainingWork {
    fn of(asks: Vec<RemainingAsk>, wall_s: f64) -> Self {
        Self {
            calls: asks.iter().map(|ask| ask.calls).sum(),
            prompt: asks.iter().map(|ask| ask.prompt).sum(),
            completion: asks.iter().map(|ask| ask.completion).sum(),
            usd: asks.iter().map(|ask| ask.usd).try_fold(0.0, |sum, usd| Some(sum + usd?)),
            wall_s,
            asks,
        }
    }

    /// Returns the work that remains given a newer status of the run.
    #[must_use]
    pub fn after(&self, status: &RunStatus) -> Self {
        let ask = |ask: &RemainingAsk| {
            let is_it = |known: &&AskSummary| known.ask == ask.ask && known.model == ask.model;
            let answered = status.asks.iter().find(is_it).map_or(Calls::default(), |known| known.calls);
            // A resumed run first reads its journal, and until then reports fewer calls than are answered.
            let since = (answered.made + answered.journal).saturating_sub(ask.answered);
            let calls = ask.calls.saturating_sub(since);
            let share = ratio(calls, ask.calls);
            RemainingAsk {
                calls,
                prompt: part(ask.prompt, share),
                completion: part(ask.completion, share),
                usd: ask.usd.map(|usd| usd * share),
                ..ask.clone()
            }
        };
        let mut remaining = Self::of(self.asks.iter().map(ask).collect(), 0.0);
        remaining.wall_s = self.wall_s * ratio(remaining.calls, self.calls);
        remaining
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
fn ratio(count: u64, total: u64) -> f64 {
    if total == 0 { 0.0 } else { count as f64 / total as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answered_calls_are_not_remaining() {
        let ask = |name: &str, calls| RemainingAsk {
            ask: name.to_owned(),
            model: "m".to_owned(),
            calls,
            prompt: 10 * calls,
            completion: calls,
            usd: Some(4.0),
            answered: 5,
        };
        let remaining = RemainingWork::of(vec![ask("a", 100), ask("b", 20)], 60.0);
        assert_eq!((remaining.calls, remaining.prompt, remaining.usd), (120, 1200, Some(8.0)));
        let known = |name: &str, made, journal| AskSummary {
            ask: name.to_owned(),
            model: "m".to_owned(),
            calls: Calls { made, journal, failed: 0 },
            ..AskSummary::default()
        };
        let asks = vec![known("a", 80, 0), known("b", 0, 3)];
        let later = remaining.after(&RunStatus { asks, ..RunStatus::default() });
        let calls: Vec<u64> = later.asks.iter().map(|ask| ask.calls).collect();
        assert_eq!(calls, [25, 20], "what was answered before the estimate does not count twice");
        assert_eq!((later.prompt, later.usd), (450, Some(5.0)));
        assert!((later.wall_s - 60.0 * 45.0 / 120.0).abs() < 1e-9);
        let asks = vec![known("a", 500, 5)];
        assert_eq!(
            remaining.after(&RunStatus { asks, ..RunStatus::default() }).calls,
            20,
            "an estimate may be too low"
        );
    }
}
