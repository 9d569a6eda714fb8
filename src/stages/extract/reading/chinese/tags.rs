//! Chinese tags: the clauses beside speech that say whose it is.

use super::super::Gender;
use super::super::tables::CHINESE;
use super::names::{Names, bare, clause_end, open, role, sentence_end};

/// Somebody as a clause has him.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Nominal {
    /// Index of the name, and where it begins.
    Name(usize, usize),
    Pronoun(Gender),
    /// The one who tells the book.
    Narrator,
    /// A noun for people: its phrase, where it begins, and its gender.
    Role(Vec<char>, usize, Gender),
}

/// What narration beside speech says of the speaker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tag {
    /// A verb of speech and its subject.
    Says(Nominal),
    /// A verb of speech whose subject is left out, with who acted last.
    Goes(Option<Nominal>),
    /// Somebody who does something.
    Acts(Nominal),
}

/// Returns who is the subject of a clause `[at, end)` of the text.
fn subject(text: &[char], names: &Names, at: usize, end: usize, plain: bool) -> Option<Nominal> {
    let clause = &text[at..end];
    let opened = clause.len() - open(clause).len();
    // An opening word may have eaten the beginning of a name.
    let eaten =
        (0..opened).find(|&k| names.at(&clause[k..]).is_some_and(|name| k + names.list[name].form.len() > opened));
    let mut i = eaten.unwrap_or(opened);
    let first = i;
    while i < clause.len() {
        let rest = &clause[i..];
        if let Some(name) = names.at(rest) {
            let length = names.list[name].form.len();
            let governed = i > first && CHINESE.objects.tail(&clause[..i]) > 0;
            let owner = matches!(rest.get(length), Some('的' | '之')) && rest.len() > length + 1;
            if owner
                && !governed
                && let Some(found) = kin(text, at + i, at + i + length + 1, end)
            {
                return Some(found);
            }
            if !governed && !owner {
                return Some(Nominal::Name(name, at + i));
            }
            i += length;
            continue;
        }
        if i == first
            && let Some(found) = pronoun(rest)
        {
            return Some(found);
        }
        if i == first
            && let Some(found) = described(text, at + i, end)
        {
            return Some(found);
        }
        i += 1;
    }
    if plain { unnamed(text, at, end) } else { None }
}

fn pronoun(rest: &[char]) -> Option<Nominal> {
    let plural = rest.get(1) == Some(&'们');
    // `他母亲`: the pronoun only owns.
    if rest.len() > 2 && !plural {
        for length in [3, 2, 1] {
            if rest.len() > length && role(&rest[1..=length]) {
                return None;
            }
        }
    }
    if CHINESE.she.has(&rest[..1]) {
        return Some(Nominal::Pronoun(if plural { Gender::Unknown } else { Gender::Female }));
    }
    if CHINESE.he.has(&rest[..1]) {
        return Some(Nominal::Pronoun(if plural { Gender::Unknown } else { Gender::Male }));
    }
    (CHINESE.narrator.has(&rest[..1]) && !plural).then_some(Nominal::Narrator)
}

/// A noun for people with what describes it: `那老者`, `他母亲`, `一个花白胡子的人`.
fn described(text: &[char], at: usize, end: usize) -> Option<Nominal> {
    let mut i = at;
    while i < end && i < at + 12 && !clause_end(text[i]) {
        for length in (1..=4.min(end - i)).rev() {
            let word = &text[i..i + length];
            let person = role(word) || word == ['人'] && i > at && text[i - 1] == '的';
            if person && !matches!(text.get(i + length), Some('的' | '之')) {
                let from = if word == ['人'] { at } else { i };
                if text.get(i + length) == Some(&'们') && i + length < end {
                    return Some(Nominal::Role(text[from..=i + length].to_vec(), from, Gender::Unknown));
                }
                return Some(Nominal::Role(text[from..i + length].to_vec(), from, gender(word)));
            }
        }
        // What describes ends at a verb of speech.
        if i > at && CHINESE.speech.head(&text[i..end]) > 1 {
            return None;
        }
        i += 1;
    }
    None
}

/// `X的母亲`.
fn kin(text: &[char], from: usize, at: usize, end: usize) -> Option<Nominal> {
    (1..=4.min(end - at))
        .rev()
        .find(|&length| role(&text[at..at + length]))
        .map(|length| Nominal::Role(text[from..at + length].to_vec(), from, gender(&text[at..at + length])))
}

/// Whatever stands before the verb of speech, where no table knows it.
fn unnamed(text: &[char], at: usize, end: usize) -> Option<Nominal> {
    let subject = bare(&text[at..end])?;
    let clean = subject.iter().all(|c| c.is_alphabetic() && !c.is_ascii() && !CHINESE.never.has(&[*c]));
    let from = (at..end).find(|&i| text[i..].starts_with(&subject))?;
    let known = subject.len() == 1 && !CHINESE.roles.has(&subject);
    (clean && !known).then_some(Nominal::Role(subject, from, Gender::Unknown))
}

fn gender(word: &[char]) -> Gender {
    if CHINESE.generic_female.tail(word) > 0 {
        Gender::Female
    } else if CHINESE.generic_male.tail(word) > 0 {
        Gender::Male
    } else {
        Gender::Unknown
    }
}

/// Reads the narration `[at, end)` before speech; `outside` says that it stands in the paragraph before.
pub(super) fn before(text: &[char], names: &Names, at: usize, end: usize, outside: bool) -> Option<Tag> {
    let mut stop = end;
    let mut colon = false;
    let mut point = false;
    while stop > at && (clause_end(text[stop - 1]) || text[stop - 1].is_whitespace()) {
        colon |= matches!(text[stop - 1], '：' | ':');
        point |= sentence_end(text[stop - 1]);
        stop -= 1;
    }
    if stop == at || outside && !colon && point {
        return None;
    }
    let clauses = clauses(text, at, stop);
    let (last, earlier) = clauses.split_last()?;
    let speech = CHINESE.ends_in_speech(&text[last.0..last.1]);
    let leads = colon || speech && !point;
    if !leads {
        let sentence = sentence(text, &clauses);
        return sentence.iter().find_map(|&(from, to)| subject(text, names, from, to, false)).map(Tag::Acts);
    }
    // A word that no table knows is a subject only at a sentence's beginning.
    let begins = speech && earlier.last().is_none_or(|&(_, to)| text[to..last.0].iter().any(|&c| sentence_end(c)));
    if let Some(who) = subject(text, names, last.0, last.1, begins) {
        return Some(Tag::Says(who));
    }
    // The subject of the same sentence, then whoever acted before it.
    let mut within = true;
    let mut after = last.0;
    for &(from, to) in earlier.iter().rev() {
        within &= !text[to..after].iter().any(|&c| sentence_end(c));
        after = from;
        if let Some(who) = subject(text, names, from, to, false) {
            return Some(if within { Tag::Says(who) } else { Tag::Goes(Some(who)) });
        }
    }
    Some(Tag::Goes(None))
}

/// Reads the narration `[at, end)` behind speech.
pub(super) fn behind(text: &[char], names: &Names, at: usize, end: usize) -> Option<Tag> {
    let clauses = clauses(text, at, end);
    let first = clauses.first()?;
    let who = subject(text, names, first.0, first.1, CHINESE.ends_in_speech(&text[first.0..first.1]));
    let sentence: Vec<(usize, usize)> = {
        let mut list = Vec::new();
        for &(from, to) in clauses.iter().take(5) {
            list.push((from, to));
            if text.get(to).is_some_and(|&c| sentence_end(c)) {
                break;
            }
        }
        list
    };
    let speech = sentence.iter().any(|&(from, to)| CHINESE.ends_in_speech(&text[from..to]));
    match (who, speech) {
        (Some(who), true) => Some(Tag::Says(who)),
        (Some(who), false) => Some(Tag::Acts(who)),
        (None, _) => None,
    }
}

/// Returns the clauses of the last sentence.
fn sentence<'a>(text: &[char], clauses: &'a [(usize, usize)]) -> &'a [(usize, usize)] {
    let start = clauses
        .windows(2)
        .rposition(|pair| text[pair[0].1..pair[1].0].iter().any(|&c| sentence_end(c)))
        .map_or(0, |i| i + 1);
    &clauses[start..]
}

fn clauses(text: &[char], at: usize, end: usize) -> Vec<(usize, usize)> {
    let mut clauses = Vec::new();
    let mut start = None;
    for (i, &c) in text.iter().enumerate().take(end).skip(at) {
        if clause_end(c) || c.is_whitespace() {
            if let Some(from) = start.take() {
                clauses.push((from, i));
            }
        } else {
            start.get_or_insert(i);
        }
    }
    if let Some(from) = start {
        clauses.push((from, end));
    }
    clauses
}
