//! Detects the format of a character file and imports the formats of other programs.

use serde_json::{Map, Value};

use super::pool::spread;
use super::{coser, pingpong, tavern};
use crate::schema::{Attribute, CharacterFile, CharacterType, Language, Visibility};
use crate::text::{is_han, sentences};

/// The format of a character file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// This program's own format: a [`CharacterFile`].
    Own,
    /// A Tavern card, V1, V2 or V3.
    Tavern,
    /// A CoSER book, or one of its characters.
    Coser,
    /// A character of the `PingPong` benchmark.
    PingPong,
}

impl Form {
    /// Detects the format of a value. Anything unknown is taken as [`Form::Own`], whose schema then reports what is
    /// wrong.
    #[must_use]
    pub fn of(value: &Value) -> Self {
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

/// An imported character.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    /// The character, converted to this program's format.
    pub file: CharacterFile,
    /// The format of the file.
    pub form: Form,
    /// The original value, so that nothing is lost on export; null for [`Form::Own`].
    pub original: Value,
}

/// An error in a file of another format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// JSON Pointer of the faulty value.
    pub pointer: String,
    /// What is wrong.
    pub message: String,
    /// What was expected instead, as a noun phrase.
    pub expected: &'static str,
}

/// Imports the characters of a file of another format; empty for [`Form::Own`].
///
/// `stem` is the file name without extension, used for characters without a name. From a CoSER book at most `most`
/// characters are taken, those with the most lines.
pub fn given(form: Form, value: &Value, stem: &str, most: usize) -> Result<Vec<Given>, Misfit> {
    let fields = Fields { value, pointer: "" };
    match form {
        Form::Own => Ok(Vec::new()),
        Form::Tavern => tavern::read(value, stem).map(|given| vec![given]),
        Form::PingPong => pingpong::read(&fields, stem).map(|given| vec![given]),
        Form::Coser => coser::read(&fields, stem, most),
    }
}

/// An object of a foreign file, with its position for error messages.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a> {
    pub(super) value: &'a Value,
    pub(super) pointer: &'a str,
}

impl<'a> Fields<'a> {
    /// Returns the trimmed text of a key; empty if the key is missing.
    pub(super) fn text(&self, key: &str) -> Result<&'a str, Misfit> {
        match self.value.get(key) {
            None | Some(Value::Null) => Ok(""),
            Some(Value::String(text)) => Ok(text.trim()),
            Some(other) => Err(self.misfit(key, other, "a string")),
        }
    }

    /// Returns the list of texts of a key, without items that are not strings. A single string is a list of one.
    pub(super) fn texts(&self, key: &str) -> Result<Vec<&'a str>, Misfit> {
        match self.value.get(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::String(text)) => Ok(vec![text]),
            Some(Value::Array(items)) => Ok(items.iter().filter_map(Value::as_str).collect()),
            Some(other) => Err(self.misfit(key, other, "a list of strings")),
        }
    }

    /// Returns the object of a key; none if the key is missing.
    pub(super) fn table(&self, key: &str) -> Result<Option<&'a Map<String, Value>>, Misfit> {
        match self.value.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Object(table)) => Ok(Some(table)),
            Some(other) => Err(self.misfit(key, other, "an object")),
        }
    }

    pub(super) fn misfit(&self, key: &str, found: &Value, expected: &'static str) -> Misfit {
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
        Misfit { pointer, message, expected }
    }
}

/// The parts of a character during import.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) name: String,
    pub(super) aliases: Vec<String>,
    pub(super) book: Option<String>,
    pub(super) lines: Vec<String>,
    pub(super) profile: Vec<Attribute>,
}

impl Parts {
    /// Adds an attribute unless its value is empty. `key` is given in English and Chinese.
    pub(super) fn know(&mut self, key: [&str; 2], language: Language, value: String, visibility: Visibility) {
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

/// Maximum length of a line in characters.
const LONGEST_LINE: usize = 320;

/// Returns the language of several texts together: Chinese if more than 30 % of the letters are Han, as for books.
pub(super) fn language<'a>(texts: impl IntoIterator<Item = &'a str>) -> Language {
    let letters = texts.into_iter().flat_map(str::chars).filter(|c| c.is_alphabetic());
    let (han, all) = letters.fold((0_usize, 0), |(han, all), c| (han + usize::from(is_han(c)), all + 1));
    if han * 10 > all * 3 { Language::Zh } else { Language::En }
}

/// Returns the spoken lines of a chat message, one per paragraph.
///
/// If the message has quotations, only those are spoken. Otherwise text in `*…*`, `(…)`, `（…）` or `[…]` is an action or
/// thought, and the rest is spoken.
pub(super) fn spoken_lines(message: &str) -> Vec<String> {
    let quoted: Vec<String> = message.lines().map(|line| between_quotes(line).join(" ")).collect();
    let lines: Vec<String> = if quoted.iter().any(|line| !line.is_empty()) {
        quoted
    } else {
        message.lines().map(without_actions).collect()
    };
    lines.iter().map(|line| shortened(line)).filter(|line| line.chars().any(char::is_alphanumeric)).collect()
}

fn between_quotes(line: &str) -> Vec<String> {
    let mut quotations = Vec::new();
    let mut open: Option<(usize, char)> = None;
    for (at, c) in line.char_indices() {
        match open {
            Some((begin, closer)) if c == closer => {
                quotations.push(line[begin..at].trim().to_owned());
                open = None;
            }
            Some(_) => {}
            None => {
                let closer = match c {
                    '“' | '”' => '”',
                    '"' => '"',
                    '「' => '」',
                    '『' => '』',
                    _ => continue,
                };
                open = Some((at + c.len_utf8(), closer));
            }
        }
    }
    quotations.retain(|quotation| !quotation.is_empty());
    quotations
}

fn without_actions(line: &str) -> String {
    let mut kept = String::new();
    let mut closer: Option<char> = None;
    for c in line.chars() {
        match closer {
            Some(mark) if c == mark => closer = None,
            Some(_) => {}
            None => match c {
                '*' => closer = Some('*'),
                '(' => closer = Some(')'),
                '（' => closer = Some('）'),
                '[' => closer = Some(']'),
                _ => kept.push(c),
            },
        }
    }
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Truncates a line that is too long to whole sentences, at least one.
fn shortened(line: &str) -> String {
    let line = line.trim();
    if line.chars().count() <= LONGEST_LINE {
        return line.to_owned();
    }
    let mut end = 0;
    for sentence in sentences(line) {
        let until = sentence.as_ptr().addr() - line.as_ptr().addr() + sentence.len();
        if end > 0 && line[..until].chars().count() > LONGEST_LINE {
            break;
        }
        end = until;
    }
    line[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_spoken_is_told_from_what_is_done() {
        for (message, expected) in [
            ("*She waves.* Hello there. *She sits.*", vec!["Hello there."]),
            ("She waves. “Hello,” she says, “and welcome.”\nNobody answers.", vec!["Hello, and welcome."]),
            ("[I am afraid] (nods) Very well.", vec!["Very well."]),
            ("（点头）好。\n\n“不必。”他说。", vec!["不必。"]),
            ("「来了？」「坐。」", vec!["来了？ 坐。"]),
            ("*only this*", vec![]),
            ("a \"broken quotation", vec!["a \"broken quotation"]),
        ] {
            assert_eq!(spoken_lines(message), expected, "{message}");
        }
        let long = format!("Short one. And {} end.", "word ".repeat(100));
        assert_eq!(spoken_lines(&long), ["Short one."]);
    }

    #[test]
    fn forms_are_told_by_their_keys() {
        for (value, form) in [
            (json!({"name": "A", "language": "en", "profile": []}), Form::Own),
            (json!({"name": "A", "profil": []}), Form::Own),
            (json!([1]), Form::Own),
            (json!({"spec": "chara_card_v2", "data": {}}), Form::Tavern),
            (json!({"name": "A", "description": "", "first_mes": ""}), Form::Tavern),
            (json!({"name": "A", "description": "d", "personality": ""}), Form::Tavern),
            (json!({"char_name": "A", "system_prompt": ""}), Form::PingPong),
            (json!({"character_datasets": {}}), Form::Coser),
            (json!({"name": "A", "profile": "text"}), Form::Coser),
        ] {
            assert_eq!(Form::of(&value), form, "{value}");
        }
    }
}
