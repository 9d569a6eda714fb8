//! The ask `synthesize/scene`: a situation in which the characters meet, and what each of them wants.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::characters::bound;
use super::refinement::{Draft, Step, messages};
use super::sheet::Sheet;
use super::world::World;
use crate::llm::{Ask, Shape, schema_of};
use crate::prompt::{PromptError, Prompts};
use crate::schema::{Language, Message};
use crate::text::check_language;

/// Asks for a scene with the characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MakeScene {
    /// The language of the prompt.
    pub language: Language,
    /// The world.
    pub world: World,
    /// The characters.
    pub characters: Vec<Sheet>,
    /// The previous answer with its faults, if this is a refinement.
    pub draft: Option<Draft>,
}

/// A meeting. Not a [`Scene`](crate::schema::Scene) of the pool: it serves to make characters speak.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Meeting {
    /// Where and when it is, who is there, what has just happened, and what must be settled.
    pub situation: String,
    /// What each character wants there, one entry for each in the order given.
    pub wants: Vec<String>,
}

impl Ask for MakeScene {
    const NAME: &'static str = "synthesize/scene";
    type Answer = Meeting;

    fn messages(&self, prompts: &Prompts) -> Result<Vec<Message>, PromptError> {
        messages(self, prompts)
    }

    fn shape(&self) -> Shape {
        let mut schema = schema_of::<Meeting>();
        bound(&mut schema, "wants", self.characters.len(), self.characters.len());
        Shape::Json(schema)
    }

    fn check(&self, meeting: &Meeting) -> Result<(), String> {
        if meeting.wants.len() != self.characters.len() || meeting.wants.iter().any(|want| want.trim().is_empty()) {
            return Err("`wants` needs one entry for each character, in the order given".to_owned());
        }
        check_language(&meeting.situation, self.language)?;
        check_language(&meeting.wants.concat(), self.language)
    }
}

impl Step for MakeScene {
    fn language(&self) -> Language {
        self.language
    }

    fn text(&self, meeting: &Meeting) -> String {
        let wants = self.characters.iter().zip(&meeting.wants).map(|(sheet, want)| format!("\n{}: {want}", sheet.name));
        std::iter::once(meeting.situation.clone()).chain(wants).collect()
    }

    fn again(&self, draft: Draft) -> Self {
        Self { draft: Some(draft), ..self.clone() }
    }
}
