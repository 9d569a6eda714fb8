//! The offline answer to [`DescribeScene`]: sentences and utterances of the book, joined by short built-in phrases.
//! What the text does not show is omitted.

use std::collections::BTreeMap;

use super::motivations::motivations;
use crate::schema::{Attribute, Language};
use crate::stages::extract::asks::{CastNotes, SentenceHint};
use crate::stages::extract::lexicon::{Patterns, ProfileKey, join, quoted};
use crate::stages::extract::{DescribeScene, Profile, SceneDescription};

/// Describes a scene.
pub(super) fn describe(ask: &DescribeScene) -> SceneDescription {
    SceneDescription {
        worldview: worldview(ask),
        situation: situation(ask),
        motivations: motivations(ask),
        profiles: ask.cast.iter().map(|member| profile(ask, member)).collect(),
    }
}

/// Returns the known worldview, or else sentences of the opening and what the book mentions most often.
fn worldview(ask: &DescribeScene) -> String {
    if let Some(worldview) = ask.worldview.as_ref().filter(|worldview| !worldview.is_empty()) {
        return worldview.clone();
    }
    let narration: Vec<String> = ask.opening.iter().chain(&ask.counted).cloned().collect();
    match (narration.is_empty(), ask.language) {
        (false, _) => join(&narration, ask.language),
        (true, Language::En) => format!("The world of “{}”.", ask.title),
        (true, Language::Zh) => format!("《{}》的世界。", ask.title),
    }
}

/// Returns the narration before the first utterance, and who is present.
fn situation(ask: &DescribeScene) -> String {
    let words = Patterns::of(ask.language);
    let most = if ask.language == Language::Zh { 120 } else { 300 };
    let fits = |hint: &&SentenceHint| {
        let is_informative = !hint.people.is_empty() || hint.first_person || words.setting(&hint.text) > 0;
        hint.is_standalone
            && is_informative
            && hint.text.chars().count() <= most
            && (!hint.first_person || ask.narrator.is_some())
    };
    let mut narration: Vec<&SentenceHint> = ask.before.iter().filter(fits).collect();
    // A fragment says little about the situation, unless there is nothing else.
    let least = if ask.language == Language::Zh { 12 } else { 36 };
    let is_long_enough = |hint: &&SentenceHint| hint.text.chars().count() >= least || words.setting(&hint.text) > 0;
    if narration.iter().any(is_long_enough) {
        narration.retain(is_long_enough);
    }
    let mut chosen: Vec<&SentenceHint> = narration[narration.len().saturating_sub(3)..].to_vec();
    // An earlier sentence with place or time goes first.
    if let Some(setting) =
        narration[..narration.len() - chosen.len()].iter().rev().find(|hint| words.setting(&hint.text) >= 2)
    {
        chosen.remove(0);
        chosen.insert(0, setting);
    }
    if chosen.is_empty() {
        // If nothing is told before the dialogue, early narration within it about the place or the people is used.
        let early = ask.after.iter().take(3).filter(fits);
        let cast = |hint: &&SentenceHint| {
            words.setting(&hint.text) >= 2
                || hint.subject.as_ref().is_some_and(|name| ask.cast.iter().any(|member| member.name == *name))
        };
        chosen.extend(early.filter(cast).take(1));
    }
    let earlier = ask.earlier.iter().filter(|_| chosen.is_empty()).find(fits).map(|hint| {
        let narration = narrate(&[hint], ask.narrator.as_deref(), ask.language);
        match ask.language {
            Language::En => format!("Shortly before: {narration}"),
            Language::Zh => format!("此前，{narration}"),
        }
    });
    let mut parts: Vec<String> = heading_setting(&ask.chapter).into_iter().collect();
    parts.push(narrate(&chosen, ask.narrator.as_deref(), ask.language));
    parts.extend(earlier);
    parts.retain(|part| !part.is_empty());
    let names: Vec<String> = ask.cast.iter().map(|member| member.name.clone()).collect();
    let silent_people = silent_people(ask, &chosen);
    let (names, others) = (ask.script.list(&names), ask.script.list(&silent_people));
    parts.push(match (ask.language, silent_people.is_empty()) {
        (Language::En, true) => format!("Present: {names}."),
        (Language::En, false) => format!("Present: {names}; also there: {others}."),
        (Language::Zh, true) => format!("{}{names}。", ask.script.write("在场的有")),
        (Language::Zh, false) => {
            format!("{}{names}，{}{others}。", ask.script.write("在场的有"), ask.script.write("另有"))
        }
    });
    join(&parts, ask.language)
}

/// Returns people who are present but do not speak: mentioned just before the dialogue, or repeatedly within it.
fn silent_people(ask: &DescribeScene, before: &[&SentenceHint]) -> Vec<String> {
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    let within = ask.after.iter().filter_map(|hint| Some((hint.subject.as_deref()?, 1)));
    let narrator =
        |hint: &SentenceHint| ask.narrator.as_deref().filter(|_| hint.first_person).map(|narrator| (narrator, 1));
    let just_before = before.iter().filter_map(|hint| Some((hint.subject.as_deref()?, 2)));
    for (name, weight) in within.chain(just_before).chain(ask.after.iter().filter_map(narrator)) {
        *times.entry(name).or_default() += weight;
    }
    let cast = |name: &str| ask.cast.iter().any(|member| member.name == name);
    // A person with only a demonstrative may be one of the speakers.
    let has_demonstrative = |name: &str| name.starts_with(['那', '这', '這']) || name.chars().count() < 2;
    let there = times.into_iter().filter(|(name, times)| {
        *times >= 2 && !cast(name) && !has_demonstrative(name) && !Patterns::is_group(ask.language, name)
    });
    there.take(4).map(|(name, _)| name.to_owned()).collect()
}

/// Reads place and time from the heading of a scene in a script: `EXT. THE QUAY - NIGHT`.
fn heading_setting(chapter: &str) -> Option<String> {
    let found = ["INT./EXT. ", "INT. ", "EXT. "].iter().find_map(|mark| Some((chapter.find(mark)?, mark)))?;
    let heading = chapter[found.0 + found.1.len()..].trim().trim_end_matches('.');
    let lower = heading.to_lowercase();
    let mut chars = lower.chars();
    let first = chars.next()?;
    Some(format!("{}{}.", first.to_uppercase(), chars.as_str().replace(" - ", ", ")))
}

/// Joins sentences; first-person narration is attributed to the narrator.
pub(super) fn narrate(hints: &[&SentenceHint], narrator: Option<&str>, language: Language) -> String {
    let narration: Vec<String> = hints.iter().map(|hint| hint.text.clone()).collect();
    let narration = join(&narration, language);
    match (narrator.filter(|_| hints.iter().any(|hint| hint.first_person)), language) {
        (Some(narrator), Language::En) => format!("As {narrator} tells it: {}", quoted(&narration)),
        (Some(narrator), Language::Zh) => format!("{narrator}自述：{}", quoted(&narration)),
        (None, _) => narration,
    }
}

/// Returns the notes grouped by key.
fn profile(ask: &DescribeScene, member: &CastNotes) -> Profile {
    let mut by_key: BTreeMap<ProfileKey, Vec<String>> = BTreeMap::new();
    for note in &member.notes {
        if let Some(key) = ProfileKey::of(&note.key) {
            by_key.entry(key).or_default().push(note.text.clone());
        }
    }
    let attributes = by_key.into_iter().map(|(key, texts)| Attribute {
        key: key.word(ask.script),
        value: join(&texts, ask.language),
        visibility: key.visibility(),
    });
    Profile { character: member.name.clone(), attributes: attributes.collect() }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::find_scenes;
    use super::*;
    use crate::stages::extract::fixtures::{EN_PEOPLE, ZH_PEOPLE, attribution, chunk, indexed_book, length};
    use crate::stages::extract::grounding::PassageIndex;
    use crate::stages::extract::requests::{describe_scene, find_scenes};
    use crate::stages::extract::{Carry, Params, scenes};

    /// The question about the only scene of a text in which Anna and Boris, or 陆平 and 周老七, take turns.
    pub(in super::super) fn ask(language: Language, text: &str) -> DescribeScene {
        let people = if language == Language::En { EN_PEOPLE } else { ZH_PEOPLE };
        let book = indexed_book(language, text, attribution(text, people, &[0, 1].repeat(20)));
        let chunk = chunk(language, text, 0, 0, length(text));
        let params = Params { min_utterances: 2, ..Params::default() };
        let found = find_scenes::scenes(&find_scenes(&params, &book, &chunk, None));
        let draft =
            scenes::drafts(found, &params, &book, &chunk, &PassageIndex::new(&book, 0, chunk.end), None).remove(0);
        describe_scene(&book, 0, &draft, &Carry::default())
    }

    #[test]
    fn a_situation_names_the_cast_and_needs_no_context() {
        let text = "Anna came to the mill at dusk. He was not there. At that the dog barked.\n“Boris?”\n“Here.”\n";
        assert_eq!(situation(&ask(Language::En, text)), "Anna came to the mill at dusk. Present: Anna and Boris.");
        let text = "话说陆平到了磨坊。摇着头走开了。\n“周老七？”\n“在。”\n";
        assert_eq!(situation(&ask(Language::Zh, text)), "陆平到了磨坊。在场的有陆平和周老七。");
    }

    #[test]
    fn the_place_is_read_from_the_scene_heading() {
        assert_eq!(heading_setting("Act 1 EXT. MILL YARD - NIGHT").as_deref(), Some("Mill yard, night."));
        assert_eq!(heading_setting("Chapter 3"), None);
    }

    #[test]
    fn a_first_person_sentence_names_the_narrator() {
        let hint = SentenceHint {
            start: 0,
            end: 9,
            text: "I came to the mill.".to_owned(),
            people: Vec::new(),
            subject: None,
            after: String::new(),
            is_standalone: true,
            first_person: true,
        };
        assert_eq!(narrate(&[&hint], Some("Anna"), Language::En), "As Anna tells it: “I came to the mill.”");
        assert_eq!(narrate(&[], Some("Anna"), Language::En), "");
    }
}
