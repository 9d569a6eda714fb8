//! The offline judge: chooses the dimension that the context calls for and compares the replies on it by counts.
//!
//! It does not know which reply is which: swapping them mirrors the score and changes nothing else. The random
//! generator only decides between dimensions that fit about equally well.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use rand::RngExt as _;
use serde::Deserialize;

use crate::llm::{Offline, OfflineAnswer};
use crate::schema::{ByLanguage, Language};
use crate::stages::select::{Judge, Judgement};
use crate::text::{
    SpeechMarker, asks, content_words, count_speech_markers, float, letters_and_digits, pairs, sentences, similarity,
    spoken,
};

static PHRASES: LazyLock<ByLanguage<Phrases>> = LazyLock::new(|| embedded_toml!("judge.toml"));

/// The judge's sentences and statistics in a language. Tables by dimension have an entry `other` for all other codes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Phrases {
    opening: String,
    context: BTreeMap<String, String>,
    measure: BTreeMap<String, String>,
    comparison: BTreeMap<String, String>,
    context_score: BTreeMap<String, Distribution>,
}

/// Mean and standard deviation of a context score, measured on conversations of the shipped characters in scenes of the
/// shipped books. Standardizing makes the dimensions comparable even though their word lists differ in length.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Distribution {
    mean: f64,
    deviation: f64,
}

/// Returns the entry for a dimension.
fn entry<'a, T>(table: &'a BTreeMap<String, T>, code: &str) -> &'a T {
    table.get(code).unwrap_or_else(|| &table["other"])
}

/// Maximum difference of context scores that chance can overcome, in standard deviations.
const MAX_RANDOM_BONUS: f64 = 2.0;
/// Below this difference two replies are equally good.
const TIE: f64 = 0.12;
/// From this difference on, one reply is much better.
const CLEAR: f64 = 0.6;

impl OfflineAnswer for Judge {
    fn answer_offline(&self, offline: &mut Offline<'_>) -> Judgement {
        judge(self, offline)
    }
}

/// Chooses the dimension that the context calls for, then compares the two replies on it.
fn judge(ask: &Judge, offline: &mut Offline<'_>) -> Judgement {
    let phrases = PHRASES.get(ask.language);
    let context = Context::new(ask);
    let called = ask.criteria.iter().map(|criterion| {
        let hinted = if ask.hint.as_deref() == Some(criterion.code.as_str()) { 1.5 } else { 0.0 };
        (
            context.calls_for(&criterion.code) + hinted + offline.rng.random_range(0.0..MAX_RANDOM_BONUS),
            criterion.code.as_str(),
        )
    });
    let code = called.max_by(|a, b| a.0.total_cmp(&b.0)).map_or("", |(_, code)| code);
    let quote = context.last.map(|last| excerpt(last, ask.language));
    // Without evidence for the dimension in the context, give a neutral reason.
    let reason = if context.calls_for(code) > 0.3 { code } else { "other" };
    let dimension_reason = match quote {
        Some(quote) => entry(&phrases.context, reason).replace("{quote}", &quote),
        None => phrases.opening.clone(),
    };
    let (first, second) = (context.measure(&ask.first, code), context.measure(&ask.second, code));
    Judgement {
        dimension_reason,
        dimension: code.to_owned(),
        comparison: compare(phrases, &ask.name, code, &first, &second),
        score: score(first.total() - second.total()),
    }
}

/// Converts a difference to σ: 1 if the first is much better, 3 for a tie, 5 if the second is much better.
fn score(difference: f64) -> u8 {
    match difference {
        d if d >= CLEAR => 1,
        d if d >= TIE => 2,
        d if d > -TIE => 3,
        d if d > -CLEAR => 4,
        _ => 5,
    }
}

/// Describes the counts and the other criteria that made a difference.
fn compare(phrases: &Phrases, name: &str, code: &str, first: &Measure, second: &Measure) -> String {
    let text = &phrases.comparison;
    let measure = entry(&phrases.measure, code);
    let mut parts = vec![if first.evidence + second.evidence == 0 {
        // The Chinese measure word 处 needs a number before it.
        text["neither"].replace("{measure}", measure.trim_start_matches('处'))
    } else {
        text["counts"]
            .replace("{measure}", measure)
            .replace("{first}", &first.evidence.to_string())
            .replace("{second}", &second.evidence.to_string())
    }];
    let mut add_difference = |difference: f64, at: f64, key: &str| {
        if difference.abs() >= at {
            parts.push(
                text[&format!("{}_{key}", if difference > 0.0 { "first" } else { "second" })].replace("{name}", name),
            );
        }
    };
    add_difference(first.fit - second.fit, 0.1, "fits");
    add_difference(first.own - second.own, 0.15, "own");
    add_difference(first.again - second.again, 0.2, "again");
    if parts.len() == 1 {
        parts.push(text["alike"].clone());
    }
    parts.join(if letters_and_digits(&text["alike"]).is_ascii() { " " } else { "" })
}

/// Returns the end of a line, in quotation marks.
fn excerpt(line: &str, language: Language) -> String {
    let last = sentences(line).last().copied().unwrap_or(line).to_owned();
    let most = if language == Language::En { 60 } else { 24 };
    let count = last.chars().count();
    let last = last.trim_matches(['“', '”']);
    if count <= most {
        return format!("“{last}”");
    }
    let cut: String = last.chars().skip(count - most).collect();
    // An English excerpt begins with a whole word.
    let cut = match (language, cut.split_once(' ')) {
        (Language::En, Some((_, rest))) => rest,
        _ => cut.as_str(),
    };
    format!("“…{cut}”")
}

/// The context of the replies, prepared for counting.
struct Context<'a> {
    ask: &'a Judge,
    last: Option<&'a str>,
    /// Content words of each of the last three lines, newest first.
    recent: Vec<BTreeSet<String>>,
    /// Content words of all lines before the last, and of the situation.
    earlier: BTreeSet<String>,
}

/// The measurements of a reply.
struct Measure {
    /// How often it shows the dimension.
    evidence: usize,
    /// `evidence` scaled to 0 to 1.
    depth: f64,
    /// How well it fits the context, 0 to 1.
    fit: f64,
    /// Similarity to the character's example lines, 0 to 1.
    own: f64,
    /// Similarity to an earlier line of the conversation, 0 to 1.
    again: f64,
}

impl Measure {
    fn total(&self) -> f64 {
        1.2 * self.depth + 1.0 * self.fit + 0.6 * self.own - if self.again > 0.6 { self.again } else { 0.0 }
    }
}

impl<'a> Context<'a> {
    fn new(ask: &'a Judge) -> Self {
        let words = |line: &str| content_words(line).into_iter().collect::<BTreeSet<String>>();
        let mut lines = ask.history.iter().rev().map(|line| spoken(&line.content));
        let recent = lines.clone().take(3).map(words).collect();
        let last = lines.next();
        let mut earlier = words(&ask.situation);
        earlier.extend(lines.flat_map(content_words));
        Self { ask, last, recent, earlier }
    }

    fn count(&self, text: &str, sign: SpeechMarker) -> f64 {
        float(count_speech_markers(text, self.ask.language, sign))
    }

    /// Returns how much the context calls for a dimension, in standard deviations from the mean over conversations.
    fn calls_for(&self, code: &str) -> f64 {
        let Some(last) = self.last else { return f64::from(u8::from(code == "CA")) };
        let asked = f64::from(u8::from(asks(last)));
        let before = self.ask.history.iter().rev().nth(1).map_or("", |line| spoken(&line.content));
        let near = |sign| self.count(last, sign) + 0.3 * self.count(before, sign);
        let score = match code {
            "CR" => {
                let known = self.recent.first().map_or(0, |words| words.intersection(&self.earlier).count());
                near(SpeechMarker::Recall) + 0.4 * float(known.min(5))
            }
            "FR" => asked * near(SpeechMarker::World) + 0.5 * near(SpeechMarker::Fact),
            "RR" => 1.5 * asked * near(SpeechMarker::Why) + 0.7 * near(SpeechMarker::Reason),
            "CA" => {
                let recent = self.ask.history.iter().rev().take(4).map(|line| &line.speaker).collect::<BTreeSet<_>>();
                let stalls = f64::from(u8::from(self.recent.first().is_some_and(|words| words.len() < 4)));
                let opens = f64::from(u8::from(self.ask.history.len() < 3));
                let several = f64::from(u8::from(recent.len() > 2));
                near(SpeechMarker::Greeting)
                    + 0.2 * near(SpeechMarker::Turn)
                    + 0.5 * opens
                    + 0.6 * stalls
                    + 0.3 * several
            }
            "PA" => near(SpeechMarker::Feeling) + near(SpeechMarker::Thanks) + near(SpeechMarker::Anger),
            _ => return 0.0,
        };
        let Distribution { mean, deviation } = *entry(&PHRASES.get(self.ask.language).context_score, code);
        ((score - mean) / deviation).clamp(-1.0, 2.5)
    }

    fn measure(&self, reply: &str, code: &str) -> Measure {
        let speech = spoken(reply);
        let words: BTreeSet<String> = content_words(speech).into_iter().collect();
        let evidence = self.count_evidence(speech, &words, code);
        let weigh = |count: f64| 1.0 - (-0.6 * count).exp();
        let taken_up: f64 = self
            .recent
            .iter()
            .zip([1.0, 0.5, 0.3])
            .map(|(recent, part)| part * float(words.intersection(recent).count()))
            .sum();
        let asked = self.last.is_some_and(asks);
        let sentences = sentences(speech);
        let answers = !asked || sentences.iter().any(|sentence| !asks(sentence));
        let size = size(speech);
        let sound = (4..=70).contains(&size) && !sentences.is_empty();
        let fit = 0.5 * weigh(taken_up) + if answers { 0.25 } else { 0.0 } + if sound { 0.25 } else { 0.0 };
        let history = self.ask.history.iter().map(|line| similarity(spoken(&line.content), speech));
        Measure {
            evidence,
            depth: weigh(float(evidence)),
            fit,
            own: self.own(speech),
            again: history.fold(0.0, f64::max),
        }
    }

    /// Counts the evidence for a dimension in a reply.
    fn count_evidence(&self, speech: &str, words: &BTreeSet<String>, code: &str) -> usize {
        let count = |sign| count_speech_markers(speech, self.ask.language, sign);
        let taken_up = || {
            words
                .iter()
                .filter(|word| self.earlier.contains(*word) || self.recent.iter().any(|set| set.contains(*word)))
                .count()
        };
        match code {
            "CR" => taken_up() + count(SpeechMarker::Recall),
            "FR" => count(SpeechMarker::Fact),
            "RR" => count(SpeechMarker::Reason),
            "CA" => {
                let named = self.ask.others.iter().filter(|other| calls(speech, &other.name)).count();
                2 * usize::from(asks(speech)) + named + usize::from(count(SpeechMarker::Turn) > 0)
            }
            "PA" => count(SpeechMarker::Feeling) + count(SpeechMarker::Thanks),
            _ => taken_up(),
        }
    }

    /// Returns the maximum overlap in character pairs with an example line, relative to the shorter text.
    fn own(&self, speech: &str) -> f64 {
        let reply: BTreeSet<_> = pairs(&letters_and_digits(speech)).into_iter().collect();
        let share = |line: &String| {
            let line: BTreeSet<_> = pairs(&letters_and_digits(line)).into_iter().collect();
            float(reply.intersection(&line).count()) / float(reply.len().min(line.len()).max(12))
        };
        self.ask.lines.iter().map(share).fold(0.0, f64::max)
    }
}

/// Returns whether a text contains a name or a part of it.
fn calls(text: &str, name: &str) -> bool {
    text.contains(name)
        || name.split_whitespace().any(|part| {
            part.starts_with(char::is_uppercase)
                && part.chars().count() > 3
                && text.split(|c: char| !c.is_alphanumeric()).any(|word| word.eq_ignore_ascii_case(part))
        })
}

/// Returns the length of a text in words; two Han characters count as one word.
fn size(text: &str) -> usize {
    let han = text.chars().filter(|c| crate::text::is_han(*c)).count();
    text.split_whitespace().filter(|word| !word.chars().any(crate::text::is_han)).count() + han.div_ceil(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::OfflineOptions;
    use crate::schema::{CastMember, Line};
    use crate::seed::seeded;
    use crate::stages::select::Criterion;

    const CODES: [&str; 5] = ["CR", "FR", "RR", "CA", "PA"];

    fn ask(language: Language, history: &[&str], first: &str, second: &str) -> Judge {
        let before = match language {
            Language::En => ["The oars were mended in the spring.", "Nobody has paid for them."],
            Language::Zh => ["船桨春天刚修过。", "工钱还没有人付。"],
        };
        Judge {
            language,
            name: "Ann".to_owned(),
            profile: vec![],
            lines: vec![],
            others: vec![CastMember { name: "Tom".to_owned(), profile: vec![] }],
            situation: "A ferry landing at dusk; the lantern is out. 黄昏的渡口，灯灭了。".to_owned(),
            history: before
                .iter()
                .chain(history)
                .map(|content| Line { speaker: "Tom".to_owned(), content: (*content).to_owned(), is_test: false })
                .collect(),
            criteria: CODES
                .iter()
                .map(|code| Criterion { code: (*code).to_owned(), name: String::new(), definition: String::new() })
                .collect(),
            first: first.to_owned(),
            second: second.to_owned(),
            hint: None,
        }
    }

    fn judged(ask: &Judge, draw: &str) -> Judgement {
        let options = OfflineOptions::default();
        judge(ask, &mut Offline { options: &options, rng: seeded(7, &[draw]) })
    }

    fn contexts(language: Language) -> Vec<Vec<&'static str>> {
        match language {
            Language::En => vec![
                vec!["The lantern was lit when I came.", "You said the lantern was out, remember?"],
                vec!["I came by the ferry.", "How many ferries are there in a year, and what is the price?"],
                vec!["The boat is gone.", "Why would you take the boat, if the tide was wrong?"],
                vec!["Good evening.", "Well?"],
                vec!["It is late.", "I am afraid, my heart is heavy, and I miss my brother."],
                vec!["It rained.", "Nobody rowed across today."],
            ],
            Language::Zh => vec![
                vec!["我来的时候灯还亮着。", "你方才说灯灭了，还记得么？"],
                vec!["我坐船来的。", "一年有多少趟船，什么规矩？"],
                vec!["船不见了。", "若是潮水不对，你为何还要开船？"],
                vec!["幸会。", "请坐。"],
                vec!["不早了。", "我怕，心里难过，惦记我兄弟。"],
                vec!["下过雨。", "今日没有人过河。"],
            ],
        }
    }

    #[test]
    fn every_dimension_is_chosen_often_enough() {
        for language in Language::ALL {
            let contexts = contexts(language);
            let mut found: BTreeMap<String, u32> = BTreeMap::new();
            for draw in 0..300 {
                let ask = ask(language, &contexts[draw % contexts.len()], "One.", "Two.");
                *found.entry(judged(&ask, &draw.to_string()).dimension).or_default() += 1;
            }
            assert_eq!(found.keys().map(String::as_str).collect::<BTreeSet<_>>(), BTreeSet::from(CODES));
            assert!(found.values().all(|count| *count >= 30), "{language}: {found:?}");
        }
    }

    #[test]
    fn the_dimension_follows_the_context() {
        for language in Language::ALL {
            for (context, code) in contexts(language).iter().zip(["CR", "FR", "RR", "CA", "PA"]) {
                let ask = ask(language, context, "One.", "Two.");
                let hits = (0..100).filter(|draw| judged(&ask, &draw.to_string()).dimension == code).count();
                assert!(hits > 40, "{language} {code}: {hits} of 100");
            }
        }
    }

    #[test]
    fn swapping_the_replies_mirrors_the_score() {
        for (language, history, good, bad) in [
            (
                Language::En,
                ["Why would you take the boat, if the tide was wrong?"],
                "Because the tide turns at nine; if I wait, the boat is lost.",
                "Hm.",
            ),
            (
                Language::Zh,
                ["若是潮水不对，你为何还要开船？"],
                "因为潮水九点转向，若是等，船就没了，所以只好开船。",
                "嗯。",
            ),
        ] {
            let there = judged(&ask(language, &history, good, bad), "x");
            let back = judged(&ask(language, &history, bad, good), "x");
            assert_eq!(there.dimension, back.dimension);
            assert!(there.score <= 2, "{there:?}");
            assert_eq!(there.score + back.score, 6);
            assert_eq!(judged(&ask(language, &history, good, good), "x").score, 3);
        }
    }

    #[test]
    fn a_relevant_reply_beats_an_irrelevant_one() {
        for (language, replies) in [
            (
                Language::En,
                [
                    ("You said the lantern was out; I remember the oil.", "The cheese is good."),
                    ("There are twelve ferries in a year, and the price is two pence, always.", "Perfectly."),
                    ("Because if the tide was wrong, the boat would be lost, I suppose.", "The cheese is good."),
                    ("And you, Tom, what do you say of the boat?", "The cheese is good."),
                    ("I am sorry, my dear friend; I miss him too, and I am afraid.", "The cheese is good."),
                ],
            ),
            (
                Language::Zh,
                [
                    ("你方才说灯灭了，我记得灯油。", "饼不错。"),
                    ("一年有十二趟船，规矩是两文，从来如此。", "饼不错。"),
                    ("若是潮水不对，只怕船就没了，所以要问。", "饼不错。"),
                    ("Tom，你怎么看那条船？", "饼不错。"),
                    ("对不住，朋友，我也惦记他，心里也怕。", "饼不错。"),
                ],
            ),
        ] {
            let mut scores = vec![];
            for (context, (good, bad)) in contexts(language).iter().zip(replies) {
                for draw in 0..10 {
                    scores.push(judged(&ask(language, context, good, bad), &draw.to_string()).score);
                }
            }
            let better = scores.iter().filter(|score| **score < 3).count();
            let worse = scores.iter().filter(|score| **score > 3).count();
            assert!(better > 3 * worse.max(1) && better > 25, "{language}: {scores:?}");
        }
    }

    #[test]
    fn a_repetition_loses() {
        let said = "Nobody rowed across today, and the lantern is out.";
        let judgement = judged(&ask(Language::En, &[said, "So?"], said, "The lantern wants oil, I think."), "x");
        assert!(judgement.score >= 4, "{judgement:?}");
        assert!(judgement.comparison.contains("repeats"), "{judgement:?}");
    }

    #[test]
    fn custom_dimensions_are_chosen_and_compared() {
        let mut ask = ask(Language::En, &["Nobody rowed across today."], "The man who rowed the ferry is ill.", "One.");
        ask.criteria.truncate(2);
        for (criterion, code) in ask.criteria.iter_mut().zip(["HUMOUR", "IRONY"]) {
            code.clone_into(&mut criterion.code);
        }
        let judgements: Vec<Judgement> = (0..50).map(|draw| judged(&ask, &draw.to_string())).collect();
        let codes: BTreeSet<&str> = judgements.iter().map(|judgement| judgement.dimension.as_str()).collect();
        assert_eq!(codes, BTreeSet::from(["HUMOUR", "IRONY"]));
        let phrases = PHRASES.get(Language::En);
        let reason = phrases.context["other"].replace("{quote}", "“Nobody rowed across today.”");
        for judgement in &judgements {
            assert!(judgement.score < 3, "the first reply refers to the history: {judgement:?}");
            assert_eq!(judgement.dimension_reason, reason);
        }
        std::mem::swap(&mut ask.first, &mut ask.second);
        assert!(judged(&ask, "x").score > 3);
        ask.history.clear();
        assert_eq!(judged(&ask, "x").dimension_reason, phrases.opening);
    }

    #[test]
    fn the_hint_changes_the_dimension() {
        let mut ask = ask(Language::En, &["It rained."], "One.", "Two.");
        let share = |ask: &Judge| (0..100).filter(|draw| judged(ask, &draw.to_string()).dimension == "FR").count();
        let without = share(&ask);
        ask.hint = Some("FR".to_owned());
        assert!(share(&ask) > without + 20);
    }
}
