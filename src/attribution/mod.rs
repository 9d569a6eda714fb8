//! Rule-based attribution for a whole book: its characters, its quotations, and who says each one.
//!
//! One pass each over the text finds paragraphs, quotations, characters and speakers; each pass has its own module. The
//! word lists are in TOML files under `words/`. No model is called, and no book's names are built in. The cost is
//! linear in the length of the book.

pub mod aliases;
mod chinese;
mod english;
mod known_characters;
mod paragraphs;
mod people;
mod person_filter;
mod quotations;
mod script;
mod speakers;
mod words;

pub(crate) use person_filter::{is_common_word, may_name_person, surname_before_title};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::aliases::Aliases;
use self::known_characters::KnownCharacters;
use crate::schema::Language;

/// Grammatical gender of a character, pronoun or noun, where the text shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Gender {
    /// Female.
    Female,
    /// Male.
    Male,
    /// Not shown by the text.
    Unknown,
}

impl Gender {
    /// Returns the value as written in files.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Female => "female",
            Self::Male => "male",
            Self::Unknown => "unknown",
        }
    }
}

/// A character found by rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// The fullest name that the book uses often.
    pub name: String,
    /// The character's other names.
    pub aliases: Vec<String>,
    /// Gender, where the text shows it.
    pub gender: Gender,
    /// Number of times that the book names the character.
    pub mentions: u32,
    /// Number of quotations attributed to the character.
    pub lines: u32,
}

/// How a quotation's speaker was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuotationKind {
    /// By a name with a speech verb.
    Explicit,
    /// By a pronoun or role noun with a speech verb.
    Anaphoric,
    /// By turn-taking, a vocative, or the character who acts in the paragraph.
    Implicit,
    /// By the layout of a script.
    Script,
}

impl QuotationKind {
    /// Returns the value as written in output.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Explicit => "explicit",
            Self::Anaphoric => "anaphoric",
            Self::Implicit => "implicit",
            Self::Script => "script",
        }
    }
}

/// A passage of direct speech.
#[derive(Debug, Clone, PartialEq)]
pub struct Quotation {
    /// Start, in code points of the decoded text, quotation marks excluded.
    pub start: u32,
    /// End (exclusive), in code points.
    pub end: u32,
    /// The text in one line: each line break becomes a single space (nothing between Chinese characters).
    pub text: String,
    /// Index into [`Attribution::people`]; null if the speaker is unknown.
    pub speaker: Option<usize>,
    /// How the speaker was found; null if the speaker is unknown.
    pub kind: Option<QuotationKind>,
    /// Confidence in the speaker, 0 to 1.
    pub confidence: f32,
    /// A stage direction, or an action of the speaker in the same paragraph that reads as a sentence of its own.
    pub action: Option<String>,
}

/// Quoted writing within one paragraph: a letter, a note, the words on a sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Letter {
    /// Start, in code points of the decoded text, quotation marks excluded.
    pub start: u32,
    /// End (exclusive), in code points.
    pub end: u32,
}

/// A paragraph of the book.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paragraph {
    /// Start, in code points of the decoded text.
    pub start: u32,
    /// End (exclusive), in code points.
    pub end: u32,
    /// Whether it is a heading or a scene separator such as `* * *`.
    pub border: bool,
}

/// The attribution of a book. Lists are sorted by offset; characters by quotations, then mentions, then name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Attribution {
    /// The characters.
    pub people: Vec<Person>,
    /// The direct speech.
    pub quotations: Vec<Quotation>,
    /// Writing that is set in quotation marks but not spoken.
    pub letters: Vec<Letter>,
    /// The paragraphs.
    pub paragraphs: Vec<Paragraph>,
}

/// Attributes the quotations of a book by rule.
///
/// If `script` is set, speeches follow their speakers' names, as in a play; such a book needs no quotation marks.
#[must_use]
pub fn attribute(text: &str, language: Language, script: bool) -> Attribution {
    attribute_chars(&text.chars().collect::<Vec<char>>(), language, script, &KnownCharacters::default())
}

/// Attributes the quotations of a book by rule to a given list of characters only.
///
/// Names are assigned to characters before speakers are resolved, so speakers follow the list. Other speakers are kept
/// apart from the listed characters and reported as unknown. A list that equals what the rules find by themselves
/// changes nothing.
#[must_use]
pub fn attribute_with(text: &str, language: Language, script: bool, aliases: &Aliases) -> Attribution {
    let chars: Vec<char> = text.chars().collect();
    let by_rule = attribute_chars(&chars, language, script, &KnownCharacters::default());
    if Aliases::of(&by_rule) == *aliases {
        return by_rule;
    }
    let known_characters = KnownCharacters::new(aliases, &by_rule);
    known_characters.restrict(if script {
        by_rule
    } else {
        attribute_chars(&chars, language, script, &known_characters)
    })
}

fn attribute_chars(
    chars: &[char],
    language: Language,
    script: bool,
    known_characters: &KnownCharacters,
) -> Attribution {
    if script {
        return script::read(chars);
    }
    let paragraphs = paragraphs::paragraphs(chars);
    let mut spans = quotations::quotations(chars, &paragraphs, language);
    quotations::letters::mark_written(chars, &paragraphs, &mut spans, language);
    let (cast, found) = match language {
        Language::En => english::attribute(chars, &paragraphs, &spans, known_characters),
        Language::Zh => chinese::attribute(chars, &paragraphs, &spans, known_characters),
    };
    let letters = spans.iter().filter(|span| span.written);
    let letters = letters.map(|span| Letter { start: to_u32(span.start), end: to_u32(span.end) }).collect();
    let quotations = spans
        .iter()
        .zip(found)
        .filter(|(span, _)| !span.written)
        .map(|(span, found)| Quotation {
            start: to_u32(span.start),
            end: to_u32(span.end),
            text: flatten(&chars[span.start..span.end]),
            speaker: found.speaker,
            kind: found.kind,
            confidence: found.confidence,
            action: found.action,
        })
        .collect();
    Attribution { letters, ..people::finish(cast, quotations, paragraphs) }
}

/// Returns the simplified form of a traditional character if the tables have it, else the character itself.
pub(crate) fn folded(c: char) -> char {
    words::chinese::CHINESE.fold(c)
}

/// Returns the JSON lines of `extract --quotes --json`: one per character that speaks or is named, then one per
/// quotation.
pub fn json_lines<'a>(attribution: &'a Attribution, book: &'a str) -> impl Iterator<Item = serde_json::Value> + 'a {
    let people = attribution
        .people
        .iter()
        .enumerate()
        .map(|(id, person)| serde_json::json!({"speaker_id": id, "name": person.name, "aliases": person.aliases}));
    let quotations = attribution.quotations.iter().map(move |quotation| {
        serde_json::json!({
            "book": book,
            "start": quotation.start,
            "end": quotation.end,
            "quote": quotation.text,
            "speaker": quotation.speaker.map(|id| attribution.people[id].name.as_str()),
            "speaker_id": quotation.speaker,
            "kind": quotation.kind.map(QuotationKind::word),
        })
    });
    people.chain(quotations)
}

/// Converts an offset to the type used in records.
fn to_u32(offset: usize) -> u32 {
    u32::try_from(offset).expect("a book has fewer than 2^32 characters")
}

/// Joins text into one line: each run of whitespace becomes a space, or nothing between Chinese characters.
fn flatten(chars: &[char]) -> String {
    let mut line = String::with_capacity(chars.len());
    let mut last: Option<char> = None;
    let mut gap = false;
    for &c in chars {
        if c.is_whitespace() {
            gap = true;
            continue;
        }
        if let Some(previous) = last
            && gap
            && !(is_full_width(previous) && is_full_width(c))
        {
            line.push(' ');
        }
        gap = false;
        line.push(c);
        last = Some(c);
    }
    line
}

/// Whether a character is full-width: a Chinese character or its punctuation.
const fn is_full_width(c: char) -> bool {
    matches!(c as u32, 0x2E80..=0x9FFF | 0xF900..=0xFAFF | 0xFE30..=0xFE4F | 0xFF00..=0xFF60 | 0x20000..=0x3FFFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the kind and speaker of each quotation; the speaker may be given by any of its names.
    fn check(text: &str, language: Language, expected: &[(&str, Option<QuotationKind>)]) {
        let attribution = attribute(text, language, false);
        let found: Vec<Option<QuotationKind>> = attribution.quotations.iter().map(|quotation| quotation.kind).collect();
        assert_eq!(found, expected.iter().map(|(_, kind)| *kind).collect::<Vec<_>>(), "{:?}", attribution.people);
        for (quotation, (name, _)) in attribution.quotations.iter().zip(expected) {
            let person = quotation.speaker.map(|speaker| &attribution.people[speaker]);
            let has_name =
                person.is_some_and(|person| person.name == *name || person.aliases.iter().any(|alias| alias == name));
            assert!(has_name, "`{}`: expected {name}, found {person:?}", quotation.text);
        }
    }

    #[test]
    fn english_speakers_follow_from_tags_pronouns_and_turns() {
        let text = "“Is the tide out?” asked Mrs. Hallow.\n\n“It is,” said Mr. Hallow. He looked at the wall, and shook his head.\n\n\
                    “Then we are late.”\n\n“Very,” he said.\n\n“Whose fault is that?” she cried.\n";
        check(
            text,
            Language::En,
            &[
                ("Mrs. Hallow", Some(QuotationKind::Explicit)),
                ("Mr. Hallow", Some(QuotationKind::Explicit)),
                ("Mrs. Hallow", Some(QuotationKind::Implicit)),
                ("Mr. Hallow", Some(QuotationKind::Anaphoric)),
                ("Mrs. Hallow", Some(QuotationKind::Anaphoric)),
            ],
        );
    }

    #[test]
    fn names_are_merged_on_evidence_not_by_surname() {
        let text = "Ruth Hallow came in first. Ruth smiled. “Here,” said Ruth.\n\n“Where?” asked Miss Ruth’s brother, Tom Hallow. Tom laughed.\n\n\
                    “There,” said Tom.\n";
        let attribution = attribute(text, Language::En, false);
        let person_named = |name: &str| {
            attribution
                .people
                .iter()
                .position(|person| person.name == name || person.aliases.iter().any(|alias| alias == name))
        };
        assert_eq!(person_named("Ruth"), person_named("Ruth Hallow"));
        assert_eq!(person_named("Tom"), person_named("Tom Hallow"));
        assert_ne!(person_named("Ruth"), person_named("Tom"));
    }

    #[test]
    fn chinese_speakers_are_found_in_both_scripts() {
        let simplified = "江守田道：“潮退了没有？”\n\n“退了。”孟秋云说，“石头都露出来了。”\n\n“那就走罢。”\n\n江守田又问：“船呢？”孟秋云笑道：“在后头。”\n";
        let expected = [
            ("江守田", Some(QuotationKind::Explicit)),
            ("孟秋云", Some(QuotationKind::Explicit)),
            ("孟秋云", Some(QuotationKind::Explicit)),
            ("江守田", Some(QuotationKind::Implicit)),
            ("江守田", Some(QuotationKind::Explicit)),
            ("孟秋云", Some(QuotationKind::Explicit)),
        ];
        check(simplified, Language::Zh, &expected);
        let traditional = "江守田道：「潮退了沒有？」\n\n「退了。」孟秋雲說，「石頭都露出來了。」\n\n「那就走罷。」\n\n江守田又問：「船呢？」孟秋雲笑道：「在後頭。」\n";
        let expected = expected.map(|(name, kind)| (if name == "孟秋云" { "孟秋雲" } else { name }, kind));
        check(traditional, Language::Zh, &expected);
    }

    #[test]
    fn json_lines_hold_each_person_and_quotation() {
        let attribution = attribute("“Sit,” said Mr. Hallow.\n", Language::En, false);
        let lines: Vec<String> = json_lines(&attribution, "tide").map(|line| line.to_string()).collect();
        assert_eq!(
            lines,
            [
                r#"{"speaker_id":0,"name":"Mr. Hallow","aliases":[]}"#,
                r#"{"book":"tide","start":1,"end":5,"quote":"Sit,","speaker":"Mr. Hallow","speaker_id":0,"kind":"explicit"}"#,
            ]
        );
    }

    #[test]
    fn empty_and_broken_text_is_accepted() {
        for text in ["", "\n\n", "“", "“”", "”", "\"", "：“", "道：", "‘’Tis", "Mr.", "A.\r\n\r\n“", "我道：“"]
        {
            for language in Language::ALL {
                for script in [false, true] {
                    let attribution = attribute(text, language, script);
                    assert!(attribution.quotations.iter().all(|quotation| quotation.start <= quotation.end), "{text}");
                }
            }
        }
    }
}
