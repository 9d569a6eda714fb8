//! Pages that an EPUB's spine calls `linear="no"`: covers, notes and advertisements stand there, but also chapters of books
//! whose makers meant something else. Says which of them hold story; never by where they stand.

use super::headings::{self, Strength};
use super::html::Heading;

/// A shorter page is no chapter by its length alone. In bytes.
const SHORTEST: usize = 1500;
/// Headings that are longer are the page's first paragraph. In bytes.
const LONGEST_TITLE: usize = 200;

/// A page off the book's main line, on its way. In bytes of the book's text.
#[derive(Debug)]
pub(super) struct Aside {
    pub(super) path: String,
    pub(super) start: usize,
    pub(super) end: usize,
    /// What it is when it is no story.
    pub(super) reason: &'static str,
    pub(super) headings: Vec<Heading>,
    /// What on it is no story in any case: start, end, reason, detail.
    pub(super) matter: Vec<(usize, usize, &'static str, String)>,
}

/// Returns the length of a page that is as long as a chapter, from the lengths of the pages of the main line.
pub(super) fn chapter_length(mut lengths: Vec<usize>) -> usize {
    lengths.sort_unstable();
    let median = lengths.get(lengths.len() / 2).copied().unwrap_or_default();
    (median / 2).max(SHORTEST)
}

/// Says why a page off the main line is no story, or nothing when it is: one with a heading of the book's own sequence, or
/// as long as a chapter. `titles` are what its headings and the book's contents call it.
pub(super) fn kept_out<'a>(
    text: &'a str,
    titles: impl Iterator<Item = &'a str>,
    chapter_length: usize,
) -> Option<&'static str> {
    if is_notes(text) {
        return Some("holds notes");
    }
    let first = text.lines().next().filter(|line| line.len() <= LONGEST_TITLE);
    let opened = titles.chain(first).filter_map(headings::candidate);
    let mut sequence = false;
    for candidate in opened {
        if !candidate.story {
            return Some("has the heading of what is no story");
        }
        sequence |= candidate.number.is_some() || candidate.strength == Strength::Strong;
    }
    if sequence {
        None
    } else if text.len() < chapter_length {
        Some("has neither a heading of the story nor the length of a chapter")
    } else {
        (!is_prose(text)).then_some("holds a list")
    }
}

fn paragraphs(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

/// Whether most paragraphs begin with the mark of a note, a heading left aside.
fn is_notes(text: &str) -> bool {
    let marked = |line: &&str| {
        let open = line.starts_with(['[', '(', '（', '〔', '【', '［']);
        let rest = line.trim_start_matches(['[', '(', '（', '〔', '【', '［']);
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let signed = rest.starts_with(['*', '†', '‡', '§', '¶', '^', '↩', '↑', '注', '註'])
            || rest.starts_with(|c| matches!(c, '①'..='⑳'));
        // A number alone is a heading.
        rest.len() > digits + 4 && (signed || (1..=4).contains(&digits) || (open && lettered(rest)))
    };
    let (count, notes) = (paragraphs(text).count(), paragraphs(text).filter(marked).count());
    notes >= 1 && notes * 2 >= count
}

/// Whether a text is one letter and a closing bracket, and more.
fn lettered(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(char::is_alphabetic)
        && letters.next().is_some_and(|c| matches!(c, ']' | ')' | '）' | '〕' | '】' | '］'))
}

/// Whether most words stand in paragraphs that end as sentences do.
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
    fn story_is_told_from_notes_covers_and_advertisements() {
        let prose = |sentence: &str| format!("{sentence}\n\n").repeat(60);
        let (english, chinese) = (
            prose("It rained on the weir all that night, and nobody slept."),
            prose("河上无风，水车不动，守夜的人都睡了。"),
        );
        let list = "The Weir\n\nA Horse Is Sold\n\nWhat Hannah Counted\n\n".repeat(60);
        let kept =
            |text: &str, titles: &[&str]| kept_out(text, titles.iter().copied(), chapter_length(vec![4000, 4000]));
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
            (&english, &["Preface"], "no story"),
        ] {
            assert!(kept(text, titles).is_some_and(|told| told.contains(why)), "{text}: {:?}", kept(text, titles));
        }
    }

    #[test]
    fn without_a_main_line_a_page_of_prose_is_a_chapter() {
        assert_eq!(chapter_length(Vec::new()), SHORTEST);
        assert_eq!(chapter_length(vec![10_000, 8000, 2]), 4000);
    }
}
