//! The sentences of a book outside of quotation marks, with their offsets and subjects. Does not judge their quality.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::standalone_sentence::{stand, written};
use crate::attribution::{Attribution, Gender, Person};
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
    pub(crate) alone: bool,
    /// Whether it is in the first person.
    pub(crate) first_person: bool,
}

/// Finds people by name; the time does not depend on how many there are.
#[derive(Debug)]
pub(crate) struct Names {
    /// Sorted: case-folded names, each with its person.
    owners: Vec<(Vec<char>, usize)>,
    /// By first character: the range of such names in `owners` and their lengths in characters, longest first.
    racks: HashMap<char, (Range<usize>, Vec<usize>)>,
    /// A bit per first character, shared by several; most characters of a book do not begin a name.
    firsts: [u64; 64],
}

impl Names {
    pub(crate) fn new(people: &[Person]) -> Self {
        let mut owners: BTreeMap<Vec<char>, usize> = BTreeMap::new();
        for (index, person) in people.iter().enumerate() {
            for name in std::iter::once(&person.name).chain(&person.aliases) {
                // `I` and 我 refer to the current speaker.
                if name.trim().chars().count() > usize::from(name.is_ascii()) && name != "我" {
                    // An ambiguous name belongs to the first person: people are sorted by number of lines.
                    owners.entry(key(name)).or_insert(index);
                }
            }
        }
        let mut names = Self { owners: owners.into_iter().collect(), racks: HashMap::new(), firsts: [0; 64] };
        for (at, (name, _)) in names.owners.iter().enumerate() {
            let (rack, lengths) = names.racks.entry(name[0]).or_insert_with(|| (at..at, Vec::new()));
            rack.end = at + 1;
            if let Err(place) = lengths.binary_search_by(|length| name.len().cmp(length)) {
                lengths.insert(place, name.len());
            }
            let (word, bit) = bucket(name[0]);
            names.firsts[word] |= bit;
        }
        names
    }

    /// Returns the person with a name.
    pub(crate) fn owner(&self, name: &str) -> Option<usize> {
        Self::among(&self.owners, &key(name))
    }

    fn among(owners: &[(Vec<char>, usize)], name: &[char]) -> Option<usize> {
        let at = owners.binary_search_by(|(other, _)| other.as_slice().cmp(name)).ok()?;
        Some(owners[at].1)
    }

    /// Returns the people a text names as (byte offset, person), in order.
    pub(crate) fn find(&self, text: &str) -> Vec<(usize, usize)> {
        self.spans(text).into_iter().map(|(start, _, person)| (start, person)).collect()
    }

    /// Returns the names in a text as (start, end, person) in bytes, in order. The longest name wins if several begin
    /// at the same place.
    pub(crate) fn spans(&self, text: &str) -> Vec<(usize, usize, usize)> {
        let letter = |c: char| !is_han(c) && c.is_alphanumeric();
        let mut folded: Vec<char> = Vec::new();
        let mut bytes = text.char_indices();
        let (mut found, mut before) = (Vec::new(), None::<char>);
        while let Some((byte, c)) = bytes.next() {
            let last = before.replace(c);
            let (word, bit) = bucket(fold(c));
            if self.firsts[word] & bit == 0 || letter(c) && last.is_some_and(letter) {
                continue;
            }
            let cased = !letter(c) || c.is_uppercase() || c == 't';
            let Some((rack, lengths)) = self.racks.get(&fold(c)).filter(|_| cased) else { continue };
            folded.clear();
            // One extra character shows whether the word continues.
            folded.extend(text[byte..].chars().take(lengths[0] + 1).map(fold));
            // `Will` is a name, `will` a word; in a script names are in capitals.
            let capital =
                |name: &[char]| !letter(c) || c.is_uppercase() || text[byte..].starts_with("the ") && name.len() > 4;
            let whole = |end: usize| !(letter(folded[end - 1]) && folded.get(end).is_some_and(|&next| letter(next)));
            let fit = lengths.iter().find_map(|&length| {
                let name = folded.get(..length).filter(|name| whole(length) && capital(name))?;
                Some((length, Self::among(&self.owners[rack.clone()], name)?))
            });
            let Some((length, person)) = fit else { continue };
            let mut end = byte + c.len_utf8();
            for (byte, c) in bytes.by_ref().take(length - 1) {
                (end, before) = (byte + c.len_utf8(), Some(c));
            }
            found.push((byte, end, person));
        }
        found
    }
}

/// Maps the variants of a character to one.
fn fold(c: char) -> char {
    match c {
        '\'' => '’',
        // Ideographs have no case.
        c if is_han(c) => c,
        c => c.to_lowercase().next().unwrap_or(c),
    }
}

/// Returns the position of a character's bit in [`Names::firsts`].
const fn bucket(c: char) -> (usize, u64) {
    ((c as usize >> 6) % 64, 1 << (c as usize % 64))
}

fn key(name: &str) -> Vec<char> {
    name.trim().chars().map(fold).collect()
}

/// Joins lines: a line break becomes one space, or nothing between Chinese characters.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    let mut blank = false;
    for c in text.trim().chars() {
        if c.is_whitespace() {
            blank = true;
            continue;
        }
        let wide =
            |c: char| is_han(c) || matches!(c, '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ffef}' | '“' | '”' | '…');
        if blank && !line.is_empty() && !(wide(c) && line.chars().next_back().is_some_and(wide)) {
            line.push(' ');
        }
        blank = false;
        line.push(c);
    }
    line
}

/// Abbreviations whose period does not end a sentence.
const ABBREVIATIONS: &[&str] = &[
    "Mr", "Mrs", "Ms", "Messrs", "Dr", "St", "Sr", "Jr", "Esq", "Rev", "Hon", "Capt", "Col", "Gen", "Lt", "Sgt",
    "Prof", "Mme", "Mlle", "No", "vol", "vs", "etc", "i.e", "e.g",
];

/// Splits a text into sentences. Returns trimmed byte ranges, each with whether it ends in a punctuation mark.
pub(crate) fn sentences(text: &str) -> Vec<(usize, usize, bool)> {
    let mut found = Vec::new();
    let (mut start, mut closing) = (0, false);
    let mut push = |start: usize, end: usize, closed: bool| {
        let part = &text[start..end];
        let lead = part.len() - part.trim_start().len();
        let part = part.trim();
        if part.chars().any(char::is_alphanumeric) {
            found.push((start + lead, start + lead + part.len(), closed));
        }
    };
    for (at, c) in text.char_indices() {
        let wide_stop = matches!(c, '。' | '！' | '？' | '．');
        let stop = wide_stop || matches!(c, '.' | '!' | '?' | '…');
        let closer = matches!(c, '”' | '"' | '’' | '\'' | '」' | '』' | ')' | '）' | ']');
        if stop {
            if c != '.' || !abbreviates(&text[..at]) {
                closing = true;
            }
        } else if closing && !closer && !c.is_whitespace() {
            let before = text[..at].trim_end();
            let wide = before.trim_end_matches(['”', '」', '』', '）', '’']).ends_with(['。', '！', '？', '．', '…']);
            let blank = before.len() < at;
            // After Latin punctuation only a capital, a digit or an opening mark begins a sentence.
            let begins =
                c.is_uppercase() || c.is_ascii_digit() || is_han(c) || matches!(c, '“' | '"' | '‘' | '(' | '—');
            if wide || (blank && begins) {
                push(start, at, true);
                start = at;
            }
            closing = false;
        }
    }
    push(start, text.len(), closing);
    found
}

fn abbreviates(before: &str) -> bool {
    let word = before.rsplit(|c: char| c.is_whitespace() || matches!(c, '“' | '"' | '(' | '—')).next().unwrap_or("");
    ABBREVIATIONS.contains(&word) || (word.chars().count() == 1 && word.chars().all(char::is_uppercase) && word != "I")
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
        let mut taken: Vec<(u32, u32)> = Vec::new();
        while let Some((start, end)) = quoted.next_if(|(start, _)| *start < paragraph.end) {
            if end > paragraph.start {
                taken.push((start.max(paragraph.start) - paragraph.start, end.min(paragraph.end) - paragraph.start));
            }
        }
        if paragraph.border {
            continue;
        }
        paragraph_sentences(words, paragraph.start, &taken, language, attribution, names, &mut sentences_found);
    }
    sentences_found
}

fn paragraph_sentences(
    words: &str,
    start: u32,
    taken: &[(u32, u32)],
    language: Language,
    attribution: &Attribution,
    names: &Names,
    found: &mut Vec<Sentence>,
) {
    // The text between quotations: (text, offset, whether it begins the paragraph).
    let mut pieces: Vec<(String, u32, bool)> = Vec::new();
    let (mut piece, mut piece_start, mut next) = (String::new(), 0_u32, taken.iter().peekable());
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
            let beside = (at == 0 && !opens) || !closed;
            let lead = if language == Language::Zh { 36 } else { 48 };
            let pronoun = pronoun(raw, language);
            let about = match (mentions.first(), pronoun) {
                (_, Some(gender)) => subject.filter(|person: &usize| fits(attribution.people[*person].gender, gender)),
                (Some(_), None) => mentions
                    .iter()
                    .find(|(byte, _)| acts(raw, *byte))
                    .filter(|(byte, _)| *byte <= lead)
                    .map(|(_, person)| *person),
                _ => None,
            };
            if about.is_some() || !mentions.is_empty() {
                // The next pronoun does not refer to a person who does not act, or is ambiguous between two.
                let gender = |person: usize| attribution.people[person].gender;
                let another = |person: usize| {
                    mentions.iter().any(|(_, other)| *other != person && fits(gender(*other), gender(person)))
                };
                subject = about.filter(|person| !another(*person));
            }
            let text = one_line(raw.trim_matches(|c: char| c.is_whitespace() || matches!(c, '”' | '」' | '』')));
            if beside || !reads_well(&text) {
                continue;
            }
            let by_pronoun = pronoun.is_some().then_some(about).flatten();
            let name = by_pronoun.map(|person| attribution.people[person].name.as_str());
            let standing = stand(&written(&text), language, name, |text| {
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
                text: standing.text,
                people,
                subject: about,
                alone: standing.alone,
                first_person: standing.first_person,
            });
        }
    }
}

/// Words that, before a name, rule it out as the subject.
const BEFORE: &[&str] = &[
    "about", "and", "as", "at", "but", "by", "for", "from", "in", "lest", "of", "on", "see", "than", "to", "towards",
    "upon", "with", "without",
];

/// The Chinese equivalent of [`BEFORE`].
const BEFORE_ZH: [char; 28] = [
    '把', '将', '將', '被', '给', '給', '与', '與', '和', '同', '跟', '向', '对', '對', '替', '请', '請', '问', '問',
    '叫', '令', '命', '为', '為', '由', '劝', '勸', '找',
];

/// Whether a named person is the subject rather than an owner or part of a place: not `Hatch's umbrella`, not 聂崇礼身后.
fn acts(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end().rsplit(' ').next().unwrap_or("").to_lowercase();
    if BEFORE.contains(&before.as_str()) && text[..at].contains(' ') && !text[..at].eq_ignore_ascii_case("but ") {
        return false;
    }
    // In Chinese a person who is called, seen, told or taken along is named after the verb.
    if text[..at].ends_with(&BEFORE_ZH[..]) {
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
    !["身后", "身後", "背后", "背後", "面前", "对面", "對面", "的", "之"].iter().any(|place| near.contains(place))
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
    fn people_are_found_by_their_longest_names() {
        let person = |name: &str, aliases: &[&str]| Person {
            name: name.to_owned(),
            aliases: aliases.iter().map(|&alias| alias.to_owned()).collect(),
            gender: Gender::Unknown,
            mentions: 1,
            lines: 1,
        };
        let people = [
            person("Mrs. Marl", &["Marl", "I"]),
            person("Will O’Dea", &["Will", "the ferryman"]),
            person("沈阿牛", &["阿牛", "我"]),
        ];
        let names = Names::new(&people);
        for (text, expected) in [
            ("Mrs. Marl will go, and Will O'Dea too.", &[("Mrs. Marl", 0), ("Will O'Dea", 1)][..]),
            ("Marlow saw MARL and the ferryman; I did not.", &[("MARL", 0), ("the ferryman", 1)]),
            ("我见沈阿牛和阿牛嫂。", &[("沈阿牛", 2), ("阿牛", 2)]),
        ] {
            let found: Vec<(&str, usize)> =
                names.spans(text).into_iter().map(|(start, end, person)| (&text[start..end], person)).collect();
            assert_eq!(found, expected, "{text}");
        }
        assert_eq!(names.owner("will o'dea"), Some(1));
        assert_eq!(names.owner("I"), None);
    }

    #[test]
    fn sentences_end_where_they_end() {
        for (text, expected) in [
            (
                "Mr. Grey sat down. He was tired! “Was he?” J. B. Stone asked…",
                &["Mr. Grey sat down.", "He was tired!", "“Was he?”", "J. B. Stone asked…"][..],
            ),
            ("河上无风。水车不动！他问：“谁？”没人应。", &["河上无风。", "水车不动！", "他问：“谁？”", "没人应。"]),
            ("河上无风．水车不动", &["河上无风．", "水车不动"]),
            ("It cost 3.50 and no more. yes", &["It cost 3.50 and no more. yes"]),
        ] {
            let found: Vec<&str> = sentences(text).into_iter().map(|(start, end, _)| &text[start..end]).collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn lines_join_by_script() {
        assert_eq!(one_line(" the old\r\n  mill "), "the old mill");
        assert_eq!(one_line("河上\n　　无风，\n水车不动。"), "河上无风，水车不动。");
    }

    #[test]
    fn names_are_whole_words_of_their_owner() {
        let person = |name: &str, aliases: &[&str]| Person {
            name: name.to_owned(),
            aliases: aliases.iter().map(|alias| (*alias).to_owned()).collect(),
            gender: Gender::Unknown,
            mentions: 1,
            lines: 1,
        };
        let names = Names::new(&[person("Mrs. Marl", &["Kez"]), person("Will", &[]), person("陆三更", &["三更"])]);
        let found = |text| names.find(text).into_iter().map(|(_, person)| person).collect::<Vec<_>>();
        assert_eq!(found("Kezzie saw Mrs. Marl, and Will will go with Kez."), [0, 1, 0]);
        assert_eq!(found("陆三更说，三更天了。"), [2, 2]);
        assert_eq!((names.owner("mrs. marl"), names.owner("Anna")), (Some(0), None));
    }

    #[test]
    fn damaged_text_is_not_told_on() {
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
