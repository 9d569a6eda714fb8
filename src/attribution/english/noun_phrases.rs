//! English noun phrases that refer to people: names, pronouns, role and kinship nouns.

use super::names::Names;
use super::tokens::{NONE, Tokens};
use crate::attribution::Gender;
use crate::attribution::words::english::{
    DETERMINER, FEMALE, KIN, MALE, NARRATOR, POSSESSIVE, PREPOSITION, ROLE, SPEECH,
};

/// A noun phrase that refers to a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NounPhrase {
    /// A name, as an index into [`Names::list`].
    Name(usize),
    Pronoun(Gender),
    /// Several people.
    Several,
    /// The narrator.
    Narrator,
    /// A role or kinship noun: phrase, gender, and whether it is a kinship noun.
    Role(String, Gender, bool),
}

/// Returns the noun phrase for a person that begins at a token, and its end.
pub(super) fn noun_phrase(book: &Tokens, names: &Names, at: usize, end: usize) -> Option<(NounPhrase, usize)> {
    if at >= end {
        return None;
    }
    let class = book.class(at);
    if let Some(found) = name_phrase(book, names, at, end) {
        return Some(found);
    }
    match book.text(at) {
        "he" => return Some((NounPhrase::Pronoun(Gender::Male), at + 1)),
        "she" => return Some((NounPhrase::Pronoun(Gender::Female), at + 1)),
        "they" | "everybody" | "everyone" | "both" | "we" => return Some((NounPhrase::Several, at + 1)),
        "someone" | "somebody" => return Some((NounPhrase::Pronoun(Gender::Unknown), at + 1)),
        _ => {}
    }
    if class & NARRATOR != 0 {
        return Some((NounPhrase::Narrator, at + 1));
    }
    if class & (DETERMINER | POSSESSIVE) != 0 {
        return described_noun(book, names, at, end);
    }
    None
}

/// A name, or a noun phrase with a possessive name: `Hale’s sister`.
fn name_phrase(book: &Tokens, names: &Names, at: usize, end: usize) -> Option<(NounPhrase, usize)> {
    let mention = names.mention(at)?;
    if mention.end > end {
        return None;
    }
    if !mention.possessive {
        names.people[mention.name]?;
        return Some((NounPhrase::Name(mention.name), mention.end));
    }
    let (head, after) = head_noun(book, names, mention.end, end)?;
    if book.text(head) == "voice" {
        names.people[mention.name]?;
        return Some((NounPhrase::Name(mention.name), after));
    }
    let class = book.class(head);
    let phrase = format!("{}’s {}", names.list[mention.name].form, book.text(head));
    Some((NounPhrase::Role(phrase, class_gender(class), class & KIN != 0), after))
}

/// A noun phrase with an article or possessive pronoun: `the old clerk`, `her mother`, `the astonished Hale`.
fn described_noun(book: &Tokens, names: &Names, at: usize, end: usize) -> Option<(NounPhrase, usize)> {
    for i in at + 1..end.min(at + 5) {
        if names.person(i).is_some() && names.mention(i).is_some_and(|mention| !mention.possessive) {
            return noun_phrase(book, names, i, end);
        }
        if book.list[i].word() == NONE
            || book.class(i) & (SPEECH | PREPOSITION) != 0 && book.class(i) & (ROLE | KIN) == 0
        {
            break;
        }
        let class = book.class(i);
        if class & (ROLE | KIN) != 0 {
            let (head, after) = head_noun(book, names, i, end)?;
            let class = book.class(head);
            let text = book.text(head);
            let owner = match book.text(at) {
                "his" => Some(NounPhrase::Pronoun(Gender::Male)),
                "her" => Some(NounPhrase::Pronoun(Gender::Female)),
                "my" => Some(NounPhrase::Narrator),
                _ => None,
            };
            if let Some(owner) = owner.filter(|_| text == "voice") {
                return Some((owner, after));
            }
            if matches!(
                text,
                "other" | "others" | "former" | "latter" | "first" | "second" | "third" | "another" | "voice"
            ) {
                return Some((NounPhrase::Pronoun(Gender::Unknown), after));
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
            return Some((NounPhrase::Role(phrase, class_gender(class), kin), after));
        }
    }
    None
}

/// Returns the last noun of a run of role or kinship nouns from a token on, and the end of the run.
fn head_noun(book: &Tokens, names: &Names, at: usize, end: usize) -> Option<(usize, usize)> {
    let mut head = None;
    for i in at..end.min(at + 4) {
        if book.list[i].word() == NONE || names.person(i).is_some() {
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

fn class_gender(class: u32) -> Gender {
    match (class & FEMALE != 0, class & MALE != 0) {
        (true, false) => Gender::Female,
        (false, true) => Gender::Male,
        _ => Gender::Unknown,
    }
}
