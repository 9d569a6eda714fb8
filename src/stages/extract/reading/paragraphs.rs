//! Paragraphs: where they begin and end, whether the book wraps its lines or gives each paragraph one line.
//!
//! Says nothing of chapters: a heading is a border here and no more.

use super::{Paragraph, number, wide};

/// A line without the blanks at its ends.
struct Line {
    start: usize,
    end: usize,
    indent: usize,
    width: usize,
}

/// Returns the paragraphs of a book in order.
pub(super) fn paragraphs(chars: &[char]) -> Vec<Paragraph> {
    let lines = lines(chars);
    let wrapped = wrapped(&lines);
    let tight = wrapped && tight(&lines);
    let mut paragraphs: Vec<Paragraph> = Vec::new();
    let mut open = false;
    let mut indent = 0;
    for line in &lines {
        if line.width == 0 {
            open = false;
            continue;
        }
        let joined = open && wrapped && !(tight && line.indent > indent + 1);
        if let Some(paragraph) = paragraphs.last_mut().filter(|_| joined) {
            paragraph.end = number(line.end);
        } else {
            paragraphs.push(Paragraph { start: number(line.start), end: number(line.end), border: false });
        }
        indent = line.indent;
        open = true;
    }
    for paragraph in &mut paragraphs {
        paragraph.border = border(&chars[paragraph.start as usize..paragraph.end as usize]);
    }
    paragraphs
}

fn lines(chars: &[char]) -> Vec<Line> {
    let mut lines = Vec::new();
    for line in chars.split(|&c| c == '\n') {
        let offset = lines.last().map_or(0, |&(_, next): &(Line, usize)| next);
        let indent = line.iter().take_while(|c| c.is_whitespace()).count();
        let tail = line[indent..].iter().rev().take_while(|c| c.is_whitespace()).count();
        let body = &line[indent..line.len() - tail];
        let width = body.iter().map(|&c| if wide(c) { 2 } else { 1 }).sum();
        let start = offset + indent;
        lines.push((Line { start, end: start + body.len(), indent, width }, offset + line.len() + 1));
    }
    lines.into_iter().map(|(line, _)| line).collect()
}

/// Whether the book breaks its lines at a width: hardly any line is long, and the lines within a block are nearly full.
fn wrapped(lines: &[Line]) -> bool {
    let mut widths: Vec<usize> = lines.iter().map(|line| line.width).filter(|&width| width > 0).collect();
    let long = widths.iter().filter(|&&width| width > 120).count();
    if widths.is_empty() || long * 50 > widths.len() {
        return false;
    }
    widths.sort_unstable();
    let full = widths[widths.len() * 9 / 10] * 7 / 10;
    let inner = lines.windows(2).filter(|pair| pair[0].width > 0 && pair[1].width > 0);
    let (all, filled) =
        inner.fold((0, 0), |(all, filled), pair| (all + 1, filled + usize::from(pair[0].width >= full)));
    all > 0 && filled * 2 > all
}

/// Whether a wrapped book parts its paragraphs by indents and not by blank lines.
fn tight(lines: &[Line]) -> bool {
    let filled = lines.iter().filter(|line| line.width > 0).count();
    let blocks = lines.windows(2).filter(|pair| pair[0].width == 0 && pair[1].width > 0).count() + 1;
    filled > blocks * 25
}

/// Whether a paragraph parts scenes: a line of stars or rules, or a heading.
fn border(chars: &[char]) -> bool {
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
    heading_zh(&line) || heading_en(&line)
}

fn heading_zh(line: &str) -> bool {
    const NUMERALS: &str = "一二三四五六七八九十百千零〇两兩廿卅上中下0123456789";
    if line.chars().all(|c| NUMERALS.contains(c)) && line.chars().count() < 5 {
        return true;
    }
    if ["楔子", "引子", "序", "序章", "序言", "尾声", "尾聲", "后记", "後記", "前言"].contains(&line)
    {
        return true;
    }
    let Some(rest) = line.strip_prefix('第') else { return false };
    let number = rest.chars().take_while(|&c| NUMERALS.contains(c)).count();
    number > 0
        && rest.chars().nth(number).is_some_and(|c| "章回节節卷部集幕场場篇".contains(c))
        && line.chars().count() < 50
}

fn heading_en(line: &str) -> bool {
    const WORDS: [&str; 12] = [
        "chapter",
        "part",
        "book",
        "volume",
        "act",
        "scene",
        "letter",
        "prologue",
        "epilogue",
        "preface",
        "introduction",
        "contents",
    ];
    if line.contains(['“', '"', '‘', '?']) {
        return false;
    }
    let mut words = line.split([' ', '.', ':', '—', '-']).filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default();
    let roman = |word: &str| !word.is_empty() && word.chars().all(|c| "IVXLC".contains(c));
    let second = words.next();
    if WORDS.contains(&first.to_lowercase().as_str()) {
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
    fn joins_the_lines_of_a_wrapped_paragraph() {
        let text = "The water was as low as it goes at the neaps, and the coach\r\nput down its two last passengers on the hard of\r\nthe town.\r\n\r\nNobody came to meet them, which was the custom of the place and\r\nof its people.\r\n";
        let found = split(text);
        assert_eq!(found.len(), 2);
        assert!(found[0].0.starts_with("The water") && found[0].0.ends_with("the town."));
    }

    #[test]
    fn takes_each_line_for_a_paragraph_where_lines_are_long() {
        let long = "it went on and on ".repeat(12);
        let found = split(&format!("{long}\n“No.”\n{long}\n\n“Yes.”"));
        assert_eq!(found.len(), 4);
        assert_eq!(found[1].0, "“No.”");
    }

    #[test]
    fn knows_borders_from_speech() {
        for line in ["* * *", "＊＊＊", "CHAPTER IV.", "第三回　上学", "XII. THE END", "三", "Chapter 5"] {
            assert!(split(line)[0].1, "{line}");
        }
        for line in ["“NO!”", "第三个人来了。", "I went home.", "“……”", "Part of it was gone."] {
            assert!(!split(line)[0].1, "{line}");
        }
    }
}
