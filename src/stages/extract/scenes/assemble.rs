//! Builds a scene from a draft and its description.

use std::collections::BTreeSet;

use super::draft::{Draft, round};
use crate::schema::{Attribute, Language, Motivation, Scene, SceneCharacter, slug};
use crate::stages::extract::asks::{DescribeScene, SceneDescription};
use crate::stages::extract::book_index::BookIndex;
use crate::stages::extract::language_check::is_foreign;
use crate::stages::extract::lexicon::ProfileKey;
use crate::stages::extract::naming::canonical;
use crate::text::is_han;

/// Returns the cast member with a name: by the book's names, or else the only one whose name contains it or is
/// contained in it, as models write `Darcy` for `Mr. Darcy` and `黛玉（颦儿）` for `林黛玉`.
fn cast_member<'a>(name: &str, ask: &'a DescribeScene, book: &BookIndex) -> Option<&'a str> {
    let name = name.split(['(', '（']).next().unwrap_or_default();
    let exact = canonical(name, book);
    let own = ask.cast.iter().map(|member| member.name.as_str());
    if let Some(member) = own.clone().find(|member| *member == exact) {
        return Some(member);
    }
    if book.owner(&exact).is_some() {
        return None;
    }
    let name = slug(name);
    let within = |part: &str, text: &str| {
        if part.chars().all(is_han) {
            part.chars().count() > 1 && text.contains(part)
        } else {
            format!("-{text}-").contains(&format!("-{part}-"))
        }
    };
    let mut like = own.filter(|member| {
        let member = slug(member);
        within(&name, &member) || within(&member, &name)
    });
    like.next().filter(|_| like.next().is_none())
}

/// Returns the names in a description that are not in the scene's cast, in order, without repetition.
pub(crate) fn unknown_characters<'a>(
    ask: &DescribeScene,
    answer: &'a SceneDescription,
    book: &BookIndex,
) -> Vec<&'a str> {
    let motivations = answer.motivations.iter().map(|motivation| motivation.character.as_str());
    let names = motivations.chain(answer.profiles.iter().map(|profile| profile.character.as_str()));
    let mut seen = BTreeSet::new();
    names.filter(|name| cast_member(name, ask, book).is_none() && seen.insert(*name)).collect()
}

/// Removes the parts of a description that are in another language and returns their names.
pub(crate) fn drop_foreign_parts(answer: &mut SceneDescription, language: Language) -> Vec<String> {
    let mut parts = Vec::new();
    if is_foreign(&answer.worldview, language) {
        answer.worldview.clear();
        parts.push("the worldview".to_owned());
    }
    answer.motivations.retain(|motivation| {
        let foreign = is_foreign(&motivation.motivation, language);
        if foreign {
            parts.push(format!("the motivation of {}", motivation.character));
        }
        !foreign
    });
    for profile in &mut answer.profiles {
        let before = profile.attributes.len();
        profile.attributes.retain(|attribute| !is_foreign(&attribute.value, language));
        if profile.attributes.len() < before {
            parts.push(format!("{} of {}’s attributes", before - profile.attributes.len(), profile.character));
        }
    }
    parts
}

/// Builds a scene from a draft and its description. A profile has each key once; known attributes stay unless
/// redefined.
pub(crate) fn scene(
    draft: Draft,
    ask: &DescribeScene,
    answer: &SceneDescription,
    book: &BookIndex,
    model: &str,
) -> Scene {
    let attributes = |name: &str| {
        let profiles =
            answer.profiles.iter().filter(|profile| cast_member(&profile.character, ask, book) == Some(name));
        profiles.flat_map(|profile| profile.attributes.iter()).collect::<Vec<_>>()
    };
    let characters = ask
        .cast
        .iter()
        .map(|member| SceneCharacter {
            name: member.name.clone(),
            aliases: member.aliases.clone(),
            profile: profile(&attributes(&member.name), &member.known, book),
        })
        .collect();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let motivations = answer
        .motivations
        .iter()
        .filter_map(|motivation| {
            let character = cast_member(&motivation.character, ask, book)?.to_owned();
            Some(Motivation { character, motivation: motivation.motivation.trim().to_owned() })
        })
        .filter(|motivation| !motivation.motivation.is_empty() && seen.insert(motivation.character.clone()))
        .collect();
    Scene {
        id: draft.id(book),
        book: book.slug.clone(),
        language: book.language,
        start: Some(draft.start()),
        end: Some(draft.end()),
        grounding: Some(round(draft.grounding())),
        chapter: draft.chapter,
        summary: draft.summary,
        salience: draft.prominence,
        // An empty answer does not erase the worldview.
        worldview: Some(answer.worldview.trim())
            .filter(|worldview| !worldview.is_empty())
            .or(ask.worldview.as_deref())
            .map_or_else(String::new, |worldview| shortened(worldview, MAX_SENTENCES)),
        situation: answer.situation.trim().to_owned(),
        motivations,
        characters,
        dialogue: draft.dialogue,
        model: Some(model.to_owned()),
    }
}

/// The maximum number of sentences in a worldview; as it is refined scene by scene, it would otherwise grow with the
/// book.
const MAX_SENTENCES: usize = 12;

/// Returns the first sentences of a text.
fn shortened(text: &str, most: usize) -> String {
    let sentences = crate::text::sentences(text);
    let Some(last) = sentences.get(most.saturating_sub(1)).filter(|_| sentences.len() > most) else {
        return text.to_owned();
    };
    let end = last.as_ptr() as usize - text.as_ptr() as usize + last.len();
    text[..end].to_owned()
}

fn profile(attributes: &[&Attribute], known: &[Attribute], book: &BookIndex) -> Vec<Attribute> {
    let mut profile: Vec<Attribute> = Vec::new();
    for attribute in attributes.iter().copied().chain(known) {
        let key = ProfileKey::of(&attribute.key);
        let word = key.map_or_else(|| attribute.key.trim().to_owned(), |key| key.word(book.script()));
        let value = attribute.value.trim();
        if word.is_empty() || value.is_empty() || profile.iter().any(|before| before.key == word) {
            continue;
        }
        // The paper's keys have the paper's visibility, whatever the model says.
        let visibility = key.map_or(attribute.visibility, ProfileKey::visibility);
        profile.push(Attribute { key: word, value: value.to_owned(), visibility });
    }
    profile.sort_by_key(|attribute| ProfileKey::of(&attribute.key));
    // The model's own keys come last.
    let own = profile.iter().take_while(|attribute| ProfileKey::of(&attribute.key).is_none()).count();
    profile.rotate_left(own);
    profile
}
