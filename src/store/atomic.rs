//! Atomic replacement of whole files, and file locks.
//!
//! After a crash a path holds either the old file or the new one, never a partial one.

use std::fs::{self, File, TryLockError};
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use super::error::StoreError;

/// Replaces a file, and creates its folder if it is missing.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let folder = path.parent().expect("a file path has a parent folder");
    fs::create_dir_all(folder).map_err(StoreError::io("create the folder", folder))?;
    let mut name = path.file_name().expect("a file path has a file name").to_owned();
    name.push(".new");
    let new = path.with_file_name(name);
    let written = || {
        let mut file = File::create(&new)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&new, path)
    };
    written().map_err(StoreError::io("write", path))?;
    sync_folder(folder)
}

/// Removes a folder and everything in it, if it exists.
pub(super) fn remove(folder: &Path) -> Result<(), StoreError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(StoreError::io("remove", folder)(error)),
        _ => Ok(()),
    }
}

/// Syncs a folder, so that the names of its files survive a crash.
pub(super) fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    // Only Unix lets a process open a folder to sync it; elsewhere the operating system does it.
    if cfg!(unix) {
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(StoreError::io("sync the folder", folder))?;
    }
    Ok(())
}

/// Locks a file for this process. Returns false if another process holds the lock. The lock ends when the file is
/// closed.
///
/// The locks of a killed process remain until the system has cleaned it up, so this tries for half a second.
pub(super) fn lock(file: &File, path: &Path) -> Result<bool, StoreError> {
    for _ in 0..10 {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(50)),
            Err(TryLockError::Error(error)) => return Err(StoreError::io("lock", path)(error)),
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_atomically_without_leftovers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b.txt");
        // A leftover temporary file of a crash does not matter.
        fs::create_dir(path.parent().unwrap()).unwrap();
        fs::write(folder.path().join("a/b.txt.new"), "half").unwrap();
        write(&path, b"one").unwrap();
        write(&path, "二".as_bytes()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "二");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn a_failed_write_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("b.txt");
        write(&path, b"one").unwrap();
        fs::create_dir(folder.path().join("b.txt.new")).unwrap();
        let error = write(&path, b"two").expect_err("the temporary name is taken by a folder");
        assert!(error.to_string().starts_with("failed to write `"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
    }
}
