//! Simulated conversations: turns with all candidate replies and judgments.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::language::Language;
use super::{CharacterId, ConversationId, SceneId, TurnFault};

/// Why a conversation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
    /// The director ended it.
    Director,
    /// It reached the maximum number of turns.
    MaxTurns,
}

impl EndedBy {
    /// Returns the value used in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Director => "director",
            Self::MaxTurns => "max_turns",
        }
    }
}

/// A model's rating of a whole conversation (FURINA, Appendix G).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Quality {
    /// Not fit for use.
    Poor,
    /// Passable; left out of the benchmark.
    Moderate,
    /// Kept.
    High,
}

impl Quality {
    /// Returns the value used in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Poor => "poor",
            Self::Moderate => "moderate",
            Self::High => "high",
        }
    }
}

/// Which of the two candidate replies was kept in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Candidate {
    /// The source model's reply.
    Source,
    /// The base model's reply.
    Base,
}

impl Candidate {
    /// Returns the value used in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Base => "base",
        }
    }
}

/// Whether a turn belongs to the test character or to a scene character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TurnKind {
    /// The test character.
    Test,
    /// A scene character.
    Scene,
}

impl TurnKind {
    /// Returns the value used in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Scene => "scene",
        }
    }
}

/// One utterance of the history, as every participant sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Line {
    /// Name of the speaker.
    pub speaker: String,
    /// Optional action in parentheses, followed by the speech.
    pub content: String,
    /// Whether the speaker is the test character.
    pub is_test: bool,
}

/// One utterance of a simulated conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Turn {
    /// Position in the conversation, from 0 over all turns.
    pub index: u32,
    /// Name of the speaker.
    pub speaker: String,
    /// `test` for the test character, `scene` for a scene character.
    pub kind: TurnKind,
    /// The utterance kept in the history.
    pub content: String,
    /// Dimension that the turn aims at; null in a normal turn without a target.
    pub target: Option<String>,
    /// Dimension assigned by the judge; null in turns of scene characters.
    pub dimension: Option<String>,
    /// Score σ from 1 (source much better) to 5 (base much better); null in turns of scene characters.
    pub score: Option<u8>,
    /// The judge's rationale; null in turns of scene characters.
    pub rationale: Option<String>,
    /// The source model's reply; null in turns of scene characters.
    pub source_reply: Option<String>,
    /// The base model's reply; null in turns of scene characters.
    pub base_reply: Option<String>,
    /// Which of the two replies was kept; null in turns of scene characters.
    pub kept_reply: Option<Candidate>,
    /// Names of format faults. The suffix `:mended` marks faults that were repaired, the prefix `lost:` faults of the
    /// reply that was not kept. `director:matched` and `director:by_lot` mean that the director's answer was not an
    /// exact name; the turn itself is not affected.
    #[schemars(with = "Vec<String>")]
    pub faults: Vec<TurnFault>,
    /// Score σ in the order with the source model's reply first; null if the judge did not see this order.
    pub score_source_first: Option<u8>,
    /// Score σ in the order with the base model's reply first; null if the judge did not see this order.
    pub score_base_first: Option<u8>,
    /// Verdicts of additional judges on the same two replies, in the order of `[cast] judges`.
    pub verdicts: Vec<Verdict>,
}

/// Verdict of an additional judge on the two replies of a turn. It does not affect the conversation. Identical replies
/// have no verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// Name of the judge in the pipeline file.
    pub judge: String,
    /// Dimension assigned by this judge.
    pub dimension: String,
    /// Score σ from 1 (source much better) to 5 (base much better).
    pub score: u8,
    /// The judge's rationale.
    pub rationale: String,
    /// Score σ in the order with the source model's reply first; null if the judge did not see this order.
    pub score_source_first: Option<u8>,
    /// Score σ in the order with the base model's reply first; null if the judge did not see this order.
    pub score_base_first: Option<u8>,
}

/// A group conversation of a test character with the characters of a scene.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Conversation {
    /// `<character id>/<source model>/<n>`.
    pub id: ConversationId,
    /// Language of the conversation.
    pub language: Language,
    /// Name of the test character.
    pub test_character: String,
    /// Id of the test character.
    pub character_id: CharacterId,
    /// Name of the source model in the pipeline file.
    pub source_model: String,
    /// Name of the base model in the pipeline file.
    pub base_model: String,
    /// Name of the judge in the pipeline file.
    pub judge_model: String,
    /// Id of the scene.
    pub scene_id: SceneId,
    /// Batch of its lane, from 0.
    pub batch: u32,
    /// Why the conversation ended.
    pub ended_by: EndedBy,
    /// Quality rating of the whole conversation; null if it was not rated.
    pub quality: Option<Quality>,
    /// Rationale of the rating; null if it was not rated.
    pub quality_rationale: Option<String>,
    /// Whether the conversation passed all filters.
    pub kept: bool,
    /// The turns, in order.
    pub turns: Vec<Turn>,
}
