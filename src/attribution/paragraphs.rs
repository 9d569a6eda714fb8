//! Paragraph boundaries, in books with wrapped lines and in books with one line per paragraph.
//!
//! Chapters are not found here: a heading is only marked as a border.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::Deserialize;

use super::{Paragraph, to_u32};
use crate::text::{Shape, paragraph_starts};

/// Words of headings, from the TOML file beside this module.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HeadingWords {
    chinese_numerals: String,
    chinese_headings: BTreeSet<String>,
    chinese_units: String,
    english_headings: BTreeSet<String>,
}

static HEADINGS: LazyLock<HeadingWords> = LazyLock::new(|| embedded_toml!("paragraphs.toml"));

/// Returns the paragraphs of a book in order, without surrounding whitespace.
pub(super) fn paragraphs(chars: &[char]) -> Vec<Paragraph> {
    let shapes: Vec<Shape> = chars.split(|&c| c == '\n').map(|line| Shape::of(line.iter().copied())).collect();
    let mut paragraphs: Vec<Paragraph> = Vec::new();
    let mut offset = 0;
    for (line, is_start) in chars.split(|&c| c == '\n').zip(paragraph_starts(&shapes)) {
        let head = line.iter().take_while(|c| c.is_whitespace()).count();
        if head < line.len() {
            let tail = line.iter().rev().take_while(|c| c.is_whitespace()).count();
            let end = to_u32(offset + line.len() - tail);
            match paragraphs.last_mut() {
                Some(paragraph) if !is_start => paragraph.end = end,
                _ => paragraphs.push(Paragraph { start: to_u32(offset + head), end, border: false }),
            }
        }
        offset += line.len() + 1;
    }
    for paragraph in &mut paragraphs {
        paragraph.border = is_border(&chars[paragraph.start as usize..paragraph.end as usize]);
    }
    paragraphs
}

/// Whether a paragraph separates scenes: a line of stars, a rule, or a heading.
pub(super) fn is_border(chars: &[char]) -> bool {
    if chars.len() > 80 {
        return false;
    }
    let line: String = chars.iter().map(|&c| if c.is_whitespace() { ' ' } else { c }).collect();
    if !line.chars().any(char::is_alphanumeric) {
        return !line
            .chars()
            .any(|c| matches!(c, '"' | '“' | '”' | '‘' | '’' | '「' | '『' | '?' | '!' | '？' | '！' | '…'));
    }
    if line.starts_with('#') || line.starts_with('.') && line[1..].starts_with(char::is_uppercase) {
        return true;
    }
    is_chinese_heading(&line) || is_english_heading(&line)
}

fn is_chinese_heading(line: &str) -> bool {
    let is_numeral = |c: char| HEADINGS.chinese_numerals.contains(c);
    if line.chars().all(is_numeral) && line.chars().count() < 5 {
        return true;
    }
    if HEADINGS.chinese_headings.contains(line) {
        return true;
    }
    let Some(rest) = line.strip_prefix('第') else { return false };
    let digits = rest.chars().take_while(|&c| is_numeral(c)).count();
    digits > 0
        && rest.chars().nth(digits).is_some_and(|c| HEADINGS.chinese_units.contains(c))
        && line.chars().count() < 50
}

fn is_english_heading(line: &str) -> bool {
    if line.contains(['“', '"', '‘', '?']) {
        return false;
    }
    let mut words = line.split([' ', '.', ':', '—', '-']).filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default();
    let roman = |word: &str| !word.is_empty() && word.chars().all(|c| "IVXLC".contains(c));
    let second = words.next();
    if HEADINGS.english_headings.contains(&first.to_lowercase()) {
        return second.is_none_or(|word| {
            roman(word)
                || word.starts_with(|c: char| c.is_ascii_digit())
                || (word.starts_with(char::is_uppercase) && !line.ends_with('.'))
        });
    }
    if (roman(first) && (first != "I" || line.starts_with("I.") || second.is_none()))
        || first.chars().all(|c| c.is_ascii_digit())
    {
        return !line.ends_with(['.', '!', ',', ';']) || second.is_none();
    }
    let letters = line.chars().filter(|c| c.is_alphabetic()).count();
    letters > 2 && line.is_ascii() && line.chars().all(|c| !c.is_lowercase()) && !line.ends_with(['!', ','])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<(String, bool)> {
        let chars: Vec<char> = text.chars().collect();
        paragraphs(&chars)
            .iter()
            .map(|paragraph| {
                (chars[paragraph.start as usize..paragraph.end as usize].iter().collect(), paragraph.border)
            })
            .collect()
    }

    #[test]
    fn wrapped_lines_are_joined_to_paragraphs() {
        let text = "The water was as low as it goes at the neaps, and the coach\r\nput down its two last passengers on the hard of\r\nthe town.\r\n\r\nNobody came to meet them, which was the custom of the place and\r\nof its people.\r\n";
        let found = split(text);
        assert_eq!(found.len(), 2);
        assert!(found[0].0.starts_with("The water") && found[0].0.ends_with("the town."));
    }

    #[test]
    fn long_lines_are_paragraphs_of_their_own() {
        let long = "it went on and on ".repeat(12);
        let found = split(&format!("{long}\n“No.”\n{long}\n\n“Yes.”"));
        assert_eq!(found.len(), 4);
        assert_eq!(found[1].0, "“No.”");
    }

    #[test]
    fn scene_breaks_and_headings_differ_from_speech() {
        for line in ["* * *", "＊＊＊", "CHAPTER IV.", "第三回　上学", "XII. THE END", "三", "Chapter 5"] {
            assert!(split(line)[0].1, "{line}");
        }
        for line in ["“NO!”", "第三个人来了。", "I went home.", "“……”", "Part of it was gone."] {
            assert!(!split(line)[0].1, "{line}");
        }
    }

    #[test]
    fn line_wrapping_does_not_change_paragraphs() {
        let en = [
            "The water was as low as it goes at the neaps, and the coach put down its two last passengers on the hard of the town.",
            "“Nobody comes,” said Anna. “Nobody has come since the ferry went, and that was in the spring of the year of the flood.”",
            "“No.”",
            "Ben counted the lamps on the far bank, and there was one too many, which he did not say to anyone but her.",
        ];
        let zh = [
            "河上没有风，水车停了三天，守夜的人都睡不着，只听见水从闸下过去，一声接着一声，好像有人在数数。",
            "“谁在外头？”老周问，“渡船七点就走了，潮不涨是不回来的，你到别处去问一问罢，这里没有住处。”",
            "“我。”",
            "来人穿一件两色的旧袄，手里拿着一封拆过又封好的信，站在门口不动，也不说是谁叫他来的。",
        ];
        for (paragraphs, blank, indents) in [(en, " ", ["    ", "\t"]), (zh, "", ["　　", "　　"])] {
            let wrap = |paragraph: &str, indent: &str| -> String {
                let words: Vec<String> = if blank.is_empty() {
                    paragraph.chars().map(String::from).collect()
                } else {
                    paragraph.split(' ').map(str::to_owned).collect()
                };
                let lines = words.chunks(if blank.is_empty() { 30 } else { 12 }).map(|line| line.join(blank));
                format!("{indent}{}", lines.collect::<Vec<_>>().join("\n"))
            };
            let joined = |indent: &str, between: &str| {
                let lines: Vec<String> = paragraphs.iter().map(|paragraph| wrap(paragraph, indent)).collect();
                lines.join(between)
            };
            let layouts = [
                paragraphs.join("\n\n"),
                paragraphs.join("\n"),
                joined("", "\n\n").replace('\n', "\r\n"),
                joined(indents[0], "\n"),
                joined(indents[1], "\n"),
            ];
            for layout in layouts {
                let found: Vec<String> =
                    split(&layout).into_iter().map(|(paragraph, _)| paragraph.split_whitespace().collect()).collect();
                let expected: Vec<String> =
                    paragraphs.iter().map(|paragraph| paragraph.split_whitespace().collect()).collect();
                assert_eq!(found, expected, "{layout}");
            }
        }
    }
}
