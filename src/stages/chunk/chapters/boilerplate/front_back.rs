//! Splits the text before and after the story into passages by their headings.

use std::collections::BTreeSet;

use super::excluded::{ExcludedPassage, push_unless_blank};
use super::titles::boilerplate_kind_of_heading;
use crate::schema::BoilerplateKind;
use crate::stages::chunk::chapters::headings;
use crate::stages::chunk::chapters::prose::{is_prose, paragraphs};
use crate::text::letters_and_digits;

/// Iterates over lines that may be headings of boilerplate, with their offsets: lines after a blank line, the first
/// line, and short Chinese lines, since Chinese books do not use blank lines between paragraphs.
pub(super) struct Heads<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) end: usize,
    pub(super) blank: bool,
}

impl<'a> Iterator for Heads<'a> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        while self.at < self.end {
            let start = self.at;
            let line = self.text[start..self.end].split_inclusive('\n').next()?;
            self.at += line.len();
            let words = line.trim();
            let head = !words.is_empty() && (self.blank || (words.len() <= 30 && !words.is_ascii()));
            self.blank = words.is_empty();
            if head {
                return Some((start, words));
            }
        }
        None
    }
}

pub(super) const fn heads(text: &str, start: usize, end: usize) -> Heads<'_> {
    Heads { text, at: start, end, blank: true }
}

/// Splits the text before the story at its headings.
pub(super) fn split_front(
    parts: &mut Vec<ExcludedPassage>,
    text: &str,
    start: usize,
    end: usize,
    chapters: &[usize],
    titles: &BTreeSet<String>,
) {
    let detail = "before the story";
    let table = table(text, start, end, titles);
    let (mut from, mut current) = (start, BoilerplateKind::FrontMatter);
    for (at, words) in heads(text, start, end) {
        let opens = chapters.binary_search(&at).is_ok();
        let kind = boilerplate_kind_of_heading(words).or(opens.then_some(BoilerplateKind::FrontMatter));
        // A table of contents lists pages such as the cover, and may contain a list of its own titles.
        let listed = matches!(current, BoilerplateKind::Contents | BoilerplateKind::Illustrations)
            && kind == Some(BoilerplateKind::FrontMatter)
            && !opens;
        let Some(kind) = kind.filter(|_| !listed) else { continue };
        cut_block(parts, text, (from, at), current, detail, table);
        (from, current) = (at, kind);
    }
    cut_block(parts, text, (from, end), current, detail, table);
}

/// Finds a table of contents without a heading: lines that repeat chapter titles.
fn table(text: &str, start: usize, end: usize, titles: &BTreeSet<String>) -> Option<(usize, usize)> {
    let (mut at, mut found, mut lines): (usize, Vec<(usize, usize)>, usize) = (start, Vec::new(), 0);
    for line in text[start..end].split_inclusive('\n') {
        let begun = at;
        at += line.len();
        let words = letters_and_digits(line.trim_end().trim_end_matches(|c: char| c.is_ascii_digit()));
        if words.is_empty() {
            continue;
        }
        lines += usize::from(!found.is_empty());
        if titles.contains(&words) || titles.contains(&letters_and_digits(line)) {
            found.push((begun, lines));
        }
    }
    let ((first, _), (last, span)) = (*found.first()?, *found.last()?);
    let last = last + text[last..end].find('\n').map_or(end - last, |line| line + 1);
    (found.len() >= 3 && found.len() * 2 > span).then_some((first, last))
}

/// Adds a block of front matter. A table of contents or a note extends only as far as [`block_end`] says.
fn cut_block(
    parts: &mut Vec<ExcludedPassage>,
    text: &str,
    (start, end): (usize, usize),
    kind: BoilerplateKind,
    detail: &str,
    table: Option<(usize, usize)>,
) {
    let stop = if kind == BoilerplateKind::FrontMatter { start } else { block_end(text, start, end, kind) };
    push_unless_blank(parts, text, start, stop, kind, detail);
    match table.filter(|(from, to)| stop <= *from && *to <= end) {
        Some((from, to)) => {
            push_unless_blank(parts, text, stop, from, BoilerplateKind::FrontMatter, detail);
            push_unless_blank(parts, text, from, to, BoilerplateKind::Contents, detail);
            push_unless_blank(parts, text, to, end, BoilerplateKind::FrontMatter, detail);
        }
        None => push_unless_blank(parts, text, stop, end, BoilerplateKind::FrontMatter, detail),
    }
}

/// Returns the end of a table of contents (before prose) or of a note (at its closing bracket, or after three blank
/// lines).
pub(super) fn block_end(text: &str, start: usize, end: usize, kind: BoilerplateKind) -> usize {
    if kind == BoilerplateKind::TranscriberNote {
        let block = &text[start..end];
        if block.trim_start().starts_with('[') {
            return block.find(']').map_or(end, |at| start + at + 1);
        }
        let mut blanks = 0;
        let mut at = start;
        for line in block.split_inclusive('\n') {
            if line.trim().is_empty() {
                blanks += 1;
            } else {
                if blanks >= 3 && at > start {
                    return at;
                }
                blanks = 0;
            }
            at += line.len();
        }
        return end;
    }
    for (at, paragraph) in paragraphs(text, start, end) {
        if at > start && is_prose(paragraph) {
            return at;
        }
    }
    end
}

/// Finds tables of contents inside the story, such as that of a second volume.
pub(super) fn tables(text: &str, chapter_starts: &[usize], start: usize, end: usize) -> Vec<ExcludedPassage> {
    let mut found = Vec::new();
    // The end of the last table examined; headings inside it start no other table.
    let mut scanned_until = start;
    for (at, words) in heads(text, start, end) {
        if at < scanned_until || words.len() > 60 {
            continue;
        }
        let Some(kind) = boilerplate_kind_of_heading(words)
            .filter(|kind| matches!(*kind, BoilerplateKind::Contents | BoilerplateKind::Illustrations))
        else {
            continue;
        };
        let next = chapter_starts
            .get(chapter_starts.partition_point(|chapter_start| *chapter_start <= at))
            .copied()
            .unwrap_or(end);
        let stop = block_end(text, at, next, kind);
        scanned_until = stop;
        let lines: Vec<&str> = text[at..stop].lines().map(str::trim).filter(|line| !line.is_empty()).skip(1).collect();
        let entry = |line: &&&str| line.ends_with(|c: char| c.is_ascii_digit()) || headings::candidate(line).is_some();
        // The word alone may occur in the story; a table of contents has entries.
        if lines.len() >= 3 && lines.iter().filter(entry).count() * 2 > lines.len() {
            found.push(ExcludedPassage { start: at, end: stop, kind, detail: "inside the story".to_owned() });
        }
    }
    found
}

/// Splits the text after the story at its headings.
pub(super) fn split_back(parts: &mut Vec<ExcludedPassage>, text: &str, start: usize, end: usize, chapters: &[usize]) {
    let detail = "after the story";
    let (mut from, mut current) = (start, BoilerplateKind::BackMatter);
    for (at, words) in heads(text, start, end) {
        let kind = boilerplate_kind_of_heading(words).filter(|kind| *kind != BoilerplateKind::FrontMatter);
        let Some(kind) = kind.or_else(|| chapters.binary_search(&at).is_ok().then_some(BoilerplateKind::BackMatter))
        else {
            continue;
        };
        push_unless_blank(parts, text, from, at, current, detail);
        (from, current) = (at, kind);
    }
    push_unless_blank(parts, text, from, end, current, detail);
}
