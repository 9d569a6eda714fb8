//! Chinese noun phrases for people at the start of a clause: a name, a pronoun, or a noun with its description.

use super::descriptions::described_noun;
use super::names::Names;
use super::words::noun_gender;
use crate::attribution::Gender;
use crate::attribution::tables::CHINESE;

/// The possessor in a noun phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Possessor {
    /// None.
    Nobody,
    /// A pronoun or another noun.
    Pronoun,
    /// A name, by index.
    Name(usize),
}

/// A noun phrase without a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DescribedNoun {
    /// Start of the phrase.
    pub(super) from: usize,
    /// End of its determiner: `一个`, `那`.
    pub(super) bare: usize,
    /// Start of the head noun.
    pub(super) head: usize,
    /// End of the phrase.
    pub(super) to: usize,
    pub(super) gender: Gender,
    /// Whether it introduces a person: `一个`, `又一个`.
    pub(super) new: bool,
    /// Whether it has a demonstrative: `那`, `这`.
    pub(super) shown: bool,
    /// Its possessor.
    pub(super) owner: Possessor,
    /// Whether it is plural.
    pub(super) several: bool,
}

impl DescribedNoun {
    /// Returns an undescribed noun for one person.
    pub(super) const fn plain(from: usize, to: usize) -> Self {
        let (gender, owner) = (Gender::Unknown, Possessor::Nobody);
        Self { from, bare: from, head: from, to, gender, new: false, shown: false, owner, several: false }
    }
}

/// A noun phrase for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NounPhrase {
    /// Index of the name, and its offset.
    Name(usize, usize),
    /// Gender of a pronoun, and whether it is plural.
    Pronoun(Gender, bool),
    /// The narrator.
    Narrator,
    /// A noun.
    Role(DescribedNoun),
}

/// Returns the noun phrase for a person that begins at an offset, and its end.
pub(super) fn noun_phrase(text: &[char], names: &Names, at: usize, end: usize) -> Option<(NounPhrase, usize)> {
    if at >= end {
        return None;
    }
    // `那X`: a name with a demonstrative is the name.
    let shown = matches!(text[at], '那' | '这' | '此') && at + 1 < end;
    for at in [Some(at), shown.then_some(at + 1)].into_iter().flatten() {
        if let Some(name) = names.at(&text[at..end]) {
            return Some(name_phrase(text, names, name, at, end))
                .filter(|(_, to)| CHINESE.parts.head(&text[*to..end]) == 0);
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
    let acts = CHINESE.speech.head(rest).max(CHINESE.deeds.head(rest)).max(CHINESE.manner.head(rest)) > 0;
    let word =
        CHINESE.manner.has(&[c]) || CHINESE.objects.has(&[c]) || CHINESE.deeds.has(&[c]) || CHINESE.never.has(&[c]);
    (names.ends_full_name(c) && acts && !word && !inward)
        .then(|| (NounPhrase::Role(DescribedNoun::plain(at, at + 1)), at + 1))
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
    let more = CHINESE.several.head(&text[to..end]);
    if more > 0 && (more > 1 || text[to] == '们' || continues_after_subject(&text[to + more..end])) {
        several = true;
        to += more;
    }
    if several {
        return (NounPhrase::Role(DescribedNoun { several, ..DescribedNoun::plain(at, to) }), to);
    }
    if let Some(found) = possessed_noun(text, names, at, to, end, Possessor::Name(name)) {
        return found;
    }
    if let Some(found) = apposed_name(text, names, to, end) {
        return found;
    }
    (NounPhrase::Name(name, at), to)
}

/// Whether a clause continues as it does after a subject.
pub(super) fn continues_after_subject(rest: &[char]) -> bool {
    rest.is_empty()
        || matches!(rest[0], '都' | '也' | '一' | '齐' | '忙' | '皆' | '俱' | '便' | '又' | '听' | '见')
        || CHINESE.speech.head(rest) > 0
}

/// `X的母亲`, `他母亲`; or the name after it: `他母亲某氏`.
pub(super) fn possessed_noun(
    text: &[char],
    names: &Names,
    from: usize,
    at: usize,
    end: usize,
    owner: Possessor,
) -> Option<(NounPhrase, usize)> {
    let linked = matches!(text.get(at), Some('的' | '之')) && at < end;
    let start = at + usize::from(linked);
    let length = relation_length(&text[start..end], linked)?;
    let to = start + length;
    if let Some(name) = names.at(&text[to..end]) {
        return Some((NounPhrase::Name(name, to), to + names.list[name].form.len()));
    }
    let several = CHINESE.several.head(&text[to..end]);
    let noun = DescribedNoun {
        bare: start,
        head: start,
        gender: noun_gender(&text[start..to]),
        owner,
        several: several > 0,
        ..DescribedNoun::plain(from, to + several)
    };
    Some((NounPhrase::Role(noun), to + several))
}

/// `X的乳母Y`: the name after a relation that is not in the tables.
fn apposed_name(text: &[char], names: &Names, at: usize, end: usize) -> Option<(NounPhrase, usize)> {
    if at >= end || !matches!(text[at], '的' | '之') {
        return None;
    }
    for i in at + 2..end.min(at + 6) {
        if CHINESE.objects.head(&text[i - 1..end]) > 0 || CHINESE.manner.head(&text[i - 1..end]) > 0 {
            return None;
        }
        if let Some(name) = names.at(&text[i..end]) {
            return Some((NounPhrase::Name(name, i), i + names.list[name].form.len()));
        }
    }
    None
}

/// Returns the length of a kinship noun; directly after its possessor, only of one that is no form of address.
fn relation_length(rest: &[char], linked: bool) -> Option<usize> {
    let kin = CHINESE.generic_female.head(rest).max(CHINESE.generic_male.head(rest));
    let length = if linked { kin.max(CHINESE.roles.head(rest)) } else { kin };
    let length = if linked { length.max(usize::from(rest.first() == Some(&'妻'))) } else { length };
    (length > 1 || linked && length == 1).then_some(length)
}

fn pronoun_phrase(text: &[char], names: &Names, at: usize, end: usize) -> Option<(NounPhrase, usize)> {
    let she = CHINESE.she.has(&text[at..=at]);
    let he = CHINESE.he.has(&text[at..=at]);
    let narrator = CHINESE.narrator.has(&text[at..=at]);
    if !(she || he || narrator) {
        return None;
    }
    let several = CHINESE.several.head(&text[at + 1..end]);
    if several > 0 && !text[at + 1..].starts_with(&['等']) {
        return Some((NounPhrase::Pronoun(Gender::Unknown, true), at + 1 + several));
    }
    if let Some(found) = possessed_noun(text, names, at, at + 1, end, Possessor::Pronoun)
        .or_else(|| apposed_name(text, names, at + 1, end))
    {
        return Some(found);
    }
    let who = if narrator {
        NounPhrase::Narrator
    } else {
        NounPhrase::Pronoun(if she { Gender::Female } else { Gender::Male }, false)
    };
    Some((who, at + 1))
}
