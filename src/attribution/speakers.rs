//! Speaker decoding: the most likely sequence of speakers over a whole conversation.
//!
//! The language modules score the candidates of each turn. This module finds the best sequence, so that a speaker named
//! in a later paragraph also settles the turns before it. It is independent of the language.

use std::collections::BTreeMap;

use super::{Gender, QuotationKind};

/// What the narration says about the speaker of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpeakerCue {
    /// A name with a speech verb.
    Named(usize),
    /// A pronoun of this gender with a speech verb.
    Pronoun(Gender),
    /// A role or kinship noun with a speech verb: a character present of this gender, or the one known by the role
    /// alone.
    Role(Gender, usize),
    /// Several speakers at once, who are not attributed to any character.
    Several,
    /// No speech verb: no narration, or only an action beside the speech.
    None,
}

/// Consecutive quotations that certainly have the same speaker.
#[derive(Debug, Clone)]
pub(super) struct Turn {
    /// Index of the first quotation.
    pub(super) first: usize,
    /// Index after the last quotation.
    pub(super) end: usize,
    pub(super) cue: SpeakerCue,
    /// Gender of a pronoun that acts beside the speech without a speech verb.
    pub(super) actor_gender: Gender,
    /// Gender of the person addressed as `sir` or `madam` in the speech.
    pub(super) addressee_gender: Gender,
    /// Scores of candidates; negative scores count against them.
    pub(super) weights: Weights,
    /// Whether a conversation begins here.
    pub(super) starts_conversation: bool,
    /// Score for the speaker of the turn before; negative where a new paragraph suggests a change of speaker.
    pub(super) repeat_score: f32,
    /// Score for the speaker two turns before.
    pub(super) alternation_score: f32,
}

/// Scores of candidates; a candidate may occur several times. A long book has millions of entries, so each is kept
/// small.
#[derive(Debug, Clone, Default)]
pub(super) struct Weights(Vec<(u32, f32)>);

impl Weights {
    pub(super) fn push(&mut self, (person, weight): (usize, f32)) {
        self.0.push((super::to_u32(person), weight));
    }

    pub(super) fn append(&mut self, other: &mut Self) {
        self.0.append(&mut other.0);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, f32)> {
        self.0.iter().map(|&(person, weight)| (person as usize, weight))
    }

    /// Replaces each candidate by another.
    pub(super) fn replace(&mut self, other: impl Fn(usize) -> usize) {
        for (person, _) in &mut self.0 {
            *person = super::to_u32(other(*person as usize));
        }
    }
}

impl Extend<(usize, f32)> for Weights {
    fn extend<I: IntoIterator<Item = (usize, f32)>>(&mut self, people: I) {
        self.0.extend(people.into_iter().map(|(person, weight)| (super::to_u32(person), weight)));
    }
}

impl Turn {
    /// Makes the turn the first of a conversation, so that earlier speakers count for little.
    pub(super) const fn start_conversation(&mut self) {
        self.starts_conversation = true;
        self.repeat_score = -0.3;
        self.alternation_score = 0.0;
    }
}

/// The speaker of a turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SpeakerDecision {
    pub(super) speaker: Option<usize>,
    pub(super) kind: Option<QuotationKind>,
    pub(super) confidence: f32,
}

/// Maximum number of candidates in a conversation, unless more are named.
const MAX_CANDIDATES: usize = 10;
/// Penalty for candidates whose gender contradicts `sir` or `madam` in the turn before; half for the turn after.
const ADDRESS_PENALTY: f32 = 1.5;
/// Score of a candidate that is ruled out.
const RULED_OUT: f32 = -40.0;

/// After this many turns, a conversation is cut after the next turn that names its speaker.
pub(super) const SOFT_WINDOW: usize = 30;
/// After this many turns, a conversation is cut in any case.
const MAX_WINDOW: usize = 60;

/// Finds the speakers of all turns. `genders` is indexed by character.
pub(super) fn decide_speakers(turns: &[Turn], genders: &[Gender]) -> Vec<SpeakerDecision> {
    let mut decisions: Vec<SpeakerDecision> = Vec::with_capacity(turns.len());
    let mut start = 0;
    while start < turns.len() {
        let mut end = start + 1;
        // A short window keeps the candidates to the characters present, and the cost linear in the length of the book.
        while end < turns.len() && !turns[end].starts_conversation && end - start < MAX_WINDOW {
            if end - start >= SOFT_WINDOW && matches!(turns[end - 1].cue, SpeakerCue::Named(_)) {
                break;
            }
            end += 1;
        }
        let carried =
            if turns[start].starts_conversation { &[][..] } else { &decisions[start.saturating_sub(2)..start] };
        let before: Vec<Option<usize>> = carried.iter().map(|decision| decision.speaker).collect();
        decode(&turns[start..end], &before, genders, &mut decisions);
        start = end;
    }
    decisions
}

/// Returns the candidate speakers of a conversation, the most likely first.
fn candidates(turns: &[Turn], before: &[Option<usize>]) -> Vec<usize> {
    let mut totals: BTreeMap<usize, f32> = BTreeMap::new();
    for &person in before.iter().flatten() {
        *totals.entry(person).or_default() += 1.0;
    }
    for turn in turns {
        match turn.cue {
            SpeakerCue::Named(person) => *totals.entry(person).or_default() += 100.0,
            // A role noun with a speech verb is nearly as strong as a name, so its referent must be a candidate.
            SpeakerCue::Role(_, person) => *totals.entry(person).or_default() += 30.0,
            SpeakerCue::Pronoun(_) | SpeakerCue::Several | SpeakerCue::None => {}
        }
        for (person, weight) in turn.weights.iter() {
            if weight > 0.0 {
                *totals.entry(person).or_default() += weight;
            }
        }
    }
    let mut people: Vec<(usize, f32)> = totals.into_iter().collect();
    people.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    // Candidates that are named as speakers all stay.
    let named = people.iter().filter(|(_, total)| *total >= 30.0).count();
    people.truncate(MAX_CANDIDATES.max(named));
    people.into_iter().map(|(person, _)| person).collect()
}

/// Returns the score of each candidate for a turn; the last score is that of an unknown speaker.
fn emissions(turn: &Turn, people: &[usize], genders: &[Gender]) -> Vec<f32> {
    let mut scores: Vec<f32> = people
        .iter()
        .map(|&person| {
            let required_gender = match turn.cue {
                SpeakerCue::Named(named) => return if named == person { 0.0 } else { RULED_OUT },
                SpeakerCue::Role(gender, role_character) => {
                    if role_character == person {
                        return -0.4;
                    }
                    gender
                }
                SpeakerCue::Pronoun(gender) => gender,
                SpeakerCue::Several => return RULED_OUT,
                SpeakerCue::None => turn.actor_gender,
            };
            match (required_gender, genders[person]) {
                (Gender::Unknown, _) => 0.0,
                (_, Gender::Unknown) => -1.0,
                (required_gender, gender) if required_gender == gender => 0.0,
                _ => -9.0,
            }
        })
        .collect();
    if !matches!(turn.cue, SpeakerCue::Named(_)) {
        for (person, weight) in turn.weights.iter() {
            if let Some(at) = people.iter().position(|&candidate| candidate == person) {
                scores[at] += weight;
            }
        }
    }
    scores.push(if matches!(turn.cue, SpeakerCue::Named(_)) { RULED_OUT } else { -4.0 });
    scores
}

/// Lowers the scores of candidates whose gender contradicts `sir` or `madam` in the turn before or after.
fn score_answers(turns: &[Turn], people: &[usize], genders: &[Gender], emissions: &mut [Vec<f32>]) {
    for (i, turn) in turns.iter().enumerate().filter(|(_, turn)| turn.addressee_gender != Gender::Unknown) {
        for (other, weight) in [(i + 1, ADDRESS_PENALTY), (i.wrapping_sub(1), ADDRESS_PENALTY * 0.5)] {
            let Some(scores) = emissions.get_mut(other).filter(|_| turns[other].cue == SpeakerCue::None) else {
                continue;
            };
            for (score, &person) in scores.iter_mut().zip(people) {
                let contradicts = genders[person] != Gender::Unknown && genders[person] != turn.addressee_gender;
                *score -= if contradicts { weight } else { 0.0 };
            }
        }
    }
}

/// Returns the transition score of a speaker, given the speakers of the two turns before.
fn transition(turn: &Turn, before: Option<usize>, last: Option<usize>, current: usize, unknown_speaker: usize) -> f32 {
    if current == unknown_speaker {
        return 0.0;
    }
    if last == Some(current) {
        turn.repeat_score
    } else if before == Some(current) {
        turn.alternation_score
    } else {
        0.0
    }
}

fn decode(turns: &[Turn], before: &[Option<usize>], genders: &[Gender], decisions: &mut Vec<SpeakerDecision>) {
    let people = candidates(turns, before);
    let unknown_speaker = people.len();
    let width = unknown_speaker + 1;
    let mut emissions: Vec<Vec<f32>> = turns.iter().map(|turn| emissions(turn, &people, genders)).collect();
    score_answers(turns, &people, genders, &mut emissions);
    // A state is a pair (previous speaker, current speaker); `unknown_speaker` precedes the first turn.
    let mut scores = vec![f32::NEG_INFINITY; width * width];
    let candidate_before = |distance: usize| {
        let person = before.len().checked_sub(distance).and_then(|at| before[at]);
        person.and_then(|person| people.iter().position(|&other| other == person)).unwrap_or(unknown_speaker)
    };
    let (last, earlier) = (candidate_before(1), candidate_before(2));
    for current in 0..width {
        scores[last * width + current] =
            emissions[0][current] + transition(&turns[0], Some(earlier), Some(last), current, unknown_speaker);
    }
    let mut back_pointers: Vec<Vec<u16>> = Vec::with_capacity(turns.len());
    for (i, turn) in turns.iter().enumerate().skip(1) {
        let mut next = vec![f32::NEG_INFINITY; width * width];
        let mut from = vec![0_u16; width * width];
        for last in 0..width {
            for current in 0..width {
                let mut best = (f32::NEG_INFINITY, 0);
                for before in 0..width {
                    let score = scores[before * width + last]
                        + transition(turn, Some(before), Some(last), current, unknown_speaker);
                    if score > best.0 {
                        best = (score, before);
                    }
                }
                next[last * width + current] = best.0 + emissions[i][current];
                from[last * width + current] =
                    u16::try_from(best.1).expect("a window of 60 turns has fewer than 2^16 candidates");
            }
        }
        scores = next;
        back_pointers.push(from);
    }
    let mut state = (0..width * width).fold(0, |best, state| if scores[state] > scores[best] { state } else { best });
    let mut path = vec![0; turns.len()];
    for i in (0..turns.len()).rev() {
        path[i] = state % width;
        if i > 0 {
            state = usize::from(back_pointers[i - 1][state]) * width + state / width;
        }
    }
    for (i, turn) in turns.iter().enumerate() {
        decisions.push(decision(turns, turn, i, &path, &emissions, &people));
    }
}

/// Returns a turn's speaker with its confidence: its score against the next best candidate, the neighbouring turns fixed.
fn decision(
    turns: &[Turn],
    turn: &Turn,
    i: usize,
    path: &[usize],
    emissions: &[Vec<f32>],
    people: &[usize],
) -> SpeakerDecision {
    let unknown_speaker = people.len();
    let speaker_at = |k: usize| path.get(k).copied();
    let score = |candidate: usize| {
        let mut score = emissions[i][candidate];
        if i > 0 {
            score +=
                transition(turn, i.checked_sub(2).and_then(speaker_at), speaker_at(i - 1), candidate, unknown_speaker);
        }
        if let (Some(next), Some(speaker)) = (turns.get(i + 1), speaker_at(i + 1)) {
            score += transition(next, i.checked_sub(1).and_then(speaker_at), Some(candidate), speaker, unknown_speaker);
        }
        if let (Some(next), Some(speaker)) = (turns.get(i + 2), speaker_at(i + 2)) {
            score += transition(next, Some(candidate), speaker_at(i + 1), speaker, unknown_speaker);
        }
        score
    };
    let chosen = path[i];
    if chosen == unknown_speaker {
        return SpeakerDecision { speaker: None, kind: None, confidence: 0.0 };
    }
    let other =
        (0..=unknown_speaker).filter(|&candidate| candidate != chosen).map(score).fold(f32::NEG_INFINITY, f32::max);
    let margin = 1.0 / (1.0 + (other - score(chosen)).exp());
    let (kind, ceiling) = match turn.cue {
        SpeakerCue::Named(_) => (QuotationKind::Explicit, 0.98),
        SpeakerCue::Pronoun(_) | SpeakerCue::Role(..) | SpeakerCue::Several => (QuotationKind::Anaphoric, 0.9),
        SpeakerCue::None => (QuotationKind::Implicit, 0.85),
    };
    SpeakerDecision {
        speaker: Some(people[chosen]),
        kind: Some(kind),
        confidence: (margin * ceiling * 100.0).round() / 100.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(cue: SpeakerCue) -> Turn {
        Turn {
            first: 0,
            end: 1,
            cue,
            actor_gender: Gender::Unknown,
            addressee_gender: Gender::Unknown,
            weights: Weights::default(),
            starts_conversation: false,
            repeat_score: -2.5,
            alternation_score: 1.0,
        }
    }

    fn speakers(turns: &[Turn], genders: &[Gender]) -> Vec<Option<usize>> {
        decide_speakers(turns, genders).iter().map(|decision| decision.speaker).collect()
    }

    #[test]
    fn two_speakers_alternate_with_lookahead() {
        let cues = [SpeakerCue::None, SpeakerCue::Named(1), SpeakerCue::None, SpeakerCue::None, SpeakerCue::Named(0)];
        let turns: Vec<Turn> = cues.map(turn).to_vec();
        assert_eq!(speakers(&turns, &[Gender::Unknown; 2]), [0, 1, 0, 1, 0].map(Some));
    }

    #[test]
    fn pronouns_and_vocatives_constrain_speakers() {
        let mut turns = [
            turn(SpeakerCue::Named(0)),
            turn(SpeakerCue::Pronoun(Gender::Female)),
            turn(SpeakerCue::Named(1)),
            turn(SpeakerCue::Named(2)),
        ]
        .to_vec();
        let genders = [Gender::Male, Gender::Female, Gender::Female];
        turns[1].weights.extend([(1, -5.0), (2, 0.5)]);
        let decisions = decide_speakers(&turns, &genders);
        assert_eq!(decisions[1].speaker, Some(2));
        assert_eq!(decisions[1].kind, Some(QuotationKind::Anaphoric));
    }

    #[test]
    fn a_speaker_without_evidence_is_unknown() {
        assert_eq!(speakers(&[turn(SpeakerCue::None)], &[]), [None]);
    }
}
