//! Opening a journal: every line of every segment with its checksum, several segments at a time.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader};
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::super::StoreError;
use super::frames::{Frame, walk};
use super::line::{Hash, Place, paid, read_line};
use super::pages::Source;
use super::segment::{Form, closed, read_header};
use crate::llm::Usage;

/// Where every record stands.
pub(super) type Index = HashMap<Hash, Place>;

/// Adds records to an index. The last one of a key counts, whichever segment is added first.
pub(super) fn add(index: &mut Index, records: &[(Hash, Place)]) {
    for (key, place) in records {
        let known = index.entry(*key).or_insert(*place);
        *known = (*known).max(*place);
    }
}

/// The tokens of records, by model.
pub(super) type Paid = BTreeMap<String, Usage>;

/// Adds what some records took.
pub(super) fn pay(paid: &mut Paid, more: &Paid) {
    for (model, usage) in more {
        paid.entry(model.clone()).or_default().add(usage);
    }
}

/// What reading a segment finds.
#[derive(Debug, Default)]
pub(super) struct Scan {
    segment: u32,
    pub(super) records: Vec<(Hash, Place)>,
    pub(super) texts: Vec<(Hash, Place)>,
    /// What the records took, those that were written again too.
    pub(super) paid: Paid,
    /// The end of the last line that is finished.
    pub(super) end: u64,
    /// The end of the last line.
    pub(super) length: u64,
    /// Bad lines, and frames that cannot be unpacked; a last line that is not finished is none.
    pub(super) damaged: u64,
}

impl Scan {
    pub(super) fn new(segment: u32) -> Self {
        Self { segment, ..Self::default() }
    }

    fn pay(&mut self, value: &[u8]) {
        let Some((model, usage)) = paid(value) else { return };
        match self.paid.get_mut(&model) {
            Some(paid) => paid.add(&usage),
            None => drop(self.paid.insert(model, usage)),
        }
    }

    /// Takes the next line.
    fn line(&mut self, line: &[u8], path: &Path) -> Result<(), StoreError> {
        if let Some((is_record, name, at, length)) = read_line(line) {
            if is_record {
                self.pay(&line[line.len() - 2 - length as usize..]);
            }
            let found = if is_record { &mut self.records } else { &mut self.texts };
            found.push((name, Place::new(self.segment, self.length + at, length)));
        } else if self.length > 0 {
            self.damaged += u64::from(line.ends_with(b"\n"));
        } else {
            match read_header(line, path) {
                Err(StoreError::NoJournal { .. }) => self.damaged += 1,
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

/// Reads a segment that is not compressed, and hands its lines on.
pub(super) fn plain(file: &File, segment: u32, path: &Path, mut each: impl FnMut(&[u8])) -> Result<Scan, StoreError> {
    let mut lines = BufReader::with_capacity(1 << 20, file);
    let mut line = Vec::new();
    let mut scan = Scan::new(segment);
    loop {
        line.clear();
        if lines.read_until(b'\n', &mut line).map_err(StoreError::io("read", path))? == 0 {
            return Ok(scan);
        }
        scan.line(&line, path)?;
        each(&line);
    }
}

/// Reads a compressed segment, and hands its lines on.
pub(super) fn packed(
    bytes: &[u8],
    segment: u32,
    path: &Path,
    mut each: impl FnMut(&[u8]),
) -> Result<(Scan, Vec<Frame>), StoreError> {
    let mut scan = Scan::new(segment);
    let mut refused = Ok(());
    let (frames, damaged) = walk(bytes, |lines| {
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            if refused.is_ok() {
                refused = scan.line(line, path);
                each(line);
            }
        }
    });
    refused?;
    scan.damaged += damaged;
    Ok((scan, frames))
}

/// What the closed segments of a journal come to.
#[derive(Debug, Default)]
pub(super) struct Closed {
    pub(super) index: Index,
    pub(super) sources: BTreeMap<u32, Source>,
    pub(super) damaged: u64,
    pub(super) paid: Paid,
    /// Bytes on the disk.
    pub(super) bytes: u64,
}

/// Reads a closed segment, in the form in which it was seen or, when a run has compressed it since, in that.
fn closed_segment(open: &Path, number: u32, form: Form) -> Result<(Scan, Source, u64), StoreError> {
    let path = closed(open, number, form);
    if form == Form::Plain {
        match File::open(&path) {
            // The compressed file takes its place before the plain one goes.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return closed_segment(open, number, Form::Packed);
            }
            file => {
                let file = file.map_err(StoreError::io("open", &path))?;
                let mut scan = plain(&file, number, &path, |_| {})?;
                // Nothing was being written to it any more.
                scan.damaged += u64::from(scan.end < scan.length);
                let bytes = scan.length;
                return Ok((scan, Source::Plain(file), bytes));
            }
        }
    }
    let bytes = fs::read(&path).map_err(StoreError::io("read", &path))?;
    let (scan, frames) = packed(&bytes, number, &path, |_| {})?;
    Ok((scan, Source::Packed { path, frames }, bytes.len() as u64))
}

/// Reads the closed segments of a journal.
pub(super) fn closed_segments(open: &Path, segments: &BTreeMap<u32, Form>) -> Result<Closed, StoreError> {
    let all = Mutex::new(Closed::default());
    let next = AtomicUsize::new(0);
    let segments: Vec<(u32, Form)> = segments.iter().map(|(number, form)| (*number, *form)).collect();
    let work = || {
        while let Some((number, form)) = segments.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (scan, source, bytes) = closed_segment(open, *number, *form)?;
            let number = *number;
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            if all.index.is_empty() {
                // The others are much like it; an index that grows is in memory twice.
                all.index.reserve(scan.records.len() * segments.len());
            }
            add(&mut all.index, &scan.records);
            pay(&mut all.paid, &scan.paid);
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
