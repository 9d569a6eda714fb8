//! Finds the headings of Markdown: `# A title`, and a title underlined with `=` or `-`. Does not change the text.

use super::html::one_line;
use super::raw_book::{MAX_HEADINGS, RawHeading};

/// Whether a file extension is that of Markdown.
pub(super) fn is_markdown(extension: &str) -> bool {
    matches!(extension, "md" | "markdown")
}

/// Returns the headings of a text, except those in fenced code and YAML front matter. Stops soon after the maximum
/// number of headings of a book.
pub(super) fn headings(text: &str) -> Vec<RawHeading> {
    let mut headings = Vec::new();
    let mut fence: Option<&str> = None;
    // The previous line, if it can be an underlined title.
    let mut above: Option<(usize, &str)> = None;
    let mut after_blank = true;
    let mut at = 0;
    let mut yaml = text.starts_with("---\n") || text.starts_with("---\r\n");
    for (index, raw) in text.split_inclusive('\n').enumerate() {
        if headings.len() > MAX_HEADINGS {
            break;
        }
        let start = at;
        at += raw.len();
        let line = raw.trim_end();
        let words = line.trim_start();
        let indent = line.len() - words.len();
        if yaml {
            yaml = index == 0 || !matches!(words, "---" | "...");
            continue;
        }
        if let Some(mark) = fence {
            if words.starts_with(mark) {
                fence = None;
            }
            continue;
        }
        if let Some(mark) = ["```", "~~~"].into_iter().find(|mark| words.starts_with(mark)) {
            fence = Some(mark);
            above = None;
            continue;
        }
        if indent > 3 || words.is_empty() {
            above = None;
            after_blank = words.is_empty();
            continue;
        }
        let mut mark = |start: usize, depth: u8, title: &str| {
            let title = one_line(title.trim().trim_end_matches('#').trim_matches(['*', '_', ' ']));
            if !title.is_empty() {
                headings.push(RawHeading { start, depth, title });
            }
        };
        let hashes = words.bytes().take_while(|byte| *byte == b'#').count();
        if let (1..=6, Some(title)) = (hashes, words[hashes..].strip_prefix([' ', '\t'])) {
            mark(start + indent, u8::try_from(hashes).unwrap_or(6), title);
            above = None;
            continue;
        }
        let underline = ["=", "-"].into_iter().find(|sign| {
            words.len() >= 3
                && words.trim_matches(['=', '-']).is_empty()
                && words.starts_with(sign)
                && words.ends_with(sign)
        });
        if let (Some(sign), Some((start, title))) = (underline, above) {
            mark(start, if sign == "=" { 1 } else { 2 }, title);
        }
        above = (after_blank && underline.is_none() && words.len() < 200).then_some((start + indent, words));
        after_blank = false;
    }
    headings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atx_and_setext_headings_are_found() {
        let text = "---\ntitle: Rain\n# no\n---\nRain\n====\n\n## Mud ##\n\nWords # no\n\n### **Sun**\n```\n# code\n```\n\n河灯\n---\n正文\n\n---\n\ntwo lines\nof prose\n---\n#nor this\n    # code\n";
        let found: Vec<(u8, String)> =
            headings(text).into_iter().map(|heading| (heading.depth, heading.title)).collect();
        let expected = [(1, "Rain"), (2, "Mud"), (3, "Sun"), (2, "河灯")];
        assert_eq!(found, expected.map(|(depth, title)| (depth, title.to_owned())));
        for heading in headings(text) {
            let line: String = text[heading.start..].chars().take(12).collect();
            assert!(line.contains(&heading.title[..3]), "{heading:?}");
        }
    }
}
