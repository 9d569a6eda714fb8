//! A simulated conversation, turn by turn, with everything that was answered and judged.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Language;

/// Why a conversation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
    /// The director ended it.
    Director,
    /// It reached the most turns that are allowed.
    MaxTurns,
}

impl EndedBy {
    /// Returns the word that files use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Director => "director",
            Self::MaxTurns => "max_turns",
        }
    }
}

/// A model's rating of a whole conversation (FURINA, Appendix G).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// Returns the word that files use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Poor => "poor",
            Self::Moderate => "moderate",
            Self::High => "high",
        }
    }
}

/// Which of the two replies stays in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Candidate {
    /// The source model's.
    Source,
    /// The base model's.
    Base,
}

impl Candidate {
    /// Returns the word that files use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Base => "base",
        }
    }
}

/// Who took a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TurnKind {
    /// The test character.
    Test,
    /// A scene character.
    Scene,
}

impl TurnKind {
    /// Returns the word that files use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Scene => "scene",
        }
    }
}

/// A line of the history, as every participant sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Line {
    /// Who speaks.
    pub speaker: String,
    /// An optional action in parentheses, then the speech.
    pub content: String,
    /// Whether the speaker is the test character.
    pub is_test: bool,
}

/// One utterance of a simulated conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Turn {
    /// Its place in the conversation, from 0.
    pub index: u32,
    /// Who speaks.
    pub speaker: String,
    /// Test or scene character.
    pub kind: TurnKind,
    /// What stays in the history.
    pub content: String,
    /// The dimension aimed at in this turn; null in normal conversation.
    pub target: Option<String>,
    /// The dimension that the judge found; null in turns of scene characters.
    pub dimension: Option<String>,
    /// σ, 1 (source much better) to 5 (base much better); null in turns of scene characters.
    pub score: Option<u8>,
    /// The judge's reasons.
    pub rationale: Option<String>,
    /// The source model's reply.
    pub source_reply: Option<String>,
    /// The base model's reply.
    pub base_reply: Option<String>,
    /// Which of the two stayed.
    pub kept_reply: Option<Candidate>,
    /// Format faults by name; those that were mended end in `:mended`, those of the reply that did not stay begin with `lost:`.
    /// `director:matched` and `director:by_lot` say that the director's answer was no name as it was given: the turn itself is sound.
    pub faults: Vec<String>,
    /// σ as the judge gave it where the source model's reply was shown first; null where it never was.
    pub score_source_first: Option<u8>,
    /// σ as the judge gave it where the base model's reply was shown first; null where it never was.
    pub score_base_first: Option<u8>,
    /// What further judges say of the same two replies, in the order of `[cast] judges`.
    pub verdicts: Vec<Verdict>,
}

/// What a further judge says of the two replies of a turn. It changes nothing in the conversation. Replies that are the same
/// word for word have none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// The name of the judge in the pipeline file.
    pub judge: String,
    /// The dimension that it found.
    pub dimension: String,
    /// σ, 1 (source much better) to 5 (base much better).
    pub score: u8,
    /// Its reasons.
    pub rationale: String,
    /// σ as it gave it where the source model's reply was shown first; null where it never was.
    pub score_source_first: Option<u8>,
    /// σ as it gave it where the base model's reply was shown first; null where it never was.
    pub score_base_first: Option<u8>,
}

/// A group chat of a test character with the cast of a scene.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Conversation {
    /// `<character id>/<source model>/<n>`.
    pub id: String,
    /// Its language.
    pub language: Language,
    /// The test character's name.
    pub test_character: String,
    /// The test character's id.
    pub character_id: String,
    /// The name of the source model in the pipeline file.
    pub source_model: String,
    /// The name of the base model in the pipeline file.
    pub base_model: String,
    /// The name of the judge in the pipeline file.
    pub judge_model: String,
    /// The scene that it plays in.
    pub scene_id: String,
    /// The wave of its lane, from 0.
    pub wave: u32,
    /// Why it ended.
    pub ended_by: EndedBy,
    /// The rating of the whole.
    pub quality: Option<Quality>,
    /// The reasons for the rating.
    pub quality_rationale: Option<String>,
    /// Whether it passed every filter.
    pub kept: bool,
    /// The utterances.
    pub turns: Vec<Turn>,
}
