//! The ask `synthesize/characters`: several original characters of one world.

use rand::seq::SliceRandom as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::WorldNumber;
use super::names::check_names;
use super::refinement::{Draft, Step, messages};
use super::sheet::Sheet;
use super::tables::Tables;
use super::world::World;
use crate::llm::{Ask, Shape, schema_of};
use crate::prompt::{PromptError, Prompts};
use crate::schema::{Language, Message};
use crate::seed::seeded;

/// Asks for the characters of a world.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MakeCharacters {
    /// The language of the prompt.
    pub language: Language,
    /// The world.
    pub world: World,
    /// Number of characters to invent.
    pub count: usize,
    /// Randomly drawn temperaments, one per character, so that the worlds differ in their people.
    pub voices: Vec<String>,
    /// Names that must not be used.
    pub avoid: Vec<String>,
    /// The previous answer with its faults, if this is a refinement.
    pub draft: Option<Draft>,
}

/// The people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sheets {
    /// One sheet for each.
    pub characters: Vec<Sheet>,
}

/// Draws the temperaments of a world's characters. Worlds with the same number of characters take turns in one shuffled
/// order.
pub(super) fn voices(seed: u64, language: Language, world: WorldNumber, count: usize) -> Vec<String> {
    let mut labels: Vec<&str> = Tables::of(language).temperaments.iter().map(|row| row.label.as_str()).collect();
    labels.shuffle(&mut seeded(seed, &["synthesize", "voices", language.code()]));
    (0..count).map(|index| labels[world.table_row(labels.len(), index, count)].to_owned()).collect()
}

impl Ask for MakeCharacters {
    const NAME: &'static str = "synthesize/characters";
    type Answer = Sheets;

    fn messages(&self, prompts: &Prompts) -> Result<Vec<Message>, PromptError> {
        messages(self, prompts)
    }

    fn shape(&self) -> Shape {
        let mut schema = schema_of::<Sheets>();
        bound(&mut schema, "characters", self.count, self.count);
        Shape::Json(schema)
    }

    fn check(&self, Sheets { characters }: &Sheets) -> Result<(), String> {
        if characters.len() != self.count {
            return Err(format!("{} characters are needed, not {}", self.count, characters.len()));
        }
        let names: Vec<&str> = characters.iter().map(|sheet| sheet.name.trim()).collect();
        check_names(&names, &self.avoid, self.language)?;
        for sheet in characters {
            sheet.check(self.language)?;
        }
        Ok(())
    }
}

/// Sets `minItems` and `maxItems` of an array property of an answer schema.
pub(super) fn bound(schema: &mut Value, property: &str, min: usize, max: usize) {
    let array = &mut schema["properties"][property];
    array["minItems"] = json!(min);
    array["maxItems"] = json!(max);
}

impl Step for MakeCharacters {
    fn language(&self) -> Language {
        self.language
    }

    fn text(&self, answer: &Sheets) -> String {
        answer.characters.iter().map(|sheet| sheet.text(self.language)).collect::<Vec<_>>().join("\n\n")
    }

    fn people(answer: &Sheets) -> &[Sheet] {
        &answer.characters
    }

    fn again(&self, draft: Draft) -> Self {
        Self { draft: Some(draft), ..self.clone() }
    }
}
