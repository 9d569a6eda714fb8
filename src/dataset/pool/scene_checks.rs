//! Checks a scene for inconsistencies that its schema cannot express. Looks only at the scene itself, not at its file
//! or other scenes.

use crate::config::Check;
use crate::config::document::schema_check::one_of;
use crate::schema::{Grounded, Language, Scene, Utterance, slug};

/// An inconsistency in a scene.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SceneFault {
    /// The check that found it.
    pub(crate) check: Check,
    /// JSON Pointer to the location.
    pub(crate) pointer: String,
    /// The message.
    pub(crate) message: String,
    /// What is expected instead.
    pub(crate) expected: Option<String>,
    /// A name that is not in the cast, if the check is about one.
    pub(crate) unknown: Option<String>,
}

impl SceneFault {
    pub(crate) fn new(pointer: impl Into<String>, message: impl Into<String>, expected: impl Into<String>) -> Self {
        let (pointer, message, expected) = (pointer.into(), message.into(), Some(expected.into()));
        Self { check: Check::Sense, pointer, message, expected, unknown: None }
    }

    /// Creates a fault about content that should not be there at all.
    pub(crate) fn found(check: Check, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { check, pointer: pointer.into(), message: message.into(), expected: None, unknown: None }
    }
}

/// Returns the inconsistencies of a scene, in the order of its fields.
pub(crate) fn faults(scene: &Scene) -> Vec<SceneFault> {
    let mut faults = Vec::new();
    for (pointer, text) in [("/id", scene.id.as_str()), ("/book", &scene.book), ("/situation", &scene.situation)] {
        if text.trim().is_empty() {
            faults.push(SceneFault::new(pointer, format!("`{}` is empty", &pointer[1..]), "a text"));
        }
    }
    if let Some(other) = apparent_language(scene).filter(|language| *language != scene.language) {
        let message = format!("`language` is `{}`, but the texts are not", scene.language);
        faults.push(SceneFault::new("/language", message, format!("`{other}`")));
    }
    if scene.salience.is_some_and(|salience| !(1..=100).contains(&salience)) {
        faults.push(SceneFault::new("/salience", "`salience` is out of range", "an integer from 1 to 100"));
    }
    let bounds = span(("", scene.start, scene.end), &mut faults);
    cast(scene, &mut faults);
    dialogue(scene, bounds, &mut faults);
    grounding(scene, &mut faults);
    faults
}

/// Checks the names of the cast, and names that must be in the cast.
fn cast(scene: &Scene, faults: &mut Vec<SceneFault>) {
    if scene.characters.is_empty() {
        faults.push(SceneFault::new("/characters", "the cast is empty", "at least one character"));
    }
    for (index, character) in scene.characters.iter().enumerate() {
        let pointer = format!("/characters/{index}/name");
        if character.name.trim().is_empty() {
            faults.push(SceneFault::new(pointer, "a character has no name", "a name"));
        } else if scene.characters[..index].iter().any(|other| other.name == character.name) {
            let message = format!("the cast lists `{}` twice", character.name);
            faults.push(SceneFault::new(pointer, message, "one entry for each character"));
        }
        for (entry, attribute) in character.profile.iter().enumerate() {
            for (key, text) in [("key", &attribute.key), ("value", &attribute.value)] {
                if text.trim().is_empty() {
                    let pointer = format!("/characters/{index}/profile/{entry}/{key}");
                    let message = format!("the profile of `{}` has an empty {key}", character.name);
                    faults.push(SceneFault::new(pointer, message, "a text"));
                }
            }
        }
    }
    for (index, motivation) in scene.motivations.iter().enumerate() {
        if !is_of_cast(scene, &motivation.character) {
            let message = format!("`{}` has a motivation but is not in the cast", motivation.character);
            faults.push(not_in_cast(
                scene,
                format!("/motivations/{index}/character"),
                message,
                &motivation.character,
                false,
            ));
        }
    }
}

/// Checks the utterances. `bounds` are the scene's offsets, if valid.
fn dialogue(scene: &Scene, bounds: Option<(u32, u32)>, faults: &mut Vec<SceneFault>) {
    for (index, line) in scene.dialogue.iter().enumerate() {
        let pointer = format!("/dialogue/{index}");
        if line.speaker != Utterance::ENVIRONMENT && !is_of_cast(scene, &line.speaker) {
            let message = format!("`{}` speaks but is not in the cast", line.speaker);
            faults.push(not_in_cast(scene, format!("{pointer}/speaker"), message, &line.speaker, true));
        }
        let is_empty = |text: &Option<String>| text.as_ref().is_none_or(|text| text.trim().is_empty());
        if [&line.thought, &line.action, &line.speech].into_iter().all(is_empty) {
            let message = format!("utterance {} is empty", index + 1);
            faults.push(SceneFault::new(&pointer, message, "a thought, an action or a speech"));
        }
        let found = span((&pointer, line.start, line.end), faults);
        if let (Some((start, end)), Some((begin, stop))) = (found, bounds)
            && (start < begin || end > stop)
        {
            let message = format!("{start} to {end} is outside the scene");
            faults.push(SceneFault::new(
                format!("{pointer}/start"),
                message,
                format!("a range within {begin} to {stop}"),
            ));
        }
        if line.similarity.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
            faults.push(SceneFault::new(format!("{pointer}/similarity"), "`similarity` is out of range", "0 to 1"));
        }
        let wrong = match line.grounded {
            Some(_) if line.speech.is_none() => {
                Some(("`grounded` is set, but there is no speech", "null, or a speech"))
            }
            Some(Grounded::Absent) if line.start.is_some() => Some((
                "the speech is `absent` but has a position in the book",
                "`exact`, `near`, or no `start` and `end`",
            )),
            Some(Grounded::Exact | Grounded::Near) if line.start.is_none() => {
                Some(("the speech was found but has no position in the book", "`absent`, or `start` and `end`"))
            }
            _ => None,
        };
        if let Some((message, expected)) = wrong {
            faults.push(SceneFault::new(format!("{pointer}/grounded"), message, expected));
        }
    }
}

/// Checks that `grounding` is the share of speeches found in the book.
fn grounding(scene: &Scene, faults: &mut Vec<SceneFault>) {
    let Some(stated) = scene.grounding else { return };
    if !(0.0..=1.0).contains(&stated) {
        faults.push(SceneFault::new("/grounding", "`grounding` is out of range", "0 to 1"));
        return;
    }
    let (mut all, mut found) = (0_u32, 0_u32);
    for line in scene.dialogue.iter().filter(|line| line.speech.is_some()) {
        all += 1;
        found += u32::from(line.start.is_some());
    }
    let share = if all == 0 { 0.0 } else { f64::from(found) / f64::from(all) };
    // Shares are written with three decimals.
    if (share - stated).abs() > 0.001 {
        let message = format!("`grounding` is {stated}, but {found} of {all} speeches have a position in the book");
        faults.push(SceneFault::new("/grounding", message, format!("{share:.3}, or null for a custom scene")));
    }
}

/// Checks a pair of offsets; returns it if it is a valid range.
fn span((pointer, start, end): (&str, Option<u32>, Option<u32>), faults: &mut Vec<SceneFault>) -> Option<(u32, u32)> {
    match (start, end) {
        (Some(start), Some(end)) if start < end => Some((start, end)),
        (Some(start), Some(end)) => {
            let message = format!("the range begins at {start} but ends at {end}");
            faults.push(SceneFault::new(format!("{pointer}/end"), message, "an end after the start"));
            None
        }
        (None, None) => None,
        (start, _) => {
            let key = if start.is_some() { "start" } else { "end" };
            let message = "only one of `start` and `end` is given";
            faults.push(SceneFault::new(format!("{pointer}/{key}"), message, "both or neither"));
            None
        }
    }
}

fn not_in_cast(scene: &Scene, pointer: String, message: String, name: &str, speaks: bool) -> SceneFault {
    let names = scene.characters.iter().map(|character| format!("`{}`", character.name)).take(6);
    let environment = speaks.then(|| format!("`{}`", Utterance::ENVIRONMENT));
    let expected = one_of(names.chain(environment));
    SceneFault { check: Check::Sense, pointer, message, expected: Some(expected), unknown: Some(name.to_owned()) }
}

/// Returns every name of the cast, aliases included.
pub(crate) fn names(scene: &Scene) -> impl Iterator<Item = &str> {
    let names =
        scene.characters.iter().flat_map(|character| std::iter::once(&character.name).chain(&character.aliases));
    names.map(String::as_str)
}

/// Returns whether a name is in the cast, with the comparison used in conversations.
fn is_of_cast(scene: &Scene, name: &str) -> bool {
    names(scene).any(|own| own == name) || {
        let name_slug = slug(name);
        name_slug != "-" && names(scene).any(|own| slug(own) == name_slug)
    }
}

/// Returns the language of the texts, if it is clear.
fn apparent_language(scene: &Scene) -> Option<Language> {
    let speeches = scene.dialogue.iter().filter_map(|line| line.speech.as_ref()).take(20);
    let (mut han, mut latin) = (0_usize, 0_usize);
    for text in [&scene.situation, &scene.summary].into_iter().chain(speeches) {
        for c in text.chars().take(400) {
            han +=
                usize::from(matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}'));
            latin += usize::from(c.is_ascii_alphabetic());
        }
    }
    // A Chinese character counts as four Latin letters. Names in the other language may occur.
    let words = latin / 4;
    match (han + words >= 8, han > 3 * words, words > 3 * han) {
        (true, true, _) => Some(Language::Zh),
        (true, _, true) => Some(Language::En),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn scene(language: Language) -> Value {
        let pick = |en: &str, zh: &str| if language == Language::En { en.to_owned() } else { zh.to_owned() };
        json!({
            "id": "b@10", "book": "b", "language": language, "start": 10, "end": 90,
            "summary": pick("They wait for the ferry, and it does not come.", "二人候船，船久不至。"),
            "situation": pick("Night at the landing; two people wait.", "夜里，渡口，两个人等船。"),
            "motivations": [{"character": pick("Old Zhou", "老周"), "motivation": "m"}],
            "characters": [
                {"name": pick("Old Zhou", "老周"), "profile": [{"key": "k", "value": "v", "visibility": "public"}]},
                {"name": pick("Aman", "阿满"), "aliases": [pick("The Boatman", "船工")]},
            ],
            "dialogue": [
                {"speaker": pick("old zhou", "老周"), "speech": pick("Is it coming?", "船还来么？"), "start": 11, "end": 20, "grounded": "exact"},
                {"speaker": "Environment", "action": pick("Wind.", "风。")},
                {"speaker": pick("The Boatman", "船工"), "speech": pick("It is.", "来的。"), "grounded": "absent", "similarity": 0.1},
                {"speaker": pick("Aman", "阿满"), "speech": pick("Wait.", "等。"), "start": 80, "end": 90, "grounded": "near"},
            ],
            "grounding": 0.667,
        })
    }

    fn messages(value: &Value) -> Vec<String> {
        let scene: Scene = serde_json::from_value(value.clone()).expect("the schema takes it");
        faults(&scene).into_iter().map(|fault| format!("{} {}", fault.pointer, fault.message)).collect()
    }

    #[test]
    fn a_valid_scene_has_no_findings() {
        for language in Language::ALL {
            assert_eq!(messages(&scene(language)), Vec::<String>::new());
        }
    }

    #[test]
    fn every_fault_is_reported_at_its_pointer() {
        for language in Language::ALL {
            let other = if language == Language::En { "zh" } else { "en" };
            for (pointer, slip, at) in [
                ("/id", json!(" "), "/id"),
                ("/situation", json!(""), "/situation"),
                ("/language", json!(other), "/language"),
                ("/salience", json!(101), "/salience"),
                ("/salience", json!(0), "/salience"),
                ("/end", json!(10), "/end"),
                ("/end", json!(9), "/end"),
                ("/end", Value::Null, "/start"),
                ("/motivations/0/character", json!("Mrs. Nobody"), "/motivations/0/character"),
                ("/characters/1/name", json!(""), "/characters/1/name"),
                ("/characters/0/profile/0/value", json!("\u{3000}"), "/characters/0/profile/0/value"),
                ("/dialogue/0/speaker", json!("某人"), "/dialogue/0/speaker"),
                ("/dialogue/0/end", json!(11), "/dialogue/0/end"),
                ("/dialogue/0/end", json!(91), "/dialogue/0/start"),
                ("/dialogue/0/start", json!(9), "/dialogue/0/start"),
                ("/dialogue/0/grounded", json!("absent"), "/dialogue/0/grounded"),
                ("/dialogue/1/grounded", json!("exact"), "/dialogue/1/grounded"),
                ("/dialogue/1/action", json!(""), "/dialogue/1"),
                ("/dialogue/2/grounded", json!("near"), "/dialogue/2/grounded"),
                ("/dialogue/2/similarity", json!(1.1), "/dialogue/2/similarity"),
                ("/grounding", json!(0.5), "/grounding"),
                ("/grounding", json!(1.5), "/grounding"),
            ] {
                let mut value = scene(language);
                let (parent, key) = pointer.rsplit_once('/').unwrap();
                value.pointer_mut(parent).unwrap().as_object_mut().unwrap().insert(key.to_owned(), slip);
                let messages = messages(&value);
                assert!(messages.iter().any(|fault| fault.starts_with(&format!("{at} "))), "{pointer}: {messages:?}");
            }
            let mut value = scene(language);
            value["characters"] = json!([]);
            assert_eq!(messages(&value)[0], "/characters the cast is empty");
            let mut value = scene(language);
            value["characters"][1]["name"] = value["characters"][0]["name"].clone();
            assert!(messages(&value).iter().any(|fault| fault.ends_with(" twice")));
        }
    }

    #[test]
    fn names_in_the_other_language_are_accepted() {
        let mut value = scene(Language::En);
        value["situation"] = json!("On the road 宝玉 and 黛玉 meet, and neither of them says what they think of 薛家.");
        assert!(messages(&value).is_empty());
    }
}
