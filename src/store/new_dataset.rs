//! Replacing a data set: the new one is written beside the old one and then renamed. After a crash at any step one of
//! them is complete.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::atomic::{self, remove};
use super::error::StoreError;
use super::json::write_json;
use super::parquet::{TableFile, hexadecimal};

/// A data set that is being written beside the one it replaces.
pub struct NewDataset {
    target: PathBuf,
    path: PathBuf,
    shard_bytes: u64,
    hashes: BTreeMap<String, String>,
}

impl NewDataset {
    /// Starts a data set that will replace `target`. A file that exceeds `shard_bytes` is followed by another one.
    pub fn beside(target: &Path, shard_bytes: u64) -> Result<Self, StoreError> {
        let path = named(target, "new");
        remove(&path)?;
        fs::create_dir_all(&path).map_err(StoreError::io("create the folder", &path))?;
        Ok(Self { target: target.to_owned(), path, shard_bytes, hashes: BTreeMap::new() })
    }

    /// Completes or undoes the replacement of a data set that a crash interrupted.
    pub fn repair(target: &Path) -> Result<(), StoreError> {
        let old = named(target, "old");
        if exists(&old)? {
            if exists(target)? {
                carry_hidden(&old, target)?;
            } else {
                fs::rename(&old, target).map_err(StoreError::io("move back", &old))?;
            }
        }
        remove(&old)?;
        remove(&named(target, "new"))
    }

    /// Starts the table of one split of one config. Pass it to [`end`](Self::end) when it is complete.
    #[must_use]
    pub fn table(&self, config: &str, split: &str) -> TableFile {
        TableFile::new(self.path.join(config), split.to_owned(), self.shard_bytes)
    }

    /// Finishes a table. A table without rows leaves no file.
    pub fn end(&mut self, table: TableFile) -> Result<(), StoreError> {
        let config = table.folder().file_name().expect("a config folder has a name").to_string_lossy().into_owned();
        for (name, hash) in table.end()? {
            self.hashes.insert(format!("{config}/{name}"), hash);
        }
        Ok(())
    }

    /// Copies a file of another data set unchanged. `name` is its path relative to both data sets.
    ///
    /// The copy is hashed, so the hash matches the content now, whatever an older manifest says.
    pub fn add(&mut self, dataset: &Path, name: &str) -> Result<(), StoreError> {
        let (from, to) = (dataset.join(name), self.path.join(name));
        let folder = to.parent().expect("a file path has a parent folder");
        fs::create_dir_all(folder).map_err(StoreError::io("create the folder", folder))?;
        fs::copy(&from, &to).map_err(StoreError::io("copy", &from))?;
        let file = fs::File::open(&to).map_err(StoreError::io("open", &to))?;
        file.sync_all().map_err(StoreError::io("write", &to))?;
        self.hashes.insert(name.to_owned(), hash_of(&to)?);
        Ok(())
    }

    /// Adds a JSON file.
    pub fn add_json(&mut self, name: &str, value: &impl Serialize) -> Result<(), StoreError> {
        let path = self.path.join(name);
        write_json(&path, value)?;
        self.hashes.insert(name.to_owned(), hash_of(&path)?);
        Ok(())
    }

    /// Adds the card and replaces the old data set. Returns the SHA-256 of each file by its relative path.
    pub fn finish(mut self, card: &str) -> Result<BTreeMap<String, String>, StoreError> {
        atomic::write(&self.path.join("README.md"), card.as_bytes())?;
        self.hashes.insert("README.md".to_owned(), hexadecimal(Sha256::new_with_prefix(card)));
        let old = named(&self.target, "old");
        remove(&old)?;
        let had_one = exists(&self.target)?;
        if had_one {
            fs::rename(&self.target, &old).map_err(StoreError::io("move aside", &self.target))?;
        }
        fs::rename(&self.path, &self.target).map_err(StoreError::io("move into place", &self.target))?;
        if had_one {
            carry_hidden(&old, &self.target)?;
        }
        if let Some(folder) = self.target.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            atomic::sync_folder(folder)?;
        }
        remove(&old)?;
        Ok(self.hashes)
    }
}

/// Returns the SHA-256 of a file, reading it as a stream.
pub fn hash_of(path: &Path) -> Result<String, StoreError> {
    let mut hasher = Sha256::new();
    let copied = fs::File::open(path).and_then(|mut file| io::copy(&mut file, &mut hasher));
    copied.map_err(StoreError::io("read", path))?;
    Ok(hexadecimal(hasher))
}

/// Returns the name of a data set while it is being written or after it was moved aside. The name is hidden and
/// specific to this program, because a folder with this name is removed.
fn named(target: &Path, ending: &str) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(target.file_name().unwrap_or_else(|| "dataset".as_ref()));
    name.push(".dramaturg-");
    name.push(ending);
    target.with_file_name(name)
}

/// Moves hidden entries of the old data set into the new one, at every depth. For example, a clone of a Hugging Face
/// repository has its history in `.git`.
fn carry_hidden(old: &Path, target: &Path) -> Result<(), StoreError> {
    let entries = fs::read_dir(old).map_err(StoreError::io("read the folder", old))?;
    for entry in entries {
        let entry = entry.map_err(StoreError::io("read the folder", old))?;
        let name = entry.file_name();
        let (from, to) = (old.join(&name), target.join(&name));
        if name.to_string_lossy().starts_with('.') {
            if !exists(&to)? {
                fs::create_dir_all(target).map_err(StoreError::io("create the folder", target))?;
                fs::rename(&from, &to).map_err(StoreError::io("move", &from))?;
            }
        } else if entry.file_type().map_err(StoreError::io("access", &from))?.is_dir() {
            carry_hidden(&from, &to)?;
        }
    }
    Ok(())
}

fn exists(path: &Path) -> Result<bool, StoreError> {
    path.try_exists().map_err(StoreError::io("access", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_of_a_clone_survive_replacing_its_tables() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("clone");
        fs::create_dir_all(target.join(".git")).unwrap();
        fs::create_dir_all(target.join("pictures/small")).unwrap();
        fs::write(target.join(".git/HEAD"), "main").unwrap();
        fs::write(target.join("old.txt"), "gone").unwrap();
        fs::create_dir_all(target.join("samples/deep/.notes")).unwrap();
        // Folders of the user with similar names must not be removed.
        for own in ["clone.old/.git", "clone.new"] {
            fs::create_dir_all(folder.path().join(own)).unwrap();
        }
        NewDataset::repair(&target).unwrap();
        fs::write(target.join("pictures/small/a.svg"), "<svg/>").unwrap();
        let mut new = NewDataset::beside(&target, 100).unwrap();
        new.add(&target, "pictures/small/a.svg").unwrap();
        let files = new.finish("card").unwrap();
        assert_eq!(files.keys().collect::<Vec<_>>(), ["README.md", "pictures/small/a.svg"]);
        assert_eq!(fs::read_to_string(target.join(".git/HEAD")).unwrap(), "main");
        assert!(!target.join("old.txt").exists());
        assert!(target.join("samples/deep/.notes").is_dir(), "hidden entries in subfolders are kept");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "no temporary folder is left");
        assert!(folder.path().join("clone.old/.git").is_dir() && folder.path().join("clone.new").is_dir());
        // A crash between the last two steps leaves the history in the old folder.
        fs::create_dir_all(folder.path().join(".clone.dramaturg-old/.git2")).unwrap();
        NewDataset::repair(&target).unwrap();
        assert!(target.join(".git2").is_dir() && !folder.path().join(".clone.dramaturg-old").exists());
    }
}
