//! The stage `select`: a judge decides which of two replies of the test character is better, and on which dimension.
//!
//! The replies are given; the caller generates them and keeps the history.

mod asks;
mod dimensions;
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
    /// Path of a TOML file with dimensions that replace the five of the paper (4.1).
    pub dimensions: Option<String>,
    /// Maximum σ, from 1 to 5, at which the source reply is kept in the history. The paper (3.4) uses 3.
    #[schemars(range(min = 1, max = 5))]
    pub keep_source: u8,
    /// Maximum σ, from 1 to 5, at which a turn becomes a sample. The paper (3.4 and Appendix H) uses 2.
    #[schemars(range(min = 1, max = 5))]
    pub sample_threshold: u8,
    /// Whether the prompt of the judge contains the target dimension.
    pub hint: bool,
    /// Whether the judge compares twice, once in each order of the replies. σ is then the mean, rounded towards the tie
    /// (3). If false, one order is drawn at random.
    pub both_orders: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self { dimensions: None, keep_source: 3, sample_threshold: 2, hint: false, both_orders: false }
    }
}
