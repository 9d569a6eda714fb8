//! Samples: rows of the benchmark, each with one test utterance and everything an evaluator needs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::character::{Attribute, CharacterType};
use super::conversation::{Line, Verdict};
use super::language::Language;
use super::message::Message;
use super::{CharacterId, ConversationId, SampleId, SceneId};

/// A scene character as the test character sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CastMember {
    /// Name of the character.
    pub name: String,
    /// Public attributes only.
    pub profile: Vec<Attribute>,
}

/// A test utterance in which the source model's reply was better than the base model's (σ ≤ 2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// `<conversation id>#<turn>`.
    pub id: SampleId,
    /// Language of the sample.
    pub language: Language,
    /// Dimension assigned by the judge; candidates are evaluated on it.
    pub dimension: String,
    /// Dimension that the turn aims at; null in a normal turn without a target.
    pub target: Option<String>,
    /// Name of the test character.
    pub test_character: String,
    /// Id of the test character.
    pub character_id: CharacterId,
    /// Established or synthesized.
    pub character_type: CharacterType,
    /// Full profile of the test character.
    pub profile: Vec<Attribute>,
    /// Slug of the scene's book.
    pub book: String,
    /// Id of the scene.
    pub scene_id: SceneId,
    /// Worldview of the scene.
    pub worldview: String,
    /// Situation of the scene.
    pub situation: String,
    /// The scene characters, with public attributes only.
    pub scene_characters: Vec<CastMember>,
    /// Previous utterances, in order.
    pub history: Vec<Line>,
    /// Messages to send to a candidate: the stable part, the history, then S(dimension).
    pub messages: Vec<Message>,
    /// S(dimension), the reply strategy at the end of `messages`.
    pub strategy: String,
    /// Criteria for the judge in this dimension.
    pub criteria: String,
    /// The source model's reply.
    pub reference: String,
    /// The base model's reply, which candidates are compared with.
    pub baseline: String,
    /// Score σ, 1 or 2: how much better the reference is than the baseline (1: much better).
    pub score: u8,
    /// The judge's rationale.
    pub rationale: String,
    /// Name of the source model in the pipeline file.
    pub source_model: String,
    /// Name of the base model in the pipeline file.
    pub base_model: String,
    /// Name of the judge in the pipeline file.
    pub judge_model: String,
    /// Id of the conversation.
    pub conversation_id: ConversationId,
    /// Index of the turn in the conversation, from 0 over all turns.
    pub turn: u32,
    /// Verdicts of additional judges on reference and baseline, in the order of `[cast] judges`.
    pub verdicts: Vec<Verdict>,
    /// Reason why the reference was edited by hand; null if it is the source model's own reply.
    pub edit_reason: Option<String>,
}
