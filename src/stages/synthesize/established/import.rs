//! Detects the format of a character file and imports the formats of other programs.

use serde_json::Value;

use super::imported::{CharacterFormat, ImportError, ImportedCharacter, JsonFields};
use super::{coser, pingpong, tavern};

impl CharacterFormat {
    /// Detects the format of a value. Anything unknown is taken as [`CharacterFormat::Own`], whose schema then reports what is
    /// wrong.
    #[must_use]
    pub fn detect(value: &Value) -> Self {
        let has = |key: &str| value.get(key).is_some();
        let is_text = |key: &str| value.get(key).is_some_and(Value::is_string);
        if tavern::is_card(value) {
            Self::Tavern
        } else if has("char_name") {
            Self::PingPong
        } else if coser::TABLES.iter().chain(&[coser::LIST]).any(|key| has(key))
            || (is_text("name") && !has("language") && (is_text("profile") || is_text("description")))
        {
            Self::Coser
        } else {
            Self::Own
        }
    }
}

/// Imports the characters of a file of another format; empty for [`CharacterFormat::Own`].
///
/// `stem` is the file name without extension, used for characters without a name. From a CoSER book at most `max_characters`
/// characters are taken, those with the most lines.
pub fn import(
    format: CharacterFormat,
    value: &Value,
    stem: &str,
    max_characters: usize,
) -> Result<Vec<ImportedCharacter>, ImportError> {
    let fields = JsonFields { value, pointer: "" };
    match format {
        CharacterFormat::Own => Ok(Vec::new()),
        CharacterFormat::Tavern => tavern::read(value, stem).map(|imported| vec![imported]),
        CharacterFormat::PingPong => pingpong::read(&fields, stem).map(|imported| vec![imported]),
        CharacterFormat::Coser => coser::read(&fields, stem, max_characters),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn formats_are_recognized_by_their_keys() {
        for (value, format) in [
            (json!({"name": "A", "language": "en", "profile": []}), CharacterFormat::Own),
            (json!({"name": "A", "profil": []}), CharacterFormat::Own),
            (json!([1]), CharacterFormat::Own),
            (json!({"spec": "chara_card_v2", "data": {}}), CharacterFormat::Tavern),
            (json!({"name": "A", "description": "", "first_mes": ""}), CharacterFormat::Tavern),
            (json!({"name": "A", "description": "d", "personality": ""}), CharacterFormat::Tavern),
            (json!({"char_name": "A", "system_prompt": ""}), CharacterFormat::PingPong),
            (json!({"character_datasets": {}}), CharacterFormat::Coser),
            (json!({"name": "A", "profile": "text"}), CharacterFormat::Coser),
        ] {
            assert_eq!(CharacterFormat::detect(&value), format, "{value}");
        }
    }
}
