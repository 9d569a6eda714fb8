//! Candidates for a role's catchphrases: phrases it uses much more often than others, by Dunning's log-likelihood ratio
//! (G²).
//!
//! A phrase is two to six English words or three to eight Chinese characters within one clause. It is a candidate if
//! the role uses it in enough turns, at a higher rate than the others, and with a G² above the minimum: 2 Σ o·ln(o / e)
//! over the counts o in the role's and the other turns, where e is the count expected if all spoke alike.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde::Serialize;

use crate::schema::Language;
use crate::stages::instruct::params::Params;
use crate::text::{content_words, float, has_name, is_han, is_title};

/// Length of a phrase in English words.
const WORDS: std::ops::RangeInclusive<usize> = 2..=6;
/// Length of a phrase in Chinese characters.
const CHARACTERS: std::ops::RangeInclusive<usize> = 3..=8;
/// The maximum number of candidates shown to a model.
const MAX_PHRASES: usize = 12;

/// A phrase of a role.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Phrase {
    /// The phrase in its most frequent spelling.
    pub text: String,
    /// The number of the role's turns that contain it.
    pub count: u32,
    /// The number of other turns that contain it.
    pub others: u32,
    /// G² of its counts.
    pub keyness: f64,
}

/// The phrases of all spoken turns of a book, counted once and compared with each of its roles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PhraseCounts {
    /// The number of turns.
    turns: usize,
    /// The number of turns that contain a phrase, by its normalized form.
    counts: HashMap<String, u32>,
}

impl PhraseCounts {
    pub(super) fn new<'a>(lines: impl Iterator<Item = &'a str>, language: Language) -> Self {
        let mut all = Self::default();
        for line in lines {
            all.turns += 1;
            let phrases: HashSet<String> =
                clauses(line, language).iter().flat_map(|clause| grams(clause, language)).map(|(key, _)| key).collect();
            for key in phrases {
                *all.counts.entry(key).or_default() += 1;
            }
        }
        all
    }
}

/// Returns the candidates, highest G² first; none if nobody else speaks, as there is nothing to compare with. Parts of
/// a longer phrase that is almost as frequent are excluded, and so are names and forms of address.
///
/// `all` counts the turns of everyone. `own` are part of them if `is_counted`.
pub(super) fn phrases(
    params: &Params,
    language: Language,
    (own, is_counted): (&[String], bool),
    all: &PhraseCounts,
    names: &[&str],
) -> Vec<Phrase> {
    let other_turns = all.turns - if is_counted { own.len() } else { 0 };
    if own.is_empty() || other_turns == 0 {
        return Vec::new();
    }
    let (size, other_size) = (float(own.len()), float(other_turns));
    let mut found: Vec<(String, Phrase)> = counts(own, language)
        .iter()
        .filter(|(_, forms)| turns(forms) >= params.min_phrase_turns)
        .filter_map(|(key, forms)| {
            let count = turns(forms);
            let other = all.counts.get(key).copied().unwrap_or(0) - if is_counted { count } else { 0 };
            let keyness = keyness(f64::from(count), size, f64::from(other), other_size);
            let text = forms.iter().max_by_key(|(form, count)| (**count, std::cmp::Reverse(*form)))?.0;
            let is_name = names.iter().any(|name| has_name(text, name)) || language == Language::Zh && is_title(text);
            (keyness >= params.min_keyness && !is_name && !content_words(text).is_empty())
                .then(|| (key.clone(), Phrase { text: text.clone(), count, others: other, keyness }))
        })
        .collect();
    found.sort_by(|(a, one), (b, other)| other.keyness.total_cmp(&one.keyness).then_with(|| a.cmp(b)));
    let keys: Vec<(String, u32)> = found.iter().map(|(key, phrase)| (key.clone(), phrase.count)).collect();
    let is_part = |key: &str, count: u32| {
        keys.iter().any(|(longer, with)| {
            longer.len() > key.len() && contains_phrase(longer, key, language) && 3 * with >= 2 * count
        })
    };
    let mut chosen_keys: Vec<String> = Vec::new();
    let mut chosen = Vec::new();
    for (key, phrase) in found {
        let overlaps = chosen_keys.iter().any(|chosen_key: &String| {
            contains_phrase(chosen_key, &key, language) || contains_phrase(&key, chosen_key, language)
        });
        if !is_part(&key, phrase.count) && !overlaps {
            chosen_keys.push(key);
            chosen.push(phrase);
        }
        if chosen.len() == MAX_PHRASES {
            break;
        }
    }
    chosen
}

fn contains_phrase(longer: &str, shorter: &str, language: Language) -> bool {
    match language {
        Language::En => format!(" {longer} ").contains(&format!(" {shorter} ")),
        Language::Zh => longer.contains(shorter),
    }
}

fn turns(forms: &BTreeMap<String, u32>) -> u32 {
    forms.values().sum()
}

/// Returns Dunning's G² of two counts out of two sizes; 0 if the role's rate is not higher.
fn keyness(own: f64, size: f64, other: f64, other_size: f64) -> f64 {
    if own / size <= other / other_size {
        return 0.0;
    }
    let share = (own + other) / (size + other_size);
    let term = |observed: f64, expected: f64| if observed > 0.0 { observed * (observed / expected).ln() } else { 0.0 };
    2.0 * (term(own, size * share) + term(other, other_size * share))
}

/// Counts the turns that contain each phrase, by normalized form and spelling.
fn counts(lines: &[String], language: Language) -> BTreeMap<String, BTreeMap<String, u32>> {
    let mut counts: BTreeMap<String, BTreeMap<String, u32>> = BTreeMap::new();
    for line in lines {
        let mut phrases_of_line: BTreeSet<(String, String)> = BTreeSet::new();
        let mut keys: BTreeSet<String> = BTreeSet::new();
        for clause in clauses(line, language) {
            for (key, form) in grams(&clause, language) {
                if keys.insert(key.clone()) {
                    phrases_of_line.insert((key, form));
                }
            }
        }
        for (key, form) in phrases_of_line {
            *counts.entry(key).or_default().entry(form).or_default() += 1;
        }
    }
    counts
}

/// Splits a line at punctuation that no phrase crosses.
fn clauses(line: &str, language: Language) -> Vec<String> {
    let within = |c: char| match language {
        Language::En => c.is_alphanumeric() || c.is_whitespace() || matches!(c, '\'' | '’' | '-'),
        Language::Zh => is_han(c),
    };
    line.split(|c| !within(c)).map(str::trim).filter(|clause| !clause.is_empty()).map(str::to_owned).collect()
}

/// Returns the phrases of a clause as (normalized form, spelling).
fn grams(clause: &str, language: Language) -> Vec<(String, String)> {
    match language {
        Language::En => {
            let words: Vec<&str> = clause.split_whitespace().collect();
            let normalized: Vec<String> = words.iter().map(|word| word.replace('’', "'").to_lowercase()).collect();
            WORDS
                .flat_map(|length| normalized.windows(length).zip(words.windows(length)))
                .map(|(key, form)| (key.join(" "), form.join(" ")))
                .collect()
        }
        Language::Zh => {
            let chars: Vec<char> = clause.chars().collect();
            CHARACTERS
                .flat_map(|length| {
                    chars.windows(length).map(|gram| gram.iter().collect::<String>()).collect::<Vec<_>>()
                })
                .map(|gram| (gram.clone(), gram))
                .collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(language: Language, own: &[&str], others: &[&str], names: &[&str]) -> Vec<String> {
        let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        let all = PhraseCounts::new(own.iter().chain(others).copied(), language);
        let phrases = phrases(&Params::default(), language, (&owned(own), true), &all, names);
        phrases.into_iter().map(|phrase| phrase.text).collect()
    }

    const OTHERS: [&str; 12] = [
        "I do not know where it is.",
        "We walked by the river.",
        "He sold the boat in spring.",
        "Nobody told me about it.",
        "Is that the price of oil?",
        "She went home at four.",
        "I do not know his name.",
        "The road is long.",
        "Bring me the lamp.",
        "They shut the gate.",
        "It was cold.",
        "I saw nothing.",
    ];

    #[test]
    fn a_catchphrase_is_said_often_by_the_role_and_rarely_by_others() {
        let own = [
            "Mark my words, the wall will go.",
            "I do not know. Mark my words, though.",
            "Mark my words: rain.",
            "I do not know who it was.",
            "The wall is old, mark my words.",
            "I do not know.",
        ];
        // `I do not know` is common to all; `my words` is part of the longer phrase.
        assert_eq!(found(Language::En, &own, &OTHERS.repeat(2), &["Ann"]), ["Mark my words"]);
        assert!(found(Language::En, &own[..2], &OTHERS.repeat(2), &["Ann"]).is_empty(), "two turns are too few");
        assert!(found(Language::En, &own, &[], &["Ann"]).is_empty(), "there is nothing to compare with");
        let unnamed = found(Language::En, &own, &OTHERS.repeat(2), &["Mark"]);
        assert!(unnamed.iter().all(|phrase| !phrase.contains("Mark")), "names are excluded: {unnamed:?}");
    }

    #[test]
    fn a_chinese_catchphrase_needs_no_spaces() {
        let own = ["水不骗人。墙要塌。", "账可以改，水不骗人。", "你看，水不骗人！", "我不晓得。", "罢了，水不骗人。"];
        let others = [
            "船卖了。",
            "我不晓得。",
            "油多少钱？",
            "她四点走的。",
            "路很远。",
            "把灯拿来。",
            "门关了。",
            "天冷。",
            "没看见。",
            "河边走走。",
            "谁告诉你的？",
            "春天的事。",
        ];
        assert_eq!(found(Language::Zh, &own, &others.repeat(2), &["阿满"]), ["水不骗人"]);
    }

    #[test]
    fn keyness_is_dunnings_g2() {
        // 2 (10 ln(10/5.5) + 1 ln(1/5.5)) for equal sizes.
        let expected = 2.0 * (10.0 * (10.0_f64 / 5.5).ln() + (1.0_f64 / 5.5).ln());
        assert!((keyness(10.0, 100.0, 1.0, 100.0) - expected).abs() < 1e-9);
        assert!(keyness(1.0, 100.0, 10.0, 100.0).abs() < 1e-9);
    }
}
