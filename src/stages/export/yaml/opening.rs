//! Which lines of a front matter belong to a value that an earlier line began: those of a text in quotes and of a list in brackets may
//! begin in any column. Reads no value, and faults nothing.

use super::{is_nothing, key};

/// What the lines so far have begun.
#[derive(Debug, Default)]
pub(super) struct Opening {
    /// How many brackets and braces are open.
    depth: usize,
    /// The quote that is open.
    quote: Option<char>,
    /// What stood last before a blank, within brackets.
    last: Option<char>,
    /// The column of the last key or dash.
    owner: usize,
    /// Whether its value has begun: what stands further in is a part of it.
    has_value: bool,
}

impl Opening {
    /// Says whether the next line goes on, whatever it begins with.
    pub(super) const fn is_open(&self) -> bool {
        self.depth > 0 || self.quote.is_some()
    }

    /// Takes the next line.
    pub(super) fn take(&mut self, line: &str) {
        if self.is_open() {
            return self.scan(line);
        }
        let mut text = line.trim_start_matches([' ', '\t']);
        let column = |text: &str| line.len() - text.len();
        if is_nothing(text) || (self.has_value && column(text) > self.owner) {
            return;
        }
        while text.starts_with(['-', '?', ':']) && (text.len() == 1 || text[1..].starts_with(' ')) {
            self.owner = column(text);
            text = text[1..].trim_start_matches(' ');
        }
        if let Ok(Some((_, rest))) = key(text, 0) {
            self.owner = column(text);
            text = rest;
        }
        // An anchor or a tag is no value yet.
        while text.starts_with(['&', '!']) {
            text = text.split_once(' ').map_or("", |(_, rest)| rest.trim_start_matches(' '));
        }
        self.has_value = !is_nothing(text);
        if text.starts_with(['"', '\'', '[', '{']) {
            self.last = None;
            self.scan(text);
        }
    }

    /// Passes over a text in quotes or brackets to its end, or to that of the line.
    fn scan(&mut self, text: &str) {
        let mut chars = text.chars().peekable();
        let mut before = ' ';
        while let Some(c) = chars.next() {
            match (self.quote, c) {
                (Some('"'), '\\') => drop(chars.next()),
                (Some('\''), '\'') if chars.peek() == Some(&'\'') => drop(chars.next()),
                (Some(quote), _) if c == quote => self.quote = None,
                (Some(_), _) => continue,
                (None, '#') if before.is_whitespace() => return,
                // Within a word it is an apostrophe.
                (None, '"' | '\'') if self.last.is_none_or(|last| "[{,:".contains(last)) => self.quote = Some(c),
                (None, '[' | '{') => self.depth += 1,
                (None, ']' | '}') => self.depth -= 1,
                (None, _) => {}
            }
            if !self.is_open() {
                return;
            }
            before = c;
            if !c.is_whitespace() {
                self.last = Some(c);
            }
        }
    }
}
