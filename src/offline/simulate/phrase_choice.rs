//! Chooses a generic phrase that was not used in the conversation yet.

use rand::seq::IndexedRandom as _;
use rand_chacha::ChaCha8Rng;

use super::conversation::ConversationView;
use super::phrases::Slots;
use crate::text::{letters_and_digits, sentences};

/// Picks a phrase that can be filled, has at most `most` sentences and was not used in this conversation.
///
/// Phrases with a topic have five times the weight, since they respond to the conversation.
pub(super) fn pick(
    pool: &[String],
    slots: &Slots,
    most: usize,
    conversation: &ConversationView<'_>,
    rng: &mut ChaCha8Rng,
) -> Option<String> {
    let fresh: Vec<(String, f64)> = pool
        .iter()
        .filter_map(|frame| Some((frame, slots.fill(frame, conversation.language)?)))
        .filter(|(frame, text)| {
            sentences(text).len() <= most
                && !conversation.contains_phrase(literal(frame))
                && !conversation.is_repeated(text)
        })
        .map(|(frame, text)| (text, if frame.contains("{topic}") { 5.0 } else { 1.0 }))
        .collect();
    fresh.choose_weighted(rng, |(_, weight)| *weight).ok().map(|(text, _)| text.clone())
}

/// Returns the phrase least similar to any utterance, for use when all phrases have been used.
pub(super) fn least_similar(
    pool: &[String],
    slots: &Slots,
    most: usize,
    conversation: &ConversationView<'_>,
) -> Option<String> {
    pool.iter()
        .filter_map(|frame| slots.fill(frame, conversation.language))
        .filter(|text| sentences(text).len() <= most)
        .min_by(|a, b| conversation.max_similarity(a).total_cmp(&conversation.max_similarity(b)))
}

/// Returns the longest part of a phrase between slots.
fn literal(frame: &str) -> &str {
    frame.split(['{', '}']).step_by(2).max_by_key(|part| letters_and_digits(part).chars().count()).unwrap_or_default()
}
