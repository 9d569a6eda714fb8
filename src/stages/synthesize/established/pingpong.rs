//! Imports characters of the `PingPong` benchmark, with the keys `char_name`, `system_prompt`, `example_prompt`,
//! `initial_message` and `tags`.

use super::imported::{CharacterFormat, CharacterParts, ImportError, ImportedCharacter, JsonFields, language};
use super::macros::resolved;
use super::spoken_lines::spoken_lines;
use crate::schema::{Language, Visibility};

/// Reads a character.
pub(super) fn read(fields: &JsonFields<'_>, stem: &str) -> Result<ImportedCharacter, ImportError> {
    let name = fields.text("char_name")?;
    let name = if name.is_empty() { stem } else { name };
    let (prompt, examples) = (fields.text("system_prompt")?, fields.text("example_prompt")?);
    let greeting = fields.text("initial_message")?;
    let language = match fields.text("language")? {
        "en" => Language::En,
        "zh" => Language::Zh,
        _ => language([prompt, examples, greeting]),
    };
    let resolve = |text: &str| resolved(text, name, language).trim().to_owned();
    let mut parts = CharacterParts { name: name.to_owned(), ..CharacterParts::default() };
    // The system prompt may contain secrets, so the whole attribute is private.
    parts.add_attribute(["description", "人物描述"], language, resolve(prompt), Visibility::Private);
    for text in [examples, greeting] {
        parts.lines.extend(spoken_lines(&own_turns(&resolve(text), name)));
    }
    if parts.profile.is_empty() {
        let message = format!("there is no description of `{name}`");
        return Err(ImportError {
            pointer: "/system_prompt".to_owned(),
            message,
            expected: "a `system_prompt` that describes the character",
        });
    }
    Ok(ImportedCharacter {
        file: parts.file(language),
        format: CharacterFormat::PingPong,
        original: fields.value.clone(),
    })
}

/// Removes the turns of others from a text in which turns begin with a name.
fn own_turns(text: &str, name: &str) -> String {
    let mut own = String::new();
    let mut is_own = true;
    for line in text.lines().map(str::trim) {
        let (speaker, rest) = line.split_once([':', '：']).unwrap_or(("", line));
        let rest = match speaker.trim().to_lowercase().as_str() {
            "user" | "the visitor" | "对方" | "用户" => {
                is_own = false;
                continue;
            }
            speaker if speaker == name.to_lowercase() || matches!(speaker, "char" | "assistant" | "bot") => {
                is_own = true;
                rest
            }
            _ => line,
        };
        if is_own {
            own.push_str(rest.trim());
            own.push('\n');
        }
    }
    own
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read_value(value: &Value) -> Result<ImportedCharacter, ImportError> {
        read(&JsonFields { value, pointer: "" }, "stem")
    }

    #[test]
    fn a_character_of_either_language_is_read() {
        let value = json!({"char_name": "Mara", "system_prompt": "{{char}} keeps a lighthouse.", "tags": ["calm"],
            "example_prompt": "User: Hello?\nMara: *nods* Mind the step.\nUser: Why?\nMara: It bites.",
            "initial_message": "You again?", "more": {"kept": true}});
        let imported = read_value(&value).unwrap();
        assert_eq!((imported.file.name.as_str(), imported.file.language), ("Mara", Language::En));
        assert_eq!(imported.file.profile[0].value, "Mara keeps a lighthouse.");
        assert_eq!(crate::schema::public(&imported.file.profile), [], "a system prompt may contain secrets");
        assert_eq!(imported.file.lines, ["Mind the step.", "It bites.", "You again?"]);
        assert_eq!(imported.original, value);
        let value = json!({"char_name": "", "system_prompt": "守灯塔的人。", "initial_message": "来了？"});
        let imported = read_value(&value).unwrap();
        assert_eq!((imported.file.name.as_str(), imported.file.language), ("stem", Language::Zh));
        assert_eq!((imported.file.profile.len(), crate::schema::public(&imported.file.profile).len()), (1, 0));
    }

    #[test]
    fn a_character_without_a_description_is_an_error() {
        assert_eq!(read_value(&json!({"char_name": "A"})).unwrap_err().pointer, "/system_prompt");
        assert_eq!(read_value(&json!({"char_name": 1})).unwrap_err().message, "`char_name` is a number");
    }
}
