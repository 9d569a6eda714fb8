//! Role data: profiles of roles, and the questions and answers that are made of them (`RoleLLM`, 3.3 and Appendices C and D).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Language;

/// One turn of a role's structured dialogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DialogueTurn {
    /// The act or episode: the scene of the pool, or the stretch of a script between two headings, counted from 0.
    pub act: u32,
    /// The round that it belongs to, counted from 0 over all acts. The last turn of every round is the role's own.
    pub round: u32,
    /// Who speaks: the role's name, somebody else's, or `narrator` for what is told.
    pub role: String,
    /// What is said and done; an action stands in parentheses.
    pub content: String,
}

impl DialogueTurn {
    /// The speaker of what is told.
    pub const NARRATOR: &'static str = "narrator";
}

/// The profile of a role: a row of `roles`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoleProfile {
    /// The role's name.
    pub role: String,
    /// The language that it speaks.
    pub language: Language,
    /// Where it comes from: the slug of its book or script, `synthesized`, or `file` for a character file that names no book.
    pub source: String,
    /// Who it is, in the second person.
    pub description: String,
    /// What it says again and again, and others do not; empty where it has no such phrase.
    pub catchphrases: Vec<String>,
    /// How many rounds its dialogue has: a round ends with the role's own turn.
    pub rounds: u32,
    /// How many turns its dialogue has, those of others and of the narrator included.
    pub turns: u32,
    /// Its id, by which the ids of its rows begin; two books may have roles of one name.
    pub role_id: String,
    /// Who it is, in the third person and without its name.
    pub portrait: String,
    /// How well it can be told by its words alone: `not`, `somewhat`, `very` or `extremely`; null where nobody has graded it.
    pub distinctness: Option<Distinctness>,
    /// Which side of the split by role it is on: `train` or `test`.
    pub role_split: Split,
    /// Its dialogue, in order.
    pub dialogue: Vec<DialogueTurn>,
    /// The model that described it.
    pub model: String,
}

/// How well a role can be told by its words alone (Appendix K.3 has these four grades).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Distinctness {
    /// Anybody could have said it.
    Not,
    /// It has habits, but others share them.
    Somewhat,
    /// A reader of its book would guess right most of the time.
    Very,
    /// A few words give it away.
    Extremely,
}

impl Distinctness {
    /// Returns the grade as files spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Not => "not",
            Self::Somewhat => "somewhat",
            Self::Very => "very",
            Self::Extremely => "extremely",
        }
    }
}

/// A side of a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Split {
    /// For training.
    Train,
    /// Held out.
    Test,
}

impl Split {
    /// Returns the side as files spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Test => "test",
        }
    }
}

/// What a question to a role is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TripletKind {
    /// A segment of the role's dialogue; its confidence is completeness.
    ScriptBased,
    /// The role's description; its confidence is factualness.
    ScriptAgnostic,
}

impl TripletKind {
    /// Returns the kind as files spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ScriptBased => "script_based",
            Self::ScriptAgnostic => "script_agnostic",
        }
    }
}

/// How sure a model is of a triplet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// The question leaves open what it is about, or asks for what was never so.
    Low,
    /// The question says by itself what it is about, and what it asks for is so.
    High,
}

impl Confidence {
    /// Returns the word that files use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::High => "high",
        }
    }
}

/// A question to a role about itself, with its answer: a row of `role_specific`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoleSpecific {
    /// `<role id>/<segment>/<call>/<n>`.
    pub id: String,
    /// The role's name.
    pub role: String,
    /// The language of question and answer.
    pub language: Language,
    /// What it was made of.
    pub kind: TripletKind,
    /// The question, put to the role.
    pub question: String,
    /// The role's answer, the only one.
    pub generated: Vec<String>,
    /// Completeness of a script-based question, factualness of a script-agnostic one.
    pub confidence: Confidence,
    /// Why.
    pub rationale: String,
    /// The rounds of the role's dialogue that it was made of, such as `12-20`, or `description`.
    pub segment: String,
    /// How alike it is to the nearest question of the role that was kept, 0 to 1; null where there is no other.
    pub similarity: Option<f64>,
    /// The model that made it.
    pub model: String,
    /// The role's id.
    pub role_id: String,
    /// Which side of the split by role it is on; null where it is on neither, being alike to a question of the other side.
    pub role_split: Option<Split>,
    /// The side of the split that is its file.
    pub split: Split,
}

/// How a model is made to play a role (`RoleLLM`, 3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Form {
    /// `zero_shot`: the role's description and catchphrases alone.
    #[serde(rename = "zero_shot")]
    ZeroShot,
    /// `fsp`: exchanges of the role stand in the prompt as examples.
    #[serde(rename = "fsp")]
    FewShotPrompt,
    /// `fsd`: exchanges of the role stand before the instruction as turns of the talk.
    #[serde(rename = "fsd")]
    FewShotDialogue,
}

impl Form {
    /// Returns the form as files spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ZeroShot => "zero_shot",
            Self::FewShotPrompt => "fsp",
            Self::FewShotDialogue => "fsd",
        }
    }
}

/// A general instruction that a role has carried out: a row of `role_general`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoleGeneral {
    /// `<role id>/general/<instruction id>`.
    pub id: String,
    /// The role's name.
    pub role: String,
    /// The language of instruction and replies.
    pub language: Language,
    /// The instruction.
    pub question: String,
    /// The plain answer, in nobody's part (the paper's RAW).
    pub answer: String,
    /// The replies in the part that passed the cleaning (the paper's CUS): five at most by default.
    pub generated: Vec<String>,
    /// One further reply, to compare others with; it is not cleaned. Null where its call failed.
    pub baseline: Option<String>,
    /// How the model was made to play the role.
    pub form: Form,
    /// The model that played it.
    pub model: String,
    /// The role's id.
    pub role_id: String,
    /// The instruction's id, the same for all roles.
    pub instruction: String,
    /// Which side of the split by role it is on; null where it is on neither.
    pub role_split: Option<Split>,
    /// The side of the split that is its file.
    pub split: Split,
}

/// What became of the roles and questions of a language.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct RoleTally {
    /// Roles.
    pub roles: u64,
    /// Roles that are held out.
    pub held_out: u64,
    /// Triplets that were made.
    pub candidates: u64,
    /// Triplets that the filter and the cleaning left out.
    pub filtered: u64,
    /// Triplets that de-duplication removed.
    pub removed: u64,
    /// Role-specific test rows against training rows.
    pub specific: Overlap,
    /// General test rows against training rows.
    pub general: Overlap,
    /// Rows of held-out roles against rows of roles for training.
    pub by_role: Overlap,
}

/// How alike test rows are to training rows: measured on the rows as they are written, by an index that knows nothing of how
/// they were divided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Overlap {
    /// Test rows.
    pub test: u64,
    /// Those of them that are at least as alike to a training row as `[instruct] near` allows nobody to be.
    pub alike: u64,
    /// The highest likeness of a test row to a training row, 0 to 1.
    pub highest: f64,
}

impl Overlap {
    /// Returns both as one.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        let highest = if self.highest > other.highest { self.highest } else { other.highest };
        Self { test: self.test + other.test, alike: self.alike + other.alike, highest }
    }
}

/// A general instruction with its plain answer, as people give it: a line of JSON Lines. Other keys are passed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Instruction {
    /// Its id; a hash of its text when silent.
    #[serde(default)]
    pub id: String,
    /// What is to be done. Also read as `question` or `prompt`.
    #[serde(alias = "question", alias = "prompt")]
    pub instruction: String,
    /// What it is to be done with; joined to the instruction.
    #[serde(default)]
    pub input: Option<String>,
    /// The plain answer. Also read as `output` or `response`.
    #[serde(alias = "output", alias = "response")]
    pub answer: String,
    /// Its language; found by its script when silent.
    #[serde(default)]
    pub language: Option<Language>,
}

impl Instruction {
    /// Returns the instruction with its input.
    #[must_use]
    pub fn text(&self) -> String {
        match self.input.as_deref().map(str::trim).filter(|input| !input.is_empty()) {
            Some(input) => format!("{}\n{input}", self.instruction.trim()),
            None => self.instruction.trim().to_owned(),
        }
    }
}
