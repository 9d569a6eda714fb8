//! Rejected items.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An item rejected by a stage: a row of the data set's `rejected` table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Reject {
    /// Stage that rejected it: `chunk`, `extract`, `synthesize`, `select`, `simulate`, `instruct` or `export`.
    pub stage: String,
    /// Id of the rejected chunk, scene, character, lane, conversation, sample, role, question or reply.
    pub id: String,
    /// Reason code from a fixed list per stage, such as `ungrounded` or `no_dialogue`.
    pub reason: String,
    /// The reason in a sentence, with the relevant figures.
    pub detail: String,
}

impl Reject {
    /// Creates a reject.
    pub fn new(stage: &str, id: impl Into<String>, reason: &str, detail: impl Into<String>) -> Self {
        Self { stage: stage.to_owned(), id: id.into(), reason: reason.to_owned(), detail: detail.into() }
    }
}
