//! Scanning a journal when it is opened: checks every line of every segment, several segments in parallel.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader};
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::frames::{Frame, decompress_frames};
use super::line::{Hash, Index, LineKind, Position, paid, read_line};
use super::record_reader::Source;
use super::segment::{SegmentForm, closed_path, read_header};
use crate::llm::Usage;
use crate::store::error::StoreError;

/// Adds records to an index. Of records with the same key the last one written wins, whichever segment is added first.
pub(super) fn add(index: &mut Index, records: &[(Hash, Position)]) {
    for (key, position) in records {
        let known = index.entry(*key).or_insert(*position);
        *known = (*known).max(*position);
    }
}

/// The token usage of records, by model.
pub(super) type UsageByModel = BTreeMap<String, Usage>;

/// Adds the token usage in `more` to `paid`.
pub(super) fn add_usage(paid: &mut UsageByModel, more: &UsageByModel) {
    for (model, usage) in more {
        paid.entry(model.clone()).or_default().add(usage);
    }
}

/// The result of scanning a segment.
#[derive(Debug, Default)]
pub(super) struct Scan {
    segment: u32,
    pub(super) records: Vec<(Hash, Position)>,
    pub(super) texts: Vec<(Hash, Position)>,
    /// The token usage of the records, including those that were written again later.
    pub(super) paid: UsageByModel,
    /// The end of the last complete line.
    pub(super) end: u64,
    /// The end of the file.
    pub(super) length: u64,
    /// The number of damaged lines and frames, not counting an incomplete last line.
    pub(super) damaged: u64,
}

impl Scan {
    pub(super) fn new(segment: u32) -> Self {
        Self { segment, ..Self::default() }
    }

    fn add_usage(&mut self, value: &[u8]) {
        let Some((model, usage)) = paid(value) else { return };
        match self.paid.get_mut(&model) {
            Some(paid) => paid.add(&usage),
            None => drop(self.paid.insert(model, usage)),
        }
    }

    /// Adds the next line.
    fn add_line(&mut self, line: &[u8], path: &Path) -> Result<(), StoreError> {
        if let Some((kind, name, at, length)) = read_line(line) {
            let found = match kind {
                LineKind::Record => {
                    self.add_usage(&line[line.len() - 2 - length as usize..]);
                    &mut self.records
                }
                LineKind::Text => &mut self.texts,
            };
            found.push((name, Position::new(self.segment, self.length + at, length)));
        } else if self.length > 0 {
            self.damaged += u64::from(line.ends_with(b"\n"));
        } else {
            match read_header(line, path) {
                Err(StoreError::NotAJournal { .. }) => self.damaged += 1,
                header => drop(header?),
            }
        }
        self.length += line.len() as u64;
        if line.ends_with(b"\n") {
            self.end = self.length;
        }
        Ok(())
    }
}

/// Scans an uncompressed segment and calls `each` with its lines.
pub(super) fn scan_uncompressed(
    file: &File,
    segment: u32,
    path: &Path,
    mut each: impl FnMut(&[u8]),
) -> Result<Scan, StoreError> {
    let mut lines = BufReader::with_capacity(1 << 20, file);
    let mut line = Vec::new();
    let mut scan = Scan::new(segment);
    loop {
        line.clear();
        if lines.read_until(b'\n', &mut line).map_err(StoreError::io("read", path))? == 0 {
            return Ok(scan);
        }
        scan.add_line(&line, path)?;
        each(&line);
    }
}

/// Scans a compressed segment and calls `each` with its lines.
pub(super) fn scan_compressed(
    bytes: &[u8],
    segment: u32,
    path: &Path,
    mut each: impl FnMut(&[u8]),
) -> Result<(Scan, Vec<Frame>), StoreError> {
    let mut scan = Scan::new(segment);
    let mut refused = Ok(());
    let (frames, damaged) = decompress_frames(bytes, |lines| {
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            if refused.is_ok() {
                refused = scan.add_line(line, path);
                each(line);
            }
        }
    });
    refused?;
    scan.damaged += damaged;
    Ok((scan, frames))
}

/// The combined scans of the closed segments.
#[derive(Debug, Default)]
pub(super) struct Closed {
    pub(super) index: Index,
    pub(super) sources: BTreeMap<u32, Source>,
    pub(super) damaged: u64,
    pub(super) paid: UsageByModel,
    /// The size on disk in bytes.
    pub(super) bytes: u64,
}

/// Scans a closed segment in the given form, or in the compressed form if a run has compressed it in the meantime.
fn closed_segment(open: &Path, number: u32, form: SegmentForm) -> Result<(Scan, Source, u64), StoreError> {
    let path = closed_path(open, number, form);
    if form == SegmentForm::Uncompressed {
        match File::open(&path) {
            // The compressed file is in place before the plain one is removed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return closed_segment(open, number, SegmentForm::Compressed);
            }
            file => {
                let file = file.map_err(StoreError::io("open", &path))?;
                let mut scan = scan_uncompressed(&file, number, &path, |_| {})?;
                // A closed segment is not being written to, so an incomplete last line is damage.
                scan.damaged += u64::from(scan.end < scan.length);
                let bytes = scan.length;
                return Ok((scan, Source::Uncompressed(file), bytes));
            }
        }
    }
    let bytes = fs::read(&path).map_err(StoreError::io("read", &path))?;
    let (scan, frames) = scan_compressed(&bytes, number, &path, |_| {})?;
    Ok((scan, Source::Compressed { path, frames }, bytes.len() as u64))
}

/// Scans the closed segments of a journal on all cores.
pub(super) fn closed_segments(open: &Path, segments: &BTreeMap<u32, SegmentForm>) -> Result<Closed, StoreError> {
    let all = Mutex::new(Closed::default());
    let next = AtomicUsize::new(0);
    let segments: Vec<(u32, SegmentForm)> = segments.iter().map(|(number, form)| (*number, *form)).collect();
    let work = || {
        while let Some((number, form)) = segments.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (scan, source, bytes) = closed_segment(open, *number, *form)?;
            let number = *number;
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            if all.index.is_empty() {
                // Assumes that the other segments have about as many records, because growing the index holds it in
                // memory twice.
                all.index.reserve(scan.records.len() * segments.len());
            }
            add(&mut all.index, &scan.records);
            add_usage(&mut all.paid, &scan.paid);
            all.sources.insert(number, source);
            all.damaged += scan.damaged;
            all.bytes += bytes;
        }
        Ok(())
    };
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(segments.len());
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let panicked = |_| Err(StoreError::io("read", open)(io::Error::other("a thread panicked")));
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(panicked))
    })?;
    Ok(all.into_inner().unwrap_or_else(PoisonError::into_inner))
}
