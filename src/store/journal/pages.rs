//! Reading a journal: by key, and from its beginning to its end.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use serde::Deserialize;
use serde_json::Value;

use super::super::StoreError;
use super::line::{Place, Stored, StoredRequest, Text, hash, parse};
use super::scan::{Index, Scan, scan};
use crate::llm::{JournalError, Record, Request};
use crate::schema::Message;

/// A journal's file, and where everything stands in it.
#[derive(Debug)]
pub(super) struct Pages {
    pub(super) path: PathBuf,
    pub(super) file: File,
    pub(super) index: Arc<RwLock<Index>>,
}

impl Pages {
    pub(super) fn index(&self) -> RwLockReadGuard<'_, Index> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the record of a key; `None` when there is none, or when a text of its request was damaged.
    pub(super) fn find(&self, key: &str) -> Result<Option<Record>, JournalError> {
        let Some(place) = self.index().records.get(&hash(key)).copied() else { return Ok(None) };
        self.record(place)
    }

    fn record(&self, place: Place) -> Result<Option<Record>, JournalError> {
        let stored: Stored = self.value(place)?;
        let mut messages = Vec::with_capacity(stored.request.messages.len());
        for message in stored.request.messages {
            let content = match (message.content, message.text) {
                (Some(content), _) => Some(content),
                (None, Some(hash)) => self.text(&hash)?,
                (None, None) => None,
            };
            let Some(content) = content else { return Ok(None) };
            messages.push(Message { role: message.role, content });
        }
        let schema = match stored.request.schema {
            None => Value::Null,
            Some(hash) => {
                let Some(schema) = self.text(&hash)? else { return Ok(None) };
                serde_json::from_str(&schema).map_err(|error| self.error("read", error.into()))?
            }
        };
        let StoredRequest { model, sampling, extra_body, .. } = stored.request;
        Ok(Some(Record {
            key: stored.key,
            parent: stored.parent,
            ask: stored.ask,
            model: stored.model,
            draw: stored.draw,
            request: Request { model, messages, sampling, schema, extra_body },
            reply: stored.reply,
            usage: stored.usage,
            requests: stored.requests,
            latency_ms: stored.latency_ms,
        }))
    }

    /// Reads a value of the file, checked already when the file was opened.
    fn value<T: for<'de> Deserialize<'de>>(&self, place: Place) -> Result<T, JournalError> {
        let mut bytes = vec![0; place.length as usize];
        read_at(&self.file, &mut bytes, place.offset)
            .and_then(|()| serde_json::from_slice(&bytes).map_err(io::Error::from))
            .map_err(|source| self.error("read", source))
    }

    /// Returns the text of a hash; `None` when its line was damaged.
    fn text(&self, hash: &str) -> Result<Option<String>, JournalError> {
        let place = parse(hash).and_then(|hash| self.index().texts.get(&hash).copied());
        place.map(|place| self.value::<Text>(place).map(|text| text.text)).transpose()
    }

    pub(super) fn error(&self, tried: &str, source: io::Error) -> JournalError {
        JournalError { what: format!("{tried} the journal `{}`", self.path.display()), source }
    }
}

/// A journal as it stood when it was opened, for people who look into it: nothing is written, cut off or locked, so that a
/// run may be at work on it.
#[derive(Debug)]
pub struct JournalView {
    pages: Pages,
    places: Vec<Place>,
    damaged: u64,
    bytes: u64,
}

impl JournalView {
    /// Opens a journal for reading. Every line is checked.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let file = File::open(path).map_err(StoreError::io("open", path))?;
        let Scan { index, end, damaged, .. } = scan(&file, path)?;
        let mut places: Vec<Place> = index.records.values().copied().collect();
        places.sort_unstable_by_key(|place| place.offset);
        let pages = Pages { path: path.to_owned(), file, index: Arc::new(RwLock::new(index)) };
        Ok(Self { pages, places, damaged, bytes: end })
    }

    /// Returns how many records it holds, each key once.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.places.len()
    }

    /// Says whether it holds no record.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Returns how many damaged lines it has.
    #[must_use]
    pub const fn damaged(&self) -> u64 {
        self.damaged
    }

    /// Returns how many bytes its good lines reach to.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the record of a key.
    pub fn find(&self, key: &str) -> Result<Option<Record>, JournalError> {
        self.pages.find(key)
    }

    /// Returns the records in the order in which they were written, read one at a time; those that lack a damaged text are
    /// passed over.
    pub fn records(&self) -> impl Iterator<Item = Result<Record, JournalError>> {
        self.places.iter().filter_map(|place| self.pages.record(*place).transpose())
    }
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(windows)]
fn read_at(file: &File, mut bytes: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, offset)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => (bytes, offset) = (&mut bytes[read..], offset + read as u64),
        }
    }
    Ok(())
}
