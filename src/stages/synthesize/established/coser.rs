//! Imports characters in CoSER format: `character_datasets` by name, lists such as `key_characters`, or a single one.

use std::cmp::Reverse;

use serde_json::{Map, Value};

use super::imported::{CharacterFormat, CharacterParts, ImportError, ImportedCharacter, JsonFields, language};
use super::spoken_lines::spoken_lines;
use crate::schema::{Visibility, slug};

/// The tables of a book that map names to characters.
pub(super) const TABLES: [&str; 2] = ["character_datasets", "character_profiles"];

/// The list of characters of a book.
pub(super) const LIST: &str = "key_characters";

/// Reads at most `most` characters, those with the most lines first, ties in file order.
pub(super) fn read(fields: &JsonFields<'_>, stem: &str, most: usize) -> Result<Vec<ImportedCharacter>, ImportError> {
    let mut people: Vec<(String, String, Value)> = Vec::new();
    for key in TABLES {
        for (name, entry) in fields.table(key)?.into_iter().flatten() {
            let pointer = format!("/{key}/{}", name.replace('~', "~0").replace('/', "~1"));
            people.push((name.clone(), pointer, entry.clone()));
        }
    }
    match fields.value.get(LIST) {
        None | Some(Value::Null) => {}
        Some(Value::Array(items)) => {
            for (index, entry) in items.iter().enumerate() {
                let name = entry.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
                people.push((name, format!("/{LIST}/{index}"), entry.clone()));
            }
        }
        Some(other) => return Err(fields.type_error(LIST, other, "a list of characters")),
    }
    let is_book = !people.is_empty() || TABLES.iter().chain(&[LIST]).any(|key| fields.value.get(*key).is_some());
    if !is_book {
        let name = fields.text("name")?;
        let name = if name.is_empty() { stem } else { name };
        return one(name, "", fields.value, None).map(|imported| imported.into_iter().collect());
    }
    let book = fields.text("book")?;
    let book = if book.is_empty() { stem } else { book };
    let mut characters: Vec<ImportedCharacter> = Vec::new();
    for (name, pointer, entry) in people {
        // The same character may be in several tables.
        if characters.iter().any(|other| slug(&other.file.name) == slug(&name)) || name.trim().is_empty() {
            continue;
        }
        characters.extend(one(&name, &pointer, &entry, Some(book))?);
    }
    if characters.is_empty() {
        let message = "the book has no character with a profile".to_owned();
        let expected = "`character_datasets` with a `profile` for each name";
        return Err(ImportError { pointer: String::new(), message, expected });
    }
    characters.sort_by_key(|imported| Reverse(utterance_count(&imported.original)));
    characters.truncate(most);
    Ok(characters)
}

/// Returns the number of utterances of a character in its book.
fn utterance_count(entry: &Value) -> usize {
    entry.get("utterances").and_then(Value::as_array).map_or(0, Vec::len)
}

/// Reads one character. None if it has no profile.
fn one(name: &str, pointer: &str, entry: &Value, book: Option<&str>) -> Result<Option<ImportedCharacter>, ImportError> {
    let mut object = Map::new();
    // `character_profiles` contains plain texts.
    let wrapped = if let Value::String(profile) = entry {
        object.insert("profile".to_owned(), Value::String(profile.clone()));
        Value::Object(object)
    } else {
        entry.clone()
    };
    let fields = JsonFields { value: &wrapped, pointer };
    let (profile, description) = (fields.text("profile")?, fields.text("description")?);
    let (experience, motivation) = (fields.text("experience")?, fields.text("motivation")?);
    let language = language([profile, description, experience]);
    let book = book.map(str::to_owned).or_else(|| fields.text("book").ok().map(str::to_owned));
    let mut parts = CharacterParts {
        name: name.trim().to_owned(),
        book: book.filter(|book| !book.is_empty()),
        ..CharacterParts::default()
    };
    parts.add_attribute(["profile", "人物介绍"], language, profile.to_owned(), Visibility::Public);
    parts.add_attribute(["description", "人物描述"], language, description.to_owned(), Visibility::Public);
    parts.add_attribute(["experience", "经历"], language, experience.to_owned(), Visibility::Private);
    parts.add_attribute(["motivation", "动机"], language, motivation.to_owned(), Visibility::Private);
    let utterances = wrapped.get("utterances").and_then(Value::as_array).into_iter().flatten();
    for utterance in utterances {
        let message = utterance.as_str().or_else(|| utterance.get("message")?.as_str()).unwrap_or_default();
        parts.lines.extend(spoken_lines(message));
    }
    if parts.profile.is_empty() {
        return Ok(None);
    }
    Ok(Some(ImportedCharacter { file: parts.file(language), format: CharacterFormat::Coser, original: entry.clone() }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::Language;

    fn names(value: &Value, most: usize) -> Vec<String> {
        let imported = read(&JsonFields { value, pointer: "" }, "stem", most).unwrap();
        imported.into_iter().map(|imported| imported.file.name).collect()
    }

    #[test]
    fn the_main_characters_of_a_coser_book_are_imported() {
        let utterance_count =
            |lines: &[&str]| -> Vec<Value> { lines.iter().map(|line| json!({"message": line, "i_p": 1})).collect() };
        let book = json!({"book": "The Lamp", "plots": [], "character_datasets": {
            "Ada": {"profile": "Ada mends nets.", "utterances": utterance_count(&["Yes."]), "plots": []},
            "Bo": {"profile": "", "utterances": utterance_count(&["a", "b", "c", "d"])},
            "Cy": {"profile": "Cy rows.", "utterances": utterance_count(&["[tired] (sits) The tide is out.", "Go on."])},
            "Di": {"profile": "Di waits."},
        }, "key_characters": [{"name": "ada", "description": "again"}, {"name": "Ed", "description": "Ed is new.", "motivation": "To leave."}]});
        assert_eq!(names(&book, 2), ["Cy", "Ada"]);
        assert_eq!(names(&book, 9), ["Cy", "Ada", "Di", "Ed"]);
        let cy = &read(&JsonFields { value: &book, pointer: "" }, "stem", 1).unwrap()[0];
        assert_eq!(cy.file.lines, ["The tide is out.", "Go on."]);
        assert_eq!((cy.file.book.as_deref(), cy.file.language), (Some("The Lamp"), Language::En));
        assert_eq!(cy.original, book["character_datasets"]["Cy"]);
        let alone = json!({"name": "阿满", "profile": "阿满守着灯塔。", "other": 1});
        assert_eq!(names(&alone, 1), ["阿满"]);
        assert_eq!(names(&json!({"character_profiles": {"Fi": "Fi sings."}}), 1), ["Fi"]);
    }

    #[test]
    fn a_coser_book_without_profiles_is_an_error() {
        for (value, pointer) in [
            (json!({"character_datasets": []}), "/character_datasets"),
            (json!({"character_datasets": {}}), ""),
            (json!({"character_datasets": {"A/B": {"profile": 1}}}), "/character_datasets/A~1B/profile"),
            (json!({"key_characters": "x"}), "/key_characters"),
        ] {
            let type_error = read(&JsonFields { value: &value, pointer: "" }, "stem", 1).unwrap_err();
            assert_eq!(type_error.pointer, pointer, "{value}");
        }
    }
}
