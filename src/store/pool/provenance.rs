//! Records which files of the pool the program wrote, so that files changed by the user are recognized and kept. For
//! each book's file, the hash of its bytes is stored in `written/<slug>.b3`, in the format of `b3sum --check`.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::store::atomic;
use crate::store::error::StoreError;

/// The result of writing a book's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BookWrite {
    /// The file contains the given scenes.
    AsGiven,
    /// The user created or changed the file, so it was kept.
    Kept,
}

/// Replaces a file of the pool unless it differs from what the program last wrote. A file with the same content is not
/// rewritten.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<BookWrite, StoreError> {
    if is_kept(path, bytes)? {
        return Ok(BookWrite::Kept);
    }
    let new = blake3::hash(bytes).to_hex().to_string();
    let record = record(path);
    let (known, old) = (known(&record)?, hash(path)?);
    if old.as_ref() != Some(&new) {
        // Record both hashes first, so that after a crash either version is recognized as the program's.
        let both: Vec<&String> = old.iter().chain([&new]).collect();
        write(&record, path, &both)?;
        atomic::write(path, bytes)?;
    }
    if known != BTreeSet::from([new.clone()]) {
        write(&record, path, &[&new])?;
    }
    Ok(BookWrite::AsGiven)
}

/// Returns whether a file must be kept: it differs from `bytes` and was not written by the program.
pub(super) fn is_kept(path: &Path, bytes: &[u8]) -> Result<bool, StoreError> {
    let Some(old) = hash(path)? else { return Ok(false) };
    Ok(old != *blake3::hash(bytes).to_hex() && !known(&record(path))?.contains(&old))
}

fn record(path: &Path) -> PathBuf {
    let folder = path.parent().expect("a file of the pool is in its folder").join("written");
    folder.join(path.file_name().expect("a file path has a file name")).with_extension("b3")
}

fn write(record: &Path, path: &Path, hashes: &[&String]) -> Result<(), StoreError> {
    let name = path.file_name().expect("a file path has a file name").to_string_lossy();
    let lines: Vec<String> = hashes.iter().map(|hash| format!("{hash}  {name}\n")).collect();
    atomic::write(record, lines.concat().as_bytes())
}

/// Returns the recorded hashes, or none if there is no record.
fn known(record: &Path) -> Result<BTreeSet<String>, StoreError> {
    match fs::read(record) {
        Ok(bytes) => {
            let text = String::from_utf8_lossy(&bytes);
            Ok(text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeSet::new()),
        Err(error) => Err(StoreError::io("read", record)(error)),
    }
}

/// Returns the hash of a file's content, or `None` if it is missing.
fn hash(path: &Path) -> Result<Option<String>, StoreError> {
    let hashed = File::open(path).and_then(|file| {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(file)?;
        Ok(hasher.finalize().to_hex().to_string())
    });
    match hashed {
        Ok(hash) => Ok(Some(hash)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::io("read", path)(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edited_file_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("石头记.jsonl");
        let replaced = |bytes: &str| replace(&path, bytes.as_bytes()).unwrap();
        let text = || fs::read_to_string(&path).unwrap();
        assert_eq!(replaced("1\n"), BookWrite::AsGiven);
        assert_eq!(replaced("2\n"), BookWrite::AsGiven);
        let record = fs::read_to_string(folder.path().join("written/石头记.b3")).unwrap();
        assert_eq!(record, format!("{}  石头记.jsonl\n", blake3::hash(b"2\n").to_hex()), "the format of b3sum");
        fs::write(&path, "mine\n").unwrap();
        assert_eq!((replaced("2\n"), text()), (BookWrite::Kept, "mine\n".to_owned()));
        assert_eq!((replaced("3\n"), text()), (BookWrite::Kept, "mine\n".to_owned()));
        // If the user's content equals the program's, or the user removes the file, the program manages it again.
        assert_eq!(replaced("mine\n"), BookWrite::AsGiven);
        assert_eq!((replaced("4\n"), text()), (BookWrite::AsGiven, "4\n".to_owned()));
        fs::write(&path, "mine\n").unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!((replaced("5\n"), text()), (BookWrite::AsGiven, "5\n".to_owned()));
    }

    #[test]
    fn a_file_without_a_record_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        fs::write(&path, "old\n").unwrap();
        assert_eq!(replace(&path, b"new\n").unwrap(), BookWrite::Kept);
        assert!(!folder.path().join("written").exists());
        // A file with the same content counts as written by the program.
        assert_eq!(replace(&path, b"old\n").unwrap(), BookWrite::AsGiven);
        assert_eq!(replace(&path, b"new\n").unwrap(), BookWrite::AsGiven);
    }

    #[test]
    fn a_crash_does_not_make_a_file_look_edited() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let [old, new] = ["old\n", "new\n"].map(|text| blake3::hash(text.as_bytes()).to_hex().to_string());
        for left in ["old\n", "new\n"] {
            write(&record(&path), &path, &[&old, &new]).unwrap();
            fs::write(&path, left).unwrap();
            assert_eq!(replace(&path, b"newer\n").unwrap(), BookWrite::AsGiven, "{left}");
            fs::remove_dir_all(folder.path().join("written")).unwrap();
        }
        write(&record(&path), &path, &[&new]).unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!(
            replace(&path, b"new\n").unwrap(),
            BookWrite::AsGiven,
            "the crash came after the record was written"
        );
        fs::remove_dir_all(folder.path().join("written")).unwrap();
        fs::create_dir_all(record(&path)).unwrap();
        assert!(replace(&path, b"newest\n").is_err(), "an unreadable record must not allow overwriting");
        assert_eq!(fs::read_to_string(&path).unwrap(), "new\n");
    }
}
