//! English clauses: how somebody stands in a sentence, and who acts in it.

use super::super::tables::{DEED, DETERMINER, PREPOSITION, SPEECH, SUBORDINATOR, TITLE_LOOSE};
use super::names::Names;
use super::tags::{Nominal, nominal};
use super::tokens::{NONE, Tokens};

/// How a phrase for somebody stands in its sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// Behind a verb or a preposition.
    Object,
    /// The subject of a clause that another governs.
    Sub,
    /// The subject of a main clause.
    Main,
}

/// Says how the phrase at a token stands in the sentence that begins at `start`. `last` is where the phrase before it ended, and how
/// that stood.
pub(super) fn place(book: &Tokens, at: usize, start: usize, last: Option<(usize, Place)>) -> Place {
    let mut i = at;
    while i > start && book.class(i - 1) & TITLE_LOOSE != 0 && book.class(i - 1) & DETERMINER == 0 {
        i -= 1;
    }
    if i <= start {
        return Place::Main;
    }
    let pronoun = matches!(book.text(at), "he" | "she" | "they" | "i");
    let before = book.list[i - 1];
    if before.word() == NONE {
        return Place::Main;
    }
    let (word, class) = (book.text(i - 1), book.class(i - 1));
    if class & SUBORDINATOR != 0 {
        let likened = matches!(word, "than" | "as" | "before" | "after" | "till" | "until" | "since") && !pronoun;
        // `after Hale` may govern no clause at all.
        let clause =
            !likened || (at..book.list.len().min(at + 6)).any(|k| past(book.text(k)) || auxiliary(book.text(k)));
        return if clause { Place::Sub } else { Place::Object };
    }
    if matches!(word, "and" | "but" | "or" | "nor") {
        if !pronoun
            && let Some((end, place)) = last
            && end == i - 1
        {
            return place;
        }
        return Place::Main;
    }
    if pronoun || auxiliary(word) || class & (PREPOSITION | SPEECH | DEED) == 0 && adverb(word) {
        return Place::Main;
    }
    Place::Object
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

/// Returns who acts in `[at, end)`: the one right before `verb`, else the last subject of a main clause, else of any.
pub(super) fn subject(book: &Tokens, names: &Names, at: usize, end: usize, verb: Option<usize>) -> Option<Nominal> {
    let mut best: Option<(Place, Nominal)> = None;
    let mut last: Option<(usize, Place)> = None;
    let mut i = at;
    while i < end {
        let Some((who, after)) = nominal(book, names, i, end) else {
            i += 1;
            continue;
        };
        let place = place(book, i, at, last);
        last = Some((after, place));
        let next = verb.unwrap_or(end);
        let near =
            verb.is_some() && place != Place::Object && after <= next && (after..next).all(|k| adverb(book.text(k)));
        // `by Hale, who, flying to her, cried`: whoever the relative clause tells of.
        let told = verb.is_some()
            && (book.text(after) == "who" || book.list[after].word() == NONE && book.text(after + 1) == "who")
            && next - after < 12;
        if near || told {
            return Some(who);
        }
        // `They had parted when Hale came and said`: whoever is one of them speaks.
        if place != Place::Object && who != Nominal::Several && best.as_ref().is_none_or(|(known, _)| place >= *known) {
            best = Some((place, who));
        }
        i = after.max(i + 1);
    }
    best.map(|(_, who)| who)
}

/// Whether a word looks like a verb of the past, so that behind speech and before a subject it hands that speech over.
pub(super) fn past(word: &str) -> bool {
    word.len() > 4 && word.ends_with("ed")
}
