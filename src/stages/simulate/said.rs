//! What has been said in a conversation, marks and case aside, and whether a reply says it again. Pure.

use std::collections::{HashMap, HashSet};

use super::marks::speech;
use super::script;
use crate::text::sentences;

/// The least weight of a sentence that nobody says twice: six words or eight Chinese characters.
const LONG: usize = 16;

/// The least weight of an utterance that its speaker says once: four words or five Chinese characters. Anything shorter, `Yes.`
/// or `我知道。`, is said a second time by anybody in twenty turns; a third time it is a tic.
const SHORT: usize = 10;

/// What has been said in a conversation.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// The sentences of some length.
    sentences: HashSet<String>,
    /// How often each speaker has said what as a whole.
    utterances: HashMap<String, u32>,
}

impl Said {
    /// Adds what a line says.
    pub(super) fn add(&mut self, speaker: &str, content: &str) {
        self.sentences.extend(long_sentences(content));
        *self.utterances.entry(utterance(speaker, content).1).or_default() += 1;
    }

    /// Says whether a reply repeats: a long sentence that anybody has said, or the whole of what its speaker has said.
    pub(super) fn has(&self, speaker: &str, text: &str) -> bool {
        if self.utterances.is_empty() {
            return false;
        }
        let (weight, utterance) = utterance(speaker, text);
        let most = if weight < SHORT { 2 } else { 1 };
        self.utterances.get(&utterance).is_some_and(|times| *times >= most)
            || long_sentences(text).iter().any(|sentence| self.sentences.contains(sentence))
    }
}

/// Returns the sentences of a text that nobody says twice.
pub(super) fn long_sentences(text: &str) -> Vec<String> {
    let speech = speech(text);
    sentences(&speech).into_iter().map(plain).filter(|sentence| is_long(sentence)).collect()
}

/// Says whether a plain sentence is one that nobody says twice.
pub(super) fn is_long(plain: &str) -> bool {
    script::weight(plain) >= LONG
}

/// Returns the weight of an utterance, and it under its speaker. One without speech is its action.
fn utterance(speaker: &str, text: &str) -> (usize, String) {
    let said = plain(&speech(text));
    let said = if said.is_empty() { plain(text) } else { said };
    (script::weight(&said), format!("{speaker}\n{said}"))
}

/// Returns the letters and digits of a sentence in lower case, with single spaces between words.
pub(super) fn plain(sentence: &str) -> String {
    let mut plain = String::new();
    for c in sentence.chars() {
        match c {
            _ if c.is_alphanumeric() => plain.extend(c.to_lowercase()),
            _ if matches!(c, '\'' | '’') || plain.ends_with(' ') || plain.is_empty() => {}
            _ => plain.push(' '),
        }
    }
    plain.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_sentence_is_not_said_twice() {
        let mut said = Said::default();
        said.add("Bob", "(sits) The bridge was gone before the rain came. Yes.");
        said.add("薛嵩", "(坐下) 雨还没来，桥就已经断了。好。");
        for (text, repeats) in [
            ("(stands) The bridge was gone, before the rain came!", true),
            ("The bridge was gone before the rain.", false),
            ("Yes.", false),
            ("雨还没来，桥就已经断了！", true),
            ("好。", false),
        ] {
            assert_eq!(said.has("Ann", text), repeats, "{text}");
        }
    }

    #[test]
    fn a_speaker_says_a_thing_as_a_whole_as_often_as_people_do() {
        for (text, again, most) in [
            ("Yes, I know that.", "(nods) Yes — I know that!", 1),
            ("Yes.", "(sighs) Yes!", 2),
            ("I don't know.", "I don’t know…", 2),
            ("(nods)", "(nods)", 2),
            ("是的，我知道。", "(点头) 是的，我知道！", 1),
            ("是。", "(叹气) 是！", 2),
            ("我知道。", "我知道……", 2),
        ] {
            let mut said = Said::default();
            for time in 0..4 {
                assert_eq!(said.has("Ann", again), time >= most, "{text} {time}");
                said.add("Ann", text);
            }
            assert!(!said.has("Bob", again), "{text}: another may say the same");
        }
        let mut said = Said::default();
        said.add("Ann", "Yes, I know that.");
        assert!(!said.has("Ann", "Yes, I know that. He told me."), "more is said");
    }
}
