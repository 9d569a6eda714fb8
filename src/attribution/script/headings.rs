//! Scene headings, and brackets of stage directions.

use super::word_lists::SCRIPT_WORDS;

/// Whether a paragraph is a scene heading, a section heading, or the number of an act or scene.
pub(super) fn is_heading(chars: &[char]) -> bool {
    let line: String = chars.iter().take(100).collect();
    let upper = line.to_uppercase();
    let numbered = |line: &str| {
        let line = line.trim_start_matches(['第', '【', '（', '(']);
        let number =
            line.trim_start_matches(|c: char| c.is_ascii_digit() || "一二三四五六七八九十百零〇两".contains(c));
        number.len() < line.len() && number.starts_with(['幕', '场', '場', '折', '出'])
    };
    line.starts_with('#')
        || line.starts_with("===")
        || line.starts_with('.') && !line.starts_with("..")
        || SCRIPT_WORDS.scene_heading_starts.iter().any(|start| upper.starts_with(start))
        || SCRIPT_WORDS.act_heading_starts.iter().any(|start| upper.starts_with(start))
            && !line.starts_with(char::is_lowercase)
        || SCRIPT_WORDS.chinese_heading_starts.iter().any(|start| line.starts_with(start))
        || numbered(&line)
}

/// Returns the closing bracket of a stage direction for its opening bracket.
pub(super) const fn closing_bracket(c: char) -> Option<char> {
    match c {
        '(' => Some(')'),
        '（' => Some('）'),
        '[' => Some(']'),
        '［' => Some('］'),
        '【' => Some('】'),
        _ => None,
    }
}

/// Whether a line is a single stage direction and nothing else.
pub(super) fn is_bracketed(line: &[char]) -> bool {
    let close = line.first().copied().and_then(closing_bracket);
    close.is_some_and(|close| line.iter().position(|&c| c == close) == Some(line.len() - 1))
}
