//! The stage `synthesize`: invents original test characters, each in an invented world (FURINA, Appendix A).
//!
//! Steps: theme seeds and a world, several characters, a scene with them, its dialogue. The model reviews each answer
//! itself and repeats the step while it finds faults. It also checks whether a character resembles a known figure. The
//! stage reads no files; established characters are passed in.

mod characters;
mod dialogue;
pub mod established;
mod known;
mod lookalikes;
pub(crate) mod names;
mod refinement;
mod resemblance;
mod review;
mod scene;
mod sheet;
pub(crate) mod tables;
#[cfg(test)]
mod tests;
mod world;

pub use characters::{MakeCharacters, Sheets};
pub use dialogue::{Dialogue, DialogueLine, MakeDialogue};
pub use established::Established;
pub use known::{FigureComparison, FindKnownFigures, KnownFigure, Origin};
pub use lookalikes::Lookalikes;
pub use refinement::Draft;
pub use resemblance::{Resemblance, ResemblanceKind, resembles};
pub use review::{Review, Reviewed, Verdict};
pub use scene::{MakeScene, Meeting};
pub use sheet::Sheet;
pub use world::{MakeWorld, Seed, Sparks, World};

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::llm::{AskError, Model};
use crate::schema::{
    ByLanguage, Character, CharacterId, CharacterType, Draw, Language, Reject, RejectReason, Stage, WorldCall,
    WorldStep,
};
use refinement::{Refined, refined};

/// The stage's prompt templates: (name, source).
pub const PROMPTS: &[(&str, &str)] = &[
    ("synthesize/world.en", include_str!("prompts/world.en.jinja")),
    ("synthesize/world.zh", include_str!("prompts/world.zh.jinja")),
    ("synthesize/characters.en", include_str!("prompts/characters.en.jinja")),
    ("synthesize/characters.zh", include_str!("prompts/characters.zh.jinja")),
    ("synthesize/known.en", include_str!("prompts/known.en.jinja")),
    ("synthesize/known.zh", include_str!("prompts/known.zh.jinja")),
    ("synthesize/scene.en", include_str!("prompts/scene.en.jinja")),
    ("synthesize/scene.zh", include_str!("prompts/scene.zh.jinja")),
    ("synthesize/dialogue.en", include_str!("prompts/dialogue.en.jinja")),
    ("synthesize/dialogue.zh", include_str!("prompts/dialogue.zh.jinja")),
    ("synthesize/review.en", include_str!("prompts/review.en.jinja")),
    ("synthesize/review.zh", include_str!("prompts/review.zh.jinja")),
];

/// The table `[synthesize]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Sources of established test characters: paths of character files and cards (files, folders or globs), or `pool`
    /// for the main characters of the books in the scene pool. A single value or a list.
    pub established: Established,
    /// Maximum number of characters to pick per book, from the scene pool or from a CoSER book: those with the most
    /// lines, then with the most scenes.
    #[schemars(range(min = 1))]
    pub established_per_book: u32,
    /// Number of characters to invent per language. The paper (3.1, Table 3) uses 5 and 5.
    pub count: ByLanguage<u32>,
    /// Number of characters to invent per world.
    #[schemars(range(min = 1, max = 6))]
    pub characters_per_world: u32,
    /// Maximum number of times that a step is repeated after a review that found faults.
    pub max_refinements: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            established: Established::default(),
            established_per_book: 2,
            count: ByLanguage { en: 5, zh: 5 },
            characters_per_world: 2,
            max_refinements: 2,
        }
    }
}

/// Maximum number of further worlds that replace the dropped characters of a planned world.
pub const MAX_FURTHER_WORLDS: u32 = 3;

/// Identifies a world of a language: a planned world, or a further world whose characters replace dropped ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorldNumber {
    /// The number of the planned world.
    pub world: u32,
    /// The number of the further world, from 1 to [`MAX_FURTHER_WORLDS`]; 0 for the planned world itself.
    pub further: u32,
}

impl WorldNumber {
    /// Returns the planned world of this number.
    #[must_use]
    pub const fn planned(world: u32) -> Self {
        Self { world, further: 0 }
    }

    /// Returns the row, in a shuffled table of `rows` rows, for the n-th of `of` draws of this world. Planned worlds
    /// take rows from the start of the table and further worlds from its end, so that they rarely share one.
    const fn table_row(self, rows: usize, n: usize, of: usize) -> usize {
        match self.further.checked_sub(1) {
            None => (self.world as usize * of + n) % rows,
            Some(further) => rows - 1 - ((self.world * MAX_FURTHER_WORLDS + further) as usize * of + n) % rows,
        }
    }
}

impl std::fmt::Display for WorldNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.world)?;
        if self.further > 0 { write!(f, "+{}", self.further) } else { Ok(()) }
    }
}

/// The result of one world.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Synthesized {
    /// The characters, at most as many as requested.
    pub characters: Vec<Character>,
    /// Rejects for dropped characters, or for the whole world.
    pub rejects: Vec<Reject>,
    /// Number of characters dropped because of their content, to be replaced from a further world. Excludes failures of
    /// the server.
    pub dropped: u32,
}

/// Minimum number of people of a world, since a dialogue needs two.
const MIN_PEOPLE: u32 = 2;

/// Invents one world and its characters.
///
/// A world always has `characters_per_world` people (at least two), and the first `requested` of them are returned.
/// Asking for fewer, or setting `--limit`, therefore gives the first few of the same people. Worlds rotate through the
/// models, so that several models share the work (Appendix A); a further world uses a different model. `seed` and the
/// world's number determine its random starting points. Draws are `<language>/<world>/<step>/<n>`, with
/// `<world>+<further>` for a further world. No name clashes with one of `avoid`.
///
/// Characters are compared only within a world here; see [`resembles`] and [`Lookalikes`] for other worlds and books.
///
/// # Errors
///
/// Only errors that end the run. Any other error drops the world, which is then a reject.
pub async fn synthesize(
    models: &[Arc<Model>],
    params: &Params,
    seed: u64,
    language: Language,
    world: WorldNumber,
    requested: u32,
    avoid: &[String],
) -> Result<Synthesized, AskError> {
    let mut synthesized = Synthesized::default();
    if requested == 0 || models.is_empty() {
        return Ok(synthesized);
    }
    let model = &models[(world.world + world.further) as usize % models.len()];
    let id = format!("{language}/{world}");
    match people(model, params, seed, language, world, requested, avoid).await {
        Ok((people, rejects)) => {
            synthesized.rejects = rejects;
            for character in people {
                match resembles(&character, &synthesized.characters) {
                    Some(resemblance) => synthesized.rejects.push(resemblance.reject(&character)),
                    None => synthesized.characters.push(character),
                }
            }
            let kept = u32::try_from(synthesized.characters.len()).expect("there are at most `requested` characters");
            synthesized.dropped = requested - kept;
        }
        Err(error) if error.ends_the_run() => return Err(error),
        Err(error) => {
            // A call that failed at the server may succeed when the run is resumed.
            synthesized.dropped = if refinement::is_kept(&error) { requested } else { 0 };
            synthesized.rejects.push(Reject::new(Stage::Synthesize, id, error.reason(), error.detail()));
        }
    }
    Ok(synthesized)
}

/// Runs the steps of one world.
async fn people(
    model: &Model,
    params: &Params,
    seed: u64,
    language: Language,
    number: WorldNumber,
    requested: u32,
    avoid: &[String],
) -> Result<(Vec<Character>, Vec<Reject>), AskError> {
    let draw = |step| move |call| Draw::World { language, world: number.to_string(), step, call };
    let max_refinements = params.max_refinements;
    let sparks = Sparks::draw(seed, language, number);
    let world = refined(model, MakeWorld { language, sparks, draft: None }, draw(WorldStep::World), max_refinements)
        .await?
        .answer;
    // Always a full world, so that a later run that wants more characters makes the same calls.
    let count = requested.max(params.characters_per_world).max(MIN_PEOPLE) as usize;
    let ask = MakeCharacters {
        language,
        world: world.clone(),
        count,
        voices: characters::voices(seed, language, number, count),
        avoid: avoid.to_vec(),
        draft: None,
    };
    let Refined { answer: Sheets { mut characters }, is_good } =
        refined(model, ask, draw(WorldStep::Characters), max_refinements).await?;
    let mut rejects = Vec::new();
    for sheet in &mut characters {
        sheet.name = sheet.name.trim().to_owned();
    }
    // After the last refinement, a character may still be borrowed from a known figure.
    for sheet in characters.iter().take(if is_good { 0 } else { requested as usize }) {
        if let Some(whose) =
            known::borrowed(model, sheet, language, draw(WorldStep::Characters)(WorldCall::KnownFigure)).await?
        {
            rejects.push(Reject::new(
                Stage::Synthesize,
                CharacterId::of_name(&sheet.name),
                RejectReason::ResemblesKnown,
                whose,
            ));
        }
    }
    let ask = MakeScene { language, world: world.clone(), characters: characters.clone(), draft: None };
    let scene = refined(model, ask, draw(WorldStep::Scene), max_refinements).await?.answer;
    let ask = MakeDialogue::new(language, world.clone(), characters.clone(), scene);
    let dialogue = refined(model, ask, draw(WorldStep::Dialogue), max_refinements).await?.answer;
    let character = |sheet: Sheet| {
        Character {
            id: CharacterId::of_name(&sheet.name),
            aliases: Vec::new(),
            language,
            kind: CharacterType::Synthesized,
            book: None,
            worldview: Some(world.worldview(language)),
            profile: sheet.profile(language),
            lines: dialogue.lines(&sheet.name),
            model: Some(model.id().to_owned()),
            name: sheet.name,
        }
        .knowing_its_world()
    };
    let is_own = |character: &Character| rejects.iter().all(|reject| character.id != reject.id.as_str());
    let people = characters.into_iter().take(requested as usize).map(character).filter(is_own).collect();
    Ok((people, rejects))
}
