//! Parses block lists and block mappings.

use std::ops::Range;

use super::flow::{key, value};
use super::lines::{is_blank, is_dash, is_nothing};
use super::value::{Item, Pair, ParseResult, Yaml, YamlFault};

/// A parser position within the lines of a value.
pub(super) struct Block<'a> {
    lines: &'a [&'a str],
    at: usize,
    /// The end of the last line that was parsed. Comments and blank lines after it belong to the next entry.
    last: usize,
    end: usize,
    /// The text after a dash on the current line, and its column.
    rest: Option<(usize, &'a str)>,
}

impl<'a> Block<'a> {
    /// Starts at the first of the lines of a range.
    pub(super) const fn new(lines: &'a [&'a str], range: Range<usize>) -> Self {
        Self { lines, at: range.start, last: 0, end: range.end, rest: None }
    }

    /// Returns the next line that is not blank or a comment: its number, its column and its text.
    pub(super) fn peek(&mut self) -> ParseResult<Option<(usize, usize, &'a str)>> {
        if let Some((column, text)) = self.rest {
            return Ok(Some((self.at, column, text)));
        }
        while self.at < self.end && is_nothing(self.lines[self.at]) {
            self.at += 1;
        }
        if self.at == self.end {
            return Ok(None);
        }
        let line = self.lines[self.at];
        let text = line.trim_start_matches(' ');
        if text.starts_with('\t') {
            return Err(self.fault("tabs are not allowed as indentation"));
        }
        Ok(Some((self.at, line.len() - text.len(), text)))
    }

    fn take(&mut self) {
        self.rest = None;
        self.at += 1;
        self.last = self.at;
    }

    pub(super) const fn fault(&self, message: &'static str) -> YamlFault {
        YamlFault { line: self.at, message }
    }

    /// Parses a value that is indented by at least `least` columns.
    fn block(&mut self, least: usize) -> ParseResult<Yaml> {
        match self.peek()? {
            Some((_, column, text)) if column >= least => {
                if is_dash(text) {
                    return self.list(column);
                }
                if key(text, self.at)?.is_some() {
                    return self.map(column);
                }
                let value = value(text, self.at)?;
                self.take();
                Ok(value)
            }
            _ => Ok(Yaml::Null),
        }
    }

    fn list(&mut self, column: usize) -> ParseResult<Yaml> {
        let mut items = Vec::new();
        while let Some((at, own, text)) = self.peek()? {
            if own < column || (own == column && !is_dash(text)) {
                break;
            }
            if own > column {
                return Err(self.fault("the line is indented further than its list"));
            }
            let rest = text[1..].trim_start_matches(' ');
            if is_nothing(rest) {
                self.take();
            } else {
                self.rest = Some((column + text.len() - rest.len(), rest));
            }
            let value = self.block(column + 1)?;
            items.push(Item { value, lines: at..self.last, column: Some(column) });
        }
        Ok(Yaml::List(items))
    }

    pub(super) fn map(&mut self, column: usize) -> ParseResult<Yaml> {
        let mut pairs: Vec<Pair> = Vec::new();
        while let Some((at, own, text)) = self.peek()? {
            if own < column || (own == column && is_dash(text)) {
                break;
            }
            if own > column {
                return Err(self.fault("the line is indented further than its mapping"));
            }
            let (key, rest) = key(text, at)?.ok_or_else(|| self.fault("expected a key"))?;
            if pairs.iter().any(|other| other.key == key) {
                return Err(self.fault("duplicate key"));
            }
            self.take();
            let value = if rest.starts_with(['|', '>']) {
                while self.at < self.end
                    && (is_blank(self.lines[self.at]) || self.lines[self.at].starts_with(&" ".repeat(column + 1)))
                {
                    self.at += 1;
                    if !is_blank(self.lines[self.at - 1]) {
                        self.last = self.at;
                    }
                }
                Yaml::Scalar(String::new())
            } else if is_nothing(rest) {
                match self.peek()? {
                    Some((_, own, text)) if own == column && is_dash(text) => self.list(column)?,
                    _ => self.block(column + 1)?,
                }
            } else {
                value(rest, at)?
            };
            pairs.push(Pair { key, value, lines: at..self.last, column: Some(column) });
        }
        Ok(Yaml::Map(pairs))
    }
}
