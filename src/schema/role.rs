//! Role data: role profiles, and the questions and answers generated for them (`RoleLLM`, section 3.3 and appendices C
//! and D).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RoleId;
use super::language::Language;

/// One turn of a role's structured dialogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DialogueTurn {
    /// Act or episode, from 0: a scene of the pool, or the part of a script between two headings.
    pub act: u32,
    /// Round, from 0 over all acts. The last turn of a round is the role's own.
    pub round: u32,
    /// Speaker: the name of the role or of another character, or `narrator` for narration.
    pub role: String,
    /// Speech and action, with the action in parentheses.
    pub content: String,
}

impl DialogueTurn {
    /// Speaker of narration.
    pub const NARRATOR: &'static str = "narrator";
}

/// Profile of a role: a row of `roles`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoleProfile {
    /// Name of the role.
    pub role: String,
    /// Language of the role.
    pub language: Language,
    /// Origin: the slug of its book or script, `synthesized`, or `file` for a character file without a book.
    pub source: String,
    /// Description of the role, in the second person.
    pub description: String,
    /// Phrases that this role often uses and others do not; may be empty.
    pub catchphrases: Vec<String>,
    /// Number of rounds in the dialogue. A round ends with a turn of the role.
    pub rounds: u32,
    /// Number of turns in the dialogue, including those of others and of the narrator.
    pub turns: u32,
    /// Id of the role; a prefix of the ids of its rows. Unique, while two books may have roles of the same name.
    pub role_id: RoleId,
    /// Description of the role in the third person, without its name.
    pub portrait: String,
    /// How well the role can be recognized by its utterances alone: `not`, `somewhat`, `very` or `extremely`; null if
    /// it was not graded.
    pub distinctness: Option<Distinctness>,
    /// Side of the split by role: `train` or `test`.
    pub role_split: Split,
    /// Dialogue, in order.
    pub dialogue: Vec<DialogueTurn>,
    /// Model that wrote the description.
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
    /// Returns the value used in files.
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

/// Side of a train/test split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Split {
    /// Training data.
    Train,
    /// Held-out data.
    Test,
}

impl Split {
    /// Returns the value used in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Test => "test",
        }
    }
}

/// Source of a question to a role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TripletKind {
    /// A segment of the role's dialogue; confidence means completeness.
    ScriptBased,
    /// The role's description; confidence means factualness.
    ScriptAgnostic,
}

impl TripletKind {
    /// Returns the value used in files.
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
    /// Returns the value used in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::High => "high",
        }
    }
}

/// A question to a role about itself, with the answer: a row of `role_specific`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoleSpecific {
    /// `<role id>/<segment>/<call>/<n>`.
    pub id: String,
    /// Name of the role.
    pub role: String,
    /// Language of question and answer.
    pub language: Language,
    /// Source of the question.
    pub kind: TripletKind,
    /// The question to the role.
    pub question: String,
    /// The role's answer; always exactly one.
    pub generated: Vec<String>,
    /// Completeness of a script-based question, factualness of a script-agnostic one.
    pub confidence: Confidence,
    /// Rationale of the confidence.
    pub rationale: String,
    /// Rounds of the dialogue that the question is based on, such as `12-20`, or `description`.
    pub segment: String,
    /// Similarity to the most similar kept question of the role, 0 to 1; null if there is no other.
    pub similarity: Option<f64>,
    /// Model that generated the question and answer.
    pub model: String,
    /// Id of the role.
    pub role_id: RoleId,
    /// Side of the split by role; null if the question is similar to one on the other side.
    pub role_split: Option<Split>,
    /// Side of the split that the row's file belongs to.
    pub split: Split,
}

/// How a model is prompted to play a role (`RoleLLM`, section 3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum PromptStyle {
    /// `zero_shot`: only the role's description and catchphrases.
    #[serde(rename = "zero_shot")]
    ZeroShot,
    /// `fsp`: few-shot prompt, with example exchanges of the role in the system prompt.
    #[serde(rename = "fsp")]
    FewShotPrompt,
    /// `fsd`: few-shot dialogue, with example exchanges as previous turns before the instruction.
    #[serde(rename = "fsd")]
    FewShotDialogue,
}

impl PromptStyle {
    /// Returns the value used in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ZeroShot => "zero_shot",
            Self::FewShotPrompt => "fsp",
            Self::FewShotDialogue => "fsd",
        }
    }
}

/// A general instruction answered in character: a row of `role_general`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoleGeneral {
    /// `<role id>/general/<instruction id>`.
    pub id: String,
    /// Name of the role.
    pub role: String,
    /// Language of instruction and replies.
    pub language: Language,
    /// The instruction.
    pub question: String,
    /// Plain answer, out of character (RAW in the paper).
    pub answer: String,
    /// In-character replies that passed cleaning (CUS in the paper); by default at most five.
    pub generated: Vec<String>,
    /// One additional in-character reply for comparison, without cleaning; null if its call failed.
    pub baseline: Option<String>,
    /// How the model was prompted to play the role.
    pub form: PromptStyle,
    /// Model that played the role.
    pub model: String,
    /// Id of the role.
    pub role_id: RoleId,
    /// Id of the instruction, the same for all roles.
    pub instruction: String,
    /// Side of the split by role; null if it is on neither side.
    pub role_split: Option<Split>,
    /// Side of the split that the row's file belongs to.
    pub split: Split,
}

/// Counts of roles and questions in one language.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct RoleTally {
    /// Number of roles.
    pub roles: u64,
    /// Number of held-out roles.
    pub held_out: u64,
    /// Number of generated triplets.
    pub candidates: u64,
    /// Triplets rejected by the confidence filter and by cleaning.
    pub filtered: u64,
    /// Triplets removed as duplicates.
    pub removed: u64,
    /// Similarity of role-specific test rows to training rows.
    pub specific: Overlap,
    /// Similarity of general test rows to training rows.
    pub general: Overlap,
    /// Similarity of rows of held-out roles to rows of training roles.
    pub by_role: Overlap,
}

/// Similarity of test rows to training rows, measured on the rows as written and independently of how the split was
/// made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Overlap {
    /// Number of test rows.
    pub test: u64,
    /// Test rows whose similarity to a training row reaches the limit `[instruct] leak_similarity`.
    pub alike: u64,
    /// Highest similarity of a test row to a training row, 0 to 1.
    pub highest: f64,
}

impl Overlap {
    /// Combines two overlaps.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        let highest = if self.highest > other.highest { self.highest } else { other.highest };
        Self { test: self.test + other.test, alike: self.alike + other.alike, highest }
    }
}

/// A general instruction with its plain answer, as written by users: one line of JSON Lines. Other keys are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Instruction {
    /// Id; if unset, a hash of the text.
    #[serde(default)]
    pub id: String,
    /// The instruction. Also read from `question` or `prompt`.
    #[serde(alias = "question", alias = "prompt")]
    pub instruction: String,
    /// Input of the instruction; appended to it.
    #[serde(default)]
    pub input: Option<String>,
    /// The plain answer. Also read from `output` or `response`.
    #[serde(alias = "output", alias = "response")]
    pub answer: String,
    /// Language; if unset, detected from the script.
    #[serde(default)]
    pub language: Option<Language>,
}

impl Instruction {
    /// Returns the instruction followed by its input, if any.
    #[must_use]
    pub fn text(&self) -> String {
        match self.input.as_deref().map(str::trim).filter(|input| !input.is_empty()) {
            Some(input) => format!("{}\n{input}", self.instruction.trim()),
            None => self.instruction.trim().to_owned(),
        }
    }
}
