//! Detects which lines of a front matter continue a value of an earlier line. The continuation of a quoted text or a
//! bracketed list may start in any column. This parses no values and reports no errors.

use super::flow::key;
use super::lines::is_nothing;

/// The constructs that are open after the lines so far.
#[derive(Debug, Default)]
pub(super) struct Opening {
    /// The number of open brackets and braces.
    depth: usize,
    /// The open quotation mark.
    quote: Option<char>,
    /// The last character that is not whitespace, within brackets.
    last: Option<char>,
    /// The column of the last key or dash.
    owner: usize,
    /// Whether its value has started, so that lines that are indented further belong to it.
    has_value: bool,
}

impl Opening {
    /// Returns whether the next line continues a value, whatever it starts with.
    pub(super) const fn is_open(&self) -> bool {
        self.depth > 0 || self.quote.is_some()
    }

    /// Processes the next line.
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
        // An anchor or a tag precedes the value.
        while text.starts_with(['&', '!']) {
            text = text.split_once(' ').map_or("", |(_, rest)| rest.trim_start_matches(' '));
        }
        self.has_value = !is_nothing(text);
        if text.starts_with(['"', '\'', '[', '{']) {
            self.last = None;
            self.scan(text);
        }
    }

    /// Skips quoted or bracketed text up to its end or the end of the line.
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
                // Inside a word it is an apostrophe.
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
