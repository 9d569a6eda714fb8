//! Detects the language of a request, for the texts that this module adds to it.

use crate::schema::{Language, Message};

/// Returns the main language of the last message; a Chinese character counts as much as four letters.
pub(super) fn language_of(messages: &[Message]) -> Language {
    let (mut letters, mut chinese) = (0_usize, 0_usize);
    for c in messages.last().map_or("", |message| message.content.as_str()).chars() {
        letters += usize::from(c.is_ascii_alphabetic());
        chinese += usize::from(('\u{4e00}'..='\u{9fff}').contains(&c));
    }
    if chinese * 4 > letters { Language::Zh } else { Language::En }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_the_other_script_do_not_count() {
        for (text, language) in [
            ("", Language::En),
            ("What does 薛嵩 say to her?", Language::En),
            ("请给 Elizabeth 的这句话打分。", Language::Zh),
        ] {
            assert_eq!(language_of(&[Message::user(text)]), language, "{text}");
        }
    }
}
