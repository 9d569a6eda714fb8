//! English clauses: the grammatical position of a noun phrase, and the subject of a sentence.

use super::names::Names;
use super::tags::{NounPhrase, noun_phrase};
use super::tokens::{NONE, Tokens};
use crate::attribution::tables::{DEED, DETERMINER, PREPOSITION, SPEECH, SUBORDINATOR, TITLE_LOOSE};

/// Grammatical position of a noun phrase for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SentencePosition {
    /// Object of a verb or preposition.
    Object,
    /// Subject of a subordinate clause.
    Sub,
    /// Subject of a main clause.
    Main,
}

/// Returns the position of the noun phrase at a token in the sentence that begins at `start`. `last` is the end and
/// position of the previous noun phrase.
pub(super) fn sentence_position(
    book: &Tokens,
    at: usize,
    start: usize,
    last: Option<(usize, SentencePosition)>,
) -> SentencePosition {
    let mut i = at;
    while i > start && book.class(i - 1) & TITLE_LOOSE != 0 && book.class(i - 1) & DETERMINER == 0 {
        i -= 1;
    }
    if i <= start {
        return SentencePosition::Main;
    }
    let pronoun = matches!(book.text(at), "he" | "she" | "they" | "i");
    let before = book.list[i - 1];
    if before.word() == NONE {
        return SentencePosition::Main;
    }
    let (word, class) = (book.text(i - 1), book.class(i - 1));
    if class & SUBORDINATOR != 0 {
        let likened = matches!(word, "than" | "as" | "before" | "after" | "till" | "until" | "since") && !pronoun;
        // `after Hale` may be a prepositional phrase rather than a clause.
        let clause = !likened
            || (at..book.list.len().min(at + 6))
                .any(|k| looks_like_past_tense(book.text(k)) || auxiliary(book.text(k)));
        return if clause { SentencePosition::Sub } else { SentencePosition::Object };
    }
    if matches!(word, "and" | "but" | "or" | "nor") {
        if !pronoun
            && let Some((end, place)) = last
            && end == i - 1
        {
            return place;
        }
        return SentencePosition::Main;
    }
    if pronoun || auxiliary(word) || class & (PREPOSITION | SPEECH | DEED) == 0 && adverb(word) {
        return SentencePosition::Main;
    }
    SentencePosition::Object
}

fn auxiliary(word: &str) -> bool {
    matches!(
        word,
        "did" | "had" | "was" | "were" | "could" | "would" | "should" | "has" | "is" | "does" | "do" | "might" | "must"
    )
}

fn adverb(word: &str) -> bool {
    word.len() > 4 && word.ends_with("ly")
        || matches!(
            word,
            "then"
                | "now"
                | "here"
                | "there"
                | "soon"
                | "again"
                | "also"
                | "too"
                | "never"
                | "once"
                | "ever"
                | "just"
                | "still"
                | "even"
                | "perhaps"
                | "meanwhile"
                | "afterwards"
                | "however"
                | "so"
                | "yet"
                | "for"
                | "last"
                | "first"
                | "this"
                | "thus"
                | "moment"
                | "only"
        )
}

/// Returns the subject in `[at, end)`: the one right before `verb`, else the last subject of a main clause, else of any
/// clause.
pub(super) fn subject(book: &Tokens, names: &Names, at: usize, end: usize, verb: Option<usize>) -> Option<NounPhrase> {
    let mut best: Option<(SentencePosition, NounPhrase)> = None;
    let mut last: Option<(usize, SentencePosition)> = None;
    let mut i = at;
    while i < end {
        let Some((who, after)) = noun_phrase(book, names, i, end) else {
            i += 1;
            continue;
        };
        let place = sentence_position(book, i, at, last);
        last = Some((after, place));
        let next = verb.unwrap_or(end);
        let near = verb.is_some()
            && place != SentencePosition::Object
            && after <= next
            && (after..next).all(|k| adverb(book.text(k)));
        // `by Hale, who, flying to her, cried`: the subject of the relative clause.
        let told = verb.is_some()
            && (book.text(after) == "who" || book.list[after].word() == NONE && book.text(after + 1) == "who")
            && next - after < 12;
        if near || told {
            return Some(who);
        }
        // `They had parted when Hale came and said`: one of them speaks, so a plural subject does not count.
        if place != SentencePosition::Object
            && who != NounPhrase::Several
            && best.as_ref().is_none_or(|(known, _)| place >= *known)
        {
            best = Some((place, who));
        }
        i = after.max(i + 1);
    }
    best.map(|(_, who)| who)
}

/// Whether a word looks like a past-tense verb. Next to speech and before a subject, it is then a speech verb.
pub(super) fn looks_like_past_tense(word: &str) -> bool {
    word.len() > 4 && word.ends_with("ed")
}
