//! Whether English words in quotation marks are speech.

use super::span::Span;
use crate::attribution::words::english::{AMBIGUOUS_SPEECH, ENGLISH, SPEECH};

/// Whether marked words are spoken, by the words themselves and the text around them. The paragraph is `start..end`;
/// `before` is the last character before the opening mark.
pub(super) fn is_english_speech(chars: &[char], span: &Span, start: usize, before: usize, end: usize) -> bool {
    let words = &chars[span.start..span.end];
    let last = words[words.len() - 1];
    let c = chars[before];
    if is_cited(chars, span, Some(before), end) {
        return false;
    }
    if !c.is_alphanumeric() || matches!(last, '!' | '?' | '.' | '-' | '—' | '…') {
        return true;
    }
    let word: Vec<char> = chars[start..=before].iter().rev().take_while(|c| c.is_alphabetic()).copied().collect();
    let word: String = word.iter().rev().flat_map(|c| c.to_lowercase()).collect();
    if ENGLISH.class(&word) & (SPEECH | AMBIGUOUS_SPEECH) == SPEECH || word == "with" {
        return true;
    }
    let after = (span.outer_end..end).find(|&i| !chars[i].is_whitespace());
    let tag: String = after.map_or_else(String::new, |i| {
        chars[i..end].iter().take_while(|c| c.is_alphabetic()).flat_map(|c| c.to_lowercase()).collect()
    });
    ENGLISH.is(&tag, SPEECH) || words.iter().filter(|c| c.is_whitespace()).count() > 5
}

/// Whether marked words are a title: two or more words, all capitalised except short ones, without punctuation.
pub(super) fn is_title_of_work(words: &[char]) -> bool {
    let (mut capitals, mut others) = (0, 0);
    for word in words.split(|c| c.is_whitespace()) {
        let Some(first) = word.first() else { continue };
        if !word.iter().all(|c| c.is_alphabetic() || matches!(c, '’' | '\'' | '-')) {
            return false;
        }
        if first.is_uppercase() {
            capitals += 1;
        } else if word.len() > 3 {
            others += 1;
        }
    }
    capitals > 1 && others == 0
}

/// Whether marked words are cited within a sentence: `“Here” was all of it`, `what she calls “a cry.”`.
pub(super) fn is_cited(chars: &[char], span: &Span, before: Option<usize>, end: usize) -> bool {
    let words = &chars[span.start..span.end];
    if words.iter().filter(|c| c.is_whitespace()).count() > 3 {
        return false;
    }
    let word = |at: Option<usize>| -> String {
        at.map_or_else(String::new, |at| {
            chars[at..end].iter().take_while(|c| c.is_alphabetic()).flat_map(|c| c.to_lowercase()).collect()
        })
    };
    let next = word((span.outer_end..end).find(|&i| !chars[i].is_whitespace()));
    if words[words.len() - 1].is_alphanumeric()
        && matches!(next.as_str(), "was" | "were" | "is" | "are" | "had" | "meant")
    {
        return true;
    }
    let Some(before) = before.filter(|&before| words[0].is_lowercase() && chars[before].is_alphanumeric()) else {
        return false;
    };
    // Words that continue the sentence are speech only after a speech verb.
    let clause: String = chars[before.saturating_sub(40)..=before].iter().flat_map(|c| c.to_lowercase()).collect();
    let after_speech_verb = clause
        .rsplit(|c: char| !c.is_alphabetic())
        .take(5)
        .any(|word| ENGLISH.class(word) & (SPEECH | AMBIGUOUS_SPEECH) == SPEECH);
    !after_speech_verb && !ENGLISH.is(&next, SPEECH)
}
