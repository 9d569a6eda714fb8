//! Chinese full names: surname and given name.

use crate::attribution::chinese::role_nouns::{is_role_noun, is_title, title_gender};
use crate::attribution::words::chinese::CHINESE;

/// Whether a title applies to unmarried women, who have their own surname.
pub(super) fn is_maiden_title(title: &[char]) -> bool {
    CHINESE.maiden_titles.has(title)
}

/// Whether the text after a surname distinguishes members of one family by age, kinship or appearance, or is a role:
/// `老娘`, `二姐`.
fn is_family_word(tail: &[char]) -> bool {
    let aged = matches!(tail, [age, word] if CHINESE.family_ranks.has(&[*age]) && CHINESE.family_kin.has(&[*word]));
    let aged = aged || matches!(tail, [mark, '子'] if CHINESE.nickname_marks.has(&[*mark]));
    aged || title_gender(tail).is_some() || is_title(tail) || tail.len() > 1 && CHINESE.roles.has(tail)
}

/// Returns the length of the surname if a form is a surname with a given name.
pub(in crate::attribution::chinese) fn surname_length(form: &[char]) -> Option<usize> {
    let surname = CHINESE.surnames.head(form);
    let given_length = form.len() - surname;
    let tail = &form[surname..];
    let is_full_name = surname > 0
        && (1..=2).contains(&given_length)
        && !is_family_word(tail)
        && !is_role_noun(form)
        && !matches!(tail, ['家' | '子']);
    (is_full_name && (1..form.len()).all(|i| title_gender(&form[i..]).is_none() || i + 1 == form.len()))
        .then_some(surname)
}
