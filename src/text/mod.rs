//! Pure text functions for English and Chinese: sentences, content words, similarity, speech acts.
//!
//! They work on the script of each character and do not assume white space between words. This module imports only
//! `schema`, asks no model, and has no state except its word lists, which are parsed once.

pub mod bm25;
mod calendar;
pub mod duplicates;
mod language;
mod mojibake;
mod names;
mod offsets;
mod paragraphs;
mod refusals;
mod secrets;
mod speaker_cues;
mod speech_acts;
mod topics;
mod words;

pub use calendar::{DAYS, MONTHS};
pub use language::{main_language, other_language};
pub use mojibake::{Mojibake, find_mojibake};
pub use names::ComparableName;
pub use offsets::{CodePoints, count_code_points, single_spaced};
pub use paragraphs::{Shape, is_wrapped, paragraph_starts};
pub use refusals::{
    bare_name, declines, has_name, is_name, is_truncated, label, may_refuse, name_words, refuses, reveals_model,
};
pub use secrets::{Secret, secrets};
pub use speaker_cues::{CueLine, CueSeparator, is_group_name, parse_cue_line};
pub use speech_acts::{SpeechMarker, asks, count_speech_markers};
pub use topics::{Topic, topics};
pub use words::{content_words, is_sentence_opener, is_title, letters_and_digits};

use words::{WORDS, latin_words};

use crate::schema::Language;

/// The placeholder for book text that may not be published, in rows of a data set.
pub const OMITTED_TEXT: &str = "[…]";

/// Characters that may follow the final mark of a sentence.
const CLOSERS: [char; 10] = ['”', '’', '"', '\'', '」', '』', '）', ')', '》', '】'];

/// Splits a text into its sentences, each with its final mark.
///
/// A full stop after an abbreviation or an initial, or inside a number, does not end a sentence, nor does an ellipsis
/// in the middle of one.
#[must_use]
pub fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let mut at = 0;
    while at < chars.len() {
        let (offset, c) = chars[at];
        if !is_mark(c) && c != '\n' {
            at += 1;
            continue;
        }
        let mut end = at + 1;
        while end < chars.len() && is_mark(chars[end].1) {
            end += 1;
        }
        while end < chars.len() && CLOSERS.contains(&chars[end].1) {
            end += 1;
        }
        let rest = chars.get(end).map_or("", |(offset, _)| &text[*offset..]);
        let mark = if text[offset..].starts_with("..") || c == '⋯' { '…' } else { c };
        if ends_sentence(&text[start..offset], mark, rest) {
            let stop = chars.get(end).map_or(text.len(), |(offset, _)| *offset);
            push(&mut sentences, &text[start..stop]);
            start = stop;
        }
        at = end;
    }
    push(&mut sentences, &text[start..]);
    sentences
}

/// Returns the sentences of a text. Each comes with all of the text since the previous one, including white space and
/// marks without words. Text after the last sentence is omitted.
pub fn sentences_with_gaps(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut at = 0;
    sentences(text).into_iter().map(move |sentence| {
        let start = at;
        at += text[start..].find(sentence).expect("sentences are substrings of their text, in order") + sentence.len();
        (sentence, &text[start..at])
    })
}

/// Whether a character can end a sentence.
#[must_use]
pub const fn is_mark(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '⋯' | '。' | '！' | '？')
}

/// Whether a character closes a quotation.
#[must_use]
pub const fn is_closing_quote(c: char) -> bool {
    matches!(c, '"' | '”' | '’' | '」' | '』' | '》')
}

fn push<'a>(sentences: &mut Vec<&'a str>, sentence: &'a str) {
    let sentence = sentence.trim();
    if sentence.chars().any(char::is_alphanumeric) {
        sentences.push(sentence);
    }
}

fn ends_sentence(before: &str, mark: char, rest: &str) -> bool {
    let next = rest.trim_start().chars().next();
    match mark {
        '.' => {
            let word: String = before.chars().rev().take_while(|c| c.is_alphanumeric()).collect();
            let word: String = word.chars().rev().flat_map(char::to_lowercase).collect();
            let initial = word.chars().count() == 1 && word != "i" && word.chars().all(char::is_alphabetic);
            let spaced = rest.is_empty() || rest.starts_with(char::is_whitespace);
            let lower = next.is_some_and(char::is_lowercase);
            spaced && !lower && (next.is_none() || !(initial || WORDS.en.abbreviations.contains(word.as_str())))
        }
        '!' | '?' => !next.is_some_and(char::is_lowercase),
        '…' => {
            // `I` is capitalised inside a sentence too.
            let word = rest.trim_start().split(|c: char| !c.is_alphanumeric()).next();
            let begins = next.is_some_and(char::is_uppercase) && word != Some("I");
            next.is_none() || (rest.starts_with(char::is_whitespace) && begins)
        }
        _ => true,
    }
}

/// Returns an utterance without a leading action in parentheses.
#[must_use]
pub fn spoken(line: &str) -> &str {
    let line = line.trim();
    for (open, close) in [('(', ')'), ('（', '）')] {
        if let Some(rest) = line.strip_prefix(open)
            && let Some((_, speech)) = rest.split_once(close)
        {
            return speech.trim();
        }
    }
    line
}

/// Returns the similarity of two texts, 0 to 1: Dice's coefficient over pairs of adjacent letters, ignoring case and
/// punctuation.
#[must_use]
pub fn similarity(a: &str, b: &str) -> f64 {
    pair_similarity(&pairs(&letters_and_digits(a)), &pairs(&letters_and_digits(b)))
}

/// Returns the sorted pairs of adjacent characters of a text, which usually has only letters and digits. A single
/// character counts as a pair.
#[must_use]
pub fn pairs(letters: &str) -> Vec<(char, char)> {
    let chars: Vec<char> = letters.chars().collect();
    let mut pairs: Vec<_> = match chars.as_slice() {
        [only] => vec![(*only, '\0')],
        _ => chars.windows(2).map(|pair| (pair[0], pair[1])).collect(),
    };
    pairs.sort_unstable();
    pairs
}

/// Returns Dice's coefficient of two sorted lists of pairs, 0 to 1. It is 0 if both are empty.
#[must_use]
pub fn pair_similarity(a: &[(char, char)], b: &[(char, char)]) -> f64 {
    let (mut i, mut j, mut shared) = (0, 0, 0_u32);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                shared += 1;
                i += 1;
                j += 1;
            }
        }
    }
    let total = a.len() + b.len();
    if total == 0 { 0.0 } else { 2.0 * f64::from(shared) / float(total) }
}

/// Converts a count for floating point arithmetic. Counts here are far below 2³².
#[must_use]
pub fn float(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

/// Checks the language of a text by the share of its letters that are Chinese characters. The error is written for the
/// model that wrote the text.
pub fn check_language(text: &str, language: Language) -> Result<(), String> {
    let (mut letters, mut chinese) = (0_u32, 0_u32);
    for c in text.chars().filter(|c| c.is_alphabetic()) {
        letters += 1;
        chinese += u32::from(is_han(c));
    }
    let share = f64::from(chinese) / f64::from(letters.max(1));
    match language {
        _ if letters == 0 => Err("a text has no words".to_owned()),
        Language::En if share > 0.1 => Err("the answer must be in English".to_owned()),
        Language::Zh if share < 0.5 => Err("the answer must be in Chinese (回答须用中文)".to_owned()),
        Language::En | Language::Zh => Ok(()),
    }
}

/// Returns the length of a text: English words, or Chinese characters, with each Latin word counted as two.
#[must_use]
pub fn length(text: &str, language: Language) -> usize {
    match language {
        Language::En => text.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count(),
        Language::Zh => text.chars().filter(|c| is_han(*c)).count() + 2 * latin_words(text).count(),
    }
}

/// Whether a character is a Han character.
#[must_use]
pub const fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_only_at_final_marks() {
        for (text, expected) in [
            (
                "Mr. Vosper paid 2.50 to J. Marl. “Why?” Because!",
                vec!["Mr. Vosper paid 2.50 to J. Marl.", "“Why?”", "Because!"],
            ),
            ("Well… perhaps. Wait… No?!", vec!["Well… perhaps.", "Wait…", "No?!"]),
            ("It was I. You know it.", vec!["It was I.", "You know it."]),
            ("Well... I think so. Go...", vec!["Well... I think so.", "Go..."]),
            ("我⋯⋯我不知道。", vec!["我⋯⋯我不知道。"]),
            ("此言差矣。账呢？！“拿来。”好……再算", vec!["此言差矣。", "账呢？！", "“拿来。”", "好……再算"]),
            ("…", vec![]),
        ] {
            assert_eq!(sentences(text), expected, "{text}");
        }
    }

    #[test]
    fn length_counts_words_or_characters() {
        assert_eq!(length("The lamp — she said — is out.", Language::En), 6);
        assert_eq!(length("灯灭了，Mara 说。", Language::Zh), 6);
    }

    #[test]
    fn actions_are_not_counted_as_speech() {
        assert_eq!(spoken("(looks up) Again."), "Again.");
        assert_eq!(spoken("（抬头）再算。"), "再算。");
        assert_eq!(spoken("Again (she said)."), "Again (she said).");
    }

    #[test]
    fn languages_are_recognized_by_script() {
        for (text, language, expected) in [
            ("A plain sentence.", Language::En, true),
            ("一句平常的话。", Language::En, false),
            ("一句平常的话。", Language::Zh, true),
            ("A plain sentence.", Language::Zh, false),
            ("她在 Radio 4 听过一次", Language::Zh, true),
            ("…", Language::En, false),
        ] {
            assert_eq!(check_language(text, language).is_ok(), expected, "{text} as {language}");
        }
    }

    #[test]
    fn similarity_ignores_punctuation_and_case() {
        assert!((similarity("The wall broke!", "the wall, broke") - 1.0).abs() < 1e-9);
        assert!((similarity("水不骗人。", "水不欠人。") - 1.0 / 3.0).abs() < 1e-9);
        assert!(similarity("The wall broke", "今日三文") < 1e-9);
        assert!(similarity("", "") < 1e-9);
    }
}
