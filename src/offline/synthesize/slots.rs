//! Slots in texts: filling, capitalization and articles.

use std::collections::BTreeMap;

/// The values of slots.
pub(super) type Slots = BTreeMap<&'static str, String>;

/// Fills the slots of a text. The value of a capitalized slot (`{Master}`) and the beginnings of sentences are
/// capitalized.
///
/// A slot without a value is left as is; a test checks that there is none.
pub(super) fn fill(frame: &str, slots: &Slots) -> String {
    let mut text = String::with_capacity(frame.len() * 2);
    let mut rest = frame;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let Some((key, after)) = after.split_once('}') else {
            text.push('{');
            rest = after;
            continue;
        };
        let small = key.to_lowercase();
        match slots.get(small.as_str()) {
            Some(value) if small == key => text.push_str(value),
            Some(value) => text.push_str(&capitalised(value)),
            None => text.extend(["{", key, "}"]),
        }
        rest = after;
    }
    text.push_str(rest);
    sentences(&text)
}

/// Returns a text with its first letter in upper case.
pub(super) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Capitalizes the first letter of each sentence.
fn sentences(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut ended, mut begins) = (false, true);
    for c in text.chars() {
        if begins && c.is_alphabetic() {
            out.extend(c.to_uppercase());
        } else {
            out.push(c);
        }
        begins = (begins && !c.is_alphanumeric()) || (ended && c.is_whitespace());
        ended = matches!(c, '.' | '?' | '!');
    }
    out
}

/// Returns an English noun with its indefinite article.
pub(super) fn indefinite(noun: &str) -> String {
    let vowel = noun.starts_with(['a', 'e', 'i', 'o', 'u']) || noun.starts_with("hour");
    format!("{} {noun}", if vowel { "an" } else { "a" })
}

/// Fills the slots of a text that does not begin a sentence, such as an action in parentheses.
pub(super) fn uncapitalised(frame: &str, slots: &Slots) -> String {
    let filled = fill(frame, slots);
    let mut chars = filled.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_filled_and_sentences_are_capitalized() {
        let slots = Slots::from([("master", "the Warden".to_owned()), ("work", "raking salt".to_owned())]);
        for (frame, expected) in [
            ("{master} waits. {work} too?", "The Warden waits. Raking salt too?"),
            ("ask {master}, {nobody} else", "Ask the Warden, {nobody} else"),
            ("So {Master} it is { now", "So The Warden it is { now"),
            ("{work}！{master}", "Raking salt！the Warden"),
        ] {
            assert_eq!(fill(frame, &slots), expected);
        }
    }

    #[test]
    fn nouns_get_the_right_article() {
        for (noun, expected) in [("ice staff", "an ice staff"), ("rake", "a rake"), ("hour glass", "an hour glass")] {
            assert_eq!(indefinite(noun), expected);
        }
    }
}
