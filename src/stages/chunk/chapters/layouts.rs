//! Tests of heading detection on whole books. Each frame has the structure of a real book layout, with invented titles
//! and prose.
//!
//! The frames are in `layouts/`, one file per language. `=== name` starts a frame. In it, a line `c1|CHAPTER I.` is a
//! heading that must be found: `v` volume, `p` part, `c` chapter, `a` act, `s` scene, `l` letter, `f` front, `b` back,
//! followed by its number. `+|` is a further line of its title, `~` the text of a chapter, `.` a short paragraph. Any
//! other line opens nothing. `=== name (close)` is a frame that needs no blank lines.

use std::fmt::Write as _;

use super::headings;
use crate::schema::{Chapter, Language, Level};
use crate::stages::chunk::{Params, chapters, chunk, read};

const EN: &str = include_str!("layouts/en.txt");
const ZH: &str = include_str!("layouts/zh.txt");

/// An expected heading: line, level, number and title.
type Found = (u32, Level, Option<u32>, String);

/// How the text below the headings is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Setting {
    /// Lines of about 70 columns, with blank lines between paragraphs.
    Wrapped,
    /// One line per paragraph, with blank lines between.
    Lines,
    /// One line per paragraph, indented by two full-width spaces, without blank lines.
    Dense,
    /// Lines of 36 characters; only two full-width spaces start a paragraph.
    Indented,
    /// One line per paragraph, indented, without a blank line in the whole book.
    Packed,
    /// One line per paragraph, not indented, without a blank line in the whole book.
    Flush,
    /// Lines of about 60 columns, paragraphs indented, without a blank line in the whole book.
    Tight,
    /// Lines of about 60 columns, not indented, without a blank line in the whole book.
    Block,
}

impl Setting {
    /// Whether the whole book has no blank line.
    const fn is_packed(self) -> bool {
        matches!(self, Self::Packed | Self::Flush | Self::Tight | Self::Block)
    }
}

/// Lays out the paragraphs of a chapter.
fn chapter_paragraphs(language: Language, at: usize, setting: Setting) -> Vec<Vec<String>> {
    let paragraphs: Vec<String> = match language {
        Language::En => {
            let sentences = [
                "It rained on the weir all that night, and nobody in the mill slept; the wheel stood still and the river went by it.",
                "She counted the lamps on the far bank, and there was one too many, which she did not say to anyone.",
                "“Who is it that comes so late?” asked Anna. “The ferry went at seven, and it does not come back before the tide.”",
                "He had a coat of two colours, a stick, and a letter that had been opened and closed again by somebody careful.",
                "“I am sent,” said the man, “and I am to wait.” He sat down on the sack nearest to the door and waited.",
                "In the morning the water had gone down by a hand, and the mud had the prints of three people in it, all going out.",
            ];
            (0..9).map(|turn| [0, 1, 2].map(|step| sentences[(at + turn * 2 + step) % 6]).join(" ")).collect()
        }
        Language::Zh => {
            let sentences = [
                "河上没有风，水车停了三天，守夜的人都睡不着，只听见水从闸下过去。",
                "“谁在外头？”老周问，“渡船七点就走了，潮不涨是不回来的。”",
                "来人穿一件两色的旧袄，手里拿着一封拆过又封好的信，站在门口不动。",
                "她数了数对岸的灯，多了一盏，却没有同谁说起。",
                "“我是受人差遣，”那人道，“只管在这里等。”说完便在离门最近的麻袋上坐下。",
                "天亮时水落了一掌，泥里有三个人的脚印，都是往外走的。",
            ];
            (0..9).map(|turn| [0, 1].map(|step| sentences[(at + turn * 2 + step) % 6]).concat()).collect()
        }
    };
    paragraphs.iter().map(|paragraph| set(paragraph, language, setting)).collect()
}

/// Lays out a paragraph in lines.
fn set(paragraph: &str, language: Language, setting: Setting) -> Vec<String> {
    match setting {
        Setting::Lines => vec![paragraph.to_owned(), String::new()],
        Setting::Flush => vec![paragraph.to_owned()],
        Setting::Dense | Setting::Packed => vec![format!("　　{paragraph}")],
        Setting::Indented => {
            let chars: Vec<char> = format!("　　{paragraph}").chars().collect();
            chars.chunks(36).map(|line| line.iter().collect()).collect()
        }
        Setting::Wrapped if language == Language::Zh => {
            let chars: Vec<char> = paragraph.chars().collect();
            let mut lines: Vec<String> = chars.chunks(36).map(|line| line.iter().collect()).collect();
            lines.push(String::new());
            lines
        }
        Setting::Wrapped | Setting::Tight | Setting::Block => {
            let width = if setting == Setting::Wrapped { 70 } else { 60 };
            let mut lines = vec![if setting == Setting::Tight { "   " } else { "" }.to_owned()];
            for word in paragraph.split(' ') {
                let line = lines.last_mut().expect("one at least");
                if !line.is_empty() && line.len() + word.len() > width {
                    lines.push(word.to_owned());
                } else {
                    if !line.trim_start().is_empty() {
                        line.push(' ');
                    }
                    line.push_str(word);
                }
            }
            lines.extend((setting == Setting::Wrapped).then(String::new));
            lines
        }
    }
}

fn level(sign: &str) -> Option<(Level, Option<u32>)> {
    let level = match sign.chars().next()? {
        'v' => Level::Volume,
        'p' => Level::Part,
        'c' => Level::Chapter,
        'a' => Level::Act,
        's' => Level::Scene,
        'l' => Level::Letter,
        'f' => Level::Front,
        'b' => Level::Back,
        _ => return None,
    };
    if sign.len() == 1 { Some((level, None)) } else { sign[1..].parse().ok().map(|number| (level, Some(number))) }
}

/// Expands a frame into a book and the headings expected in it.
fn book(frame: &str, language: Language, setting: Setting) -> (String, Vec<Found>) {
    let (mut lines, mut expected): (Vec<String>, Vec<Found>) = (Vec::new(), Vec::new());
    let packed = setting.is_packed();
    for (at, line) in frame.lines().enumerate().filter(|(_, line)| !(packed && line.is_empty())) {
        match line {
            "~" => lines.extend(chapter_paragraphs(language, at, setting).concat()),
            "." => lines.extend(chapter_paragraphs(language, at, setting).swap_remove(0)),
            _ => {
                let signed = line.split_once('|').filter(|(sign, _)| sign.len() <= 4);
                let words = signed.map_or(line, |(_, words)| words);
                let title = words.split_whitespace().collect::<Vec<_>>().join(" ");
                if let Some((level, number)) = signed.and_then(|(sign, _)| level(sign)) {
                    expected.push((u32::try_from(lines.len() + 1).expect("short"), level, number, title));
                } else if signed.is_some_and(|(sign, _)| sign == "+") {
                    let heading = &mut expected.last_mut().expect("a title goes on below a heading").3;
                    *heading = format!("{heading} {title}");
                }
                lines.push(words.to_owned());
            }
        }
    }
    (format!("{}\n", lines.join("\n")), expected)
}

fn frames(source: &str) -> Vec<(&str, &str)> {
    source.split("=== ").skip(1).map(|frame| frame.split_once('\n').expect("a name and lines")).collect()
}

/// Compares the headings found in each frame with the expected ones. Returns the number of frames.
fn check(source: &str, language: Language, settings: &[Setting]) -> usize {
    let mut failures = String::new();
    let frames = frames(source);
    for (name, frame) in &frames {
        let close = [Setting::Tight, Setting::Block, Setting::Flush];
        let more: &[Setting] = if name.ends_with("(close)") { &close } else { &[] };
        for &setting in settings.iter().chain(more) {
            let (text, expected) = book(frame, language, setting);
            let book = read("a.txt", text.as_bytes(), None).expect("reads");
            let found = chapters(&book);
            let of = |chapter: &Chapter| {
                (chapter.line.unwrap_or_default(), chapter.level, chapter.number, chapter.title.clone())
            };
            let found_headings: Vec<Found> = found.iter().map(of).collect();
            for missed in expected.iter().filter(|heading| !found_headings.contains(heading)) {
                let _ = writeln!(failures, "{name} ({setting:?}): misses {missed:?}");
            }
            for wrong in found_headings.iter().filter(|heading| !expected.contains(heading)) {
                let _ = writeln!(failures, "{name} ({setting:?}): finds  {wrong:?}");
            }
            // The text below each heading of the story must be in a chunk, whatever is left out around it.
            let (chunks, rejects) = chunk(&book, &found, &Params::default());
            let held: usize = chunks
                .iter()
                .map(|chunk| chunk.text.matches(WITNESS[usize::from(language == Language::Zh)]).count())
                .sum();
            let all = text.matches(WITNESS[usize::from(language == Language::Zh)]).count();
            let outside = outside(&text, &found, WITNESS[usize::from(language == Language::Zh)]);
            if held + outside != all {
                let _ = writeln!(failures, "{name} ({setting:?}): chunks hold {held} of {all}, {outside} outside");
                for reject in rejects {
                    let _ = writeln!(failures, "  {} {}: {}", reject.id, reject.reason, reject.detail);
                }
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
    frames.len()
}

/// Words in each chapter's text that are never split by a line break.
const WITNESS: [&str; 2] = ["too many", "水落"];

/// Counts the witnesses in text outside the story: in a preface or an afterword by name.
fn outside(text: &str, found: &[Chapter], witness: &str) -> usize {
    let chars: Vec<char> = text.chars().collect();
    let boilerplate_chapters = found.iter().filter(|chapter| headings::opens_boilerplate(&chapter.title));
    let texts = boilerplate_chapters
        .map(|chapter| chars[chapter.start as usize..chapter.end as usize].iter().collect::<String>());
    texts.map(|text| text.matches(witness).count()).sum()
}

#[test]
fn english_books_of_many_layouts_have_their_headings() {
    assert!(check(EN, Language::En, &[Setting::Wrapped, Setting::Lines]) >= 30);
}

#[test]
fn chinese_books_of_many_layouts_have_their_headings() {
    assert!(
        check(ZH, Language::Zh, &[Setting::Lines, Setting::Dense, Setting::Indented, Setting::Packed, Setting::Flush])
            >= 30
    );
}

/// Lays out a book of two chapters in one of five ways used in print.
fn printed(language: Language, paragraphs: &[String], way: usize) -> String {
    let heads = if language == Language::Zh {
        ["第一章 看灯", "第二章 听雨"]
    } else {
        ["CHAPTER I. MUD", "CHAPTER II. SUN"]
    };
    let (setting, indent) = match way {
        0 | 1 => (Setting::Lines, ""),
        2 => (Setting::Wrapped, ""),
        3 => (Setting::Wrapped, if language == Language::Zh { "　　" } else { "   " }),
        _ => (Setting::Wrapped, if language == Language::Zh { "　　" } else { "\t" }),
    };
    let mut text = String::new();
    for (head, half) in heads.iter().zip(paragraphs.chunks(paragraphs.len().div_ceil(2))) {
        let _ = writeln!(text, "{head}\n");
        for paragraph in half {
            let mut lines = set(paragraph, language, setting);
            lines[0].insert_str(0, indent);
            // Only an indent starts a paragraph.
            if way >= 3 {
                lines.retain(|line| !line.is_empty());
            }
            let _ = writeln!(text, "{}\n", lines.join(""));
        }
        text.push('\n');
    }
    if way == 1 { text.replace('\n', "\r\n") } else { text }
}

/// Paragraphs of several lengths, including dialogue.
fn paragraphs(language: Language) -> Vec<String> {
    let long = |at: usize| {
        chapter_paragraphs(language, at, Setting::Lines).concat().into_iter().filter(|line| !line.is_empty())
    };
    let talk = match language {
        Language::En => ["“Is it far?”", "“It is,” said Ben, and looked away.", "Nobody spoke."],
        Language::Zh => ["“还有多远？”", "“还远。”本叔说着，看了看别处。", "没有人说话。"],
    };
    let mut paragraphs: Vec<String> = Vec::new();
    for at in 0..6 {
        paragraphs.extend(long(at));
        paragraphs.extend(talk.map(str::to_owned));
    }
    paragraphs
}

#[test]
fn line_wrapping_changes_neither_paragraphs_nor_boundaries() {
    for language in Language::ALL {
        let paragraphs = paragraphs(language);
        let without_whitespace = |text: &str| text.split_whitespace().collect::<String>();
        let expected: Vec<String> = paragraphs.iter().map(|paragraph| without_whitespace(paragraph)).collect();
        let mut borders: Vec<Vec<String>> = Vec::new();
        for way in 0..5 {
            let text = printed(language, &paragraphs, way);
            let mut start = 0;
            let mut found: Vec<String> = Vec::new();
            for end in crate::stages::chunk::breaks::paragraph_ends(&text) {
                found.push(without_whitespace(&text[start..end]));
                start = end;
            }
            found.retain(|paragraph| expected.contains(paragraph) || !paragraph.contains(['I', '章']));
            assert_eq!(found, expected, "{language}, way {way}");
            let book = read("a.txt", text.as_bytes(), None).expect("reads");
            let cut = |max_tokens| chunk(&book, &chapters(&book), &Params { max_tokens, ..Params::default() }).0;
            for chunk in cut(700) {
                let opening = without_whitespace(&chunk.text);
                let begins = expected.iter().any(|paragraph| opening.starts_with(paragraph.as_str()));
                assert!(begins || opening.contains(['I', '章']), "{language}, way {way}: {opening}");
            }
            // White space counts a little, so results are identical only where the budget does not decide.
            borders.push(cut(3000).iter().map(|chunk| without_whitespace(&chunk.text)).collect());
        }
        assert!(borders[0].len() > 1, "{borders:?}");
        assert!(borders.windows(2).all(|pair| pair[0] == pair[1]), "{borders:?}");
    }
}
