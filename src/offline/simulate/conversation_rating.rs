//! The offline rating of a conversation, from counts of linked turns, repeated turns and new words.

use std::collections::BTreeSet;

use super::conversation::mentions;
use super::phrases::frames;
use super::semantic_fields::fields_of;
use crate::llm::{Offline, OfflineAnswer};
use crate::schema::Quality;
use crate::stages::simulate::{Rate, Rating};
use crate::text::{asks, content_words, float, similarity, spoken};

/// Minimum similarity at which a turn repeats another.
const MIN_SIMILARITY: f64 = 0.75;

/// Counts over a conversation.
#[derive(Debug)]
struct Figures {
    turns: usize,
    speakers: usize,
    /// Turns that share a word with one of the two previous turns or a semantic field with the previous one, answer a
    /// question, or name one of the two previous speakers.
    linked: usize,
    repeated: usize,
    /// New content words per turn.
    words: f64,
}

impl OfflineAnswer for Rate {
    fn answer_offline(&self, offline: &mut Offline<'_>) -> Rating {
        rate(self, offline)
    }
}

/// Rates a conversation. Does not use the random generator.
pub(super) fn rate(ask: &Rate, _: &mut Offline<'_>) -> Rating {
    let figures = Figures::count(ask);
    let sentences = &frames(ask.language).rating;
    let filled = |key: &str| {
        sentences[key]
            .replace("{linked}", &figures.linked.to_string())
            .replace("{turns}", &figures.turns.to_string())
            .replace("{speakers}", &figures.speakers.to_string())
            .replace("{fresh}", &(figures.turns - figures.repeated).to_string())
            .replace("{repeated}", &figures.repeated.to_string())
            .replace("{words}", &format!("{:.1}", figures.words))
    };
    Rating {
        interaction: filled("interaction"),
        coherence: filled("coherence"),
        progression: filled("progression"),
        quality: figures.quality(),
    }
}

impl Figures {
    fn count(ask: &Rate) -> Self {
        let speech: Vec<&str> = ask.history.iter().map(|line| spoken(&line.content)).collect();
        let words: Vec<BTreeSet<String>> =
            speech.iter().map(|speech| content_words(speech).into_iter().collect()).collect();
        let fields: Vec<u32> = words.iter().map(|words| fields_of(words, ask.language)).collect();
        let (mut linked, mut repeated, mut fresh) = (0, 0, 0);
        let mut known = BTreeSet::new();
        for (at, text) in speech.iter().enumerate() {
            repeated += usize::from(speech[..at].iter().any(|earlier| similarity(earlier, text) >= MIN_SIMILARITY));
            fresh += words[at].iter().filter(|word| known.insert((*word).clone())).count();
            let before = at.saturating_sub(2)..at;
            let shares = words[before.clone()].iter().any(|earlier| !earlier.is_disjoint(&words[at]))
                || at > 0 && fields[at - 1] & fields[at] != 0;
            // `Yes` and `Not that I know of` are answers without content words.
            let answers = at > 0 && asks(speech[at - 1]) && ask.history[at - 1].speaker != ask.history[at].speaker;
            let speaks_to = before.clone().any(|earlier| mentions(text, &ask.history[earlier].speaker));
            linked += usize::from(at == 0 || shares || answers || speaks_to);
        }
        let speakers = ask.history.iter().map(|line| &line.speaker).collect::<BTreeSet<_>>().len();
        let turns = speech.len();
        Self { turns, speakers, linked, repeated, words: float(fresh) / float(turns.max(1)) }
    }

    fn quality(&self) -> Quality {
        let share = |count: usize| float(count) / float(self.turns.max(1));
        let (linked, repeated) = (share(self.linked), share(self.repeated));
        if self.turns >= 6 && self.speakers >= 2 && repeated <= 0.06 && linked >= 0.55 && self.words >= 1.0 {
            Quality::High
        } else if self.turns >= 4 && self.speakers >= 2 && repeated <= 0.25 && linked >= 0.2 {
            Quality::Moderate
        } else {
            Quality::Poor
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::OfflineOptions;
    use crate::schema::{Language, Line};
    use crate::seed::seeded;

    fn rated(language: Language, history: &[(&str, &str)]) -> Rating {
        let options = OfflineOptions::default();
        let ask = Rate {
            language,
            situation: String::new(),
            cast: vec![],
            history: history
                .iter()
                .map(|(speaker, content)| Line {
                    speaker: (*speaker).to_owned(),
                    content: (*content).to_owned(),
                    is_test: false,
                })
                .collect(),
        };
        rate(&ask, &mut Offline { options: &options, rng: seeded(7, &[]) })
    }

    #[test]
    fn a_coherent_conversation_is_rated_high_and_a_repetitive_one_is_not() {
        let english = [
            ("Ann", "Who left the lantern burning in the boat-house?"),
            ("Tom", "Jack did. He was mending the net."),
            ("Jack", "(looks up) The net was whole; I mended the oar."),
            ("Ann", "And the lantern, Jack?"),
            ("Jack", "I thought the moon had come up early."),
            ("Tom", "There was no moon at all last night."),
        ];
        let rating = rated(Language::En, &english);
        assert_eq!(rating.quality, Quality::High, "{rating:?}");
        assert!(rating.interaction.contains("6 turns") && rating.interaction.contains("3 speakers"), "{rating:?}");
        let short =
            [("Ann", "Was it you?"), ("Tom", "Not that I know of."), ("Ann", "Is it late?"), ("Tom", "So it is.")];
        assert!(rated(Language::En, &short).interaction.starts_with("3 of 4"));
        let echoes = [("Ann", "So it goes in the boat-house."), ("Tom", "So it goes in the boat-house!")].repeat(4);
        assert_eq!(rated(Language::En, &echoes).quality, Quality::Poor);
        assert_eq!(rated(Language::En, &[]).quality, Quality::Poor);
    }

    #[test]
    fn chinese_conversations_are_rated_the_same_way() {
        let conversation = [
            ("甲", "昨夜是谁把灯留在船上？"),
            ("乙", "是丙，他在船头补网。"),
            ("丙", "（抬头）网没破，我修的是桨。"),
            ("甲", "那灯呢，丙？"),
            ("丙", "我还当是月亮出来得早。"),
            ("乙", "昨夜哪有月亮。"),
        ];
        let rating = rated(Language::Zh, &conversation);
        assert_eq!(rating.quality, Quality::High, "{rating:?}");
        assert!(rating.interaction.contains("3人"), "{rating:?}");
    }
}
