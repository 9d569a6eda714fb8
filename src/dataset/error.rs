//! Errors of operations on a finished data set, except `split`.

use std::path::PathBuf;

use crate::config::PipelineError;
use crate::stages::export::ExportError;
use crate::store::StoreError;

/// Why a data set could not be read, validated, compared or extended.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    /// The pipeline file, or the configuration of the run, is invalid.
    #[error(transparent)]
    Invalid(#[from] PipelineError),
    /// Verdicts cannot be added.
    #[error(transparent)]
    AddJudges(#[from] AddJudgesError),
    /// A file could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The expected columns could not be derived.
    #[error(transparent)]
    Export(#[from] ExportError),
}

/// Why verdicts of further judges cannot be added to a data set. Nothing was asked or written.
#[derive(Debug, thiserror::Error)]
pub enum AddJudgesError {
    /// The run has no data set.
    #[error("`{}` has no data set to add verdicts to", run.display())]
    NoDataset {
        /// The run's folder.
        run: PathBuf,
        /// Why its data set could not be read.
        #[source]
        source: StoreError,
    },
    /// Writing the data set from the journal would undo an earlier `split`.
    #[error("`{}` was changed by `split`; writing it again would undo the split", dataset.display())]
    WasSplit {
        /// The data set's folder.
        dataset: PathBuf,
    },
    /// An option would change the run whose replies are judged.
    #[error("`{change}` would change the run whose replies are judged")]
    OtherRun {
        /// The option, as given.
        change: String,
    },
}
