//! Offline profiles: speech is graded by how well lines can be told apart, and the description is the known profile.

use std::collections::BTreeMap;

use super::person::{addressed, with_subject, without_names};
use crate::schema::{Distinctness, Language};
use crate::stages::instruct::{Catchphrases, ChooseCatchphrases, DescribeRole, Grade, GradeVoice};
use crate::text::{content_words, float, is_han, length, sentences, similarity};

/// Similarity above which a sentence repeats another one.
const SAME: f64 = 0.55;
/// The maximum length of a description in English words; 1.5 times as many Chinese characters.
const LONGEST: usize = 180;

/// Grades how distinct a role's speech is: each line is scored by the words of all other lines, and the grade is the
/// share of pairs (own line, other line) in the right order, i.e. the area under the ROC curve.
pub(super) fn grade(ask: &GradeVoice) -> Grade {
    let own: Vec<Vec<String>> = ask.lines.iter().map(|line| features(line, ask.language)).collect();
    let others: Vec<Vec<String>> = ask.others.iter().map(|line| features(line, ask.language)).collect();
    let share = separable_share(&own, &others);
    let distinctness = match share {
        share if share >= 0.8 => Distinctness::Extremely,
        share if share >= 0.65 => Distinctness::Very,
        share if share >= 0.55 => Distinctness::Somewhat,
        _ => Distinctness::Not,
    };
    let reason = match ask.language {
        Language::En => format!("By words alone, {:.0} of 100 pairs of lines are told apart rightly.", share * 100.0),
        Language::Zh => format!("单凭用字，一百对台词里分得对的有{:.0}对。", share * 100.0),
    };
    Grade { reason, distinctness }
}

/// Returns the features of a line: English words including function words; Chinese characters and character pairs.
fn features(line: &str, language: Language) -> Vec<String> {
    match language {
        Language::En => line
            .split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '’')))
            .filter(|word| !word.is_empty())
            .map(|word| word.replace('’', "'").to_lowercase())
            .collect(),
        Language::Zh => {
            let chars: Vec<char> = line.chars().filter(|c| is_han(*c)).collect();
            let pairs = chars.windows(2).map(|pair| pair.iter().collect());
            chars.iter().map(char::to_string).chain(pairs).collect()
        }
    }
}

/// Returns the share of pairs of an own and another line in which the own one scores higher; 0.5 means chance.
fn separable_share(own: &[Vec<String>], others: &[Vec<String>]) -> f64 {
    if own.len() < 2 || others.len() < 2 {
        return 0.5;
    }
    let (own_counts, other_counts) = (counts(own), counts(others));
    let total = |counts: &BTreeMap<&str, f64>| counts.values().sum::<f64>();
    let (own_total, other_total) = (total(&own_counts), total(&other_counts));
    let kinds = float(own_counts.len() + other_counts.len());
    let seems = |line: &[String], is_own: bool| -> f64 {
        let own_line: f64 = if is_own { float(line.len()) } else { 0.0 };
        let weigh = |word: &String| {
            let within = line.iter().filter(|other| *other == word).count();
            let count = |counts: &BTreeMap<&str, f64>, itself: bool| {
                let count = counts.get(word.as_str()).copied().unwrap_or(0.0);
                if itself { count - float(within) } else { count }
            };
            let here = (count(&own_counts, is_own) + 0.5) / (own_total - own_line + kinds / 2.0);
            let there =
                (count(&other_counts, !is_own) + 0.5) / (other_total - (float(line.len()) - own_line) + kinds / 2.0);
            (here / there).ln()
        };
        line.iter().map(weigh).sum::<f64>() / float(line.len().max(1))
    };
    let own: Vec<f64> = own.iter().map(|line| seems(line, true)).collect();
    let others: Vec<f64> = others.iter().map(|line| seems(line, false)).collect();
    let right: f64 = own
        .iter()
        .flat_map(|one| others.iter().map(move |other| one.total_cmp(other)))
        .map(|order| {
            if order.is_gt() {
                1.0
            } else if order.is_eq() {
                0.5
            } else {
                0.0
            }
        })
        .sum();
    right / float(own.len() * others.len())
}

fn counts(lines: &[Vec<String>]) -> BTreeMap<&str, f64> {
    let mut counts = BTreeMap::new();
    for word in lines.iter().flatten() {
        *counts.entry(word.as_str()).or_insert(0.0) += 1.0;
    }
    counts
}

/// Builds a description without names from the profile; without a profile, from what the role talks about.
pub(super) fn describe(ask: &DescribeRole) -> String {
    let names = ask.telling_names();
    let most = if ask.language == Language::Zh { LONGEST * 3 / 2 } else { LONGEST };
    let (mut parts, mut size): (Vec<String>, usize) = (Vec::new(), 0);
    for attribute in &ask.profile {
        for sentence in sentences(&attribute.value) {
            let sentence = with_subject(&without_names(sentence, &names, ask.language), ask.language);
            // Scenes repeat much of a profile.
            if parts.iter().any(|known| similarity(known, &sentence) >= SAME) {
                continue;
            }
            size += length(&sentence, ask.language);
            // A short value such as an age is written with its key.
            let is_bare = length(&sentence, ask.language) < 3;
            let sentence = match ask.language {
                _ if !is_bare => sentence,
                Language::En => format!("The character's {}: {}.", attribute.key, sentence.trim_end_matches('.')),
                Language::Zh => format!("{}：{}。", attribute.key, sentence.trim_end_matches('。')),
            };
            if size > most {
                break;
            }
            parts.push(closed(sentence, ask.language));
        }
    }
    if parts.is_empty() {
        let mut words: BTreeMap<String, u32> = BTreeMap::new();
        for word in ask.lines.iter().flat_map(|line| content_words(line)) {
            *words.entry(word).or_default() += 1;
        }
        let mut words: Vec<(String, u32)> = words.into_iter().collect();
        words.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let words: Vec<String> = words.into_iter().take(6).map(|(word, _)| word).collect();
        parts.push(without_names(
            &match ask.language {
                Language::En => format!("The character speaks in the book, most of all of {}.", words.join(", ")),
                Language::Zh => format!("这个人物在书里开口说话，说得最多的是{}。", words.join("、")),
            },
            &names,
            ask.language,
        ));
    }
    parts.join(if ask.language == Language::En { " " } else { "" })
}

/// Adds a final punctuation mark if there is none.
fn closed(sentence: String, language: Language) -> String {
    if !crate::text::is_truncated(&sentence) {
        return sentence;
    }
    let end = if language == Language::En { "." } else { "。" };
    format!("{}{end}", sentence.trim_end_matches(['，', ',', '；', ';', '：', ':']))
}

/// Converts a portrait to the second person.
pub(super) fn address(portrait: &str, language: Language) -> String {
    addressed(portrait, language)
}

/// Returns the phrases with the highest G².
pub(super) fn catchphrases(ask: &ChooseCatchphrases) -> Catchphrases {
    let most = usize::try_from(ask.most).unwrap_or(usize::MAX).min(3);
    let catchphrases: Vec<String> = ask.phrases.iter().take(most).map(|phrase| phrase.text.clone()).collect();
    let reason = match ask.language {
        Language::En => "Counted: said in the most turns beyond what others say.",
        Language::Zh => "数出来的：比旁人说得多出最多。",
    };
    Catchphrases { reason: reason.to_owned(), catchphrases }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    #[test]
    fn a_speech_style_with_its_own_words_is_distinct() {
        let pirate = lines(&[
            "Arr, me hearties, hoist it.",
            "Arr, the sea be ours.",
            "Me boat be swift, arr.",
            "It be me gold.",
        ]);
        let plain =
            lines(&["I will open the window.", "You are late again.", "I am sure of it.", "They will come home."]);
        let ask = |own: &[String], others: &[String]| GradeVoice {
            language: Language::En,
            name: "Ann".to_owned(),
            lines: own.to_vec(),
            others: others.to_vec(),
        };
        assert_eq!(grade(&ask(&pirate, &plain)).distinctness, Distinctness::Extremely);
        assert_eq!(grade(&ask(&plain, &plain)).distinctness, Distinctness::Not, "both speak alike");
        assert_eq!(grade(&ask(&pirate, &[])).distinctness, Distinctness::Not, "there is nothing to compare with");
    }
}
