//! Parses the Chinese noun phrase at the start of a clause.

use super::descriptions::described_noun;
use super::possession::{apposed_name, continues_after_subject, possessed_noun};
use super::{DescribedNoun, NounPhrase, Possessor};
use crate::attribution::Gender;
use crate::attribution::chinese::names::Names;
use crate::attribution::words::chinese::CHINESE;

/// Returns the noun phrase for a person that begins at an offset, and its end.
pub(in crate::attribution::chinese) fn noun_phrase(
    text: &[char],
    names: &Names,
    at: usize,
    end: usize,
) -> Option<(NounPhrase, usize)> {
    if at >= end {
        return None;
    }
    // `那X`: a name with a demonstrative is the name.
    let demonstrative = matches!(text[at], '那' | '这' | '此') && at + 1 < end;
    for at in [Some(at), demonstrative.then_some(at + 1)].into_iter().flatten() {
        if let Some(name) = names.at(&text[at..end]) {
            return Some(name_phrase(text, names, name, at, end))
                .filter(|(_, to)| CHINESE.place_suffixes.head(&text[*to..end]) == 0);
        }
    }
    if let Some(found) = pronoun_phrase(text, names, at, end) {
        return Some(found);
    }
    if let Some(found) = described_noun(text, names, at, end) {
        return Some(found);
    }
    // `霆曰`, `霆大笑`: the given name alone.
    let rest = &text[at + 1..end];
    let c = text[at];
    // `心下想道`: a thought, whose subject is elsewhere.
    let inward = matches!(text[at..end], ['心' | '口' | '腹' | '肚', '下' | '中' | '里' | '内' | '想', ..]);
    let acts = CHINESE.speech.head(rest).max(CHINESE.actions.head(rest)).max(CHINESE.manner.head(rest)) > 0;
    let word = CHINESE.manner.has(&[c])
        || CHINESE.objects.has(&[c])
        || CHINESE.actions.has(&[c])
        || CHINESE.not_in_names.has(&[c]);
    (names.ends_full_name(c) && acts && !word && !inward)
        .then(|| (NounPhrase::Role(DescribedNoun::undescribed(at, at + 1)), at + 1))
}

/// A name with what follows it: other names, `等`, `的母亲`.
fn name_phrase(text: &[char], names: &Names, name: usize, at: usize, end: usize) -> (NounPhrase, usize) {
    let mut to = at + names.list[name].form.len();
    let mut several = false;
    while let Some(other) = names.at(&text[to..end]) {
        if names.people.is_empty() || names.people[other] == names.people[name] {
            break;
        }
        several = true;
        to += names.list[other].form.len();
    }
    let more = CHINESE.plurals.head(&text[to..end]);
    if more > 0 && (more > 1 || text[to] == '们' || continues_after_subject(&text[to + more..end])) {
        several = true;
        to += more;
    }
    if several {
        return (NounPhrase::Role(DescribedNoun { several, ..DescribedNoun::undescribed(at, to) }), to);
    }
    if let Some(found) = possessed_noun(text, names, at, to, end, Possessor::Name(name)) {
        return found;
    }
    if let Some(found) = apposed_name(text, names, to, end) {
        return found;
    }
    (NounPhrase::Name(name, at), to)
}

fn pronoun_phrase(text: &[char], names: &Names, at: usize, end: usize) -> Option<(NounPhrase, usize)> {
    let she = CHINESE.she.has(&text[at..=at]);
    let he = CHINESE.he.has(&text[at..=at]);
    let narrator = CHINESE.narrator.has(&text[at..=at]);
    if !(she || he || narrator) {
        return None;
    }
    let several = CHINESE.plurals.head(&text[at + 1..end]);
    if several > 0 && !text[at + 1..].starts_with(&['等']) {
        return Some((NounPhrase::Pronoun(Gender::Unknown, true), at + 1 + several));
    }
    if let Some(found) = possessed_noun(text, names, at, at + 1, end, Possessor::Pronoun)
        .or_else(|| apposed_name(text, names, at + 1, end))
    {
        return Some(found);
    }
    let phrase = if narrator {
        NounPhrase::Narrator
    } else {
        NounPhrase::Pronoun(if she { Gender::Female } else { Gender::Male }, false)
    };
    Some((phrase, at + 1))
}
