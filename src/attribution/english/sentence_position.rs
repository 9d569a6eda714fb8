//! The grammatical position of an English noun phrase in its sentence.

use super::tokens::{NONE, Tokens};
use crate::attribution::words::english::ENGLISH;
use crate::attribution::words::english::{ACTION, DETERMINER, PREPOSITION, SPEECH, SUBORDINATOR, TITLE_LOOSE};

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
        let is_comparison = matches!(word, "than" | "as" | "before" | "after" | "till" | "until" | "since") && !pronoun;
        // `after Hale` may be a prepositional phrase rather than a clause.
        let clause = !is_comparison
            || (at..book.list.len().min(at + 6))
                .any(|k| looks_like_past_tense(book.text(k)) || auxiliary(book.text(k)));
        return if clause { SentencePosition::Sub } else { SentencePosition::Object };
    }
    if matches!(word, "and" | "but" | "or" | "nor") {
        if !pronoun
            && let Some((end, position)) = last
            && end == i - 1
        {
            return position;
        }
        return SentencePosition::Main;
    }
    if pronoun || auxiliary(word) || class & (PREPOSITION | SPEECH | ACTION) == 0 && adverb(word) {
        return SentencePosition::Main;
    }
    SentencePosition::Object
}

fn auxiliary(word: &str) -> bool {
    ENGLISH.auxiliaries.contains(word)
}

pub(super) fn adverb(word: &str) -> bool {
    word.len() > 4 && word.ends_with("ly") || ENGLISH.adverbs.contains(word)
}

/// Whether a word looks like a past-tense verb. Next to speech and before a subject, it is then a speech verb.
pub(super) fn looks_like_past_tense(word: &str) -> bool {
    word.len() > 4 && word.ends_with("ed")
}
