//! The parts of a speaker's own lines that can be used as replies: truncated, and stripped of vocatives of absent people.

use std::collections::BTreeSet;
use std::ops::Range;

use super::conversation::ConversationView;
use super::vocatives::without_vocatives;
use super::word_lists::words_of;
use crate::schema::Language;
use crate::text::{is_han, spoken};

/// A line, or a part of one, that can be used as a reply.
#[derive(Debug, Clone)]
pub(super) struct LineCandidate {
    /// The text of the reply.
    pub(super) text: String,
    /// Index of its line.
    pub(super) line: usize,
    /// Whether it begins in the middle of its line.
    pub(super) later: bool,
    /// Whether its line continues after it.
    pub(super) cut: bool,
    /// Whether it addresses an absent person whose name was removed.
    pub(super) lost_vocative: bool,
}

/// Returns the candidates among the lines: parts of at most `most` sentences that were not said before, without
/// vocatives of absent people. With `parted`, beginnings of lines are candidates, too.
pub(super) fn candidates<'a>(
    lines: impl Iterator<Item = (usize, &'a str)>,
    names: &BTreeSet<String>,
    most: usize,
    parted: bool,
    conversation: &ConversationView<'_>,
) -> Vec<LineCandidate> {
    let mut candidates = Vec::new();
    for (at, line) in lines {
        let (parts, lost_vocative) = without_vocatives(spoken(line), names, conversation);
        for window in windows(parts.len(), most, parted) {
            let (start, cut) = (window.start, parted && window.end < parts.len());
            let window = &parts[window];
            let mut text = window.join(if conversation.language == Language::En { " " } else { "" });
            close(&mut text, conversation.language);
            // Skip text that is read aloud or quoted: it addresses no one present.
            let closes = [".’", "!’", "?’"].iter().any(|end| text.contains(end)) && !text.contains('‘');
            let reads = closes || text.starts_with(['‘', '“', '「', '『']);
            if length(&text) >= 2 && !reads && !conversation.is_repeated(&text) {
                let addresses_someone = addresses_someone(&text);
                candidates.push(LineCandidate {
                    text,
                    line: at,
                    later: start > 0,
                    cut,
                    lost_vocative: lost_vocative && addresses_someone,
                });
            }
        }
    }
    candidates
}

/// Returns the ranges of sentences of a line that can be used on their own.
fn windows(parts: usize, most: usize, parted: bool) -> impl Iterator<Item = Range<usize>> {
    let most = most.max(1);
    let starts = parts.saturating_sub(most);
    let whole = (0..=starts).step_by(most).map(move |start| start..parts.min(start + most));
    let ends = if parted { parts.min(most) } else { 1 };
    whole.chain((1..ends).map(|end| 0..end))
}

/// Returns whether a text contains a pronoun of the second person.
fn addresses_someone(text: &str) -> bool {
    words_of(Language::Zh).second_person.iter().any(|pronoun| text.contains(pronoun.as_str()))
        || text
            .split(|c: char| !(c.is_alphanumeric() || c == '’'))
            .any(|word| words_of(Language::En).second_person.iter().any(|pronoun| word.eq_ignore_ascii_case(pronoun)))
}

/// Returns the length of a text in words; two Han characters count as one word.
pub(super) fn length(text: &str) -> usize {
    let han = text.chars().filter(|c| is_han(*c)).count();
    let words = text.split_whitespace().filter(|word| word.chars().any(|c| c.is_alphanumeric() && !is_han(c))).count();
    words + han.div_ceil(2)
}

/// Ensures final punctuation and removes unpaired quotation marks.
pub(super) fn close(text: &mut String, language: Language) {
    for (open, shut) in [('“', '”'), ('「', '」'), ('『', '』'), ('‘', '’')] {
        let count = |mark| text.chars().filter(|c| *c == mark).count();
        // In English, the closing mark is also the apostrophe.
        let apostrophe = shut == '’' && language == Language::En;
        if count(open) != count(shut) && !apostrophe {
            text.retain(|c| c != open && c != shut);
        }
    }
    let kept =
        text.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '，' | '；' | '：' | '、'));
    text.truncate(kept.len());
    let broken = text.trim_end_matches(['—', '-', '–', '─']);
    if broken.len() < text.len() {
        text.truncate(broken.len());
        text.push_str(if language == Language::En { "…" } else { "……" });
    } else if !text.trim_end_matches('’').ends_with(['.', '!', '?', '…', '。', '！', '？', '”', '」', '』'])
    {
        text.push(if language == Language::En { '.' } else { '。' });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_can_be_cut_after_a_complete_sentence() {
        for (language, line, first) in [
            (Language::En, "The mud is worse. Keep moving.", "The mud is worse."),
            (Language::Zh, "泥比水难走。别站着。", "泥比水难走。"),
        ] {
            let conversation = ConversationView::new(language, "X", ["Y"].into_iter(), "", &[]);
            let texts = |parted: bool| -> Vec<String> {
                let found = candidates([(0, line)].into_iter(), &BTreeSet::new(), 3, parted, &conversation);
                found.into_iter().map(|candidate| candidate.text).collect()
            };
            assert_eq!(texts(false), [line]);
            assert_eq!(texts(true), [line, first]);
        }
    }

    #[test]
    fn texts_end_with_punctuation() {
        for (text, language, expected) in [
            ("It’s two liars, and what I wondered was—", Language::En, "It’s two liars, and what I wondered was…"),
            ("Sweep,", Language::En, "Sweep."),
            ("“Sweep", Language::En, "Sweep."),
            ("再算，", Language::Zh, "再算。"),
            ("再算。’", Language::Zh, "再算。"),
            ("‘再算。’", Language::Zh, "‘再算。’"),
            ("我本想——", Language::Zh, "我本想……"),
        ] {
            let mut closed = text.to_owned();
            close(&mut closed, language);
            assert_eq!(closed, expected);
        }
    }
}
