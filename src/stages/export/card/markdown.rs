//! Escaping of texts for Markdown.

/// Returns a fenced code block whose fence is longer than any run of backticks in the code.
pub(super) fn fenced(language: &str, code: &str) -> String {
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if code.is_empty() || code.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{code}{end}{fence}\n")
}

/// Escapes a user's text for a table cell or a heading, so that it contains no Markdown.
pub(super) fn cell(text: &str) -> String {
    escaped(text, false)
}

/// Escapes a description for a table cell but keeps its code spans.
pub(super) fn cell_with_code(text: &str) -> String {
    escaped(text, true)
}

fn escaped(text: &str, spans: bool) -> String {
    let mut within_code = false;
    let mut cell = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '`' if spans => {
                within_code = !within_code;
                cell.push(c);
            }
            '|' => cell.push_str("\\|"),
            c if c.is_whitespace() || c.is_control() => cell.push(' '),
            c if within_code => cell.push(c),
            '`' | '*' | '[' | ']' | '\\' => cell.extend(['\\', c]),
            '<' => cell.push_str("&lt;"),
            c => cell.push(c),
        }
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::{cell, cell_with_code, fenced};

    #[test]
    fn users_text_cannot_break_the_markdown() {
        for (text, expected) in [
            ("a | b\nc", "a \\| b c"),
            ("*x* [y](z) <b>", "\\*x\\* \\[y\\](z) &lt;b>"),
            ("`` <img src=x>", "\\`\\` &lt;img src=x>"),
            ("one ` tick", "one \\` tick"),
        ] {
            assert_eq!(cell(text), expected);
        }
        assert_eq!(cell_with_code("`<a>*` | b*"), "`<a>*` \\| b\\*");
        assert_eq!(fenced("toml", "a = \"```\""), "````toml\na = \"```\"\n````\n");
    }
}
