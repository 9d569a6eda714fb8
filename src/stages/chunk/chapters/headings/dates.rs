//! Recognises dates, as over the entries of a diary.

use super::ornaments::bare;
use crate::text::{DAYS, MONTHS, is_han};

/// Whether a line is only a date, perhaps with a day of the week, or the weather of a Chinese diary.
pub(in crate::stages::chunk) fn is_date(line: &str) -> bool {
    let line = bare(line);
    if line.len() > 60 {
        return false;
    }
    if line.chars().any(is_han) {
        let (date, rest) = line.rfind(['日', '号', '號']).map_or((line, ""), |at| line.split_at(at + '日'.len_utf8()));
        let number =
            |c: char| c.is_ascii_digit() || "〇零○一二三四五六七八九十廿卅元正初腊０１２３４５６７８９".contains(c);
        let is_date_character = |c: char| number(c) || matches!(c, '年' | '月' | '日' | '号' | '號' | ' ' | '\u{3000}');
        return date.contains('月')
            && date.chars().all(is_date_character)
            && rest.chars().count() <= 12
            && (rest.is_empty() || rest.starts_with([' ', '\u{3000}', '，', '（', '(']))
            && !rest.contains(['。', '！', '？', '；', '：', '他', '她', '我']);
    }
    if line.len() == 4 && line.bytes().all(|byte| byte.is_ascii_digit()) {
        return matches!(line.as_bytes()[0], b'1' | b'2');
    }
    let (mut month, mut day, mut numbers, mut place_words) = (false, false, 0, 0);
    for word in line.split([' ', ',', '.', '—', '–', '-']).filter(|word| !word.is_empty()) {
        let lower = word.to_ascii_lowercase();
        let short = |name: &&str| *name == lower || (lower.len() >= 3 && name.starts_with(lower.as_str()));
        let digits = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let ordinal = matches!(&lower[digits.len()..], "" | "st" | "nd" | "rd" | "th");
        if MONTHS.iter().any(short) && word.starts_with(char::is_uppercase) {
            month = true;
        } else if DAYS.iter().any(short) {
            day = true;
        } else if !digits.is_empty() && digits.len() <= 4 && ordinal && digits.bytes().all(|byte| byte.is_ascii_digit())
        {
            numbers += 1;
        } else if !matches!(lower.as_str(), "the" | "of" | "morning" | "evening" | "night" | "noon" | "afternoon") {
            // The place where a letter was written comes before the date.
            place_words += 1;
            let is_place = !(month || day) && numbers == 0 && word.starts_with(char::is_uppercase) && place_words <= 3;
            if !is_place {
                return false;
            }
        }
    }
    let day = day && place_words == 0;
    (month && (1..=2).contains(&numbers)) || (day && numbers == 0 && line.len() <= 24)
}
