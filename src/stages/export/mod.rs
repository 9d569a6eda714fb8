//! The stage `export`: records become the tables of the data set and its card. It builds them, a few rows at a time; `store`
//! writes them.
//!
//! Nothing is decided here: what is a sample and what is left out was settled by the stages before. Types are written out
//! and never inferred from rows, so a table has the same schema whatever it holds.

mod card;
mod columns;
mod features;
#[cfg(test)]
mod fixture;
mod formats;
mod front;
mod groups;
mod roles;
mod tables;
mod tally;

pub use card::{About, AboutBook, AboutPart, card};
pub use formats::{CONFIGS, Format, Formed, Frame};
pub use groups::{Row, table};
pub use roles::HeldOut;
pub use tally::{Table, Tally};

use polars::error::PolarsError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why the tables could not be built.
#[derive(Debug, Error)]
pub enum ExportError {
    /// The columns do not make a table.
    #[error("cannot build the table `{config}`")]
    Frame {
        /// The table's config.
        config: &'static str,
        /// What polars says.
        #[source]
        source: PolarsError,
    },
    /// A number does not fit its column.
    #[error("cannot write {value} to the column `{column}` of the table `{config}`, which holds at most {}", i32::MAX)]
    Number {
        /// The table's config.
        config: &'static str,
        /// The column.
        column: &'static str,
        /// The number.
        value: u32,
    },
}

/// The table `[export]`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// The data set's name on its card; the run's name when silent.
    pub pretty_name: Option<String>,
    /// The licence as the card names it, such as `cc0-1.0`; `other` when silent.
    pub license: Option<String>,
    /// Further tags of the card.
    pub tags: Vec<String>,
}
