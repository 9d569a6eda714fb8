//! Repetition checks: what has been said in a conversation, ignoring punctuation and case.

use std::collections::HashMap;

use super::markup::speech;
use super::writing_system;
use crate::text::{is_closing_quote, sentences};

/// Minimum weight of a sentence that a speaker does not repeat: 6 words or 8 Chinese characters.
const LONG: usize = 16;

/// Minimum weight of a sentence that a speaker does not repeat after another speaker: 11 words or 16 Chinese
/// characters. Set phrases are shorter.
const LONG_FOR_OTHERS: usize = 32;

/// Minimum weight of an utterance that its speaker does not repeat as a whole: 4 words or 5 Chinese characters. Shorter
/// ones, such as `Yes.` or `我知道。`, may occur twice in twenty turns; the third time counts as a repetition.
const SHORT: usize = 10;

/// Index of what has been said in a conversation.
#[derive(Debug, Default)]
pub(crate) struct RepetitionIndex {
    /// For each long sentence, its speakers, each with the number of the last turn in which they said it.
    sentences: HashMap<String, Vec<(String, usize)>>,
    /// Number of turns so far.
    lines: usize,
    /// How often each speaker has said each whole utterance.
    utterances: HashMap<String, u32>,
}

impl RepetitionIndex {
    /// Adds a turn.
    pub(crate) fn add(&mut self, speaker: &str, content: &str) {
        self.lines += 1;
        for sentence in long_sentences(content) {
            let speakers = self.sentences.entry(sentence).or_default();
            speakers.retain(|(who, _)| who != speaker);
            speakers.push((speaker.to_owned(), self.lines));
        }
        *self.utterances.entry(utterance(speaker, content).1).or_default() += 1;
    }

    /// Returns whether a reply repeats a long sentence of its speaker, a longer sentence of anyone, or a whole
    /// utterance of its speaker. Asking back what was said in the previous turn is not a repetition.
    pub(crate) fn has(&self, speaker: &str, text: &str) -> bool {
        if self.utterances.is_empty() {
            return false;
        }
        let (weight, utterance) = utterance(speaker, text);
        let allowed_times = if weight < SHORT { 2 } else { 1 };
        self.utterances.get(&utterance).is_some_and(|times| *times >= allowed_times)
            || sentences(&speech(text)).into_iter().any(|sentence| self.has_sentence(speaker, sentence))
    }

    fn has_sentence(&self, speaker: &str, sentence: &str) -> bool {
        let normalized = normalized(sentence);
        let speakers = self.sentences.get(&normalized).map(Vec::as_slice).unwrap_or_default();
        let asks = sentence.trim_end_matches(|c: char| is_closing_quote(c) || c == '\'').ends_with(['?', '？']);
        let counts_for_others = writing_system::weight(&normalized) >= LONG_FOR_OTHERS;
        speakers.iter().any(|(who, line)| who == speaker || (counts_for_others && !(asks && *line == self.lines)))
    }
}

/// Returns the normalized sentences of a text that are long enough to count as repetitions.
pub(crate) fn long_sentences(text: &str) -> Vec<String> {
    let speech = speech(text);
    sentences(&speech).into_iter().map(normalized).filter(|sentence| is_long(sentence)).collect()
}

/// Returns whether a normalized sentence is long enough to count as a repetition.
pub(crate) fn is_long(normalized: &str) -> bool {
    writing_system::weight(normalized) >= LONG
}

/// Returns the weight of an utterance and its key (speaker and normalized text). Without speech, the action is used.
fn utterance(speaker: &str, text: &str) -> (usize, String) {
    let speech = normalized(&speech(text));
    let key = if speech.is_empty() { normalized(text) } else { speech };
    (writing_system::weight(&key), format!("{speaker}\n{key}"))
}

/// Normalizes a sentence to letters and digits in lower case, with single spaces between words.
pub(crate) fn normalized(sentence: &str) -> String {
    let mut normalized = String::new();
    for c in sentence.chars() {
        match c {
            _ if c.is_alphanumeric() => normalized.extend(c.to_lowercase()),
            _ if matches!(c, '\'' | '’') || normalized.ends_with(' ') || normalized.is_empty() => {}
            _ => normalized.push(' '),
        }
    }
    normalized.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_sentence_is_not_repeated_by_its_speaker() {
        let mut index = RepetitionIndex::default();
        index.add("Bob", "(sits) The bridge was gone before the rain came. Yes.");
        index.add("薛嵩", "(坐下) 雨还没来，桥就已经断了。好。");
        for (speaker, text, repeats) in [
            ("Bob", "(stands) The bridge was gone, before the rain came!", true),
            ("Bob", "The bridge was gone before the rain came?", true),
            ("Bob", "The bridge was gone before the rain.", false),
            ("Bob", "Yes.", false),
            ("Ann", "The bridge was gone before the rain came.", false),
            ("薛嵩", "雨还没来，桥就已经断了！", true),
            ("薛嵩", "好。", false),
            ("红线", "雨还没来，桥就已经断了！", false),
        ] {
            assert_eq!(index.has(speaker, text), repeats, "{speaker}: {text}");
        }
    }

    #[test]
    fn another_speaker_may_repeat_a_long_sentence_only_as_a_question() {
        for (text, back) in [
            (
                "The bridge was gone before the rain came, and the boat went with it.",
                "(frowns) The bridge was gone before the rain came, and the boat went with it?",
            ),
            ("雨还没来，桥就已经断了，船也跟着水走了。", "(皱眉) “雨还没来，桥就已经断了，船也跟着水走了？”"),
        ] {
            let mut index = RepetitionIndex::default();
            index.add("Bob", text);
            assert!(index.has("Ann", text) && !index.has("Ann", back) && index.has("Bob", back), "{text}");
            index.add("Cid", "So.");
            assert!(index.has("Ann", back), "it was not said in the previous turn: {text}");
        }
        for phrase in ["I don't know what you mean.", "我不知道你在说什么。"] {
            let mut index = RepetitionIndex::default();
            index.add("Bob", phrase);
            assert!(!index.has("Ann", phrase) && index.has("Bob", phrase), "{phrase}");
        }
    }

    #[test]
    fn short_replies_may_be_repeated_more_often() {
        for (text, again, allowed_times) in [
            ("Yes, I know that.", "(nods) Yes — I know that!", 1),
            ("Yes.", "(sighs) Yes!", 2),
            ("I don't know.", "I don’t know…", 2),
            ("(nods)", "(nods)", 2),
            ("是的，我知道。", "(点头) 是的，我知道！", 1),
            ("是。", "(叹气) 是！", 2),
            ("我知道。", "我知道……", 2),
        ] {
            let mut index = RepetitionIndex::default();
            for time in 0..4 {
                assert_eq!(index.has("Ann", again), time >= allowed_times, "{text} {time}");
                index.add("Ann", text);
            }
            assert!(!index.has("Bob", again), "{text}: another speaker may say the same");
        }
        let mut index = RepetitionIndex::default();
        index.add("Ann", "Yes, I know that.");
        assert!(!index.has("Ann", "Yes, I know that. He told me."), "the second utterance says more");
    }
}
