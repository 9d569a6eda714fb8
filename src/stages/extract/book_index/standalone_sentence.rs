//! Decides whether a sentence of the book is understandable without context, and rewrites its beginning so that it is:
//! removes connectives and storytelling formulas, and replaces a pronoun by a name. The rest of the sentence is
//! unchanged.

use std::sync::LazyLock;

use regex::Regex;

use crate::attribution::Gender;
use crate::schema::{ByLanguage, Language};
use crate::stages::extract::lexicon::{Patterns, WordLists, english, opening};
use crate::text::is_han;

/// A sentence rewritten to be read without context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StandaloneSentence {
    pub(crate) text: String,
    /// Whether it is understandable without context.
    pub(crate) is_standalone: bool,
    /// Whether it is in the first person.
    pub(crate) first_person: bool,
}

struct Rules {
    /// A connective at the beginning; the group is the rest of the sentence.
    leads: Regex,
    /// A pronoun at the beginning; group 1 is a subject, group 2 a possessive.
    head: Regex,
    /// Beginnings that refer back.
    dependent: Regex,
    /// Beginnings matched by `dependent` that do not refer back.
    allowed: Regex,
    /// Pronouns for people.
    pronoun: Regex,
    /// Phrases that refer back from within, and storytelling formulas.
    formula: Regex,
}

static LISTS: LazyLock<ByLanguage<WordLists>> =
    LazyLock::new(|| WordLists::parse(include_str!("standalone_sentence.toml")));

/// Compiles an English pattern with word lists.
fn pattern_en(pattern: &str) -> Regex {
    english(&LISTS.en.fill(pattern))
}

/// Compiles an English pattern with word lists, anchored at the start.
fn opening_en(pattern: &str) -> Regex {
    opening(&LISTS.en.fill(pattern))
}

/// Compiles a Chinese pattern with word lists.
fn pattern_zh(pattern: &str) -> Regex {
    Regex::new(&LISTS.zh.fill(pattern)).expect("the pattern is built in and tested")
}

static ENGLISH: LazyLock<Rules> = LazyLock::new(|| Rules {
    leads: pattern_en(
        r"^(?:<connectives>),? ((?:the|an?|his|her|its|their|he|she|they|when|as|while|in|on|at|after|before|all|every|no|there|I|we|[A-Z]\w+)\b.*)$",
    ),
    head: pattern_en(r"^(?:(He|She)|(His|Her)) "),
    dependent: opening_en(
        r"^(?:(?:<dependent_openers>)\b|The (?:<dependent_nouns>)\b|(?:<dependent_prepositions>) (?:<dependent_pronouns>)\b|(?:One|Two|Three|Some|Many|Most|Several|Each) of (?:the|them|these|those)\b|Had |Was |Were |Did )",
    ),
    allowed: opening_en(
        r"^(?:There (?:was|were|stood|lay|came|had been|lived)\b|It (?:was|had been) (?:<time_adverbs>)*(?:\w+ ){0,3}(?:<times>)\b|Both (?:[A-Z]\w+)|That (?:night|evening|morning|day|afternoon|summer|winter|autumn|spring)\b)",
    ),
    pronoun: pattern_en(r"\b(?:<pronouns>)\b"),
    formula: pattern_en(
        r"\b(?:(?:this|these|such an?) (?:<formula_nouns>)s?\b|the former|the latter|as follows|aforesaid|above-mentioned|(?:of|for|with|to|at|by|about|from) (?:it|them|this|that)[,.;])|\breader\b",
    ),
});

static CHINESE: LazyLock<Rules> = LazyLock::new(|| Rules {
    leads: pattern_zh("^(?:<connectives>)，?(.{6,})$"),
    head: pattern_zh("^(?:([他她])|([他她]的))[^们們]"),
    dependent: pattern_zh("^(?:<dependent_openers>)"),
    allowed: pattern_zh(
        "^(?:[这這那](?:一?日|一?年|一?晚|一?夜|一?天|时|時)|正月|方[^才纔能可]|[这這](?:[^，。]{1,5}(?:姓|叫|名|乃|便是|本是|原是|[，]))|[说說]不|其[时時])",
    ),
    pronoun: pattern_zh("[他她]"),
    formula: pattern_zh("<formulas>"),
});

/// A Chinese sentence that begins with a place.
static PLACED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("^[^，。]{1,8}[上下里裡中内內前后後边邊旁外](?:[坐站立走来來躺蹲挂掛有放摆擺只]|，)")
        .expect("the pattern is built in and tested")
});

/// A Chinese sentence that introduces speech without quotation marks, so that the text after it belongs to it.
static HANDS_OVER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        "(?:[说說问問笑叹嘆喝骂罵答叫喊劝勸哭]道|[，]道|[^知味公街渠河水铁鐵人厚霸地孝难難报報称稱]道|曰|云)[。．]$",
    )
    .expect("the pattern is built in and tested")
});

/// An `it` in the first clause that stands for a thing, not for weather, time or the rest of the clause.
static IT: LazyLock<Regex> = LazyLock::new(|| pattern_en(r"\bit(?: (?:<it_followers>)\b|[.,;:]|$)"));

/// A noun phrase that such an `it` may refer to.
static THING: LazyLock<Regex> = LazyLock::new(|| pattern_en(r"\b(?:<determiners>) \w+"));

/// Whether a Chinese text has a word that takes an object: a name after it is not the subject.
fn before_an_object(text: &str) -> bool {
    LISTS.zh.words("before_an_object").iter().any(|word| text.contains(word.as_str()))
}

/// Whether the first clause of an English sentence has an `it` without anything before it to refer to.
fn has_unclear_it(text: &str) -> bool {
    IT.find(text).is_some_and(|it| {
        let before = &text[..it.start()];
        !before.contains([',', ';', ':']) && !THING.is_match(before)
    })
}

/// Rewrites a sentence to be read without context. `subject` is the name of the person that a pronoun at its beginning
/// refers to; `people` returns the people a text names, with byte offset and gender.
pub(crate) fn make_standalone(
    text: &str,
    language: Language,
    subject: Option<&str>,
    people: impl Fn(&str) -> Vec<(usize, Gender)>,
) -> StandaloneSentence {
    let rules = if language == Language::En { &*ENGLISH } else { &*CHINESE };
    let mut text = if language == Language::En { small(text) } else { text.to_owned() };
    while let Some(rest) = rules.leads.captures(&text).and_then(|found| found.get(1)) {
        text = capital(rest.as_str());
    }
    // A sentence about what someone sees another person do is about the other person.
    if let Some(rest) = text.strip_prefix(['见', '見'])
        && people(rest).first().is_some_and(|(at, _)| *at == 0)
    {
        text.drain(..text.len() - rest.len());
    }
    if let (Some(subject), Some(found)) = (subject, rules.head.captures(&text)) {
        let (end, owns) = match (found.get(1), found.get(2)) {
            (Some(pronoun), _) => (pronoun.end(), ""),
            (_, Some(pronoun)) => (pronoun.end(), if language == Language::En { "’s" } else { "的" }),
            (None, None) => (0, ""),
        };
        text = format!("{}{owns}{}", capital(subject), &text[end..]);
    }
    let points_back = rules.dependent.is_match(&text) && !rules.allowed.is_match(&text);
    let names = people(&text);
    let first_name = names.first().map(|(at, _)| *at);
    let unclear = rules.pronoun.find_iter(&text).any(|found| {
        let not = match found.as_str() {
            "he" | "him" | "his" | "himself" => Gender::Female,
            "she" | "her" | "hers" | "herself" => Gender::Male,
            _ => Gender::Unknown,
        };
        !names.iter().any(|(at, gender)| *at < found.start() && (not == Gender::Unknown || *gender != not))
    });
    let closed = match language {
        // `XI.` and `An end.` say nothing.
        Language::En => text.split(' ').nth(2).is_some() && text.trim_end_matches(['’', '”', '"', ')']).ends_with('.'),
        Language::Zh => text.ends_with(['。', '．']) && !HANDS_OVER.is_match(&text),
    };
    // Chinese sentences often omit the subject; then they must begin with a name, a time or a place.
    let has_subject = language == Language::En
        || first_name.is_some_and(|name| name <= 36 && !before_an_object(&text[..name]))
        || PLACED.is_match(&text)
        || text.split_once(['，', '；']).is_some_and(|(clause, _)| Patterns::of(language).setting(clause) > 0);
    // If two people are named, `the former` is one of them.
    let formula =
        rules.formula.find(&text).is_some_and(|found| !(found.as_str().starts_with("the ") && names.len() > 1));
    let unclear_it = language == Language::En && has_unclear_it(&text);
    let is_standalone =
        !points_back && !unclear && !unclear_it && closed && has_subject && !formula && !is_verse(&text);
    let first_person = Patterns::of(language).is_first_person(&text);
    StandaloneSentence { text, is_standalone, first_person }
}

/// Lower-cases the words in capitals that open a chapter.
fn small(text: &str) -> String {
    let loud =
        |word: &&str| word.chars().filter(|c| c.is_alphabetic()).count() > 1 && !word.chars().any(char::is_lowercase);
    let opening = text.split(' ').take_while(loud).count();
    if opening == 0 {
        return text.to_owned();
    }
    let words = text
        .split(' ')
        .enumerate()
        .map(|(at, word)| if at < opening { capital(&word.to_lowercase()) } else { word.to_owned() });
    words.collect::<Vec<_>>().join(" ")
}

/// Whether a Chinese sentence is a couplet: clauses of five or seven characters, all of the same length.
fn is_verse(text: &str) -> bool {
    let text = text.trim_end_matches(['。', '．']);
    let lengths: Vec<usize> = text.split(['，', '；', '、']).map(|clause| clause.chars().count()).collect();
    text.starts_with(is_han)
        && lengths.len() > 1
        && matches!(lengths[0], 5 | 7)
        && lengths.iter().all(|length| *length == lengths[0])
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Normalizes text of the book: removes the underscores that mark emphasis, and unifies full stops.
pub(crate) fn normalized_marks(text: &str) -> String {
    let mut normalized = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            // In a date such as `17__` they belong to the text.
            '_' if !normalized.ends_with(|before: char| before.is_ascii_digit() || before == '_') => {}
            '．' if normalized
                .chars()
                .next_back()
                .is_some_and(|before| is_han(before) || "’”）」』".contains(before)) =>
            {
                normalized.push('。');
            }
            c => normalized.push(c),
        }
    }
    normalized
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(language: Language, names: &[&str], text: &str, subject: Option<&str>, expected: Option<&str>) {
        let people = |text: &str| {
            let gender = |name: &str| if name == "Anna" { Gender::Female } else { Gender::Male };
            let mut found: Vec<(usize, Gender)> =
                names.iter().flat_map(|name| text.match_indices(name)).map(|(at, name)| (at, gender(name))).collect();
            found.sort_by_key(|(at, _)| *at);
            found
        };
        let result = make_standalone(text, language, subject, people);
        assert_eq!(result.is_standalone.then_some(result.text.as_str()), expected, "{text}: {result:?}");
    }

    #[test]
    fn english_sentences_are_made_understandable_alone() {
        for (text, subject, expected) in [
            ("But Anna went home.", None, Some("Anna went home.")),
            ("He went home.", Some("Boris"), Some("Boris went home.")),
            ("His boat lay in the reeds.", Some("the miller"), Some("The miller’s boat lay in the reeds.")),
            ("He went home.", None, None),
            ("And then they all went home.", None, None),
            ("Anna took off her hat.", None, Some("Anna took off her hat.")),
            ("Boris looked at her.", None, None),
            (
                "When Anna and Boris were alone, the former sat down.",
                None,
                Some("When Anna and Boris were alone, the former sat down."),
            ),
            ("The lamp in his room was out.", None, None),
            ("At that the dog barked.", None, None),
            ("There was a mill by the river.", None, Some("There was a mill by the river.")),
            ("It was a wet evening in March.", None, Some("It was a wet evening in March.")),
            ("It was more than Anna could bear.", None, None),
            ("If only Anna had stayed!", None, None),
            ("Then came the flood.", None, None),
            ("AS soon as Anna came, it rained.", None, Some("As soon as Anna came, it rained.")),
            ("XI.", None, None),
            ("Anna had been afraid of it for fifty years.", None, None),
            ("Anna watches it through blue glass.", None, None),
            ("Anna took the lamp and put it on the table.", None, Some("Anna took the lamp and put it on the table.")),
            ("Anna found it hard to smile.", None, Some("Anna found it hard to smile.")),
        ] {
            check(Language::En, &["Anna", "Boris", "miller"], text, subject, expected);
        }
        for name in ["Noël", "Itō", "Forêt", "Noel"] {
            let text = format!("{name} took off his hat.");
            check(Language::En, &[name], &text, None, Some(&text));
        }
        check(Language::En, &["Noël"], "No, Noël went home.", None, None);
    }

    #[test]
    fn chinese_sentences_are_made_understandable_alone() {
        for (text, subject, expected) in [
            ("话说陆平到了渠县。", None, Some("陆平到了渠县。")),
            ("他敲了敲门。", Some("陆平"), Some("陆平敲了敲门。")),
            ("他的灯灭了。", Some("陆平"), Some("陆平的灯灭了。")),
            ("他们敲了敲门。", Some("陆平"), None),
            ("他敲了敲门。", None, None),
            ("说罢，领牌而去。", None, None),
            ("陆平昨夜过河桥，河上无风水自摇。", None, None),
            ("见陆平坐在船头。", None, Some("陆平坐在船头。")),
            ("摇着头走开了。", None, None),
            ("陆平叫他坐下。", None, Some("陆平叫他坐下。")),
            ("三月初一，城外起了大雾。", None, Some("三月初一，城外起了大雾。")),
            ("不知陆平性命如何，且听下回分解。", None, None),
            ("陸平歎了一口氣．", None, Some("陸平歎了一口氣．")),
            ("的头面，陆平拿了来才好。", None, None),
            ("今忽见陆平来了，便站起来。", None, None),
            ("陆平心中欢喜，却瞅着船笑道。", None, None),
            ("陆平心中一点也不知道。", None, Some("陆平心中一点也不知道。")),
            ("拿手拉陆平坐下。", None, None),
        ] {
            check(Language::Zh, &["陆平", "陸平"], text, subject, expected);
        }
    }

    #[test]
    fn markup_of_the_file_is_removed_from_sentences() {
        assert_eq!(normalized_marks("I said _that_, once, in 17__."), "I said that, once, in 17__.");
        assert_eq!(normalized_marks("他走了．门开着．"), "他走了。门开着。");
        assert_eq!(normalized_marks("Ｖｏｌ．２"), "Ｖｏｌ．２");
    }
}
