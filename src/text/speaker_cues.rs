//! Parses the lines of a play that introduce speech: `NAME. Speech`, `NAME: Speech`, `名：`, `名　`, or a name alone above
//! it.
//!
//! Looks at a single line. Whether a book is a play, and whether a word is really a name, must be decided by callers
//! that see the whole book.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::Deserialize;

use super::calendar::{DAYS, MONTHS};
use super::is_han;
use super::words::{is_sentence_opener, is_title};

/// A line that may introduce speech.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CueLine<'a> {
    /// The speaker as printed, without emphasis marks.
    pub name: String,
    /// The text in brackets after the name, such as `aside`, `CONT’D` or `低声`.
    pub aside: Option<&'a str>,
    /// The start of the speech, in bytes of the line; the end of the line if the speech is below it.
    pub speech: usize,
    /// Whether the typography shows a name: all capitals, emphasis marks around it, or Fountain's `@`.
    pub sure: bool,
    /// The separator between name and speech.
    pub mark: CueSeparator,
}

/// The separator between a name and its speech.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CueSeparator {
    /// A colon.
    Colon,
    /// A full stop.
    Stop,
    /// A wide gap, or only brackets.
    Gap,
    /// The end of the line, without punctuation.
    End,
}

/// The word lists of this module.
#[derive(Debug, Deserialize)]
struct Words {
    /// Words in the position of a name that are not people, in lower case.
    not_people: BTreeSet<String>,
    /// Words for several people who speak at once, in lower case.
    groups: BTreeSet<String>,
    /// Titles that are abbreviated with a full stop, in lower case.
    abbreviated_titles: BTreeSet<String>,
}

static WORDS: LazyLock<Words> = LazyLock::new(|| embedded_toml!("speaker_cues.toml"));

/// Whether a name stands for several people at once, such as `ALL`, `ANNA and BEN`, `众人` or `甲、乙`.
#[must_use]
pub fn is_group_name(name: &str) -> bool {
    let name = name.to_lowercase();
    WORDS.groups.contains(&name)
        || [" and ", " & ", "、", "/"].iter().any(|joint| name.contains(joint))
        || name.starts_with(['众', '眾']) && name.chars().count() > 1
}

/// Parses a trimmed line as one that introduces speech.
#[must_use]
pub fn parse_cue_line(line: &str) -> Option<CueLine<'_>> {
    let forced = line.starts_with('@');
    let head = line.trim_start_matches(['@', '*', '_']);
    let printed = forced || head.len() < line.len();
    let end = name_end(head)?;
    let name: String = head[..end].trim().chars().filter(|&c| c != '\u{3000}').collect();
    let (mut rest, mut aside) = (&head[end..], None);
    let gap = rest.starts_with(['\u{3000}', '\t']) || rest.starts_with("  ");
    rest = skip_emphasis(rest);
    while let Some((open, close)) = BRACKETS.into_iter().find(|(open, _)| rest.starts_with(*open)) {
        let inner = &rest[open.len_utf8()..];
        let (inside, behind) = inner.split_once(close)?;
        aside = aside.or(Some(inside.trim_matches(['*', '_', ' '])));
        rest = skip_emphasis(behind);
    }
    let mark = match rest.chars().next() {
        None => CueSeparator::End,
        Some(':' | '：') => CueSeparator::Colon,
        Some('.' | '．') => CueSeparator::Stop,
        // Dual dialogue in Fountain.
        Some('^') if rest.len() == 1 => CueSeparator::End,
        Some(_) if gap || aside.is_some() => CueSeparator::Gap,
        Some(_) => return None,
    };
    if matches!(mark, CueSeparator::Colon | CueSeparator::Stop) {
        rest = skip_emphasis(rest.trim_start_matches([':', '：', '.', '．'])).trim_start_matches(['—', '–', '-', ' ']);
    } else if mark == CueSeparator::End {
        rest = "";
    }
    let sure = is_name(&name)?;
    let sure = sure || printed;
    // A word that opens a sentence is not a name, unless the typography says so.
    let opener = !sure && name.split(' ').next().is_some_and(|word| is_sentence_opener(word) && !is_title(word));
    (!opener).then(|| CueLine { name, aside, speech: line.len() - rest.len(), sure, mark })
}

const BRACKETS: [(char, char); 5] = [('(', ')'), ('（', '）'), ('[', ']'), ('［', '］'), ('【', '】')];

/// Strips white space and emphasis marks from the start of a text.
fn skip_emphasis(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_'))
}

/// Returns the end of a name at the start of a line, in bytes.
fn name_end(head: &str) -> Option<usize> {
    let mut chars = head.char_indices().take(48).peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|&(_, next)| next);
        match c {
            ':' | '：' | '(' | '（' | '[' | '［' | '【' | '*' | '_' | '\t' | '．' | '^' => return Some(at),
            '.' => {
                // `MRS. HALLOW.`, `J. HALE.`
                let word = head[..at].rsplit(' ').next().unwrap_or_default();
                // `KING.` is not an abbreviation.
                let short = word.chars().count() == 1 || WORDS.abbreviated_titles.contains(&word.to_lowercase());
                let more = head[at + 1..].strip_prefix(' ').is_some_and(|more| more.starts_with(char::is_uppercase));
                if !short || !more {
                    return Some(at);
                }
            }
            '\u{3000}' => {
                // `丁　一：` is a name of two characters, spaced to the width of three.
                let mut rest = head[at + c.len_utf8()..].chars();
                let second = rest.next().is_some_and(is_han);
                let closed = rest.next().is_some_and(|c| matches!(c, '：' | ':' | '（' | '(' | '\u{3000}'));
                if !(head[..at].chars().count() == 1 && second && closed) {
                    return Some(at);
                }
            }
            ' ' if next == Some(' ') => return Some(at),
            ' ' | '’' | '\'' | '-' | '&' | '、' | '·' | '/' | '#' => {}
            c if c.is_alphanumeric() => {}
            _ => return None,
        }
        if next.is_none() {
            return Some(head.len());
        }
    }
    None
}

/// Whether the words may be a name, and if so, whether all capitals show it.
fn is_name(name: &str) -> Option<bool> {
    let letters = name.chars().filter(|c| c.is_alphabetic()).count();
    let lower = name.to_lowercase();
    let lower = lower.trim_end_matches('.');
    // A diary has days and months, but a play may have a character called May.
    let dated =
        DAYS.contains(&lower) || MONTHS.contains(&lower) && !matches!(lower, "april" | "may" | "june" | "august");
    if letters == 0
        || dated
        || WORDS.not_people.contains(lower)
        || lower.starts_with("act ")
        || lower.starts_with("scene ")
    {
        return None;
    }
    if name.chars().any(is_han) {
        let each = name.split('、').all(|part| (1..=8).contains(&part.chars().count()) && !part.contains(' '));
        let ordinal = name.starts_with('第') && name.ends_with(['幕', '场', '場', '折', '出', '回', '章', '节', '節']);
        // `守田道：` introduces speech in a story, not in a play.
        let is_narration =
            name.ends_with(['道', '说', '說', '曰', '问', '問', '答', '想', '叫', '喊', '骂', '罵', '叹', '嘆']);
        // `一月三日　晴` starts a day of a diary.
        let dated = name.ends_with(['日', '号', '號', '月', '年', '天'])
            && name.chars().any(|c| "一二三四五六七八九十廿初春夏秋冬".contains(c));
        return (each && !ordinal && !is_narration && !dated && name.chars().count() < 17).then_some(false);
    }
    let joint = |word: &str| matches!(word, "and" | "of" | "the" | "de" | "von" | "van" | "&");
    let words: Vec<&str> = name.split_whitespace().collect();
    let each = words.iter().all(|word| joint(word) || !word.starts_with(|c: char| c.is_lowercase() || c == '-'));
    let roman = name.chars().all(|c| matches!(c, 'I' | 'V' | 'X' | 'L' | '.' | ' '));
    let opens = words.first().is_some_and(|word| !joint(word));
    if !each || !opens || roman || words.len() > 6 || name.chars().count() > 40 {
        return None;
    }
    let capital = words.iter().filter(|word| !joint(word)).all(|word| !word.chars().any(char::is_lowercase));
    Some(capital && name.chars().any(char::is_uppercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cue_lines_are_recognized_in_many_forms() {
        for (line, name, aside, speech, sure, mark) in [
            ("ORLA. Who is there?", "ORLA", None, "Who is there?", true, CueSeparator::Stop),
            ("MRS. HALE. Sit.", "MRS. HALE", None, "Sit.", true, CueSeparator::Stop),
            ("Orla: Sit. Or stand.", "Orla", None, "Sit. Or stand.", false, CueSeparator::Colon),
            ("_Orla._ Sit.", "Orla", None, "Sit.", true, CueSeparator::Stop),
            ("**Orla:** Sit.", "Orla", None, "Sit.", true, CueSeparator::Colon),
            ("ORLA _(rising)_. Sit.", "ORLA", Some("rising"), "Sit.", true, CueSeparator::Stop),
            ("ORLA [aside] Sit.", "ORLA", Some("aside"), "Sit.", true, CueSeparator::Gap),
            ("ORLA.--Sit.", "ORLA", None, "Sit.", true, CueSeparator::Stop),
            ("ORLA (CONT’D)", "ORLA", Some("CONT’D"), "", true, CueSeparator::End),
            ("MR. O’DEA", "MR. O’DEA", None, "", true, CueSeparator::End),
            ("@McPhee", "McPhee", None, "", true, CueSeparator::End),
            ("ORLA.", "ORLA", None, "", true, CueSeparator::Stop),
            ("ANNA and BEN. Yes!", "ANNA and BEN", None, "Yes!", true, CueSeparator::Stop),
            ("1ST SAILOR. Row.", "1ST SAILOR", None, "Row.", true, CueSeparator::Stop),
            ("江守田：潮退了。", "江守田", None, "潮退了。", false, CueSeparator::Colon),
            ("江守田（低声）：潮退了。", "江守田", Some("低声"), "潮退了。", false, CueSeparator::Colon),
            ("江守田　（白）潮退了。", "江守田", Some("白"), "潮退了。", false, CueSeparator::Gap),
            ("江守田　潮退了。", "江守田", None, "潮退了。", false, CueSeparator::Gap),
            ("丁　一：潮退了。", "丁一", None, "潮退了。", false, CueSeparator::Colon),
            ("丁　一　潮退了。", "丁一", None, "潮退了。", false, CueSeparator::Gap),
            ("甲、乙：好。", "甲、乙", None, "好。", false, CueSeparator::Colon),
        ] {
            let found = parse_cue_line(line).unwrap_or_else(|| panic!("{line}"));
            let fields = (found.name.as_str(), found.aside, &line[found.speech..], found.sure, found.mark);
            assert_eq!(fields, (name, aside, speech, sure, mark), "{line}");
        }
    }

    #[test]
    fn other_lines_are_not_cues() {
        for line in [
            "",
            "Yes. I will.",
            "“Orla: sit.”",
            "The tide was out. She rose.",
            "ACT I. A street.",
            "SCENE: The hall.",
            "He rose: it was late.",
            "II. The Road",
            "1.",
            "Dear: you know",
            "Orla, a widow.",
            "时间：黄昏。",
            "第一幕　码头",
            "他说：“好。”",
            "人物：甲、乙。",
            "Orla went out",
            "*Yes*, she said.",
        ] {
            let found = parse_cue_line(line).filter(|cue| cue.sure || cue.mark != CueSeparator::End);
            assert_eq!(found, None, "{line}");
        }
        for (name, expected) in [
            ("ALL", true),
            ("ANNA and BEN", true),
            ("众人", true),
            ("众兵", true),
            ("甲、乙", true),
            ("ANNA", false),
            ("江守田", false),
        ] {
            assert_eq!(is_group_name(name), expected, "{name}");
        }
    }

    #[test]
    fn weekdays_are_not_speakers_and_month_names_may_be() {
        for (line, name) in [
            ("MAY. Where is he?", Some("MAY")),
            ("June: At the mill.", Some("June")),
            ("Monday. I rose late.", None),
            ("MARCH. It rains.", None),
            ("一月三日　晴", None),
        ] {
            assert_eq!(parse_cue_line(line).map(|cue| cue.name).as_deref(), name, "{line}");
        }
    }
}
