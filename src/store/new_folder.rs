//! A folder of text files that replaces an earlier one when it is complete.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::atomic::remove;
use super::error::StoreError;

/// The number of bytes of a file that are buffered before they are written.
const HELD: usize = 1 << 16;

/// A folder of text files under construction. It replaces the earlier folder when it is complete. Any number of files
/// can be appended to in turn.
#[derive(Debug)]
pub struct NewFolder {
    path: PathBuf,
    new: PathBuf,
    held: BTreeMap<String, Vec<u8>>,
}

impl NewFolder {
    /// Starts a folder that will replace `path`.
    pub fn new(path: &Path) -> Result<Self, StoreError> {
        // A hidden name that is specific to this program, because a folder with this name is removed.
        let mut name = std::ffi::OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(".dramaturg-new");
        let new = path.with_file_name(name);
        remove(&new)?;
        fs::create_dir_all(&new).map_err(StoreError::io("create the folder", &new))?;
        Ok(Self { path: path.to_owned(), new, held: BTreeMap::new() })
    }

    /// Returns the temporary path of the folder, for files that are written by other means.
    #[must_use]
    pub fn temporary_path(&self) -> &Path {
        &self.new
    }

    /// Appends text to a file.
    pub fn add(&mut self, file: &str, text: &str) -> Result<(), StoreError> {
        if !self.held.contains_key(file) {
            self.held.insert(file.to_owned(), Vec::new());
        }
        let held = self.held.get_mut(file).expect("the entry was inserted above");
        held.extend_from_slice(text.as_bytes());
        if held.len() >= HELD {
            append(&self.new.join(file), held)?;
        }
        Ok(())
    }

    /// Returns the names of the files added so far, sorted.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.held.keys().map(String::as_str)
    }

    /// Writes the remaining text and replaces the earlier folder.
    pub fn finish(mut self) -> Result<(), StoreError> {
        for (file, held) in &mut self.held {
            append(&self.new.join(file), held)?;
        }
        remove(&self.path)?;
        fs::rename(&self.new, &self.path).map_err(StoreError::io("replace", &self.path))
    }
}

fn append(path: &Path, held: &mut Vec<u8>) -> Result<(), StoreError> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).map_err(StoreError::io("create the folder", folder))?;
    let file = File::options().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(held)).map_err(StoreError::io("write", path))?;
    held.clear();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_folder_replaces_the_old_one_when_it_is_complete() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("alpaca");
        fs::create_dir(&path).unwrap();
        fs::write(path.join("old.jsonl"), "old").unwrap();
        let mut folder = NewFolder::new(&path).unwrap();
        let line = "x".repeat(HELD / 2 + 1);
        for _ in 0..3 {
            folder.add("a/train.jsonl", &line).unwrap();
            folder.add("test.jsonl", "y").unwrap();
        }
        assert!(path.join("old.jsonl").exists(), "the old folder stays until the new one is complete");
        assert_eq!(folder.files().collect::<Vec<_>>(), ["a/train.jsonl", "test.jsonl"]);
        folder.finish().unwrap();
        assert_eq!(fs::read_to_string(path.join("a/train.jsonl")).unwrap(), line.repeat(3));
        assert_eq!(fs::read_to_string(path.join("test.jsonl")).unwrap(), "yyy");
        assert!(!path.join("old.jsonl").exists());
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1);
    }
}
