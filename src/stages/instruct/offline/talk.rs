//! What a role says to an instruction, offline: an answer of its own out of the exchanges that the prompt shows, the nearest
//! likelier than the others; without any, what it knows of itself.

use rand::RngExt as _;
use rand::seq::IndexedRandom as _;
use rand_chacha::ChaCha8Rng;

use super::super::play::PlayRole;
use super::person::first;
use crate::schema::Language;
use crate::text::{content_words, sentences, spoken};

/// How often a reply begins with a catchphrase, where the role has one.
const CATCHPHRASES: f64 = 0.3;
/// The most sentences of a reply.
const MOST: usize = 3;

/// Replies.
pub(in super::super) fn play(ask: &PlayRole, rng: &mut ChaCha8Rng) -> String {
    let wanted = content_words(&ask.instruction);
    let shared = |text: &str| content_words(text).iter().filter(|word| wanted.contains(word)).count();
    let told = first(&ask.description, ask.language);
    let own: Vec<String> = if ask.examples.is_empty() {
        sentences(&told).into_iter().map(str::to_owned).collect()
    } else {
        ask.examples.iter().map(|example| spoken(&example.answer).to_owned()).collect()
    };
    let own: Vec<(usize, &String)> =
        own.iter().filter(|text| !text.is_empty()).map(|text| (1 + 2 * shared(text), text)).collect();
    let chosen = own.choose_weighted(rng, |(weight, _)| *weight).ok().map(|(_, text)| (*text).clone());
    let mut parts: Vec<String> = Vec::new();
    let body = chosen.unwrap_or_default();
    if let Some(phrase) = ask.catchphrases.choose(rng)
        && !body.contains(phrase.as_str())
        && rng.random_bool(CATCHPHRASES)
    {
        parts.push(ended(phrase, ask.language));
    }
    parts.extend(sentences(&body).into_iter().take(MOST).map(|sentence| ended(sentence, ask.language)));
    if parts.is_empty() {
        parts.push(if ask.language == Language::En { "Hm." } else { "嗯。" }.to_owned());
    }
    parts.join(if ask.language == Language::En { " " } else { "" })
}

/// Returns a sentence with a capital and a final mark.
pub(super) fn ended(sentence: &str, language: Language) -> String {
    let mut chars = sentence.trim().chars();
    let mut text: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
    text.push_str(chars.as_str());
    if crate::text::is_cut(&text) {
        text = text.trim_end_matches([',', '，', ';', '；', ':', '：', '、']).to_owned();
        text.push_str(if language == Language::En { "." } else { "。" });
    }
    text
}
