//! A character as a file gives it, in our form or in another program's: which form it is, and what it says.

use serde_json::{Map, Value};

use super::pool::spread;
use super::{coser, pingpong, tavern};
use crate::schema::{Attribute, CharacterFile, CharacterType, Language, Visibility};
use crate::text::{is_han, sentences};

/// The form of a character file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Ours: a [`CharacterFile`].
    Own,
    /// A Tavern card, V1, V2 or V3.
    Tavern,
    /// A book of CoSER, or one of its characters.
    Coser,
    /// A character of the `PingPong` benchmark.
    PingPong,
}

impl Form {
    /// Returns the form that a value has. What has no other form is taken for ours, whose schema then says what is wrong.
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

/// A character out of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    /// What it says, as a character file of ours would.
    pub file: CharacterFile,
    /// The form that it had.
    pub form: Form,
    /// The whole of it as it was, so that nothing is lost when it goes out again; null where it was ours.
    pub original: Value,
}

/// What is wrong with a file of another form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// JSON Pointer of what it is about.
    pub pointer: String,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub expected: &'static str,
}

/// Reads the characters of a file that is not in our form. `stem` is the name of a file without its ending, for those
/// that have no name of their own. Of a whole book of CoSER at most `most` are taken, those with most lines.
pub fn given(form: Form, value: &Value, stem: &str, most: usize) -> Result<Vec<Given>, Misfit> {
    let fields = Fields { value, pointer: "" };
    match form {
        Form::Own => Ok(Vec::new()),
        Form::Tavern => tavern::read(value, stem).map(|given| vec![given]),
        Form::PingPong => pingpong::read(&fields, stem).map(|given| vec![given]),
        Form::Coser => coser::read(&fields, stem, most),
    }
}

/// An object of a foreign file, which says where it is wrong.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a> {
    pub(super) value: &'a Value,
    pub(super) pointer: &'a str,
}

impl<'a> Fields<'a> {
    /// Returns a text without white space around it; empty where there is none.
    pub(super) fn text(&self, key: &str) -> Result<&'a str, Misfit> {
        match self.value.get(key) {
            None | Some(Value::Null) => Ok(""),
            Some(Value::String(text)) => Ok(text.trim()),
            Some(other) => Err(self.misfit(key, other, "a string")),
        }
    }

    /// Returns a list of texts, what is no text left out; a single text is a list of one.
    pub(super) fn texts(&self, key: &str) -> Result<Vec<&'a str>, Misfit> {
        match self.value.get(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::String(text)) => Ok(vec![text]),
            Some(Value::Array(items)) => Ok(items.iter().filter_map(Value::as_str).collect()),
            Some(other) => Err(self.misfit(key, other, "a list of strings")),
        }
    }

    /// Returns a table; none where there is none.
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
            Value::Bool(_) => "a truth value",
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

/// What is put together into a character.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) name: String,
    pub(super) aliases: Vec<String>,
    pub(super) book: Option<String>,
    pub(super) lines: Vec<String>,
    pub(super) profile: Vec<Attribute>,
}

impl Parts {
    /// Adds what is known of the character, where there is anything. `key` is in English and Chinese.
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

/// The most characters of a line.
const LONGEST_LINE: usize = 320;

/// Returns the language of several texts together, by the share of Chinese letters that makes a book Chinese.
pub(super) fn language<'a>(texts: impl IntoIterator<Item = &'a str>) -> Language {
    let letters = texts.into_iter().flat_map(str::chars).filter(|c| c.is_alphabetic());
    let (han, all) = letters.fold((0_usize, 0), |(han, all), c| (han + usize::from(is_han(c)), all + 1));
    if han * 10 > all * 3 { Language::Zh } else { Language::En }
}

/// Returns the lines that somebody speaks in a message of a chat: one for each paragraph.
///
/// Where there are quotations, what stands in them is spoken. Else what stands in `*…*`, `(…)`, `（…）` or `[…]` is done or thought,
/// and the rest is spoken.
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

/// Returns the first sentences of a line that has too many, at least one.
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
