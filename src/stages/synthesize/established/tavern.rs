//! Imports Tavern cards, V1 to V3. Fields that the card specification excludes from prompts (`creator_notes`, `tags`,
//! `creator`, `character_version`) do not become part of the profile.

use serde_json::Value;

use super::card;
use super::imported::{CharacterFormat, CharacterParts, ImportError, ImportedCharacter, JsonFields, language};
use super::macros::resolved;
use super::spoken_lines::spoken_lines;
use crate::schema::{CharacterFile, Language, Visibility};

/// Maximum number of characters of a card's lore book that are added to the profile.
const MAX_LORE: usize = 6_000;

/// The texts from which the language is detected.
const TEXTS: [&str; 6] = ["description", "personality", "scenario", "first_mes", "mes_example", "system_prompt"];

/// Returns whether a value is a card.
pub(super) fn is_card(value: &Value) -> bool {
    let is_spec = |spec: &str| spec.starts_with("chara_card");
    let is_texts = |value: &Value| {
        let has = |key: &str| value.get(key).is_some();
        has("first_mes") || has("mes_example") || (has("description") && (has("personality") || has("scenario")))
    };
    value.get("spec").and_then(Value::as_str).is_some_and(is_spec)
        || is_texts(value)
        || value.get("data").is_some_and(is_texts)
}

/// Reads a card.
pub(super) fn read(value: &Value, stem: &str) -> Result<ImportedCharacter, ImportError> {
    let outer = JsonFields { value, pointer: "" };
    let wrapped = outer.table("data")?.is_some();
    let fields = if wrapped { JsonFields { value: &value["data"], pointer: "/data" } } else { outer };
    let own_name = if fields.text("name")?.is_empty() { outer.text("name")? } else { fields.text("name")? };
    let nickname = fields.text("nickname")?;
    let name = [own_name, nickname, stem].into_iter().find(|name| !name.is_empty()).unwrap_or_default();
    let file = match own_character(&fields) {
        Some(file) => file,
        None => character(&fields, name, if nickname.is_empty() { name } else { nickname })?,
    };
    Ok(ImportedCharacter { file, format: CharacterFormat::Tavern, original: value.clone() })
}

/// Returns the character that this program stored in a card, unless the card's texts were edited since.
fn own_character(fields: &JsonFields<'_>) -> Option<CharacterFile> {
    let own = fields.value.get("extensions")?.get(card::EXTENSION)?.get("character")?;
    let file: CharacterFile = serde_json::from_value(own.clone()).ok()?;
    let texts = card::texts(&file);
    texts.iter().all(|(key, text)| fields.value.get(*key).and_then(Value::as_str) == Some(text)).then_some(file)
}

/// Converts a card to a character. `called` is the value of `{{char}}`.
fn character(fields: &JsonFields<'_>, name: &str, called: &str) -> Result<CharacterFile, ImportError> {
    let mut texts = Vec::new();
    for key in TEXTS {
        texts.push(fields.text(key)?);
    }
    let greetings = fields.texts("alternate_greetings")?;
    let language = language(texts.iter().chain(&greetings).copied());
    let text = |key: &str| fields.text(key).map(|text| resolved(text, called, language).trim().to_owned());

    let mut parts = CharacterParts { name: name.to_owned(), ..CharacterParts::default() };
    if called != name {
        parts.aliases.push(called.to_owned());
    }
    parts.add_attribute(["description", "人物描述"], language, text("description")?, Visibility::Public);
    parts.add_attribute(["persona", "性格"], language, text("personality")?, Visibility::Public);
    parts.add_attribute(["circumstances", "处境"], language, text("scenario")?, Visibility::Private);
    parts.add_attribute(["instructions", "扮演要求"], language, text("system_prompt")?, Visibility::Private);
    lore(fields, called, language, &mut parts)?;
    for line in turns(fields.text("mes_example")?, name, called) {
        parts.lines.extend(spoken_lines(&resolved(&line, called, language)));
    }
    for greeting in std::iter::once(fields.text("first_mes")?).chain(greetings) {
        parts.lines.extend(spoken_lines(&resolved(greeting, called, language)));
    }
    if parts.profile.is_empty() && parts.lines.is_empty() {
        let pointer = fields.pointer.to_owned();
        let message = format!("the card has no description of `{name}`");
        return Err(ImportError { pointer, message, expected: "a `description`, `personality` or `mes_example`" });
    }
    if parts.profile.is_empty() {
        // A profile needs at least one attribute, even if there are only lines.
        parts.add_attribute(["name", "姓名"], language, name.to_owned(), Visibility::Public);
    }
    Ok(parts.file(language))
}

/// Adds the entries of the card's lore book up to [`MAX_LORE`] characters: constant entries first, then by
/// `insertion_order`. Entries that do not fit are skipped.
fn lore(
    fields: &JsonFields<'_>,
    called: &str,
    language: Language,
    parts: &mut CharacterParts,
) -> Result<(), ImportError> {
    let Some(book) = fields.table("character_book")? else { return Ok(()) };
    // World files have an object of entries instead of a list.
    let entries: Vec<&Value> = match book.get("entries") {
        Some(Value::Array(entries)) => entries.iter().collect(),
        Some(Value::Object(entries)) => entries.values().collect(),
        _ => Vec::new(),
    };
    let is = |entry: &Value, key: &str| entry.get(key).and_then(Value::as_bool);
    let order = |entry: &Value| entry.get("insertion_order").and_then(Value::as_i64).unwrap_or(i64::MAX);
    let mut entries: Vec<&Value> = entries.into_iter().filter(|entry| is(entry, "enabled") != Some(false)).collect();
    entries.sort_by_key(|entry| (is(entry, "constant") != Some(true), order(entry)));
    let mut room = MAX_LORE;
    for entry in entries {
        let content = entry.get("content").and_then(Value::as_str).unwrap_or_default();
        let content = resolved(content, called, language).trim().to_owned();
        let length = content.chars().count();
        if length > room {
            continue;
        }
        room -= length;
        let keys = entry.get("keys").and_then(Value::as_array).into_iter().flatten();
        let titles = ["name", "comment"].into_iter().filter_map(|key| entry.get(key)).chain(keys);
        let title = titles.filter_map(Value::as_str).map(str::trim).find(|title| !title.is_empty());
        let key = title.map_or(["lore", "设定"], |title| [title, title]);
        parts.add_attribute(key, language, content, Visibility::Private);
    }
    Ok(())
}

/// Returns the turns of the character in the example dialogues of a card.
fn turns(examples: &str, name: &str, called: &str) -> Vec<String> {
    let own = ["{{char}}", "<bot>", "<char>", name, called];
    let mut turns: Vec<String> = Vec::new();
    let mut is_own = false;
    for line in examples.lines().map(str::trim) {
        if line.eq_ignore_ascii_case("<start>") {
            is_own = false;
            continue;
        }
        let (speaker, rest) = line.split_once([':', '：']).unwrap_or(("", line));
        let speaker = speaker.trim();
        if own.iter().any(|own| !own.is_empty() && own.eq_ignore_ascii_case(speaker)) {
            is_own = true;
            turns.push(rest.trim().to_owned());
        } else if ["{{user}}", "<user>"].iter().any(|user| user.eq_ignore_ascii_case(speaker)) {
            is_own = false;
        } else if is_own && let Some(turn) = turns.last_mut() {
            turn.push('\n');
            turn.push_str(line);
        }
    }
    turns
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::Attribute;

    fn known(file: &CharacterFile) -> Vec<(&str, &str, bool)> {
        let is_public = |attribute: &'_ Attribute| attribute.visibility == Visibility::Public;
        file.profile.iter().map(|one| (one.key.as_str(), one.value.as_str(), is_public(one))).collect()
    }

    #[test]
    fn a_card_becomes_a_character() {
        let card = json!({
            "spec": "chara_card_v2", "spec_version": "2.0",
            "data": {
                "name": "Mara Quill", "nickname": "Quill",
                "description": "{{char}} keeps the lamp. <USER> has met her once.",
                "personality": "Dry and exact.", "scenario": "The lamp has gone out.",
                "first_mes": "*She looks up.* You are late, {{user}}.",
                "mes_example": "<START>\n{{user}}: Hello?\n{{char}}: *turns* Mind the step.\nIt bites.\n{{user}}: Oh.\nNot hers.\n<START>\n{{char}}: No.",
                "creator_notes": "never shown", "tags": ["never shown"], "system_prompt": "Play {{char}}. {{original}}",
                "post_history_instructions": "", "alternate_greetings": ["\"Again?\" she says."],
                "character_book": {"entries": [
                    {"keys": ["oil"], "content": "It runs out in May.", "enabled": true, "insertion_order": 2},
                    {"keys": ["cat"], "name": "The cat", "content": "{{char}}’s cat is Ash.", "enabled": true, "insertion_order": 9, "constant": true},
                    {"keys": ["x"], "content": "switched off", "enabled": false, "insertion_order": 0},
                    {"keys": ["y"], "content": "long ".repeat(2_000), "enabled": true, "insertion_order": 1},
                ]},
                "creator": "", "character_version": "", "extensions": {"other": [1]},
            },
        });
        let imported = read(&card, "file").unwrap();
        let file = &imported.file;
        assert_eq!((file.name.as_str(), file.language, file.book.as_deref()), ("Mara Quill", Language::En, None));
        assert_eq!(file.aliases, ["Quill"]);
        assert_eq!(
            known(file),
            [
                ("description", "Quill keeps the lamp. The visitor has met her once.", true),
                ("persona", "Dry and exact.", true),
                ("circumstances", "The lamp has gone out.", false),
                ("instructions", "Play Quill.", false),
                ("The cat", "Quill’s cat is Ash.", false),
                ("oil", "It runs out in May.", false),
            ]
        );
        assert_eq!(file.lines, ["Mind the step.", "It bites.", "No.", "You are late, the visitor.", "Again?"]);
        assert_eq!(imported.original, card);
    }

    #[test]
    fn older_and_incomplete_cards_are_read_as_far_as_possible() {
        let flat = json!({"name": "", "description": "{{char}}守着灯塔，话很少。", "personality": "", "scenario": "",
            "first_mes": "（抬头）来了？坐吧。", "mes_example": "{{char}}：“油不多了。”\n{{user}}：“那怎么办？”"});
        let file = read(&flat, "阿满").unwrap().file;
        assert_eq!((file.name.as_str(), file.language), ("阿满", Language::Zh));
        assert_eq!(known(&file), [("人物描述", "阿满守着灯塔，话很少。", true)]);
        assert_eq!(file.lines, ["油不多了。", "来了？坐吧。"]);
        let unwrapped = json!({"spec": "chara_card_v3", "name": null, "nickname": "Wick", "description": "A lamp."});
        let file = read(&unwrapped, "stem").unwrap().file;
        assert_eq!((file.name.as_str(), file.aliases.len()), ("Wick", 0));
        let outer = json!({"name": "Outer", "data": {"name": " ", "description": "d", "first_mes": "Hi."}});
        assert_eq!(read(&outer, "stem").unwrap().file.name, "Outer");
        let only_lines = json!({"name": "A", "first_mes": "Hello there."});
        assert_eq!(known(&read(&only_lines, "").unwrap().file), [("name", "A", true)]);
    }

    #[test]
    fn an_unreadable_card_names_the_key() {
        for (card, pointer, expected) in [
            (json!({"spec": "chara_card_v2", "data": []}), "/data", "`data` is a list"),
            (json!({"spec": "chara_card_v2", "data": {"description": 3}}), "/data/description", "is a number"),
            (json!({"name": "A", "first_mes": {}}), "/first_mes", "`first_mes` is an object"),
            (json!({"first_mes": "", "alternate_greetings": 1}), "/alternate_greetings", "is a number"),
            (json!({"data": {"first_mes": "", "character_book": "x"}}), "/data/character_book", "is a string"),
            (json!({"spec": "chara_card_v3", "data": {"name": "A"}}), "/data", "no description of `A`"),
        ] {
            let type_error = read(&card, "stem").unwrap_err();
            assert_eq!(type_error.pointer, pointer);
            assert!(type_error.message.contains(expected), "{}", type_error.message);
        }
    }
}
