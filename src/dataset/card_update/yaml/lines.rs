//! What a line is by its first characters.

pub(super) fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

/// Returns whether a line, or the rest of one, is empty or a comment.
pub(super) fn is_nothing(line: &str) -> bool {
    let text = line.trim_start();
    text.is_empty() || text.starts_with('#')
}

pub(super) fn is_dash(text: &str) -> bool {
    text == "-" || text.starts_with("- ")
}
