//! Whether an English name is a vocative.

use crate::attribution::english::tokens::{NONE, Tokens};

/// Whether the words at these tokens are a vocative: set off by punctuation within speech.
pub(in crate::attribution::english) fn is_vocative(book: &Tokens, first: usize, end: usize) -> bool {
    let quote = book.list[first].quote;
    if quote == NONE {
        return false;
    }
    let before = first.checked_sub(1).map(|at| (book.list[at], book.text(at)));
    let opens = match before {
        None => true,
        Some((token, _)) if token.quote != quote => true,
        Some((token, _)) if token.word() == NONE => {
            matches!(token.mark(), ',' | '.' | '!' | '?' | ';' | '—' | '-' | ':')
        }
        Some((_, word)) => matches!(
            word,
            "dear" | "dearest" | "my" | "oh" | "o" | "ah" | "well" | "no" | "yes" | "sweet" | "poor" | "come" | "why"
        ),
    };
    let after = book.list.get(end);
    let closes = after
        .is_none_or(|token| token.quote != quote || matches!(token.mark(), ',' | '.' | '!' | '?' | ';' | '—' | '-'));
    let is_complete_utterance = before.is_none_or(|(token, _)| token.quote != quote)
        && after
            .is_none_or(|token| token.quote != quote || book.list.get(end + 1).is_none_or(|next| next.quote != quote));
    // A name as a complete utterance is the answer to a question, not a vocative, unless it is an exclamation.
    opens && closes && (!is_complete_utterance || after.is_some_and(|token| token.mark() == '!'))
}
