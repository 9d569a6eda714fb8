//! The offline director: prefers the participant who was addressed, otherwise the one with the fewest turns.

use std::collections::BTreeSet;

use rand::RngExt as _;

use super::conversation::mentions;
use super::phrases::{frames, is_generic};
use crate::llm::{Offline, OfflineAnswer};
use crate::schema::Line;
use crate::stages::simulate::{Direct, Direction};
use crate::text::{SpeechMarker, asks, content_words, count_speech_markers, float, sentences, spoken};

/// Minimum number of utterances before a conversation may end on its own.
const MIN_LENGTH_TO_END: usize = 12;
/// From this number of remaining turns on, the conversation is brought to an end.
const FINAL_TURNS: u32 = 3;

impl OfflineAnswer for Direct {
    fn answer_offline(&self, offline: &mut Offline<'_>) -> Direction {
        direct(self, offline)
    }
}

/// Chooses the next speaker from the choices, or the end if that is allowed.
pub(super) fn direct(ask: &Direct, offline: &mut Offline<'_>) -> Direction {
    let reasons = &frames(ask.language).director;
    let reason = |key: &str, name: &str| reasons[key].replace("{name}", name);
    if let Some(key) = end_reason(ask, offline) {
        return Direction { reason: reason(key, ""), next: Direction::END.to_owned() };
    }
    let scored = ask.choices.iter().map(|choice| {
        let (score, key) = turn_score(ask, choice);
        (score + offline.rng.random_range(0.0..0.5), key, choice)
    });
    match scored.max_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((_, key, choice)) => Direction { reason: reason(key, choice), next: choice.clone() },
        None => Direction { reason: reason("end_late", ""), next: Direction::END.to_owned() },
    }
}

/// Returns the key of the reason if the conversation ends here.
fn end_reason(ask: &Direct, offline: &mut Offline<'_>) -> Option<&'static str> {
    let last = ask.history.last().filter(|_| ask.may_end)?;
    let late = float(ask.history.len().saturating_sub(MIN_LENGTH_TO_END - 1));
    let open = asks(spoken(&last.content));
    let farewell = count_speech_markers(spoken(&last.content), ask.language, SpeechMarker::Farewell) > 0;
    let mut chance = if open { 0.0 } else { 0.015 * late };
    if farewell {
        chance += 0.08 * late;
    }
    if !open && late > 0.0 && has_little_new(ask) {
        chance += 0.25;
    }
    // A conversation that reaches the turn limit may be cut off at a question.
    if !open && ask.turns_left <= FINAL_TURNS {
        chance += 1.0 / f64::from(ask.turns_left.max(2) - 1);
    }
    if !open && has_only_generic_phrases(ask) {
        chance += 0.8;
    }
    let ends = offline.rng.random_bool(chance.clamp(0.0, 1.0));
    ends.then_some(if farewell { "end_farewell" } else { "end_late" })
}

/// Returns whether most of the last three utterances were generic phrases.
fn has_only_generic_phrases(ask: &Direct) -> bool {
    let is_generic =
        |line: &&Line| sentences(spoken(&line.content)).into_iter().all(|sentence| is_generic(sentence, ask.language));
    ask.history.iter().rev().take(3).filter(is_generic).count() > 1
}

/// Returns whether the last four utterances contain hardly any new content words.
fn has_little_new(ask: &Direct) -> bool {
    const LAST: usize = 4;
    let Some(split) = ask.history.len().checked_sub(LAST) else { return false };
    let words = |line: &Line| content_words(spoken(&line.content));
    let known: BTreeSet<String> = ask.history[..split].iter().flat_map(words).collect();
    let fresh: BTreeSet<String> =
        ask.history[split..].iter().flat_map(words).filter(|word| !known.contains(word)).collect();
    fresh.len() < 2 * LAST
}

/// Returns the score of a participant for the next turn, and the key of the main reason.
fn turn_score(ask: &Direct, name: &str) -> (f64, &'static str) {
    let test = ask.cast.first().is_some_and(|member| member.name == name);
    let since = ask.history.iter().rev().position(|line| line.speaker == name);
    let turns = ask.history.iter().filter(|line| line.speaker == name).count();
    let mean = float(ask.history.len()) / float(ask.cast.len().max(1));
    let mut score = (mean - float(turns)).clamp(-1.5, 1.5);
    let mut key = if score > 0.5 { "quiet" } else { "balance" };
    if since == Some(0) {
        score -= 6.0;
    }
    // The scene character listed first usually starts the scene.
    if ask.history.is_empty() && ask.cast.get(1).is_some_and(|member| member.name == name) {
        score += 1.0;
    }
    let last = ask.history.last();
    let called = last.is_some_and(|line| line.speaker != name && mentions(spoken(&line.content), name));
    let asked = last.is_some_and(|line| asks(spoken(&line.content)));
    if called {
        score += if asked { 4.5 } else { 1.6 };
        key = "addressed";
    } else if asked && since == Some(1) {
        // A question without a name is for the speaker before the one who asks.
        score += 2.0;
        key = "asked";
    }
    if test {
        let waited = since.unwrap_or(ask.history.len());
        let due = [-0.5, 0.4, 1.4, 2.4, 4.0][waited.min(4)];
        score += due;
        if due > 1.0 && !called {
            key = "test";
        }
    }
    (score, key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::OfflineOptions;
    use crate::schema::{CastMember, Language};
    use crate::seed::seeded;
    use crate::stages::simulate::{Direct, Direction};

    fn ask(language: Language, cast: &[&str], history: &[(&str, &str)]) -> Direct {
        Direct {
            language,
            situation: String::new(),
            cast: cast.iter().map(|name| CastMember { name: (*name).to_owned(), profile: vec![] }).collect(),
            history: history
                .iter()
                .map(|(speaker, content)| Line {
                    speaker: (*speaker).to_owned(),
                    content: (*content).to_owned(),
                    is_test: *speaker == cast[0],
                })
                .collect(),
            choices: cast.iter().map(|name| (*name).to_owned()).collect(),
            may_end: false,
            turns_left: 10,
        }
    }

    fn answer(ask: &Direct, draw: &str) -> Direction {
        let options = OfflineOptions::default();
        direct(ask, &mut Offline { options: &options, rng: seeded(7, &[draw]) })
    }

    #[test]
    fn a_character_asked_by_name_speaks_next() {
        for (language, cast, line) in [
            (Language::En, ["Ann Reed", "Tom Hale", "Jack Moss"], "And what do you say, Jack?"),
            (Language::Zh, ["温仲筹", "祁勉", "丁福来"], "丁福来，你怎么看？"),
        ] {
            let ask = ask(language, &cast, &[(cast[1], line)]);
            for draw in 0..20 {
                let direction = answer(&ask, &draw.to_string());
                assert_eq!(direction.next, cast[2]);
                assert!(direction.reason.contains(cast[2]));
            }
        }
    }

    #[test]
    fn the_conversation_ends_only_when_allowed() {
        let history = vec![("Tom", "Good night, then, and goodbye."); 20];
        let mut ask = ask(Language::En, &["Ann", "Tom"], &history);
        let ends = |ask: &Direct| (0..50).filter(|draw| answer(ask, &draw.to_string()).next == Direction::END).count();
        assert_eq!(ends(&ask), 0);
        ask.may_end = true;
        assert!(ends(&ask) > 20);
        ask.history.truncate(6);
        assert_eq!(ends(&ask), 0);
    }

    #[test]
    fn a_conversation_closes_before_its_limit_and_not_after_a_question() {
        for (language, closed, open, spent) in [
            (
                Language::En,
                "The oars were mended.",
                "Who mended the oars?",
                ["Tell me more about the oars.", "I wish I knew."],
            ),
            (Language::Zh, "船桨修好了。", "船桨是谁修的？", ["船桨是怎么回事？", "我若知道就好了。"]),
        ] {
            let ends = |lines: &[&str], turns_left: u32| {
                let history: Vec<(&str, &str)> = lines.iter().map(|line| ("Tom", *line)).collect();
                let mut ask = ask(language, &["Ann", "Tom"], &history);
                (ask.may_end, ask.turns_left) = (true, turns_left);
                (0..50).filter(|draw| answer(&ask, &draw.to_string()).next == Direction::END).count()
            };
            assert_eq!(ends(&[closed], 2), 50, "{language}");
            assert_eq!(ends(&[closed], 12), 0, "{language}");
            assert_eq!(ends(&[open], 2), 0, "{language}");
            assert!(ends(&[spent[0], closed, spent[1]], 12) > 30, "{language}: all own utterances are used up");
            assert_eq!(ends(&[closed, closed, spent[1]], 12), 0, "{language}");
        }
    }

    #[test]
    fn the_first_speaker_of_the_scene_speaks_first() {
        let ask = ask(Language::En, &["Ann", "Tom", "Jack", "Sue"], &[]);
        assert!((0..20).all(|draw| answer(&ask, &draw.to_string()).next == "Tom"));
    }

    #[test]
    fn the_choice_is_always_one_of_the_candidates() {
        let mut ask = ask(Language::Zh, &["温仲筹", "祁勉", "丁福来"], &[("祁勉", "温仲筹，你说呢？")]);
        ask.choices = vec!["丁福来".to_owned()];
        assert_eq!(answer(&ask, "x").next, "丁福来");
    }

    #[test]
    fn every_character_speaks_and_the_test_character_every_third_turn() {
        let cast = ["Ann", "Tom", "Jack", "Sue"];
        let mut ask = ask(Language::En, &cast, &[]);
        for turn in 0..40 {
            let next = answer(&ask, &turn.to_string()).next;
            assert_ne!(ask.history.last().map(|line| line.speaker.as_str()), Some(next.as_str()));
            let is_test = next == cast[0];
            ask.history.push(Line { speaker: next, content: format!("Number {turn}."), is_test });
        }
        let turns = |name: &str| ask.history.iter().filter(|line| line.speaker == name).count();
        assert!((10..=20).contains(&turns("Ann")), "{}", turns("Ann"));
        assert!(cast[1..].iter().all(|name| turns(name) >= 5));
    }
}
