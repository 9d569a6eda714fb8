//! Chinese nouns for people as the head of a clause has them: a name, a pronoun, or a noun with what describes it.

use super::super::Gender;
use super::super::tables::CHINESE;
use super::descriptions::described;
use super::names::Names;
use super::words::gender;

/// Whose relation a noun names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// Nobody's.
    Nobody,
    /// A pronoun's, or that of another noun.
    Pronoun,
    /// The bearer's of a name.
    Name(usize),
}

/// A noun for somebody who has no name here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Noun {
    /// Where the phrase begins.
    pub(super) from: usize,
    /// Where what stands before the description ends: `一个`, `那`.
    pub(super) bare: usize,
    /// Where the head noun begins.
    pub(super) head: usize,
    /// After the phrase.
    pub(super) to: usize,
    pub(super) gender: Gender,
    /// Whether it brings in somebody: `一个`, `又一个`.
    pub(super) new: bool,
    /// Whether it points back: `那`, `这`.
    pub(super) shown: bool,
    /// Whose relation it is.
    pub(super) owner: Owner,
    /// Whether it stands for several people at once.
    pub(super) several: bool,
}

impl Noun {
    /// Returns a plain noun for one person.
    pub(super) const fn plain(from: usize, to: usize) -> Self {
        let (gender, owner) = (Gender::Unknown, Owner::Nobody);
        Self { from, bare: from, head: from, to, gender, new: false, shown: false, owner, several: false }
    }
}

/// Somebody as a clause has him.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Nominal {
    /// Index of the name, and where it begins.
    Name(usize, usize),
    /// A pronoun, and whether it stands for several.
    Pronoun(Gender, bool),
    /// The one who tells the book.
    Narrator,
    /// A noun.
    Role(Noun),
}

/// Returns the noun for a person that begins at an offset, and where it ends.
pub(super) fn nominal(text: &[char], names: &Names, at: usize, end: usize) -> Option<(Nominal, usize)> {
    if at >= end {
        return None;
    }
    // `那X`: a name with a demonstrative is the name.
    let shown = matches!(text[at], '那' | '这' | '此') && at + 1 < end;
    for at in [Some(at), shown.then_some(at + 1)].into_iter().flatten() {
        if let Some(name) = names.at(&text[at..end]) {
            return Some(named(text, names, name, at, end)).filter(|(_, to)| CHINESE.parts.head(&text[*to..end]) == 0);
        }
    }
    if let Some(found) = pronoun(text, names, at, end) {
        return Some(found);
    }
    if let Some(found) = described(text, names, at, end) {
        return Some(found);
    }
    // `霆曰`, `霆大笑`: the given name alone.
    let rest = &text[at + 1..end];
    let c = text[at];
    // `心下想道`: the heart thinks for whoever has it.
    let inward = matches!(text[at..end], ['心' | '口' | '腹' | '肚', '下' | '中' | '里' | '内' | '想', ..]);
    let acts = CHINESE.speech.head(rest).max(CHINESE.deeds.head(rest)).max(CHINESE.manner.head(rest)) > 0;
    let word =
        CHINESE.manner.has(&[c]) || CHINESE.objects.has(&[c]) || CHINESE.deeds.has(&[c]) || CHINESE.never.has(&[c]);
    (names.short(c) && acts && !word && !inward).then(|| (Nominal::Role(Noun::plain(at, at + 1)), at + 1))
}

/// A name with what follows it: other names, `等`, `的母亲`.
fn named(text: &[char], names: &Names, name: usize, at: usize, end: usize) -> (Nominal, usize) {
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
    if more > 0 && (more > 1 || text[to] == '们' || follower(&text[to + more..end])) {
        several = true;
        to += more;
    }
    if several {
        return (Nominal::Role(Noun { several, ..Noun::plain(at, to) }), to);
    }
    if let Some(found) = owned(text, names, at, to, end, Owner::Name(name)) {
        return found;
    }
    if let Some(found) = apposed(text, names, to, end) {
        return found;
    }
    (Nominal::Name(name, at), to)
}

/// Whether a clause goes on as it does behind its subject.
pub(super) fn follower(rest: &[char]) -> bool {
    rest.is_empty()
        || matches!(rest[0], '都' | '也' | '一' | '齐' | '忙' | '皆' | '俱' | '便' | '又' | '听' | '见')
        || CHINESE.speech.head(rest) > 0
}

/// `X的母亲`, `他母亲`, and the name where one stands behind: `他母亲某氏`.
pub(super) fn owned(
    text: &[char],
    names: &Names,
    from: usize,
    at: usize,
    end: usize,
    owner: Owner,
) -> Option<(Nominal, usize)> {
    let linked = matches!(text.get(at), Some('的' | '之')) && at < end;
    let start = at + usize::from(linked);
    let length = relation(&text[start..end], linked)?;
    let to = start + length;
    if let Some(name) = names.at(&text[to..end]) {
        return Some((Nominal::Name(name, to), to + names.list[name].form.len()));
    }
    let several = CHINESE.several.head(&text[to..end]);
    let noun = Noun {
        bare: start,
        head: start,
        gender: gender(&text[start..to]),
        owner,
        several: several > 0,
        ..Noun::plain(from, to + several)
    };
    Some((Nominal::Role(noun), to + several))
}

/// `X的乳母Y`: the name behind a relation that no table knows.
fn apposed(text: &[char], names: &Names, at: usize, end: usize) -> Option<(Nominal, usize)> {
    if at >= end || !matches!(text[at], '的' | '之') {
        return None;
    }
    for i in at + 2..end.min(at + 6) {
        if CHINESE.objects.head(&text[i - 1..end]) > 0 || CHINESE.manner.head(&text[i - 1..end]) > 0 {
            return None;
        }
        if let Some(name) = names.at(&text[i..end]) {
            return Some((Nominal::Name(name, i), i + names.list[name].form.len()));
        }
    }
    None
}

/// Returns the length of a word for a relation; right behind its owner only a word that nobody is called by.
fn relation(rest: &[char], linked: bool) -> Option<usize> {
    let kin = CHINESE.generic_female.head(rest).max(CHINESE.generic_male.head(rest));
    let length = if linked { kin.max(CHINESE.roles.head(rest)) } else { kin };
    let length = if linked { length.max(usize::from(rest.first() == Some(&'妻'))) } else { length };
    (length > 1 || linked && length == 1).then_some(length)
}

fn pronoun(text: &[char], names: &Names, at: usize, end: usize) -> Option<(Nominal, usize)> {
    let she = CHINESE.she.has(&text[at..=at]);
    let he = CHINESE.he.has(&text[at..=at]);
    let narrator = CHINESE.narrator.has(&text[at..=at]);
    if !(she || he || narrator) {
        return None;
    }
    let several = CHINESE.several.head(&text[at + 1..end]);
    if several > 0 && !text[at + 1..].starts_with(&['等']) {
        return Some((Nominal::Pronoun(Gender::Unknown, true), at + 1 + several));
    }
    if let Some(found) =
        owned(text, names, at, at + 1, end, Owner::Pronoun).or_else(|| apposed(text, names, at + 1, end))
    {
        return Some(found);
    }
    let who = if narrator {
        Nominal::Narrator
    } else {
        Nominal::Pronoun(if she { Gender::Female } else { Gender::Male }, false)
    };
    Some((who, at + 1))
}
