//! Errors of `split`.

use std::path::PathBuf;

use polars::prelude::PolarsError;

use crate::dataset::card_update::CardError;
use crate::stages::export::ExportError;
use crate::store::StoreError;

/// Why a data set could not be split.
#[derive(Debug, thiserror::Error)]
pub enum SplitError {
    /// The config cannot be split, or the data set does not have it.
    #[error("the data set `{}` has no config `{config}` that can be split", path.display())]
    NoConfig {
        /// The data set.
        path: PathBuf,
        /// The config.
        config: String,
        /// The configs that can be split.
        has: Vec<String>,
    },
    /// A column does not exist in the config.
    #[error("`{config}` has no column `{column}`")]
    NoColumn {
        /// The config.
        config: String,
        /// The column.
        column: String,
        /// The columns of the config.
        has: Vec<String>,
    },
    /// The type of a column has no values to split by.
    #[error("`{column}` of `{config}` contains {values} and cannot be used for a split")]
    NoValues {
        /// The config.
        config: String,
        /// The column.
        column: String,
        /// The column's type.
        values: String,
    },
    /// A given value is in no row.
    #[error("no row of `{config}` has `{value}` as its `{column}`")]
    NoValue {
        /// The config.
        config: String,
        /// The column.
        column: String,
        /// The value.
        value: String,
    },
    /// The output folder is not empty.
    #[error("`{}` is not empty", path.display())]
    FolderNotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// The output folder is inside the data set.
    #[error("`{}` is inside the data set", path.display())]
    Within {
        /// The folder.
        path: PathBuf,
    },
    /// A file has changed since the run wrote it.
    #[error("`{file}` has changed since the run wrote it, according to the manifest")]
    Altered {
        /// The file, relative to the data set.
        file: String,
    },
    /// The data card cannot be parsed, and is not overwritten.
    #[error("failed to update the splits in `{}`", path.display())]
    Card {
        /// Its path.
        path: PathBuf,
        /// Why it cannot be parsed.
        #[source]
        source: CardError,
    },
    /// A file could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Rows could not be written as row groups.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// Rows could not be selected from their table.
    #[error("failed to split the rows of `{config}`")]
    Frame {
        /// The config.
        config: String,
        /// The error of polars.
        #[source]
        source: PolarsError,
    },
    /// The manifest is invalid.
    #[error("failed to read `{}`", path.display())]
    Manifest {
        /// Its path.
        path: PathBuf,
        /// The error of the JSON parser.
        #[source]
        source: serde_json::Error,
    },
}

/// Returns a function that wraps a polars error with the config.
pub(crate) fn frame(config: &str) -> impl Fn(PolarsError) -> SplitError {
    move |source| SplitError::Frame { config: config.to_owned(), source }
}
