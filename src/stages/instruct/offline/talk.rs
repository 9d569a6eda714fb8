//! What a role says to an instruction, offline: the plain answer, and around it what the role really says, the nearest to the
//! matter likelier than the rest; without a line of its own, what it knows of itself. Nothing is made up.

use rand::RngExt as _;
use rand::seq::IndexedRandom as _;
use rand_chacha::ChaCha8Rng;

use super::super::play::PlayRole;
use super::person::first;
use crate::schema::Language;
use crate::text::{content_words, plain, sentences, spoken};

/// How often a reply begins with a catchphrase, where the role has one.
const CATCHPHRASES: f64 = 0.3;
/// The most sentences of the plain answer: a longer one has its beginning said.
const MOST: usize = 4;

/// Replies.
pub(in super::super) fn play(ask: &PlayRole, rng: &mut ChaCha8Rng) -> String {
    let matter = content_words(&format!("{} {}", ask.instruction, ask.behind.answer));
    let told = first(&ask.description, ask.language);
    let mut own: Vec<&str> = ask.behind.sayings.iter().map(String::as_str).collect();
    if own.is_empty() {
        own = ask.examples.iter().flat_map(|example| sentences(spoken(&example.answer))).collect();
    }
    if own.is_empty() {
        own = of_itself(&told, ask.language);
    }
    let weighed: Vec<(usize, &str)> = own
        .into_iter()
        .map(|text| (1 + 3 * content_words(text).iter().filter(|word| matter.contains(word)).count(), text))
        .collect();
    let mut said: Vec<String> = Vec::new();
    for _ in 0..2 {
        if let Ok((_, text)) = weighed.choose_weighted(rng, |(weight, _)| *weight) {
            let text = ended(text, ask.language);
            if !said.contains(&text) {
                said.push(text);
            }
        }
    }
    let answer: Vec<String> =
        sentences(&ask.behind.answer).into_iter().take(MOST).map(|sentence| ended(sentence, ask.language)).collect();
    // Before the answer, after it, or on both sides of it; of a role that nothing is to be answered by, all that it says.
    let mut parts = match (answer.is_empty(), rng.random_range(0..3)) {
        (true, _) => said,
        (false, 0) => said.into_iter().take(1).chain(answer).collect(),
        (false, 1) => answer.into_iter().chain(said.into_iter().take(1)).collect::<Vec<String>>(),
        (false, _) => {
            let after = said.split_off(said.len().min(1));
            said.into_iter().chain(answer).chain(after).collect()
        }
    };
    if let Some(phrase) = ask.catchphrases.choose(rng)
        && !parts.iter().any(|part| plain(part).contains(&plain(phrase)))
        && rng.random_bool(CATCHPHRASES)
    {
        parts.insert(0, ended(phrase, ask.language));
    }
    if parts.is_empty() {
        parts.push(if ask.language == Language::En { "Hm." } else { "嗯。" }.to_owned());
    }
    parts.join(if ask.language == Language::En { " " } else { "" })
}

/// Returns what somebody can say of itself out of what is told of it: a look or a manner is told by others.
pub(super) fn of_itself(told: &str, language: Language) -> Vec<&str> {
    let own = |sentence: &&str| match language {
        Language::En => {
            let first = sentence.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
            matches!(first, Some("I" | "My")) && !sentence.contains(':')
        }
        Language::Zh => {
            sentence.split(['，', '；']).next().is_some_and(|clause| clause.contains('我')) && !sentence.contains('：')
        }
    };
    sentences(told).into_iter().filter(own).collect()
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
