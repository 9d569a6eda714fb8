//! The forms of lines that may be titles without a number or a unit word.
//!
//! Looks at a single line; `titles` decides over the whole book whether it opens anything.

use std::sync::LazyLock;

use serde::Deserialize;

use super::headings::{Candidate, Room, Strength, bare, is_date, is_loud};
use crate::schema::Level;
use crate::text::is_han;

/// The minimum length of a chapter's text, in bytes.
pub(crate) const MIN_TEXT: usize = 600;

/// A form of titles, and the text required below them.
pub(crate) struct Form {
    /// Whether a line has this form.
    pub(crate) matches: fn(&str) -> bool,
    /// The minimum length of the text below one, in bytes.
    pub(crate) min_text: usize,
    /// The minimum average length of the text below them, in bytes. If more than 0, the titles must also start near the
    /// beginning of the book.
    pub(crate) min_average_text: usize,
}

/// Capitals, or a few Chinese characters without punctuation.
pub(crate) const CAPITALS: Form = Form { matches: is_unnumbered_title, min_text: MIN_TEXT, min_average_text: 0 };
/// Dates, as over the entries of a diary.
pub(crate) const DATES: Form = Form { matches: is_date, min_text: 60, min_average_text: 200 };
/// Capitalized words, as for the stories of a collection.
pub(crate) const NAMES: Form = Form { matches: is_capitalized_name, min_text: MIN_TEXT, min_average_text: 1500 };

static WORDS: LazyLock<TitleWords> = LazyLock::new(|| embedded_toml!("title_patterns.toml"));

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TitleWords {
    /// Starts of lines in capitals that are not titles.
    not_capitals_titles: Vec<String>,
    /// Words that stay in lower case in a capitalized title.
    lower_case_words: Vec<String>,
    /// Starts of lines of capitalized words that are not titles, in lower case.
    not_capitalized_titles: Vec<String>,
}

/// Whether a line is in capitals, or consists of a few Chinese characters without punctuation, and is not a date.
pub(crate) fn is_unnumbered_title(line: &str) -> bool {
    let line = bare(line);
    let length = line.chars().count();
    let letters = line.chars().filter(|c| c.is_alphabetic()).count();
    let english = (3..=60).contains(&length)
        && letters >= 3
        && is_loud(line.split('(').next().unwrap_or(line))
        && !line.ends_with([',', ';', ':', '!', '?', '-'])
        && !line.starts_with(['“', '"', '‘', '\'', '[', '('])
        && !WORDS.not_capitals_titles.iter().any(|start| line.starts_with(start.as_str()));
    let han = || line.chars().filter(|c| is_han(*c)).count();
    let is_title_character = |c: char| {
        is_han(c) || c.is_ascii_alphanumeric() || matches!(c, ' ' | '\u{3000}' | '·' | '《' | '》' | '〇' | '○')
    };
    let chinese = (2..=16).contains(&length) && line.chars().all(is_title_character) && han() * 2 > length;
    (english || chinese) && !is_date(line)
}

/// Whether each word of a line is capitalized, except for those that stay in lower case.
fn is_capitalized_name(line: &str) -> bool {
    let line = bare(line);
    let lower = || line.to_lowercase();
    line.len() <= 50
        && line.starts_with(char::is_uppercase)
        && line.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '?' | '!' | '’'))
        && line.split([' ', '-', '—']).filter(|word| !word.is_empty()).all(|word| {
            let word = word.trim_start_matches(['“', '‘', '"', '\'', '(']);
            word.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit())
                || WORDS.lower_case_words.iter().any(|lower| lower == word)
        })
        && line.split(' ').count() <= 9
        && !WORDS.not_capitalized_titles.iter().any(|start| lower().starts_with(start.as_str()))
}

/// Returns the candidate for a title found by its form or in a table of contents.
pub(crate) const fn listed() -> Candidate {
    Candidate {
        level: Level::Chapter,
        number: None,
        titled: true,
        strength: Strength::Title,
        room: Room::Alone,
        story: true,
        rule: usize::MAX,
        section: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_names_differ_from_speech() {
        for (line, dated, named) in [
            ("3 May", true, false),
            ("Monday, June 4th, 1812.", true, false),
            ("_Sept. 9._", true, false),
            ("Thursday", true, true),
            ("May I come in", false, false),
            ("May", false, true),
            ("1812", true, false),
            ("9812", false, false),
            ("Wick, March 3, 1812.", true, false),
            ("Wick, 3rd March", true, true),
            ("He came in May 1812", false, false),
            ("一九二二年十二月三日　晴", true, false),
            ("五月三日", true, false),
            ("5月3日 星期二 小雨", true, false),
            ("三月里的河", false, false),
            ("五月三日，他来了。", false, false),
            ("The Horse That Was Sold", false, true),
            ("A Lamp for the Weir", false, true),
            ("Dear Anna", false, false),
            ("Yours Ever", false, false),
            ("The horse was sold", false, false),
            ("Nobody Came.", false, false),
        ] {
            assert_eq!((is_date(line), is_capitalized_name(line)), (dated, named), "{line}");
        }
    }
}
