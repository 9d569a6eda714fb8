//! Merges the profiles of a character over the scenes of a book, as of the end of the story.

use crate::schema::{Attribute, Language, Visibility};
use crate::text::{is_han, likeness, plain, sentences};

/// Minimum similarity of two sentences that count as the same.
const SAME: f64 = 0.8;
/// Minimum similarity if one sentence contains all words of the other.
const WITHIN: f64 = 0.4;

/// Maximum length of a merged value, in characters; the newest sentences are kept.
const fn most(language: Language) -> usize {
    match language {
        Language::En => 900,
        Language::Zh => 360,
    }
}

/// Keys with a single value at a time.
const SINGLE: [&str; 16] = [
    "name",
    "full name",
    "gender",
    "sex",
    "age",
    "title",
    "species",
    "姓名",
    "名字",
    "性别",
    "性別",
    "年龄",
    "年齡",
    "称号",
    "稱號",
    "种族",
];

/// The merged values of one key.
struct Told {
    key: String,
    plain_key: String,
    visibility: Visibility,
    /// Sentences in story order, without repetitions.
    sentences: Vec<String>,
}

/// Merges profiles that are given in story order.
///
/// For keys such as `age` the latest value is used. For other keys, new sentences are added and replace those that they
/// repeat; if the value gets too long, the oldest sentences are dropped. Visibility is kept. If a key is both public
/// and private, sentences that are public are removed from the private value.
pub(super) fn merged<'a>(profiles: impl IntoIterator<Item = &'a [Attribute]>, language: Language) -> Vec<Attribute> {
    let mut told: Vec<Told> = Vec::new();
    for attribute in profiles.into_iter().flatten() {
        let Attribute { key, value, visibility } = attribute;
        let plain_key = plain(key);
        if value.trim().is_empty() || plain_key.is_empty() {
            continue;
        }
        let place = told.iter().position(|told| told.plain_key == plain_key && told.visibility == *visibility);
        let place = place.unwrap_or_else(|| {
            let key = key.trim().to_owned();
            told.push(Told { key, plain_key, visibility: *visibility, sentences: Vec::new() });
            told.len() - 1
        });
        let told = &mut told[place];
        if is_single(&told.key) {
            told.sentences = vec![value.trim().to_owned()];
        } else {
            told.learn(value);
        }
    }
    let open: Vec<(String, String)> = told
        .iter()
        .filter(|told| told.visibility == Visibility::Public)
        .flat_map(|told| told.sentences.iter().map(|sentence| (told.plain_key.clone(), plain(sentence))))
        .collect();
    for told in told.iter_mut().filter(|told| told.visibility == Visibility::Private) {
        let Told { plain_key, sentences, .. } = told;
        // A private sentence may contradict the public value, but must not repeat it.
        sentences.retain(|sentence| !open.iter().any(|(key, other)| key == plain_key && *other == plain(sentence)));
    }
    let attribute = |told: Told| {
        let value = told.value(language);
        (!value.is_empty()).then_some(Attribute { key: told.key, value, visibility: told.visibility })
    };
    told.into_iter().filter_map(attribute).collect()
}

/// Returns whether a key has a single value at a time.
pub(super) fn is_single(key: &str) -> bool {
    SINGLE.iter().any(|single| plain(single) == plain(key))
}

impl Told {
    fn learn(&mut self, value: &str) {
        for sentence in sentences(value) {
            let new = plain(sentence);
            let says_no_more = |old: &String| plain(old).contains(&new) || is_within(sentence, old);
            if self.sentences.iter().any(says_no_more) {
                continue;
            }
            // The newest wording replaces what it repeats, and the newest figure replaces earlier ones.
            let figure = figure(sentence);
            let is_figure = |old: &String| figure.is_some() && self::figure(old) == figure;
            let is_repeated = |old: &String| new.contains(&plain(old)) || is_within(old, sentence);
            self.sentences.retain(|old| !is_repeated(old) && likeness(old, sentence) < SAME && !is_figure(old));
            self.sentences.push(sentence.to_owned());
        }
    }

    fn value(&self, language: Language) -> String {
        let mut room = most(language);
        let mut newest = Vec::new();
        for sentence in self.sentences.iter().rev() {
            let length = sentence.chars().count();
            // Keep at least one sentence, even if it is too long.
            if length > room && !newest.is_empty() {
                break;
            }
            room = room.saturating_sub(length);
            newest.push(sentence.as_str());
        }
        newest.reverse();
        newest.join(if language == Language::Zh { "" } else { " " })
    }
}

/// Returns whether `whole` contains all words of `part` and few others: `talks with Ann and Bob` contains `talks with
/// Ann`.
fn is_within(part: &str, whole: &str) -> bool {
    let mut left = pieces(whole);
    let has_all = pieces(part).iter().all(|piece| {
        let at = left.iter().position(|other| other == piece);
        at.map(|at| left.swap_remove(at)).is_some()
    });
    has_all && likeness(part, whole) >= WITHIN
}

/// Returns the words of a sentence; in Chinese, the characters.
fn pieces(sentence: &str) -> Vec<String> {
    let words = sentence.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let parted = |word: &str| {
        if word.chars().any(is_han) { word.chars().map(String::from).collect() } else { vec![word.to_lowercase()] }
    };
    words.flat_map(parted).collect()
}

/// Returns the first clause of a sentence without its digits, as the key of its figure. None if it has no digits.
fn figure(sentence: &str) -> Option<String> {
    let clause = sentence.split([',', ';', ':', '，', '；', '：', '、']).next()?;
    let is_figure = clause.contains(|c: char| c.is_ascii_digit());
    is_figure.then(|| plain(clause).chars().filter(|c| !c.is_ascii_digit()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(attributes: &[(&str, &str, bool)]) -> Vec<Attribute> {
        let attribute = |(key, value, public): &(&str, &str, bool)| Attribute {
            key: (*key).to_owned(),
            value: (*value).to_owned(),
            visibility: if *public { Visibility::Public } else { Visibility::Private },
        };
        attributes.iter().map(attribute).collect()
    }

    fn merge(language: Language, profiles: &[Vec<Attribute>]) -> Vec<(String, String, bool)> {
        let merged = merged(profiles.iter().map(Vec::as_slice), language);
        let shown = |one: Attribute| (one.key, one.value, one.visibility == Visibility::Public);
        merged.into_iter().map(shown).collect()
    }

    #[test]
    fn later_values_replace_or_extend_earlier_ones() {
        let merged = merge(
            Language::En,
            &[
                profile(&[
                    ("age", "Nine.", true),
                    ("persona", "She is shy.", true),
                    ("Speech pattern", "Short.", false),
                ]),
                profile(&[("Age", "Ten, or near it.", true), ("persona", "She is shy. She counts the steps.", true)]),
                profile(&[("persona", "She counts all the steps.", true), ("persona", "She fears water.", false)]),
                profile(&[("speech_pattern", "Short", false), ("empty", " ", true)]),
                profile(&[("manner", "About 6 words a line; asks in 3 of 10.", false)]),
                profile(&[("manner", "About 17 words a line.", false)]),
            ],
        );
        let expected = [
            ("age", "Ten, or near it.", true),
            ("persona", "She is shy. She counts all the steps.", true),
            ("Speech pattern", "Short.", false),
            ("persona", "She fears water.", false),
            ("manner", "About 17 words a line.", false),
        ];
        assert_eq!(merged, expected.map(|(key, value, public)| (key.to_owned(), value.to_owned(), public)));
    }

    #[test]
    fn chinese_is_joined_without_spaces_and_revealed_secrets_become_public() {
        let merged = merge(
            Language::Zh,
            &[
                profile(&[("性格", "话少。", true), ("经历", "他烧过一本账。", false)]),
                profile(&[("性格", "认死理。", true), ("经历", "他烧过一本账。他认了。", true)]),
            ],
        );
        let expected = [("性格", "话少。认死理。", true), ("经历", "他烧过一本账。他认了。", true)];
        assert_eq!(merged, expected.map(|(key, value, public)| (key.to_owned(), value.to_owned(), public)));
    }

    #[test]
    fn a_sentence_that_says_more_replaces_the_one_it_contains() {
        for (language, told, kept) in [
            (
                Language::En,
                ["Talks most with Anna.", "Talks most with Anna and Boris.", "Talks most with Clara, Anna and Boris."],
                "Talks most with Clara, Anna and Boris.",
            ),
            (
                Language::Zh,
                ["与陆平往来最多。", "与陆平和周七往来最多。", "与沈三娘、陆平和周七往来最多。"],
                "与沈三娘、陆平和周七往来最多。",
            ),
            (
                Language::En,
                ["She fears water.", "She has a cat.", "The cat fears her."],
                "She fears water. She has a cat. The cat fears her.",
            ),
            (Language::Zh, ["她怕水。", "她养了一只猫。", "猫也怕她。"], "她怕水。她养了一只猫。猫也怕她。"),
        ] {
            let profiles = told.map(|value| profile(&[("ties", value, true)]));
            assert_eq!(merge(language, &profiles)[0].1, kept);
            if kept == told[2] {
                let back = [told[2], told[1], told[0]].map(|value| profile(&[("ties", value, true)]));
                assert_eq!(merge(language, &back)[0].1, kept, "a shorter repetition changes nothing");
            }
        }
    }

    #[test]
    fn a_long_value_keeps_its_newest_sentences() {
        let words =
            ["amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath", "islet", "jetty", "knoll", "ledge"];
        let long = |word: &str| format!("{} marks the {word}.", format!("{word} ").repeat(16).trim_end());
        let profiles: Vec<_> = words.iter().map(|word| profile(&[("memories", &long(word), false)])).collect();
        let value = &merge(Language::En, &profiles)[0].1;
        assert!(value.ends_with("the ledge.") && !value.contains("amber") && value.chars().count() <= 910, "{value}");
    }
}
