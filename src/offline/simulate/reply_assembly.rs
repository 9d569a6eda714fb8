//! Assembles the reply of one speaker: action, leading phrase, utterance and trailing phrase.

use rand::RngExt as _;
use rand::seq::IndexedRandom as _;
use rand_chacha::ChaCha8Rng;

use super::conversation::{ConversationView, SpeechAct, form_of_address, mentions};
use super::line_candidates::{LineCandidate, close};
use super::line_scoring::LineScorer;
use super::phrase_choice::{least_similar, pick};
use super::phrases::{Slots, capitals, frames};
use crate::llm::OfflineOptions;
use crate::schema::Language;
use crate::text::{SpeechMarker, asks, count_speech_markers, sentences, similarity};

/// Minimum overlap with the conversation at which an utterance needs no transition.
const FITS: f64 = 0.55;

/// The context of one reply.
pub(super) struct ReplyAssembly<'a> {
    pub(super) conversation: &'a ConversationView<'a>,
    pub(super) scorer: &'a LineScorer<'a>,
    pub(super) slots: &'a Slots,
    /// Maximum number of sentences of the reply.
    pub(super) most: usize,
}

impl ReplyAssembly<'_> {
    /// Returns the retrieved utterance, or a generic phrase if there is none, and whether it was retrieved.
    pub(super) fn body(
        &self,
        best: Option<(f64, LineCandidate)>,
        motives: &[String],
        rng: &mut ChaCha8Rng,
    ) -> (String, bool) {
        if let Some((_, candidate)) = best {
            return (candidate.text, true);
        }
        let compose = &frames(self.conversation.language).compose;
        let mut pools: Vec<&[String]> = vec![&compose.statement, motives, &compose.question];
        if let Some(kind) = self.conversation.question_kind.filter(|_| self.conversation.is_asked()) {
            pools.splice(0..0, [kind.say.as_slice(), &compose.question]);
        }
        let fresh = pools.iter().find_map(|pool| pick(pool, self.slots, self.most, self.conversation, rng));
        let body = fresh.or_else(|| {
            let all: Vec<String> = pools.concat();
            least_similar(&all, self.slots, self.most, self.conversation)
        });
        (body.unwrap_or_default(), false)
    }

    /// Returns a transition from the previous utterance, if `body` does not respond to it.
    pub(super) fn bridge(&self, body: &str, rng: &mut ChaCha8Rng) -> Option<String> {
        // A question to this speaker gets a generic answer of its kind.
        if self.conversation.speech_act() == SpeechAct::Question
            && self.conversation.is_asked()
            && let Some(kind) = self.conversation.question_kind
        {
            let pool = if kind.lead.is_empty() { &kind.say } else { &kind.lead };
            return if self.conversation.is_answered(body) { None } else { self.phrase(pool, body, rng) };
        }
        let fits = self.scorer.overlap(body) >= FITS
            || count_speech_markers(body, self.conversation.language, SpeechMarker::Greeting) > 0;
        if self.conversation.recent_lines.is_empty() || fits {
            return None;
        }
        let bridge = &frames(self.conversation.language).bridge;
        let pool = match self.conversation.speech_act() {
            // A question needs no transition, and questions to others are not answered here.
            _ if asks(body) => return None,
            SpeechAct::Question => return None,
            SpeechAct::Anger => &bridge.anger,
            SpeechAct::Farewell => &bridge.farewell,
            SpeechAct::Thanks => &bridge.thanks,
            SpeechAct::Greeting => &bridge.greeting,
            SpeechAct::Statement => &bridge.statement,
        };
        self.phrase(pool, body, rng)
    }

    /// Returns the leading and trailing phrase by which a reply shows a dimension.
    pub(super) fn strategy(&self, code: &str, body: &str, rng: &mut ChaCha8Rng) -> (Option<String>, Option<String>) {
        let (lead, tail) = self.dimension_phrases(code, body, rng);
        // A question to this speaker is answered first.
        let answers = lead.is_none() && self.conversation.is_asked() && !self.conversation.is_answered(body);
        let lead = if answers { self.bridge(body, rng) } else { lead };
        // Two phrases would drown the utterance; only `CA` keeps the second one, because it passes the turn to another
        // character.
        let tail = tail.filter(|_| lead.is_none() || code == "CA");
        (lead, tail)
    }

    fn dimension_phrases(&self, code: &str, body: &str, rng: &mut ChaCha8Rng) -> (Option<String>, Option<String>) {
        let frames = frames(self.conversation.language);
        let Some(pool) = frames.strategy.get(code) else { return (self.bridge(body, rng), None) };
        let shows = |sign| count_speech_markers(body, self.conversation.language, sign) > 0;
        match code {
            "CR" => {
                let lead = self.phrase(&frames.echo, body, rng);
                // Reminders need a few earlier utterances.
                let remind = lead.is_none() && self.conversation.history.len() > 3;
                let tail = if remind { self.phrase(pool, body, rng) } else { None };
                (lead, tail)
            }
            "FR" if shows(SpeechMarker::Fact) => (None, None),
            "RR" if shows(SpeechMarker::Reason) => (None, None),
            "PA" if shows(SpeechMarker::Feeling) => (None, None),
            "CA" if asks(body) && self.conversation.others.iter().any(|other| mentions(body, other)) => (None, None),
            "PA" if rng.random_bool(0.5) => (self.phrase(pool, body, rng), None),
            _ => (None, self.phrase(pool, body, rng)),
        }
    }

    /// Returns a question to the test character that elicits a dimension.
    pub(super) fn elicit(&self, test: &str, code: Option<&str>, body: &str, rng: &mut ChaCha8Rng) -> Option<String> {
        let frames = frames(self.conversation.language);
        let silent = !self.conversation.history.iter().any(|line| line.speaker == test);
        let code = code?;
        let pool = frames.opening.get(code).filter(|_| silent).or_else(|| frames.elicit.get(code))?;
        // The question follows the speaker's own utterance, so it refers to a thing mentioned there.
        let topic = self.conversation.mentioned_things(body).choose(rng).map(|topic| topic.phrase.clone());
        let name = Some(form_of_address(test).unwrap_or_else(|| test.to_owned()));
        let slots = Slots { name, topic: topic.or_else(|| self.slots.topic.clone()), own: None };
        pick(pool, &slots, 1, self.conversation, rng)
    }

    /// Picks a phrase of one sentence that is not similar to the utterance beside it.
    fn phrase(&self, pool: &[String], body: &str, rng: &mut ChaCha8Rng) -> Option<String> {
        pick(pool, self.slots, 1, self.conversation, rng).filter(|phrase| similarity(phrase, body) < 0.5)
    }

    /// Joins the parts of a reply, truncated to `most` sentences, and prepends an action with the probability
    /// `options.action_rate`.
    pub(super) fn spoken(
        &self,
        lead: Option<String>,
        body: &str,
        tail: Option<String>,
        options: &OfflineOptions,
        warm: bool,
        rng: &mut ChaCha8Rng,
    ) -> String {
        let language = self.conversation.language;
        let extra = usize::from(lead.is_some()) + usize::from(tail.is_some());
        let kept = sentences(body).into_iter().take(self.most.saturating_sub(extra).max(1)).map(str::to_owned);
        let parts: Vec<String> = lead.into_iter().chain(kept).chain(tail).take(self.most).collect();
        let mut text = parts.join(if language == Language::En { " " } else { "" });
        close(&mut text, language);
        if language == Language::En {
            text = capitals(&text);
        }
        match self.action(warm, rng).filter(|_| rng.random_bool(chance(options.action_rate))) {
            Some(action) if language == Language::Zh => format!("（{action}）{text}"),
            Some(action) => format!("({action}) {text}"),
            None => text,
        }
    }

    /// Chooses an action that fits the mood and is not in the history.
    fn action<'b>(&self, warm: bool, rng: &mut ChaCha8Rng) -> Option<&'b str> {
        let action = &frames(self.conversation.language).action;
        let mood = match self.conversation.speech_act() {
            _ if warm => &action.warm,
            SpeechAct::Question => &action.question,
            SpeechAct::Anger => &action.anger,
            SpeechAct::Thanks | SpeechAct::Greeting | SpeechAct::Farewell => &action.warm,
            SpeechAct::Statement => &action.any,
        };
        let fresh: Vec<&str> = mood
            .iter()
            .chain(&action.any)
            .map(String::as_str)
            .filter(|action| !self.conversation.history.iter().any(|line| line.content.contains(action)))
            .collect();
        fresh.choose(rng).copied()
    }
}

/// Clamps an option to a probability.
pub(super) const fn chance(chance: f64) -> f64 {
    chance.clamp(0.0, 1.0)
}
