//! English titles before names: canonical forms, and the evidence they give.

use super::Name;
use super::detection::title_gender;
use crate::attribution::Gender;
use crate::attribution::english::tokens::Tokens;
use crate::attribution::words::english::ENGLISH;

/// Returns the canonical form of a title: abbreviations in full, foreign titles in English.
pub(in crate::attribution::english) fn canonical(title: &str) -> &str {
    ENGLISH.title_forms.get(title).map_or(title, String::as_str)
}

/// Returns the evidence of a name's title as bits: 1 female, 2 male, 4 Mrs., 8 Miss.
pub(super) fn title_bits(book: &Tokens, name: &Name) -> u8 {
    let Some(title) = name.title else { return 0 };
    let sex = match title_gender(book, title) {
        Gender::Female => 1,
        Gender::Male => 2,
        Gender::Unknown => 0,
    };
    match canonical(&book.words[title as usize].text) {
        "mrs" => sex | 4,
        "miss" => sex | 8,
        _ => sex,
    }
}
