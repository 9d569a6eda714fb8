//! The offline answer to what there is to know about a scene: the book's own sentences and lines, in short phrases of ours.
//! What the text does not show is left out.

use std::collections::BTreeMap;

use super::asks::{CastNotes, DescribeScene, Profile, SceneDescription};
use super::lexicon::{Key, Words, join, list, quoted};
use super::narration::sentences;
use crate::schema::{Attribute, Language, Motivation};
use crate::text::content_words;

/// Describes a scene.
pub(super) fn describe(ask: &DescribeScene) -> SceneDescription {
    SceneDescription {
        worldview: worldview(ask),
        situation: situation(ask),
        motivations: ask.cast.iter().filter_map(|member| motivation(ask, member)).collect(),
        profiles: ask.cast.iter().map(|member| profile(ask, member)).collect(),
    }
}

/// The world as it is known, else the sentences of the opening that tell most of place, time and society.
fn worldview(ask: &DescribeScene) -> String {
    if let Some(worldview) = ask.worldview.as_ref().filter(|worldview| !worldview.is_empty()) {
        return worldview.clone();
    }
    let words = Words::of(ask.language);
    let mut scored: Vec<(usize, usize)> = ask
        .opening
        .iter()
        .enumerate()
        .map(|(at, text)| {
            let setting = words.setting(text) * 2;
            // Beside the first two, a sentence has to tell of more than one of them: a house alone makes no world.
            let tells = setting >= 4 || (at <= 1 && setting > 0);
            (if tells { setting + usize::from(!words.leans(text)) + 4 * usize::from(at == 0) } else { 0 }, at)
        })
        .filter(|(score, _)| *score > 0)
        .collect();
    scored.sort_by_key(|(score, at)| (std::cmp::Reverse(*score), *at));
    let mut chosen: Vec<usize> = scored.into_iter().take(4).map(|(_, at)| at).collect();
    chosen.sort_unstable();
    let sentences: Vec<String> = chosen.into_iter().map(|at| ask.opening[at].clone()).collect();
    match (sentences.is_empty(), ask.language) {
        (false, _) => join(&sentences, ask.language),
        (true, Language::En) => format!("The world of “{}”.", ask.title),
        (true, Language::Zh) => format!("《{}》的世界。", ask.title),
    }
}

/// What is told before the first line, and who is there.
fn situation(ask: &DescribeScene) -> String {
    let words = Words::of(ask.language);
    let most = if ask.language == Language::Zh { 120 } else { 300 };
    let told: Vec<&str> =
        ask.before.iter().map(|hint| hint.text.as_str()).filter(|text| text.chars().count() <= most).collect();
    let mut from = told.len().saturating_sub(3);
    // A sentence that leans on one before it does not open a description.
    while from < told.len() && words.leans(told[from]) {
        from += 1;
    }
    let mut parts: Vec<String> = told[from..].iter().map(|text| (*text).to_owned()).collect();
    // An earlier sentence that tells place or time goes first.
    if let Some(setting) = told[..from].iter().rev().find(|text| words.setting(text) >= 2 && !words.leans(text))
        && parts.len() < 3
    {
        parts.insert(0, (*setting).to_owned());
    }
    if parts.is_empty() {
        let told = ask.after.iter().take(6).map(|hint| &hint.text);
        parts.extend(
            told.filter(|text| words.setting(text) >= 2 && !words.leans(text) && text.chars().count() <= most)
                .take(1)
                .cloned(),
        );
    }
    let names: Vec<String> = ask.cast.iter().map(|member| member.name.clone()).collect();
    parts.push(match ask.language {
        Language::En => format!("Present: {}.", list(&names, ask.language)),
        Language::Zh => format!("在场的有{}。", list(&names, ask.language)),
    });
    join(&parts, ask.language)
}

/// What a character wants: a sentence of the text about its aims, else a line of its own that says so.
fn motivation(ask: &DescribeScene, member: &CastNotes) -> Option<Motivation> {
    let words = Words::of(ask.language);
    let (least, most) = if ask.language == Language::Zh { (6, 60) } else { (16, 180) };
    let fits = |text: &&str| (least..=most).contains(&text.chars().count());
    let own = || ask.dialogue.iter().filter(|line| line.speaker == member.name);
    let spoken = || {
        own().flat_map(|line| {
            sentences(&line.speech)
                .into_iter()
                .map(|(start, end, _)| line.speech[start..end].trim())
                .collect::<Vec<_>>()
        })
    };
    let about = || {
        let hints = ask.before.iter().chain(&ask.after).filter(|hint| hint.subject.as_ref() == Some(&member.name));
        hints.map(|hint| hint.text.as_str()).filter(fits).filter(|text| !words.is_first_person(text))
    };
    let aim = about().find(|text| words.tells_aims(text));
    let wish = spoken()
        .filter(fits)
        .find(|text| words.wants(text) && !text.contains(['?', '？', '‘', '“']) && !text.contains(" said, "));
    // A question is an aim only where it names what it is after.
    let heavy = |text: &&str| {
        content_words(text).len() >= 2 && (ask.language == Language::Zh || text.split_whitespace().count() >= 5)
    };
    let question = spoken()
        .filter(fits)
        .filter(|text| text.ends_with(['?', '？']))
        .filter(heavy)
        .max_by_key(|text| text.chars().count());
    let motivation = match (aim, wish, question, ask.language) {
        (Some(aim), Some(wish), _, Language::En) => format!("{aim} In so many words: {}", quoted(wish)),
        (Some(aim), Some(wish), _, Language::Zh) => format!("{aim}自己说：{}", quoted(wish)),
        (Some(aim), None, _, _) => aim.to_owned(),
        (None, Some(wish), _, Language::En) => format!("Makes no secret of it: {}", quoted(wish)),
        (None, Some(wish), _, Language::Zh) => format!("自己说过：{}", quoted(wish)),
        (None, None, Some(question), Language::En) => format!("Wants an answer to this: {}", quoted(question)),
        (None, None, Some(question), Language::Zh) => format!("想问个明白：{}", quoted(question)),
        (None, None, None, _) => return None,
    };
    Some(Motivation { character: member.name.clone(), motivation })
}

/// The notes by key; what only the scene before knew stays.
fn profile(ask: &DescribeScene, member: &CastNotes) -> Profile {
    let mut by_key: BTreeMap<Key, Vec<String>> = BTreeMap::new();
    for note in &member.notes {
        if let Some(key) = Key::of(&note.key) {
            by_key.entry(key).or_default().push(note.text.clone());
        }
    }
    let attributes = by_key.into_iter().map(|(key, texts)| Attribute {
        key: key.word(ask.language).to_owned(),
        value: join(&texts, ask.language),
        visibility: key.visibility(),
    });
    Profile { character: member.name.clone(), attributes: attributes.collect() }
}
