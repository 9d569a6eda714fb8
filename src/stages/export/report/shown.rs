//! Texts as the report shows them: nothing in them steers the page, and none is without end. Markup is made harmless by the
//! template, which escapes all that it is given.

use std::fmt::Write as _;

use serde::Serialize;

use crate::stages::export::Rights;

// What a text takes on the page is counted in units: a code point is one, or more where it is written out in more than three bytes,
// as `<`, `&` and what steers are. So a bound on units is one on bytes.

/// So many units of a text stand open; the rest is folded.
const OPEN: usize = 700;
/// So many units of a text are shown at all.
const WHOLE: usize = 4_000;
/// What a text takes beside its words: the elements that it stands in.
const AROUND: usize = 80;

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

/// How much can still be shown, in units.
#[derive(Debug)]
pub(super) struct Room<'a> {
    left: usize,
    /// How much of one text.
    each: usize,
    rights: &'a Rights,
}

impl<'a> Room<'a> {
    /// Begins with so much room; of the books' own words is shown what may leave.
    pub(super) const fn new(left: usize, rights: &'a Rights) -> Self {
        Self { left, each: WHOLE, rights }
    }

    /// Shows no more than so much of each text.
    pub(super) const fn each(self, each: usize) -> Self {
        Self { each, ..self }
    }

    /// Takes a part of the room for something, and gives back what of it is left.
    pub(super) fn part<T>(&mut self, most: usize, fill: impl FnOnce(&mut Self) -> T) -> T {
        let most = most.min(self.left);
        let mut part = Self { left: most, ..*self };
        let filled = fill(&mut part);
        self.left -= most - part.left;
        filled
    }

    /// Says whether nothing more can be shown.
    pub(super) const fn is_spent(&self) -> bool {
        self.left == 0
    }

    /// Takes away what something takes that is shown whole.
    pub(super) const fn take(&mut self, units: usize) {
        self.left = self.left.saturating_sub(units);
    }

    /// Returns a short text on one line, and takes its length away.
    pub(super) fn line(&mut self, text: &str, most: usize) -> String {
        let line = line(text, most);
        self.take(line.chars().map(units).sum());
        line
    }

    /// Returns a text as it is shown, and takes its length away.
    pub(super) fn show(&mut self, text: &str) -> Shown {
        if text.is_empty() {
            return Shown::default();
        }
        let text = self.rights.shortened(text);
        let (shown, used) = shown(&text, self.each.min(self.left));
        self.take(used + AROUND);
        shown
    }
}

/// Returns what a code point takes.
fn units(c: char) -> usize {
    let bytes = match c {
        '<' | '>' => 4,
        '&' => 5,
        '"' | '\'' | '/' => 6,
        c if steers(c) => 8,
        c => c.len_utf8(),
    };
    bytes.div_ceil(3)
}

/// Divides a text where it has taken so many units, which are returned too.
fn divided(text: &str, most: usize) -> (&str, &str, usize) {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        if used + units(c) > most {
            return (&text[..at], &text[at..], used);
        }
        used += units(c);
    }
    (text, "", used)
}

/// Returns a text as it is shown, and how many units that takes.
fn shown(text: &str, most: usize) -> (Shown, usize) {
    let (open, rest, first) = divided(text, OPEN.min(most));
    let (folded, rest, second) = divided(rest, most.saturating_sub(OPEN));
    (Shown { open: plain(open), folded: plain(folded), more: rest.chars().count() }, first + second)
}

/// Returns a short text, such as a name: one line, cut after so many units.
pub(super) fn line(text: &str, most: usize) -> String {
    let (line, rest, _) = divided(text, most);
    let mut line = plain(line).replace(['\n', '\t'], " ");
    if !rest.is_empty() {
        line.push('…');
    }
    line
}

/// Says whether a character steers what stands around it: controls, and those that turn the direction of what follows.
const fn steers(c: char) -> bool {
    matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
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
            c if steers(c) => {
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
        for (letter, units) in
            [("x", 1), ("雨", 1), ("<", 2), ("&", 2), ("\"", 2), ("\u{202e}", 3), ("\u{200f}", 1), ("𠮷", 2)]
        {
            let (whole, folded) = (WHOLE / units, (WHOLE - OPEN) / units);
            let open = OPEN / units;
            assert_eq!(shown(&letter.repeat(open), WHOLE).0.folded, "", "{letter}");
            let (long, used) = shown(&letter.repeat(10_000), WHOLE);
            assert_eq!(long.open, plain(&letter.repeat(open)), "{letter}");
            assert_eq!(long.folded, plain(&letter.repeat(folded)), "{letter}");
            assert!(used <= WHOLE && long.more == 10_000 - open - folded && long.more >= 10_000 - whole, "{letter}");
        }
        assert_eq!(line("a\nb\u{202e}c", 99), "a b[U+202E]c");
        assert_eq!(line("红线女盗盒", 3), "红线女…");
        assert_eq!(line("<<<<", 4), "<<…");
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
    fn what_is_shown_takes_room_and_no_more_than_there_is() {
        let rights = Rights::new(&Params::default(), 0);
        let mut room = Room::new(WHOLE + AROUND + 5, &rights);
        room.show(&"x".repeat(100_000));
        assert!(!room.is_spent());
        let last = room.show("<&\"234");
        assert_eq!((last.open.as_str(), last.more), ("<&", 4));
        assert!(room.is_spent());
        let none = room.show("雨");
        assert_eq!((none.open.as_str(), none.more), ("", 1));
        let mut room = Room::new(1_000, &rights);
        room.part(300, |part| {
            part.take(100);
            part.show(&"x".repeat(9_000))
        });
        assert_eq!(room.left, 700);
        room.part(300, |part| part.take(10));
        assert_eq!(room.left, 690, "what a part does not use is not gone");
    }
}
