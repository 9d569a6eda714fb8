//! Where sentences end, in English and Chinese alike, outside of parentheses. Pure; looks at marks, not at words' meaning.

use std::ops::Range;

/// Words that end in a full stop without ending a sentence.
const ABBREVIATIONS: [&str; 20] = [
    "mr", "mrs", "ms", "dr", "st", "prof", "capt", "col", "gen", "lt", "sgt", "rev", "hon", "jr", "sr", "mt", "mme",
    "mlle", "e.g", "i.e",
];

/// Returns the byte ranges of the sentences of a reply, white space around them left out. Text in parentheses begins and
/// ends no sentence; a stretch without a letter or digit outside of them is none.
///
/// An ellipsis ends a sentence only at the end of the text, and so does a mark that a small letter follows, as in
/// `“Go!” he said`.
pub(super) fn sentences(text: &str) -> Vec<Range<usize>> {
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let (mut sentences, mut depth, mut start, mut spoken) = (Vec::new(), 0_u32, 0, false);
    let mut push = |start: usize, end: usize| {
        let piece = &text[start..end];
        let begin = start + piece.len() - piece.trim_start().len();
        sentences.push(begin..begin + piece.trim().len());
    };
    let mut index = 0;
    while index < chars.len() {
        let c = chars[index].1;
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            _ if is_mark(c) => {
                let end = run(&chars, index);
                if spoken && ends(text, &chars, index, end) {
                    let byte = chars.get(end).map_or(text.len(), |(byte, _)| *byte);
                    push(start, byte);
                    (start, spoken) = (byte, false);
                }
                index = end;
                continue;
            }
            _ => spoken |= c.is_alphanumeric(),
        }
        index += 1;
    }
    if spoken {
        push(start, text.len());
    }
    sentences
}

/// Says whether a character is a mark that can end a sentence.
pub(super) const fn is_mark(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？' | '⋯')
}

/// Says whether a character closes a quotation.
pub(super) const fn is_closer(c: char) -> bool {
    matches!(c, '"' | '”' | '’' | '」' | '』' | '》')
}

/// Returns the index after the run of marks that begins at `index`, and after the quotation marks that close on it.
fn run(chars: &[(usize, char)], index: usize) -> usize {
    let mut end = index;
    while chars.get(end).is_some_and(|(_, c)| is_mark(*c)) {
        end += 1;
    }
    while chars.get(end).is_some_and(|(_, c)| is_closer(*c)) {
        end += 1;
    }
    end
}

/// Says whether the run of marks from `index` to `end` ends a sentence.
fn ends(text: &str, chars: &[(usize, char)], index: usize, end: usize) -> bool {
    let Some(&(byte, next)) = chars.get(end) else { return true };
    let rest = text[byte..].trim_start();
    if rest.is_empty() {
        return true;
    }
    let marks = || chars[index..end].iter().map(|(_, c)| *c);
    if marks().all(|c| matches!(c, '.' | '…' | '⋯') || is_closer(c)) {
        let dots = marks().filter(|c| !is_closer(*c)).count();
        if dots > 1 || chars[index].1 != '.' || !(next.is_whitespace() || end > index + dots) {
            return false;
        }
        let before = &text[..chars[index].0];
        let word = before.rsplit(|c: char| !c.is_alphanumeric() && c != '.').next().unwrap_or("");
        let initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase) && word != "I";
        if initial || ABBREVIATIONS.contains(&word.to_lowercase().as_str()) {
            return false;
        }
    }
    !rest.starts_with(|c: char| c.is_lowercase())
}

#[cfg(test)]
mod tests {
    use super::sentences;

    #[test]
    fn sentences_end_where_a_reader_pauses() {
        for (text, expected) in [
            ("(nods. Sits.) Well. I see", &["(nods. Sits.) Well.", "I see"][..]),
            ("Mr. Bennet had 3.5 acres. J. Smith had none.", &["Mr. Bennet had 3.5 acres.", "J. Smith had none."]),
            ("So did I. Did you?! “Yes.” Good…", &["So did I.", "Did you?!", "“Yes.”", "Good…"]),
            ("Well... I think so. Oh! what a day", &["Well... I think so.", "Oh! what a day"]),
            ("“Go!” he said. (He leaves.)", &["“Go!” he said."]),
            ("(点头) 我……我不知道。你呢？！“好。”走吧", &["(点头) 我……我不知道。", "你呢？！", "“好。”", "走吧"]),
            ("...", &[]),
            ("(nods)", &[]),
            ("", &[]),
        ] {
            let found: Vec<_> = sentences(text).into_iter().map(|range| &text[range]).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
