//! Splits text into paragraphs, and distinguishes prose from lists.

use super::headings;

/// Returns the runs of lines between blank lines, with their offsets.
pub(crate) fn paragraphs(text: &str, start: usize, end: usize) -> impl Iterator<Item = (usize, &str)> {
    let mut at = start;
    let mut lines = text[start..end].split_inclusive('\n').map(move |line| {
        let begun = at;
        at += line.len();
        (begun, line)
    });
    std::iter::from_fn(move || {
        let (first, line) = lines.by_ref().find(|(_, line)| !line.trim().is_empty())?;
        let mut stop = first + line.len();
        for (at, line) in lines.by_ref() {
            if line.trim().is_empty() {
                break;
            }
            stop = at + line.len();
        }
        Some((first, &text[first..stop]))
    })
}

/// Whether a paragraph is prose rather than lines of a table.
pub(crate) fn is_prose(paragraph: &str) -> bool {
    let words = paragraph.trim();
    let ends = words.ends_with(['.', '!', '?', '”', '"', '’', '。', '！', '？', '」', '．', '…']);
    let numbers = words.lines().filter(|line| line.trim_end().ends_with(|c: char| c.is_ascii_digit())).count();
    let long =
        words.chars().count() > if words.is_ascii() || !words.chars().any(crate::text::is_han) { 240 } else { 60 };
    let listed = words.lines().filter(|line| headings::candidate(line).is_some()).count();
    ends && long && numbers * 3 < words.lines().count() && listed * 2 < words.lines().count()
}
