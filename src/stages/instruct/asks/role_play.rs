//! `RoleGPT`: a model plays a role and follows a general instruction (`RoleLLM`, 3.2), in one of three prompt styles.

use serde::Serialize;

use crate::llm::{Ask, Shape};
use crate::prompt::{PromptError, Prompts};
use crate::schema::{Language, Message, PromptStyle};

/// What does a role reply to an instruction?
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlayRole {
    /// The language of the prompt.
    pub language: Language,
    /// The role's name.
    pub name: String,
    /// Its description in the second person.
    pub description: String,
    /// Its catchphrases.
    pub catchphrases: Vec<String>,
    /// The prompt style.
    pub prompt_style: PromptStyle,
    /// Exchanges of the role, the most similar to the instruction last; empty for `zero_shot`.
    pub examples: Vec<Exchange>,
    /// The instruction.
    pub instruction: String,
    /// Data that is not in the prompt.
    #[serde(skip)]
    pub material: OfflineMaterial,
}

/// What the offline engine builds a reply from; not sent to a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OfflineMaterial {
    /// The plain answer.
    pub answer: String,
    /// Standalone sentences of the role, the most similar to the instruction and its answer first.
    pub sayings: Vec<String>,
}

impl OfflineMaterial {
    /// Returns a hash of the content.
    pub(in crate::stages::instruct) fn hash(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for text in std::iter::once(&self.answer).chain(&self.sayings) {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        hasher.finalize().to_hex()[..12].to_owned()
    }
}

/// An utterance addressed to a role, and the role's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Exchange {
    /// The utterance.
    #[serde(rename = "said")]
    pub utterance: String,
    /// The answer.
    pub answer: String,
}

impl Ask for PlayRole {
    const NAME: &'static str = "instruct/general";
    type Answer = String;

    /// Renders the system part, then the examples: none, inside the user message, or as turns before it.
    fn messages(&self, prompts: &Prompts) -> Result<Vec<Message>, PromptError> {
        let part = |part: &str| prompts.render(Self::NAME, self.language, part, self);
        let mut messages = vec![Message::system(part("system")?)];
        if self.prompt_style == PromptStyle::FewShotDialogue {
            for example in &self.examples {
                messages.push(Message::user(&example.utterance));
                messages.push(Message::assistant(&example.answer));
            }
        }
        let with_examples = self.prompt_style == PromptStyle::FewShotPrompt && !self.examples.is_empty();
        messages.push(Message::user(part(if with_examples { "few_shot" } else { "user" })?));
        Ok(messages)
    }

    fn shape(&self) -> Shape {
        Shape::Text
    }

    fn check(&self, answer: &String) -> Result<(), String> {
        if answer.trim().is_empty() { Err("nothing was said".to_owned()) } else { Ok(()) }
    }
}
