//! Scores for the candidates of a turn: who is named before it, who acts, who is present.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::role_nouns::ROLE_ONLY;
use super::{Dialogue, Passage};
use crate::attribution::Gender;
use crate::attribution::english::names::Mention;
use crate::attribution::english::sentence_position::SentencePosition;
use crate::attribution::english::tokens::NONE;
use crate::attribution::quotations::span::Span;
use crate::attribution::speakers::{SpeakerCue, Turn};

/// Factor for names in the preceding narration if the tag is a pronoun rather than missing.
const PRONOUN_FACTOR: f32 = 1.6;

/// Maximum narration in tokens between two turns of one conversation.
const MAX_NARRATION_GAP: usize = 300;

/// Penalty for characters that only dialogue mentions.
const HEARSAY_PENALTY: f32 = 1.5;

/// Score for the last subject in the narration if the tag is a pronoun.
const LAST_SUBJECT_SCORE: f32 = 2.5;

/// Score for a character addressed in the turn before, and for one who was asked a question.
const ADDRESSED_SCORE: f32 = 1.6;

pub(super) const QUESTION_SCORE: f32 = 2.4;

/// Alternation score of a turn without a tag, after a vocative to a third person and to one of the two speakers.
const THIRD_PERSON_ALTERNATION: f32 = 0.0;

const PARTNER_ALTERNATION: f32 = 0.7;

/// Maximum distance in characters to narration that shows a character to be present.
const MAX_PRESENCE_DISTANCE: usize = 1500;

/// Score for a character who is named as a speaker a few turns away, and the maximum distance in turns.
const NEARBY_SPEAKER_SCORE: f32 = 0.8;

const MAX_TURN_DISTANCE: usize = 10;

impl<'a> Dialogue<'a> {
    /// Scores the context before a turn: the previous turn, the narration since, a border.
    pub(super) fn score_context(&self, turn: &mut Turn, paragraph: usize, start: usize, passages: &[Passage]) {
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
            turn.alternation_score = 0.5;
        } else {
            let border = self.paragraphs[last_span.paragraph..paragraph].iter().any(|paragraph| paragraph.border);
            let narration = self.book.starts[paragraph] - self.book.starts[last_span.paragraph + 1];
            turn.starts_conversation = border || narration > MAX_NARRATION_GAP || between > 6;
            if between > 1 {
                turn.repeat_score = -1.0;
                turn.alternation_score = 0.5;
            } else if start == 0 && passages[0].1 > passages[0].0 {
                turn.repeat_score = -1.5;
            }
            // A song interrupts the dialogue; its singer is often the previous speaker.
            let is_song =
                self.spans.get(turn.first + 1).is_some_and(|next| next.continues && next.start == next.outer_start);
            if is_song {
                (turn.repeat_score, turn.alternation_score) = (2.0, 0.0);
            }
            if turn.starts_conversation {
                turn.start_conversation();
                self.score_opening(turn, paragraph, from);
                return;
            }
        }
        // A character who was addressed is likely to answer.
        if let Some(vocatives) = self.vocatives.last() {
            let asked = self.chars[self.spans[last.end - 1].end - 1] == '?';
            // After a final vocative, alternation says little: it may have brought in a third speaker.
            let decides = turn.cue == SpeakerCue::None && self.ends_in_vocative(last_span);
            let named = |turn: &Turn| if let SpeakerCue::Named(person) = turn.cue { Some(person) } else { None };
            let two: BTreeSet<usize> = self.turns.iter().rev().take(4).filter_map(named).collect();
            let is_third = vocatives.last().is_some_and(|&(_, person)| {
                two.len() > 1 && !two.contains(&person) && self.recently_mentioned(person, from)
            });
            let turns = turn.alternation_score - if is_third { THIRD_PERSON_ALTERNATION } else { PARTNER_ALTERNATION };
            turn.alternation_score -= if decides { turns } else { 0.0 };
            for &(_, person) in vocatives.iter().take(3) {
                turn.weights.push((
                    person,
                    (if asked { QUESTION_SCORE } else { ADDRESSED_SCORE }) + if decides { turns } else { 0.0 },
                ));
            }
        }
        let factor = if matches!(turn.cue, SpeakerCue::Pronoun(_)) { PRONOUN_FACTOR } else { 1.0 };
        self.score_narration(turn, last_span.outer_end, from, factor);
    }

    /// Scores the characters named in the paragraphs before the start of a conversation.
    fn score_opening(&self, turn: &mut Turn, paragraph: usize, from: usize) {
        let mut since = paragraph;
        while since > 0 && paragraph - since < 6 && !self.paragraphs[since - 1].border {
            since -= 1;
        }
        let factor = if matches!(turn.cue, SpeakerCue::Pronoun(_)) { PRONOUN_FACTOR } else { 0.8 };
        self.score_narration(turn, self.paragraphs[since].start as usize, from, factor);
    }

    /// Scores the characters named between two offsets: recent mentions and subjects score higher.
    fn score_narration(&self, turn: &mut Turn, start: usize, end: usize, factor: f32) {
        let mut weights: BTreeMap<usize, f32> = BTreeMap::new();
        let (from, to) = (self.book.first_token_from(start), self.book.first_token_from(end));
        for (age, mention) in self.latest_mentions(from, to).enumerate().take(24) {
            let token = self.book.list[mention.first];
            let Some(person) = mention.person else { continue };
            if !self.evidence.first_pass_done
                && mention.name != ROLE_ONLY
                && self.names.is_role(self.book, mention.name)
            {
                continue;
            }
            #[expect(clippy::cast_precision_loss, reason = "at most 24")]
            let fade = 1.0 / (1.0 + age as f32 * 0.25);
            let weight = match (token.quote == NONE, mention.possessive, mention.position) {
                (false, ..) => 0.2,
                (true, true, _) => 0.3,
                (true, false, SentencePosition::Main) => 1.1,
                (true, false, SentencePosition::Sub) => 0.9,
                (true, false, SentencePosition::Object) => 0.6,
            };
            let entry = weights.entry(person).or_default();
            *entry = entry.max(weight * fade * factor);
        }
        turn.weights.extend(weights);
        if let Some((person, position)) = self.pronoun_focus(turn, self.latest_mentions(from, to)) {
            turn.weights.push((
                person,
                if position == SentencePosition::Main { LAST_SUBJECT_SCORE } else { LAST_SUBJECT_SCORE * 0.5 },
            ));
        }
    }

    /// Returns the most likely referent of a turn's pronoun: the last subject of its gender in the narration before.
    fn pronoun_focus<'m>(
        &self,
        turn: &Turn,
        latest: impl Iterator<Item = &'m Mention>,
    ) -> Option<(usize, SentencePosition)> {
        let gender = match turn.cue {
            SpeakerCue::Pronoun(gender) => gender,
            SpeakerCue::None => turn.actor_gender,
            _ => Gender::Unknown,
        };
        if gender == Gender::Unknown {
            return None;
        }
        let subjects = latest.filter(|mention| {
            !mention.possessive
                && mention.position != SentencePosition::Object
                && self.book.list[mention.first].quote == NONE
        });
        let mut fit = subjects
            .filter_map(|mention| Some((mention.person?, mention.position)))
            .filter(|&(person, _)| self.cast[person].gender() == gender);
        let last = fit.next()?;
        if last.1 == SentencePosition::Main {
            return Some(last);
        }
        Some(fit.take(2).find(|(_, position)| *position == SentencePosition::Main).unwrap_or(last))
    }

    /// Returns the mentions between two tokens, by name or by a role that speaks, latest first.
    fn latest_mentions(&self, from: usize, to: usize) -> impl Iterator<Item = &Mention> {
        let first = self.role_mentions.partition_point(|mention| mention.first < from);
        let last = first + self.role_mentions[first..].partition_point(|mention| mention.first < to);
        let mut roles = self.role_mentions[first..last].iter().rev().peekable();
        let mut names = self.names.between(from, to).iter().rev().peekable();
        std::iter::from_fn(move || {
            let at = names.peek().map(|mention| mention.first);
            roles.next_if(|mention| at.is_none_or(|at| mention.first >= at)).or_else(|| names.next())
        })
    }

    /// Scores the characters who are named as speakers near each turn of a conversation.
    pub(super) fn score_presence(&mut self) {
        for at in 0..self.turns.len() {
            let mut best: BTreeMap<usize, f32> = BTreeMap::new();
            let before = (0..at).rev().zip((1..=at).rev());
            let behind = (at + 1..self.turns.len()).zip(at + 1..);
            // `later` is the later of two adjacent turns; no turn that starts a conversation is crossed.
            let turns = &self.turns;
            for (near, (other, _)) in before
                .take(MAX_TURN_DISTANCE)
                .take_while(|&(_, later)| !turns[later].starts_conversation)
                .enumerate()
                .chain(
                    behind
                        .take(MAX_TURN_DISTANCE)
                        .take_while(|&(_, later)| !turns[later].starts_conversation)
                        .enumerate(),
                )
            {
                if let SpeakerCue::Named(person) = turns[other].cue {
                    let entry = best.entry(person).or_default();
                    *entry = entry.max(if near < 3 { NEARBY_SPEAKER_SCORE } else { NEARBY_SPEAKER_SCORE * 0.5 });
                }
            }
            self.turns[at].weights.extend(best);
        }
    }

    /// Lowers the scores of characters that only dialogue mentions.
    pub(super) fn score_hearsay(&mut self) {
        let mut known = vec![0_u32; self.cast.len()];
        for (name, person) in self.names.list.iter().zip(&self.names.people) {
            if let Some(person) = person {
                known[*person] += name.narrated;
            }
        }
        for turn in &self.turns {
            if let SpeakerCue::Named(person) | SpeakerCue::Role(_, person) = turn.cue {
                known[person] += 3;
            }
        }
        // An addressee who was recently mentioned in narration is present.
        let present: Vec<Vec<usize>> = (0..self.turns.len()).map(|turn| self.addressees_present(turn)).collect();
        for (turn, present) in self.turns.iter_mut().zip(present) {
            let people: BTreeSet<usize> = turn.weights.iter().map(|(person, _)| person).collect();
            turn.weights.extend(
                people
                    .into_iter()
                    .filter(|&person| known[person] < 3 && !self.cast[person].role && !present.contains(&person))
                    .map(|person| (person, -HEARSAY_PENALTY)),
            );
        }
    }

    /// Whether speech ends in a vocative: `Come here, Dorcas.`
    fn ends_in_vocative(&self, span: Span) -> bool {
        self.mentions(span.start, span.end).last().is_some_and(|mention| {
            let end = self.book.end(mention.end - 1);
            mention.vocative
                && mention.person.is_some()
                && !self.chars[end..span.end].iter().any(|c| c.is_alphanumeric())
        })
    }

    /// Returns the characters addressed in the previous turn that the narration has recently mentioned.
    fn addressees_present(&self, turn: usize) -> Vec<usize> {
        let Some(vocatives) = turn.checked_sub(1).map(|before| &self.vocatives[before]) else { return Vec::new() };
        let end = self.spans[self.turns[turn].first].outer_start;
        let fresh = self.turns[turn].starts_conversation;
        vocatives
            .iter()
            .map(|&(_, person)| person)
            .filter(|&person| !fresh && self.recently_mentioned(person, end))
            .collect()
    }

    /// Whether the narration mentions a character shortly before an offset.
    fn recently_mentioned(&self, person: usize, end: usize) -> bool {
        let is_narrated =
            |mention: &Mention| mention.person == Some(person) && self.book.list[mention.first].quote == NONE;
        self.mentions(end.saturating_sub(MAX_PRESENCE_DISTANCE), end).iter().any(is_narrated)
    }

    /// Returns the mentions that begin between two offsets.
    pub(in crate::attribution::english) fn mentions(&self, start: usize, end: usize) -> &'a [Mention] {
        self.names.between(self.book.first_token_from(start), self.book.first_token_from(end))
    }
}
