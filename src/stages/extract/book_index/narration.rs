//! The sentences of a book outside of quotation marks, with their offsets and subjects. Does not judge their quality.

use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use super::names::Names;
use super::sentences::{one_line, sentences};
use super::standalone_sentence::{make_standalone, normalized_marks};
use crate::attribution::{Attribution, Gender};
use crate::schema::Language;
use crate::stages::extract::lexicon::opening;
use crate::text::is_han;

/// A complete sentence of narration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sentence {
    /// Start in code points of the decoded text.
    pub(crate) start: u32,
    /// End in code points of the decoded text.
    pub(crate) end: u32,
    /// Its text on one line.
    pub(crate) text: String,
    /// The people it names, in order, without repetition.
    pub(crate) people: Vec<usize>,
    /// The person it is about: named at its beginning, or referred to by a pronoun there.
    pub(crate) subject: Option<usize>,
    /// Whether it is understandable without context.
    pub(crate) is_standalone: bool,
    /// Whether it is in the first person.
    pub(crate) first_person: bool,
}

static PRONOUN_EN: LazyLock<Regex> = LazyLock::new(|| opening(r"^(?:But |And |Then |Now |So )?(He|She|His|Her)\b"));

static PRONOUN_ZH: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:只见|只見|可|但|却|又|这时|這時)?([他她])").expect("the pattern is built in and tested")
});

/// Returns the narration of a book: complete sentences without quoted text.
pub(crate) fn narration(text: &str, language: Language, attribution: &Attribution, names: &Names) -> Vec<Sentence> {
    let mut sentences_found: Vec<Sentence> = Vec::new();
    let quoted = attribution.quotations.iter().map(|quotation| (quotation.start, quotation.end));
    let mut quoted: Vec<(u32, u32)> =
        quoted.chain(attribution.letters.iter().map(|letter| (letter.start, letter.end))).collect();
    quoted.sort_unstable();
    let mut quoted = quoted.into_iter().peekable();
    let mut chars = text.char_indices();
    let mut point = 0_u32;
    for paragraph in &attribution.paragraphs {
        let skip = paragraph.start.saturating_sub(point);
        let begun = chars.by_ref().nth(skip as usize).map(|(byte, _)| byte);
        let (Some(begun), true) = (begun, paragraph.end > paragraph.start) else { break };
        let length = paragraph.end - paragraph.start;
        let rest: &str = &text[begun..];
        let words = rest.char_indices().nth(length as usize).map_or(rest, |(byte, _)| &rest[..byte]);
        // One character is already consumed.
        if length > 1 {
            chars.by_ref().nth(length as usize - 2);
        }
        point = paragraph.end;
        let mut quoted_ranges: Vec<(u32, u32)> = Vec::new();
        while let Some((start, end)) = quoted.next_if(|(start, _)| *start < paragraph.end) {
            if end > paragraph.start {
                quoted_ranges
                    .push((start.max(paragraph.start) - paragraph.start, end.min(paragraph.end) - paragraph.start));
            }
        }
        if paragraph.border {
            continue;
        }
        paragraph_sentences(words, paragraph.start, &quoted_ranges, language, attribution, names, &mut sentences_found);
    }
    sentences_found
}

fn paragraph_sentences(
    words: &str,
    start: u32,
    quoted_ranges: &[(u32, u32)],
    language: Language,
    attribution: &Attribution,
    names: &Names,
    found: &mut Vec<Sentence>,
) {
    // The text between quotations: (text, offset, whether it begins the paragraph).
    let mut pieces: Vec<(String, u32, bool)> = Vec::new();
    let (mut piece, mut piece_start, mut next) = (String::new(), 0_u32, quoted_ranges.iter().peekable());
    let mut first = true;
    for (at, c) in (0_u32..).zip(words.chars()) {
        while next.peek().is_some_and(|(_, end)| *end <= at) {
            next.next();
        }
        if next.peek().is_some_and(|(start, _)| at >= *start) {
            if !piece.is_empty() || first {
                pieces.push((std::mem::take(&mut piece), piece_start, first));
                first = false;
            }
        } else {
            if piece.is_empty() {
                piece_start = at;
            }
            piece.push(c);
        }
    }
    pieces.push((piece, piece_start, first));
    let mut subject = None;
    for (piece, offset, opens) in pieces {
        let parts = sentences(&piece);
        for (at, (from, to, closed)) in parts.into_iter().enumerate() {
            let raw = &piece[from..to];
            let mentions = names.find(raw);
            // A piece next to a quotation is its speech tag; it still determines the next pronoun.
            let is_speech_tag = (at == 0 && !opens) || !closed;
            let lead = if language == Language::Zh { 36 } else { 48 };
            let pronoun = pronoun(raw, language);
            let person = match (mentions.first(), pronoun) {
                (_, Some(gender)) => subject.filter(|person: &usize| fits(attribution.people[*person].gender, gender)),
                (Some(_), None) => mentions
                    .iter()
                    .find(|(byte, _)| acts(raw, *byte))
                    .filter(|(byte, _)| *byte <= lead)
                    .map(|(_, person)| *person),
                _ => None,
            };
            if person.is_some() || !mentions.is_empty() {
                // The next pronoun does not refer to a person who does not act, or is ambiguous between two.
                let gender = |person: usize| attribution.people[person].gender;
                let another = |person: usize| {
                    mentions.iter().any(|(_, other)| *other != person && fits(gender(*other), gender(person)))
                };
                subject = person.filter(|person| !another(*person));
            }
            let text = one_line(raw.trim_matches(|c: char| c.is_whitespace() || matches!(c, '”' | '」' | '』')));
            if is_speech_tag || !reads_well(&text) {
                continue;
            }
            let by_pronoun = pronoun.is_some().then_some(person).flatten();
            let name = by_pronoun.map(|person| attribution.people[person].name.as_str());
            let standalone = make_standalone(&normalized_marks(&text), language, name, |text| {
                names.find(text).into_iter().map(|(at, person)| (at, attribution.people[person].gender)).collect()
            });
            let mut people: Vec<usize> = Vec::new();
            for person in by_pronoun.into_iter().chain(mentions.into_iter().map(|(_, person)| person)) {
                if !people.contains(&person) {
                    people.push(person);
                }
            }
            let point = |byte: usize| start + offset + u32::try_from(piece[..byte].chars().count()).unwrap_or(0);
            found.push(Sentence {
                start: point(from),
                end: point(to),
                text: standalone.text,
                people,
                subject: person,
                is_standalone: standalone.is_standalone,
                first_person: standalone.first_person,
            });
        }
    }
}

static WORDS: LazyLock<NarrationFile> = LazyLock::new(|| embedded_toml!("narration.toml"));

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NarrationFile {
    en: EnglishWords,
    zh: ChineseWords,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EnglishWords {
    /// Words that, before a name, rule it out as the subject; separated by whitespace.
    before_name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChineseWords {
    /// Characters that, before a name, rule it out as the subject.
    before_name: String,
    /// Words that do so after a name.
    after_name: Vec<String>,
}

/// Whether a named person is the subject rather than an owner or part of a place: not `Hatch's umbrella`, not 聂崇礼身后.
fn acts(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end().rsplit(' ').next().unwrap_or("").to_lowercase();
    if WORDS.en.before_name.split_whitespace().any(|word| word == before)
        && text[..at].contains(' ')
        && !text[..at].eq_ignore_ascii_case("but ")
    {
        return false;
    }
    // In Chinese a person who is called, seen, told or taken along is named after the verb.
    if text[..at].ends_with(|c| WORDS.zh.before_name.contains(c)) {
        return false;
    }
    // The end of the name is not known here, so only a name's length of text is examined.
    let rest: String = text[at..].chars().take(24).collect();
    let end = rest.find([' ', ',', '，', '。', '.']).unwrap_or(rest.len());
    let word = &rest[..end];
    if word.ends_with("’s") || word.ends_with("'s") {
        return false;
    }
    let near: String = rest.chars().take(6).collect();
    !WORDS.zh.after_name.iter().any(|word| near.contains(word.as_str()))
}

/// Whether a sentence is complete: its marks are paired, and it begins like a sentence.
fn reads_well(text: &str) -> bool {
    let count = |mark: char| text.matches(mark).count();
    let begins = text
        .starts_with(|c: char| c.is_uppercase() || is_han(c) || c.is_ascii_digit() || matches!(c, '“' | '「' | '《'));
    begins
        && !damaged(text)
        && count('“') == count('”')
        && count('「') == count('」')
        && count('"').is_multiple_of(2)
        && count('(') == count(')')
        && count('（') == count('）')
}

/// Whether a Chinese text was damaged by an encoding conversion: a stray mark or foreign letter between its characters.
fn damaged(text: &str) -> bool {
    let strange = |c: char| matches!(c, '?' | '`' | '\u{400}'..='\u{4ff}' | '\u{30a0}'..='\u{30ff}' | '\u{fffd}');
    let mut chars = text.chars().zip(text.chars().skip(1));
    chars.any(|(one, next)| (is_han(one) && strange(next)) || (strange(one) && is_han(next)))
}

fn pronoun(text: &str, language: Language) -> Option<Gender> {
    let found = match language {
        Language::En => PRONOUN_EN.captures(text)?,
        Language::Zh => PRONOUN_ZH.captures(text)?,
    };
    Some(match &found[1] {
        "She" | "Her" | "她" => Gender::Female,
        "He" | "His" => Gender::Male,
        // 他 is used for both genders in older books.
        _ => Gender::Unknown,
    })
}

const fn fits(known: Gender, pronoun: Gender) -> bool {
    !matches!((known, pronoun), (Gender::Female, Gender::Male) | (Gender::Male, Gender::Female))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_sentences_are_not_used() {
        for (text, expected) in [
            ("他穿着窄Ё小袖的短袄。", false),
            ("头上戴着?丝嵌宝紫金冠。", false),
            ("他穿着窄袖短袄。", true),
            ("They asked who it was? Nobody.", true),
        ] {
            assert_eq!(reads_well(text), expected, "{text}");
        }
    }
}
