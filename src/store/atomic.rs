//! Whole files, replaced at once: after a crash there is the old file or the new one, never half of one. And locks.

use std::fs::{self, File, TryLockError};
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use super::StoreError;

/// Replaces a file; its folder is made when it is missing.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let folder = path.parent().expect("a file stands in a folder");
    fs::create_dir_all(folder).map_err(StoreError::io("make the folder", folder))?;
    let mut name = path.file_name().expect("a file has a name").to_owned();
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

/// Removes a folder with all that it holds, if it is there.
pub(super) fn remove(folder: &Path) -> Result<(), StoreError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(StoreError::io("remove", folder)(error)),
        _ => Ok(()),
    }
}

/// Makes the names in a folder outlive a crash.
pub(super) fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    // Only Unix lets a folder be opened for this; elsewhere the system sees to it.
    if cfg!(unix) {
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(StoreError::io("sync the folder", folder))?;
    }
    Ok(())
}

/// Locks a file for this process; says whether it is free. The lock ends with the file.
///
/// A process that was killed keeps its locks for the moment that the system needs to clear it away, so it is tried for half a second.
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
    fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b.txt");
        // What a crash leaves behind is in nobody's way.
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
        let error = write(&path, b"two").expect_err("the name beside it is taken");
        assert!(error.to_string().starts_with("write `"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
    }
}
