//! Why a run ended before its time, or with something missing.

use std::path::PathBuf;

use super::{PipelineError, Summary};
use crate::llm::AskError;
use crate::prompt::PromptError;
use crate::stages::chunk::ChunkError;
use crate::stages::export::ExportError;
use crate::store::StoreError;

/// Why a run did not do all that it was asked.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The pipeline file, or a file that it names, is wrong. Nothing was run.
    #[error(transparent)]
    Invalid(#[from] PipelineError),
    /// The file of the pool that says who is who in a book is wrong. What was done before it was read is kept.
    #[error("{}; what was done before is kept", _0.told())]
    Aliases(PipelineError),
    /// The file of vetoes names what is not there. No data set was written; what was answered is kept.
    #[error("{}; no data set was written", _0.told())]
    Vetoes(PipelineError),
    /// A prompt template that the pipeline file puts in place of the program's is wrong. Nothing was run.
    #[error(transparent)]
    Prompts(#[from] PromptError),
    /// A run has no data set whose replies could be judged.
    #[error("`{}` has no data set to add verdicts to", run.display())]
    Unbuilt {
        /// The run's folder.
        run: PathBuf,
        /// Why not.
        #[source]
        source: StoreError,
    },
    /// A data set was divided anew, and what writes it from the journal would undo that. Nothing was run.
    #[error("`{}` was divided anew by `split`, and would be written as it was before", dataset.display())]
    Divided {
        /// The data set's folder.
        dataset: PathBuf,
    },
    /// Something would make another run of the one whose replies are judged. Nothing was run.
    #[error("`{change}` would make another run of it than the one whose replies are judged")]
    OtherRun {
        /// What was asked for.
        change: String,
    },
    /// None of the books can be read.
    #[error("no book can be read, first `{}`", path.display())]
    Books {
        /// The first of them.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: BookError,
    },
    /// The program cannot use the machine's cores or signals.
    #[error("start the run")]
    Start(#[source] std::io::Error),
    /// A file of the run could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The tables could not be built.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// A call ended the run; what was done is kept.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// The run went to its end, but some of its calls failed, or some of its books could not be read.
    #[error("{failed} of {total} {what} failed, first `{first}` in `{stage}`")]
    Failures {
        /// What the run left all the same.
        summary: Box<Summary>,
        /// `calls`, or `books` when all calls were answered.
        what: &'static str,
        /// How many failed.
        failed: u64,
        /// How many there were.
        total: u64,
        /// Whether the journal has what the models said, so that another run would fail alike.
        is_kept: bool,
        /// The stage of the first.
        stage: String,
        /// Its id.
        first: String,
        /// Why it failed.
        #[source]
        cause: Cause,
    },
}

/// Why a book was left out.
#[derive(Debug, thiserror::Error)]
pub enum BookError {
    /// The file cannot be read.
    #[error("open `{}`", path.display())]
    Open {
        /// The file's path.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// It is no book.
    #[error(transparent)]
    Chunk(#[from] ChunkError),
    /// It is not what it was when the run listed it.
    #[error("read `{}` again: it changed while the run went on", path.display())]
    Changed {
        /// The file's path.
        path: PathBuf,
    },
    /// What should name books names nothing.
    #[error("{message}")]
    Nothing {
        /// What is wrong.
        message: String,
        /// The path that is most like it.
        nearest: Option<String>,
    },
}

/// Why a call failed, as its entry among the rejects tells it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Cause(pub String);
