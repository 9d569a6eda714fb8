//! Detection of English names in the token stream.

use crate::attribution::Gender;
use crate::attribution::english::tokens::{NONE, Token, Tokens};
use crate::attribution::known_characters::KnownPhrases;
use crate::attribution::words::english::{
    ANIMAL, DETERMINER, FEMALE, GIVEN_FEMALE, GIVEN_MALE, KIN, MALE, PARTICLE, PLACE, POSSESSIVE, ROLE, STOP, TITLE,
    TITLE_GIVEN, TITLE_LOOSE,
};

/// Returns the known-character name that begins at a token, in the format of [`name_at`], unless that finds one as long.
pub(super) fn known_name_at(
    book: &Tokens,
    phrases: &KnownPhrases,
    at: usize,
) -> Option<(Option<u32>, Vec<u32>, usize, usize)> {
    let token = book.list[at];
    if token.word() == NONE {
        return None;
    }
    let word = |offset: usize| {
        let next = book.list.get(at + offset).filter(|next| next.word() != NONE && next.quote == token.quote)?;
        (offset == 0 || !book.list[at + offset - 1].possessive()).then(|| (book.text(at + offset), next.capital()))
    };
    let end = at + phrases.length(book.text(at), word);
    if end == at || name_at(book, at).is_some_and(|(_, _, first, stop)| first == at && stop >= end) {
        return None;
    }
    Some((None, book.list[at..end].iter().map(Token::word).collect(), at, end))
}

/// Returns title, words, first token and end of the name that begins at a token.
pub(super) fn name_at(book: &Tokens, at: usize) -> Option<(Option<u32>, Vec<u32>, usize, usize)> {
    let token = book.list[at];
    if token.word() == NONE || !token.capital() {
        return None;
    }
    let mut i = at;
    let mut title = None;
    while book.class(i) & TITLE != 0 && !book.list[i].possessive() {
        let next = book.list.get(i + 1)?;
        let near = next.word() != NONE
            && next.capital()
            && !next.initial()
            && next.quote == token.quote
            && next.start() - book.end(i) < 4;
        if !near || book.class(i + 1) & STOP != 0 && book.class(i + 1) & TITLE == 0 && book.class(i) & TITLE_GIVEN != 0
        {
            break;
        }
        if book.class(i) & TITLE_LOOSE == 0 {
            title = Some(book.list[i].word());
        }
        i += 1;
    }
    let first = if title.is_some() { at } else { i };
    let mut words = Vec::new();
    let start = i;
    while let Some(next) = book.list.get(i) {
        if next.word() == NONE || next.quote != token.quote {
            break;
        }
        if i > start {
            let before = book.list[i - 1];
            let gap = next.start() - book.end(i - 1);
            if before.possessive() || next.initial() || gap > 3 {
                break;
            }
            let particle = book.class(i) & PARTICLE != 0
                && book
                    .list
                    .get(i + 1)
                    .is_some_and(|after| after.word() != NONE && after.capital() && book.nameable(after.word()));
            if particle {
                words.push(next.word());
                i += 1;
                continue;
            }
        }
        let own_title = title.is_some() && i == start;
        let word = &book.words[next.word() as usize];
        // `Will` within a sentence is a name and not a verb.
        let is_given_name = word.class & (GIVEN_FEMALE | GIVEN_MALE) != 0
            && !next.initial()
            && (i == 0 || book.class(i - 1) & POSSESSIVE == 0);
        let fits =
            next.capital() && (book.nameable(next.word()) || is_given_name || own_title && word.class & STOP == 0);
        let initial = next.capital()
            && book.end(i) - next.start() == 1
            && word.text != "i"
            && word.text != "a"
            && word.text != "o";
        if !fits && !initial
            || word.class & PLACE != 0
            || i > start && word.class & TITLE != 0 && word.class & TITLE_LOOSE == 0 && words.len() > 2
        {
            break;
        }
        words.push(next.word());
        i += 1;
    }
    if i > start
        && book.list.get(i).is_some_and(|next| next.capital() && next.start() - book.end(i - 1) < 3)
        && book.class(i) & PLACE != 0
    {
        return None;
    }
    // A single letter is not a name, and a title alone is a role.
    if words.is_empty() || words.iter().all(|&word| book.words[word as usize].text.chars().count() == 1) {
        return None;
    }
    if title.is_none() && words.len() == 1 {
        let class = book.class(start);
        let determined = start > 0 && book.class(start - 1) & (DETERMINER | POSSESSIVE) != 0;
        // `the doctor` is a role. In a book that always writes `the Doctor` it is a name, like that of an animal with a
        // capital.
        let word = &book.words[book.list[start].word() as usize];
        let is_name = class & (ROLE | TITLE) != 0
            && class & KIN == 0
            && determined
            && book.text(start - 1) == "the"
            && word.inner > 2
            && word.inner > word.lower * 2;
        let role = class & (ROLE | KIN) != 0 && class & ANIMAL == 0 && determined;
        if (class & TITLE != 0 || role) && !is_name {
            return None;
        }
    }
    Some((title, words, first, i))
}

/// Returns a name as printed, in one line. All-capital words become capitalised ones.
pub(super) fn printed_form(chars: &[char], book: &Tokens, first: usize, end: usize) -> String {
    let mut form = String::new();
    for i in first..end {
        let token = book.list[i];
        if i > first {
            form.push(' ');
        }
        let word = &chars[token.start()..book.end(i)];
        let is_upper_case = (word.len() > 2 || book.class(i) & TITLE != 0) && word.iter().all(|c| !c.is_lowercase());
        for (k, c) in word.iter().enumerate() {
            if is_upper_case && k > 0 && word[k - 1].is_alphabetic() {
                form.extend(c.to_lowercase());
            } else {
                form.push(*c);
            }
        }
        if chars.get(book.end(i)) == Some(&'.') && i + 1 < end {
            form.push('.');
        }
    }
    form
}

pub(super) fn title_gender(book: &Tokens, title: u32) -> Gender {
    let class = book.words[title as usize].class;
    // A word in both lists gives no gender.
    match (class & FEMALE != 0, class & MALE != 0) {
        (true, false) => Gender::Female,
        (false, true) => Gender::Male,
        _ => Gender::Unknown,
    }
}
