//! Forecasts the calls and cost of a run with a dry run: all stages with the offline engine and the run's journal,
//! without writing files.
//!
//! The offline engine answers in place of every served model, with the same asks and prompts. Answers in the journal
//! are reused and count as paid. The journal's statistics of a model (length and duration of replies, token counts,
//! retries after invalid replies) replace the default assumptions.

mod journal_stats;
mod remaining;

pub use remaining::{RemainingAsk, RemainingWork, remaining_work};

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde::{Serialize, Serializer};
use tokio::sync::watch;

use self::journal_stats::{JournalStats, assumed_latency};
use super::error::RunError;
use super::summary::{RunOptions, stage_of};
use crate::config::{Loaded, ModelEntry};
use crate::event::{Event, Reporter};
use crate::llm::{Account, Answered, DryRun, Journal, JournalError, Price, Record, Session, Usage, part};
use crate::prompt::Prompts;
use crate::schema::Stage;
use crate::stages;
use crate::store::{JournalView, StoreError};

/// Options of a forecast.
#[derive(Debug, Clone, Default)]
pub struct ForecastOptions {
    /// The run's folder, whose journal counts as paid. `outputs/<name>` if unset.
    pub out: Option<PathBuf>,
    /// The `--limit` of the run.
    pub limit: Option<u32>,
    /// Additional judges to ask, as for the run.
    pub judges: Vec<String>,
    /// Duration of every call to a served model. If unset, the journal's mean, else three seconds.
    pub latency: Option<Duration>,
}

/// The basis of a completion length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// The offline engine's own replies, which are exact.
    Offline,
    /// The run's journal.
    Measured,
    /// The offline engine's replies and default assumptions.
    Assumed,
}

/// Remaining usage of one ask by one model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AskForecast {
    /// The stage; `None`, written as `all`, for a total.
    #[serde(serialize_with = "stage_or_all")]
    pub stage: Option<Stage>,
    /// The ask.
    pub ask: String,
    /// The model's name in the pipeline file.
    pub model: String,
    /// Number of calls to make.
    pub calls: u64,
    /// Number of calls in the journal.
    pub paid: u64,
    /// Prompt tokens of the calls to make.
    pub prompt: u64,
    /// Prompt tokens among them that extend an earlier prompt.
    pub cacheable: u64,
    /// Completion tokens of the calls to make.
    pub completion: u64,
    /// USD for the calls to make, without caching; null if the price is unknown.
    pub usd: Option<f64>,
    /// USD if all cacheable tokens are read from a prefix cache.
    pub usd_cached: Option<f64>,
    /// The basis of the completion tokens.
    pub basis: Basis,
}

/// Duration of a stage, counting only calls to served models.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StageForecast {
    /// The stage.
    pub stage: Stage,
    /// Number of calls to make.
    pub calls: u64,
    /// Seconds.
    pub wall_s: f64,
}

/// A limit of `[budget]` and the expected value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bound {
    /// The limit's key.
    pub key: &'static str,
    /// The limit.
    pub max: f64,
    /// The expected value; null if a price is unknown.
    pub expected: Option<f64>,
    /// Whether the run would stop at the limit.
    pub reached: bool,
}

/// The forecast of a run, as printed by `build --dry-run --json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Forecast {
    /// The run's folder. Nothing is written to it.
    pub run: PathBuf,
    /// The assumed duration of each call in seconds; null if some durations are from the journal.
    pub latency_s: Option<f64>,
    /// By stage, ask and model, in the order of the stages.
    pub asks: Vec<AskForecast>,
    /// The total of the calls to make; `paid` is the number of calls in the journal.
    pub total: AskForecast,
    /// USD for the calls in the journal; null if a price is unknown.
    pub paid_usd: Option<f64>,
    /// By stage, in order.
    pub stages: Vec<StageForecast>,
    /// Duration of the calls to make at the configured concurrency and rate limits, in seconds.
    pub wall_s: f64,
    /// Rows made in the dry run: scenes, characters, conversations, samples. Served models make more or fewer.
    pub rows: BTreeMap<&'static str, u64>,
    /// The limits of `[budget]`.
    pub budget: Vec<Bound>,
}

/// Performs a dry run and returns its forecast. Writes no files and opens no connections.
pub fn forecast(loaded: Loaded, options: &ForecastOptions, reporter: Arc<dyn Reporter>) -> Result<Forecast, RunError> {
    let run = options.out.clone().unwrap_or_else(|| PathBuf::from("outputs").join(&loaded.file.name));
    let journal = match JournalView::open(&run.join("journal.jsonl")) {
        Err(StoreError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => None,
        view => Some(view?),
    };
    let measured =
        Arc::new(journal.as_ref().map_or_else(|| Ok(JournalStats::default()), |view| JournalStats::of(view, &loaded))?);
    let spent = journal.as_ref().map(|view| view.paid().clone()).unwrap_or_default();
    let (latency, statistics) = (options.latency, Arc::clone(&measured));
    let dry_run = Arc::new(DryRun::new(move |model, ask| statistics.expected(model, ask, latency)));
    let prompts = Prompts::new(stages::prompts(), &loaded.prompts)?;
    let session =
        Session::dry_running(loaded.file.seed, prompts, Arc::new(ReadOnlyJournal(journal)), Arc::clone(&dry_run));
    let session = super::run::only_verdicts(session, &options.judges);
    let (loaded, session) = (Arc::new(loaded), Arc::new(session));
    let clock = Arc::new(Clock { reporter, dry_run: Arc::clone(&dry_run), stages: Mutex::default() });
    let (_sender, stop) = watch::channel(false);
    // A dry run writes no data set, so it also runs for additional judges.
    let limit = options.limit;
    let runner = RunOptions { out: None, limit, replay: false, judges: vec![], until: Stage::Export, stop };

    let idle = Arc::clone(&dry_run);
    // On a single thread, an idle runtime means that every task waits for a call or a book.
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.on_thread_park(move || idle.idle()).build().map_err(RunError::Start)?;
    let reporter: Arc<dyn Reporter> = Arc::<Clock>::clone(&clock);
    let rows = runtime.block_on(super::run::dry_run(Arc::clone(&loaded), runner, reporter, Arc::clone(&session)))?;

    let accounts = session.usage_tracker.accounts();
    let mut asks: Vec<AskForecast> = accounts.iter().map(|account| ask(account, &loaded, &measured)).collect();
    asks.sort_by(|a, b| (a.stage, &a.ask, &a.model).cmp(&(b.stage, &b.ask, &b.model)));
    let total = total(&asks);
    let paid = accounts.iter().map(|account| account.kept.usd).try_fold(0.0, |sum, usd| Some(sum + usd?));
    Ok(Forecast {
        run,
        latency_s: (options.latency.is_some() || !measured.has_latency())
            .then(|| options.latency.unwrap_or_else(assumed_latency).as_secs_f64()),
        budget: budget(&loaded, &total, &spent),
        stages: clock.stages(&asks),
        wall_s: dry_run.now().as_secs_f64(),
        rows,
        paid_usd: paid,
        asks,
        total,
    })
}

fn ask(account: &Account, loaded: &Loaded, measured: &JournalStats) -> AskForecast {
    let Account { model, totals, kept, .. } = account;
    let entry = &loaded.file.models[model];
    let (price, served) = (entry.price(), matches!(entry, ModelEntry::OpenAi(_)));
    let prompt = totals.usage.prompt.saturating_sub(kept.usage.prompt);
    let completion = totals.usage.completion.saturating_sub(kept.usage.completion);
    let cacheable = part(prompt, account.shared);
    let usd = |cached| price.map(|price| price.of(&Usage { prompt, cached, completion, ..Usage::default() }));
    AskForecast {
        stage: stage_of(account.ask),
        ask: account.ask.to_owned(),
        model: model.clone(),
        calls: totals.made,
        paid: totals.journal,
        prompt,
        cacheable,
        completion,
        usd: usd(0),
        usd_cached: usd(cacheable),
        basis: match (served, measured.ask(model, account.ask)) {
            (false, _) => Basis::Offline,
            (true, Some(_)) => Basis::Measured,
            (true, None) => Basis::Assumed,
        },
    }
}

#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "the signature that serde requires")]
fn stage_or_all<S: Serializer>(stage: &Option<Stage>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(stage.map_or("all", Stage::name))
}

fn total(asks: &[AskForecast]) -> AskForecast {
    let sum = |of: fn(&AskForecast) -> u64| asks.iter().map(of).sum();
    let usd = |of: fn(&AskForecast) -> Option<f64>| asks.iter().map(of).try_fold(0.0, |sum, usd| Some(sum + usd?));
    let is = |basis| asks.iter().any(|ask| ask.basis == basis && ask.calls > 0);
    AskForecast {
        stage: None,
        ask: "all".to_owned(),
        model: String::new(),
        calls: sum(|ask| ask.calls),
        paid: sum(|ask| ask.paid),
        prompt: sum(|ask| ask.prompt),
        cacheable: sum(|ask| ask.cacheable),
        completion: sum(|ask| ask.completion),
        usd: usd(|ask| ask.usd),
        usd_cached: usd(|ask| ask.usd_cached),
        basis: if is(Basis::Assumed) {
            Basis::Assumed
        } else if is(Basis::Measured) {
            Basis::Measured
        } else {
            Basis::Offline
        },
    }
}

/// Compares the limits with the expected usage, on top of the journal's usage including retries.
#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
fn budget(loaded: &Loaded, total: &AskForecast, spent: &BTreeMap<String, Usage>) -> Vec<Bound> {
    let budget = &loaded.file.budget;
    let known = |(name, usage)| Some((loaded.file.models.get(name)?.price(), usage));
    let spent: Vec<(Option<Price>, &Usage)> = spent.iter().filter_map(known).collect();
    let usd = total
        .usd
        .and_then(|usd| spent.iter().try_fold(usd, |sum, (price, usage)| Some(sum + price.as_ref()?.of(usage))));
    let tokens =
        spent.iter().map(|(_, usage)| usage.prompt + usage.completion).sum::<u64>() + total.prompt + total.completion;
    let bounds = [
        ("max_usd", budget.max_usd, usd),
        ("max_calls", budget.max_calls.map(|max| max as f64), Some(total.calls as f64)),
        ("max_tokens", budget.max_tokens.map(|max| max as f64), Some(tokens as f64)),
    ];
    let bound = |(key, max, expected): (&'static str, Option<f64>, Option<f64>)| {
        let max = max?;
        Some(Bound { key, max, expected, reached: expected.is_some_and(|expected| expected > max) })
    };
    bounds.into_iter().filter_map(bound).collect()
}

/// A read-only journal.
struct ReadOnlyJournal(Option<JournalView>);

impl Journal for ReadOnlyJournal {
    fn find(&self, key: &str) -> Result<Option<Answered>, JournalError> {
        self.0.as_ref().map_or(Ok(None), |view| view.find(key))
    }

    fn write(&self, _: Record) -> BoxFuture<'_, Result<(), JournalError>> {
        async { Ok(()) }.boxed()
    }
}

/// Records the simulated begin and end of stages, and forwards events.
struct Clock {
    reporter: Arc<dyn Reporter>,
    dry_run: Arc<DryRun>,
    stages: Mutex<Vec<(Stage, Duration, Duration)>>,
}

impl Clock {
    fn stages(&self, asks: &[AskForecast]) -> Vec<StageForecast> {
        let stages = self.stages.lock().unwrap_or_else(PoisonError::into_inner);
        let forecast = |(stage, started, ended): &(Stage, Duration, Duration)| StageForecast {
            stage: *stage,
            calls: asks.iter().filter(|ask| ask.stage == Some(*stage)).map(|ask| ask.calls).sum(),
            wall_s: ended.saturating_sub(*started).as_secs_f64(),
        };
        stages.iter().map(forecast).collect()
    }
}

impl Reporter for Clock {
    fn report(&self, event: Event) {
        let now = self.dry_run.now();
        let mut stages = self.stages.lock().unwrap_or_else(PoisonError::into_inner);
        match &event {
            Event::Started { stage, .. } => stages.push((*stage, now, now)),
            Event::Ended { stage, .. } => {
                if let Some((_, _, end)) = stages.iter_mut().find(|(known, _, _)| known == stage) {
                    *end = now;
                }
            }
            _ => {}
        }
        drop(stages);
        // Rejects of a dry run are not reported.
        if !matches!(event, Event::Rejected(_)) {
            self.reporter.report(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ask_has_a_stage() {
        let asks: Vec<String> = stages::answers().into_iter().map(|(ask, _)| ask.to_owned()).collect();
        for ask in &asks {
            assert!(stage_of(ask).is_some_and(|stage| Stage::OF_RUN.contains(&stage)), "{ask}");
        }
    }
}
