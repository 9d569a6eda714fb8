//! Texts as the report shows them: nothing in them steers the page, and none is without end. Markup is made harmless by the
//! template, which escapes all that it is given.

use std::fmt::Write as _;

use serde::Serialize;

use crate::stages::export::Rights;

/// So many code points of a text stand open; the rest is folded.
const OPEN: usize = 700;
/// So many code points of a text are shown at all.
const WHOLE: usize = 4_000;

/// A text in two parts.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Shown {
    /// What stands open.
    open: String,
    /// What is folded; empty where all is open.
    folded: String,
    /// How many code points more the text has than are shown.
    more: usize,
}

/// How much of a conversation can still be shown, in code points.
#[derive(Debug)]
pub(super) struct Room<'a> {
    left: usize,
    rights: &'a Rights,
}

impl<'a> Room<'a> {
    /// Begins with so much room; of the books' own words is shown what may leave.
    pub(super) const fn new(left: usize, rights: &'a Rights) -> Self {
        Self { left, rights }
    }

    /// Says whether nothing more can be shown.
    pub(super) const fn is_spent(&self) -> bool {
        self.left == 0
    }

    /// Returns a text as it is shown, and takes its length away.
    pub(super) fn show(&mut self, text: &str) -> Shown {
        self.left = self.left.saturating_sub(text.chars().count().min(WHOLE));
        shown(&self.rights.shortened(text))
    }
}

/// Returns a text as it is shown.
pub(super) fn shown(text: &str) -> Shown {
    let mut chars = text.chars();
    let open: String = chars.by_ref().take(OPEN).collect();
    let folded: String = chars.by_ref().take(WHOLE - OPEN).collect();
    Shown { open: plain(&open), folded: plain(&folded), more: chars.count() }
}

/// Returns a short text, such as a name: one line, cut after so many code points.
pub(super) fn line(text: &str, most: usize) -> String {
    let mut chars = text.chars();
    let mut line = plain(&chars.by_ref().take(most).collect::<String>()).replace(['\n', '\t'], " ");
    if chars.next().is_some() {
        line.push('…');
    }
    line
}

/// Returns a text in which what steers is written out, as `[U+202E]`: control characters, and those that turn the direction
/// of what follows. Marks of direction that Arabic and Hebrew are written with stay.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => plain.push(c),
            '\u{2028}' | '\u{2029}' => plain.push('\n'),
            '\r' => {}
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => {
                let _ = write!(plain, "[U+{:04X}]", u32::from(c));
            }
            // What is no character is a fault in HTML.
            c if u32::from(c) & 0xFFFE == 0xFFFE || matches!(c, '\u{fdd0}'..='\u{fdef}') => plain.push('\u{fffd}'),
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stages::export::Params;

    #[test]
    fn what_steers_is_written_out() {
        for (text, expected) in [
            ("plain, 红线 说", "plain, 红线 说"),
            ("a\0b\u{1b}[31m", "a[U+0000]b[U+001B][31m"),
            ("\u{202e}txt.exe\u{2066}x", "[U+202E]txt.exe[U+2066]x"),
            ("שלום\u{200f}!", "שלום\u{200f}!"),
            ("one\r\ntwo\u{2028}three", "one\ntwo\nthree"),
            ("\u{ffff}\u{fdd0}\u{1fffe}", "\u{fffd}\u{fffd}\u{fffd}"),
        ] {
            assert_eq!(plain(text), expected);
        }
    }

    #[test]
    fn long_texts_are_folded_and_cut() {
        for letter in ["x", "雨"] {
            assert_eq!(shown(&letter.repeat(OPEN)).folded, "");
            let long = shown(&letter.repeat(10_000));
            assert_eq!(
                (long.open.chars().count(), long.folded.chars().count(), long.more),
                (OPEN, WHOLE - OPEN, 10_000 - WHOLE)
            );
        }
        assert_eq!(line("a\nb\u{202e}c", 99), "a b[U+202E]c");
        assert_eq!(line("红线女盗盒", 3), "红线女…");
    }

    #[test]
    fn of_a_book_is_shown_what_may_leave() {
        let params = Params { max_quote_chars: Some(20), ..Params::default() };
        for book in [
            "The keeper climbed the stair as the lamp went out again, and the gulls said nothing of it.",
            "守灯人上楼的时候灯又灭了，海鸥什么也没有说，只有潮水一遍一遍地拍着石阶，像是在数人。",
        ] {
            let mut rights = Rights::new(&params, Rights::letters(book));
            rights.add(book);
            let shown = Room::new(WHOLE, &rights).show(&format!("“{book}”"));
            assert!(shown.open.contains("[…]") && shown.open.len() < book.len(), "{shown:?}");
        }
    }

    #[test]
    fn a_conversation_has_so_much_room() {
        let rights = Rights::new(&Params::default(), 0);
        let mut room = Room::new(WHOLE + 5, &rights);
        room.show(&"x".repeat(100_000));
        assert!(!room.is_spent());
        room.show("12345");
        assert!(room.is_spent());
    }
}
