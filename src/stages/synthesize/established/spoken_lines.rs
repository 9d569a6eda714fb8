//! Extracts the spoken lines of chat messages.

use crate::text::sentences;

/// Maximum length of a line in characters.
const MAX_LINE_LENGTH: usize = 320;

/// Returns the spoken lines of a chat message, one per paragraph.
///
/// If the message has quotations, only those are spoken. Otherwise text in `*…*`, `(…)`, `（…）` or `[…]` is an action or
/// thought, and the rest is spoken.
pub(super) fn spoken_lines(message: &str) -> Vec<String> {
    let quoted: Vec<String> = message.lines().map(|line| between_quotes(line).join(" ")).collect();
    let lines: Vec<String> = if quoted.iter().any(|line| !line.is_empty()) {
        quoted
    } else {
        message.lines().map(without_actions).collect()
    };
    lines.iter().map(|line| shortened(line)).filter(|line| line.chars().any(char::is_alphanumeric)).collect()
}

fn between_quotes(line: &str) -> Vec<String> {
    let mut quotations = Vec::new();
    let mut quotation_start: Option<(usize, char)> = None;
    for (at, c) in line.char_indices() {
        match quotation_start {
            Some((begin, closer)) if c == closer => {
                quotations.push(line[begin..at].trim().to_owned());
                quotation_start = None;
            }
            Some(_) => {}
            None => {
                let closer = match c {
                    '“' | '”' => '”',
                    '"' => '"',
                    '「' => '」',
                    '『' => '』',
                    _ => continue,
                };
                quotation_start = Some((at + c.len_utf8(), closer));
            }
        }
    }
    quotations.retain(|quotation| !quotation.is_empty());
    quotations
}

fn without_actions(line: &str) -> String {
    let mut kept = String::new();
    let mut closer: Option<char> = None;
    for c in line.chars() {
        match closer {
            Some(mark) if c == mark => closer = None,
            Some(_) => {}
            None => match c {
                '*' => closer = Some('*'),
                '(' => closer = Some(')'),
                '（' => closer = Some('）'),
                '[' => closer = Some(']'),
                _ => kept.push(c),
            },
        }
    }
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Truncates a line that is too long to whole sentences, at least one.
fn shortened(line: &str) -> String {
    let line = line.trim();
    if line.chars().count() <= MAX_LINE_LENGTH {
        return line.to_owned();
    }
    let mut end = 0;
    for sentence in sentences(line) {
        let until = sentence.as_ptr().addr() - line.as_ptr().addr() + sentence.len();
        if end > 0 && line[..until].chars().count() > MAX_LINE_LENGTH {
            break;
        }
        end = until;
    }
    line[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speech_differs_from_actions() {
        for (message, expected) in [
            ("*She waves.* Hello there. *She sits.*", vec!["Hello there."]),
            ("She waves. “Hello,” she says, “and welcome.”\nNobody answers.", vec!["Hello, and welcome."]),
            ("[I am afraid] (nods) Very well.", vec!["Very well."]),
            ("（点头）好。\n\n“不必。”他说。", vec!["不必。"]),
            ("「来了？」「坐。」", vec!["来了？ 坐。"]),
            ("*only this*", vec![]),
            ("a \"broken quotation", vec!["a \"broken quotation"]),
        ] {
            assert_eq!(spoken_lines(message), expected, "{message}");
        }
        let long = format!("Short one. And {} end.", "word ".repeat(100));
        assert_eq!(spoken_lines(&long), ["Short one."]);
    }
}
