//! Exports characters as Tavern cards, V3.
//!
//! A character that was imported from a card is exported as the same card. Any other one is stored in the card's
//! `extensions`, so that importing the card restores it unchanged.

use serde_json::{Map, Value, json};

use super::imported::{CharacterFormat, ImportedCharacter};
use crate::schema::{Attribute, Character, CharacterFile, Language};

/// This program's key in the `extensions` of a card.
pub(super) const EXTENSION: &str = "dramaturg";

/// The required text fields of a V3 card, in the order in which they are added.
const TEXTS: [&str; 11] = [
    "name",
    "description",
    "personality",
    "scenario",
    "first_mes",
    "mes_example",
    "creator_notes",
    "system_prompt",
    "post_history_instructions",
    "creator",
    "character_version",
];

/// The required list fields of a V3 card.
const LISTS: [&str; 3] = ["alternate_greetings", "group_only_greetings", "tags"];

/// Returns the required keys of a V3 card with their empty values.
fn required() -> impl Iterator<Item = (&'static str, Value)> {
    let texts = TEXTS.into_iter().map(|key| (key, json!("")));
    texts.chain(LISTS.into_iter().map(|key| (key, json!([])))).chain([("extensions", json!({}))])
}

/// Returns a character as a V3 card.
#[must_use]
pub fn card(character: &Character) -> Value {
    new_card(&file(character), None)
}

/// Returns an imported character as a V3 card.
///
/// A Tavern card keeps all its keys and values; V1 keys and those of a card without a wrapper move into `data`. The
/// original of another format is stored unchanged in the card's `extensions`.
#[must_use]
pub fn imported_card(imported: &ImportedCharacter) -> Value {
    match imported.format {
        CharacterFormat::Tavern => to_v3(&imported.original),
        CharacterFormat::Own => new_card(&imported.file, None),
        CharacterFormat::Coser => new_card(&imported.file, Some(("coser", &imported.original))),
        CharacterFormat::PingPong => new_card(&imported.file, Some(("ping_pong", &imported.original))),
    }
}

/// Converts a Tavern card of any version to V3.
fn to_v3(original: &Value) -> Value {
    let mut outer = original.as_object().cloned().unwrap_or_default();
    let mut data = if let Some(Value::Object(data)) = outer.get("data") {
        data.clone()
    } else {
        let (inner, rest): (Map<_, _>, Map<_, _>) = std::mem::take(&mut outer)
            .into_iter()
            .partition(|(key, _)| !matches!(key.as_str(), "spec" | "spec_version" | "data"));
        outer = rest;
        inner
    };
    for (key, value) in required() {
        data.entry(key).or_insert(value);
    }
    let is_newer = outer.get("spec").and_then(Value::as_str) == Some("chara_card_v3")
        && outer.get("spec_version").is_some_and(Value::is_string);
    if !is_newer {
        outer.insert("spec_version".to_owned(), json!("3.0"));
    }
    outer.insert("spec".to_owned(), json!("chara_card_v3"));
    outer.insert("data".to_owned(), Value::Object(data));
    Value::Object(outer)
}

/// Creates a card for a character that was not imported from one.
fn new_card(file: &CharacterFile, original: Option<(&str, &Value)>) -> Value {
    let mut own = Map::new();
    own.insert("character".to_owned(), serde_json::to_value(file).expect("a character file serializes to JSON"));
    if let Some((format, value)) = original {
        own.insert(format.to_owned(), value.clone());
    }
    let mut data = Map::new();
    for (key, value) in texts(file) {
        data.insert(key.to_owned(), Value::String(value));
    }
    data.insert("first_mes".to_owned(), json!(file.lines.first().map_or("", String::as_str)));
    data.insert("tags".to_owned(), json!([file.kind.name()]));
    data.insert("creator".to_owned(), json!("dramaturg"));
    data.insert("extensions".to_owned(), json!({ EXTENSION: own }));
    to_v3(&json!({"spec": "chara_card_v3", "spec_version": "3.0", "data": data}))
}

/// Returns the text fields of a card that contain the character, with their keys. The texts are trimmed.
pub(super) fn texts(file: &CharacterFile) -> [(&'static str, String); 4] {
    let colon = if file.language == Language::Zh { "：" } else { ": " };
    let line = |attribute: &Attribute| format!("{}{colon}{}", attribute.key.trim(), attribute.value.trim());
    // The worldview is in the scenario.
    let is_world = |attribute: &&Attribute| file.worldview.as_deref().map(str::trim) == Some(attribute.value.trim());
    let description: Vec<String> = file.profile.iter().filter(|one| !is_world(one)).map(line).collect();
    let examples: Vec<String> = file.lines.iter().map(|line| format!("<START>\n{{{{char}}}}: {line}")).collect();
    [
        ("name", file.name.trim().to_owned()),
        ("description", description.join("\n")),
        ("scenario", file.worldview.clone().unwrap_or_default().trim().to_owned()),
        ("mes_example", examples.join("\n")),
    ]
}

fn file(character: &Character) -> CharacterFile {
    let Character { name, aliases, language, kind, book, worldview, profile, lines, .. } = character.clone();
    CharacterFile { name, aliases, language, kind, book, worldview, lines, profile }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{CharacterType, Visibility};
    use crate::stages::synthesize::established::import::import;

    fn own() -> CharacterFile {
        let attribute =
            |key: &str, visibility| Attribute { key: key.to_owned(), value: format!("{key} value."), visibility };
        CharacterFile {
            name: "Mara Quill".to_owned(),
            aliases: vec!["Quill".to_owned()],
            language: Language::En,
            kind: CharacterType::Established,
            book: Some("the-lamp".to_owned()),
            worldview: None,
            lines: vec!["Mind the step.".to_owned(), "It bites.".to_owned()],
            profile: vec![attribute("persona", Visibility::Public), attribute("secret", Visibility::Private)],
        }
    }

    fn read(value: &Value) -> ImportedCharacter {
        import(CharacterFormat::detect(value), value, "stem", 9).expect("the value is a valid card").remove(0)
    }

    #[test]
    fn an_exported_character_is_restored_on_import() {
        let card = card(&Character::from(own()));
        assert_eq!(card["spec"], "chara_card_v3");
        for (key, _) in required() {
            assert!(card["data"].get(key).is_some(), "{key}");
        }
        assert_eq!(card["data"]["description"], "persona: persona value.\nsecret: secret value.");
        assert_eq!(read(&card).file, own());
        // Edits by another program take precedence.
        let mut edited = card.clone();
        edited["data"]["description"] = json!("Somebody else.");
        assert_eq!(read(&edited).file.profile[0].value, "Somebody else.");
        // The edits are kept on export.
        assert_eq!(imported_card(&read(&edited)), edited);
    }

    #[test]
    fn every_key_of_a_card_round_trips() {
        let data = json!({"name": "", "nickname": null, "description": "d {{user}}", "first_mes": "f", "extensions":
            {"a": {"b": [1, 2.5, null]}}, "assets": [{"type": "icon"}], "character_book": {"entries": [{"keys": [],
            "content": "", "extensions": {"x": 1}, "vendor": true}], "extensions": {}}, "vendor": {"y": "z"}});
        let v1 = data.clone();
        let v2 = json!({"spec": "chara_card_v2", "spec_version": "2.0", "data": data, "vendor_outer": 1, "name": "flat too"});
        let v3 = json!({"spec": "chara_card_v3", "spec_version": "3.1", "data": data});
        let bare =
            json!({"spec": "chara_card_v3", "spec_version": "3.0", "name": "A", "description": "d", "vendor": 1});
        for original in [v1, v2, v3, bare] {
            let out = imported_card(&read(&original));
            let inner = original.get("data").unwrap_or(&original);
            for (key, value) in inner.as_object().unwrap().iter().filter(|(key, _)| !key.starts_with("spec")) {
                assert_eq!(&out["data"][key], value, "{key}");
            }
            for (key, value) in original.as_object().unwrap().iter().filter(|_| original.get("data").is_some()) {
                assert!(&out[key] == value || matches!(key.as_str(), "spec" | "spec_version" | "data"), "{key}");
            }
            // Only required keys are added.
            for (key, value) in out["data"].as_object().unwrap() {
                let is_required = required().any(|(name, empty)| name == key && *value == empty);
                assert!(inner.get(key) == Some(value) || is_required, "{key}");
            }
            assert_eq!(imported_card(&read(&out)), out);
            let version = original.get("spec_version").filter(|_| original["spec"] == "chara_card_v3").cloned();
            assert_eq!(out["spec_version"], version.unwrap_or_else(|| json!("3.0")));
        }
    }

    #[test]
    fn other_formats_are_stored_completely_in_the_extensions() {
        let value = json!({"char_name": "Mara", "system_prompt": "Keeps a lamp.", "odd": [1]});
        let out = imported_card(&read(&value));
        assert_eq!(out["data"]["extensions"]["dramaturg"]["ping_pong"], value);
        assert_eq!(read(&out).file, read(&value).file);
        let value = json!({"name": "Cy", "profile": "Cy rows.", "odd": {"x": 1}});
        assert_eq!(imported_card(&read(&value))["data"]["extensions"]["dramaturg"]["coser"], value);
    }
}
