//! Parses the lines of a play that introduce speech: `NAME. Speech`, `NAME: Speech`, `名：`, `名　`, or a name alone above
//! it.
//!
//! Looks at a single line. Whether a book is a play, and whether a word is really a name, must be decided by callers
//! that see the whole book.

use super::calendar::{DAYS, MONTHS};
use super::is_han;
use super::words::{is_title, lead_word};

/// A line that may introduce speech.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cue<'a> {
    /// The speaker as printed, without emphasis marks.
    pub name: String,
    /// The text in brackets after the name, such as `aside`, `CONT’D` or `低声`.
    pub aside: Option<&'a str>,
    /// The start of the speech, in bytes of the line; the end of the line if the speech is below it.
    pub speech: usize,
    /// Whether the typography shows a name: all capitals, emphasis marks around it, or Fountain's `@`.
    pub sure: bool,
    /// The separator between name and speech.
    pub mark: CueMark,
}

/// The separator between a name and its speech.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CueMark {
    /// A colon.
    Colon,
    /// A full stop.
    Stop,
    /// A wide gap, or only brackets.
    Gap,
    /// The end of the line, without punctuation.
    End,
}

/// Words in the position of a name that are not people, in lower case.
const NOBODY: &[&str] = &[
    "act",
    "scene",
    "question",
    "answer",
    "q",
    "a",
    "spring",
    "winter",
    "问",
    "答",
    "旧历",
    "新历",
    "time",
    "place",
    "setting",
    "the setting",
    "characters",
    "cast",
    "persons",
    "dramatis personae",
    "prologue",
    "epilogue",
    "exit",
    "exeunt",
    "enter",
    "re-enter",
    "end",
    "the end",
    "end of act",
    "note",
    "notes",
    "chapter",
    "part",
    "title",
    "author",
    "date",
    "from",
    "to",
    "subject",
    "re",
    "cc",
    "ps",
    "p.s",
    "n.b",
    "curtain",
    "lights",
    "music",
    "sound",
    "silence",
    "pause",
    "int",
    "est",
    "ext",
    "interior",
    "exterior",
    "fade in",
    "fade out",
    "fade to black",
    "cut to",
    "dissolve to",
    "blackout",
    "dear",
    "intermission",
    "finis",
    "continued",
    "more",
    "copyright",
    "contents",
    "人物",
    "人物表",
    "时间",
    "時間",
    "地点",
    "地點",
    "布景",
    "佈景",
    "场景",
    "場景",
    "景",
    "幕启",
    "幕啟",
    "幕落",
    "幕闭",
    "幕閉",
    "舞台",
    "舞臺",
    "舞台提示",
    "注",
    "按",
    "附",
    "题记",
    "題記",
    "序",
    "剧情",
    "劇情",
    "角色",
    "角色表",
    "演员",
    "演員",
    "登场人物",
    "登場人物",
    "剧中人",
    "劇中人",
    "剧中人物",
    "劇中人物",
    "导演",
    "導演",
    "编剧",
    "編劇",
    "作者",
    "标题",
    "標題",
    "题目",
    "題目",
    "日期",
    "时代",
    "時代",
    "主题",
    "主題",
    "姓名",
    "年龄",
    "年齡",
    "性别",
    "性別",
    "籍贯",
    "籍貫",
    "电话",
    "電話",
    "地址",
    "备注",
    "備註",
    "说明",
    "說明",
    "提示",
    "音乐",
    "音樂",
    "灯光",
    "燈光",
    "收件人",
    "发件人",
    "發件人",
    "内景",
    "內景",
    "外景",
    "第一",
    "第二",
    "第三",
];

/// Words for several people who speak at once, in lower case.
const SEVERAL: &[&str] = &[
    "all",
    "both",
    "everybody",
    "everyone",
    "omnes",
    "together",
    "all three",
    "the others",
    "others",
    "company",
    "众",
    "眾",
    "众人",
    "眾人",
    "大家",
    "合",
    "齐",
    "齊",
    "二人",
    "两人",
    "兩人",
    "三人",
    "全体",
    "全體",
    "众口",
    "同",
    "合唱",
];

/// Whether a name stands for several people at once, such as `ALL`, `ANNA and BEN`, `众人` or `甲、乙`.
#[must_use]
pub fn is_several(name: &str) -> bool {
    let name = name.to_lowercase();
    SEVERAL.contains(&name.as_str())
        || [" and ", " & ", "、", "/"].iter().any(|joint| name.contains(joint))
        || name.starts_with(['众', '眾']) && name.chars().count() > 1
}

/// Parses a trimmed line as one that introduces speech.
#[must_use]
pub fn cue(line: &str) -> Option<Cue<'_>> {
    let forced = line.starts_with('@');
    let head = line.trim_start_matches(['@', '*', '_']);
    let printed = forced || head.len() < line.len();
    let end = name_end(head)?;
    let name: String = head[..end].trim().chars().filter(|&c| c != '\u{3000}').collect();
    let (mut rest, mut aside) = (&head[end..], None);
    let gap = rest.starts_with(['\u{3000}', '\t']) || rest.starts_with("  ");
    rest = unprinted(rest);
    while let Some((open, close)) = BRACKETS.into_iter().find(|(open, _)| rest.starts_with(*open)) {
        let inner = &rest[open.len_utf8()..];
        let (inside, behind) = inner.split_once(close)?;
        aside = aside.or(Some(inside.trim_matches(['*', '_', ' '])));
        rest = unprinted(behind);
    }
    let mark = match rest.chars().next() {
        None => CueMark::End,
        Some(':' | '：') => CueMark::Colon,
        Some('.' | '．') => CueMark::Stop,
        // Dual dialogue in Fountain.
        Some('^') if rest.len() == 1 => CueMark::End,
        Some(_) if gap || aside.is_some() => CueMark::Gap,
        Some(_) => return None,
    };
    if matches!(mark, CueMark::Colon | CueMark::Stop) {
        rest = unprinted(rest.trim_start_matches([':', '：', '.', '．'])).trim_start_matches(['—', '–', '-', ' ']);
    } else if mark == CueMark::End {
        rest = "";
    }
    let sure = is_name(&name)?;
    let sure = sure || printed;
    // A word that opens a sentence is not a name, unless the typography says so.
    let opener = !sure && name.split(' ').next().is_some_and(|word| lead_word(word) && !is_title(word));
    (!opener).then(|| Cue { name, aside, speech: line.len() - rest.len(), sure, mark })
}

/// Titles that are abbreviated with a full stop.
const ABBREVIATED: [&str; 13] =
    ["mr", "mrs", "ms", "dr", "st", "rev", "hon", "capt", "col", "gen", "lt", "sgt", "prof"];

const BRACKETS: [(char, char); 5] = [('(', ')'), ('（', '）'), ('[', ']'), ('［', '］'), ('【', '】')];

fn unprinted(text: &str) -> &str {
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
                let short = word.chars().count() == 1 || ABBREVIATED.contains(&&*word.to_lowercase());
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
    if letters == 0 || dated || NOBODY.contains(&lower) || lower.starts_with("act ") || lower.starts_with("scene ") {
        return None;
    }
    if name.chars().any(is_han) {
        let each = name.split('、').all(|part| (1..=8).contains(&part.chars().count()) && !part.contains(' '));
        let ordinal = name.starts_with('第') && name.ends_with(['幕', '场', '場', '折', '出', '回', '章', '节', '節']);
        // `守田道：` introduces speech in a story, not in a play.
        let told = name.ends_with(['道', '说', '說', '曰', '问', '問', '答', '想', '叫', '喊', '骂', '罵', '叹', '嘆']);
        // `一月三日　晴` starts a day of a diary.
        let dated = name.ends_with(['日', '号', '號', '月', '年', '天'])
            && name.chars().any(|c| "一二三四五六七八九十廿初春夏秋冬".contains(c));
        return (each && !ordinal && !told && !dated && name.chars().count() < 17).then_some(false);
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
    fn lines_hand_over_speech_in_many_forms() {
        for (line, name, aside, speech, sure, mark) in [
            ("ORLA. Who is there?", "ORLA", None, "Who is there?", true, CueMark::Stop),
            ("MRS. HALE. Sit.", "MRS. HALE", None, "Sit.", true, CueMark::Stop),
            ("Orla: Sit. Or stand.", "Orla", None, "Sit. Or stand.", false, CueMark::Colon),
            ("_Orla._ Sit.", "Orla", None, "Sit.", true, CueMark::Stop),
            ("**Orla:** Sit.", "Orla", None, "Sit.", true, CueMark::Colon),
            ("ORLA _(rising)_. Sit.", "ORLA", Some("rising"), "Sit.", true, CueMark::Stop),
            ("ORLA [aside] Sit.", "ORLA", Some("aside"), "Sit.", true, CueMark::Gap),
            ("ORLA.--Sit.", "ORLA", None, "Sit.", true, CueMark::Stop),
            ("ORLA (CONT’D)", "ORLA", Some("CONT’D"), "", true, CueMark::End),
            ("MR. O’DEA", "MR. O’DEA", None, "", true, CueMark::End),
            ("@McPhee", "McPhee", None, "", true, CueMark::End),
            ("ORLA.", "ORLA", None, "", true, CueMark::Stop),
            ("ANNA and BEN. Yes!", "ANNA and BEN", None, "Yes!", true, CueMark::Stop),
            ("1ST SAILOR. Row.", "1ST SAILOR", None, "Row.", true, CueMark::Stop),
            ("江守田：潮退了。", "江守田", None, "潮退了。", false, CueMark::Colon),
            ("江守田（低声）：潮退了。", "江守田", Some("低声"), "潮退了。", false, CueMark::Colon),
            ("江守田　（白）潮退了。", "江守田", Some("白"), "潮退了。", false, CueMark::Gap),
            ("江守田　潮退了。", "江守田", None, "潮退了。", false, CueMark::Gap),
            ("丁　一：潮退了。", "丁一", None, "潮退了。", false, CueMark::Colon),
            ("丁　一　潮退了。", "丁一", None, "潮退了。", false, CueMark::Gap),
            ("甲、乙：好。", "甲、乙", None, "好。", false, CueMark::Colon),
        ] {
            let found = cue(line).unwrap_or_else(|| panic!("{line}"));
            let told = (found.name.as_str(), found.aside, &line[found.speech..], found.sure, found.mark);
            assert_eq!(told, (name, aside, speech, sure, mark), "{line}");
        }
    }

    #[test]
    fn other_lines_hand_over_none() {
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
            let found = cue(line).filter(|cue| cue.sure || cue.mark != CueMark::End);
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
            assert_eq!(is_several(name), expected, "{name}");
        }
    }

    #[test]
    fn days_are_nobody_and_may_is_somebody() {
        for (line, name) in [
            ("MAY. Where is he?", Some("MAY")),
            ("June: At the mill.", Some("June")),
            ("Monday. I rose late.", None),
            ("MARCH. It rains.", None),
            ("一月三日　晴", None),
        ] {
            assert_eq!(cue(line).map(|cue| cue.name).as_deref(), name, "{line}");
        }
    }
}
