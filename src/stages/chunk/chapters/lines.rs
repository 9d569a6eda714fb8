//! The lines of a book, and how they are laid out.

use super::boilerplate::Body;
use super::prose;
use crate::text::{Shape, is_wrapped};

/// The lines of a book's body.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    /// The text of the book up to the end of its body.
    text: &'a str,
    /// The start of each line, in bytes. Nothing else is stored per line, since a book may consist of line breaks only.
    starts: Vec<u32>,
    /// The byte ranges between two books in the file. Lines in them are treated as blank.
    holes: &'a [(usize, usize)],
    /// Whether each line is a paragraph, or blank lines are too rare to separate headings.
    pub(crate) dense: bool,
    /// Whether paragraphs start with an indent, so that a line without one is not a paragraph.
    pub(crate) indented: bool,
    /// The length of full lines in bytes, for Latin text that is hard-wrapped and has almost no blank lines.
    full: Option<usize>,
}

impl<'a> Lines<'a> {
    pub(crate) fn of(text: &'a str, body: &'a Body) -> Self {
        let mut at = body.start;
        let starts = text[body.start..body.end].split_inclusive('\n').map(|line| {
            let begun = at;
            at += line.len();
            u32::try_from(begun).expect("a book has fewer than 2³² bytes")
        });
        let (text, holes) = (&text[..body.end], &body.holes);
        let mut lines = Self { text, starts: starts.collect(), holes, dense: false, indented: false, full: None };
        lines.detect_layout();
        lines
    }

    /// Detects the layout of the text.
    fn detect_layout(&mut self) {
        let (start, end) = (self.start(0), self.end());
        let lines = || self.text[start..end].split_inclusive('\n');
        let (mut filled, mut indented, mut han) = (0_usize, 0_usize, 0_usize);
        for line in lines().filter(|line| !line.trim_start().is_empty()) {
            filled += 1;
            indented += usize::from(line.starts_with(char::is_whitespace));
            han += usize::from(line.trim_start().starts_with(|c: char| !c.is_ascii()));
        }
        let blank = self.len() - filled;
        // Chinese books hard-wrap lines without any blank lines.
        let wrapped = || is_wrapped(&lines().map(Shape::of_line).collect::<Vec<_>>());
        let rare = blank * 2 < filled;
        self.dense = rare && (han * 2 > filled || !wrapped());
        self.indented = indented * 8 > filled && indented < filled;
        if rare && !self.dense && blank * 10 < filled {
            let mut lengths: Vec<usize> = (0..self.len()).map(|at| self.raw(at).len()).collect();
            let nine_of_ten = lengths.len() * 9 / 10;
            self.full = Some(*lengths.select_nth_unstable(nine_of_ten).1);
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns a line without its line break; empty after the last line.
    fn raw(&self, at: usize) -> &'a str {
        let Some(start) = self.starts.get(at) else { return "" };
        let start = *start as usize;
        let holes = &self.holes[..self.holes.partition_point(|hole| hole.0 <= start)];
        if holes.last().is_some_and(|hole| start < hole.1) {
            return "";
        }
        let end = self.starts.get(at + 1).map_or(self.text.len(), |next| *next as usize);
        self.text[start..end].trim_end_matches(['\n', '\r'])
    }

    /// Returns a line without surrounding white space; empty after the last line.
    pub(crate) fn at(&self, at: usize) -> &'a str {
        self.raw(at).trim()
    }

    pub(crate) fn is_blank(&self, at: usize) -> bool {
        self.at(at).is_empty()
    }

    /// Whether a line is blank or contains only a drawn rule.
    pub(super) fn is_clear(&self, at: usize) -> bool {
        let words = self.at(at);
        words.bytes().all(|byte| matches!(byte, b'-' | b'=' | b'*' | b'_' | b'~' | b'#' | b'+' | b' '))
    }

    /// In hard-wrapped text without blank lines: whether the previous line ends there, rather than continuing on this
    /// one.
    pub(super) fn is_parted(&self, at: usize) -> bool {
        self.full.is_some() && (at == 0 || self.is_short(at - 1) || ends_sentence(self.at(at - 1)))
    }

    /// In hard-wrapped text without blank lines: whether a line is much shorter than the full width.
    pub(super) fn is_short(&self, at: usize) -> bool {
        self.full.is_some_and(|full| self.at(at).len() * 10 < full * 6)
    }

    /// Whether a line has no indent.
    pub(crate) fn is_flush(&self, at: usize) -> bool {
        at < self.len() && !self.raw(at).starts_with(char::is_whitespace)
    }

    /// Returns the start of a line, in bytes; after the last line, the end of the text.
    pub(crate) fn start(&self, at: usize) -> usize {
        self.starts.get(at).map_or_else(|| self.end(), |start| *start as usize)
    }

    /// Returns the number of bytes between the end of one line and the start of another.
    pub(crate) fn between(&self, last: usize, next: usize) -> usize {
        let end = if last < self.len() { self.start(last) + self.raw(last).len() } else { 0 };
        self.start(next).saturating_sub(end)
    }

    /// Whether the first paragraph of a range of lines is prose.
    pub(crate) fn opens_prose(&self, start: usize, end: usize) -> bool {
        prose::is_prose(&self.paragraph(start, end))
    }

    /// Returns the first lines (at most 40) of the first paragraph of a range.
    pub(crate) fn paragraph(&self, start: usize, end: usize) -> String {
        let Some(first) = (start..end).find(|at| !self.is_blank(*at)) else { return String::new() };
        let mut paragraph = String::new();
        // Without blank lines, a paragraph ends with its line, or before the next indent.
        let goes_on = |at: usize| at == first || !self.dense || (self.indented && self.is_flush(at));
        for at in (first..end).take_while(|at| !self.is_blank(*at) && goes_on(*at)).take(40) {
            paragraph.push_str(self.at(at));
            paragraph.push('\n');
        }
        paragraph
    }

    /// Returns the end of the last line, in bytes.
    fn end(&self) -> usize {
        self.len().checked_sub(1).map_or(0, |last| self.starts[last] as usize + self.raw(last).len())
    }
}

/// Whether a line ends like a sentence.
fn ends_sentence(line: &str) -> bool {
    line.ends_with(['.', '!', '?', '”', '"', '’', '\'', '*', '-', '—'])
}

/// Whether a line ends in a page number after a dot leader or in brackets, as in a table of contents.
pub(crate) fn has_leader(line: &str) -> bool {
    let line = line.trim_end_matches([']', '）']);
    let rest = line.trim_end_matches(|c: char| c.is_ascii_digit());
    if rest.len() == line.len() {
        return false;
    }
    let dots = rest.chars().rev().take_while(|c| matches!(c, '.' | ' ' | '·' | '…' | '\t'));
    let leader = dots.filter(|c| matches!(c, '.' | '·' | '…')).count() >= 2;
    leader || rest.strip_suffix(['[', '（']).is_some_and(|rest| rest.contains(char::is_alphabetic))
}
