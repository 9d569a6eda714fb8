//! Passages that are left out of the chunks.

use crate::schema::{Boilerplate, BoilerplateKind, Book};

/// A range left out of the chunks, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ExcludedPassage {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: BoilerplateKind,
    pub(super) detail: String,
}

/// Adds a range unless it is blank.
pub(super) fn push_unless_blank(
    parts: &mut Vec<ExcludedPassage>,
    text: &str,
    start: usize,
    end: usize,
    kind: BoilerplateKind,
    detail: &str,
) {
    if start < end && !text[start..end].trim().is_empty() {
        parts.push(ExcludedPassage { start, end, kind, detail: detail.to_owned() });
    }
}

/// Returns the ranges that the book's format marks, in bytes.
pub(super) fn marked(book: &Book) -> Vec<ExcludedPassage> {
    let (mut chars, mut passed) = (book.text.char_indices(), 0);
    let mut at = |point: u32| {
        while passed < point && chars.next().is_some() {
            passed += 1;
        }
        chars.offset()
    };
    let of = |passage: &Boilerplate| {
        let (start, end) = (at(passage.start), at(passage.end));
        ExcludedPassage { start, end, kind: passage.kind, detail: passage.detail.clone() }
    };
    book.boilerplate.iter().map(of).collect()
}

/// Adds the ranges marked by the format within `start..end`, and calls `split` for the text between them.
pub(super) fn split_around(
    parts: &mut Vec<ExcludedPassage>,
    text: &str,
    (start, end): (usize, usize),
    marked: &[ExcludedPassage],
    mut split: impl FnMut(&mut Vec<ExcludedPassage>, usize, usize),
) {
    let mut from = start;
    for mark in marked.iter().filter(|mark| mark.start < mark.end) {
        let (begin, stop) = (mark.start.max(from), mark.end.min(end));
        if begin < stop {
            split(parts, from, begin);
            push_unless_blank(parts, text, begin, stop, mark.kind, &mark.detail);
            from = stop;
        }
    }
    if from < end {
        split(parts, from, end);
    }
}
