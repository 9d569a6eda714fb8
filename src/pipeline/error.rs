//! Why a run ended before its time, or with something missing.

use super::{PipelineError, Summary};
use crate::llm::AskError;

/// Why a run did not do all that it was asked.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The pipeline file, or a file that it names, is wrong. Nothing was run.
    #[error(transparent)]
    Invalid(#[from] PipelineError),
    /// A file of the run could not be read or written.
    #[error("{what}")]
    Store {
        /// What was tried, with the path.
        what: String,
        /// Why it failed.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A call ended the run.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// The run was asked to stop; what was done is kept.
    #[error("interrupted")]
    Interrupted,
    /// The run went to its end, but some of its calls failed.
    #[error("{failed} of {total} calls failed, first {first}")]
    Failures {
        /// What the run left all the same.
        summary: Box<Summary>,
        /// How many calls failed.
        failed: u64,
        /// How many there were.
        total: u64,
        /// Stage and id of the first.
        first: String,
        /// Why the first one failed.
        #[source]
        source: Option<Box<AskError>>,
    },
}
