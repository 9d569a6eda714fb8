//! The threads of a journal: one appends records, one syncs what was appended in the meantime and acknowledges it, one
//! compresses closed segments.

use std::collections::HashSet;
use std::error::Error as _;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, OnceLock};

use tokio::sync::oneshot;

use super::JournalOptions;
use super::frames::compress_file;
use super::line::Index;
use super::line::{Hash, LineKind, Text, append_line, hash, stored};
use super::record_reader::{RecordReader, Source};
use super::segment::{SegmentForm, closed_path, rotate};
use crate::llm::Record;
use crate::store::error::StoreError;

/// A batch is written when it has this many bytes, even if more records are waiting.
const BATCH_BYTES: usize = 1 << 20;

/// The reason why the journal can no longer be written.
pub(super) type Failure = (io::ErrorKind, String);

/// Notifies the caller that waits for a record to be stored.
pub(super) type Done = oneshot::Sender<Result<(), Failure>>;

/// A record to be written.
pub(super) struct Job {
    key: Hash,
    record: String,
    texts: Vec<(Hash, String)>,
    done: Done,
}

impl Job {
    /// Creates a job; its result is sent to `done`.
    pub(super) fn new(record: Record, done: Done) -> Self {
        let (stored, texts) = stored(record);
        let record = serde_json::to_string(&stored).expect("a record has only string keys");
        Self { key: hash(&stored.key), record, texts, done }
    }
}

/// Lines that are in the file but may not be on disk yet.
pub(super) struct Written {
    file: Arc<File>,
    records: Index,
    waiting: Vec<Done>,
}

/// The thread that appends to the open segment. It continues writing during a sync.
pub(super) struct Writer {
    pub(super) reader: Arc<RecordReader>,
    pub(super) file: Arc<File>,
    pub(super) segment: u32,
    pub(super) end: u64,
    /// The texts of the open segment. Each segment contains all texts of its records, so it can be read without the
    /// others.
    pub(super) texts: HashSet<Hash>,
    pub(super) options: JournalOptions,
    /// After a failure the end of the file or its content is unknown, so nothing more is written. The next open removes
    /// the damaged tail.
    pub(super) failed: Arc<OnceLock<Failure>>,
    pub(super) written: Sender<Written>,
    pub(super) full: Sender<u32>,
}

impl Writer {
    /// Writes records until every sender is dropped. All waiting records are written in one batch.
    pub(super) fn run(mut self, jobs: &Receiver<Job>) {
        while let Ok(first) = jobs.recv() {
            let (mut batch, mut records, mut waiting) = (Vec::new(), Index::default(), Vec::new());
            let mut next = Some(first);
            while let Some(job) = next {
                for (hash, text) in &job.texts {
                    if self.texts.contains(hash) {
                        continue;
                    }
                    for (hash, text) in Text::split(hash, text) {
                        if self.texts.insert(hash) {
                            let value = serde_json::to_string(&text).expect("strings can be serialized");
                            append_line(&mut batch, self.segment, self.end, LineKind::Text, &value);
                        }
                    }
                }
                records.insert(job.key, append_line(&mut batch, self.segment, self.end, LineKind::Record, &job.record));
                waiting.push(job.done);
                next = if batch.len() < BATCH_BYTES { jobs.try_recv().ok() } else { None };
            }
            if self.failed.get().is_none() {
                match (&*self.file).write_all(&batch) {
                    Ok(()) => self.end += batch.len() as u64,
                    Err(error) => fail(&self.failed, (error.kind(), error.to_string())),
                }
            }
            if let Some(failure) = self.failed.get() {
                notify(waiting, &Err(failure.clone()));
            } else {
                let written = Written { file: Arc::clone(&self.file), records, waiting };
                self.written.send(written).expect("the acknowledging thread ends after this one");
            }
            let is_full = self.failed.get().is_none() && self.end >= self.options.segment_bytes;
            if is_full && let Err(error) = self.rotate() {
                fail(&self.failed, failure_of(&error));
            }
        }
    }

    /// Closes the segment, starts the next one and queues the closed one for compression.
    fn rotate(&mut self) -> Result<(), StoreError> {
        let path = &self.reader.path;
        if self.options.sync {
            self.file.sync_data().map_err(StoreError::io("sync", path))?;
        }
        let next = rotate(path, self.segment)?;
        let file = next.try_clone().map_err(StoreError::io("open", path))?;
        self.end = next.metadata().map_err(StoreError::io("read", path))?.len();
        // If the queue is closed, the segment is compressed when the journal is opened again.
        let _ = self.full.send(self.segment);
        self.segment += 1;
        self.texts = HashSet::new();
        self.reader.set_source(self.segment, Source::Uncompressed(file));
        self.file = Arc::new(next);
        Ok(())
    }
}

/// Acknowledges written records until the sender is dropped. All that are waiting share one sync.
pub(super) fn acknowledge(reader: &RecordReader, written: &Receiver<Written>, failed: &OnceLock<Failure>, sync: bool) {
    let mut outcome = Ok(());
    while let Ok(first) = written.recv() {
        let all: Vec<Written> = std::iter::once(first).chain(written.try_iter()).collect();
        for group in all.chunk_by(|one, next| Arc::ptr_eq(&one.file, &next.file)) {
            // After a failed sync the content on disk is unknown, even if a later sync succeeds.
            if sync && outcome.is_ok() {
                outcome = group[0].file.sync_data().map_err(|error| (error.kind(), error.to_string()));
            }
        }
        if let Err(failure) = &outcome {
            fail(failed, failure.clone());
        }
        for Written { records, waiting, .. } in all {
            if outcome.is_ok() {
                reader.add(records);
            }
            notify(waiting, &outcome);
        }
    }
}

fn fail(failed: &OnceLock<Failure>, failure: Failure) {
    // Keep the first failure: it is the cause of the others.
    failed.get_or_init(|| failure);
}

fn notify(waiting: Vec<Done>, outcome: &Result<(), Failure>) {
    for done in waiting {
        // The caller may have been dropped.
        let _ = done.send(outcome.clone());
    }
}

/// Compresses closed segments until the sender is dropped. A segment that cannot be compressed is still readable, and
/// is tried again when the journal is opened next.
pub(super) fn compress(reader: &RecordReader, numbers: &Receiver<u32>) {
    for number in numbers {
        let [uncompressed, compressed] =
            [SegmentForm::Uncompressed, SegmentForm::Compressed].map(|form| closed_path(&reader.path, number, form));
        let compressed = compress_file(&uncompressed, &compressed).and_then(|frames| {
            reader.set_source(number, Source::Compressed { path: compressed, frames });
            fs::remove_file(&uncompressed).map_err(StoreError::io("remove", &uncompressed))
        });
        if let Err(error) = compressed {
            tracing::warn!("failed to compress a journal segment; it stays readable: {}", failure_of(&error).1);
        }
    }
}

/// Returns the kind of an error and the text of the error and its cause.
fn failure_of(error: &StoreError) -> Failure {
    let kind = if let StoreError::Io { source, .. } = error { source.kind() } else { io::ErrorKind::Other };
    (kind, error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {source}")))
}
