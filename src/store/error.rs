//! Errors about files. Every variant carries the path.

use std::io;
use std::path::{Path, PathBuf};

use polars::error::PolarsError;

use crate::schema::SceneId;

/// An error about a file. It ends the run: a result that cannot be stored must not be reported as done.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// An operation of the file system failed.
    #[error("failed to {tried} `{}`", path.display())]
    Io {
        /// The operation as it follows "failed to", such as `write`.
        tried: &'static str,
        /// The path.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// Another process has the file or folder locked.
    #[error("`{}` is in use by {by}", path.display())]
    InUse {
        /// The path.
        path: PathBuf,
        /// The process that holds the lock, as far as it is known.
        by: String,
    },
    /// The file was written by a newer version of the program.
    #[error("failed to read `{}`: format version {version} is newer than the latest supported version {known}; update \
        dramaturg", path.display())]
    NewerFormat {
        /// The path.
        path: PathBuf,
        /// The version of the file.
        version: u64,
        /// The newest supported version.
        known: u64,
    },
    /// The file is not a journal.
    #[error("failed to read `{}`: not a dramaturg journal", path.display())]
    NotAJournal {
        /// The path.
        path: PathBuf,
    },
    /// A segment of the journal is missing.
    #[error("failed to find `{}`: later journal segments exist, and without this one its model calls would be made \
        again (restore the file, or put an empty file in its place to accept that)", path.display())]
    MissingSegment {
        /// The path.
        path: PathBuf,
    },
    /// A scene does not match the schema.
    #[error(
        "failed to read a scene in `{}`{}: {fault}",
        path.display(),
        line.map_or_else(String::new, |line| format!(", line {line}"))
    )]
    Scene {
        /// The path.
        path: PathBuf,
        /// The line, from 1, if known.
        line: Option<usize>,
        /// What is wrong.
        fault: String,
    },
    /// Two custom scenes have the same id.
    #[error("duplicate scene id `{id}` in `{}`: already used in `{}`", path.display(), other.display())]
    DuplicateScene {
        /// The id.
        id: SceneId,
        /// The path.
        path: PathBuf,
        /// The path that was read first.
        other: PathBuf,
    },
    /// A file of scenes changed after the pool was indexed.
    #[error("failed to read a scene in `{}` again: the file changed during the run; rerun the command", path.display())]
    FileChanged {
        /// The path.
        path: PathBuf,
    },
    /// A scene with this id already exists.
    #[error("failed to add the scene `{id}`: it already exists in `{}`", path.display())]
    SceneExists {
        /// The id.
        id: SceneId,
        /// The path.
        path: PathBuf,
    },
    /// The scene to be replaced is in a file with other scenes, which is not modified.
    #[error("failed to replace the scene `{id}`: `{}` also contains other scenes", path.display())]
    SharedFile {
        /// The id.
        id: SceneId,
        /// The path.
        path: PathBuf,
    },
    /// A table cannot be written to its file.
    #[error("failed to write `{}`", path.display())]
    Parquet {
        /// The path.
        path: PathBuf,
        /// The error of polars.
        #[source]
        source: PolarsError,
    },
    /// A table cannot be read.
    #[error("failed to read `{}`", path.display())]
    Rows {
        /// The path.
        path: PathBuf,
        /// The error of polars.
        #[source]
        source: PolarsError,
    },
    /// A character of a run does not match the schema.
    #[error("failed to read the character in `{}`, line {line}", path.display())]
    Character {
        /// The path.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The JSON error.
        #[source]
        source: serde_json::Error,
    },
    /// A file or a stored record is not the JSON that is expected there.
    #[error("failed to parse `{}`", path.display())]
    InvalidJson {
        /// The path.
        path: PathBuf,
        /// The JSON error.
        #[source]
        source: serde_json::Error,
    },
    /// A record cannot be converted to JSON.
    #[error("failed to write `{}`", path.display())]
    Json {
        /// The path.
        path: PathBuf,
        /// The JSON error.
        #[source]
        source: serde_json::Error,
    },
}

impl StoreError {
    /// Returns a function that converts an I/O error about `path`. `tried` is the operation, as it follows "failed to".
    pub(super) fn io(tried: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { tried, path: path.to_owned(), source }
    }
}
