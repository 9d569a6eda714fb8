//! The stage `extract`: finds the scenes of a chunk.
//!
//! The chunks of a book are processed in order. The model is asked for the scenes of each chunk, then for a description
//! of each scene. Every utterance is searched for in the book, and a scene with too few utterances from the book is
//! rejected. A scene cut off at the end of a chunk is carried over to the next one. The stage reads and writes no file;
//! the rule-based analysis of the book is in `attribution` and `book_index`.

mod acts;
mod answer_checks;
pub(crate) mod asks;
pub(crate) mod book_index;
mod carry;
#[cfg(test)]
pub(crate) mod fixtures;
pub(crate) mod grounding;
mod language_check;
pub(crate) mod lexicon;
mod naming;
mod params;
mod repair;
pub(crate) mod requests;
pub(crate) mod scenes;
#[cfg(test)]
mod tests;

pub use acts::acts;
pub use asks::{DescribeScene, FindScenes, FoundLine, FoundScene, FoundScenes, Profile, SceneDescription};
pub use book_index::BookIndex;
pub use carry::Carry;
pub use grounding::ground;
pub use params::Params;
pub use repair::{RepairLines, RepairedLine, RepairedLines};

use std::collections::BTreeSet;

use self::grounding::PassageIndex;
use self::requests::{describe_scene, find_scenes};
use self::scenes::Draft;
use crate::llm::{AskError, Model};
use crate::schema::{Chunk, Draw, Language, Reject, RejectReason, Scene, Stage};

/// The stage's prompt templates, as (name, source).
pub const PROMPTS: &[(&str, &str)] = &[
    ("extract/scenes.en", include_str!("prompts/scenes.en.jinja")),
    ("extract/scenes.zh", include_str!("prompts/scenes.zh.jinja")),
    ("extract/repair.en", include_str!("prompts/repair.en.jinja")),
    ("extract/repair.zh", include_str!("prompts/repair.zh.jinja")),
    ("extract/describe.en", include_str!("prompts/describe.en.jinja")),
    ("extract/describe.zh", include_str!("prompts/describe.zh.jinja")),
];

/// The result of one chunk.
#[derive(Debug, Clone, Default)]
pub struct Extracted {
    /// The scenes, in book order.
    pub scenes: Vec<Scene>,
    /// What was dropped, with reasons.
    pub rejects: Vec<Reject>,
    /// The state for the next chunk of the book.
    pub carry: Carry,
}

/// Extracts the scenes of a chunk.
///
/// Makes one call per chunk, a second one if the first answer is unusable, and one or two calls per scene. Calls run in
/// sequence because the profiles of a scene build on those of earlier scenes. If a call fails for one item only, the
/// item is rejected; errors that end the run are returned.
pub async fn extract(
    model: &Model,
    params: &Params,
    book: &BookIndex,
    chunk: &Chunk,
    carry: Carry,
) -> Result<Extracted, AskError> {
    let mut extracted = Extracted { carry, ..Extracted::default() };
    let carried = extracted.carry.unfinished.take();
    let ask = find_scenes(params, book, chunk, carried.as_ref());
    let answer = ask_scenes(model, ask, chunk, &mut extracted.rejects).await?;
    let failed = !extracted.rejects.is_empty();
    let passage_index =
        PassageIndex::new(book, carried.as_ref().map_or(chunk.start, |carried| carried.text_range.0), chunk.end);
    let mut drafts = scenes::drafts(answer, params, book, chunk, &passage_index, carried.as_ref());
    if drafts.is_empty() && carried.is_none() && !failed {
        let detail =
            format!("no conversation between two or more people in “{}”, {} tokens", chunk.chapter, chunk.tokens);
        extracted.rejects.push(Reject::new(Stage::Extract, chunk.id(), RejectReason::NoScene, detail));
    }
    join_carried(carried, &mut drafts, book.language);
    let goes_on = chunk.continues || book.goes_on(chunk.end);
    if goes_on && drafts.last().is_some_and(|draft| draft.unfinished || reaches_chunk_end(draft, chunk)) {
        extracted.carry.unfinished = drafts.pop();
    }
    let mut starts = BTreeSet::new();
    for draft in drafts {
        let Some(draft) = repair_draft(model, params, book, &passage_index, draft, &mut extracted.rejects).await?
        else {
            continue;
        };
        if !starts.insert(draft.start()) {
            let detail = "another scene begins with the same utterance".to_owned();
            extracted.rejects.push(Reject::new(Stage::Extract, draft.id(book), RejectReason::Duplicate, detail));
            continue;
        }
        describe(model, book, chunk.start, draft, &mut extracted).await?;
    }
    Ok(extracted)
}

/// Completes a book: the scene that the last chunk cut off is used as it is. Makes no call if there is none.
pub async fn finish(model: &Model, params: &Params, book: &BookIndex, carry: Carry) -> Result<Extracted, AskError> {
    let mut extracted = Extracted { carry, ..Extracted::default() };
    if let Some(draft) = extracted.carry.unfinished.take() {
        let (start, end) = draft.text_range;
        let passage_index = PassageIndex::new(book, start.min(draft.start()), end.max(draft.end()));
        if let Some(draft) = repair_draft(model, params, book, &passage_index, draft, &mut extracted.rejects).await? {
            describe(model, book, start, draft, &mut extracted).await?;
        }
    }
    Ok(extracted)
}

/// Asks for the scenes of a chunk, and once more if the answer is unusable.
async fn ask_scenes(
    model: &Model,
    ask: FindScenes,
    chunk: &Chunk,
    rejects: &mut Vec<Reject>,
) -> Result<FoundScenes, AskError> {
    let draw = |is_second| Draw::Scenes { chunk: chunk.id(), is_second };
    let mut answer = match model.ask(&ask, &draw(false)).await {
        Ok(answer) => answer,
        Err(error) if error.ends_the_run() => return Err(error),
        Err(error) => {
            rejects.push(Reject::new(Stage::Extract, chunk.id(), error.reason(), error.detail()));
            return Ok(FoundScenes::default());
        }
    };
    let Some(fault) = answer_checks::find_fault(&ask, &answer) else { return Ok(answer) };
    let again = FindScenes { doubt: Some(fault.feedback.clone()), ..ask.clone() };
    match model.ask(&again, &draw(true)).await {
        Ok(second) => answer = second,
        Err(error) if error.ends_the_run() => return Err(error),
        Err(error) => rejects.push(Reject::new(Stage::Extract, chunk.id(), error.reason(), error.detail())),
    }
    if let Some(fault) = answer_checks::find_fault(&ask, &answer) {
        rejects.push(Reject::new(Stage::Extract, chunk.id(), fault.reason, fault.detail));
        answer_checks::cut(&ask, &mut answer);
    }
    Ok(answer)
}

/// Repairs a draft and drops the utterances that are not in the book. Returns `None` if the rest is not a valid scene.
async fn repair_draft(
    model: &Model,
    params: &Params,
    book: &BookIndex,
    passage_index: &PassageIndex<'_>,
    mut draft: Draft,
    rejects: &mut Vec<Reject>,
) -> Result<Option<Draft>, AskError> {
    rejects.extend(repair::repair(model, params, book, passage_index, &mut draft).await?);
    rejects.extend(draft.rejects(book));
    if draft.grounding() >= params.min_grounding {
        rejects.extend(repair::drop_missing(&mut draft, params, book, passage_index));
    }
    if let Some(reject) = draft.reject_reason(params, book) {
        rejects.push(reject);
        return Ok(None);
    }
    Ok(Some(draft))
}

/// Whether the chunk boundary cuts a scene and `draft` is that scene, i.e. reaches the end of the chunk.
fn reaches_chunk_end(draft: &Draft, chunk: &Chunk) -> bool {
    let margin = if chunk.language == Language::Zh { 80 } else { 250 };
    chunk.continues && chunk.end.saturating_sub(draft.text_range.1.max(draft.end())) <= margin
}

/// Joins the carried scene with the first draft if that draft continues it; otherwise the carried scene is
/// complete.
fn join_carried(carried: Option<Draft>, drafts: &mut Vec<Draft>, language: Language) {
    let Some(mut carried) = carried else { return };
    // A draft that repeats the last utterances continues the scene, whether or not the model says so.
    if drafts.first().is_some_and(|first| first.continues || first.seam > 0) {
        let blank = if language == Language::En { " " } else { "" };
        carried.join(drafts.remove(0), blank);
    } else {
        carried.unfinished = false;
    }
    drafts.insert(0, carried);
}

/// Describes a draft and adds the scene, or rejects it.
async fn describe(
    model: &Model,
    book: &BookIndex,
    opening: u32,
    draft: Draft,
    extracted: &mut Extracted,
) -> Result<(), AskError> {
    let id = draft.id(book);
    let ask = describe_scene(book, opening, &draft, &extracted.carry);
    match model.ask(&ask, &Draw::SceneDescription { scene: id.clone() }).await {
        Ok(mut answer) => {
            let foreign = scenes::drop_foreign_parts(&mut answer, book.language);
            if !foreign.is_empty() {
                let detail = format!("dropped from its description: {}", foreign.join(", "));
                extracted.rejects.push(Reject::new(Stage::Extract, &id, RejectReason::OtherLanguage, detail));
            }
            let unknown_characters = scenes::unknown_characters(&ask, &answer, book);
            if !unknown_characters.is_empty() {
                let detail = format!("its description mentions {}, not in its cast", unknown_characters.join(", "));
                extracted.rejects.push(Reject::new(Stage::Extract, &id, RejectReason::UnknownCharacter, detail));
            }
            let scene = scenes::scene(draft, &ask, &answer, book, model.id());
            if !scene.worldview.is_empty() {
                extracted.carry.worldview = Some(scene.worldview.clone());
            }
            for character in &scene.characters {
                extracted.carry.profiles.insert(character.name.clone(), character.profile.clone());
            }
            extracted.scenes.push(scene);
        }
        Err(error) if error.ends_the_run() => return Err(error),
        Err(error) => extracted.rejects.push(Reject::new(Stage::Extract, id, error.reason(), error.detail())),
    }
    Ok(())
}
