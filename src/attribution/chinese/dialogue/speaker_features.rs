//! Scores for the candidates of a Chinese turn: who is named before it, who acts, who is addressed.

use std::collections::BTreeMap;

use super::Dialogue;
use crate::attribution::chinese::clauses::{clause_end, sentence_end};
use crate::attribution::chinese::names::Mention;
use crate::attribution::speakers::{SpeakerCue, Turn};
use crate::attribution::words::chinese::CHINESE;

/// Factor for names in the preceding narration if the tag is a pronoun or noun rather than missing.
const PRONOUN_FACTOR: f32 = 1.6;

/// Maximum narration in characters between two turns of one conversation.
pub(in crate::attribution::chinese) const MAX_NARRATION_GAP: usize = 500;

impl<'a> Dialogue<'a> {
    /// Scores the names within the speech; returns the characters addressed.
    pub(super) fn score_speech(&self, turn: &mut Turn) -> Vec<usize> {
        let mut addressed = Vec::new();
        for quote in turn.first..turn.end {
            let span = self.spans[quote];
            for mention in self.mentions(span.start, span.end) {
                let person = self.names.people[mention.name];
                let opens = mention.start == span.start
                    || sentence_end(self.text[mention.start - 1])
                    || self.text[mention.start - 1] == '，';
                let closes = self
                    .text
                    .get(mention.end)
                    .is_none_or(|&c| matches!(c, '，' | '！' | '。' | '？' | '—' | '…' | ',' | '!' | '．'));
                // `我罗守田`: the speaker's own name.
                let names_self = mention.start > span.start && self.text[mention.start - 1] == '我';
                if names_self {
                    turn.weights.push((person, 2.0));
                } else if opens && closes && mention.end < span.end {
                    addressed.push(person);
                    turn.weights.push((person, -4.0));
                } else {
                    turn.weights.push((person, -1.0));
                }
            }
        }
        addressed
    }

    /// Scores the context before a turn: the previous turn, the narration since, a border.
    pub(super) fn score_context(&self, turn: &mut Turn, paragraph: usize, narration: (usize, usize)) {
        let from = self.spans[turn.first].outer_start;
        let Some(last) = self.turns.last() else {
            turn.start_conversation();
            self.score_opening(turn, paragraph, from);
            return;
        };
        let last_span = self.spans[last.end - 1];
        let between = paragraph - last_span.paragraph;
        if between == 0 {
            turn.repeat_score = -0.5;
            turn.alternation_score = 0.6;
        } else {
            let border = self.paragraphs[last_span.paragraph..paragraph].iter().any(|paragraph| paragraph.border);
            let narration_length: usize = self.paragraphs[last_span.paragraph + 1..paragraph]
                .iter()
                .map(|paragraph| (paragraph.end - paragraph.start) as usize)
                .sum();
            let later = (last_span.paragraph + 1..=paragraph).any(|index| {
                let paragraph = &self.paragraphs[index];
                CHINESE.times.head(&self.text[paragraph.start as usize..paragraph.end as usize]) > 0
            });
            turn.starts_conversation = border || later || narration_length > MAX_NARRATION_GAP || between > 6;
            if between > 1 || narration.1 > narration.0 + 4 {
                turn.repeat_score = -0.8;
                turn.alternation_score = 0.5;
            }
            if turn.starts_conversation {
                turn.start_conversation();
                self.score_opening(turn, paragraph, from);
                return;
            }
        }
        if let Some(addressed) = self.addressed.last() {
            for &person in addressed.iter().take(3) {
                turn.weights.push((person, 1.6));
            }
        }
        let factor =
            if matches!(turn.cue, SpeakerCue::Pronoun(_) | SpeakerCue::Role(..)) { PRONOUN_FACTOR } else { 1.0 };
        self.score_narration(turn, last_span.outer_end, from, factor);
    }

    /// Scores the characters named in the paragraphs before the start of a conversation.
    fn score_opening(&self, turn: &mut Turn, paragraph: usize, from: usize) {
        let mut since = paragraph;
        while since > 0 && paragraph - since < 6 && !self.paragraphs[since - 1].border {
            since -= 1;
        }
        let factor =
            if matches!(turn.cue, SpeakerCue::Pronoun(_) | SpeakerCue::Role(..)) { PRONOUN_FACTOR } else { 0.8 };
        self.score_narration(turn, self.paragraphs[since].start as usize, from, factor);
    }

    /// Scores the characters named between two offsets: recent mentions and subjects score higher.
    fn score_narration(&self, turn: &mut Turn, start: usize, end: usize, factor: f32) {
        let mut weights: BTreeMap<usize, f32> = BTreeMap::new();
        let mut quote = self.spans.partition_point(|span| span.outer_end <= start);
        let mentions = self.mentions(start, end);
        let recent = &mentions[mentions.len().saturating_sub(24)..];
        for (index, mention) in recent.iter().enumerate() {
            while quote < self.spans.len() && self.spans[quote].outer_end <= mention.start {
                quote += 1;
            }
            let spoken = self.spans.get(quote).is_some_and(|span| span.outer_start <= mention.start);
            let acting = mention.start > 0 && clause_end(self.text[mention.start - 1]) || mention.start == start;
            #[expect(clippy::cast_precision_loss, reason = "at most 24")]
            let fade = 1.0 / (1.0 + (recent.len() - 1 - index) as f32 * 0.25);
            let weight = if spoken {
                0.2
            } else if acting {
                1.1
            } else {
                0.6
            };
            let entry = weights.entry(self.names.people[mention.name]).or_default();
            *entry = entry.max(weight * fade * factor);
        }
        for (index, person) in self.referents.recent_unnamed(start, end).into_iter().enumerate() {
            #[expect(clippy::cast_precision_loss, reason = "at most 6")]
            let fade = 1.0 / (1.0 + index as f32 * 0.4);
            let entry = weights.entry(person).or_default();
            *entry = entry.max(fade * factor);
        }
        if let Some(person) = self.referents.last_subject(start, end) {
            *weights.entry(person).or_default() += 0.5 * factor;
        }
        turn.weights.extend(weights);
    }

    /// Returns the mentions that begin between two offsets.
    pub(in crate::attribution::chinese) fn mentions(&self, start: usize, end: usize) -> &'a [Mention] {
        self.names.between(start, end)
    }
}
