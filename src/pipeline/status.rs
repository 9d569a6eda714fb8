//! How a run stands: what it says of itself while it works and at its end.
//!
//! A run writes `status.json` into its folder every other second and at its end. Whoever looks needs no lock; of a run that
//! was killed, and of one that wrote no such file, the journal tells.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{AskSummary, Calls, FaultCounts, Loaded, ModelEntry, RunError, RunOptions, Summary, Tokens};
use crate::event::{Event, Reporter};
use crate::llm::{AskError, Desk, Price, Usage};
use crate::schema::Reject;
use crate::store::{self, JournalView, RunFolder, StoreError};

/// So often a run that works writes how it stands.
const BEAT: Duration = Duration::from_secs(2);

/// A run that has written nothing for so long works no more.
const SILENCE: Duration = Duration::from_secs(20);

/// What has become of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It works.
    Running,
    /// It did all that it was asked.
    Done,
    /// It went to its end, and some calls or books failed.
    Failures,
    /// It reached a bound of `[budget]`.
    Budget,
    /// Somebody ended it.
    Interrupted,
    /// An error ended it.
    Failed,
    /// It has gone without a word: it was killed, or its machine was.
    Gone,
    /// It wrote no status: only its journal tells.
    #[default]
    Unknown,
}

/// How far a stage is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageStanding {
    /// The stage's verb.
    pub stage: String,
    /// Items done.
    pub done: u64,
    /// How many there are, where that is known.
    pub total: Option<u64>,
    /// What came out, once it has ended.
    pub outcome: Option<String>,
}

/// How far a lane is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneStanding {
    /// Conversations that have ended.
    pub conversations: u32,
    /// Counts reached, those over τ left out.
    pub counted: u32,
    /// Counts wanted: τ for each dimension.
    pub wanted: u32,
    /// Whether nothing more is played.
    pub has_ended: bool,
}

/// How a run stands. Its JSON form is `status.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Standing {
    /// What has become of it.
    pub state: State,
    /// Why it ended before its time.
    pub error: Option<String>,
    /// The last stage that it was to run.
    pub until: String,
    /// How small `--limit` keeps it.
    pub limit: Option<u32>,
    /// How long it has worked, in seconds.
    pub wall_s: f64,
    /// Its stages, as far as they have begun.
    pub stages: Vec<StageStanding>,
    /// The lanes of `simulate`, by id, as far as they have begun; of lanes that share counts the character's id.
    pub lanes: BTreeMap<String, LaneStanding>,
    /// Requests that are being answered.
    pub in_flight: u64,
    /// Calls.
    pub calls: Calls,
    /// HTTP requests, those of earlier processes included.
    pub requests: u64,
    /// Replies of no use that were asked for again.
    pub reasks: u64,
    /// Requests and replies of its process that were of no use, by model and kind.
    pub faults: FaultCounts,
    /// Tokens.
    pub tokens: Tokens,
    /// USD; null where a price is unknown.
    pub usd: Option<f64>,
    /// The same by ask and model.
    pub asks: Vec<AskSummary>,
    /// Rows by config: of the data set once it is written, before that what has been made so far.
    pub rows: BTreeMap<String, u64>,
    /// Rejects by stage.
    pub rejected: BTreeMap<String, u64>,
    /// The whole configuration as TOML, variables by name only.
    pub configuration: String,
}

/// Notes how a run stands, from what it reports.
pub(super) struct Watch {
    reporter: Arc<dyn Reporter>,
    desk: Arc<Desk>,
    begun: Instant,
    standing: Mutex<Standing>,
    /// Held while it is written; becomes true with the last word, so that none comes after it.
    over: Mutex<bool>,
}

impl Watch {
    /// Makes a watch that hands everything on to a reporter.
    pub(super) fn new(loaded: &Loaded, options: &RunOptions, reporter: Arc<dyn Reporter>, desk: Arc<Desk>) -> Self {
        let standing = Standing {
            state: State::Running,
            until: options.until.verb().to_owned(),
            limit: options.limit,
            configuration: loaded.effective.clone(),
            ..Standing::default()
        };
        Self { reporter, desk, begun: Instant::now(), standing: Mutex::new(standing), over: Mutex::new(false) }
    }

    /// Writes how the run stands, again and again, and reports what is spent: much is between two steps of a stage.
    pub(super) async fn beat(self: Arc<Self>, folder: PathBuf) {
        let mut beats = tokio::time::interval(BEAT);
        loop {
            beats.tick().await;
            self.reporter.report(spent(&self.desk));
            let (watch, folder) = (Arc::clone(&self), folder.clone());
            let said = tokio::task::spawn_blocking(move || {
                let over = watch.over.lock().unwrap_or_else(PoisonError::into_inner);
                if *over { Ok(()) } else { write(&folder, &watch.now(&folder)) }
            });
            // Nothing depends on it: a disk that fails ends the run where it matters.
            let _ = said.await;
        }
    }

    /// Writes how the run ended.
    pub(super) fn end(&self, folder: &RunFolder, ended: &Result<Summary, RunError>) {
        let mut standing = self.now(folder.path());
        (standing.state, standing.error) = match ended {
            Ok(_) => (State::Done, None),
            Err(RunError::Failures { .. }) => (State::Failures, None),
            Err(RunError::Ask(AskError::Interrupted)) => (State::Interrupted, None),
            Err(RunError::Ask(error @ AskError::Budget(_))) => (State::Budget, Some(error.detail())),
            // The text of an error may have an address, which belongs to no file of a run.
            Err(RunError::Ask(error)) => (State::Failed, Some(error.detail())),
            Err(error) => (State::Failed, Some(error.to_string())),
        };
        if let Ok(summary) = ended {
            standing.finish(summary);
        } else if let Err(RunError::Failures { summary, .. }) = ended {
            standing.finish(summary);
        }
        let mut over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
        *over = true;
        let _ = write(folder.path(), &standing);
    }

    fn now(&self, run: &Path) -> Standing {
        let mut standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Summary { calls, requests, reasks, faults, tokens, usd, asks, .. } =
            Summary::new(run, &self.desk.ledger, &[]);
        standing.in_flight = self.desk.in_flight();
        standing.wall_s = self.begun.elapsed().as_secs_f64();
        standing.rows = so_far(&asks);
        Standing { calls, requests, reasks, faults, tokens, usd, asks, ..standing }
    }
}

impl Reporter for Watch {
    fn report(&self, event: Event) {
        let mut standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        match &event {
            Event::Started { stage, total } => {
                let stage = StageStanding { stage: (*stage).to_owned(), total: *total, ..StageStanding::default() };
                standing.stages.push(stage);
            }
            Event::Advanced { stage, done, total } => {
                if let Some(stage) = standing.stage(stage) {
                    // Events of many tasks overtake each other.
                    stage.done = stage.done.max(*done);
                    stage.total = total.or(stage.total);
                }
            }
            Event::Ended { stage, outcome } => {
                if let Some(stage) = standing.stage(stage) {
                    stage.outcome = Some(outcome.clone());
                }
            }
            Event::Rejected(Reject { stage, .. }) => *standing.rejected.entry(stage.clone()).or_default() += 1,
            Event::Lane { lane, conversations, counted, wanted, has_ended } => {
                let standing = standing.lanes.entry(lane.clone()).or_default();
                // Events of conversations that end at once overtake each other.
                *standing = LaneStanding {
                    conversations: standing.conversations.max(*conversations),
                    counted: standing.counted.max(*counted),
                    wanted: *wanted,
                    has_ended: standing.has_ended || *has_ended,
                };
            }
            Event::Spent { .. } | Event::Note(_) => {}
        }
        drop(standing);
        self.reporter.report(event);
    }
}

impl Standing {
    fn stage(&mut self, verb: &str) -> Option<&mut StageStanding> {
        self.stages.iter_mut().find(|stage| stage.stage == verb)
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

    /// Counts what a journal has of each ask and model, in place of what the run said last.
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
        if self.rows.is_empty() || self.state == State::Gone {
            self.rows = so_far(&self.asks);
        }
        Ok(())
    }
}

/// Returns what has been spent so far.
pub(super) fn spent(desk: &Desk) -> Event {
    let totals = desk.ledger.totals();
    Event::Spent {
        calls: totals.made + totals.journal,
        in_flight: desk.in_flight(),
        tokens: totals.usage.prompt + totals.usage.completion,
        usd: totals.usd,
    }
}

/// Returns the prices of the models of a configuration, as far as it has them.
fn prices(configuration: &str) -> BTreeMap<String, Option<Price>> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Priced {
        models: BTreeMap<String, ModelEntry>,
    }
    let Priced { models } = toml::from_str(configuration).unwrap_or_default();
    models.into_iter().map(|(name, model)| (name, model.price())).collect()
}

/// Returns what the answers so far have made: each of these asks is answered once for a row.
fn so_far(asks: &[AskSummary]) -> BTreeMap<String, u64> {
    let rows = [("extract/describe", "scenes"), ("simulate/rate", "conversations")].map(|(name, config)| {
        let answered = asks.iter().filter(|ask| ask.ask == name).map(|ask| ask.calls.made + ask.calls.journal);
        (config.to_owned(), answered.sum())
    });
    rows.into_iter().collect()
}

fn write(run: &Path, standing: &Standing) -> Result<(), StoreError> {
    let json = serde_json::to_vec_pretty(standing).expect("a standing is plain data");
    store::write(&path(run), &json)
}

fn path(run: &Path) -> PathBuf {
    run.join("status.json")
}

/// Reads how the run in a folder stands, without its lock: from what it says of itself, and from its journal where it says
/// nothing. `age` tells how long ago a file was written; that of its last word is returned too.
pub fn standing(run: &Path, age: impl Fn(&Path) -> Option<Duration>) -> Result<(Standing, Option<Duration>), RunError> {
    let path = path(run);
    let io = |source| StoreError::Io { tried: "read", path: path.clone(), source };
    let (mut standing, age) = match std::fs::read(&path) {
        Ok(bytes) => {
            let standing: Standing =
                serde_json::from_slice(&bytes).map_err(|source| StoreError::Json { path: path.clone(), source })?;
            (standing, age(&path))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => (Standing::default(), None),
        Err(error) => return Err(io(error).into()),
    };
    if standing.state == State::Running && age.is_some_and(|age| age > SILENCE) {
        standing.state = State::Gone;
    }
    if matches!(standing.state, State::Gone | State::Unknown) {
        let view = JournalView::open(&run.join("journal.jsonl"))?;
        standing.recount(&view)?;
    }
    Ok((standing, age))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_run_wrote_is_read_again() {
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
        let told =
            Standing { state: State::Running, limit: Some(3), asks, rows, usd: Some(0.25), ..Standing::default() };
        write(folder.path(), &told).unwrap();
        let (read, age) = standing(folder.path(), |_| Some(BEAT)).unwrap();
        assert_eq!(read, told);
        assert_eq!(age, Some(BEAT));
    }

    #[test]
    fn a_run_that_falls_silent_is_gone_and_its_journal_tells() {
        let folder = tempfile::tempdir().unwrap();
        assert!(standing(folder.path(), |_| Some(BEAT)).is_err(), "there is no run");
        drop(RunFolder::open(folder.path()).unwrap());
        assert_eq!(standing(folder.path(), |_| Some(BEAT)).unwrap().0.state, State::Unknown);
        write(folder.path(), &Standing { state: State::Running, in_flight: 7, ..Standing::default() }).unwrap();
        let later = |_: &Path| Some(2 * SILENCE);
        let (gone, age) = standing(folder.path(), later).unwrap();
        assert_eq!((gone.state, gone.in_flight), (State::Gone, 0));
        assert_eq!(age, Some(2 * SILENCE));
        write(folder.path(), &Standing { state: State::Done, ..Standing::default() }).unwrap();
        assert_eq!(standing(folder.path(), later).unwrap().0.state, State::Done, "what has ended may be silent");
    }
}
