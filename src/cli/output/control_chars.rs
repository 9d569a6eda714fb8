//! Escapes control characters in texts from books and models, so that they cannot control the terminal.

use std::borrow::Cow;

/// Escapes control characters in a single-line text, such as `\u{1b}`.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_unsafe(c) {
            escaped.extend(c.escape_default());
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

/// Escapes control characters in a multi-line text; line feeds are kept.
pub(crate) fn visible_lines(text: &str) -> String {
    text.split('\n').map(visible).collect::<Vec<_>>().join("\n")
}

/// Whether a character moves the cursor, starts an escape sequence or changes the writing direction.
const fn is_unsafe(c: char) -> bool {
    matches!(
        c,
        '\0'..='\u{1f}'
            | '\u{7f}'..='\u{9f}'
            | '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_control_characters_are_escaped() {
        for (text, escaped) in [
            ("Rain, 1931", "Rain, 1931"),
            ("紅樓夢　第一回 ‘é’ 🌧", "紅樓夢　第一回 ‘é’ 🌧"),
            ("\u{1b}[31mRain\u{7}", r"\u{1b}[31mRain\u{7}"),
            ("河\u{9b}2J灯\r\n\t", r"河\u{9b}2J灯\r\n\t"),
            ("a\u{202e}txt.exe\u{2066}", r"a\u{202e}txt.exe\u{2066}"),
        ] {
            assert_eq!(visible(text), escaped);
        }
        assert_eq!(visible_lines("one\n\u{1b}two\n"), "one\n\\u{1b}two\n");
    }
}
