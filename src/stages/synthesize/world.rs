//! The ask `synthesize/world`: compares theme seeds, chooses one and invents a world from it.

use rand::seq::SliceRandom as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::WorldNumber;
use super::refinement::{Draft, Step, messages};
use super::tables::Tables;
use crate::llm::Ask;
use crate::prompt::{PromptError, Prompts};
use crate::schema::{Language, Message};
use crate::seed::seeded;
use crate::text::check_language;

/// Asks for a world for original characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MakeWorld {
    /// The language of the prompt.
    pub language: Language,
    /// Random starting points, which differ between worlds, so that a model does not invent the same world twice.
    pub sparks: Sparks,
    /// The previous answer with its faults, if this is a refinement.
    pub draft: Option<Draft>,
}

/// Random starting points of a world, from the embedded tables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sparks {
    /// Themes.
    pub themes: Vec<String>,
    /// A kind of place.
    pub place: String,
    /// The name of a custom.
    pub custom: String,
    /// Something that people disagree about.
    pub stake: String,
}

impl Sparks {
    /// Draws the starting points of a world. Up to a dozen worlds of one seed share only themes.
    pub(super) fn draw(seed: u64, language: Language, world: WorldNumber) -> Self {
        let tables = Tables::of(language);
        let drawn = |table: &str, count: usize, n: usize, of: usize| {
            let mut order: Vec<usize> = (0..count).collect();
            order.shuffle(&mut seeded(seed, &["synthesize", "sparks", language.code(), table]));
            order[world.table_row(count, n, of)]
        };
        let theme = |n| tables.themes[drawn("theme", tables.themes.len(), n, 3)].name.clone();
        Self {
            themes: (0..3).map(theme).collect(),
            place: tables.places[drawn("place", tables.places.len(), 0, 1)].kind.clone(),
            custom: tables.rules[drawn("rule", tables.rules.len(), 0, 1)].custom.clone(),
            stake: tables.tensions[drawn("tension", tables.tensions.len(), 0, 1)].stake.clone(),
        }
    }
}

/// A world and how it came about: reasons before choices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct World {
    /// The theme seeds that were weighed, three to six.
    #[schemars(length(min = 3, max = 6))]
    pub seeds: Vec<Seed>,
    /// Why one of them was chosen.
    pub reason: String,
    /// The theme that was chosen.
    pub theme: String,
    /// The name of the place.
    pub name: String,
    /// Where it is, what it looks like, and what it lives on.
    pub place: String,
    /// Who lives there, who decides, and who depends on whom.
    pub society: String,
    /// One unusual rule that everyone there keeps, with what follows from it.
    pub rule: String,
    /// What divides people there just now.
    pub tension: String,
}

/// A theme that a world could grow from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Seed {
    /// The theme.
    pub theme: String,
    /// What it would give to a story.
    pub merit: String,
}

impl World {
    /// Returns the worldview for characters and data sets: place, society, rule and tension.
    #[must_use]
    pub fn worldview(&self, language: Language) -> String {
        let between = if language == Language::En { " " } else { "" };
        [&self.place, &self.society, &self.rule, &self.tension].map(|part| part.trim()).join(between)
    }
}

impl Ask for MakeWorld {
    const NAME: &'static str = "synthesize/world";
    type Answer = World;

    fn messages(&self, prompts: &Prompts) -> Result<Vec<Message>, PromptError> {
        messages(self, prompts)
    }

    fn check(&self, world: &World) -> Result<(), String> {
        let parts = [
            ("theme", &world.theme),
            ("name", &world.name),
            ("place", &world.place),
            ("society", &world.society),
            ("rule", &world.rule),
            ("tension", &world.tension),
        ];
        if let Some((key, _)) = parts.iter().find(|(_, text)| text.trim().is_empty()) {
            return Err(format!("`{key}` is empty"));
        }
        check_language(&world.worldview(self.language), self.language)
    }
}

impl Step for MakeWorld {
    fn language(&self) -> Language {
        self.language
    }

    fn text(&self, world: &World) -> String {
        let World { theme, name, place, society, rule, tension, .. } = world;
        format!("# {name}\ntheme: {theme}\nplace: {place}\nsociety: {society}\nrule: {rule}\ntension: {tension}")
    }

    /// Empty: the starting points are suggestions, so the answer need not be consistent with them.
    fn input(&self, _: &Prompts) -> Result<String, PromptError> {
        Ok(String::new())
    }

    fn again(&self, draft: Draft) -> Self {
        Self { draft: Some(draft), ..self.clone() }
    }
}
