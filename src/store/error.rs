//! What goes wrong with files. Every variant carries the path.

use std::io;
use std::path::{Path, PathBuf};

use polars::error::PolarsError;

/// What goes wrong with files. Ends the run: what cannot be kept must not be claimed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The system refused.
    #[error("{tried} `{}`", path.display())]
    Io {
        /// What was tried, such as `write`.
        tried: &'static str,
        /// The path.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    /// Another process works there.
    #[error("`{}` is in use by {by}", path.display())]
    InUse {
        /// The path.
        path: PathBuf,
        /// Who holds it, as far as is known.
        by: String,
    },
    /// The file was written by a newer program.
    #[error("read `{}`: its format has version {version}, this program knows up to {known}", path.display())]
    Newer {
        /// The path.
        path: PathBuf,
        /// Its version.
        version: u64,
        /// The newest version that is known.
        known: u64,
    },
    /// The file is something else.
    #[error("read `{}`: it is no journal", path.display())]
    NoJournal {
        /// The path.
        path: PathBuf,
    },
    /// A part of the journal is not there.
    #[error("find `{}`: the journal goes on after it, and without it its calls would be made again (if that is wanted, put an empty file in its place)", path.display())]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// A scene is not as the schema says.
    #[error("read a scene in `{}`{}: {fault}", path.display(), line.map_or_else(String::new, |line| format!(", line {line}")))]
    Scene {
        /// The path.
        path: PathBuf,
        /// The line, from 1, where it is known.
        line: Option<usize>,
        /// What is wrong.
        fault: String,
    },
    /// Two of people's own scenes have one id.
    #[error("read the scene `{id}` in `{}`: `{}` has it too", path.display(), other.display())]
    TwoScenes {
        /// The id.
        id: String,
        /// The path.
        path: PathBuf,
        /// The path that was read before it.
        other: PathBuf,
    },
    /// A file of scenes is not what it was when the pool was indexed.
    #[error("read a scene in `{}` again: the file changed while the program was at work", path.display())]
    Changed {
        /// The path.
        path: PathBuf,
    },
    /// A scene of this id was added before.
    #[error("add the scene `{id}`: it stands in `{}` already", path.display())]
    Taken {
        /// The id.
        id: String,
        /// The path.
        path: PathBuf,
    },
    /// A scene to be replaced shares its file with others, which are not touched.
    #[error("replace the scene `{id}`: it stands in `{}` with others", path.display())]
    Shared {
        /// The id.
        id: String,
        /// The path.
        path: PathBuf,
    },
    /// A table does not go into its file.
    #[error("write `{}`", path.display())]
    Parquet {
        /// The path.
        path: PathBuf,
        /// What polars says.
        #[source]
        source: PolarsError,
    },
    /// A table is none that can be read.
    #[error("read `{}`", path.display())]
    Rows {
        /// The path.
        path: PathBuf,
        /// What polars says.
        #[source]
        source: PolarsError,
    },
    /// A character of a run is not as the schema says.
    #[error("read the character in `{}`, line {line}", path.display())]
    Character {
        /// The path.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        #[source]
        source: serde_json::Error,
    },
    /// A record does not become JSON.
    #[error("write `{}`", path.display())]
    Json {
        /// The path.
        path: PathBuf,
        /// What serde says.
        #[source]
        source: serde_json::Error,
    },
}

impl StoreError {
    /// Returns what makes an error out of the system's.
    pub(super) fn io(tried: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { tried, path: path.to_owned(), source }
    }
}
