//! What can keep a data set from being divided.

use std::path::PathBuf;

use polars::prelude::PolarsError;

use crate::stages::export::{CardFault, ExportError};
use crate::store::StoreError;

/// Why nothing was divided.
#[derive(Debug, thiserror::Error)]
pub enum SplitError {
    /// The config is none that can be divided, or the data set lacks it.
    #[error("the data set `{}` has no config `{config}` that can be divided", path.display())]
    NoConfig {
        /// The data set.
        path: PathBuf,
        /// The config.
        config: String,
        /// Those that it has.
        has: Vec<String>,
    },
    /// A column that was named is none of the config's.
    #[error("`{config}` has no column `{column}`")]
    NoColumn {
        /// The config.
        config: String,
        /// The column.
        column: String,
        /// Those that it has.
        has: Vec<String>,
    },
    /// A column that was named holds no values that a word tells apart.
    #[error("`{column}` of `{config}` holds {kind}, which are no values to divide by")]
    NoValues {
        /// The config.
        config: String,
        /// The column.
        column: String,
        /// Its type.
        kind: String,
    },
    /// A value that was named is in no row.
    #[error("no row of `{config}` has `{value}` as its `{column}`")]
    NoValue {
        /// The config.
        config: String,
        /// The column.
        column: String,
        /// The value.
        value: String,
    },
    /// The folder for the new data set holds something.
    #[error("`{}` holds something already", path.display())]
    Taken {
        /// The folder.
        path: PathBuf,
    },
    /// The folder for the new data set lies in the old one.
    #[error("`{}` lies within the data set", path.display())]
    Within {
        /// The folder.
        path: PathBuf,
    },
    /// A file is not what the run has written.
    #[error("`{file}` is not what the run has written, by its manifest")]
    Altered {
        /// The file below the data set.
        file: String,
    },
    /// The card cannot be understood, and would be written over.
    #[error("tell `{}` of the new splits", path.display())]
    Card {
        /// Its path.
        path: PathBuf,
        /// What is wrong.
        #[source]
        source: CardFault,
    },
    /// A file could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Rows could not be made into groups.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// Rows could not be taken out of their table.
    #[error("divide the rows of `{config}`")]
    Frame {
        /// The config.
        config: String,
        /// What polars says.
        #[source]
        source: PolarsError,
    },
    /// The manifest is none.
    #[error("read `{}`", path.display())]
    Manifest {
        /// Its path.
        path: PathBuf,
        /// What is wrong.
        #[source]
        source: serde_json::Error,
    },
}

/// Says of which config rows could not be taken out of their table.
pub(super) fn frame(config: &str) -> impl Fn(PolarsError) -> SplitError {
    move |source| SplitError::Frame { config: config.to_owned(), source }
}
