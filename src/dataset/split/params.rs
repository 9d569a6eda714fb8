//! The parameters of a split.

use serde::{Deserialize, Serialize};

use super::relation::Relation;
use crate::schema::ByLanguage;

/// The split of rows that are related to a row of a split with higher priority.
pub const UNUSED: &str = "unused";

/// The default similarity from which two texts are considered equal: the thresholds of `instruct`'s leak-free split.
pub const DEFAULT_SIMILARITY: ByLanguage<f64> = ByLanguage { en: 0.6, zh: 0.5 };

/// The parameters of a split.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Params {
    /// The requested splits, highest priority first. Rows that none of them takes go to `remainder`.
    pub splits: Vec<Part>,
    /// The split of the remaining rows.
    pub remainder: String,
    /// A column. All rows with the same value go to the same split, whatever their other relations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Values that are assigned to a given split.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub hold_out: Vec<HoldOut>,
    /// The columns whose values, alone and combined, should have the same shares in all splits.
    pub stratify: Vec<String>,
    /// The relations that must not cross splits.
    pub group_by: Vec<Relation>,
    /// The similarity from which two texts are related, 0 to 1.
    pub similarity: ByLanguage<f64>,
    /// The seed of the random order.
    pub seed: u64,
}

/// A requested split.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// The name.
    pub name: String,
    /// The size; zero if only held-out values go into it.
    pub size: Size,
}

/// The size of a split.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Size {
    /// A share of all rows, 0 to 1.
    Share(f64),
    /// A number of rows.
    Rows(usize),
}

impl Size {
    /// Returns the size as a number of rows out of `rows`, not rounded.
    pub(super) fn of(self, rows: usize) -> f64 {
        match self {
            Self::Share(share) => share * crate::text::float(rows),
            Self::Rows(count) => crate::text::float(count.min(rows)),
        }
    }
}

/// A value that is assigned to a given split.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HoldOut {
    /// The column.
    pub column: String,
    /// The value.
    pub value: String,
    /// The split.
    pub split: String,
}
