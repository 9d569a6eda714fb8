//! Context-Instruct: a model reads a segment or a description and writes triplets of question, confidence and answer
//! (`RoleLLM`, 3.3 and Appendix C).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::role_profile::two_parts;
use crate::llm::{Ask, Shape, schema_of};
use crate::prompt::{PromptError, Prompts};
use crate::schema::{Confidence, DialogueTurn, Language, Message};
use crate::text::check_language;

/// What could one ask a role about a segment of its dialogue, and what does it answer?
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AskSegment {
    /// The language of the prompt.
    pub language: Language,
    /// The role's name.
    pub name: String,
    /// Its description in the second person.
    pub description: String,
    /// Its catchphrases.
    pub catchphrases: Vec<String>,
    /// The segment. Adjacent turns may come from different acts.
    pub turns: Vec<DialogueTurn>,
    /// The number of triplets.
    pub count: u32,
}

/// What could one ask a role about itself, and what does it answer?
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AskDescription {
    /// The language of the prompt.
    pub language: Language,
    /// The role's name.
    pub name: String,
    /// Its description in the second person.
    pub description: String,
    /// Its catchphrases.
    pub catchphrases: Vec<String>,
    /// Sample lines of the role, so that its answers sound like it.
    pub lines: Vec<String>,
    /// The topic of this call's questions, so that no two calls ask the same.
    pub angle: String,
    /// The number of triplets.
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
}

/// Returns the schema with the maximum number of triplets.
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
    if texts.is_empty() { Ok(()) } else { check_language(&texts.concat(), language) }
}
