//! Decides whether words in quotation marks are speech.

use super::chinese_speech_filter::is_chinese_speech;
use super::english_speech_filter::{is_cited, is_english_speech, is_title_of_work};
use super::span::Span;
use crate::schema::Language;

/// Whether marked words are spoken. False for titles of things and for words cited in a sentence, where that is clear.
pub(super) fn is_speech(chars: &[char], span: &Span, start: usize, end: usize, language: Language) -> bool {
    let words = &chars[span.start..span.end];
    let before = (start..span.outer_start).rev().find(|&i| !chars[i].is_whitespace());
    let alone = (span.outer_end..end).all(|i| chars[i].is_whitespace());
    if language == Language::En && !alone && is_title_of_work(words) {
        return false;
    }
    let Some(before) = before else {
        return alone || language == Language::Zh || !is_cited(chars, span, None, end);
    };
    match language {
        Language::Zh => is_chinese_speech(chars, span, start, before, end),
        Language::En => is_english_speech(chars, span, start, before, end),
    }
}
