//! The stage `export`: records become the tables of the data set, its card and the report. It builds them, a few rows at a time; `store`
//! writes them.
//!
//! Nothing is decided here: what is a sample and what is left out was settled by the stages before. Types are written out
//! and never inferred from rows, so a table has the same schema whatever it holds.

mod amounts;
mod card;
mod columns;
mod expected;
mod features;
#[cfg(test)]
mod fixture;
mod formats;
mod forms;
mod front;
mod groups;
mod marks;
mod matter;
mod report;
mod revision;
mod rights;
mod roles;
mod splits;
mod tables;
mod tally;
mod yaml;

pub use amounts::{dollars, percent, thousands};
pub use card::{About, AboutBook, AboutPart, card};
pub use expected::expected;
pub use formats::{CONFIGS, Format, Formed, Frame};
pub use forms::{Form, Lines};
pub use groups::{Row, table};
pub use marks::MarkFault;
pub use report::{Agreement, Charge, Figures, Reading, Report, report, report_tells, rereport};
pub use revision::{CardFault, CardRows, Division, card_rows, counted, recard};
pub use rights::Rights;
pub use roles::HeldOut;
pub use splits::{Groups, SplitRows};
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// The data set's name on its card; the run's name when silent.
    pub pretty_name: Option<String>,
    /// The licence as the card names it, such as `cc0-1.0`; `other` when silent.
    pub license: Option<String>,
    /// Further tags of the card.
    pub tags: Vec<String>,
    /// The longest stretch of a book that a row may hold, in code points: of a longer one the beginning stays, `[…]` in place of
    /// the rest. Names and ids stay whole. All may be held when silent.
    #[schemars(range(min = 20))]
    pub max_quote_chars: Option<u32>,
    /// Whether what is a book's own text goes into the data set: the words of `scenes.dialogue`, `characters.lines`,
    /// `roles.dialogue` and `roles.catchphrases`. When `false` these are null, places in the books stay, and no row holds a
    /// stretch of more than 40 code points of a book, or than `max_quote_chars` says.
    pub text: bool,
    /// A string that every row carries in a last column `canary`, and the card shows, so that it can be told later whether a
    /// model was trained on the data set: one of your own, such as a GUID. None when silent.
    #[schemars(length(min = 8))]
    pub canary: Option<String>,
    /// A file of vetoes: ids of what is taken out of the data set, and references that are put right, each with a reason.
    /// When silent `vetoes.toml` beside the pipeline file, if there is one.
    pub vetoes: Option<String>,
}

impl Default for Params {
    fn default() -> Self {
        let (pretty_name, license, tags, max_quote_chars, canary, vetoes) = Default::default();
        Self { pretty_name, license, tags, max_quote_chars, text: true, canary, vetoes }
    }
}
