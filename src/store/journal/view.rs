//! Read-only access to a journal, including reading all records in order.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io;
use std::path::Path;

use serde_json::Value;

use super::line::{Hash, Position, StoredRecord, StoredRequest, Text, parse_hash};
use super::record_reader::{RecordReader, Source};
use super::scan::{Closed, UsageByModel, add, add_usage, closed_segments, scan_compressed, scan_uncompressed};
use super::segment;
use crate::llm::{Answered, JournalError, Record, Request, Usage};
use crate::schema::Message;
use crate::store::error::StoreError;

/// A snapshot of a journal at the time it was opened. Writes, truncates and locks nothing, so a run may be using the
/// journal.
#[derive(Debug)]
pub struct JournalView {
    reader: RecordReader,
    paid: UsageByModel,
    damaged: u64,
    bytes: u64,
}

impl JournalView {
    /// Opens a journal for reading, by the path of its open file. Checks every line.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        // A run may close or compress a segment while the folder is listed, so a name can be missing from the list.
        // Then try again.
        let mut tries = 0..8;
        loop {
            let is_last = tries.next().is_none();
            match Self::try_open(path) {
                Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound && !is_last => {}
                Err(StoreError::MissingSegment { .. }) if !is_last => {}
                result => return result,
            }
        }
    }

    fn try_open(path: &Path) -> Result<Self, StoreError> {
        // Open the current segment first. If it is closed from now on, the file handle stays valid, and all earlier
        // segments are already closed.
        let open = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            file => Some(file.map_err(StoreError::io("open", path))?),
        };
        let mut segments = match segment::list_segments(path) {
            // The folder is missing, and so is the open segment, which the error below names.
            Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => BTreeMap::new(),
            segments => segments?,
        };
        let last = segments.last_key_value().map_or(0, |(number, _)| *number);
        let number = match &open {
            Some(file) => segment::read_number(file, path)?.unwrap_or(last + 1),
            // A run is between two steps of closing a segment, or a crash interrupted it there.
            None if last > 0 => last + 1,
            None => return Err(StoreError::io("open", path)(io::ErrorKind::NotFound.into())),
        };
        let _ = segments.split_off(&number);
        segment::check_complete(path, &segments, number)?;
        let Closed { mut index, mut sources, mut damaged, mut paid, mut bytes } = closed_segments(path, &segments)?;
        if let Some(file) = open {
            let scan = scan_uncompressed(&file, number, path, |_| {})?;
            add(&mut index, &scan.records);
            add_usage(&mut paid, &scan.paid);
            sources.insert(number, Source::Uncompressed(file));
            damaged += scan.damaged;
            bytes += scan.end;
        }
        Ok(Self { reader: RecordReader::new(path, index, sources), paid, damaged, bytes })
    }

    /// Returns the number of records, counting each key once.
    #[must_use]
    pub fn len(&self) -> usize {
        self.reader.index().len()
    }

    /// Returns whether it holds no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.reader.index().is_empty()
    }

    /// Returns the number of files.
    #[must_use]
    pub fn segments(&self) -> usize {
        self.reader.sources().len()
    }

    /// Returns the number of damaged places: lines, and compressed frames.
    #[must_use]
    pub const fn damaged(&self) -> u64 {
        self.damaged
    }

    /// Returns the size on disk in bytes, without an incomplete last line.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the token usage of all records, by model name.
    #[must_use]
    pub const fn paid(&self) -> &BTreeMap<String, Usage> {
        &self.paid
    }

    /// Returns the answer that is recorded for a key.
    pub fn find(&self, key: &str) -> Result<Option<Answered>, JournalError> {
        self.reader.find(key)
    }

    /// Returns the records in the order in which they were written, built one at a time. Skips records that refer to a
    /// damaged text. One segment is in memory at a time.
    pub fn records(&self) -> impl Iterator<Item = Result<Record, JournalError>> {
        self.reader.sources().into_iter().flat_map(move |(number, source)| {
            let (lines, failed) = match Lines::read(number, &source, &self.reader.path) {
                Ok(lines) => (lines, None),
                Err(error) => (Lines::default(), Some(Err(self.reader.error("read", io::Error::other(error))))),
            };
            let records = lines.records.clone().into_iter();
            let last = records.filter(|(key, position)| self.reader.index().get(key) == Some(position));
            let records = last.filter_map(move |(_, position)| {
                lines.record(position).map_err(|error| self.reader.error("read", error.into())).transpose()
            });
            failed.into_iter().chain(records)
        })
    }
}

/// The lines of a segment. Its records refer only to texts of the same segment.
#[derive(Default)]
struct Lines {
    bytes: Vec<u8>,
    records: Vec<(Hash, Position)>,
    texts: HashMap<Hash, Position>,
}

impl Lines {
    fn read(number: u32, source: &Source, path: &Path) -> Result<Self, StoreError> {
        let mut bytes = Vec::new();
        let mut keep = |line: &[u8]| bytes.extend_from_slice(line);
        let scan = match source {
            Source::Uncompressed(file) => {
                segment::read_number(file, path).or_else(|error| match error {
                    // The header of a closed segment may be damaged.
                    StoreError::NotAJournal { .. } => Ok(None),
                    error => Err(error),
                })?;
                scan_uncompressed(file, number, path, &mut keep)?
            }
            Source::Compressed { path, .. } => {
                let file = fs::read(path).map_err(StoreError::io("read", path))?;
                scan_compressed(&file, number, path, &mut keep)?.0
            }
        };
        Ok(Self { bytes, records: scan.records, texts: scan.texts.into_iter().collect() })
    }

    fn value(&self, position: Position) -> &[u8] {
        let begin = usize::try_from(position.offset()).expect("the segment is in memory");
        &self.bytes[begin..begin + position.length()]
    }

    /// Returns a record, or `None` if a text of its request is damaged.
    fn record(&self, position: Position) -> serde_json::Result<Option<Record>> {
        let stored: StoredRecord = serde_json::from_slice(self.value(position))?;
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
                serde_json::from_str(&schema)?
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

    /// Returns the text with a hash, or `None` if its line or that of a part is damaged.
    fn text(&self, hash: &str) -> serde_json::Result<Option<String>> {
        let find = |hash: &str| parse_hash(hash).and_then(|hash| self.texts.get(&hash).copied());
        let read = |position| serde_json::from_slice::<Text<'_>>(self.value(position));
        let Some(position) = find(hash) else { return Ok(None) };
        let Text { parts, text, .. } = read(position)?;
        if parts.is_empty() {
            return Ok(Some(text.into_owned()));
        }
        let mut joined = String::new();
        for part in &parts {
            let Some(position) = find(part) else { return Ok(None) };
            joined += &read(position)?.text;
        }
        Ok(Some(joined + &text))
    }
}
