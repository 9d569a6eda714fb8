//! Finds the start of a story whose first part comes before the first chapter heading, without a heading.
//!
//! Distinguishes prose from titles, credits and dedications by how a paragraph ends and by its words. Does not cut
//! anything.

use std::sync::LazyLock;

use serde::Deserialize;

use super::titles::boilerplate_kind_of_heading;
use crate::stages::chunk::breaks::paragraph_ends;
use crate::stages::chunk::chapters::headings;
use crate::stages::chunk::chapters::prose::paragraphs;
use crate::text::is_han;

/// The minimum length of such a text, in bytes. Dedications and mottoes are shorter.
const MIN_LENGTH: usize = 400;
/// A paragraph shorter than this, in bytes, with words of [`Credits::short`] is a credit.
const MAX_CREDIT_LENGTH: usize = 300;

/// Words by which a paragraph about the making of the book is recognised.
#[derive(Debug, Deserialize)]
struct Credits {
    /// Words of credits and notices, in paragraphs of any length.
    any_length: Vec<String>,
    /// Words of credits and dedications, in short paragraphs only.
    short: Vec<String>,
}

static CREDITS: LazyLock<Credits> = LazyLock::new(|| embedded_toml!("credits.toml"));

/// Returns the start of the first narrative paragraphs before the first heading, if no heading of boilerplate is above
/// them.
pub(super) fn start(text: &str, from: usize, end: usize) -> Option<usize> {
    let (mut narrative_start, mut length) = (None, 0);
    for (at, paragraph) in paragraphs_before(text, from, end) {
        let first = paragraph.trim_start().lines().next().unwrap_or_default().trim();
        if headings::candidate(first).is_none() && boilerplate_kind_of_heading(first).is_some() && length < MIN_LENGTH {
            return None;
        }
        // An entry of a table of contents may have its summary below it.
        if headings::is_heading(first) {
            (narrative_start, length) = (None, 0);
        } else if is_narrative(paragraph.trim()) {
            narrative_start = narrative_start.or(Some(at));
            length += paragraph.trim().len();
        } else if length < MIN_LENGTH {
            (narrative_start, length) = (None, 0);
        }
    }
    narrative_start.filter(|_| length >= MIN_LENGTH)
}

/// Returns the paragraphs of a range with their offsets. A few lines do not show the width at which they are wrapped,
/// so Latin text is split at blank lines if there are any.
fn paragraphs_before(text: &str, from: usize, end: usize) -> Vec<(usize, &str)> {
    let passage = &text[from..end];
    let latin = passage.chars().filter(|c| is_han(*c)).count() * 4 < passage.chars().count();
    let blank = |line: &str| line.trim().is_empty();
    if latin && passage.trim().lines().any(blank) {
        return paragraphs(text, from, end).collect();
    }
    let mut paragraph_start = from;
    let paragraph = |stop: usize| {
        let at = std::mem::replace(&mut paragraph_start, from + stop);
        (at, &text[at..from + stop])
    };
    paragraph_ends(passage).into_iter().map(paragraph).collect()
}

/// Whether a paragraph is about how the book was made.
pub(in crate::stages::chunk::chapters) fn is_credit(words: &str) -> bool {
    let lower = words.to_lowercase();
    let has = |list: &[String]| list.iter().any(|word| lower.contains(word.as_str()));
    has(&CREDITS.any_length) || (lower.len() < MAX_CREDIT_LENGTH && has(&CREDITS.short))
}

/// Whether a paragraph ends like a sentence, and is neither a credit nor a dedication.
fn is_narrative(words: &str) -> bool {
    if !words.ends_with(['.', '!', '?', '”', '"', '’', '。', '！', '？', '」', '』', '．', '…'])
        || headings::is_loud(words)
    {
        return false;
    }
    let dedicates = |words: &str| ["to ", "for ", "by ", "with "].iter().any(|word| words.starts_with(word));
    let dedication = words.len() < MAX_CREDIT_LENGTH / 2 && dedicates(&words.to_lowercase());
    !is_credit(words) && !dedication
}

#[cfg(test)]
mod tests {
    use crate::stages::chunk::{Params, chapters, chunk, read};

    /// Returns the first characters of a book's first chunk.
    fn opening(path: &str, text: &str) -> String {
        let book = read(path, text.as_bytes(), None).expect("reads");
        let chunks = chunk(&book, &chapters(&book), &Params::default()).0;
        chunks[0].text.trim_start().chars().take(8).collect()
    }

    #[test]
    fn story_text_before_the_first_chapter_is_kept() {
        let en = "It rained on the weir all that night, and nobody in the mill slept; the wheel stood still.\n\n";
        let zh = "　　河上没有风，水车停了三天，守夜的人都睡不着，只听见水从闸下过去。\n";
        let chapters =
            |heads: [&str; 3], prose: &str| heads.map(|head| format!("{head}\n\n{}", prose.repeat(30))).concat();
        let en_book = chapters(["Chapter 1", "Chapter 2", "Chapter 3"], en);
        let zh_book = chapters(["第一章", "第二章", "第三章"], zh);
        for (before, expected) in [
            (format!("RAIN\n\nby Nobody\n\n{}", en.repeat(6)), "It raine"),
            (format!("RAIN\n\n“Come in,” said Ann.\n\n{}", en.repeat(6)), "“Come in"),
            (format!("RAIN\n\nProduced by Nobody.\n\nTo Ann.\n\n{}", en.repeat(6)), "It raine"),
            (format!("RAIN\n\nCopyright 1999. {}\n\n", en.repeat(6).replace("\n\n", " ")), "Chapter "),
            (format!("RAIN\n\nABOUT THIS BOOK\n\n{}", en.repeat(6)), "Chapter "),
            (
                format!(
                    "RAIN\n\nCONTENTS\n\nMud  1\nSun  9\nMoon  12\n\n{}\n\n",
                    en.repeat(6).replace("\n\n", " ").trim()
                ),
                "It raine",
            ),
            (format!("RAIN\n\n{en}"), "Chapter "),
        ] {
            assert_eq!(opening("rain.txt", &format!("{before}{en_book}")), expected, "{before}");
        }
        for (before, expected) in [
            (format!("河灯\n作者：某人\n{}", zh.repeat(6)), "河上没有风，水车"),
            (format!("河灯\n\n本书由某某校对。\n\n{}", zh.repeat(6)), "河上没有风，水车"),
            (format!("河灯\n\n内容简介：\n{}", zh.repeat(6)), "第一章\n\n　　河"),
            (format!("河灯\n\n{zh}"), "第一章\n\n　　河"),
        ] {
            assert_eq!(opening("河灯.txt", &format!("{before}{zh_book}")), expected, "{before}");
        }
    }
}
