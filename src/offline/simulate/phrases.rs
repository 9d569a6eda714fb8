//! Generic phrases that precede or follow an utterance, or replace it if a speaker's own utterances are used up.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::Deserialize;

use super::question_kinds::says;
use crate::schema::{ByLanguage, Language};
use crate::text::{letters_and_digits, topics};

static FRAMES: LazyLock<ByLanguage<Phrases>> =
    LazyLock::new(|| ByLanguage { en: embedded_toml!("phrases.en.toml"), zh: embedded_toml!("phrases.zh.toml") });

/// Nouns that occur in the phrases themselves.
static NAMED: LazyLock<ByLanguage<BTreeSet<String>>> =
    LazyLock::new(|| ByLanguage { en: FRAMES.en.named(Language::En), zh: FRAMES.zh.named(Language::Zh) });

/// Normalized beginning and end of each phrase that can replace an utterance.
static REPLACEMENTS: LazyLock<ByLanguage<Vec<(String, String)>>> =
    LazyLock::new(|| ByLanguage { en: FRAMES.en.replacements(Language::En), zh: FRAMES.zh.replacements(Language::Zh) });

/// The phrases of a language. A phrase is one or two complete sentences with slots.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Phrases {
    /// Short phrases that refer to a thing just mentioned.
    pub(super) echo: Vec<String>,
    /// Transitions from the previous utterance, by its speech act, to an utterance that does not respond to it.
    pub(super) bridge: Bridge,
    /// Phrases that replace an utterance.
    pub(super) compose: Compose,
    /// Phrases that show a dimension, by its code.
    pub(super) strategy: BTreeMap<String, Vec<String>>,
    /// Phrases that elicit a dimension, by its code.
    pub(super) elicit: BTreeMap<String, Vec<String>>,
    /// Phrases that elicit a dimension from a character who has not spoken yet; codes not listed here use `elicit`.
    pub(super) opening: BTreeMap<String, Vec<String>>,
    /// Actions.
    pub(super) action: Action,
    /// Reasons of the director, by key.
    pub(super) director: BTreeMap<String, String>,
    /// Sentences of a rating, by field of the answer.
    pub(super) rating: BTreeMap<String, String>,
}

impl Phrases {
    fn replacements(&self, language: Language) -> Vec<(String, String)> {
        let compose = &self.compose;
        let phrases = [&compose.question, &compose.statement, &compose.motive].into_iter().flatten();
        let ends = |frame: &String| {
            let head = frame.split('{').next().unwrap_or_default();
            let tail = frame.rsplit('}').next().unwrap_or_default();
            if head.len() == frame.len() {
                (letters_and_digits(frame), String::new())
            } else {
                (letters_and_digits(head), letters_and_digits(tail))
            }
        };
        phrases.map(ends).chain(says(language).map(ends)).filter(|(head, tail)| head.len() + tail.len() > 5).collect()
    }

    fn named(&self, language: Language) -> BTreeSet<String> {
        let bridge = &self.bridge;
        let lists = [&self.echo, &bridge.statement, &bridge.anger]
            .into_iter()
            .chain([&bridge.farewell, &bridge.thanks, &bridge.greeting])
            .chain([&self.compose.question, &self.compose.statement, &self.compose.motive]);
        let says: Vec<&String> = says(language).collect();
        let pools = self.strategy.values().chain(self.elicit.values()).chain(self.opening.values());
        // Slots are filled from the conversation, so only the text between them counts.
        let literals = |frame: &str| frame.split(['{', '}']).step_by(2).map(str::to_owned).collect::<Vec<_>>();
        lists
            .chain(pools)
            .flatten()
            .chain(says)
            .flat_map(|frame| literals(frame))
            .flat_map(|literal| topics(&literal, language))
            .map(|topic| topic.noun)
            .collect()
    }
}

/// Transitions by the speech act of the previous utterance.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Bridge {
    pub(super) statement: Vec<String>,
    pub(super) anger: Vec<String>,
    pub(super) farewell: Vec<String>,
    pub(super) thanks: Vec<String>,
    pub(super) greeting: Vec<String>,
}

/// Phrases that are complete replies.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Compose {
    pub(super) question: Vec<String>,
    pub(super) statement: Vec<String>,
    pub(super) motive: Vec<String>,
}

/// Actions by mood.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Action {
    pub(super) question: Vec<String>,
    pub(super) anger: Vec<String>,
    pub(super) warm: Vec<String>,
    pub(super) any: Vec<String>,
}

/// Returns the phrases of a language.
pub(super) fn frames(language: Language) -> &'static Phrases {
    FRAMES.get(language)
}

/// Returns whether a noun occurs in the phrases themselves, such as `law` in `there is a law for it`. Such nouns are
/// not used as topics.
pub(super) fn is_named(noun: &str, language: Language) -> bool {
    NAMED.get(language).contains(noun)
}

/// Values of the slots.
#[derive(Debug, Clone, Default)]
pub(super) struct Slots {
    pub(super) topic: Option<String>,
    pub(super) own: Option<String>,
    pub(super) name: Option<String>,
}

impl Slots {
    /// Fills the slots of a phrase. None if it has a slot without a value.
    pub(super) fn fill(&self, frame: &str, language: Language) -> Option<String> {
        let mut text = frame.to_owned();
        for (slot, filling) in [("{topic}", &self.topic), ("{own}", &self.own), ("{name}", &self.name)] {
            if text.contains(slot) {
                text = text.replace(slot, filling.as_ref()?);
            }
        }
        Some(if language == Language::En { capitals(&text).replace('\'', "’") } else { text })
    }
}

/// Capitalizes the first letter of each sentence.
pub(super) fn capitals(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut begins = true;
    for c in text.chars() {
        if begins && c.is_alphanumeric() {
            result.extend(c.to_uppercase());
            begins = false;
        } else {
            result.push(c);
        }
    }
    result
}

/// Returns whether a sentence is one of the phrases that replace an utterance.
pub(super) fn is_generic(sentence: &str, language: Language) -> bool {
    let plain = letters_and_digits(sentence);
    let is = |(head, tail): &(String, String)| {
        plain.len() >= head.len() + tail.len() && plain.starts_with(head.as_str()) && plain.ends_with(tail.as_str())
    };
    REPLACEMENTS.get(language).iter().any(is)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{SpeechMarker, asks, count_speech_markers, sentences};

    #[test]
    fn every_phrase_table_has_frames_that_can_be_filled() {
        let slots = Slots { topic: Some("the bell".into()), own: Some("the river".into()), name: Some("Wick".into()) };
        for language in Language::ALL {
            let frames = frames(language);
            let composed = frames.compose.question.len() + frames.compose.statement.len();
            assert!(composed >= 30, "{language}: {composed} composed frames");
            let action = &frames.action;
            assert!(action.question.len() + action.anger.len() + action.warm.len() + action.any.len() >= 30);
            for code in ["CR", "FR", "RR", "CA", "PA"] {
                assert!(frames.elicit[code].len() >= 8, "{language} {code}");
                assert!(frames.elicit[code].iter().all(|frame| frame.contains("{name}")), "{language} {code}");
                assert!(frames.strategy[code].len() >= 8, "{language} {code}");
            }
            let bridge = &frames.bridge;
            let all = [&frames.echo, &bridge.statement, &bridge.anger]
                .into_iter()
                .chain([&bridge.farewell, &bridge.thanks, &bridge.greeting])
                .chain([&frames.compose.question, &frames.compose.statement, &frames.compose.motive])
                .chain(frames.strategy.values())
                .chain(frames.elicit.values())
                .chain(frames.opening.values());
            for frame in all.flatten() {
                let text = slots.fill(frame, language).expect("every slot has a value");
                assert!(!text.contains(['{', '}']), "{text}");
                assert!(text.ends_with(['.', '?', '!', '。', '？', '！', '…']), "{text}");
                assert!((1..=2).contains(&sentences(&text).len()), "{text}");
            }
        }
    }

    #[test]
    fn phrases_contain_the_markers_of_their_dimension() {
        let missing =
            |language, pool: &BTreeMap<String, Vec<String>>, code: &str, shows: SpeechMarker| -> Vec<String> {
                pool[code].iter().filter(|frame| count_speech_markers(frame, language, shows) == 0).cloned().collect()
            };
        for language in Language::ALL {
            let frames = frames(language);
            for (code, shown, drawn) in [
                ("FR", SpeechMarker::Fact, SpeechMarker::World),
                ("RR", SpeechMarker::Reason, SpeechMarker::Why),
                ("PA", SpeechMarker::Feeling, SpeechMarker::Feeling),
                ("CR", SpeechMarker::Recall, SpeechMarker::Recall),
            ] {
                let none: Vec<String> = vec![];
                assert_eq!(missing(language, &frames.strategy, code, shown), none, "{language} {code}");
                assert_eq!(missing(language, &frames.elicit, code, drawn), none, "{language} {code}");
            }
            assert!(frames.strategy["CA"].iter().all(|frame| asks(frame) || frame.contains("{name}")));
        }
    }

    #[test]
    fn nouns_used_by_the_phrases_are_recognized() {
        assert!(is_named("law", Language::En) && !is_named("bell", Language::En));
        // The phrases name some nouns, but few, so that most topics of a conversation remain usable.
        for language in Language::ALL {
            let named = NAMED.get(language);
            assert!((1..80).contains(&named.len()), "{language}: {named:?}");
        }
    }

    #[test]
    fn generated_phrases_differ_from_book_lines() {
        for (language, sentence, expected) in [
            (Language::En, "Tell me more about the tower book.", true),
            (Language::En, "Nobody told me about the lamp.", true),
            (Language::En, "The lamp is out, and nobody told me.", false),
            (Language::Zh, "账册是怎么回事？", true),
            (Language::Zh, "我若知道就好了。", true),
            (Language::Zh, "账册在柜子里。", false),
        ] {
            assert_eq!(is_generic(sentence, language), expected, "{sentence}");
        }
    }

    #[test]
    fn a_frame_that_cannot_be_filled_is_not_used() {
        let slots = Slots { topic: Some("the bell".into()), ..Slots::default() };
        assert_eq!(slots.fill("{topic}, then.", Language::En).as_deref(), Some("The bell, then."));
        assert_eq!(slots.fill("And you, {name}?", Language::En), None);
    }
}
