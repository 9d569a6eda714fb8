//! English tags: the words beside speech that say whose it is.

use super::super::Gender;
use super::super::tables::{
    DEED, DETERMINER, FAINT, FEMALE, KIN, MALE, NARRATOR, POSSESSIVE, PREPOSITION, ROLE, SPEECH,
};
use super::names::Names;
use super::tokens::{NONE, Tokens};

/// Somebody as a phrase of narration has him.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Nominal {
    /// Index of the mention's name.
    Name(usize),
    Pronoun(Gender),
    /// The one who tells the book.
    Narrator,
    /// A role or kinship word: its phrase and gender, and whether it is kinship.
    Role(String, Gender, bool),
}

/// Returns the phrase for a person that begins at a token, and where it ends.
pub(super) fn nominal(book: &Tokens, names: &Names, at: usize, end: usize) -> Option<(Nominal, usize)> {
    if at >= end {
        return None;
    }
    let class = book.class(at);
    if let Some(found) = named(book, names, at, end) {
        return Some(found);
    }
    match book.text(at) {
        "he" => return Some((Nominal::Pronoun(Gender::Male), at + 1)),
        "she" => return Some((Nominal::Pronoun(Gender::Female), at + 1)),
        "they" | "everybody" | "someone" | "somebody" => return Some((Nominal::Pronoun(Gender::Unknown), at + 1)),
        _ => {}
    }
    if class & NARRATOR != 0 {
        return Some((Nominal::Narrator, at + 1));
    }
    if class & (DETERMINER | POSSESSIVE) != 0 {
        return described(book, names, at, end);
    }
    None
}

/// A name, or what is somebody's: `Hale’s sister`.
fn named(book: &Tokens, names: &Names, at: usize, end: usize) -> Option<(Nominal, usize)> {
    if names.at[at] == NONE {
        return None;
    }
    let mention = names.mentions[names.at[at] as usize];
    if mention.end > end {
        return None;
    }
    if !mention.possessive {
        names.people[mention.name]?;
        return Some((Nominal::Name(mention.name), mention.end));
    }
    let (head, after) = head(book, names, mention.end, end)?;
    let class = book.class(head);
    let phrase = format!("{}’s {}", names.list[mention.name].form, book.text(head));
    Some((Nominal::Role(phrase, gender(class), class & KIN != 0), after))
}

/// A phrase with an article or possessive: `the old clerk`, `her mother`, `the astonished Hale`.
fn described(book: &Tokens, names: &Names, at: usize, end: usize) -> Option<(Nominal, usize)> {
    for i in at + 1..end.min(at + 5) {
        if names.at[i] != NONE && !names.mentions[names.at[i] as usize].possessive {
            return nominal(book, names, i, end);
        }
        if book.list[i].word == NONE || book.class(i) & (SPEECH | PREPOSITION) != 0 && book.class(i) & (ROLE | KIN) == 0
        {
            break;
        }
        let class = book.class(i);
        if class & (ROLE | KIN) != 0 {
            let (head, after) = head(book, names, i, end)?;
            let class = book.class(head);
            let text = book.text(head);
            if matches!(
                text,
                "other" | "others" | "former" | "latter" | "first" | "second" | "third" | "another" | "voice"
            ) {
                return Some((Nominal::Pronoun(Gender::Unknown), after));
            }
            let kin = class & KIN != 0 && book.class(at) & POSSESSIVE != 0;
            let before = book.text(i.max(head) - 1);
            let phrase = if kin {
                format!("{} {text}", book.text(at))
            } else if before.ends_with("'s") && head > at + 1 {
                format!("the {} {text}", before.replace('\'', "’"))
            } else {
                format!("the {text}")
            };
            return Some((Nominal::Role(phrase, gender(class), kin), after));
        }
    }
    None
}

/// Returns the last noun of a run of nouns for people from a token on, and where the run ends.
fn head(book: &Tokens, names: &Names, at: usize, end: usize) -> Option<(usize, usize)> {
    let mut head = None;
    for i in at..end.min(at + 4) {
        if book.list[i].word == NONE || names.at[i] != NONE {
            break;
        }
        if book.class(i) & (ROLE | KIN) != 0 {
            head = Some(i);
        } else if head.is_some() && !book.text(i).ends_with("'s") {
            break;
        }
    }
    head.map(|head| (head, head + 1))
}

fn gender(class: u32) -> Gender {
    match (class & FEMALE != 0, class & MALE != 0) {
        (true, false) => Gender::Female,
        (false, true) => Gender::Male,
        _ => Gender::Unknown,
    }
}

/// What narration beside speech says of the speaker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tag {
    /// A verb of speech and its subject.
    Says(Nominal),
    /// Somebody who does something.
    Acts(Nominal),
}

/// Reads the narration `[at, end)` behind speech. `comma` says that the speech ended without a full stop.
pub(super) fn behind(book: &Tokens, names: &Names, at: usize, end: usize, comma: bool) -> Option<Tag> {
    let mut i = at;
    while i < end
        && (book.list[i].word == NONE || matches!(book.text(i), "and" | "then" | "so" | "thus" | "here" | "again"))
    {
        if matches!(book.list[i].mark, '.' | '!' | '?' | ':') {
            return None;
        }
        i += 1;
    }
    if book.class(i) & SPEECH != 0 && i < end && !book.list[i].capital {
        for k in i + 1..end.min(i + 3) {
            if let Some((who, _)) = nominal(book, names, k, end) {
                return Some(Tag::Says(who));
            }
        }
        return None;
    }
    // `was the reply of Hale`, `came in a voice`: the first phrase behind the verb stays unread.
    let (who, after) = nominal(book, names, i, end)?;
    let reach = if comma { 10 } else { 7 };
    for k in after..end.min(after + reach) {
        let class = book.class(k);
        if book.list[k].word == NONE {
            if matches!(book.list[k].mark, ',' | '(' | ')') && comma {
                continue;
            }
            break;
        }
        let noun = k > 0 && book.class(k - 1) & (DETERMINER | POSSESSIVE) != 0 || book.text(k - 1) == "to";
        if class & SPEECH != 0 && !noun && (class & FAINT == 0 || comma && k <= after + 1) {
            return Some(Tag::Says(who));
        }
    }
    Some(Tag::Acts(who))
}

/// Reads the narration `[at, end)` before speech. `open` says that the speech stands in the same paragraph.
pub(super) fn before(book: &Tokens, names: &Names, at: usize, end: usize, open: bool) -> Option<Tag> {
    if at >= end {
        return None;
    }
    let last = book.list[end - 1];
    let leads = last.word != NONE && open || matches!(last.mark, ',' | ':' | '—' | '-');
    let stop = if last.word == NONE { end - 1 } else { end };
    let start = (at..stop).rev().find(|&i| matches!(book.list[i].mark, '.' | '!' | '?')).map_or(at, |i| i + 1);
    let subject = subject(book, names, start, stop);
    if !leads {
        return subject.map(Tag::Acts);
    }
    let verb = (start..stop).rev().take(25).find(|&i| {
        book.class(i) & SPEECH != 0
            && !(i > start && book.class(i - 1) & (DETERMINER | POSSESSIVE) != 0)
            && (book.class(i) & FAINT == 0 || i + 4 > stop)
    });
    let Some(verb) = verb else {
        return if last.mark == ':' { subject.map(Tag::Says) } else { subject.map(Tag::Acts) };
    };
    // `said Hale:` names the speaker behind the verb where nobody stands before it.
    self::subject(book, names, start, verb)
        .or_else(|| (verb + 1..stop.min(verb + 3)).find_map(|i| nominal(book, names, i, stop)).map(|(who, _)| who))
        .map(Tag::Says)
}

/// Returns who acts in `[at, end)`: the first phrase that no preposition or verb governs; a pronoun of the other sex behind it wins.
fn subject(book: &Tokens, names: &Names, at: usize, end: usize) -> Option<Nominal> {
    let mut found: Option<Nominal> = None;
    let mut i = at;
    while i < end {
        let Some((who, after)) = nominal(book, names, i, end) else {
            i += 1;
            continue;
        };
        let governed = i > at
            && (book.class(i - 1) & (PREPOSITION | SPEECH | DEED) != 0
                && !matches!(book.text(i - 1), "as" | "till" | "until" | "before" | "after"));
        if !governed {
            match (&found, &who) {
                (None, _) => found = Some(who),
                (Some(Nominal::Name(name)), Nominal::Pronoun(gender)) => {
                    let (female, male) = (names.list[*name].female, names.list[*name].male);
                    let apart = match gender {
                        Gender::Female => male > female * 2,
                        Gender::Male => female > male * 2,
                        Gender::Unknown => false,
                    };
                    if apart {
                        found = Some(who);
                    }
                }
                _ => {}
            }
        }
        i = after.max(i + 1);
    }
    found
}
