//! Merges the profiles of a character over the scenes of a book, as of the end of the story.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::schema::{Attribute, Language, Visibility};
use crate::text::{is_han, letters_and_digits, sentences, similarity};

/// Minimum similarity of two sentences that count as the same.
const SAME_SIMILARITY: f64 = 0.8;
/// Minimum similarity if one sentence contains all words of the other.
const CONTAINED_SIMILARITY: f64 = 0.4;

/// Maximum length of a merged value, in characters; the newest sentences are kept.
const fn max_length(language: Language) -> usize {
    match language {
        Language::En => 900,
        Language::Zh => 360,
    }
}

/// The word lists of `profile.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WordLists {
    single_value_keys: Vec<String>,
}

static WORD_LISTS: LazyLock<WordLists> = LazyLock::new(|| embedded_toml!("profile.toml"));

/// The merged values of one key.
struct MergedAttribute {
    key: String,
    normalized_key: String,
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
    let mut merged: Vec<MergedAttribute> = Vec::new();
    for attribute in profiles.into_iter().flatten() {
        let Attribute { key, value, visibility } = attribute;
        let normalized_key = letters_and_digits(key);
        if value.trim().is_empty() || normalized_key.is_empty() {
            continue;
        }
        let index = merged
            .iter()
            .position(|merged| merged.normalized_key == normalized_key && merged.visibility == *visibility)
            .unwrap_or_else(|| {
                let key = key.trim().to_owned();
                merged.push(MergedAttribute { key, normalized_key, visibility: *visibility, sentences: Vec::new() });
                merged.len() - 1
            });
        let merged = &mut merged[index];
        if is_single(&merged.key) {
            merged.sentences = vec![value.trim().to_owned()];
        } else {
            merged.add(value);
        }
    }
    let public: Vec<(String, String)> = merged
        .iter()
        .filter(|merged| merged.visibility == Visibility::Public)
        .flat_map(|merged| {
            merged.sentences.iter().map(|sentence| (merged.normalized_key.clone(), letters_and_digits(sentence)))
        })
        .collect();
    for merged in merged.iter_mut().filter(|merged| merged.visibility == Visibility::Private) {
        let MergedAttribute { normalized_key, sentences, .. } = merged;
        // A private sentence may contradict the public value, but must not repeat it.
        sentences.retain(|sentence| {
            !public.iter().any(|(key, other)| key == normalized_key && *other == letters_and_digits(sentence))
        });
    }
    let attribute = |merged: MergedAttribute| {
        let value = merged.value(language);
        (!value.is_empty()).then_some(Attribute { key: merged.key, value, visibility: merged.visibility })
    };
    merged.into_iter().filter_map(attribute).collect()
}

/// Returns whether a key has a single value at a time.
pub(super) fn is_single(key: &str) -> bool {
    WORD_LISTS.single_value_keys.iter().any(|single| letters_and_digits(single) == letters_and_digits(key))
}

impl MergedAttribute {
    fn add(&mut self, value: &str) {
        for sentence in sentences(value) {
            let new = letters_and_digits(sentence);
            let adds_nothing = |old: &String| letters_and_digits(old).contains(&new) || is_contained(sentence, old);
            if self.sentences.iter().any(adds_nothing) {
                continue;
            }
            // The newest wording replaces what it repeats, and the newest figure replaces earlier ones.
            let figure = figure(sentence);
            let is_figure = |old: &String| figure.is_some() && self::figure(old) == figure;
            let is_repeated = |old: &String| new.contains(&letters_and_digits(old)) || is_contained(old, sentence);
            self.sentences
                .retain(|old| !is_repeated(old) && similarity(old, sentence) < SAME_SIMILARITY && !is_figure(old));
            self.sentences.push(sentence.to_owned());
        }
    }

    fn value(&self, language: Language) -> String {
        let mut available = max_length(language);
        let mut newest = Vec::new();
        for sentence in self.sentences.iter().rev() {
            let length = sentence.chars().count();
            // Keep at least one sentence, even if it is too long.
            if length > available && !newest.is_empty() {
                break;
            }
            available = available.saturating_sub(length);
            newest.push(sentence.as_str());
        }
        newest.reverse();
        newest.join(if language == Language::Zh { "" } else { " " })
    }
}

/// Returns whether `container` contains all words of `part` and few others: `talks with Ann and Bob` contains `talks with
/// Ann`.
fn is_contained(part: &str, container: &str) -> bool {
    let mut remaining = words(container);
    let has_all = words(part).iter().all(|piece| {
        let index = remaining.iter().position(|other| other == piece);
        index.map(|index| remaining.swap_remove(index)).is_some()
    });
    has_all && similarity(part, container) >= CONTAINED_SIMILARITY
}

/// Returns the words of a sentence; in Chinese, the characters.
fn words(sentence: &str) -> Vec<String> {
    let words = sentence.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let split = |word: &str| {
        if word.chars().any(is_han) { word.chars().map(String::from).collect() } else { vec![word.to_lowercase()] }
    };
    words.flat_map(split).collect()
}

/// Returns the first clause of a sentence without its digits, as the key of its figure. None if it has no digits.
fn figure(sentence: &str) -> Option<String> {
    let clause = sentence.split([',', ';', ':', '，', '；', '：', '、']).next()?;
    let is_figure = clause.contains(|c: char| c.is_ascii_digit());
    is_figure.then(|| letters_and_digits(clause).chars().filter(|c| !c.is_ascii_digit()).collect())
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
        let fields = |one: Attribute| (one.key, one.value, one.visibility == Visibility::Public);
        merged.into_iter().map(fields).collect()
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
        for (language, values, kept) in [
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
            let profiles = values.map(|value| profile(&[("ties", value, true)]));
            assert_eq!(merge(language, &profiles)[0].1, kept);
            if kept == values[2] {
                let back = [values[2], values[1], values[0]].map(|value| profile(&[("ties", value, true)]));
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
