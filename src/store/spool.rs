//! Temporary storage on disk for records that a run has produced and not yet sorted. Records are added in any order and
//! read back sorted by id.
//!
//! A spool is removed when it is dropped. After a crash it is removed when the folder is opened again: its content can
//! be reproduced from the journal.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::StoreError;

/// The zstd level: low, because each record is written once and read once.
const LEVEL: i32 = 1;

/// The extension of a spool's file.
const ENDING: &str = "spool";

/// Records of one kind, each with a unique id.
#[derive(Debug)]
pub struct Spool {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: File,
    end: u64,
    positions: BTreeMap<String, Position>,
}

/// The position of a record in the file: its offset, its compressed length and its original length, in bytes.
#[derive(Debug, Clone, Copy)]
struct Position {
    offset: u64,
    packed: usize,
    length: usize,
}

impl Spool {
    /// Creates an empty spool in a folder.
    pub(super) fn create(folder: &Path, name: &str) -> Result<Self, StoreError> {
        let path = folder.join(format!("{name}.{ENDING}"));
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path);
        let file = file.map_err(StoreError::io("create", &path))?;
        Ok(Self { path, state: Mutex::new(State { file, end: 0, positions: BTreeMap::new() }) })
    }

    /// Removes the spools that a crash left in a folder.
    pub(super) fn clear(folder: &Path) -> Result<(), StoreError> {
        for entry in fs::read_dir(folder).map_err(StoreError::io("read the folder", folder))? {
            let path = entry.map_err(StoreError::io("read the folder", folder))?.path();
            if path.extension().is_some_and(|ending| ending == ENDING) {
                fs::remove_file(&path).map_err(StoreError::io("remove", &path))?;
            }
        }
        Ok(())
    }

    /// Adds a record. It replaces an earlier record with the same id.
    pub fn add(&self, id: &str, record: &impl Serialize) -> Result<(), StoreError> {
        let json = serde_json::to_vec(record);
        let json = json.map_err(|source| StoreError::Json { path: self.path.clone(), source })?;
        let packed = zstd::bulk::compress(&json, LEVEL).map_err(StoreError::io("write", &self.path))?;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let position = Position { offset: state.end, packed: packed.len(), length: json.len() };
        let write = |state: &mut State| {
            // Overwrites what an earlier failed write left behind the end.
            state.file.seek(SeekFrom::Start(state.end))?;
            state.file.write_all(&packed)
        };
        write(&mut state).map_err(StoreError::io("write", &self.path))?;
        state.end += packed.len() as u64;
        state.positions.insert(id.to_owned(), position);
        Ok(())
    }

    /// Returns the number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).positions.len()
    }

    /// Returns whether there are no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads the records one at a time, in byte order of their ids.
    pub fn records<T: DeserializeOwned>(&self) -> impl Iterator<Item = Result<T, StoreError>> {
        let positions: Vec<Position> =
            self.state.lock().unwrap_or_else(PoisonError::into_inner).positions.values().copied().collect();
        positions.into_iter().map(|position| self.read(position))
    }

    /// Returns the ids.
    #[must_use]
    pub fn ids<Id: From<String> + Ord>(&self) -> BTreeSet<Id> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).positions.keys().cloned().map(Id::from).collect()
    }

    /// Reads the record with an id, if there is one.
    pub fn get<T: DeserializeOwned>(&self, id: &str) -> Result<Option<T>, StoreError> {
        let position = self.state.lock().unwrap_or_else(PoisonError::into_inner).positions.get(id).copied();
        position.map(|position| self.read(position)).transpose()
    }

    fn read<T: DeserializeOwned>(&self, position: Position) -> Result<T, StoreError> {
        let mut packed = vec![0; position.packed];
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut read = || -> io::Result<Vec<u8>> {
            state.file.seek(SeekFrom::Start(position.offset))?;
            state.file.read_exact(&mut packed)?;
            zstd::bulk::decompress(&packed, position.length)
        };
        let json = read().map_err(StoreError::io("read", &self.path))?;
        serde_json::from_slice(&json).map_err(|source| StoreError::InvalidJson { path: self.path.clone(), source })
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        // If it cannot be removed now, it is removed when the folder is opened again.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_returned_in_order_of_their_ids() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::create(folder.path(), "lines").unwrap();
        assert!(spool.is_empty());
        for (id, text) in [("薛嵩/甲/1", "二"), ("tess/a/10", "ten"), ("tess/a/2", "two"), ("tess/a/2", "again")] {
            spool.add(id, &vec![text; 100]).unwrap();
        }
        let read: Vec<Vec<String>> = spool.records().map(Result::unwrap).collect();
        assert_eq!(read.iter().map(|texts| texts[99].as_str()).collect::<Vec<_>>(), ["ten", "again", "二"]);
        assert_eq!(spool.len(), 3);
        assert_eq!(spool.get::<Vec<String>>("tess/a/10").unwrap().unwrap()[0], "ten");
        assert_eq!(spool.get::<Vec<String>>("tess/a/3").unwrap(), None);
        // Reading does not move the write position: later records are appended.
        spool.add("a", &vec!["first"]).unwrap();
        let read: Vec<Vec<String>> = spool.records().map(Result::unwrap).collect();
        assert_eq!((read.len(), read[0][0].as_str(), read[1][0].as_str()), (4, "first", "ten"));
    }

    #[test]
    fn a_record_of_another_type_is_a_parse_error() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::create(folder.path(), "lines").unwrap();
        spool.add("a", &"text").unwrap();
        let error = spool.get::<u32>("a").expect_err("the record is a string");
        assert!(matches!(&error, StoreError::InvalidJson { path, .. } if path.ends_with("lines.spool")), "{error}");
    }

    #[test]
    fn a_truncated_file_is_a_read_error() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::create(folder.path(), "lines").unwrap();
        spool.add("a", &"text".repeat(50)).unwrap();
        let path = folder.path().join("lines.spool");
        File::options().write(true).open(&path).unwrap().set_len(3).unwrap();
        let error = spool.records::<String>().next().unwrap().expect_err("the file is truncated");
        let is_read_error =
            matches!(&error, StoreError::Io { tried: "read", path, .. } if path.ends_with("lines.spool"));
        assert!(is_read_error, "{error}");
    }

    #[test]
    fn a_spool_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::create(folder.path(), "lines").unwrap();
        spool.add("a", &1).unwrap();
        drop(spool);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        // A spool that a crash left, and another file.
        fs::write(folder.path().join("lines.spool"), "torn").unwrap();
        fs::write(folder.path().join("manifest.json"), "{}").unwrap();
        Spool::clear(folder.path()).unwrap();
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["manifest.json"]);
    }
}
