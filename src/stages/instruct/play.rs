//! `RoleGPT`: a model plays a role and carries out a general instruction (`RoleLLM`, 3.2), in one of three forms.

use serde::Serialize;

use super::offline;
use crate::llm::{Ask, Offline, Shape};
use crate::prompt::{PromptError, Prompts};
use crate::schema::{Form, Language, Message};

/// What does a role say to an instruction?
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlayRole {
    /// The language of the prompt.
    pub language: Language,
    /// The role's name.
    pub name: String,
    /// Who it is, in the second person.
    pub description: String,
    /// What it says again and again.
    pub catchphrases: Vec<String>,
    /// How its exchanges are shown.
    pub form: Form,
    /// Exchanges of the role, the nearest to the instruction last; none with `zero_shot`.
    pub examples: Vec<Exchange>,
    /// The instruction.
    pub instruction: String,
    /// What no prompt shows.
    #[serde(skip)]
    pub behind: Behind,
}

/// What the offline engine makes a reply of, and no model sees.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Behind {
    /// The plain answer.
    pub answer: String,
    /// Sentences of the role that stand by themselves, the nearest to the instruction and its answer first.
    pub sayings: Vec<String>,
}

impl Behind {
    /// Returns a word that is another one when this is another.
    pub(super) fn hash(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for text in std::iter::once(&self.answer).chain(&self.sayings) {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        hasher.finalize().to_hex()[..12].to_owned()
    }
}

/// What somebody says to a role, and what the role answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Exchange {
    /// What is said to it.
    pub said: String,
    /// What it answers.
    pub answer: String,
}

impl Ask for PlayRole {
    const NAME: &'static str = "instruct/general";
    type Answer = String;

    /// Renders the system part, then the examples: none, within the user's message, or as turns before it.
    fn messages(&self, prompts: &Prompts) -> Result<Vec<Message>, PromptError> {
        let part = |part: &str| prompts.render(Self::NAME, self.language, part, self);
        let mut messages = vec![Message::system(part("system")?)];
        if self.form == Form::FewShotDialogue {
            for example in &self.examples {
                messages.push(Message::user(&example.said));
                messages.push(Message::assistant(&example.answer));
            }
        }
        let with_examples = self.form == Form::FewShotPrompt && !self.examples.is_empty();
        messages.push(Message::user(part(if with_examples { "few_shot" } else { "user" })?));
        Ok(messages)
    }

    fn shape(&self) -> Shape {
        Shape::Text
    }

    fn check(&self, answer: &String) -> Result<(), String> {
        if answer.trim().is_empty() { Err("nothing was said".to_owned()) } else { Ok(()) }
    }

    fn offline(&self, offline: &mut Offline<'_>) -> String {
        offline::play(self, &mut offline.rng)
    }
}
