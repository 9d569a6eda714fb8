//! What a text shows about itself: its language, its title, whether it is a script. Decides nothing about chapters.

use crate::schema::Language;
use crate::text::is_han;

/// Says which language most of a text is in: Chinese when more than three letters in ten are Chinese, since an English
/// word takes five letters where Chinese takes two.
pub(super) fn language(text: &str) -> Language {
    let (mut han, mut letters) = (0_u64, 0_u64);
    for c in text.chars() {
        if c.is_ascii() {
            letters += u64::from(c.is_ascii_alphabetic());
        } else if is_han(c) {
            han += 1;
            letters += 1;
        } else {
            letters += u64::from(c.is_alphabetic());
        }
    }
    if han * 10 > letters * 3 { Language::Zh } else { Language::En }
}

/// Finds the title: a named field before the text, else a first line that can be one, else the file's stem.
pub(super) fn title(text: &str, stem: &str, is_heading: impl Fn(&str) -> bool) -> String {
    let head = || text.lines().map(str::trim).take(40);
    let fallback = || stem.replace(['_', '-'], " ").trim().to_owned();
    for line in head() {
        let lower = line.to_ascii_lowercase();
        for field in ["title:", "标题:", "标题：", "書名：", "书名：", "书名:"] {
            if lower.starts_with(field) {
                let value = line[field.len()..].trim().trim_matches(['"', '\'', '*', '_', '“', '”']);
                if !value.is_empty() {
                    return value.to_owned();
                }
            }
        }
    }
    let Some(first) = head().find(|line| !line.is_empty()) else { return fallback() };
    if let Some((_, rest)) = first.split_once('《')
        && let Some((name, _)) = rest.split_once('》')
    {
        return name.to_owned();
    }
    let first = first.trim_start_matches('#').trim();
    let prose = first.chars().count() > 60
        || first.ends_with([',', ';', ':', '，', '；', '：', '。', '”', '"', '」', '-', '.', '．'])
        || first.starts_with(['“', '"', '「', '-', '*', '=', '<']);
    if first.is_empty() || prose || is_heading(first) { fallback() } else { first.to_owned() }
}

/// Says whether a text is laid out as a script: cue lines of names over speeches, or names before them on their lines.
pub(super) fn is_script(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let (mut filled, mut cues, mut speeches) = (0_usize, 0_usize, 0_usize);
    for (at, line) in lines.iter().enumerate() {
        if line.is_empty() {
            continue;
        }
        filled += 1;
        let above = at == 0 || lines[at - 1].is_empty();
        let below = lines.get(at + 1).is_some_and(|next| !next.is_empty());
        cues += usize::from(above && below && is_cue(line));
        speeches += usize::from(has_name_before_speech(line));
    }
    let (cues, speeches) = (cues.max(1), speeches.max(1));
    (cues >= 8 && cues * 5 >= filled) || (speeches >= 8 && speeches * 2 >= filled)
}

/// A cue: a name in capitals alone on its line, with an optional direction in parentheses.
fn is_cue(line: &str) -> bool {
    let name = line.split(['(', '（']).next().unwrap_or(line).trim();
    let letters = name.chars().filter(|c| c.is_alphabetic()).count();
    (1..=32).contains(&letters)
        && name
            .chars()
            .all(|c| c.is_uppercase() || matches!(c, ' ' | '.' | '\'' | '’' | '-' | '#') || c.is_ascii_digit())
        && !name.ends_with('.')
}

/// `NAME.` or `NAME:` before the speech, and `名：` in Chinese; quotation marks after it make it a sentence of a story.
fn has_name_before_speech(line: &str) -> bool {
    // A name has at most 24 characters.
    let mut begin = line.char_indices().take(25);
    let Some((at, _)) = begin.find(|(_, c)| matches!(c, '.' | ':' | '：' | '(' | '（')) else { return false };
    let (name, rest) = line.split_at(at);
    let rest = rest.trim_start_matches(['.', ':', '：']).trim_start();
    if rest.is_empty() || rest.starts_with(['“', '"', '「', '『', '‘']) {
        return false;
    }
    let count = name.chars().count();
    let capitals = (2..=24).contains(&count)
        && name.chars().any(char::is_alphabetic)
        && name.chars().all(|c| c.is_uppercase() || matches!(c, ' ' | '\'' | '’' | '-'));
    let han = line[at..].starts_with(['：', ':', '（']) && (1..=6).contains(&count) && name.chars().all(is_han);
    capitals || han
}

#[cfg(test)]
mod tests {
    use super::{is_script, language, title};
    use crate::schema::Language;

    #[test]
    fn languages_are_told_by_letters() {
        for (text, expected) in [
            ("A short text.", Language::En),
            ("他说：“OK，我们走吧。”", Language::Zh),
            ("He read the word 道 aloud and went home.", Language::En),
            ("", Language::En),
        ] {
            assert_eq!(language(text), expected, "{text}");
        }
    }

    #[test]
    fn titles_come_from_fields_then_first_lines_then_the_stem() {
        let heading = |line: &str| line.starts_with("Chapter");
        for (text, expected) in [
            ("Some notice\nTitle: The Glass Weir\n\nTHE END", "The Glass Weir"),
            ("---\ntitle: \"Low Tide\"\n---\n", "Low Tide"),
            ("\n\nTHE GLASS WEIR\n\nby nobody", "THE GLASS WEIR"),
            ("# 河灯\n\n正文。", "河灯"),
            ("《河灯》无名氏\n", "河灯"),
            ("Chapter 1\n\nIt rained.", "my book"),
            ("It rained all day.\n", "my book"),
            ("", "my book"),
        ] {
            assert_eq!(title(text, "my_book", heading), expected, "{text}");
        }
    }

    #[test]
    fn scripts_are_told_from_stories() {
        let cues = "ANNA\nYes, I will.\n\nBORIS (rising)\nNo.\n\n".repeat(6);
        assert!(is_script(&cues));
        assert!(is_script(&"ANNA. Yes, I will.\nBORIS: No, never.\n".repeat(6)));
        assert!(is_script(&"程婴：孩子在哪里？\n公孙：在山里。\n".repeat(6)));
        assert!(!is_script(&"程婴道：“孩子在哪里？”\n公孙说：“在山里。”\n".repeat(6)));
        assert!(!is_script(&"“Yes,” said Anna. “I will.”\n\nBoris rose and left.\n\n".repeat(6)));
    }
}
