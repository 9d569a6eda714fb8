//! Whether Chinese words in quotation marks are speech.

use super::span::Span;
use crate::attribution::words::chinese::CHINESE;

/// Whether marked words are spoken, by the words themselves and the text around them. The paragraph is `start..end`;
/// `before` is the last character before the opening mark.
pub(super) fn is_chinese_speech(chars: &[char], span: &Span, start: usize, before: usize, end: usize) -> bool {
    let words = &chars[span.start..span.end];
    let last = words[words.len() - 1];
    let c = chars[before];
    if matches!(c, '：' | ':') {
        return true;
    }
    if introduces_name(&chars[start..=before]) {
        return false;
    }
    let full = words.iter().any(|c| matches!(c, '。' | '！' | '？' | '．' | '…' | '!' | '?' | '～'));
    if full {
        return words.len() > 1;
    }
    if matches!(c, '，' | ',') {
        let clause: Vec<char> = chars[start..before].iter().rev().take(4).rev().map(|&c| CHINESE.fold(c)).collect();
        return matches!(last, '，' | ',' | '—') || CHINESE.ends_in_speech(&clause);
    }
    let held =
        matches!(chars.get(span.outer_end), Some('字' | '二' | '两' | '兩' | '三' | '四' | '这' | '這' | '之' | '的'));
    let clause: Vec<char> = chars[start..=before].iter().rev().take(4).rev().map(|&c| CHINESE.fold(c)).collect();
    if words.len() > 1 && !held && CHINESE.ends_in_speech(&clause) {
        return true;
    }
    let paragraph_end = (span.outer_end..end).all(|i| chars[i].is_whitespace());
    matches!(last, '，' | ',' | '—' | '；')
        || (paragraph_end && matches!(c, '。' | '”' | '"' | '」' | '．' | '！' | '？'))
}

/// Whether the text before a mark introduces a name: `江湖人称“……”`, `绰号“……”`.
fn introduces_name(before: &[char]) -> bool {
    let tail: Vec<char> = before.iter().rev().take(2).rev().map(|&c| CHINESE.fold(c)).collect();
    CHINESE.name_introductions.has(&tail)
}
