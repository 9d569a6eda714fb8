//! The thread that appends to the journal: all that waits, one sync, then the acknowledgements.

use std::collections::hash_map::Entry;
use std::fs::File;
use std::io::{self, Write as _};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::oneshot;

use super::line::{Hash, Text, append, hash, hexadecimal, stored};
use super::scan::Index;
use crate::llm::Record;

/// A batch is written when it has grown to so many bytes, though more writes may wait.
const BATCH: usize = 4 << 20;

/// A record on its way to the file.
pub(super) struct Job {
    key: Hash,
    record: String,
    texts: Vec<(Hash, String)>,
    done: oneshot::Sender<Result<(), (io::ErrorKind, String)>>,
}
impl Job {
    /// Makes a job; its outcome goes to `done`.
    pub(super) fn new(record: Record, done: oneshot::Sender<Result<(), (io::ErrorKind, String)>>) -> Self {
        let (stored, texts) = stored(record);
        let record = serde_json::to_string(&stored).expect("a record has string keys only");
        Self { key: hash(&stored.key), record, texts, done }
    }
}

/// The thread that owns the end of the file.
pub(super) struct Writer {
    pub(super) file: File,
    pub(super) end: u64,
    pub(super) index: Arc<RwLock<Index>>,
    pub(super) failed: Option<(io::ErrorKind, String)>,
}

impl Writer {
    /// Writes until every sender is gone: all that waits, one sync, then the acknowledgements.
    pub(super) fn run(mut self, jobs: &Receiver<Job>) {
        while let Ok(first) = jobs.recv() {
            let (mut batch, mut new, mut waiting) = (Vec::new(), Index::default(), Vec::new());
            let mut next = Some(first);
            while let Some(job) = next {
                for (hash, text) in job.texts {
                    let is_known = self.index.read().unwrap_or_else(PoisonError::into_inner).texts.contains_key(&hash);
                    if let (false, Entry::Vacant(entry)) = (is_known, new.texts.entry(hash)) {
                        let text = Text { hash: hexadecimal(&hash), text };
                        let value = serde_json::to_string(&text).expect("a text is JSON");
                        entry.insert(append(&mut batch, self.end, "text", &value));
                    }
                }
                new.records.insert(job.key, append(&mut batch, self.end, "record", &job.record));
                waiting.push(job.done);
                next = if batch.len() < BATCH { jobs.try_recv().ok() } else { None };
            }
            if self.failed.is_none() {
                match self.file.write_all(&batch).and_then(|()| self.file.sync_data()) {
                    Ok(()) => {
                        self.end += batch.len() as u64;
                        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
                        index.records.extend(new.records);
                        index.texts.extend(new.texts);
                    }
                    // Where the file ends now is unknown, so nothing may follow; opening again cuts what is torn.
                    Err(error) => self.failed = Some((error.kind(), error.to_string())),
                }
            }
            for done in waiting {
                // A caller that has gone needs no answer.
                let _ = done.send(self.failed.clone().map_or(Ok(()), Err));
            }
        }
    }
}
