//! Offline replies to an instruction: the plain answer, surrounded by real sentences of the role, with similar ones
//! preferred; if it has none, sentences of its description. Nothing is made up.

use rand::RngExt as _;
use rand::seq::IndexedRandom as _;
use rand_chacha::ChaCha8Rng;

use super::person::first;
use crate::schema::Language;
use crate::stages::instruct::PlayRole;
use crate::text::{content_words, letters_and_digits, sentences, spoken};

/// The probability that a reply begins with a catchphrase, if the role has any.
const CATCHPHRASES: f64 = 0.3;
/// The maximum number of sentences of the plain answer; the rest is cut.
const MAX_ANSWER_SENTENCES: usize = 4;

/// Builds a reply.
pub(super) fn play(ask: &PlayRole, rng: &mut ChaCha8Rng) -> String {
    let topic_words = content_words(&format!("{} {}", ask.instruction, ask.material.answer));
    let description = first(&ask.description, ask.language);
    let mut own: Vec<&str> = ask.material.sayings.iter().map(String::as_str).collect();
    if own.is_empty() {
        own = ask.examples.iter().flat_map(|example| sentences(spoken(&example.answer))).collect();
    }
    if own.is_empty() {
        own = self_statements(&description, ask.language);
    }
    let weighed: Vec<(usize, &str)> = own
        .into_iter()
        .map(|text| (1 + 3 * content_words(text).iter().filter(|word| topic_words.contains(word)).count(), text))
        .collect();
    let mut role_sentences: Vec<String> = Vec::new();
    for _ in 0..2 {
        if let Ok((_, text)) = weighed.choose_weighted(rng, |(weight, _)| *weight) {
            let text = with_final_punctuation(text, ask.language);
            if !role_sentences.contains(&text) {
                role_sentences.push(text);
            }
        }
    }
    let answer: Vec<String> = sentences(&ask.material.answer)
        .into_iter()
        .take(MAX_ANSWER_SENTENCES)
        .map(|sentence| with_final_punctuation(sentence, ask.language))
        .collect();
    // Sentences go before the answer, after it, or on both sides; without an answer all are used.
    let mut parts = match (answer.is_empty(), rng.random_range(0..3)) {
        (true, _) => role_sentences,
        (false, 0) => role_sentences.into_iter().take(1).chain(answer).collect(),
        (false, 1) => answer.into_iter().chain(role_sentences.into_iter().take(1)).collect::<Vec<String>>(),
        (false, _) => {
            let after = role_sentences.split_off(role_sentences.len().min(1));
            role_sentences.into_iter().chain(answer).chain(after).collect()
        }
    };
    if let Some(phrase) = ask.catchphrases.choose(rng)
        && !parts.iter().any(|part| letters_and_digits(part).contains(&letters_and_digits(phrase)))
        && rng.random_bool(CATCHPHRASES)
    {
        parts.insert(0, with_final_punctuation(phrase, ask.language));
    }
    if parts.is_empty() {
        parts.push(if ask.language == Language::En { "Hm." } else { "嗯。" }.to_owned());
    }
    parts.join(if ask.language == Language::En { " " } else { "" })
}

/// Returns the sentences of a description that a person can say about itself; looks and manners are described by
/// others.
pub(super) fn self_statements(description: &str, language: Language) -> Vec<&str> {
    let own = |sentence: &&str| match language {
        Language::En => {
            let first = sentence.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
            matches!(first, Some("I" | "My")) && !sentence.contains(':')
        }
        Language::Zh => {
            sentence.split(['，', '；']).next().is_some_and(|clause| clause.contains('我')) && !sentence.contains('：')
        }
    };
    sentences(description).into_iter().filter(own).collect()
}

/// Returns a sentence with an initial capital and final punctuation.
pub(super) fn with_final_punctuation(sentence: &str, language: Language) -> String {
    let mut chars = sentence.trim().chars();
    let mut text: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
    text.push_str(chars.as_str());
    if crate::text::is_truncated(&text) {
        text = text.trim_end_matches([',', '，', ';', '；', ':', '：', '、']).to_owned();
        text.push_str(if language == Language::En { "." } else { "。" });
    }
    text
}
