//! The road of a run: books, chunks, scenes, characters, conversations, data set.
//!
//! Order, concurrency, resume and failures are decided here, once for all stages. A stage gives records; this file hands
//! them to `store` and tells a [`Reporter`] what happens. It knows no prompt and no rule of any stage.

mod chunk;
mod extract;
mod instruct;
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
use super::about::about;
use super::error::Cause;
use super::manifest::Manifest;
use super::models::Models;
use super::records::Records;
use super::rights::rights;
use super::shelf::Shelf;
use super::status::{Watch, spent};
use super::{AgreementSummary, Loaded, RunError, RunOptions, Stage, Summary};
use crate::event::{Event, Reporter};
use crate::llm::{AskError, Desk, Rehearsal};
use crate::prompt::Prompts;
use crate::schema::{Book, Reject};
use crate::stages;
use crate::stages::export::{self, Figures};
use crate::store::{self, PoolIndex, RunFolder};

/// Runs a pipeline up to and including a stage, and returns what it left.
///
/// What an earlier run in the same folder asked is read back from its journal, so that running again is how a run is
/// resumed. On an error that ends the run, calls in flight are finished and kept first.
pub async fn run(loaded: Loaded, options: RunOptions, reporter: Arc<dyn Reporter>) -> Result<Summary, RunError> {
    let begun = Instant::now();
    let out = options.out.clone().unwrap_or_else(|| PathBuf::from("outputs").join(&loaded.file.name));
    let folder = RunFolder::open(&out)?;
    let journal = Arc::clone(folder.journal());
    if journal.damaged() > 0 {
        let damaged = journal.damaged();
        reporter.report(Event::Note(format!(
            "{damaged} damaged places in the journal left out; the calls that stood there are made again"
        )));
    }
    let prompts = Prompts::new(stages::prompts(), &loaded.prompts)?;
    let (seed, budget) = (loaded.file.seed, loaded.file.budget.clone());
    let desk = Arc::new(only_verdicts(Desk::new(seed, prompts, journal, budget, options.replay), &options.judges));
    let listener = Arc::clone(&reporter);
    desk.on_news(move |news| listener.report(Event::Note(news)));
    let models = Models::new(&loaded, &desk)?;
    let stopping = tokio::spawn(stopping(options.stop.clone(), Arc::clone(&desk)));
    let watch = Arc::new(Watch::new(&loaded, &options, reporter, Arc::clone(&desk)));
    let beating = tokio::spawn(Arc::clone(&watch).beat(folder.path().to_owned()));
    let road = Road::new(Arc::new(loaded), options, watch.clone(), desk, models);
    let ended = go(&road, &folder, begun).await;
    stopping.abort();
    beating.abort();
    watch.end(&folder, &ended);
    ended
}

/// Has a desk ask nothing but the verdicts of further judges, where there are some to be added.
pub(super) fn only_verdicts(desk: Desk, judges: &[String]) -> Desk {
    if judges.is_empty() {
        return desk;
    }
    let judges = judges.to_vec();
    desk.replaying_but(move |ask, draw, model| stages::simulate::is_further_verdict(&judges, ask, draw, model))
}

/// Goes the road, and writes what it yields.
async fn go(road: &Arc<Road>, folder: &RunFolder, begun: Instant) -> Result<Summary, RunError> {
    let mut records = Records::new(folder)?;
    let walked = road.walk(&mut records).await;
    records.take_rejects();
    let vetoed = match (&walked, &road.loaded.vetoes) {
        (Ok(Walked { pool: Some((index, _)), .. }), Some(vetoes)) if road.options.until == Stage::Export => {
            records.veto(vetoes, index, road.options.limit.is_some())
        }
        _ => Ok(()),
    };
    records.rejects.sort();
    records.rejects.dedup();
    // Where verdicts cannot be added, all that the run left stays as it was.
    if walked.is_ok() || road.options.judges.is_empty() {
        folder.write_rejected(&records.rejects)?;
    }
    let Walked { books, chunks, pool } = walked?;
    vetoed?;
    if !matches!(road.options.until, Stage::Chunk | Stage::Extract) {
        store::write_characters(folder.path(), &records.characters)?;
    }

    let mut summary = Summary::new(folder.path(), &road.desk.ledger, &records.rejects);
    summary.short.clone_from(&records.short);
    summary.barren.clone_from(&records.barren);
    summary.role_data.clone_from(records.roles.sides.tallies());
    summary.turn_faults = records.played.turn_faults();
    if road.options.until == Stage::Export {
        road.start(Stage::Export, None);
        let (index, pool_hash) = pool.expect("who exports has extracted");
        let mut dataset = folder.new_dataset()?;
        let rights = rights(&road.loaded, &index)?;
        let mut figures = Figures::new(road.loaded.file.seed);
        let tables = records.write(&rights, &index, &mut dataset, &mut figures)?;
        let (charges, tallies) = (summary.charges(), records.roles.sides.tallies().clone());
        let limit = road.options.limit;
        let about = about(&road.loaded, limit, &books, &road.models, &road.desk, charges, tallies);
        let card = export::card(&road.loaded.file.export, &about, &tables);
        summary.count(&tables);
        summary.agreement =
            figures.judges().iter().map(|(name, own)| (name.clone(), AgreementSummary::of(own))).collect();
        let files = dataset.finish(&card)?;
        let manifest =
            Manifest::new(&road.loaded, limit, &books, &road.models, &road.desk, Some(pool_hash), &summary, files);
        folder.write_manifest(&manifest)?;
        folder.write_report(&export::report(&export::Report {
            params: &road.loaded.file.export,
            about: &about,
            tables: &tables,
            figures: &figures,
            chunks,
            rejects: &records.rejects,
            short: &records.short,
            barren: &records.barren,
            rights: &rights,
            each_sample: summary.per_sample.map(|each| [each.calls, each.billed, each.cacheable]),
            readings: &records.readings(&rights, &index, &figures)?,
        }))?;
        summary.dataset = Some(folder.dataset());
        road.end(Stage::Export, format!("{} rows in {}", summary.total_rows(), folder.dataset().display()));
    }
    summary.wall_s = begun.elapsed().as_secs_f64();
    failures(summary, books.len(), &records.rejects)
}

/// Goes the road of a run up to the data set without a server and without writing anything, and returns what the offline
/// engine makes of it: rows by config. What was asked, and how long it would take, stands at the desk.
pub(super) async fn rehearse(
    loaded: Arc<Loaded>,
    options: RunOptions,
    reporter: Arc<dyn Reporter>,
    desk: Arc<Desk>,
) -> Result<BTreeMap<&'static str, u64>, RunError> {
    let models = Models::new(&loaded, &desk)?;
    let road = Road::new(loaded, options, reporter, desk, models);
    let mut records = Records::counting();
    let walked = road.walk(&mut records).await?;
    let [roles, role_specific, role_general] = records.roles.counts();
    Ok(BTreeMap::from([
        ("scenes", walked.pool.map_or(0, |(index, _)| index.len() as u64)),
        ("characters", records.characters.len() as u64),
        ("conversations", records.played.conversations()),
        ("samples", records.played.samples()),
        ("roles", roles),
        ("role_specific", role_specific),
        ("role_general", role_general),
    ]))
}

/// Stops the desk when the run is asked to stop.
async fn stopping(mut stop: watch::Receiver<bool>, desk: Arc<Desk>) {
    // Whoever could ask for it may be gone.
    if stop.wait_for(|stop| *stop).await.is_ok() {
        desk.stop();
    }
}

/// Tells a run that did all that it was asked from one with calls that have no answer, or books that cannot be read.
fn failures(summary: Summary, books: usize, rejects: &[Reject]) -> Result<Summary, RunError> {
    let calls = summary.calls;
    let unread = rejects.iter().filter(|reject| is_unread(reject)).count() as u64;
    // Where the director named nobody a lot did, and nothing is missing.
    let by_lot = rejects.iter().filter(|reject| reject.reason == stages::simulate::BY_LOT).count() as u64;
    let (what, failed, total) = match (calls.failed.saturating_sub(by_lot), unread) {
        (0, 0) => return Ok(summary),
        (0, unread) => ("books", unread, books as u64 + unread),
        (failed, _) => ("calls", failed, calls.made + calls.journal + failed),
    };
    let is_failed = |reject: &&Reject| {
        if what == "books" { is_unread(reject) } else { AskError::REASONS.contains(&reject.reason.as_str()) }
    };
    let first = rejects.iter().find(is_failed);
    // What a model said is in the journal, and would be read back.
    let is_kept = rejects.iter().filter(is_failed).all(|reject| AskError::KEPT.contains(&reject.reason.as_str()));
    Err(RunError::Failures {
        what,
        failed,
        total,
        is_kept,
        stage: first.map_or_else(String::new, |reject| reject.stage.clone()),
        first: first.map_or_else(String::new, |reject| reject.id.clone()),
        cause: Cause(first.map_or_else(String::new, |reject| reject.detail.clone())),
        summary: Box::new(summary),
    })
}

/// What all stages of a run share.
struct Road {
    loaded: Arc<Loaded>,
    options: RunOptions,
    reporter: Arc<dyn Reporter>,
    desk: Arc<Desk>,
    models: Models,
    shelf: Arc<Shelf>,
}

impl Road {
    fn new(
        loaded: Arc<Loaded>,
        options: RunOptions,
        reporter: Arc<dyn Reporter>,
        desk: Arc<Desk>,
        models: Models,
    ) -> Arc<Self> {
        let shelf = Shelf::new(loaded.book_paths.clone(), loaded.file.chunk.clone(), options.limit);
        Arc::new(Self { loaded, options, reporter, desk, models, shelf: Arc::new(shelf) })
    }

    /// Goes from stage to stage; what is made goes into `records` even when a later stage fails.
    async fn walk(self: &Arc<Self>, records: &mut Records) -> Result<Walked, RunError> {
        let listed = self.chunk(records).await?;
        let books: Vec<Book> = listed.iter().map(|listed| listed.book.clone()).collect();
        let chunks = listed.iter().map(|listed| listed.chunks).sum();
        if self.options.until == Stage::Chunk {
            return Ok(Walked { books, chunks, pool: None });
        }
        let (index, hash) = self.extract(listed, records).await?;
        let index = Arc::new(index);
        let walked = Walked { books, chunks, pool: Some((Arc::clone(&index), hash)) };
        if self.options.until == Stage::Extract {
            return Ok(walked);
        }
        self.synthesize(&walked.books, &index, records).await?;
        if self.options.until == Stage::Synthesize {
            return Ok(walked);
        }
        // Roles need no conversation.
        if self.options.until != Stage::Instruct {
            self.simulate(records, &index).await?;
        }
        if self.options.until >= Stage::Instruct {
            self.instruct(&walked.books, &index, records).await?;
        }
        Ok(walked)
    }

    /// Does work that fills a core, where it keeps no other task waiting.
    async fn blocking<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        let _busy = self.desk.rehearsal().map(Rehearsal::busy);
        tokio::task::spawn_blocking(work).await.expect("reading a book does not panic")
    }

    fn start(&self, stage: Stage, total: Option<u64>) {
        self.reporter.report(Event::Started { stage: stage.verb(), total });
    }

    fn advance(&self, stage: Stage, done: u64, total: Option<u64>) {
        self.spent();
        self.reporter.report(Event::Advanced { stage: stage.verb(), done, total });
    }

    fn end(&self, stage: Stage, outcome: String) {
        self.spent();
        self.reporter.report(Event::Ended { stage: stage.verb(), outcome });
    }

    fn spent(&self) {
        self.reporter.report(spent(&self.desk));
    }

    fn reject(&self, records: &mut Records, rejects: impl IntoIterator<Item = Reject>) {
        for reject in rejects {
            self.reporter.report(Event::Rejected(reject.clone()));
            records.rejects.push(reject);
        }
    }
}

/// What a run went through.
struct Walked {
    /// The books that it read.
    books: Vec<Book>,
    /// How many chunks they were cut into.
    chunks: u64,
    /// What the pool holds of them, with its hash; none before it was filled.
    pool: Option<(Arc<PoolIndex>, String)>,
}

/// Makes what runs work on: twice as many threads as there are cores, so that an answer that has come is not left lying behind
/// prompts that are being written. On two cores a call with 512 in flight then takes 202 ms of a server's 200 instead of 208.
///
/// # Errors
///
/// When threads cannot be started.
pub fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(cores().saturating_mul(2)).enable_all().build()
}

/// Returns how many cores there are.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Returns an error with its causes in one line.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
