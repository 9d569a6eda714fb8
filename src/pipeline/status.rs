//! The status of a run, while it works and at its end.
//!
//! A run writes `status.json` into its folder every two seconds and at its end. Readers need no lock. For runs that
//! were killed or have no `status.json`, the status is derived from the journal.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::error::RunError;
use super::summary::{AskSummary, Calls, FaultCounts, RunOptions, Summary, Tokens};
use crate::config::{Loaded, ModelEntry};
use crate::event::{Event, Reporter};
use crate::llm::{Ask as _, AskError, Price, Session, Usage};
use crate::schema::{Reject, Stage};
use crate::stages::extract::DescribeScene;
use crate::stages::simulate::Rate;
use crate::store::{self, JournalView, RunFolder, StoreError};

/// Interval at which a run writes its status.
const WRITE_INTERVAL: Duration = Duration::from_secs(2);

/// Age of the last status after which a run counts as not responding.
const UNRESPONSIVE_AFTER: Duration = Duration::from_secs(20);

/// The state of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Running.
    Running,
    /// Finished without failures.
    Done,
    /// Finished, but some calls or books failed.
    Failures,
    /// Stopped at a limit of `[budget]`.
    Budget,
    /// Interrupted by the user.
    Interrupted,
    /// Ended by an error.
    Failed,
    /// Not responding: no status was written for 20 seconds, as when the process was killed.
    #[serde(rename = "gone")]
    NotResponding,
    /// No status was written; only the journal is available.
    #[default]
    Unknown,
}

/// Progress of a stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageStatus {
    /// The stage.
    pub stage: Stage,
    /// Number of items done.
    pub done: u64,
    /// Number of items, if known.
    pub total: Option<u64>,
    /// The result, once the stage has ended.
    pub outcome: Option<String>,
}

/// Progress of a lane.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneStatus {
    /// Number of finished conversations.
    pub conversations: u32,
    /// Counts reached, up to τ per dimension.
    pub counted: u32,
    /// Counts required: τ for each dimension.
    pub wanted: u32,
    /// Whether the lane has ended.
    pub has_ended: bool,
}

/// The status of a run, as in `status.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunStatus {
    /// The state.
    pub state: State,
    /// The error that ended the run.
    pub error: Option<String>,
    /// The last stage to run; `None`, written as an empty string, if no status was written.
    #[serde(with = "stage_or_empty")]
    pub until: Option<Stage>,
    /// The `--limit` of the run.
    pub limit: Option<u32>,
    /// How long the run has worked, in seconds.
    pub wall_s: f64,
    /// The stages that have begun.
    pub stages: Vec<StageStatus>,
    /// The lanes that have begun, by id; lanes that share counts are listed under the character's id.
    pub lanes: BTreeMap<String, LaneStatus>,
    /// Number of requests in flight.
    pub in_flight: u64,
    /// Calls.
    pub calls: Calls,
    /// HTTP requests, including those of earlier processes.
    pub requests: u64,
    /// Invalid replies that were asked for again.
    pub reasks: u64,
    /// Failed requests and invalid replies of the process, by model and kind.
    pub faults: FaultCounts,
    /// Tokens.
    pub tokens: Tokens,
    /// USD; null if a price is unknown.
    pub usd: Option<f64>,
    /// Usage by ask and model.
    pub asks: Vec<AskSummary>,
    /// Rows by config: of the finished data set or, before that, of the results so far.
    pub rows: BTreeMap<String, u64>,
    /// Number of rejects by stage.
    pub rejected: BTreeMap<String, u64>,
    /// The effective configuration as TOML, variables not expanded.
    pub configuration: String,
}

/// Tracks the status of a run from its events.
pub(super) struct StatusTracker {
    reporter: Arc<dyn Reporter>,
    session: Arc<Session>,
    started: Instant,
    status: Mutex<RunStatus>,
    /// Locked while the status is written; set to true with the final status, so that no other is written after it.
    is_final: Mutex<bool>,
}

impl StatusTracker {
    /// Creates a tracker that forwards all events to a reporter.
    pub(super) fn new(
        loaded: &Loaded,
        options: &RunOptions,
        reporter: Arc<dyn Reporter>,
        session: Arc<Session>,
    ) -> Self {
        let status = RunStatus {
            state: State::Running,
            until: Some(options.until),
            limit: options.limit,
            configuration: loaded.effective.clone(),
            ..RunStatus::default()
        };
        Self { reporter, session, started: Instant::now(), status: Mutex::new(status), is_final: Mutex::new(false) }
    }

    /// Periodically writes the status and reports the usage, which changes much between two steps of a stage.
    pub(super) async fn write_periodically(self: Arc<Self>, folder: PathBuf) {
        let mut ticks = tokio::time::interval(WRITE_INTERVAL);
        loop {
            ticks.tick().await;
            self.reporter.report(spent(&self.session));
            let (tracker, folder) = (Arc::clone(&self), folder.clone());
            let written = tokio::task::spawn_blocking(move || {
                let is_final = tracker.is_final.lock().unwrap_or_else(PoisonError::into_inner);
                if *is_final { Ok(()) } else { write(&folder, &tracker.now(&folder)) }
            });
            // A failed write is ignored here; a failing disk ends the run where results are written.
            let _ = written.await;
        }
    }

    /// Writes the final status.
    pub(super) fn end(&self, folder: &RunFolder, ended: &Result<Summary, RunError>) {
        let mut status = self.now(folder.path());
        (status.state, status.error) = match ended {
            Ok(_) => (State::Done, None),
            Err(RunError::Failures { .. }) => (State::Failures, None),
            Err(RunError::Ask(AskError::Interrupted)) => (State::Interrupted, None),
            Err(RunError::Ask(error @ AskError::Budget(_))) => (State::Budget, Some(error.detail())),
            // The full text of an error may contain a URL, which must not be written to the run's files.
            Err(RunError::Ask(error)) => (State::Failed, Some(error.detail())),
            Err(error) => (State::Failed, Some(error.to_string())),
        };
        if let Ok(summary) = ended {
            status.finish(summary);
        } else if let Err(RunError::Failures { summary, .. }) = ended {
            status.finish(summary);
        }
        let mut is_final = self.is_final.lock().unwrap_or_else(PoisonError::into_inner);
        *is_final = true;
        let _ = write(folder.path(), &status);
    }

    fn now(&self, run: &Path) -> RunStatus {
        let mut status = self.status.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Summary { calls, requests, reasks, faults, tokens, usd, asks, .. } =
            Summary::new(run, &self.session.usage_tracker, &[]);
        status.in_flight = self.session.in_flight();
        status.wall_s = self.started.elapsed().as_secs_f64();
        status.rows = so_far(&asks);
        RunStatus { calls, requests, reasks, faults, tokens, usd, asks, ..status }
    }
}

impl Reporter for StatusTracker {
    fn report(&self, event: Event) {
        let mut status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
        match &event {
            Event::Started { stage, total } => {
                status.stages.push(StageStatus { stage: *stage, done: 0, total: *total, outcome: None });
            }
            Event::Advanced { stage, done, total } => {
                if let Some(stage) = status.stage(*stage) {
                    // Events of concurrent tasks may arrive out of order.
                    stage.done = stage.done.max(*done);
                    stage.total = total.or(stage.total);
                }
            }
            Event::Ended { stage, outcome } => {
                if let Some(stage) = status.stage(*stage) {
                    stage.outcome = Some(outcome.clone());
                }
            }
            Event::Rejected(Reject { stage, .. }) => *status.rejected.entry(stage.to_string()).or_default() += 1,
            Event::Lane { lane, conversations, counted, wanted, has_ended } => {
                let status = status.lanes.entry(lane.clone()).or_default();
                // Events of conversations that end at the same time may arrive out of order.
                *status = LaneStatus {
                    conversations: status.conversations.max(*conversations),
                    counted: status.counted.max(*counted),
                    wanted: *wanted,
                    has_ended: status.has_ended || *has_ended,
                };
            }
            Event::Spent { .. } | Event::Note(_) => {}
        }
        drop(status);
        self.reporter.report(event);
    }
}

impl RunStatus {
    fn stage(&mut self, stage: Stage) -> Option<&mut StageStatus> {
        self.stages.iter_mut().find(|status| status.stage == stage)
    }

    fn finish(&mut self, summary: &Summary) {
        self.wall_s = summary.wall_s;
        self.rejected =
            summary.rejected.iter().map(|(stage, reasons)| (stage.clone(), reasons.values().sum())).collect();
        if summary.dataset.is_some() {
            let rows = |splits: &BTreeMap<String, u64>| splits.values().sum();
            self.rows = summary.rows.iter().map(|(config, splits)| (config.clone(), rows(splits))).collect();
        }
    }

    /// Replaces the usage with that in a journal.
    fn recount(&mut self, view: &JournalView) -> Result<(), AskError> {
        let mut asks: BTreeMap<(String, String), AskSummary> = BTreeMap::new();
        for record in view.records() {
            let record = record?;
            let entry = asks.entry((record.ask.clone(), record.model.clone())).or_insert_with(|| AskSummary {
                ask: record.ask.clone(),
                model: record.model.clone(),
                ..AskSummary::default()
            });
            entry.calls.journal += u64::from(record.parent.is_none());
            entry.reasks += u64::from(record.parent.is_some());
            entry.requests += u64::from(record.requests);
            entry.tokens.prompt += record.usage.prompt;
            entry.tokens.cached += record.usage.cached;
            entry.tokens.completion += record.usage.completion;
            entry.tokens.reasoning += record.usage.reasoning;
            if record.usage.estimated {
                entry.tokens.estimated += record.usage.prompt + record.usage.completion;
            }
        }
        let prices = prices(&self.configuration);
        for ask in asks.values_mut() {
            let Tokens { prompt, cached, completion, .. } = ask.tokens;
            let usage = Usage { prompt, cached, completion, ..Usage::default() };
            ask.usd = prices.get(&ask.model).and_then(|price| Some(price.as_ref()?.of(&usage)));
        }
        self.asks = asks.into_values().collect();
        let sum = |of: fn(&AskSummary) -> u64| self.asks.iter().map(of).sum();
        self.calls = Calls { made: 0, journal: sum(|ask| ask.calls.journal), failed: self.calls.failed };
        (self.requests, self.reasks, self.in_flight) = (sum(|ask| ask.requests), sum(|ask| ask.reasks), 0);
        self.tokens = Tokens {
            prompt: sum(|ask| ask.tokens.prompt),
            cached: sum(|ask| ask.tokens.cached),
            cacheable: 0,
            completion: sum(|ask| ask.tokens.completion),
            reasoning: sum(|ask| ask.tokens.reasoning),
            estimated: sum(|ask| ask.tokens.estimated),
        };
        self.usd = self.asks.iter().try_fold(0.0, |sum, ask| Some(sum + ask.usd?));
        if self.rows.is_empty() || self.state == State::NotResponding {
            self.rows = so_far(&self.asks);
        }
        Ok(())
    }
}

/// Returns the usage so far.
pub(super) fn spent(session: &Session) -> Event {
    let totals = session.usage_tracker.totals();
    Event::Spent {
        calls: totals.made + totals.journal,
        in_flight: session.in_flight(),
        tokens: totals.usage.prompt + totals.usage.completion,
        usd: totals.usd,
    }
}

/// Returns the prices of the models in a configuration.
fn prices(configuration: &str) -> BTreeMap<String, Option<Price>> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Priced {
        models: BTreeMap<String, ModelEntry>,
    }
    let Priced { models } = toml::from_str(configuration).unwrap_or_default();
    models.into_iter().map(|(name, model)| (name, model.price())).collect()
}

/// Estimates the rows so far from the asks that are answered once per row.
fn so_far(asks: &[AskSummary]) -> BTreeMap<String, u64> {
    let rows = [(DescribeScene::NAME, "scenes"), (Rate::NAME, "conversations")].map(|(name, config)| {
        let answered = asks.iter().filter(|ask| ask.ask == name).map(|ask| ask.calls.made + ask.calls.journal);
        (config.to_owned(), answered.sum())
    });
    rows.into_iter().collect()
}

/// Writes an optional stage as its name or an empty string.
mod stage_or_empty {
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    use crate::schema::Stage;

    #[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "the signature that serde requires")]
    pub(super) fn serialize<S: Serializer>(stage: &Option<Stage>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(stage.map_or("", Stage::name))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Stage>, D::Error> {
        let name = String::deserialize(deserializer)?;
        if name.is_empty() { Ok(None) } else { name.parse().map(Some).map_err(D::Error::custom) }
    }
}

fn write(run: &Path, status: &RunStatus) -> Result<(), StoreError> {
    let json = serde_json::to_vec_pretty(status).expect("a status serializes to JSON");
    store::write(&path(run), &json)
}

fn path(run: &Path) -> PathBuf {
    run.join("status.json")
}

/// Reads the status of the run in a folder, without its lock: from its status file or, if that is missing or outdated,
/// from its journal. `age` returns how long ago a file was written; the age of the status is returned too.
pub fn read_status(
    run: &Path,
    age: impl Fn(&Path) -> Option<Duration>,
) -> Result<(RunStatus, Option<Duration>), RunError> {
    let path = path(run);
    let io = |source| StoreError::Io { tried: "read", path: path.clone(), source };
    let (mut status, age) = match std::fs::read(&path) {
        Ok(bytes) => {
            let status: RunStatus = serde_json::from_slice(&bytes)
                .map_err(|source| StoreError::InvalidJson { path: path.clone(), source })?;
            (status, age(&path))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => (RunStatus::default(), None),
        Err(error) => return Err(io(error).into()),
    };
    if status.state == State::Running && age.is_some_and(|age| age > UNRESPONSIVE_AFTER) {
        status.state = State::NotResponding;
    }
    if matches!(status.state, State::NotResponding | State::Unknown) {
        let view = JournalView::open(&run.join("journal.jsonl"))?;
        status.recount(&view)?;
    }
    Ok((status, age))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read_as_written() {
        let folder = tempfile::tempdir().unwrap();
        let asks = vec![
            AskSummary {
                ask: "simulate/rate".to_owned(),
                calls: Calls { made: 2, journal: 1, failed: 4 },
                ..AskSummary::default()
            },
            AskSummary {
                ask: "extract/describe".to_owned(),
                calls: Calls { made: 5, journal: 0, failed: 0 },
                ..AskSummary::default()
            },
        ];
        let rows = so_far(&asks);
        assert_eq!((rows["conversations"], rows["scenes"]), (3, 5));
        let written =
            RunStatus { state: State::Running, limit: Some(3), asks, rows, usd: Some(0.25), ..RunStatus::default() };
        write(folder.path(), &written).unwrap();
        let (read, age) = read_status(folder.path(), |_| Some(WRITE_INTERVAL)).unwrap();
        assert_eq!(read, written);
        assert_eq!(age, Some(WRITE_INTERVAL));
    }

    #[test]
    fn an_unresponsive_run_is_counted_from_its_journal() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read_status(folder.path(), |_| Some(WRITE_INTERVAL)).is_err(), "there is no run in the folder");
        drop(RunFolder::open(folder.path()).unwrap());
        assert_eq!(read_status(folder.path(), |_| Some(WRITE_INTERVAL)).unwrap().0.state, State::Unknown);
        write(folder.path(), &RunStatus { state: State::Running, in_flight: 7, ..RunStatus::default() }).unwrap();
        let later = |_: &Path| Some(2 * UNRESPONSIVE_AFTER);
        let (status, age) = read_status(folder.path(), later).unwrap();
        assert_eq!((status.state, status.in_flight), (State::NotResponding, 0));
        assert_eq!(age, Some(2 * UNRESPONSIVE_AFTER));
        write(folder.path(), &RunStatus { state: State::Done, ..RunStatus::default() }).unwrap();
        assert_eq!(read_status(folder.path(), later).unwrap().0.state, State::Done, "a finished run writes no more");
    }
}
