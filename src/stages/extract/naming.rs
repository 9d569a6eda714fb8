//! Resolves a name written by a model: to a character of the book, also if it is mistyped or shortened, or to a person
//! that the text mentions but attribution does not know. Other names are rejected.

use super::book_index::BookIndex;
use super::grounding::tokens::folded;
use crate::schema::{Utterance, slug};
use crate::text::is_han;

/// Returns the book's main name for a character, or the name itself if it is unknown.
pub(super) fn canonical(name: &str, book: &BookIndex) -> String {
    let name = name.trim().trim_matches(['“', '”', '"', '*']).trim();
    if name.eq_ignore_ascii_case(Utterance::ENVIRONMENT) || matches!(name, "环境" | "環境" | "旁白" | "Narrator")
    {
        return Utterance::ENVIRONMENT.to_owned();
    }
    book.owner(name).map_or_else(|| name.to_owned(), |person| book.person(person).name.clone())
}

/// Returns the name of a speaker or participant in a passage; `None` if neither the book's characters nor the passage
/// have it.
pub(super) fn known(name: &str, book: &BookIndex, passage: &str) -> Option<String> {
    let bare = name.split(['(', '（', '[', '【']).next().unwrap_or_default();
    let name = canonical(bare, book);
    let is_known = name == Utterance::ENVIRONMENT
        || book.owner(&name).is_some()
        || book.attribution.people.iter().any(|person| person.name == name && !name.is_empty());
    if is_known {
        return Some(name);
    }
    if let Some(person) = only(book, |other| is_same(&name, other)) {
        return Some(book.person(person).name.clone());
    }
    if is_mentioned(&name, passage) {
        return Some(name);
    }
    let person =
        only(book, |other| is_mistyped(&name, other)).or_else(|| only(book, |other| shortens(&name, other)))?;
    Some(book.person(person).name.clone())
}

/// Returns the person with a matching name, if there is exactly one.
fn only(book: &BookIndex, fits: impl Fn(&str) -> bool) -> Option<usize> {
    let people = book.attribution.people.iter().enumerate().filter(|(_, person)| !person.name.is_empty());
    let mut fit = people.filter(|(_, person)| person.aliases.iter().chain([&person.name]).any(|other| fits(other)));
    let (index, _) = fit.next()?;
    fit.next().is_none().then_some(index)
}

fn normalize(name: &str) -> String {
    name.chars().map(folded).filter(|c| c.is_alphanumeric() || *c == ' ').flat_map(char::to_lowercase).collect()
}

/// Whether two names differ only in script, width, case or punctuation.
fn is_same(name: &str, other: &str) -> bool {
    let name = normalize(name);
    !name.is_empty() && name == normalize(other)
}

/// Whether one name is a typo of the other: one edit (two from nine letters on) in names of five letters or more, or
/// one character other than the first in Chinese names of three or more.
fn is_mistyped(name: &str, other: &str) -> bool {
    let (name, other) = (normalize(name), normalize(other));
    let (length, other_length) = (name.chars().count(), other.chars().count());
    if name.chars().any(is_han) || other.chars().any(is_han) {
        let differ = name.chars().zip(other.chars()).filter(|(a, b)| a != b).count();
        return length == other_length && length >= 3 && differ == 1 && name.chars().next() == other.chars().next();
    }
    let least = length.min(other_length);
    let most = if least >= 9 { 2 } else { 1 };
    least >= 5 && strsim::osa_distance(&name, &other) <= most
}

/// Whether one name is part of the other.
fn shortens(name: &str, other: &str) -> bool {
    let (name, other) = (slug(&normalize(name)), slug(&normalize(other)));
    let within = |part: &str, text: &str| {
        if part.chars().all(is_han) {
            part.chars().count() > 1 && text.contains(part)
        } else {
            part.len() > 2 && format!("-{text}-").contains(&format!("-{part}-"))
        }
    };
    within(&name, &other) || within(&other, &name)
}

/// Whether a passage mentions a person, possibly by trade; `Guard 2` needs a guard.
fn is_mentioned(name: &str, passage: &str) -> bool {
    let name = normalize(name);
    if name.chars().any(is_han) {
        let bare = name.trim_end_matches(|c: char| "甲乙丙丁戊一二三四五".contains(c) || c.is_numeric());
        let fold = |text: &str| text.chars().map(folded).collect::<String>();
        return bare.chars().count() > 1 && fold(passage).contains(bare);
    }
    let passage = passage.to_lowercase();
    let has = |word: &str| {
        let letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let is_whole_word = |at: usize| {
            !letter(passage[..at].chars().next_back()) && !letter(passage[at + word.len()..].chars().next())
        };
        passage.match_indices(word).any(|(at, _)| is_whole_word(at))
    };
    let mut words = name.split(' ').filter(|word| word.len() > 2 && *word != "the").peekable();
    words.peek().is_some() && words.all(has)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Language;
    use crate::stages::extract::fixtures::{EN, EN_PEOPLE, ZH, ZH_PEOPLE, attribution, indexed_book};

    #[test]
    fn a_name_resolves_to_one_character_or_none() {
        type Cases = &'static [(&'static str, Option<&'static str>)];
        let cases: [(Language, Cases); 2] = [
            (
                Language::En,
                &[
                    ("anna", Some("Anna")),
                    ("Anna Reed", Some("Anna")),
                    ("Anna Read", Some("Anna")),
                    ("Boris (the old man)", Some("Boris")),
                    ("Borris", Some("Boris")),
                    ("Miller 2", Some("Miller 2")),
                    ("narrator", None),
                    ("Narrator", Some("Environment")),
                    ("Captain Zorg", None),
                    ("安娜", None),
                    ("", None),
                ],
            ),
            (
                Language::Zh,
                &[
                    ("陆巡检", Some("陆平")),
                    ("陸平", Some("陆平")),
                    ("周老奇", Some("周老七")),
                    ("周老七（船工）", Some("周老七")),
                    ("知县甲", Some("知县甲")),
                    ("王五郎", None),
                    ("Lu Ping", None),
                ],
            ),
        ];
        for (language, names) in cases {
            let (text, people) = if language == Language::En { (EN, EN_PEOPLE) } else { (ZH, ZH_PEOPLE) };
            let book = indexed_book(language, text, attribution(text, people, &[0, 0, 1, 0, 1, 0, 1, 1]));
            for (name, expected) in names {
                assert_eq!(known(name, &book, text).as_deref(), *expected, "{name}");
            }
        }
    }
}
