//! Decides whether a sequence of Chinese characters is a name.
//!
//! Judges one sequence at a time, by its own characters and by how the book uses it.

use crate::attribution::chinese::clauses::clause_end;
use crate::attribution::chinese::role_nouns::{is_role_noun, is_title, title_gender};
use crate::attribution::words::chinese::CHINESE;

/// Counts of how the book uses a sequence.
#[derive(Debug, Clone, Default)]
pub(super) struct UsageCounts {
    /// Occurrences before a speech verb, with only adverbs of manner between.
    pub(super) as_speaker: u32,
    /// Occurrences at the start of a clause in a sentence that introduces speech.
    pub(super) clause_starts: u32,
    /// Occurrences anywhere, except directly before a kinship noun.
    pub(super) total: u32,
    /// Occurrences before something that can follow a subject: a verb of speech or of human action, an adverb of
    /// manner, the end of a clause.
    pub(super) as_subject: u32,
    /// Occurrences at the start of a clause before a verb of speech or human action, or after a word that governs
    /// people.
    pub(super) strong_uses: u32,
    /// The first few distinct characters that follow it, with their counts.
    pub(super) followers: Vec<(char, u32)>,
}

/// Whether a character cannot be part of a name.
pub(super) fn cannot_be_in_name(c: &[char]) -> bool {
    let common =
        CHINESE.not_in_names.has(c) && !NUMERALS.contains(&c[0]) && !RARE_IN_NAMES.contains(c[0]) && c[0] != '的';
    !c[0].is_alphabetic() || c[0].is_ascii() || common
}

/// Characters that are rare in names, and then follow a surname.
const RARE_IN_NAMES: &str = "日天年月前后中时知见未无之与其可能以因半两云";

/// Numerals, which occur in names but are usually followed by nouns.
const NUMERALS: [char; 12] = ['一', '二', '三', '四', '五', '六', '七', '八', '九', '十', '两', '天'];

/// Returns the length of a word that can follow a subject, 0 if none.
pub(super) fn verb_length(rest: &[char]) -> usize {
    CHINESE.speech.head(rest).max(CHINESE.actions.head(rest)).max(CHINESE.manner.head(rest))
}

/// Properties of a sequence by its characters.
struct NameShape {
    /// Start of a title at its end.
    title_start: Option<usize>,
    /// Whether it is a surname followed by one or two characters.
    is_surname_with_name: bool,
    /// Whether it ends in a title, and has more than the title.
    has_title: bool,
    /// Whether it has the form of a familiar name: 老, 小 or 阿 at the start, or a numeral with a rural nickname: `二愣子`.
    is_familiar: bool,
}

impl NameShape {
    fn of(form: &[char]) -> Self {
        let surname = CHINESE.surnames.head(form);
        let title_start = (1..form.len()).find(|&i| title_gender(&form[i..]).is_some());
        let given_length = form.len() - surname;
        Self {
            title_start,
            is_surname_with_name: surname > 0 && (1..=2).contains(&given_length),
            has_title: title_start.is_some_and(|at| !is_role_noun(&form[at..]) || surname == at || at > 1),
            is_familiar: (matches!(form[0], '老' | '小' | '阿') || is_rural_nickname(form)) && form.len() <= 3,
        }
    }
}

/// Whether a sequence is a name.
pub(super) fn is_name(form: &[char], counts: &UsageCounts) -> bool {
    let shape = NameShape::of(form);
    !is_known_word(form)
        && may_begin_name(form, counts, &shape)
        && may_hold_characters(form, counts, &shape)
        && may_end_name(form, counts, &shape)
        && !is_part_of_name(form, counts)
        && is_used_as_name(form, counts, &shape)
}

/// Whether a sequence is a word in the tables, or begins with one that cannot be part of a name.
fn is_known_word(form: &[char]) -> bool {
    const BEFORE: &str = "老小大女男新胖瘦黑白矮高少众诸各那这此";
    let known = [&CHINESE.not_in_names, &CHINESE.opening, &CHINESE.manner].iter().any(|words| words.has(form));
    let noun = is_role_noun(form) || is_title(form) || BEFORE.contains(form[0]) && is_role_noun(&form[1..]);
    // A role noun followed by its verb.
    let longer = (2..form.len()).rev().find(|&length| is_role_noun(&form[..length]) || is_pronoun(&form[..length]));
    known
        || noun
        || is_pronoun(form)
        || is_pronoun(&form[..1])
        || matches!(form[0], '那' | '这' | '此')
        || CHINESE.not_names.head(form) > 1
        || longer.is_some_and(|at| title_gender(&form[at..]).is_none())
}

/// Whether its start may be that of a name: not a verb, an adverb or a preposition, unless that is a surname and the
/// whole is used as a name.
fn may_begin_name(form: &[char], counts: &UsageCounts, shape: &NameShape) -> bool {
    let lead = verb_length(form).max(CHINESE.objects.head(form)).max(CHINESE.opening.head(form));
    let together =
        is_frequent_subject(counts) || counts.as_speaker > 0 && verb_length(&form[1..]) == 0 && form.len() < 4;
    lead == 0 || lead == 1 && (shape.is_familiar || CHINESE.surnames.has(&form[..1]) && together)
}

/// Whether all its characters may be in a name: numerals may, but are much more common before nouns.
fn may_hold_characters(form: &[char], counts: &UsageCounts, shape: &NameShape) -> bool {
    let stem = &form[..shape.title_start.unwrap_or(form.len())];
    let has_rare_character = stem.iter().any(|c| CHINESE.not_in_names.has(&[*c]) && !NUMERALS.contains(c));
    if stem.contains(&'的')
        || has_rare_character && !(shape.is_surname_with_name && counts.as_speaker > 0 || is_frequent_subject(counts))
    {
        return false;
    }
    let numeral = NUMERALS.contains(&form[0]) || form[0] == '几';
    let counts = counts.as_speaker < 1
        && counts.clause_starts < 3
        && !(shape.has_title && form.len() > 2)
        && !is_rural_nickname(form);
    !(numeral && (has_classifier(form) || counts))
}

/// Whether its end may be that of a name: the last character is seldom an adverb or a verb.
fn may_end_name(form: &[char], counts: &UsageCounts, shape: &NameShape) -> bool {
    let last = &form[form.len() - 1..];
    let verb = CHINESE.manner.tail(form) > 0 || CHINESE.speech.has(last) || CHINESE.objects.has(last);
    if shape.title_start.is_some() || !verb {
        return true;
    }
    let usual = "云应同连齐方才小先来喜".contains(last[0]);
    let led = counts.clause_starts > 2 && counts.total > 5;
    usual && (is_frequent_subject(counts) || shape.is_surname_with_name && (counts.as_speaker > 0 || led))
        || shape.is_surname_with_name && is_frequent_subject(counts)
}

/// Whether the same character nearly always follows it, so that it is part of something longer.
fn is_part_of_name(form: &[char], counts: &UsageCounts) -> bool {
    counts.followers.iter().max_by_key(|(c, count)| (*count, *c)).is_some_and(|&(c, count)| {
        let always = !clause_end(c) && counts.total > 1 && count * 20 >= counts.total * 19;
        // No adverb follows a name every time.
        always && (counts.as_speaker == 0 || form.len() < 3 && (verb_length(&[c]) == 0 || counts.total > 5))
    })
}

/// Whether the book uses it as a name often enough, given its form.
fn is_used_as_name(form: &[char], counts: &UsageCounts, shape: &NameShape) -> bool {
    let likely = shape.is_surname_with_name || shape.has_title || shape.is_familiar;
    let is_full_name = shape.is_surname_with_name && form.len() == CHINESE.surnames.head(form) + 2;
    if is_full_name && counts.clause_starts > 0 && counts.strong_uses > 0 && counts.as_subject == counts.total {
        return true;
    }
    if counts.as_speaker > 0 {
        return likely || counts.total > 1 && (counts.as_speaker > 1 || counts.as_subject * 2 >= counts.total);
    }
    let clause_starts = counts.clause_starts > 0 && counts.total > 1;
    clause_starts
        && (likely && counts.as_subject * 3 >= counts.total
            || counts.strong_uses > 0 && counts.as_subject * 2 >= counts.total)
}

/// Whether it is repeatedly the subject of speech verbs.
fn is_frequent_subject(counts: &UsageCounts) -> bool {
    counts.as_speaker > 1 && counts.total > 3 && counts.as_subject * 2 > counts.total
}

/// Whether a sequence is a numeral with a rural nickname.
fn is_rural_nickname(form: &[char]) -> bool {
    form.len() == 3 && (NUMERALS[..10].contains(&form[0]) || form[0] == '大') && CHINESE.rural_nicknames.has(&form[1..])
}

/// Whether a sequence is a pronoun.
pub(super) fn is_pronoun(form: &[char]) -> bool {
    CHINESE.she.has(form) || CHINESE.he.has(form) || CHINESE.narrator.has(form) || CHINESE.plural.has(form)
}

/// Whether a numeral is followed by a classifier: `三个`, `一声`.
fn has_classifier(form: &[char]) -> bool {
    let numerals = form.iter().take_while(|c| NUMERALS[..11].contains(c) || matches!(c, '几' | '百' | '千' | '万'));
    let at = numerals.count();
    CHINESE.classifiers.head(&form[at..]) > 0 && title_gender(&form[at..]).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(form: &str, as_speaker: u32, clause_starts: u32, total: u32, as_subject: u32) -> bool {
        let form: Vec<char> = form.chars().collect();
        is_name(
            &form,
            &UsageCounts {
                as_speaker,
                clause_starts,
                total,
                as_subject,
                strong_uses: clause_starts,
                followers: Vec::new(),
            },
        )
    }

    #[test]
    fn names_are_accepted_by_form_and_use() {
        for form in ["沈阿牛", "六两嫂", "老耿", "鹤年", "方晴", "罗守云", "许可之"] {
            assert!(judge(form, 2, 3, 6, 5), "{form}");
        }
    }

    #[test]
    fn verbs_numbers_times_and_nouns_are_rejected() {
        for form in ["见鹤年", "叹一口气", "三个", "那老", "月亮", "老道士", "两位", "丫鬟忙", "今夜", "二小姐"]
        {
            assert!(!judge(form, 2, 3, 6, 5), "{form}");
        }
        assert!(!judge("鹤年听", 0, 2, 2, 0), "what follows it cannot follow a subject");
    }
}
