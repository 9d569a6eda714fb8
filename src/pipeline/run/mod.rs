//! Runs the stages in order: books, chunks, scenes, characters, conversations, data set.
//!
//! Order, concurrency, resume and failures are handled here, once for all stages. A stage returns records; this module
//! passes them to `store` and reports events to a [`Reporter`]. It knows no prompts and no stage-specific rules.

mod chunk;
mod extract;
mod instruct;
mod manual_edits;
mod simulate;
mod synthesize;
mod tasks;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::watch;

use self::chunk::is_unread;
use self::tasks::Tasks;
use super::book_source::BookSource;
use super::card_metadata::card_metadata;
use super::error::{Cause, FailedItems, RunError};
use super::manifest::Manifest;
use super::models::Models;
use super::quote_limits::quote_limits;
use super::records::Records;
use super::status::{StatusTracker, spent};
use super::summary::{AgreementSummary, RunOptions, Summary};
use crate::config::Loaded;
use crate::event::{Event, Reporter};
use crate::llm::{DryRun, Session};
use crate::prompt::Prompts;
use crate::schema::{Book, Reject, RejectReason, Stage};
use crate::stages;
use crate::stages::export::{self, ReportStatistics};
use crate::store::{self, PoolIndex, RunFolder};

/// Runs a pipeline up to and including a stage, and returns a summary.
///
/// Calls that an earlier run in the same folder made are read from its journal, so rerunning the same command resumes a
/// run. If an error ends the run, calls in flight are finished and saved first.
pub async fn run(loaded: Loaded, options: RunOptions, reporter: Arc<dyn Reporter>) -> Result<Summary, RunError> {
    let started = Instant::now();
    let out = options.out.clone().unwrap_or_else(|| PathBuf::from("outputs").join(&loaded.file.name));
    let folder = RunFolder::open(&out)?;
    let journal = Arc::clone(folder.journal());
    if journal.damaged() > 0 {
        let damaged = journal.damaged();
        reporter.report(Event::Note(format!(
            "skipped {damaged} damaged entries in the journal; their calls are made again"
        )));
    }
    let prompts = Prompts::new(stages::prompts(), &loaded.prompts)?;
    let (seed, budget) = (loaded.file.seed, loaded.file.budget.clone());
    let session =
        Arc::new(only_verdicts(Session::new(seed, prompts, journal, budget, options.replay), &options.judges));
    let listener = Arc::clone(&reporter);
    session.on_address_message(move |message| listener.report(Event::Note(message)));
    let models = Models::new(&loaded, &session)?;
    let stopping = tokio::spawn(stopping(options.stop.clone(), Arc::clone(&session)));
    let tracker = Arc::new(StatusTracker::new(&loaded, &options, reporter, Arc::clone(&session)));
    let status_writer = tokio::spawn(Arc::clone(&tracker).write_periodically(folder.path().to_owned()));
    let runner = Runner::new(Arc::new(loaded), options, tracker.clone(), session, models);
    let ended = go(&runner, &folder, started).await;
    stopping.abort();
    status_writer.abort();
    tracker.end(&folder, &ended);
    ended
}

/// Limits a session to the verdicts of added judges, if there are any; all other answers come from the journal.
pub(super) fn only_verdicts(session: Session, judges: &[String]) -> Session {
    if judges.is_empty() {
        return session;
    }
    let judges = judges.to_vec();
    session.replaying_but(move |draw| stages::simulate::is_extra_verdict(&judges, draw))
}

/// Runs the stages and writes their results.
async fn go(runner: &Arc<Runner>, folder: &RunFolder, started: Instant) -> Result<Summary, RunError> {
    let mut records = Records::new(folder)?;
    let results = runner.run_stages(&mut records).await;
    records.take_rejects();
    let vetoed = match (&results, &runner.loaded.vetoes) {
        (Ok(StageResults { pool: Some((index, _)), .. }), Some(vetoes)) if runner.options.until == Stage::Export => {
            records.veto(vetoes, index, runner.options.limit.is_some())
        }
        _ => Ok(()),
    };
    records.rejects.sort();
    records.rejects.dedup();
    // If adding verdicts failed, the run's existing files stay unchanged.
    if results.is_ok() || runner.options.judges.is_empty() {
        folder.write_rejected(&records.rejects)?;
    }
    let StageResults { books, chunks, pool } = results?;
    vetoed?;
    if !matches!(runner.options.until, Stage::Chunk | Stage::Extract) {
        store::write_characters(folder.path(), &records.characters)?;
    }

    let mut summary = Summary::new(folder.path(), &runner.session.usage_tracker, &records.rejects);
    summary.dimensions_below_target.clone_from(&records.dimensions_below_target);
    summary.dimensions_without_samples.clone_from(&records.dimensions_without_samples);
    summary.role_data.clone_from(records.roles.splits.tallies());
    summary.turn_faults = records.played.turn_faults();
    if runner.options.until == Stage::Export {
        runner.start(Stage::Export, None);
        let (index, pool_hash) = pool.expect("extract runs before export");
        let mut dataset = folder.new_dataset()?;
        let quote_limits = quote_limits(&runner.loaded, &index)?;
        let mut figures = ReportStatistics::new(runner.loaded.file.seed);
        let tables = records.write(&quote_limits, &index, &mut dataset, &mut figures)?;
        let (charges, tallies) = (summary.charges(), records.roles.splits.tallies().clone());
        let limit = runner.options.limit;
        let card_metadata =
            card_metadata(&runner.loaded, limit, &books, &runner.models, &runner.session, charges, tallies);
        let card = export::card(&runner.loaded.file.export, &card_metadata, &tables);
        summary.count(&tables);
        summary.agreement =
            figures.judges().iter().map(|(name, own)| (name.clone(), AgreementSummary::of(own))).collect();
        let files = dataset.finish(&card)?;
        let manifest = Manifest::new(
            &runner.loaded,
            limit,
            &books,
            &runner.models,
            &runner.session,
            Some(pool_hash),
            &summary,
            files,
        );
        folder.write_manifest(&manifest)?;
        folder.write_report(&export::report(&export::Report {
            params: &runner.loaded.file.export,
            metadata: &card_metadata,
            tables: &tables,
            figures: &figures,
            chunks,
            rejects: &records.rejects,
            dimensions_below_target: &records.dimensions_below_target,
            dimensions_without_samples: &records.dimensions_without_samples,
            quote_limits: &quote_limits,
            each_sample: summary.per_sample.map(|each| [each.calls, each.billed, each.cacheable]),
            readings: &records.conversation_views(&quote_limits, &index, &figures)?,
        }))?;
        summary.dataset = Some(folder.dataset());
        runner.end(Stage::Export, format!("{} rows in {}", summary.total_rows(), folder.dataset().display()));
    }
    summary.wall_s = started.elapsed().as_secs_f64();
    failures(summary, books.len(), &records.rejects)
}

/// Runs all stages up to the data set with the offline engine, without a server and without writing files.
///
/// Returns the number of rows by config. Calls and estimated time are recorded in the session.
pub(super) async fn dry_run(
    loaded: Arc<Loaded>,
    options: RunOptions,
    reporter: Arc<dyn Reporter>,
    session: Arc<Session>,
) -> Result<BTreeMap<&'static str, u64>, RunError> {
    let models = Models::new(&loaded, &session)?;
    let runner = Runner::new(loaded, options, reporter, session, models);
    let mut records = Records::counting();
    let results = runner.run_stages(&mut records).await?;
    let [roles, role_specific, role_general] = records.roles.counts();
    Ok(BTreeMap::from([
        ("scenes", results.pool.map_or(0, |(index, _)| index.len() as u64)),
        ("characters", records.characters.len() as u64),
        ("conversations", records.played.conversations()),
        ("samples", records.played.samples()),
        ("roles", roles),
        ("role_specific", role_specific),
        ("role_general", role_general),
    ]))
}

/// Stops the session when the run is asked to stop.
async fn stopping(mut stop: watch::Receiver<bool>, session: Arc<Session>) {
    // The sender may be gone, in which case nothing can request a stop.
    if stop.wait_for(|stop| *stop).await.is_ok() {
        session.stop();
    }
}

/// Returns the summary if all calls were answered and all books were read, else [`RunError::Failures`].
fn failures(summary: Summary, books: usize, rejects: &[Reject]) -> Result<Summary, RunError> {
    let calls = summary.calls;
    let unread = rejects.iter().filter(|reject| is_unread(reject)).count() as u64;
    // If the director named no valid speaker, one was drawn at random, and nothing is missing.
    let by_draw = rejects.iter().filter(|reject| reject.reason == RejectReason::SpeakerDrawn).count() as u64;
    let (items, failed, total) = match (calls.failed.saturating_sub(by_draw), unread) {
        (0, 0) => return Ok(summary),
        (0, unread) => (FailedItems::Books, unread, books as u64 + unread),
        (failed, _) => (FailedItems::Calls, failed, calls.made + calls.journal + failed),
    };
    let is_failed = |reject: &&Reject| {
        if items == FailedItems::Books { is_unread(reject) } else { reject.reason.is_failed_call() }
    };
    let first = rejects.iter().find(is_failed);
    // Replies in the journal would be read back by a rerun.
    let is_kept = rejects.iter().filter(is_failed).all(|reject| reject.reason.is_journaled_failure());
    Err(RunError::Failures {
        items,
        failed,
        total,
        is_kept,
        stage: first.map(|reject| reject.stage),
        first: first.map_or_else(String::new, |reject| reject.id.clone()),
        cause: Cause(first.map_or_else(String::new, |reject| reject.detail.clone())),
        summary: Box::new(summary),
    })
}

/// Shared state of all stages of a run.
struct Runner {
    loaded: Arc<Loaded>,
    options: RunOptions,
    reporter: Arc<dyn Reporter>,
    session: Arc<Session>,
    models: Models,
    book_source: Arc<BookSource>,
}

impl Runner {
    fn new(
        loaded: Arc<Loaded>,
        options: RunOptions,
        reporter: Arc<dyn Reporter>,
        session: Arc<Session>,
        models: Models,
    ) -> Arc<Self> {
        let book_source = BookSource::new(loaded.book_paths.clone(), loaded.file.chunk.clone(), options.limit);
        Arc::new(Self { loaded, options, reporter, session, models, book_source: Arc::new(book_source) })
    }

    /// Runs the stages in order; records made before a failure stay in `records`.
    async fn run_stages(self: &Arc<Self>, records: &mut Records) -> Result<StageResults, RunError> {
        let listed = self.chunk(records).await?;
        let books: Vec<Book> = listed.iter().map(|listed| listed.book.clone()).collect();
        let chunks = listed.iter().map(|listed| listed.chunks).sum();
        if self.options.until == Stage::Chunk {
            return Ok(StageResults { books, chunks, pool: None });
        }
        let (index, hash) = self.extract(listed, records).await?;
        let index = Arc::new(index);
        let results = StageResults { books, chunks, pool: Some((Arc::clone(&index), hash)) };
        if self.options.until == Stage::Extract {
            return Ok(results);
        }
        self.synthesize(&results.books, &index, records).await?;
        if self.options.until == Stage::Synthesize {
            return Ok(results);
        }
        // Instruct needs no conversations.
        if self.options.until != Stage::Instruct {
            self.simulate(records, &index).await?;
        }
        if self.options.until >= Stage::Instruct {
            self.instruct(&results.books, &index, records).await?;
        }
        Ok(results)
    }

    /// Runs CPU-bound work on the blocking thread pool.
    async fn blocking<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        let _busy = self.session.dry_run().map(DryRun::busy);
        tokio::task::spawn_blocking(work).await.expect("CPU-bound work does not panic")
    }

    fn start(&self, stage: Stage, total: Option<u64>) {
        self.reporter.report(Event::Started { stage, total });
    }

    fn advance(&self, stage: Stage, done: u64, total: Option<u64>) {
        self.spent();
        self.reporter.report(Event::Advanced { stage, done, total });
    }

    fn end(&self, stage: Stage, outcome: String) {
        self.spent();
        self.reporter.report(Event::Ended { stage, outcome });
    }

    fn spent(&self) {
        self.reporter.report(spent(&self.session));
    }

    fn reject(&self, records: &mut Records, rejects: impl IntoIterator<Item = Reject>) {
        for reject in rejects {
            self.reporter.report(Event::Rejected(reject.clone()));
            records.rejects.push(reject);
        }
    }
}

/// What a run read.
struct StageResults {
    /// The books that were read.
    books: Vec<Book>,
    /// Number of chunks.
    chunks: u64,
    /// Index of the scene pool and its hash; `None` before extraction.
    pool: Option<(Arc<PoolIndex>, String)>,
}

/// Builds the tokio runtime for runs, with twice as many worker threads as cores.
///
/// With one thread per core, finished answers wait behind prompts that are being rendered. On two cores with 512
/// requests in flight and a server latency of 200 ms, a call takes 202 ms instead of 208.
///
/// # Errors
///
/// If threads cannot be started.
pub fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(cores().saturating_mul(2)).enable_all().build()
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
