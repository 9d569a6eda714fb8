//! Errors in reading books and files of a scene pool.

use std::path::PathBuf;

use super::document::PipelineError;
use crate::books::ReadError;
use crate::stages::chunk::ChapterFilterError;
use crate::store::StoreError;

/// Why a book was skipped.
#[derive(Debug, thiserror::Error)]
pub enum BookError {
    /// The file could not be opened.
    #[error("failed to open `{}`", path.display())]
    Open {
        /// The file's path.
        path: PathBuf,
        /// The I/O error.
        #[source]
        source: std::io::Error,
    },
    /// The file could not be parsed as a book.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A selection of chapters does not fit its book.
    #[error(transparent)]
    Chapters(#[from] ChapterFilterError),
    /// The file changed between listing and reading.
    #[error("`{}` changed during the run", path.display())]
    Changed {
        /// The file's path.
        path: PathBuf,
    },
    /// A path or pattern matches no book.
    #[error("{message}")]
    NoMatch {
        /// The message.
        message: String,
        /// The most similar path that exists.
        nearest: Option<String>,
    },
}

/// Why a book's aliases file in a scene pool cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PoolAliasesError {
    /// Its contents are invalid.
    #[error(transparent)]
    Invalid(PipelineError),
    /// It could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}
