//! The road of a run: books, chunks, scenes, characters, conversations, data set.
//!
//! Order, concurrency, resume and failures are decided here once for all stages. A stage gives records; this file brings
//! them to `store` and tells a [`Reporter`] what happens.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use tokio::task::JoinSet;

use super::cast::Cast;
use super::manifest::{self, Manifest};
use super::{Loaded, RunError, RunOptions, Stage, Summary};
use crate::event::{Event, Reporter};
use crate::llm::{AskError, Desk};
use crate::prompt::Prompts;
use crate::schema::{Book, Character, Chunk, Language, Reject, Scene};
use crate::stages::{self, chunk, export, extract, select, simulate, synthesize};
use crate::store::{Pool, RunFolder};

/// Runs a pipeline up to and including a stage, and returns what it left.
///
/// What an earlier run of the same folder has asked is read back from its journal, so that running again is how a run is
/// resumed. On an error that ends the run, calls in flight are finished and kept first.
pub async fn run(loaded: Loaded, options: RunOptions, reporter: Arc<dyn Reporter>) -> Result<Summary, RunError> {
    let begun = Instant::now();
    let out = options.out.clone().unwrap_or_else(|| ["outputs", &loaded.file.name].iter().collect());
    let folder = RunFolder::open(&out)?;
    let journal = folder.journal()?;
    let damaged = journal.damaged();
    if damaged > 0 {
        let note = format!("{damaged} damaged journal records are left out; their calls are made again");
        reporter.report(Event::Note(note));
    }
    let prompts = Prompts::new(stages::prompts(), &loaded.prompts).map_err(RunError::Prompt)?;
    let budget = loaded.file.budget.clone();
    let desk = Arc::new(Desk::new(loaded.file.seed, prompts, Arc::new(journal), budget, options.replay, options.stop.clone()));
    let cast = Cast::new(&loaded, &desk)?;
    let mut road = Road {
        loaded: &loaded,
        options: &options,
        reporter: &reporter,
        desk: &desk,
        cast: &cast,
        pool: Pool::open(&loaded.file.extract.pool)?,
        books: Vec::new(),
        rejects: Vec::new(),
    };
    let walked = road.walk().await;
    let (records, pool_hash) = match walked {
        Ok(walked) => walked,
        Err(error) => return Err(error),
    };
    folder.write_rejected(&records.rejects)?;
    let mut summary = Summary::new(&out, &records, &desk.ledger.totals());
    if options.until == Stage::Export {
        let ended = Stage::Export.verb();
        reporter.report(Event::Started { stage: ended, total: None });
        let (tables, card) = dataset(&loaded, &cast, &desk, &records)?;
        let files = folder.write_dataset(&card, tables)?;
        summary.dataset = Some(folder.dataset());
        let manifest = Manifest::new(&loaded, &road.books, &cast, &desk, pool_hash, &records, files);
        folder.write_manifest(&manifest)?;
        reporter.report(Event::Ended { stage: ended, outcome: format!("{}", folder.dataset().display()) });
    }
    summary.wall_s = begun.elapsed().as_secs_f64();
    Ok(summary)
}
