//! Why a run failed or finished incomplete.

use std::path::PathBuf;

use super::summary::Summary;
use crate::config::{BookError, PipelineError, PoolAliasesError};
use crate::dataset::{AddJudgesError, DatasetError};
use crate::llm::AskError;
use crate::prompt::PromptError;
use crate::schema::Stage;
use crate::stages::export::ExportError;
use crate::store::StoreError;

/// Why a run failed or finished incomplete.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The pipeline file, or a file that it names, is invalid. Nothing was run.
    #[error(transparent)]
    Invalid(#[from] PipelineError),
    /// An aliases file of the scene pool is invalid. Results from before it was read are kept.
    #[error("{}; earlier results are kept", _0.summary())]
    Aliases(PipelineError),
    /// The vetoes file names rows or characters that do not exist. No data set was written; the answers are in the
    /// journal.
    #[error("{}; no data set was written", _0.summary())]
    Vetoes(PipelineError),
    /// A prompt template that overrides a built-in one is invalid. Nothing was run.
    #[error(transparent)]
    Prompts(#[from] PromptError),
    /// Verdicts of further judges cannot be added.
    #[error(transparent)]
    AddJudges(AddJudgesError),
    /// No book could be read.
    #[error("failed to read any book, the first is `{}`", path.display())]
    Books {
        /// The path of the first book.
        path: PathBuf,
        /// Why it could not be read.
        #[source]
        source: BookError,
    },
    /// The async runtime or the signal handlers could not be set up.
    #[error("failed to start the run")]
    Start(#[source] std::io::Error),
    /// A file of the run could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The tables could not be built.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// An error that ends the run at once; finished calls are in the journal.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// The run finished, but some of its calls failed or some of its books could not be read.
    #[error("{failed} of {total} {items} failed, first `{first}` in `{}`", stage.map_or("", Stage::name))]
    Failures {
        /// Summary of the finished part.
        summary: Box<Summary>,
        /// What failed: calls, or books if no call failed.
        items: FailedItems,
        /// Number of failures.
        failed: u64,
        /// Number of calls made or books listed.
        total: u64,
        /// Whether all failed replies are in the journal, so that a rerun would fail in the same way.
        is_kept: bool,
        /// The stage of the first failure; `None` if no reject names it.
        stage: Option<Stage>,
        /// The id of the first failure.
        first: String,
        /// The reason of the first failure.
        #[source]
        cause: Cause,
    },
}

/// The kind of items that failed in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailedItems {
    /// Calls of models.
    Calls,
    /// Books that could not be read.
    Books,
}

impl std::fmt::Display for FailedItems {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Calls => "calls",
            Self::Books => "books",
        })
    }
}

/// The reason of a failed call, as in its row of `rejected`.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Cause(pub String);

impl From<PoolAliasesError> for RunError {
    fn from(error: PoolAliasesError) -> Self {
        match error {
            PoolAliasesError::Invalid(error) => Self::Aliases(error),
            PoolAliasesError::Store(error) => Self::Store(error),
        }
    }
}

impl From<DatasetError> for RunError {
    fn from(error: DatasetError) -> Self {
        match error {
            DatasetError::Invalid(error) => Self::Invalid(error),
            DatasetError::AddJudges(error) => Self::AddJudges(error),
            DatasetError::Store(error) => Self::Store(error),
            DatasetError::Export(error) => Self::Export(error),
        }
    }
}
