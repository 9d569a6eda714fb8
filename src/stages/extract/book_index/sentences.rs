//! Splits text into sentences, and joins lines.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::text::is_han;

/// Joins lines: a line break becomes one space, or nothing between Chinese characters.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    let mut blank = false;
    for c in text.trim().chars() {
        if c.is_whitespace() {
            blank = true;
            continue;
        }
        let wide =
            |c: char| is_han(c) || matches!(c, '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ffef}' | '“' | '”' | '…');
        if blank && !line.is_empty() && !(wide(c) && line.chars().next_back().is_some_and(wide)) {
            line.push(' ');
        }
        blank = false;
        line.push(c);
    }
    line
}

/// Abbreviations whose period does not end a sentence.
static ABBREVIATIONS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let table: Table = embedded_toml!("sentences.toml");
    table.abbreviations
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    abbreviations: BTreeSet<String>,
}

/// Splits a text into sentences. Returns trimmed byte ranges, each with whether it ends in a punctuation mark.
pub(crate) fn sentences(text: &str) -> Vec<(usize, usize, bool)> {
    let mut found = Vec::new();
    let (mut start, mut closing) = (0, false);
    let mut push = |start: usize, end: usize, closed: bool| {
        let part = &text[start..end];
        let lead = part.len() - part.trim_start().len();
        let part = part.trim();
        if part.chars().any(char::is_alphanumeric) {
            found.push((start + lead, start + lead + part.len(), closed));
        }
    };
    for (at, c) in text.char_indices() {
        let wide_stop = matches!(c, '。' | '！' | '？' | '．');
        let stop = wide_stop || matches!(c, '.' | '!' | '?' | '…');
        let closer = matches!(c, '”' | '"' | '’' | '\'' | '」' | '』' | ')' | '）' | ']');
        if stop {
            if c != '.' || !abbreviates(&text[..at]) {
                closing = true;
            }
        } else if closing && !closer && !c.is_whitespace() {
            let before = text[..at].trim_end();
            let wide = before.trim_end_matches(['”', '」', '』', '）', '’']).ends_with(['。', '！', '？', '．', '…']);
            let blank = before.len() < at;
            // After Latin punctuation only a capital, a digit or an opening mark begins a sentence.
            let begins =
                c.is_uppercase() || c.is_ascii_digit() || is_han(c) || matches!(c, '“' | '"' | '‘' | '(' | '—');
            if wide || (blank && begins) {
                push(start, at, true);
                start = at;
            }
            closing = false;
        }
    }
    push(start, text.len(), closing);
    found
}

pub(super) fn abbreviates(before: &str) -> bool {
    let word = before.rsplit(|c: char| c.is_whitespace() || matches!(c, '“' | '"' | '(' | '—')).next().unwrap_or("");
    ABBREVIATIONS.contains(word) || (word.chars().count() == 1 && word.chars().all(char::is_uppercase) && word != "I")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentence_ends_are_found() {
        for (text, expected) in [
            (
                "Mr. Grey sat down. He was tired! “Was he?” J. B. Stone asked…",
                &["Mr. Grey sat down.", "He was tired!", "“Was he?”", "J. B. Stone asked…"][..],
            ),
            ("河上无风。水车不动！他问：“谁？”没人应。", &["河上无风。", "水车不动！", "他问：“谁？”", "没人应。"]),
            ("河上无风．水车不动", &["河上无风．", "水车不动"]),
            ("It cost 3.50 and no more. yes", &["It cost 3.50 and no more. yes"]),
        ] {
            let found: Vec<&str> = sentences(text).into_iter().map(|(start, end, _)| &text[start..end]).collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn lines_are_joined_with_a_space_in_latin_script_only() {
        assert_eq!(one_line(" the old\r\n  mill "), "the old mill");
        assert_eq!(one_line("河上\n　　无风，\n水车不动。"), "河上无风，水车不动。");
    }
}
