//! The stage `synthesize`: original test characters, made up in a world of their own (FURINA, Appendix A).
//!
//! Theme seeds, a world, several characters, a scene with them, its dialogue: each a step that the model itself reviews and
//! does again while it finds fault; of each character it says, too, whom readers would take it for. The stage sees no file;
//! what established characters are, it is told.

mod characters;
mod dialogue;
pub mod established;
mod faults;
mod invention;
mod known;
mod lookalikes;
mod refinement;
mod resemblance;
mod review;
mod scene;
mod tables;
mod world;

pub use characters::{MakeCharacters, Sheet, Sheets};
pub use dialogue::{MakeDialogue, Said, Talk};
pub use established::Established;
pub use known::{Figure, FindLikeness, Likenesses, Origin};
pub use lookalikes::Lookalikes;
pub use refinement::Draft;
pub use resemblance::{Likeness, Resemblance, resembles};
pub use review::{Review, Reviewed, Verdict};
pub use scene::{MakeScene, Meeting};
pub use world::{MakeWorld, Seed, Sparks, World};

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::llm::{AskError, Model};
use crate::schema::{ByLanguage, Character, CharacterType, Language, Reject, slug};
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
    /// Established test characters: character files and cards (files, folders, globs), and `pool` for the main characters
    /// of the books, picked out of the scene pool; one of them or a list.
    pub established: Established,
    /// How many characters of a book are picked out of the pool, or out of a book of CoSER: those with most lines, then
    /// with most scenes.
    #[schemars(range(min = 1))]
    pub established_per_book: u32,
    /// How many characters to make up per language. The paper's figure (3.1, Table 3): 5 and 5.
    pub count: ByLanguage<u32>,
    /// How many characters one world gives.
    #[schemars(range(min = 1, max = 6))]
    pub characters_per_world: u32,
    /// How often a step that its reviewer faults is done again.
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

/// How often those who were left out of a world are made anew.
pub const MOST_FURTHER: u32 = 3;

/// Which world of a language: one that the run plans for, or a further one in whose people stand for those left out of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nth {
    /// The number of the planned world.
    pub world: u32,
    /// Which of its further worlds, up to [`MOST_FURTHER`]; 0 is the planned one itself.
    pub further: u32,
}

impl Nth {
    /// Returns a planned world.
    #[must_use]
    pub const fn planned(world: u32) -> Self {
        Self { world, further: 0 }
    }

    /// Returns the place of the n-th of this world's `of` draws in a shuffled table of so many rows: planned worlds take turns from
    /// its beginning, further ones from its end, so that they seldom meet.
    const fn share(self, rows: usize, n: usize, of: usize) -> usize {
        match self.further.checked_sub(1) {
            None => (self.world as usize * of + n) % rows,
            Some(further) => rows - 1 - ((self.world * MOST_FURTHER + further) as usize * of + n) % rows,
        }
    }
}

impl std::fmt::Display for Nth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.world)?;
        if self.further > 0 { write!(f, "+{}", self.further) } else { Ok(()) }
    }
}

/// What one world gave.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Synthesized {
    /// The characters, as many as were wanted or fewer.
    pub characters: Vec<Character>,
    /// What was left out.
    pub rejects: Vec<Reject>,
    /// How many were left out for what they are, so that others may be made for them: what a server failed to answer is none.
    pub left_out: u32,
}

/// The fewest people of a world: a dialogue needs two, even where one character is wanted.
const FEWEST_PEOPLE: u32 = 2;

/// Makes up one world and its characters.
///
/// A world has `characters_per_world` people, of whom the first `wanted` are taken: so a run that asks for more, or that
/// `--limit` cuts short, makes the same ones. The worlds take turns with the models, so that several models share the work (Appendix
/// A) and a further world is another one's. `seed` and the world's number give the scraps that it is thought up from; draws are
/// `<language>/<world>/<step>/<n>`, with `<world>+<further>` for a further one. No name clashes
/// with one of `avoid`. An error that does not end the run costs the world alone, which is then a reject. Characters of
/// different worlds, and with those of books, are not compared here: see [`resembles`] and [`Lookalikes`].
pub async fn synthesize(
    models: &[Arc<Model>],
    params: &Params,
    seed: u64,
    language: Language,
    world: Nth,
    wanted: u32,
    avoid: &[String],
) -> Result<Synthesized, AskError> {
    let mut synthesized = Synthesized::default();
    if wanted == 0 || models.is_empty() {
        return Ok(synthesized);
    }
    let model = &models[(world.world + world.further) as usize % models.len()];
    let id = format!("{language}/{world}");
    match people(model, params, seed, language, world, wanted, avoid).await {
        Ok((people, rejects)) => {
            synthesized.rejects = rejects;
            for character in people {
                match resembles(&character, &synthesized.characters) {
                    Some(resemblance) => synthesized.rejects.push(resemblance.reject(&character)),
                    None => synthesized.characters.push(character),
                }
            }
            let kept = u32::try_from(synthesized.characters.len()).expect("no more than were wanted");
            synthesized.left_out = wanted - kept;
        }
        Err(error) if error.ends_the_run() => return Err(error),
        Err(error) => {
            // What a server failed to answer it may answer when the run goes on.
            synthesized.left_out = if refinement::is_kept(&error) { wanted } else { 0 };
            synthesized.rejects.push(Reject::new("synthesize", id, error.reason(), error.detail()));
        }
    }
    Ok(synthesized)
}

/// Goes through the steps of one world.
async fn people(
    model: &Model,
    params: &Params,
    seed: u64,
    language: Language,
    number: Nth,
    wanted: u32,
    avoid: &[String],
) -> Result<(Vec<Character>, Vec<Reject>), AskError> {
    let draw = |step: &str| format!("{language}/{number}/{step}");
    let most = params.max_refinements;
    let sparks = Sparks::draw(seed, language, number);
    let world = refined(model, MakeWorld { language, sparks, draft: None }, &draw("world"), most).await?.answer;
    // Always a whole world, so that a run that wants more of it later asks the same.
    let count = wanted.max(params.characters_per_world).max(FEWEST_PEOPLE) as usize;
    let ask = MakeCharacters {
        language,
        world: world.clone(),
        count,
        voices: characters::voices(seed, language, number, count),
        avoid: avoid.to_vec(),
        draft: None,
    };
    let Refined { answer: Sheets { mut characters }, is_good } = refined(model, ask, &draw("characters"), most).await?;
    let mut rejects = Vec::new();
    for sheet in &mut characters {
        sheet.name = sheet.name.trim().to_owned();
    }
    // What has been refined as often as may be can still be somebody's.
    for sheet in characters.iter().take(if is_good { 0 } else { wanted as usize }) {
        if let Some(whose) = known::borrowed(model, sheet, language, &draw("characters")).await? {
            rejects.push(Reject::new("synthesize", slug(&sheet.name), "resembles_known", whose));
        }
    }
    let ask = MakeScene { language, world: world.clone(), characters: characters.clone(), draft: None };
    let scene = refined(model, ask, &draw("scene"), most).await?.answer;
    let ask = MakeDialogue::new(language, world.clone(), characters.clone(), scene);
    let talk = refined(model, ask, &draw("dialogue"), most).await?.answer;
    let character = |sheet: Sheet| {
        Character {
            id: slug(&sheet.name),
            aliases: Vec::new(),
            language,
            kind: CharacterType::Synthesized,
            book: None,
            worldview: Some(world.worldview(language)),
            profile: sheet.profile(language),
            lines: talk.lines(&sheet.name),
            model: Some(model.id().to_owned()),
            name: sheet.name,
        }
        .knowing_its_world()
    };
    let is_own = |character: &Character| rejects.iter().all(|reject| reject.id != character.id);
    let people = characters.into_iter().take(wanted as usize).map(character).filter(is_own).collect();
    Ok((people, rejects))
}

#[cfg(test)]
mod tests;
