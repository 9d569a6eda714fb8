//! The stage `simulate`: a test character joins the cast of a scene in a group chat.
//!
//! [`play_lanes`] plays one lane, or several lanes that share counts, until their targets are met. It reads no file and
//! shows no progress; its output depends only on the lane ids, the counts, the seed and the scene pool.

mod asks;
mod context;
mod conversation;
#[cfg(test)]
mod fixtures;
mod lanes;
mod reply;

pub use asks::{Direct, Direction, Rate, Rating, SceneNames, SceneReply, TestReply};
pub use context::Context;
pub use lanes::{
    Admission, Counts, LaneEnd, PlayedConversation, Progress, Scenes, SelectedBooks, is_extra_verdict, play_lanes,
    plays_own_book, scene_order, shared_counts_id,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The stage's prompt templates: (name, source).
pub const PROMPTS: &[(&str, &str)] = &[
    ("simulate/direct.en", include_str!("prompts/direct.en.jinja")),
    ("simulate/direct.zh", include_str!("prompts/direct.zh.jinja")),
    ("simulate/scene_reply.en", include_str!("prompts/scene_reply.en.jinja")),
    ("simulate/scene_reply.zh", include_str!("prompts/scene_reply.zh.jinja")),
    ("simulate/test_reply.en", include_str!("prompts/test_reply.en.jinja")),
    ("simulate/test_reply.zh", include_str!("prompts/test_reply.zh.jinja")),
    ("simulate/rate.en", include_str!("prompts/rate.en.jinja")),
    ("simulate/rate.zh", include_str!("prompts/rate.zh.jinja")),
];

/// Which events increase the counts that the dimension sampling (DWRS) balances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BalanceOn {
    /// Each test turn counts for its target dimension (FURINA, Algorithm 1).
    Targeted,
    /// Each test turn counts for the dimension that the judge chose.
    Judged,
    /// Each accepted sample counts for the dimension that the judge chose.
    Accepted,
}

/// Which lanes share one set of counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BalanceScope {
    /// Each lane (test character × source model) has its own counts.
    Lane,
    /// All lanes of a test character share counts; their source models take turns, conversation by conversation.
    Character,
}

/// The table `[simulate]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// τ: a lane ends when the count of every dimension has reached this value. The paper (4.2) uses 10.
    #[schemars(range(min = 1))]
    pub tau: u32,
    /// Probability, 0 to 1, that the turns up to and including the next test turn target a dimension; otherwise they
    /// are normal conversation. The paper (3.3) mixes the two and gives no figure.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub target_probability: f64,
    /// Which events increase the counts. Algorithm 1 of the paper counts targets.
    pub balance_on: BalanceOn,
    /// Which lanes share one set of counts. In the paper τ applies to each test character and source model.
    pub balance_scope: BalanceScope,
    /// Maximum number of conversations of a lane that are planned and played concurrently as one batch. Counts are
    /// updated between batches.
    #[schemars(range(min = 1))]
    pub batch_size: u32,
    /// Minimum number of turns of a conversation.
    #[schemars(range(min = 2))]
    pub min_turns: u32,
    /// Maximum number of turns of a conversation. The paper's mean is 19.8 (Table 11).
    #[schemars(range(min = 2))]
    pub max_turns: u32,
    /// The test character speaks at least once in this many consecutive turns.
    #[schemars(range(min = 2))]
    pub test_every: u32,
    /// Maximum number of conversations of a lane.
    #[schemars(range(min = 1))]
    pub max_conversations: u32,
    /// Maximum number of scene characters that join the test character. Those with the most utterances in the scene are
    /// kept.
    #[schemars(range(min = 1))]
    pub max_cast: u32,
    /// Books whose scenes lanes play, by slug or glob pattern (`["emma", "red-*"]`). If empty, all books; then adding a
    /// book in a lane's language changes that lane's rows. With the books listed, adding further books changes no row.
    pub books: Vec<String>,
    /// Whether a character plays scenes of its own book. If unset, only characters picked from the scene pool do, and
    /// only if no other book that lanes play has a scene in the character's language.
    pub own_book: Option<bool>,
    /// Whether a lane plays custom scenes (written by hand for the pool) before scenes of books.
    pub custom_first: bool,
    /// Maximum number of sentences of a reply. A longer reply is truncated and gets the fault `too_many_sentences`.
    /// Replies in the paper have one or two sentences.
    #[schemars(range(min = 1))]
    pub max_sentences: u32,
    /// Maximum number of the test character's example lines that its prompt shows.
    pub example_lines: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            tau: 10,
            target_probability: 0.7,
            balance_on: BalanceOn::Targeted,
            balance_scope: BalanceScope::Lane,
            batch_size: 4,
            min_turns: 8,
            max_turns: 20,
            test_every: 4,
            max_conversations: 40,
            max_cast: 5,
            books: Vec::new(),
            own_book: None,
            custom_first: false,
            max_sentences: 3,
            example_lines: 24,
        }
    }
}
