//! The stage `export`: builds the tables of the data set, its card and the report from the records, a bounded number of
//! rows at a time. `store` writes them.
//!
//! The earlier stages decide what becomes a sample and what is rejected; this stage only formats it. Column types are
//! declared, not inferred from rows, so a table has the same schema whatever it contains.

mod amounts;
mod arrow_bytes;
pub(crate) mod card;
mod columns;
mod expected_columns;
pub(crate) mod features;
#[cfg(test)]
pub(crate) mod fixture;
mod groups;
pub(crate) mod markers;
mod quote_limits;
mod report;
pub(crate) mod role_tables;
mod split_rows;
mod tables;
mod tally;
pub(crate) mod yaml_text;

pub use amounts::{dollars, percent, row_counts, thousands};
pub use card::{BookMetadata, CardMetadata, CastMetadata, card};
pub use expected_columns::{ALL_CONFIGS, column_notes, expected};
pub use features::ColumnNote;
pub use groups::{TableRow, table};
pub use markers::MarkerError;
pub use quote_limits::QuoteLimits;
pub(crate) use report::report_has_splits;
pub use report::{
    Agreement, AskCost, ConversationView, Report, ReportStatistics, report, report_lists_splits, update_report,
};
pub use role_tables::HeldOut;
pub use split_rows::{RowGroups, SplitRows};
pub use tally::{Table, TableCounts};

use polars::error::PolarsError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// An error while building a table.
#[derive(Debug, Error)]
pub enum ExportError {
    /// The columns cannot be combined into a table.
    #[error("failed to build the table `{config}`")]
    Frame {
        /// The table's config.
        config: &'static str,
        /// The error of polars.
        #[source]
        source: PolarsError,
    },
    /// A number is too large for its column.
    #[error("failed to write {value} to the column `{column}` of the table `{config}`: the maximum is {}", i32::MAX)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// The data set's name on its card. If unset, the name of the run.
    pub pretty_name: Option<String>,
    /// The licence in the card's front matter, such as `cc0-1.0`. If unset, `other`.
    pub license: Option<String>,
    /// Additional tags for the card's front matter.
    pub tags: Vec<String>,
    /// The maximum length of a verbatim passage of a book in a row, in code points. A longer passage is cut after its
    /// beginning and continues as `[…]`. Names and ids are never cut. If unset, there is no limit.
    #[schemars(range(min = 20))]
    pub max_quote_chars: Option<u32>,
    /// Whether the data set includes the books' own text: the words of `scenes.dialogue`, `characters.lines`,
    /// `roles.dialogue` and `roles.catchphrases`. If `false`, these are null, offsets into the books are kept, and no
    /// row contains a passage of more than `max_quote_chars` code points of a book, or 40 if that is unset.
    pub include_book_text: bool,
    /// A string for detecting whether a model was trained on the data set, such as a GUID. Every row has it in a last
    /// column `canary`, and the card shows it. If unset, there is no such column.
    #[schemars(length(min = 8))]
    pub canary: Option<String>,
    /// A file of overrides: ids of rows to leave out of the data set, and corrections of references, each with a
    /// reason. If unset, `vetoes.toml` beside the pipeline file, if it exists.
    pub vetoes: Option<String>,
}

impl Default for Params {
    fn default() -> Self {
        let (pretty_name, license, tags, max_quote_chars, canary, vetoes) = Default::default();
        Self { pretty_name, license, tags, max_quote_chars, include_book_text: true, canary, vetoes }
    }
}
