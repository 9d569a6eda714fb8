//! Cheap checks that spare most lines the patterns of the heading rules.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::Deserialize;

use super::numerals;
use crate::text::is_han;

/// Words that an English heading can start with, in lower case, apart from number words.
static WORDS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| OPENERS.words.split_whitespace().collect());

static OPENERS: LazyLock<Openers> = LazyLock::new(|| embedded_toml!("openers.toml"));

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Openers {
    /// Words that an English heading can start with, separated by whitespace.
    words: String,
    /// Characters that a heading can start with, apart from ASCII and full-width digits.
    first_characters: String,
}

/// Whether the first word allows an English line to be a heading: one of [`WORDS`] or a number. Saves running the
/// patterns on most lines.
pub(super) fn starts_like_heading(line: &str) -> bool {
    let end = line.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(line.len());
    let word = &line[..end];
    word.len() <= 16
        && (word.bytes().all(|byte| matches!(byte, b'I' | b'V' | b'X' | b'L' | b'C'))
            || word.len() == 1
            || WORDS.contains(word.to_ascii_lowercase().as_str())
            || numerals::words(word).is_some()
            || is_glued(word))
}

/// Whether a word is `chapter` joined with its number, or an OCR error for it.
fn is_glued(word: &str) -> bool {
    word.get(..7).is_some_and(|head| head.eq_ignore_ascii_case("chapter"))
        || (word.len() == 7 && word.get(1..4) == Some("HAP"))
}

/// Whether a line ends like a heading with its number after its title.
pub(super) fn numbered_last(line: &str) -> bool {
    line.len() <= 60
        && line.ends_with(['一', '二', '三', '四', '五', '六', '七', '八', '九', '十', '百'])
        && line.contains('第')
        && line.starts_with(is_han)
}

/// Whether any heading can start with this character.
pub(super) fn is_first_character(c: char) -> bool {
    c.is_ascii_digit()
        || c.is_ascii_uppercase()
        || matches!(c, 'a'..='f' | 'l' | 'n' | 'o' | 'p' | 's' | 't' | 'v')
        || ('０'..='９').contains(&c)
        || OPENERS.first_characters.contains(c)
}
