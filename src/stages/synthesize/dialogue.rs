//! The ask `synthesize/dialogue`: the dialogue of a scene, from which each character gets its example lines.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::characters::bound;
use super::refinement::{Draft, Step, messages};
use super::scene::Meeting;
use super::sheet::Sheet;
use super::world::World;
use crate::llm::{Ask, Shape, schema_of};
use crate::prompt::{PromptError, Prompts};
use crate::schema::{Language, Message};
use crate::text::check_language;

/// Number of lines per character that the dialogue is asked to have.
const LINES: usize = 10;
/// Minimum number of distinct lines per character; fewer do not show a speech style.
const MIN_LINES: usize = 5;

/// Asks for the dialogue of a scene.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MakeDialogue {
    /// The language of the prompt.
    pub language: Language,
    /// The world.
    pub world: World,
    /// The characters.
    pub characters: Vec<Sheet>,
    /// The scene.
    pub scene: Meeting,
    /// Minimum number of lines per character.
    pub lines: usize,
    /// The previous answer with its faults, if this is a refinement.
    pub draft: Option<Draft>,
}

/// The dialogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dialogue {
    /// The lines in order.
    pub dialogue: Vec<DialogueLine>,
}

/// A line of the dialogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DialogueLine {
    /// The name of one of the characters.
    pub speaker: String,
    /// What it does while speaking, in a few words; null for nothing.
    pub action: Option<String>,
    /// What it says, one to three sentences.
    pub speech: String,
}

impl MakeDialogue {
    /// Creates the ask for a scene.
    pub(super) const fn new(language: Language, world: World, characters: Vec<Sheet>, scene: Meeting) -> Self {
        Self { language, world, characters, scene, lines: LINES, draft: None }
    }
}

impl Dialogue {
    /// Returns the distinct lines of a character, in order.
    #[must_use]
    pub fn lines(&self, name: &str) -> Vec<String> {
        let mut distinct = BTreeSet::new();
        let own = self.dialogue.iter().filter(|line| line.speaker == name).map(|line| line.speech.trim());
        own.filter(|speech| !speech.is_empty() && distinct.insert(*speech)).map(str::to_owned).collect()
    }
}

impl Ask for MakeDialogue {
    const NAME: &'static str = "synthesize/dialogue";
    type Answer = Dialogue;

    fn messages(&self, prompts: &Prompts) -> Result<Vec<Message>, PromptError> {
        messages(self, prompts)
    }

    fn shape(&self) -> Shape {
        let mut schema = schema_of::<Dialogue>();
        let names: Vec<&str> = self.characters.iter().map(|sheet| sheet.name.as_str()).collect();
        let lines = names.len() * self.lines;
        bound(&mut schema, "dialogue", lines, lines * 5);
        schema["properties"]["dialogue"]["items"]["properties"]["speaker"]["enum"] = json!(names);
        Shape::Json(schema)
    }

    fn check(&self, dialogue: &Dialogue) -> Result<(), String> {
        let known = |name: &str| self.characters.iter().any(|sheet| sheet.name == name);
        if let Some(line) = dialogue.dialogue.iter().find(|line| !known(&line.speaker)) {
            return Err(format!("`{}` is none of the characters", line.speaker));
        }
        for sheet in &self.characters {
            let lines = dialogue.lines(&sheet.name);
            if lines.len() < MIN_LINES {
                return Err(format!(
                    "{} has {} different lines; each character needs about {}",
                    sheet.name,
                    lines.len(),
                    self.lines
                ));
            }
            check_language(&lines.concat(), self.language)?;
        }
        Ok(())
    }
}

impl Step for MakeDialogue {
    fn language(&self) -> Language {
        self.language
    }

    fn text(&self, dialogue: &Dialogue) -> String {
        let text = |line: &DialogueLine| match &line.action {
            Some(action) => format!("{}: ({action}) {}", line.speaker, line.speech),
            None => format!("{}: {}", line.speaker, line.speech),
        };
        dialogue.dialogue.iter().map(text).collect::<Vec<_>>().join("\n")
    }

    fn again(&self, draft: Draft) -> Self {
        Self { draft: Some(draft), ..self.clone() }
    }
}
