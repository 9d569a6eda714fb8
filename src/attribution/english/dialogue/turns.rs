//! Builds the turns of an English book from its quotations and their speech tags.

use std::collections::BTreeMap;

use super::{Dialogue, Passage};
use crate::attribution::english::dialogue_evidence::DialogueEvidence;
use crate::attribution::english::names::Names;
use crate::attribution::english::noun_phrases::NounPhrase;
use crate::attribution::english::speech_tags::{Tag, tag_after_speech, tag_before_speech};
use crate::attribution::english::tokens::{NONE, Tokens};
use crate::attribution::known_characters::KnownCharacters;
use crate::attribution::people::{CERTAIN_SCORE, CharacterDraft};
use crate::attribution::quotations::span::Span;
use crate::attribution::speakers::{SpeakerCue, Turn, Weights};
use crate::attribution::words::english::TITLE_GIVEN;
use crate::attribution::{Gender, Paragraph};

/// Score for a specific role (`the clerk`) to be a character of its own.
const SPECIFIC_ROLE_SCORE: f32 = 4.0;

impl<'a> Dialogue<'a> {
    /// Builds the turns of a book.
    #[expect(clippy::too_many_arguments, reason = "the arguments are independent inputs, each used by different rules")]
    pub(in crate::attribution::english) fn read(
        chars: &'a [char],
        paragraphs: &'a [Paragraph],
        spans: &'a [Span],
        book: &'a Tokens,
        names: &'a Names,
        cast: Vec<CharacterDraft>,
        evidence: DialogueEvidence,
        known_characters: &KnownCharacters,
    ) -> Self {
        let mut dialogue = Self {
            chars,
            paragraphs,
            spans,
            book,
            names,
            cast,
            evidence,
            roles: BTreeMap::new(),
            linked_roles: BTreeMap::new(),
            same_person_names: Vec::new(),
            role_mentions: Vec::new(),
            surnames: BTreeMap::new(),
            turns: Vec::new(),
            vocatives: Vec::new(),
            actions: BTreeMap::new(),
        };
        (dialogue.linked_roles, dialogue.same_person_names) = dialogue.appositions();
        dialogue.roles = known_characters.roles(&mut dialogue.cast);
        for (phrase, &name) in &dialogue.evidence.roles {
            if let Some(person) = names.people[name] {
                dialogue.linked_roles.entry(phrase.clone()).or_insert(person);
            }
        }
        dialogue.linked_roles.retain(|phrase, person| known_characters.allows(phrase, &dialogue.cast[*person]));
        if let Some(person) = dialogue.evidence.narrator.and_then(|name| names.people[name]) {
            dialogue.roles.entry("I".to_owned()).or_insert(person);
        }
        for (name, person) in names.list.iter().zip(&names.people) {
            let is_given_name = name.words.len() < 2
                && name.title.is_none_or(|title| book.words[title as usize].class & TITLE_GIVEN != 0);
            if let (Some(person), Some(&last), false) = (person, name.words.last(), is_given_name) {
                dialogue.surnames.entry(*person).or_insert(last);
            }
        }
        dialogue.find_role_mentions();
        let mut first = 0;
        while first < spans.len() {
            let Span { paragraph, written, .. } = spans[first];
            let mut end = first + 1;
            while end < spans.len() && spans[end].paragraph == paragraph && spans[end].written == written {
                end += 1;
            }
            if !written {
                dialogue.add_paragraph(first, end);
            }
            first = end;
        }
        if dialogue.evidence.first_pass_done {
            dialogue.score_presence();
            dialogue.score_hearsay();
        }
        dialogue
    }

    /// Returns the gender of each character.
    pub(in crate::attribution::english) fn genders(&self) -> Vec<Gender> {
        self.cast.iter().map(CharacterDraft::gender).collect()
    }

    /// Returns the narration before, between and after the quotations `[first, end)` of a paragraph, up to any quoted
    /// writing next to them.
    fn passages(&self, first: usize, end: usize) -> Vec<Passage> {
        let paragraph = self.spans[first].paragraph;
        let (from, to) = (self.book.starts[paragraph], self.book.starts[paragraph + 1]);
        let tokens_before =
            |offset: usize| from + self.book.list[from..to].partition_point(|token| token.start() < offset);
        let near = |span: &&Span| span.paragraph == paragraph;
        let last = first
            .checked_sub(1)
            .map(|at| &self.spans[at])
            .filter(near)
            .map_or(from, |span| tokens_before(span.outer_end));
        let to = self.spans.get(end).filter(near).map_or(to, |span| tokens_before(span.outer_start));
        let from = last;
        let mut passages = Vec::with_capacity(end - first + 1);
        let mut at = from;
        for span in &self.spans[first..end] {
            let stop = at + self.book.list[at..to].partition_point(|token| token.start() < span.outer_start);
            passages.push((at, stop));
            at = stop + self.book.list[stop..to].partition_point(|token| token.start() < span.outer_end);
        }
        passages.push((at, to));
        passages
    }

    /// Returns the narration at the end of the previous paragraph, unless that paragraph is a border.
    fn narration_before(&self, paragraph: usize) -> Option<Passage> {
        let before = paragraph.checked_sub(1)?;
        if self.paragraphs[before].border {
            return None;
        }
        let (from, to) = (self.book.starts[before], self.book.starts[before + 1]);
        let start = (from..to).rev().find(|&i| self.book.list[i].quote != NONE).map_or(from, |i| i + 1);
        (start < to).then_some((start, to))
    }

    fn add_paragraph(&mut self, first: usize, end: usize) {
        let paragraph = self.spans[first].paragraph;
        let passages = self.passages(first, end);
        let mut speech_subjects: Vec<Option<NounPhrase>> = vec![None; end - first];
        let mut action_subjects: Vec<Option<NounPhrase>> = vec![None; end - first];
        let mut tag_used = false;
        for k in 0..end - first {
            let last = self.chars[self.spans[first + k].end - 1];
            let comma = last != '.';
            if !tag_used {
                let (at, to) = passages[k];
                let tag = if at == to && k == 0 {
                    self.narration_before(paragraph).and_then(|(at, to)| {
                        match tag_before_speech(self.book, self.names, at, to, false) {
                            Some(Tag::Action(_)) | None => None,
                            speech_subjects => speech_subjects,
                        }
                    })
                } else {
                    tag_before_speech(self.book, self.names, at, to, true)
                };
                match tag {
                    Some(Tag::Speech(subject)) => speech_subjects[k] = Some(subject),
                    Some(Tag::Action(subject)) => action_subjects[k] = Some(subject),
                    None => {}
                }
            }
            let (at, to) = passages[k + 1];
            tag_used = false;
            match tag_after_speech(self.book, self.names, at, to, comma) {
                Some(Tag::Speech(subject)) => {
                    // A sentence that introduces the next quotation belongs to that one.
                    let leads = !comma && k + 2 < passages.len() && self.book.list[to - 1].mark() == ',';
                    if !leads || speech_subjects[k].is_none() && k == 0 {
                        speech_subjects[k] = Some(subject);
                        tag_used = true;
                    }
                }
                Some(Tag::Action(subject)) => {
                    action_subjects[k].get_or_insert(subject);
                }
                None => {}
            }
        }
        let mut start = 0;
        for k in 1..=end - first {
            let is_boundary =
                k == end - first || self.changes_speaker(&speech_subjects[start..k], speech_subjects[k].as_ref());
            if is_boundary {
                self.add_turn(first, start, k, &speech_subjects, &action_subjects, &passages);
                start = k;
            }
        }
    }

    /// Whether a quotation has another speaker than those before it in the paragraph.
    fn changes_speaker(&self, before: &[Option<NounPhrase>], next: Option<&NounPhrase>) -> bool {
        let Some(next) = next else { return false };
        let person = |phrase: &NounPhrase| match phrase {
            NounPhrase::Name(name) => self.names.people[*name],
            _ => None,
        };
        let gender = |phrase: &NounPhrase| match phrase {
            NounPhrase::Name(name) => {
                self.names.people[*name].map_or(Gender::Unknown, |person| self.cast[person].gender())
            }
            NounPhrase::Pronoun(gender) | NounPhrase::Role(_, gender, _) => *gender,
            NounPhrase::Narrator | NounPhrase::Several => Gender::Unknown,
        };
        before.iter().flatten().any(|before| {
            let name_changes = matches!((person(before), person(next)), (Some(a), Some(b)) if a != b);
            let genders_differ = matches!(
                (gender(before), gender(next)),
                (Gender::Female, Gender::Male) | (Gender::Male, Gender::Female)
            );
            let narrator_changes = (*before == NounPhrase::Narrator) != (*next == NounPhrase::Narrator);
            name_changes || genders_differ || narrator_changes
        })
    }

    /// Adds the turn of quotations `first + start .. first + end`, or appends it to the turn that it continues.
    fn add_turn(
        &mut self,
        first: usize,
        start: usize,
        end: usize,
        speech_subjects: &[Option<NounPhrase>],
        action_subjects: &[Option<NounPhrase>],
        passages: &[Passage],
    ) {
        let cue = self.strongest_cue(&speech_subjects[start..end]);
        let span = self.spans[first + start];
        let paragraph = span.paragraph;
        let mut turn = Turn {
            first: first + start,
            end: first + end,
            cue,
            actor_gender: Gender::Unknown,
            addressee_gender: Gender::Unknown,
            weights: Weights::default(),
            starts_conversation: false,
            repeat_score: -2.5,
            alternation_score: 1.2,
        };
        for subject in action_subjects[start..end].iter().flatten() {
            match subject {
                NounPhrase::Name(name) => {
                    if let Some(person) = self.names.people[*name] {
                        turn.weights.push((person, 3.0));
                    }
                }
                NounPhrase::Narrator => turn.weights.push((self.role("I", Gender::Unknown), 3.0)),
                NounPhrase::Pronoun(gender) if turn.cue == SpeakerCue::None => turn.actor_gender = *gender,
                NounPhrase::Role(phrase, gender, kin) if turn.cue == SpeakerCue::None => {
                    turn.actor_gender = *gender;
                    let own = if *kin { self.roles.get(phrase).copied() } else { Some(self.role(phrase, *gender)) };
                    turn.weights.extend(own.map(|own| (own, if *kin { 1.5 } else { 2.2 })));
                }
                _ => {}
            }
        }
        // `he said` never means the narrator.
        if let Some(&narrator) = self.roles.get("I")
            && (matches!(turn.cue, SpeakerCue::Pronoun(_) | SpeakerCue::Role(..))
                || turn.actor_gender != Gender::Unknown)
        {
            turn.weights.push((narrator, -8.0));
        }
        self.record_action(first + start, first + end, passages, (start, end));
        for subject in speech_subjects[start..end].iter().chain(&action_subjects[start..end]).flatten() {
            if let NounPhrase::Role(phrase, _, false) = subject
                && let Some(noun) = phrase.strip_prefix("the ")
                && let Some(person) = self.titled(noun, span.outer_start).and_then(|mention| mention.person)
            {
                turn.weights.push((person, 2.2));
            }
        }
        if let SpeakerCue::Role(_, person) = turn.cue {
            if !self.cast[person].role {
                turn.weights.push((person, if self.evidence.first_pass_done { 2.5 } else { 0.0 }));
            } else if self.evidence.first_pass_done && self.has_specific_role(person) {
                turn.weights.push((person, SPECIFIC_ROLE_SCORE));
            }
        }
        if let SpeakerCue::Role(_, person) = turn.cue
            && self.cast[person].exclusive
        {
            turn.weights.push((person, CERTAIN_SCORE));
        }
        for subject in speech_subjects[start..end].iter().flatten() {
            if let NounPhrase::Role(phrase, gender, true) = subject {
                self.score_kin(&mut turn, phrase, *gender);
            }
        }
        // Names within a song are not evidence: it may be about its singer.
        let is_song = span.continues && span.start == span.outer_start;
        let vocatives = if is_song { Vec::new() } else { self.score_speech(&mut turn) };
        if span.continues
            && start == 0
            && let Some(last) = self.turns.last_mut()
        {
            last.end = turn.end;
            last.weights.append(&mut turn.weights);
            if !matches!(last.cue, SpeakerCue::Named(_)) && turn.cue != SpeakerCue::None {
                last.cue = turn.cue;
            }
            if let Some(names) = self.vocatives.last_mut() {
                names.extend(vocatives);
            }
            return;
        }
        self.score_context(&mut turn, paragraph, start, passages);
        self.turns.push(turn);
        self.vocatives.push(vocatives);
    }

    /// Returns the strongest cue among the tags of a turn.
    fn strongest_cue(&mut self, speech_subjects: &[Option<NounPhrase>]) -> SpeakerCue {
        let mut cue = SpeakerCue::None;
        for subject in speech_subjects.iter().flatten() {
            let found = match subject {
                // In the first pass, a role may still turn out to belong to a named character.
                NounPhrase::Name(name) if !self.evidence.first_pass_done && self.names.is_role(self.book, *name) => {
                    self.names.people[*name]
                        .map_or(SpeakerCue::None, |own| SpeakerCue::Role(self.cast[own].gender(), own))
                }
                NounPhrase::Name(name) => self.names.people[*name].map_or(SpeakerCue::None, SpeakerCue::Named),
                NounPhrase::Pronoun(gender) => SpeakerCue::Pronoun(*gender),
                NounPhrase::Several => SpeakerCue::Several,
                NounPhrase::Narrator => SpeakerCue::Named(self.role("I", Gender::Unknown)),
                NounPhrase::Role(phrase, gender, _) => SpeakerCue::Role(*gender, self.role(phrase, *gender)),
            };
            let rank = |cue: &SpeakerCue| match cue {
                SpeakerCue::None => 0,
                SpeakerCue::Pronoun(Gender::Unknown) => 1,
                SpeakerCue::Several => 2,
                SpeakerCue::Pronoun(_) => 3,
                SpeakerCue::Role(..) => 4,
                SpeakerCue::Named(_) => 5,
            };
            if rank(&found) > rank(&cue) {
                cue = found;
            }
        }
        cue
    }
}
