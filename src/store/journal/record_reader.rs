//! Reading a journal by key.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};

use super::frames::{Frame, decompress};
use super::line::{Index, Position, hash};
use crate::llm::{Answered, JournalError};

/// The number of decompressed frames in the cache, about 8 MB. A resumed run asks in much the same order as before.
const CACHED_FRAMES: usize = 64;

/// The file that has the lines of a segment.
#[derive(Debug)]
pub(super) enum Source {
    /// An uncompressed file.
    Uncompressed(File),
    /// A compressed file. It is opened for each read, because there may be more segments than a process may have open
    /// files.
    Compressed {
        /// The path of the file.
        path: PathBuf,
        /// Its frames, in order.
        frames: Vec<Frame>,
    },
}

/// The segment and offset of a frame, and its decompressed lines.
type CachedFrame = ((u32, u64), Arc<Vec<u8>>);

/// The files of a journal and the position of every record.
#[derive(Debug)]
pub(super) struct RecordReader {
    /// The path of the open segment.
    pub(super) path: PathBuf,
    index: RwLock<Index>,
    sources: RwLock<BTreeMap<u32, Arc<Source>>>,
    /// The cache of decompressed frames, most recently used first.
    frame_cache: Mutex<VecDeque<CachedFrame>>,
}

impl RecordReader {
    pub(super) fn new(path: &Path, index: Index, sources: BTreeMap<u32, Source>) -> Self {
        let sources = sources.into_iter().map(|(number, source)| (number, Arc::new(source))).collect();
        Self {
            path: path.to_owned(),
            index: RwLock::new(index),
            sources: RwLock::new(sources),
            frame_cache: Mutex::default(),
        }
    }

    pub(super) fn index(&self) -> RwLockReadGuard<'_, Index> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the source of every segment, in order.
    pub(super) fn sources(&self) -> Vec<(u32, Arc<Source>)> {
        let sources = self.sources.read().unwrap_or_else(PoisonError::into_inner);
        sources.iter().map(|(number, source)| (*number, Arc::clone(source))).collect()
    }

    /// Adds records that were written.
    pub(super) fn add(&self, new: Index) {
        self.index.write().unwrap_or_else(PoisonError::into_inner).extend(new);
    }

    /// Sets the source of a segment.
    pub(super) fn set_source(&self, segment: u32, source: Source) {
        self.sources.write().unwrap_or_else(PoisonError::into_inner).insert(segment, Arc::new(source));
    }

    /// Returns the answer that is recorded for a key.
    pub(super) fn find(&self, key: &str) -> Result<Option<Answered>, JournalError> {
        let position = self.index().get(&hash(key)).copied();
        position.map(|position| self.answered(position).map_err(|source| self.error("read", source))).transpose()
    }

    /// Reads the answer of a record. Its line was checked when the journal was opened.
    fn answered(&self, position: Position) -> io::Result<Answered> {
        let source = self.sources.read().unwrap_or_else(PoisonError::into_inner).get(&position.segment()).cloned();
        match &*source.ok_or(io::ErrorKind::NotFound)? {
            Source::Uncompressed(file) => {
                let mut bytes = vec![0; position.length()];
                read_at(file, &mut bytes, position.offset())?;
                Ok(serde_json::from_slice(&bytes)?)
            }
            Source::Compressed { path, frames } => {
                let number = frames.partition_point(|frame| frame.offset <= position.offset());
                let frame = number.checked_sub(1).map(|number| frames[number]).ok_or(io::ErrorKind::InvalidData)?;
                let lines = self.lines(position.segment(), path, frame)?;
                let begin =
                    usize::try_from(position.offset() - frame.offset).map_err(|_| io::ErrorKind::InvalidData)?;
                let bytes = lines.get(begin..begin + position.length()).ok_or(io::ErrorKind::InvalidData)?;
                Ok(serde_json::from_slice(bytes)?)
            }
        }
    }

    /// Returns the decompressed lines of a frame, from the cache if possible.
    fn lines(&self, segment: u32, path: &Path, frame: Frame) -> io::Result<Arc<Vec<u8>>> {
        let cache_key = (segment, frame.offset);
        let frame_cache = || self.frame_cache.lock().unwrap_or_else(PoisonError::into_inner);
        let cached = || {
            let mut frame_cache = frame_cache();
            let at = frame_cache.iter().position(|(known, _)| *known == cache_key)?;
            let (cache_key, lines) = frame_cache.remove(at)?;
            frame_cache.push_front((cache_key, Arc::clone(&lines)));
            Some(lines)
        };
        if let Some(lines) = cached() {
            return Ok(lines);
        }
        // The lock is not held while reading; two threads may read the same frame.
        let mut bytes = vec![0; frame.length as usize];
        read_at(&File::open(path)?, &mut bytes, frame.at)?;
        let lines = Arc::new(decompress(&bytes)?);
        let mut frame_cache = frame_cache();
        frame_cache.truncate(CACHED_FRAMES - 1);
        frame_cache.push_front((cache_key, Arc::clone(&lines)));
        Ok(lines)
    }

    pub(super) fn error(&self, action: &str, source: io::Error) -> JournalError {
        JournalError { message: format!("failed to {action} the journal `{}`", self.path.display()), source }
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
