//! What was dropped, and why.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something that a stage left out: a row of the data set's `rejected` table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Reject {
    /// The stage that left it out: `chunk`, `extract`, `synthesize`, `select`, `simulate`, `instruct`, `export`.
    pub stage: String,
    /// The id of what was left out: a chunk, scene, character, lane, conversation, sample, role, question or reply.
    pub id: String,
    /// A short reason out of a fixed list per stage, such as `ungrounded` or `no_dialogue`.
    pub reason: String,
    /// The reason in a sentence, with the figures that led to it.
    pub detail: String,
}

impl Reject {
    /// Makes a reject of a stage.
    pub fn new(stage: &str, id: impl Into<String>, reason: &str, detail: impl Into<String>) -> Self {
        Self { stage: stage.to_owned(), id: id.into(), reason: reason.to_owned(), detail: detail.into() }
    }
}
