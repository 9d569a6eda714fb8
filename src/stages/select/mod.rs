//! The stage `select`: at a turn of the test character, which of two replies is better, and on which dimension.
//!
//! It judges two given replies and says which stays; it makes no reply and keeps no history.

mod asks;
mod dimensions;
mod offline;
mod selection;

pub use asks::{Criterion, Judge, Judgement};
pub use dimensions::dimensions;
pub use selection::{Pair, Selection, select};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The stage's prompt templates: (name, source).
pub const PROMPTS: &[(&str, &str)] = &[
    ("select/judge.en", include_str!("prompts/judge.en.jinja")),
    ("select/judge.zh", include_str!("prompts/judge.zh.jinja")),
];

/// The table `[select]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// A TOML file of dimensions in place of the five of the paper (4.1).
    pub dimensions: Option<String>,
    /// The largest σ at which the source reply stays in the history. The paper's figure (3.4): 3.
    #[schemars(range(min = 1, max = 5))]
    pub keep_source: u8,
    /// The largest σ at which a turn becomes a sample. The paper's figure (3.4 and Appendix H): 2.
    #[schemars(range(min = 1, max = 5))]
    pub sample: u8,
    /// Whether the judge is told the dimension that was aimed at.
    pub hint: bool,
    /// Whether the judge compares twice, with the replies in either order: σ is then the mean, and what lies between two
    /// grades the one nearer to a tie. Else one order is drawn by lot.
    pub both_orders: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self { dimensions: None, keep_source: 3, sample: 2, hint: false, both_orders: false }
    }
}
