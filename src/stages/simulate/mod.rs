//! The stage `simulate`: a test character joins the cast of a scene in a group chat.
//!
//! [`play_lanes`] plays a lane to its end, or lanes that share counts. It sees no file and no progress bar, and what it plays depends on the lane's
//! ids, its counts and the pool alone.

mod asks;
mod conversation;
mod dwrs;
mod filter;
mod floor;
mod label;
mod labels;
mod lane;
mod marks;
mod offline;
mod original;
mod panel;
mod places;
mod reply;
mod said;
mod sample;
mod scenes;
mod script;
mod setting;
mod speaker;
mod tally;
mod transcript;
mod turns;

#[cfg(test)]
mod fixtures;

pub use asks::{Called, Direct, Direction, Rate, Rating, SceneReply, TestReply};
pub use conversation::BY_LOT;
pub use dwrs::Counts;
pub use lane::{LaneEnd, Played, Progress, Stage, play_lanes};
pub use panel::is_further_verdict;
pub use places::Places;
pub use scenes::{DrawnBooks, Scenes, drawn, meets_own_book};
pub use turns::lanes_name;

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

/// What moves the counts that DWRS reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Count {
    /// Each test turn counts for the dimension aimed at (Algorithm 1).
    Targeted,
    /// Each test turn counts for the dimension that the judge found.
    Judged,
    /// Each accepted sample counts for the dimension that the judge found.
    Accepted,
}

/// What shares one set of counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// A test character with one source model.
    Lane,
    /// A test character with all source models, one lane after the other.
    Character,
}

/// The table `[simulate]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// τ: a lane ends when every dimension has been counted this often. The paper's figure (4.2): 10.
    #[schemars(range(min = 1))]
    pub tau: u32,
    /// How likely a stretch up to the next test turn aims at a dimension, 0 to 1; else it is normal conversation (3.3
    /// mixes the two and names no figure).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub emphasis: f64,
    /// What moves the counts. Algorithm 1 counts targets.
    pub count: Count,
    /// What shares one set of counts. The paper's τ is per test character and source model.
    pub scope: Scope,
    /// Conversations of a lane that are planned and played together; counts move between waves.
    #[schemars(range(min = 1))]
    pub wave: u32,
    /// The fewest turns of a conversation.
    #[schemars(range(min = 2))]
    pub min_turns: u32,
    /// The most turns of a conversation. The paper's mean is 19.8 (Table 11).
    #[schemars(range(min = 2))]
    pub max_turns: u32,
    /// The test character gets a turn at least every so many turns.
    #[schemars(range(min = 2))]
    pub test_every: u32,
    /// The most conversations of a lane.
    #[schemars(range(min = 1))]
    pub max_conversations: u32,
    /// The most characters of a scene that take part beside the test character; those with most lines stay.
    #[schemars(range(min = 1))]
    pub max_cast: u32,
    /// The books whose scenes lanes play, by slug or pattern (`["emma", "red-*"]`); all when empty. Lanes whose books are named keep
    /// every row when others are added; else a further book of a lane's language is played by it too.
    pub books: Vec<String>,
    /// Whether a character may meet scenes of its own book. Silent, only one that was picked out of the pool may, and only
    /// where no other book that lanes play has a scene of its language.
    pub own_book: Option<bool>,
    /// Whether a lane plays the scenes that people wrote for the pool before those of books.
    pub custom_first: bool,
    /// The most sentences of a reply; more is a format fault (the paper's replies have one or two).
    #[schemars(range(min = 1))]
    pub max_sentences: u32,
    /// How many of the test character's lines its prompt shows.
    pub example_lines: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            tau: 10,
            emphasis: 0.7,
            count: Count::Targeted,
            scope: Scope::Lane,
            wave: 4,
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
