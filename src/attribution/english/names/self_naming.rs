//! Statements of a name in the first or second person: `my name is Hale`, `you must be Hale`.

use super::Mention;
use crate::attribution::english::tokens::{NONE, Tokens};
use crate::attribution::words::english::ENGLISH;

/// Whether the clause at a token is the speaker's own assertion: not `if I’m Hale`, and not a nested quotation.
fn is_assertion(book: &Tokens, at: usize) -> bool {
    let before = at.checked_sub(1).filter(|&before| book.list[before].quote == book.list[at].quote);
    let opens = before
        .is_none_or(|before| book.list[before].word() == NONE || ENGLISH.assertion_openers.contains(book.text(before)));
    opens && !book.list[at].nested()
}

/// Whether a name is stated as the speaker's own: `my name is Hale`, `I am Hale`, `call me Hale`, `what a clever Toad I
/// am`.
pub(in crate::attribution::english) fn states_own_name(book: &Tokens, mention: &Mention) -> bool {
    if mention.possessive {
        return false;
    }
    let quote = book.list[mention.first].quote;
    let back = |n: usize| {
        mention.first.checked_sub(n).map_or("", |at| if book.list[at].quote == quote { book.text(at) } else { "" })
    };
    let on = |n: usize| {
        book.list
            .get(mention.end + n)
            .map_or("", |token| if token.quote == quote { book.text(mention.end + n) } else { "" })
    };
    let one = (1..4).any(|n| matches!(back(n), "a" | "an"));
    if quote != NONE && one && on(0) == "i" && on(1) == "am" {
        return true;
    }
    // The argument is how many tokens before the name the statement begins.
    let asserted = |n: usize| is_assertion(book, mention.first - n);
    match back(1) {
        "i'm" => asserted(1),
        "name's" => true,
        // `I am the Toad`, for characters known by what they are.
        "the" => quote != NONE && back(2) == "am" && back(3) == "i" && asserted(3),
        "am" => back(2) == "i" && asserted(2),
        "is" | "was" => back(2) == "name" && back(3) == "my" && asserted(3),
        "me" => matches!(back(2), "call" | "called" | "christened" | "named"),
        _ => false,
    }
}

/// Whether the addressee is told that the name is theirs: `you must be Hale`, `you’re Hale`.
pub(in crate::attribution::english) fn is_told_own_name(book: &Tokens, mention: &Mention) -> bool {
    let quote = book.list[mention.first].quote;
    if mention.possessive || quote == NONE {
        return false;
    }
    let back = |n: usize| {
        mention.first.checked_sub(n).map_or("", |at| if book.list[at].quote == quote { book.text(at) } else { "" })
    };
    let asserted = |n: usize| is_assertion(book, mention.first - n);
    match back(1) {
        "you're" => asserted(1),
        "are" => back(2) == "you" && asserted(2),
        "be" => matches!(back(2), "you'll" | "must" | "will") && (back(2) == "you'll" || back(3) == "you"),
        _ => false,
    }
}
