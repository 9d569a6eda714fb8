//! Chinese words for people, looked up in the tables: titles, roles, kin, and what they say of gender.

use super::super::Gender;
use super::super::tables::CHINESE;

/// Returns what a title says of its bearer; nothing where the stretch is no title.
pub(super) fn title(form: &[char]) -> Option<Gender> {
    if CHINESE.titles_female.has(form) {
        Some(Gender::Female)
    } else if CHINESE.titles_male.has(form) {
        Some(Gender::Male)
    } else if CHINESE.titles_either.has(form) {
        Some(Gender::Unknown)
    } else {
        None
    }
}

/// Whether a form is a title alone, or one with a number: `老爷`, `三公子`.
pub(super) fn rank(form: &[char]) -> bool {
    form.len() > 1
        && (title(form).is_some() || "大二三四五六七八九十老小".contains(form[0]) && title(&form[1..]).is_some())
}

/// Whether a form is a noun for people and no name.
pub(super) fn role(form: &[char]) -> bool {
    [&CHINESE.roles, &CHINESE.generic_female, &CHINESE.generic_male, &CHINESE.generic_either, &CHINESE.plural]
        .iter()
        .any(|words| words.has(form))
}

/// Returns the gender that a noun for people shows.
pub(super) fn gender(word: &[char]) -> Gender {
    if CHINESE.generic_female.tail(word) > 0 || CHINESE.titles_female.tail(word) > 1 {
        Gender::Female
    } else if CHINESE.generic_male.tail(word) > 0 || CHINESE.titles_male.tail(word) > 1 {
        Gender::Male
    } else {
        Gender::Unknown
    }
}

/// Whether a stretch begins with a word.
pub(super) fn begins_with(text: &[char], word: &str) -> bool {
    let mut rest = text.iter();
    word.chars().all(|c| rest.next() == Some(&c))
}
