//! What a run will ask and cost, found by rehearsing it: the whole road offline, with the run's own journal, and no file
//! written.
//!
//! Every served model is played by the offline engine, which gets the same asks and renders the same prompts. What the
//! journal has is read back and counts as paid; what it tells of a model (how long its replies are and how long they take, how it
//! counts tokens, how often it is asked again) takes the place of what is assumed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde::Serialize;
use tokio::sync::watch;

use super::measured::{LATENCY, Measured};
use super::{Loaded, ModelEntry, RunError, RunOptions, Stage};
use crate::event::{Event, Reporter};
use crate::llm::{Account, Answered, Desk, Journal, JournalError, Price, Record, Rehearsal, Usage, part};
use crate::prompt::Prompts;
use crate::stages;
use crate::store::{JournalView, StoreError};

/// How a run is rehearsed.
#[derive(Debug, Clone, Default)]
pub struct ForecastOptions {
    /// The run's folder, whose journal counts as paid; `outputs/<name>` when silent.
    pub out: Option<PathBuf>,
    /// As for the run.
    pub limit: Option<u32>,
    /// As for the run.
    pub judges: Vec<String>,
    /// How long every call to a served model takes; when silent what the journal tells, else three seconds.
    pub latency: Option<Duration>,
}

/// Where the length of a model's replies is known from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// The offline engine's own replies.
    Offline,
    /// The run's journal.
    Measured,
    /// Nothing but the offline engine's replies, and what is usual.
    Assumed,
}

/// What an ask to a model is still to take.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AskForecast {
    /// The stage.
    pub stage: String,
    /// The ask.
    pub ask: String,
    /// The model's name in the pipeline file.
    pub model: String,
    /// Calls to be made.
    pub calls: u64,
    /// Calls that the journal has.
    pub paid: u64,
    /// Prompt tokens of the calls to be made.
    pub prompt: u64,
    /// Those of them that extend an earlier prompt.
    pub cacheable: u64,
    /// Completion tokens of the calls to be made.
    pub completion: u64,
    /// USD for the calls to be made, nothing cached; null where the price is unknown.
    pub usd: Option<f64>,
    /// The same when all that is cacheable is read from a cache.
    pub usd_cached: Option<f64>,
    /// Where the completion tokens are from.
    pub basis: Basis,
}

/// How long a stage takes, where served models are all that takes time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StageForecast {
    /// The stage.
    pub stage: String,
    /// Calls to be made.
    pub calls: u64,
    /// Seconds.
    pub wall_s: f64,
}

/// A bound of `[budget]` beside what the run is expected to reach.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bound {
    /// The bound's key.
    pub key: &'static str,
    /// The bound.
    pub max: f64,
    /// What is expected; null where a price is unknown.
    pub expected: Option<f64>,
    /// Whether the run would stop at it.
    pub reached: bool,
}

/// What a run will ask and cost. Its JSON form is what `build --dry-run --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Forecast {
    /// The run's folder. Nothing is written to it.
    pub run: PathBuf,
    /// How long each call was taken to take, in seconds; null where the journal's figures stand for some.
    pub latency_s: Option<f64>,
    /// By stage, ask and model, in the order of the road.
    pub asks: Vec<AskForecast>,
    /// The sum of what is to come; `paid` are the calls that the journal has.
    pub total: AskForecast,
    /// USD for what the journal has; null where a price is unknown.
    pub paid_usd: Option<f64>,
    /// By stage, in the order of the road.
    pub stages: Vec<StageForecast>,
    /// How long the calls to be made take at the configured concurrency and limits, in seconds.
    pub wall_s: f64,
    /// What the rehearsal made: scenes, characters, conversations, samples. A served model makes more or fewer.
    pub rows: BTreeMap<&'static str, u64>,
    /// The bounds of `[budget]`.
    pub budget: Vec<Bound>,
}

/// Rehearses a run, and tells what it will ask. Writes no file and opens no connection.
pub fn forecast(loaded: Loaded, options: &ForecastOptions, reporter: Arc<dyn Reporter>) -> Result<Forecast, RunError> {
    let run = options.out.clone().unwrap_or_else(|| PathBuf::from("outputs").join(&loaded.file.name));
    let journal = match JournalView::open(&run.join("journal.jsonl")) {
        Err(StoreError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => None,
        view => Some(view?),
    };
    let measured =
        Arc::new(journal.as_ref().map_or_else(|| Ok(Measured::default()), |view| Measured::of(view, &loaded))?);
    let spent = journal.as_ref().map(|view| view.paid().clone()).unwrap_or_default();
    let (latency, seen) = (options.latency, Arc::clone(&measured));
    let rehearsal = Arc::new(Rehearsal::new(move |model, ask| seen.expected(model, ask, latency)));
    let prompts = Prompts::new(stages::prompts(), &loaded.prompts)?;
    let desk = Desk::rehearsing(loaded.file.seed, prompts, Arc::new(Read(journal)), Arc::clone(&rehearsal));
    let desk = super::run::only_verdicts(desk, &options.judges);
    let (loaded, desk) = (Arc::new(loaded), Arc::new(desk));
    let clock = Arc::new(Clock { reporter, rehearsal: Arc::clone(&rehearsal), stages: Mutex::default() });
    let (_sender, stop) = watch::channel(false);
    // Of a rehearsal there is no data set.
    let limit = options.limit;
    let road = RunOptions { out: None, limit, replay: false, judges: vec![], until: Stage::Export, stop };

    let idle = Arc::clone(&rehearsal);
    // One thread: on it, nothing to do means that every task waits for a call or for a book.
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.on_thread_park(move || idle.idle()).build().map_err(RunError::Start)?;
    let reporter: Arc<dyn Reporter> = Arc::<Clock>::clone(&clock);
    let rows = runtime.block_on(super::run::rehearse(Arc::clone(&loaded), road, reporter, Arc::clone(&desk)))?;

    let accounts = desk.ledger.accounts();
    let mut asks: Vec<AskForecast> = accounts.iter().map(|account| ask(account, &loaded, &measured)).collect();
    let place = |ask: &AskForecast| Stage::ALL.iter().position(|stage| stage.verb() == ask.stage);
    asks.sort_by(|a, b| (place(a), &a.ask, &a.model).cmp(&(place(b), &b.ask, &b.model)));
    let total = total(&asks);
    let paid = accounts.iter().map(|account| account.kept.usd).try_fold(0.0, |sum, usd| Some(sum + usd?));
    Ok(Forecast {
        run,
        latency_s: (options.latency.is_some() || !measured.tells_latency())
            .then(|| options.latency.unwrap_or(LATENCY).as_secs_f64()),
        budget: budget(&loaded, &total, &spent),
        stages: clock.stages(&asks),
        wall_s: rehearsal.now().as_secs_f64(),
        rows,
        paid_usd: paid,
        asks,
        total,
    })
}

fn ask(account: &Account, loaded: &Loaded, measured: &Measured) -> AskForecast {
    let Account { model, totals, kept, .. } = account;
    let entry = &loaded.file.models[model];
    let (price, served) = (entry.price(), matches!(entry, ModelEntry::OpenAi(_)));
    let prompt = totals.usage.prompt.saturating_sub(kept.usage.prompt);
    let completion = totals.usage.completion.saturating_sub(kept.usage.completion);
    let cacheable = part(prompt, account.shared);
    let usd = |cached| price.map(|price| price.of(&Usage { prompt, cached, completion, ..Usage::default() }));
    AskForecast {
        stage: stage_of(account.ask).to_owned(),
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

/// Returns the stage that an ask belongs to, as the road knows it: the judge works within `simulate`.
fn stage_of(ask: &str) -> &str {
    match ask.split('/').next().unwrap_or(ask) {
        "select" => "simulate",
        // Borders are looked for when a book's turn comes to be extracted.
        "chunk" => "extract",
        stage => stage,
    }
}

fn total(asks: &[AskForecast]) -> AskForecast {
    let sum = |of: fn(&AskForecast) -> u64| asks.iter().map(of).sum();
    let usd = |of: fn(&AskForecast) -> Option<f64>| asks.iter().map(of).try_fold(0.0, |sum, usd| Some(sum + usd?));
    let is = |basis| asks.iter().any(|ask| ask.basis == basis && ask.calls > 0);
    AskForecast {
        stage: "all".to_owned(),
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

/// Sets the bounds beside what is expected, on top of what the journal's answers took, asked for again or not.
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

/// A journal that is read and never written.
struct Read(Option<JournalView>);

impl Journal for Read {
    fn find(&self, key: &str) -> Result<Option<Answered>, JournalError> {
        self.0.as_ref().map_or(Ok(None), |view| view.find(key))
    }

    fn write(&self, _: Record) -> BoxFuture<'_, Result<(), JournalError>> {
        async { Ok(()) }.boxed()
    }
}

/// Notes when stages begin and end by the rehearsal's clock, and hands on what it hears.
struct Clock {
    reporter: Arc<dyn Reporter>,
    rehearsal: Arc<Rehearsal>,
    stages: Mutex<Vec<(&'static str, Duration, Duration)>>,
}

impl Clock {
    fn stages(&self, asks: &[AskForecast]) -> Vec<StageForecast> {
        let stages = self.stages.lock().unwrap_or_else(PoisonError::into_inner);
        let forecast = |(stage, begun, ended): &(&'static str, Duration, Duration)| StageForecast {
            stage: (*stage).to_owned(),
            calls: asks.iter().filter(|ask| ask.stage == *stage).map(|ask| ask.calls).sum(),
            wall_s: ended.saturating_sub(*begun).as_secs_f64(),
        };
        stages.iter().map(forecast).collect()
    }
}

impl Reporter for Clock {
    fn report(&self, event: Event) {
        let now = self.rehearsal.now();
        let mut stages = self.stages.lock().unwrap_or_else(PoisonError::into_inner);
        match &event {
            Event::Started { stage, .. } => stages.push((*stage, now, now)),
            Event::Ended { stage, .. } => {
                if let Some(place) = stages.iter_mut().find(|(known, _, _)| known == stage) {
                    place.2 = now;
                }
            }
            _ => {}
        }
        drop(stages);
        // What a rehearsal leaves out is nobody's loss.
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
            assert!(Stage::ALL.iter().any(|stage| stage.verb() == stage_of(ask)), "{ask}");
        }
    }
}
