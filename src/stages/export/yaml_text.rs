//! Writes strings as YAML scalars.

use std::fmt::Write as _;

/// Quotes a string so that any YAML parser reads it back unchanged. Escapes everything that some YAML version treats as
/// a line break or does not allow unescaped.
pub(crate) fn quoted(text: &str) -> String {
    let mut yaml = String::with_capacity(text.len() + 2);
    yaml.push('"');
    for c in text.chars() {
        match c {
            '"' => yaml.push_str("\\\""),
            '\\' => yaml.push_str("\\\\"),
            '\n' => yaml.push_str("\\n"),
            '\t' => yaml.push_str("\\t"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}') => {
                let _ = write!(yaml, "\\u{:04X}", u32::from(c));
            }
            c => yaml.push(c),
        }
    }
    yaml.push('"');
    yaml
}

/// Words that unquoted YAML does not read as strings.
const OTHERS: [&str; 9] = ["true", "false", "yes", "no", "on", "off", "y", "n", "null"];

/// Writes a name, quoted if YAML would not read it as a string, such as `no` and `1`.
pub(crate) fn scalar(name: &str) -> String {
    let is_plain = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-./*".contains(c))
        && !OTHERS.contains(&name.to_lowercase().as_str());
    if is_plain { name.to_owned() } else { quoted(name) }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn strings_are_quoted_for_any_parser() {
        for (text, expected) in [
            ("plain", r#""plain""#),
            ("no", r#""no""#),
            ("渡口：夜雨", r#""渡口：夜雨""#),
            ("a: \"b\" # c\\d", r#""a: \"b\" # c\\d""#),
            ("one\ntwo\tthree\r", r#""one\ntwo\tthree\u000D""#),
            ("\u{85}\u{2028}\u{feff}\u{7f}", r#""\u0085\u2028\uFEFF\u007F""#),
        ] {
            assert_eq!(quoted(text), expected);
        }
    }
}
