//! Phrases that lead into a line, follow it, or stand in when a speaker's own lines run out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use rand::seq::IndexedRandom as _;
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;

use super::answers::says;
use super::talk::Talk;
use crate::schema::{ByLanguage, Language};
use crate::text::{plain, sentences, topics};

static FRAMES: LazyLock<ByLanguage<Frames>> = LazyLock::new(|| ByLanguage {
    en: toml::from_str(include_str!("frames.en.toml")).expect("the embedded English frames parse"),
    zh: toml::from_str(include_str!("frames.zh.toml")).expect("the embedded Chinese frames parse"),
});

/// The things that the phrases themselves name.
static NAMED: LazyLock<ByLanguage<BTreeSet<String>>> =
    LazyLock::new(|| ByLanguage { en: FRAMES.en.named(Language::En), zh: FRAMES.zh.named(Language::Zh) });

/// What the phrases that stand in for a line begin and end with, as texts are compared.
static STAND_INS: LazyLock<ByLanguage<Vec<(String, String)>>> =
    LazyLock::new(|| ByLanguage { en: FRAMES.en.stand_ins(Language::En), zh: FRAMES.zh.stand_ins(Language::Zh) });

/// The phrases of a language. A phrase is one or two whole sentences with slots.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Frames {
    /// Takes up a thing in a few words.
    pub(super) echo: Vec<String>,
    /// Leads from the last line, by what it does, into a line that does not answer it by itself.
    pub(super) bridge: Bridge,
    /// Stands in for a line of one's own.
    pub(super) compose: Compose,
    /// By code of a dimension: shows that dimension.
    pub(super) strategy: BTreeMap<String, Vec<String>>,
    /// By code of a dimension: draws it out of somebody.
    pub(super) elicit: BTreeMap<String, Vec<String>>,
    /// The same for somebody who has not spoken yet; a code without frames here has the same ones from the start.
    pub(super) opening: BTreeMap<String, Vec<String>>,
    /// What people do while they speak.
    pub(super) action: Action,
    /// Reasons of the director.
    pub(super) director: BTreeMap<String, String>,
    /// Sentences of a rating.
    pub(super) rating: BTreeMap<String, String>,
}

impl Frames {
    fn stand_ins(&self, language: Language) -> Vec<(String, String)> {
        let compose = &self.compose;
        let phrases = [&compose.question, &compose.statement, &compose.motive].into_iter().flatten();
        let ends = |frame: &String| {
            let head = frame.split('{').next().unwrap_or_default();
            let tail = frame.rsplit('}').next().unwrap_or_default();
            if head.len() == frame.len() { (plain(frame), String::new()) } else { (plain(head), plain(tail)) }
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
        // What fills a slot is the talk's own.
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

/// Phrases by what they react to.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Bridge {
    pub(super) statement: Vec<String>,
    pub(super) anger: Vec<String>,
    pub(super) farewell: Vec<String>,
    pub(super) thanks: Vec<String>,
    pub(super) greeting: Vec<String>,
}

/// Phrases that are replies by themselves.
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
pub(super) fn frames(language: Language) -> &'static Frames {
    FRAMES.get(language)
}

/// Whether a thing is named by the phrases themselves, as `law` by `there is a law for it`: nobody takes that up.
pub(super) fn is_named(noun: &str, language: Language) -> bool {
    NAMED.get(language).contains(noun)
}

/// What stands in the slots.
#[derive(Debug, Clone, Default)]
pub(super) struct Slots {
    pub(super) topic: Option<String>,
    pub(super) own: Option<String>,
    pub(super) name: Option<String>,
}

impl Slots {
    /// Fills a frame; nothing when a slot has no filling.
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

/// Begins each sentence with a capital.
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

/// Picks a phrase that can be filled, was not heard in this talk and has at most so many sentences.
///
/// Phrases that take up a topic are five times as likely, since they answer what was said.
pub(super) fn pick(
    pool: &[String],
    slots: &Slots,
    most: usize,
    talk: &Talk<'_>,
    rng: &mut ChaCha8Rng,
) -> Option<String> {
    let fresh: Vec<(String, f64)> = pool
        .iter()
        .filter_map(|frame| Some((frame, slots.fill(frame, talk.language)?)))
        .filter(|(frame, text)| sentences(text).len() <= most && !talk.has(literal(frame)) && !talk.is_said(text))
        .map(|(frame, text)| (text, if frame.contains("{topic}") { 5.0 } else { 1.0 }))
        .collect();
    fresh.choose_weighted(rng, |(_, weight)| *weight).ok().map(|(text, _)| text.clone())
}

/// Returns the pool's phrase that is least like anything said, for when all were heard.
pub(super) fn least_said(pool: &[String], slots: &Slots, most: usize, talk: &Talk<'_>) -> Option<String> {
    pool.iter()
        .filter_map(|frame| slots.fill(frame, talk.language))
        .filter(|text| sentences(text).len() <= most)
        .min_by(|a, b| talk.nearest(a).total_cmp(&talk.nearest(b)))
}

/// Whether a sentence is one of the phrases that stand in when nobody has a line left.
pub(super) fn stands_in(sentence: &str, language: Language) -> bool {
    let plain = plain(sentence);
    let is = |(head, tail): &(String, String)| {
        plain.len() >= head.len() + tail.len() && plain.starts_with(head.as_str()) && plain.ends_with(tail.as_str())
    };
    STAND_INS.get(language).iter().any(is)
}

/// Returns the longest stretch of a frame that no slot changes.
fn literal(frame: &str) -> &str {
    frame.split(['{', '}']).step_by(2).max_by_key(|part| plain(part).chars().count()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Sign, asks, signs};

    #[test]
    fn tables_are_full_and_every_frame_can_be_filled() {
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
                let text = slots.fill(frame, language).expect("every slot is known");
                assert!(!text.contains(['{', '}']), "{text}");
                assert!(text.ends_with(['.', '?', '!', '。', '？', '！', '…']), "{text}");
                assert!((1..=2).contains(&sentences(&text).len()), "{text}");
            }
        }
    }

    #[test]
    fn frames_show_the_signs_of_their_dimension() {
        let missing = |language, pool: &BTreeMap<String, Vec<String>>, code: &str, shows: Sign| -> Vec<String> {
            pool[code].iter().filter(|frame| signs(frame, language, shows) == 0).cloned().collect()
        };
        for language in Language::ALL {
            let frames = frames(language);
            for (code, shown, drawn) in [
                ("FR", Sign::Fact, Sign::World),
                ("RR", Sign::Reason, Sign::Why),
                ("PA", Sign::Feeling, Sign::Feeling),
                ("CR", Sign::Recall, Sign::Recall),
            ] {
                let none: Vec<String> = vec![];
                assert_eq!(missing(language, &frames.strategy, code, shown), none, "{language} {code}");
                assert_eq!(missing(language, &frames.elicit, code, drawn), none, "{language} {code}");
            }
            assert!(frames.strategy["CA"].iter().all(|frame| asks(frame) || frame.contains("{name}")));
        }
    }

    #[test]
    fn what_the_phrases_name_themselves_is_told_apart() {
        assert!(is_named("law", Language::En) && !is_named("bell", Language::En));
        // The tables hold things of their own, and few: what talks are about must stay.
        for language in Language::ALL {
            let named = NAMED.get(language);
            assert!((1..80).contains(&named.len()), "{language}: {named:?}");
        }
    }

    #[test]
    fn phrases_that_stand_in_are_told_from_lines() {
        for (language, sentence, expected) in [
            (Language::En, "Tell me more about the tower book.", true),
            (Language::En, "Nobody told me about the lamp.", true),
            (Language::En, "The lamp is out, and nobody told me.", false),
            (Language::Zh, "账册是怎么回事？", true),
            (Language::Zh, "我若知道就好了。", true),
            (Language::Zh, "账册在柜子里。", false),
        ] {
            assert_eq!(stands_in(sentence, language), expected, "{sentence}");
        }
    }

    #[test]
    fn a_frame_without_a_filling_is_not_used() {
        let slots = Slots { topic: Some("the bell".into()), ..Slots::default() };
        assert_eq!(slots.fill("{topic}, then.", Language::En).as_deref(), Some("The bell, then."));
        assert_eq!(slots.fill("And you, {name}?", Language::En), None);
    }
}
