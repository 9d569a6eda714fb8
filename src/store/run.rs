//! The folder of a run: journal, rejects, manifest, report and data set.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use super::atomic;
use super::error::StoreError;
use super::journal::FileJournal;
use super::json::{json_lines, write_json};
use super::new_dataset::NewDataset;
use super::parquet::SHARD_BYTES;
use super::spool::Spool;
use crate::schema::Reject;

/// The folder of a run. Every run with the same name uses it, one process at a time.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    journal: Arc<FileJournal>,
    /// Locked as long as the folder is open.
    _lock: File,
}

impl RunFolder {
    /// Opens a run's folder, creates it if it is missing, and repairs what a crash left of the data set.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        fs::create_dir_all(path).map_err(StoreError::io("create the folder", path))?;
        let lock = lock(path)?;
        let journal = Arc::new(FileJournal::open(&path.join("journal.jsonl"))?);
        let folder = Self { path: path.to_owned(), journal, _lock: lock };
        folder.repair()?;
        Ok(folder)
    }

    /// Returns the journal.
    #[must_use]
    pub const fn journal(&self) -> &Arc<FileJournal> {
        &self.journal
    }

    /// Returns the folder's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of the data set.
    #[must_use]
    pub fn dataset(&self) -> PathBuf {
        self.path.join("dataset")
    }

    /// Replaces the rejects: one sorted file `rejected/<stage>.jsonl` for each stage that has any.
    pub fn write_rejected(&self, rejects: &[Reject]) -> Result<(), StoreError> {
        let folder = self.path.join("rejected");
        let mut files: BTreeMap<PathBuf, Vec<&Reject>> = BTreeMap::new();
        for reject in rejects {
            files.entry(folder.join(format!("{}.jsonl", reject.stage))).or_default().push(reject);
        }
        for (path, rejects) in &mut files {
            rejects.sort();
            atomic::write(path, &json_lines(path, rejects)?)?;
        }
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries.map_err(StoreError::io("read the folder", &folder))?,
        };
        for entry in entries {
            let path = entry.map_err(StoreError::io("read the folder", &folder))?.path();
            if path.extension().is_some_and(|extension| extension == "jsonl") && !files.contains_key(&path) {
                fs::remove_file(&path).map_err(StoreError::io("remove", &path))?;
            }
        }
        Ok(())
    }

    /// Creates an empty spool, which is removed when it is dropped.
    pub fn spool(&self, name: &str) -> Result<Spool, StoreError> {
        Spool::create(&self.path, name)
    }

    /// Starts a data set that replaces the old one when it is complete.
    ///
    /// After a crash either the old or the new data set is complete, possibly under a temporary name; the next
    /// [`open`](Self::open) restores its name.
    pub fn new_dataset(&self) -> Result<NewDataset, StoreError> {
        NewDataset::beside(&self.dataset(), SHARD_BYTES)
    }

    /// Replaces the manifest.
    pub fn write_manifest(&self, manifest: &impl Serialize) -> Result<(), StoreError> {
        write_json(&self.path.join("manifest.json"), manifest)
    }

    /// Replaces the report.
    pub fn write_report(&self, html: &str) -> Result<(), StoreError> {
        atomic::write(&self.path.join("report.html"), html.as_bytes())
    }

    /// Repairs what a crash left of the data set, and removes leftover spools.
    fn repair(&self) -> Result<(), StoreError> {
        Spool::clear(&self.path)?;
        NewDataset::repair(&self.dataset())
    }
}

/// Locks the folder of a run. The error names the process that holds it. The lock ends when the file is closed.
pub fn lock(folder: &Path) -> Result<File, StoreError> {
    let path = folder.join(".lock");
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(StoreError::io("open", &path))?;
    if !atomic::lock(&file, &path)? {
        let mut by = String::new();
        // The process that holds the lock may not have written its id yet.
        let known = file.read_to_string(&mut by).is_ok() && !by.trim().is_empty();
        let by = if known { format!("process {}", by.trim()) } else { "another process".to_owned() };
        return Err(StoreError::InUse { path: folder.to_owned(), by });
    }
    let mut name = || {
        file.set_len(0)?;
        file.rewind()?;
        writeln!(file, "{}", std::process::id())
    };
    name().map_err(StoreError::io("write", &path))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use polars::prelude::{Column, DataFrame};
    use serde_json::json;
    use sha2::{Digest as _, Sha256};

    use super::*;
    use crate::schema::{RejectReason, Stage};
    use crate::store::parquet::hexadecimal;

    /// Writes a data set with one row per id in each table.
    fn write(run: &RunFolder, tables: &[(&str, &[&str])]) -> BTreeMap<String, String> {
        let mut dataset = run.new_dataset().unwrap();
        for (config, ids) in tables {
            let mut table = dataset.table(config, "test");
            for id in *ids {
                table.write(DataFrame::new(1, vec![Column::new("id".into(), [*id])]).unwrap()).unwrap();
            }
            dataset.end(table).unwrap();
        }
        dataset.finish("card").unwrap()
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_data_set_is_replaced_atomically() {
        let root = tempfile::tempdir().unwrap();
        let run = RunFolder::open(&root.path().join("outputs/demo")).unwrap();
        let first = write(&run, &[("samples", &["一"]), ("scenes", &["a", "b"])]);
        assert_eq!(
            first.keys().collect::<Vec<_>>(),
            ["README.md", "samples/test-00000-of-00001.parquet", "scenes/test-00000-of-00001.parquet"]
        );
        let second = write(&run, &[("samples", &["一"]), ("rejected", &[])]);
        assert_eq!(names(&run.dataset()), ["README.md", "samples"]);
        assert_eq!(names(run.path()), [".lock", "dataset", "journal.jsonl"]);
        for (name, hash) in second {
            assert_eq!(first[&name], hash);
            assert_eq!(hexadecimal(Sha256::new_with_prefix(fs::read(run.dataset().join(name)).unwrap())), hash);
        }
    }

    #[test]
    fn a_crash_at_any_step_leaves_a_complete_data_set() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("demo");
        let leave = |name: &str| {
            fs::create_dir(path.join(name)).unwrap();
            fs::write(path.join(name).join("README.md"), name).unwrap();
        };
        for (left, whole) in [
            (&["dataset", ".dataset.dramaturg-new"][..], "dataset"),
            (&[".dataset.dramaturg-old", ".dataset.dramaturg-new"], ".dataset.dramaturg-old"),
            (&[".dataset.dramaturg-old", "dataset"], "dataset"),
            (&[".dataset.dramaturg-old"], ".dataset.dramaturg-old"),
        ] {
            fs::create_dir_all(&path).unwrap();
            for name in left {
                leave(name);
            }
            fs::write(path.join("conversations.spool"), "torn").unwrap();
            let run = RunFolder::open(&path).unwrap();
            assert_eq!(names(&path), [".lock", "dataset", "journal.jsonl"], "{left:?}");
            assert_eq!(fs::read_to_string(run.dataset().join("README.md")).unwrap(), whole);
            drop(run);
            fs::remove_dir_all(&path).unwrap();
        }
    }

    #[test]
    fn rejects_are_sorted_and_old_ones_are_removed() {
        let root = tempfile::tempdir().unwrap();
        let run = RunFolder::open(root.path()).unwrap();
        run.write_rejected(&[]).unwrap();
        let [a, b] =
            ["甲", "乙"].map(|id| Reject::new(Stage::Extract, id, RejectReason::NoDialogue, "none of 3 lines"));
        run.write_rejected(&[a.clone(), Reject::new(Stage::Chunk, "x", RejectReason::NoStory, ""), b.clone()]).unwrap();
        assert_eq!(names(&root.path().join("rejected")), ["chunk.jsonl", "extract.jsonl"]);
        run.write_rejected(&[a.clone(), b.clone()]).unwrap();
        assert_eq!(names(&root.path().join("rejected")), ["extract.jsonl"]);
        let text = fs::read_to_string(root.path().join("rejected/extract.jsonl")).unwrap();
        let read: Vec<Reject> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(read, [b, a]);
    }

    #[test]
    fn a_run_folder_is_locked_by_one_process() {
        let root = tempfile::tempdir().unwrap();
        let run = RunFolder::open(root.path()).unwrap();
        let error = RunFolder::open(root.path()).expect_err("the folder is locked").to_string();
        assert!(error.ends_with(&format!("is in use by process {}", std::process::id())), "{error}");
        drop(run);
        RunFolder::open(root.path()).expect("the lock was released");
    }

    #[test]
    fn the_manifest_ends_with_a_line() {
        let root = tempfile::tempdir().unwrap();
        let run = RunFolder::open(root.path()).unwrap();
        run.write_manifest(&json!({"名": [1]})).unwrap();
        let text = fs::read_to_string(root.path().join("manifest.json")).unwrap();
        assert_eq!(text, "{\n  \"名\": [\n    1\n  ]\n}\n");
    }
}
