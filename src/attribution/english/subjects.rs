//! The subject of an English clause.

use super::names::Names;
use super::noun_phrases::{NounPhrase, noun_phrase};
use super::sentence_position::{SentencePosition, adverb, sentence_position};
use super::tokens::{NONE, Tokens};

/// Returns the subject in `[at, end)`: the one right before `verb`, else the last subject of a main clause, else of any
/// clause.
pub(super) fn subject(book: &Tokens, names: &Names, at: usize, end: usize, verb: Option<usize>) -> Option<NounPhrase> {
    let mut best: Option<(SentencePosition, NounPhrase)> = None;
    let mut last: Option<(usize, SentencePosition)> = None;
    let mut i = at;
    while i < end {
        let Some((phrase, after)) = noun_phrase(book, names, i, end) else {
            i += 1;
            continue;
        };
        let position = sentence_position(book, i, at, last);
        last = Some((after, position));
        let next = verb.unwrap_or(end);
        let near = verb.is_some()
            && position != SentencePosition::Object
            && after <= next
            && (after..next).all(|k| adverb(book.text(k)));
        // `by Hale, who, flying to her, cried`: the subject of the relative clause.
        let in_relative_clause = verb.is_some()
            && (book.text(after) == "who" || book.list[after].word() == NONE && book.text(after + 1) == "who")
            && next - after < 12;
        if near || in_relative_clause {
            return Some(phrase);
        }
        // `They had parted when Hale came and said`: one of them speaks, so a plural subject does not count.
        if position != SentencePosition::Object
            && phrase != NounPhrase::Several
            && best.as_ref().is_none_or(|(known, _)| position >= *known)
        {
            best = Some((position, phrase));
        }
        i = after.max(i + 1);
    }
    best.map(|(_, phrase)| phrase)
}
