//! English speech tags: the narration beside speech that shows who speaks.

use super::names::Names;
use super::noun_phrases::{NounPhrase, noun_phrase};
use super::sentence_position::looks_like_past_tense;
use super::subjects::subject;
use super::tokens::{NONE, Tokens};
use crate::attribution::Gender;
use crate::attribution::words::english::{AMBIGUOUS_SPEECH, DETERMINER, POSSESSIVE, SPEECH, UTTERANCE};

/// What narration beside speech shows about the speaker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tag {
    /// The subject of a speech verb.
    Speech(NounPhrase),
    /// The subject of another verb.
    Action(NounPhrase),
}

/// Parses the narration `[at, end)` after speech. `comma` says that the speech did not end in a full stop.
pub(super) fn tag_after_speech(book: &Tokens, names: &Names, at: usize, end: usize, comma: bool) -> Option<Tag> {
    let mut i = at;
    while i < end
        && (book.list[i].word() == NONE
            || matches!(book.text(i), "and" | "then" | "so" | "thus" | "here" | "again")
            || book.text(i).len() > 4 && book.text(i).ends_with("ly") && !book.list[i].capital())
    {
        if matches!(book.list[i].mark(), '.' | '!' | '?' | ':') {
            return None;
        }
        i += 1;
    }
    if i >= end {
        return None;
    }
    if !book.list[i].capital() && (book.class(i) & SPEECH != 0 || comma && looks_like_past_tense(book.text(i))) {
        for k in i + 1..end.min(i + 3) {
            if let Some((subject, _)) = noun_phrase(book, names, k, end) {
                return Some(Tag::Speech(subject));
            }
        }
        return None;
    }
    if !book.list[i].capital() && matches!(book.text(i), "was" | "were" | "came" | "is" | "are") {
        return utterance_owner(book, names, i + 1, end).map(Tag::Speech);
    }
    let (subject, after) = noun_phrase(book, names, i, end)?;
    let reach = if comma { 10 } else { 7 };
    for k in after..end.min(after + reach) {
        let class = book.class(k);
        if book.list[k].word() == NONE {
            if matches!(book.list[k].mark(), ',' | '(' | ')') && comma {
                continue;
            }
            break;
        }
        let noun = k > 0 && book.class(k - 1) & (DETERMINER | POSSESSIVE) != 0 || book.text(k - 1) == "to";
        if class & SPEECH != 0 && !noun && (class & AMBIGUOUS_SPEECH == 0 || comma && k <= after + 1) {
            return Some(Tag::Speech(subject));
        }
    }
    Some(Tag::Action(subject))
}

/// Returns whose utterance `Hale’s reply`, `his answer` or `the reply of Hale` is.
fn utterance_owner(book: &Tokens, names: &Names, at: usize, end: usize) -> Option<NounPhrase> {
    if at >= end {
        return None;
    }
    let noun = (at..end.min(at + 6)).find(|&i| book.class(i) & UTTERANCE != 0)?;
    if let Some(mention) = names.mention(at).filter(|mention| mention.possessive && mention.end <= noun) {
        names.people[mention.name]?;
        return Some(NounPhrase::Name(mention.name));
    }
    match book.text(at) {
        "his" => Some(NounPhrase::Pronoun(Gender::Male)),
        "her" => Some(NounPhrase::Pronoun(Gender::Female)),
        "my" => Some(NounPhrase::Narrator),
        _ if book.text(noun + 1) == "of" => noun_phrase(book, names, noun + 2, end).map(|(subject, _)| subject),
        _ => None,
    }
}

/// Parses the narration `[at, end)` before speech. `open` says that the speech is in the same paragraph.
pub(super) fn tag_before_speech(book: &Tokens, names: &Names, at: usize, end: usize, open: bool) -> Option<Tag> {
    if at >= end {
        return None;
    }
    let last = book.list[end - 1];
    let leads = last.word() != NONE && open || matches!(last.mark(), ',' | ':' | '—' | '-');
    let mut stop = end;
    while stop > at && book.list[stop - 1].word() == NONE {
        stop -= 1;
    }
    let start = (at..stop).rev().find(|&i| matches!(book.list[i].mark(), '.' | '!' | '?')).map_or(at, |i| i + 1);
    // `From the stairs came Hale’s voice.`
    let came = |i: usize| i > start && matches!(book.text(i - 1), "came" | "was" | "rose" | "broke" | "cut");
    let voice = (start..stop).rev().take(6).filter(|&i| came(i)).find_map(|i| noun_phrase(book, names, i, stop));
    if let Some((subject, end)) = voice
        && end == stop
        && book.text(end - 1) == "voice"
        && subject != NounPhrase::Pronoun(Gender::Unknown)
    {
        return Some(Tag::Speech(subject));
    }
    if !leads {
        return subject(book, names, start, stop, None).map(Tag::Action);
    }
    let verb = (start..stop).rev().take(25).find(|&i| {
        book.class(i) & SPEECH != 0
            && !(i > start && book.class(i - 1) & (DETERMINER | POSSESSIVE) != 0)
            && (book.class(i) & AMBIGUOUS_SPEECH == 0 || i + 4 > stop)
    });
    let Some(verb) = verb else {
        let subject = subject(book, names, start, stop, None)?;
        return Some(if last.mark() == ':' { Tag::Speech(subject) } else { Tag::Action(subject) });
    };
    // `thus accosted by Hale`: the speaker follows the verb.
    if book.text(verb + 1) == "by"
        && let Some((subject, _)) = noun_phrase(book, names, verb + 2, stop)
    {
        return Some(Tag::Speech(subject));
    }
    // `said Hale:` has the speaker after the verb, if no one precedes it.
    subject(book, names, start, verb, Some(verb))
        .or_else(|| {
            (verb + 1..stop.min(verb + 3)).find_map(|i| noun_phrase(book, names, i, stop)).map(|(subject, _)| subject)
        })
        .map(Tag::Speech)
}
