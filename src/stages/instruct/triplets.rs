//! Context-Instruct: a model reads a segment or a description and gives triplets of question, confidence and answer
//! (`RoleLLM`, 3.3 and Appendix C).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::offline;
use super::portrait::two_parts;
use crate::llm::{Ask, Offline, Shape, schema_of};
use crate::prompt::{PromptError, Prompts};
use crate::schema::{Confidence, DialogueTurn, Language, Message};
use crate::text::of_language;

/// What would one ask a role about a segment of its dialogue, and what does it answer?
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AskSegment {
    /// The language of the prompt.
    pub language: Language,
    /// The role's name.
    pub name: String,
    /// Who it is, in the second person.
    pub description: String,
    /// What it says again and again.
    pub catchphrases: Vec<String>,
    /// The segment. Neighbouring turns may come from different places.
    pub turns: Vec<DialogueTurn>,
    /// How many triplets.
    pub count: u32,
}

/// What would one ask a role about itself, and what does it answer?
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AskDescription {
    /// The language of the prompt.
    pub language: Language,
    /// The role's name.
    pub name: String,
    /// Who it is, in the second person.
    pub description: String,
    /// What it says again and again.
    pub catchphrases: Vec<String>,
    /// Lines of the role, so that its answers sound like it.
    pub lines: Vec<String>,
    /// What the questions of this call are about, so that no two calls ask the same.
    pub angle: String,
    /// How many triplets.
    pub count: u32,
}

/// What a call gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Triplets {
    /// The triplets.
    pub triplets: Vec<Triplet>,
}

/// A question, how sure one is of it, and the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Triplet {
    /// The question, put to the role by name.
    pub question: String,
    /// Why the confidence is what it is.
    pub rationale: String,
    /// The verdict.
    pub confidence: Confidence,
    /// What the role answers, in the first person.
    pub answer: String,
}

/// What calls on the description are about, in turn. A list of ours.
const ANGLES: [(&str, &str); 16] = [
    ("where they come from, and what they left behind", "出身，以及撇下了什么"),
    ("the work they do, and what they know by doing it", "营生，以及由此懂得的门道"),
    ("the people nearest to them", "最亲近的人"),
    ("somebody they cannot forgive, or who cannot forgive them", "不能原谅的人，或不能原谅自己的人"),
    ("what they are afraid of", "怕什么"),
    ("what they want above all, and what it would cost", "最想要的是什么，要付出什么"),
    ("a decision that they would take again, or would not", "一个还会再做、或不会再做的决定"),
    ("what they hold to be right, and where they bend it", "认什么理，何时也会通融"),
    ("small habits, tastes and things that they own", "小习惯、口味和身边的物件"),
    ("the place that they live in, and its people", "住的地方，和那里的人"),
    ("something that they keep to themselves", "藏在心里不说的事"),
    ("how they have changed", "自己是怎么变的"),
    ("what others say of them, and whether it is fair", "旁人怎么说，说得公道不公道"),
    ("advice that they would give to somebody young", "会劝年轻人什么"),
    ("the hardest day that is known of them", "所知的最难的一天"),
    ("what makes them laugh, and what makes them angry", "什么让自己笑，什么让自己恼"),
];

/// Returns what the n-th call on a description is about.
#[must_use]
pub(super) fn angle(n: u32, language: Language) -> String {
    let (en, zh) = ANGLES[n as usize % ANGLES.len()];
    if language == Language::Zh { zh } else { en }.to_owned()
}

impl Ask for AskSegment {
    const NAME: &'static str = "instruct/script_based";
    type Answer = Triplets;

    fn messages(&self, prompts: &Prompts) -> Result<Vec<Message>, PromptError> {
        two_parts(self, self.language, prompts)
    }

    fn shape(&self) -> Shape {
        counted(self.count)
    }

    fn check(&self, answer: &Triplets) -> Result<(), String> {
        check(answer, self.language)
    }

    fn offline(&self, offline: &mut Offline<'_>) -> Triplets {
        offline::segment(self, &mut offline.rng)
    }
}

impl Ask for AskDescription {
    const NAME: &'static str = "instruct/script_agnostic";
    type Answer = Triplets;

    fn messages(&self, prompts: &Prompts) -> Result<Vec<Message>, PromptError> {
        two_parts(self, self.language, prompts)
    }

    fn shape(&self) -> Shape {
        counted(self.count)
    }

    fn check(&self, answer: &Triplets) -> Result<(), String> {
        check(answer, self.language)
    }

    fn offline(&self, offline: &mut Offline<'_>) -> Triplets {
        offline::description(self, &mut offline.rng)
    }
}

/// Returns the schema with its bound on the number of triplets.
fn counted(count: u32) -> Shape {
    let mut schema = schema_of::<Triplets>();
    schema["properties"]["triplets"]["maxItems"] = json!(count);
    Shape::Json(schema)
}

fn check(answer: &Triplets, language: Language) -> Result<(), String> {
    for triplet in &answer.triplets {
        for (key, text) in
            [("question", &triplet.question), ("rationale", &triplet.rationale), ("answer", &triplet.answer)]
        {
            if text.trim().is_empty() {
                return Err(format!("a `{key}` is empty"));
            }
        }
    }
    let texts: Vec<&str> = answer.triplets.iter().flat_map(|one| [one.question.as_str(), &one.answer]).collect();
    if texts.is_empty() { Ok(()) } else { of_language(&texts.concat(), language) }
}
