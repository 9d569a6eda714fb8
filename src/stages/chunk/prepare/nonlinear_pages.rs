//! Decides which non-linear pages of an EPUB belong to the story. Such pages (`linear="no"`) are covers, notes and
//! advertisements, but in some books also chapters. The decision does not depend on the position of the page.

use crate::stages::chunk::chapters::headings::{self, Strength};

/// The minimum length of a page that counts as a chapter by its length alone, in bytes.
const SHORTEST: usize = 1500;

/// The maximum length of a page's heading, in bytes. A longer first line is its first paragraph.
const LONGEST_TITLE: usize = 200;

/// Returns the minimum length of a page that is as long as a chapter, from the lengths of the linear pages.
pub(super) fn chapter_length(mut lengths: Vec<usize>) -> usize {
    lengths.sort_unstable();
    let median = lengths.get(lengths.len() / 2).copied().unwrap_or_default();
    (median / 2).max(SHORTEST)
}

/// Returns why a non-linear page is not part of the story, or `None` if it is: it has a heading of the book's sequence,
/// or is as long as a chapter. `titles` are its headings and its titles in the table of contents.
pub(super) fn exclusion<'a>(
    text: &'a str,
    titles: impl Iterator<Item = &'a str>,
    chapter_length: usize,
) -> Option<&'static str> {
    if is_notes(text) {
        return Some("contains notes");
    }
    let first = text.lines().next().filter(|line| line.len() <= LONGEST_TITLE);
    let opened = titles.chain(first).filter_map(headings::candidate);
    let mut sequence = false;
    for candidate in opened {
        if !candidate.story {
            return Some("has the heading of a page outside the story");
        }
        sequence |= candidate.number.is_some() || candidate.strength == Strength::Strong;
    }
    if sequence {
        None
    } else if text.len() < chapter_length {
        Some("has neither a story heading nor the length of a chapter")
    } else {
        (!is_prose(text)).then_some("contains a list")
    }
}

fn paragraphs(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

/// Whether at least half of the paragraphs start with a note mark, ignoring headings.
fn is_notes(text: &str) -> bool {
    let marked = |line: &&str| {
        let bracketed = line.starts_with(['[', '(', '（', '〔', '【', '［']);
        let rest = line.trim_start_matches(['[', '(', '（', '〔', '【', '［']);
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let signed = rest.starts_with(['*', '†', '‡', '§', '¶', '^', '↩', '↑', '注', '註'])
            || rest.starts_with(|c| matches!(c, '①'..='⑳'));
        // A number alone is a heading.
        rest.len() > digits + 4 && (signed || (1..=4).contains(&digits) || (bracketed && lettered(rest)))
    };
    let (count, notes) = (paragraphs(text).count(), paragraphs(text).filter(marked).count());
    notes >= 1 && notes * 2 >= count
}

/// Whether a text starts with one letter and a closing bracket.
fn lettered(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(char::is_alphabetic)
        && letters.next().is_some_and(|c| matches!(c, ']' | ')' | '）' | '〕' | '】' | '］'))
}

/// Whether most of the text is in paragraphs that end like sentences.
fn is_prose(text: &str) -> bool {
    const ENDS: &[char] = &[
        '.', '!', '?', '…', '—', ':', ';', '"', '\'', '”', '’', '。', '！', '？', '」', '』', '：', '；', ')', '）',
        '*',
    ];
    let ended: usize = paragraphs(text).filter(|line| line.ends_with(ENDS)).map(str::len).sum();
    ended * 2 >= text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn story_pages_differ_from_notes_covers_and_advertisements() {
        let prose = |sentence: &str| format!("{sentence}\n\n").repeat(60);
        let (english, chinese) = (
            prose("It rained on the weir all that night, and nobody slept."),
            prose("河上无风，水车不动，守夜的人都睡了。"),
        );
        let list = "The Weir\n\nA Horse Is Sold\n\nWhat Hannah Counted\n\n".repeat(60);
        let kept =
            |text: &str, titles: &[&str]| exclusion(text, titles.iter().copied(), chapter_length(vec![4000, 4000]));
        for (text, titles) in [
            (english.as_str(), &[][..]),
            (&chinese, &[]),
            ("Chapter 3\n\nShort.", &[]),
            ("第三回 听雨\n\n雨落。", &[]),
            ("Short.", &["Epilogue"]),
            ("雨落。", &["楔子"]),
            (&format!("3\n\n{english}"), &[]),
            (&english.replace("It rained", "(Été) It rained"), &[]),
            (&chinese.replace("河上", "（漢字）河上"), &[]),
        ] {
            assert_eq!(kept(text, titles), None, "{text}");
        }
        let notes = |mark: &str| {
            let note = |n: usize| mark.replace('1', &n.to_string()) + "A long word about it, and more.\n\n";
            (1..90).map(note).collect::<String>()
        };
        for (text, titles, why) in [
            ("Rain\n\nby A. B.", &[][..], "neither"),
            ("另有佳作，敬请期待。", &["新书"], "neither"),
            (&list, &[], "list"),
            (&notes("[1] "), &[], "notes"),
            (&notes("1. "), &["Chapter 1"], "notes"),
            (&notes("[a] "), &[], "notes"),
            (&notes("[α] "), &[], "notes"),
            (&notes("（甲）"), &[], "notes"),
            (&notes("（1）"), &[], "notes"),
            (&notes("注1："), &["第一回"], "notes"),
            (&notes("* "), &[], "notes"),
            (&english, &["Preface"], "outside the story"),
        ] {
            assert!(kept(text, titles).is_some_and(|detail| detail.contains(why)), "{text}: {:?}", kept(text, titles));
        }
    }

    #[test]
    fn the_chapter_length_is_half_the_median_page() {
        assert_eq!(chapter_length(Vec::new()), SHORTEST);
        assert_eq!(chapter_length(vec![10_000, 8000, 2]), 4000);
    }
}
