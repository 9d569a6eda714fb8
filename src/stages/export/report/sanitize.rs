//! Texts for the report: control characters are made visible and the length is limited. The template escapes markup.

use std::fmt::Write as _;

use serde::Serialize;

use crate::stages::export::quote_limits::QuoteLimits;

// Lengths are counted in units: one per code point, or more if it is written in more than three bytes of HTML, such as
// `<`, `&` and escaped control characters. So a limit on units also limits the bytes.

/// The maximum length of the visible part of a text; the rest is collapsed.
const MAX_VISIBLE: usize = 700;
/// The maximum length of a text.
const MAX_TEXT: usize = 4_000;
/// The size of a text's markup.
const AROUND: usize = 80;

/// A text in a visible and a collapsed part.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct DisplayText {
    /// The visible part.
    visible: String,
    /// The collapsed part; may be empty.
    folded: String,
    /// The number of code points that are cut.
    more: usize,
}

/// The remaining space, in units.
#[derive(Debug)]
pub(super) struct DisplayBudget<'a> {
    remaining: usize,
    /// The maximum length of one text.
    each: usize,
    quote_limits: &'a QuoteLimits,
}

impl<'a> DisplayBudget<'a> {
    /// Creates a space of `remaining` units. Quotations from the books are limited by `quote_limits`.
    pub(super) const fn new(remaining: usize, quote_limits: &'a QuoteLimits) -> Self {
        Self { remaining, each: MAX_TEXT, quote_limits }
    }

    /// Sets the maximum length of one text.
    pub(super) const fn each(self, each: usize) -> Self {
        Self { each, ..self }
    }

    /// Lets `fill` use at most `max_units` units; unused units are returned.
    pub(super) fn part<T>(&mut self, max_units: usize, fill: impl FnOnce(&mut Self) -> T) -> T {
        let max_units = max_units.min(self.remaining);
        let mut part = Self { remaining: max_units, ..*self };
        let filled = fill(&mut part);
        self.remaining -= max_units - part.remaining;
        filled
    }

    /// Returns whether no space is left.
    pub(super) const fn is_spent(&self) -> bool {
        self.remaining == 0
    }

    /// Subtracts the size of something that is always shown.
    pub(super) const fn spend(&mut self, units: usize) {
        self.remaining = self.remaining.saturating_sub(units);
    }

    /// Returns a short text on one line and subtracts its length.
    pub(super) fn line(&mut self, text: &str, max_units: usize) -> String {
        let line = line(text, max_units);
        self.spend(line.chars().map(units).sum());
        line
    }

    /// Returns a text for display and subtracts its length.
    pub(super) fn show(&mut self, text: &str) -> DisplayText {
        if text.is_empty() {
            return DisplayText::default();
        }
        let text = self.quote_limits.shortened(text);
        let (displayed, used) = displayed(&text, self.each.min(self.remaining));
        self.spend(used + AROUND);
        displayed
    }
}

/// Returns the size of a code point.
fn units(c: char) -> usize {
    let bytes = match c {
        '<' | '>' => 4,
        '&' => 5,
        '"' | '\'' | '/' => 6,
        c if is_unsafe(c) => 8,
        c => c.len_utf8(),
    };
    bytes.div_ceil(3)
}

/// Splits a text after at most `max_units` units. Also returns the number of units used.
fn split_at_units(text: &str, max_units: usize) -> (&str, &str, usize) {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        if used + units(c) > max_units {
            return (&text[..at], &text[at..], used);
        }
        used += units(c);
    }
    (text, "", used)
}

/// Returns a text for display and its length in units.
fn displayed(text: &str, max_units: usize) -> (DisplayText, usize) {
    let (visible, rest, first) = split_at_units(text, MAX_VISIBLE.min(max_units));
    let (folded, rest, second) = split_at_units(rest, max_units.saturating_sub(MAX_VISIBLE));
    (DisplayText { visible: escaped(visible), folded: escaped(folded), more: rest.chars().count() }, first + second)
}

/// Returns a short text such as a name on one line, cut after `max_units` units.
pub(super) fn line(text: &str, max_units: usize) -> String {
    let (line, rest, _) = split_at_units(text, max_units);
    let mut line = escaped(line).replace(['\n', '\t'], " ");
    if !rest.is_empty() {
        line.push('…');
    }
    line
}

/// Returns whether a character affects how the surrounding text is displayed: control characters and bidirectional
/// overrides.
const fn is_unsafe(c: char) -> bool {
    matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Writes control characters and bidirectional overrides as `[U+202E]`. The direction marks of Arabic and Hebrew are
/// kept.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => escaped.push(c),
            '\u{2028}' | '\u{2029}' => escaped.push('\n'),
            '\r' => {}
            c if is_unsafe(c) => {
                let _ = write!(escaped, "[U+{:04X}]", u32::from(c));
            }
            // Noncharacters are errors in HTML.
            c if u32::from(c) & 0xFFFE == 0xFFFE || matches!(c, '\u{fdd0}'..='\u{fdef}') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stages::export::Params;

    #[test]
    fn control_and_direction_characters_are_made_visible() {
        for (text, expected) in [
            ("plain, 红线 说", "plain, 红线 说"),
            ("a\0b\u{1b}[31m", "a[U+0000]b[U+001B][31m"),
            ("\u{202e}txt.exe\u{2066}x", "[U+202E]txt.exe[U+2066]x"),
            ("שלום\u{200f}!", "שלום\u{200f}!"),
            ("one\r\ntwo\u{2028}three", "one\ntwo\nthree"),
            ("\u{ffff}\u{fdd0}\u{1fffe}", "\u{fffd}\u{fffd}\u{fffd}"),
        ] {
            assert_eq!(escaped(text), expected);
        }
    }

    #[test]
    fn long_texts_are_folded_and_cut() {
        for (letter, units) in
            [("x", 1), ("雨", 1), ("<", 2), ("&", 2), ("\"", 2), ("\u{202e}", 3), ("\u{200f}", 1), ("𠮷", 2)]
        {
            let (whole, folded) = (MAX_TEXT / units, (MAX_TEXT - MAX_VISIBLE) / units);
            let visible = MAX_VISIBLE / units;
            assert_eq!(displayed(&letter.repeat(visible), MAX_TEXT).0.folded, "", "{letter}");
            let (long, used) = displayed(&letter.repeat(10_000), MAX_TEXT);
            assert_eq!(long.visible, escaped(&letter.repeat(visible)), "{letter}");
            assert_eq!(long.folded, escaped(&letter.repeat(folded)), "{letter}");
            assert!(
                used <= MAX_TEXT && long.more == 10_000 - visible - folded && long.more >= 10_000 - whole,
                "{letter}"
            );
        }
        assert_eq!(line("a\nb\u{202e}c", 99), "a b[U+202E]c");
        assert_eq!(line("红线女盗盒", 3), "红线女…");
        assert_eq!(line("<<<<", 4), "<<…");
    }

    #[test]
    fn quote_limits_apply_to_displayed_text() {
        let params = Params { max_quote_chars: Some(20), ..Params::default() };
        for book in [
            "The keeper climbed the stair as the lamp went out again, and the gulls said nothing of it.",
            "守灯人上楼的时候灯又灭了，海鸥什么也没有说，只有潮水一遍一遍地拍着石阶，像是在数人。",
        ] {
            let mut quote_limits = QuoteLimits::new(&params, QuoteLimits::letters(book));
            quote_limits.add(book);
            let displayed = DisplayBudget::new(MAX_TEXT, &quote_limits).show(&format!("“{book}”"));
            assert!(displayed.visible.contains("[…]") && displayed.visible.len() < book.len(), "{displayed:?}");
        }
    }

    #[test]
    fn displayed_text_stays_within_the_budget() {
        let quote_limits = QuoteLimits::new(&Params::default(), 0);
        let mut room = DisplayBudget::new(MAX_TEXT + AROUND + 5, &quote_limits);
        room.show(&"x".repeat(100_000));
        assert!(!room.is_spent());
        let last = room.show("<&\"234");
        assert_eq!((last.visible.as_str(), last.more), ("<&", 4));
        assert!(room.is_spent());
        let none = room.show("雨");
        assert_eq!((none.visible.as_str(), none.more), ("", 1));
        let mut room = DisplayBudget::new(1_000, &quote_limits);
        room.part(300, |part| {
            part.spend(100);
            part.show(&"x".repeat(9_000))
        });
        assert_eq!(room.remaining, 700);
        room.part(300, |part| part.spend(10));
        assert_eq!(room.remaining, 690, "unused units are returned");
    }
}
