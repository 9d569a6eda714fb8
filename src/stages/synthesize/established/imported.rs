//! Imported characters, the formats of their files, and access to the JSON of foreign formats.

use serde_json::{Map, Value};

use super::pool::spread;
use crate::schema::{Attribute, CharacterFile, CharacterType, Language, Visibility};
use crate::text::is_han;

/// The format of a character file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CharacterFormat {
    /// This program's own format: a [`CharacterFile`].
    Own,
    /// A Tavern card, V1, V2 or V3.
    Tavern,
    /// A CoSER book, or one of its characters.
    Coser,
    /// A character of the `PingPong` benchmark.
    PingPong,
}

/// An imported character.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedCharacter {
    /// The character, converted to this program's format.
    pub file: CharacterFile,
    /// The format of the file.
    pub format: CharacterFormat,
    /// The original value, so that nothing is lost on export; null for [`CharacterFormat::Own`].
    pub original: Value,
}

/// An error in a file of another format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportError {
    /// JSON Pointer of the faulty value.
    pub pointer: String,
    /// What is wrong.
    pub message: String,
    /// What was expected instead, as a noun phrase.
    pub expected: &'static str,
}

/// An object of a foreign file, with its position for error messages.
#[derive(Debug, Clone, Copy)]
pub(super) struct JsonFields<'a> {
    pub(super) value: &'a Value,
    pub(super) pointer: &'a str,
}

impl<'a> JsonFields<'a> {
    /// Returns the trimmed text of a key; empty if the key is missing.
    pub(super) fn text(&self, key: &str) -> Result<&'a str, ImportError> {
        match self.value.get(key) {
            None | Some(Value::Null) => Ok(""),
            Some(Value::String(text)) => Ok(text.trim()),
            Some(other) => Err(self.type_error(key, other, "a string")),
        }
    }

    /// Returns the list of texts of a key, without items that are not strings. A single string is a list of one.
    pub(super) fn texts(&self, key: &str) -> Result<Vec<&'a str>, ImportError> {
        match self.value.get(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::String(text)) => Ok(vec![text]),
            Some(Value::Array(items)) => Ok(items.iter().filter_map(Value::as_str).collect()),
            Some(other) => Err(self.type_error(key, other, "a list of strings")),
        }
    }

    /// Returns the object of a key; none if the key is missing.
    pub(super) fn table(&self, key: &str) -> Result<Option<&'a Map<String, Value>>, ImportError> {
        match self.value.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Object(table)) => Ok(Some(table)),
            Some(other) => Err(self.type_error(key, other, "an object")),
        }
    }

    pub(super) fn type_error(&self, key: &str, found: &Value, expected: &'static str) -> ImportError {
        let kind = match found {
            Value::Null => "empty",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        };
        let pointer = format!("{}/{}", self.pointer, key.replace('~', "~0").replace('/', "~1"));
        let message = format!("`{}` is {kind}", pointer[1..].replace('/', "."));
        ImportError { pointer, message, expected }
    }
}

/// The parts of a character during import.
#[derive(Debug, Default)]
pub(super) struct CharacterParts {
    pub(super) name: String,
    pub(super) aliases: Vec<String>,
    pub(super) book: Option<String>,
    pub(super) lines: Vec<String>,
    pub(super) profile: Vec<Attribute>,
}

impl CharacterParts {
    /// Adds an attribute unless its value is empty. `key` is given in English and Chinese.
    pub(super) fn add_attribute(&mut self, key: [&str; 2], language: Language, value: String, visibility: Visibility) {
        if !value.trim().is_empty() {
            let key = key[usize::from(language == Language::Zh)].to_owned();
            self.profile.push(Attribute { key, value, visibility });
        }
    }

    pub(super) fn file(self, language: Language) -> CharacterFile {
        let Self { name, aliases, book, mut lines, profile } = self;
        lines.retain(|line| line.chars().any(char::is_alphanumeric));
        let lines = spread(lines);
        let kind = CharacterType::Established;
        CharacterFile { name, aliases, language, kind, book, worldview: None, lines, profile }
    }
}

/// Returns the language of several texts together: Chinese if more than 30 % of the letters are Han, as for books.
pub(super) fn language<'a>(texts: impl IntoIterator<Item = &'a str>) -> Language {
    let letters = texts.into_iter().flat_map(str::chars).filter(|c| c.is_alphabetic());
    let (han, all) = letters.fold((0_usize, 0), |(han, all), c| (han + usize::from(is_han(c)), all + 1));
    if han * 10 > all * 3 { Language::Zh } else { Language::En }
}
