//! What the director, the characters and the reviewer of a whole conversation are asked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema::{Attribute, CastMember, Language, Line, Motivation, Quality};

/// Who speaks next, or is this the end?
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Direct {
    /// The language of the prompt.
    pub language: Language,
    /// The situation.
    pub situation: String,
    /// Everyone present, with public attributes only; the test character is the first.
    pub cast: Vec<CastMember>,
    /// What was said before.
    pub history: Vec<Line>,
    /// Who may speak next: names of the cast, in the cast's order.
    pub choices: Vec<String>,
    /// Whether the conversation may end here.
    pub may_end: bool,
    /// How many turns are left at most.
    pub turns_left: u32,
}

/// The director's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Direction {
    /// Why.
    pub reason: String,
    /// One of the choices, or [`Direction::END`].
    pub next: String,
}

impl Direction {
    /// The word that ends a conversation.
    pub const END: &'static str = "END";
}

/// What does a scene character say next? (FURINA 3.3: background, own profile, public attributes of all others, history,
/// motivations, original dialogue; I(d) of Appendix C.)
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SceneReply {
    /// The language of the prompt.
    pub language: Language,
    /// The world.
    pub worldview: String,
    /// The situation.
    pub situation: String,
    /// Who speaks.
    pub name: String,
    /// Its profile, whole.
    pub profile: Vec<Attribute>,
    /// The others present, with public attributes only.
    pub others: Vec<CastMember>,
    /// What the characters of the scene want.
    pub motivations: Vec<Motivation>,
    /// The dialogue of the scene as in the book.
    pub dialogue: Vec<Line>,
    /// What was said before.
    pub history: Vec<Line>,
    /// The code of the dimension that is aimed at.
    pub dimension: Option<String>,
    /// I(d) of that dimension.
    pub eliciting: Option<String>,
    /// The most sentences of a reply.
    pub max_sentences: u32,
}

/// What does the test character say next? (FURINA 3.3: background, own profile, public attributes of the others, history;
/// S(d) of Appendix C. No motivation, no original dialogue, no private attribute of anyone else.)
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TestReply {
    /// The language of the prompt.
    pub language: Language,
    /// The world.
    pub worldview: String,
    /// The situation.
    pub situation: String,
    /// Who speaks.
    pub name: String,
    /// Its profile, whole.
    pub profile: Vec<Attribute>,
    /// Lines that it has said elsewhere, as examples of its way of speaking.
    pub lines: Vec<String>,
    /// The others present, with public attributes only.
    pub others: Vec<CastMember>,
    /// What was said before.
    pub history: Vec<Line>,
    /// The code of the dimension that is aimed at.
    pub dimension: Option<String>,
    /// S(d) of that dimension.
    pub strategy: Option<String>,
    /// The most sentences of a reply.
    pub max_sentences: u32,
}

/// How good is a whole conversation? (FURINA, Appendix G: interaction, coherence, progression.)
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rate {
    /// The language of the prompt.
    pub language: Language,
    /// The situation.
    pub situation: String,
    /// Everyone present.
    pub cast: Vec<String>,
    /// The conversation.
    pub history: Vec<Line>,
}

/// The rating: reasons before the verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rating {
    /// Do they answer each other?
    pub interaction: String,
    /// Does it hang together?
    pub coherence: String,
    /// Does it get anywhere?
    pub progression: String,
    /// The verdict.
    pub quality: Quality,
}
