//! A row of the benchmark: one test utterance with all that an evaluator needs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Attribute, CharacterType, Language, Line, Message, Verdict};

/// A scene character as the test character sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CastMember {
    /// Its name.
    pub name: String,
    /// Its public attributes, and no others.
    pub profile: Vec<Attribute>,
}

/// One test utterance: a turn where the source model did better than the base model (σ ≤ 2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// `<conversation id>#<turn>`.
    pub id: String,
    /// Its language.
    pub language: Language,
    /// The dimension that the judge found; a model under test is judged on it.
    pub dimension: String,
    /// The dimension that was aimed at; null in normal conversation.
    pub target: Option<String>,
    /// The test character's name.
    pub test_character: String,
    /// The test character's id.
    pub character_id: String,
    /// Established or synthesized.
    pub character_type: CharacterType,
    /// The test character's profile, whole.
    pub profile: Vec<Attribute>,
    /// The slug of the scene's book.
    pub book: String,
    /// The scene's id.
    pub scene_id: String,
    /// The world of the scene.
    pub worldview: String,
    /// The situation of the scene.
    pub situation: String,
    /// The scene characters, with public attributes only.
    pub scene_characters: Vec<CastMember>,
    /// What was said before, in order.
    pub history: Vec<Line>,
    /// What a model under test is sent: the stable part, the history, then S(dimension).
    pub messages: Vec<Message>,
    /// S(dimension), the reply strategy that ends `messages`.
    pub strategy: String,
    /// The judge's text for the dimension.
    pub criteria: String,
    /// The source model's reply.
    pub reference: String,
    /// The base model's reply, which a model under test is compared with.
    pub baseline: String,
    /// σ, 1 or 2: how much better the reference was than the baseline.
    pub score: u8,
    /// The judge's reasons.
    pub rationale: String,
    /// The name of the source model in the pipeline file.
    pub source_model: String,
    /// The name of the base model in the pipeline file.
    pub base_model: String,
    /// The name of the judge in the pipeline file.
    pub judge_model: String,
    /// The conversation that it stands in.
    pub conversation_id: String,
    /// Its turn in the conversation, from 0 over all utterances.
    pub turn: u32,
    /// What further judges say of reference and baseline, in the order of `[cast] judges`.
    pub verdicts: Vec<Verdict>,
    /// Why somebody has put another text in the reference's place; null where it is the source model's own.
    pub edited: Option<String>,
}
