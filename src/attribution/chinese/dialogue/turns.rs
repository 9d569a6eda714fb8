//! Builds the turns of a Chinese book from its quotations and their speech tags.

use super::Dialogue;
use crate::attribution::chinese::clauses::{clauses, sentence_end};
use crate::attribution::chinese::names::Names;
use crate::attribution::chinese::names::mentions::distinguishes_she;
use crate::attribution::chinese::noun_phrases::{NounPhrase, Possessor};
use crate::attribution::chinese::referents::{Referent, Referents};
use crate::attribution::chinese::speech_tags::{Tag, subject, tag_after_speech, tag_before_speech};
use crate::attribution::known_characters::KnownCharacters;
use crate::attribution::people::CharacterDraft;
use crate::attribution::quotations::span::Span;
use crate::attribution::speakers::{SpeakerCue, Turn, Weights};
use crate::attribution::words::chinese::CHINESE;
use crate::attribution::{Gender, Paragraph};

/// Scores for the last subjects before a pronoun, latest first.
const SUBJECT_SCORES: [f32; 4] = [2.4, 1.2, 0.6, 0.3];

impl<'a> Dialogue<'a> {
    /// Builds the turns of a book.
    pub(in crate::attribution::chinese) fn read(
        text: &'a [char],
        chars: &'a [char],
        paragraphs: &'a [Paragraph],
        spans: &'a [Span],
        names: &'a Names,
        cast: Vec<CharacterDraft>,
        known_characters: &'a KnownCharacters,
    ) -> Self {
        let modern = distinguishes_she(text);
        let referents = Referents::new(text, chars, names, cast, modern, known_characters);
        let (turns, third_person, addressed) = (Vec::new(), Vec::new(), Vec::new());
        let mut dialogue =
            Self { text, chars, paragraphs, spans, names, referents, modern, turns, third_person, addressed };
        let mut first = 0;
        for (index, paragraph) in paragraphs.iter().enumerate() {
            let mut end = first;
            while end < spans.len() && spans[end].paragraph == index {
                end += 1;
            }
            if end > first {
                dialogue.add_paragraph(first, end);
            } else if !paragraph.border {
                dialogue.record_subjects(paragraph.start as usize, paragraph.end as usize);
            }
            first = end;
        }
        dialogue.merge_named();
        dialogue
    }

    /// Returns the gender of each character.
    pub(in crate::attribution::chinese) fn genders(&self) -> Vec<Gender> {
        self.referents.cast.iter().map(CharacterDraft::gender).collect()
    }

    /// Replaces characters known only by a noun by the named characters they turned out to be.
    fn merge_named(&mut self) {
        let merged = std::mem::take(&mut self.referents.merged);
        for (&noun, &person) in &merged {
            let forms = std::mem::take(&mut self.referents.cast[noun].forms);
            for (form, count) in forms {
                self.referents.cast[person].add(&form, count);
            }
            let known_gender = self.referents.cast[noun].known_gender;
            self.referents.cast[person].known_gender = self.referents.cast[person].known_gender.or(known_gender);
        }
        // `他说` never means the narrator.
        if let Some(narrator) = self.referents.narrator {
            for &turn in &self.third_person {
                self.turns[turn].weights.push((narrator, -8.0));
            }
        }
        let resolved = |person: usize| merged.get(&person).copied().unwrap_or(person);
        for turn in &mut self.turns {
            if let SpeakerCue::Named(person) | SpeakerCue::Role(_, person) = &mut turn.cue {
                *person = resolved(*person);
            }
            turn.weights.replace(resolved);
        }
    }

    /// Records the subjects of the clauses in a passage of narration.
    fn record_subjects(&mut self, at: usize, end: usize) {
        self.referents.link_names(at, end);
        for clause in clauses(self.text, at, end) {
            if let Some(subject) = subject(self.text, self.names, clause, false) {
                let certain = match &subject {
                    NounPhrase::Role(noun) => {
                        let head = &self.text[noun.head..noun.to];
                        noun.new
                            || noun.demonstrative
                            || noun.owner != Possessor::None
                            || self.modern && CHINESE.roles.has(head)
                    }
                    _ => true,
                };
                if certain {
                    self.referents.record_subject(&subject, clause.0);
                }
            }
        }
    }

    fn add_paragraph(&mut self, first: usize, end: usize) {
        let paragraph = &self.paragraphs[self.spans[first].paragraph];
        let (start, stop) = (paragraph.start as usize, paragraph.end as usize);
        let mut narration_used = false;
        let mut previous_had_lead = false;
        let mut at = start;
        for quote in first..end {
            let span = self.spans[quote];
            if span.written {
                self.record_subjects(at, span.outer_start);
                (narration_used, previous_had_lead, at) = (false, false, span.outer_end);
                continue;
            }
            let next = if quote + 1 < end { self.spans[quote + 1].outer_start } else { stop };
            let narration = (at, span.outer_start);
            let blank = self.text[narration.0..narration.1].iter().all(|c| c.is_whitespace());
            let tag = if blank && quote == first {
                self.narration_before(span.paragraph)
                    .and_then(|(from, to)| tag_before_speech(self.text, self.names, from, to, true))
            } else if narration_used {
                None
            } else {
                tag_before_speech(self.text, self.names, narration.0, narration.1, false)
            };
            let has_lead = matches!(tag, Some(Tag::Speech(_) | Tag::SubjectlessSpeech(_)));
            // After a quotation that a tag introduced, narration belongs to the next quotation.
            let after = if has_lead { None } else { tag_after_speech(self.text, self.names, span.outer_end, next) };
            let introduces_next = quote + 1 < end
                && matches!(self.text[..next].iter().rev().find(|c| !c.is_whitespace()), Some('：' | ':'));
            let short = !self.text[span.outer_end..next].iter().any(|&c| sentence_end(c));
            let after =
                after.filter(|after| !(introduces_next && matches!(after, Tag::Speech(_)) && quote > first && !short));
            // `X道：“……”Y笑了，“……”`: if a tag introduced the first quotation, the narration between belongs to the second.
            let another = previous_had_lead && matches!(tag, Some(Tag::Action(_)));
            let joined = quote > first && (narration_used || !has_lead && !blank && !another) || span.continues;
            previous_had_lead = has_lead;
            narration_used = matches!(after, Some(Tag::Speech(_)));
            self.record_subjects(narration.0, narration.1);
            self.add_quotation(quote, joined, blank && quote > first, tag, after, narration);
            at = span.outer_end;
        }
        self.record_subjects(at, stop);
    }

    /// Returns the narration at the end of the previous paragraph, unless that paragraph is a border.
    fn narration_before(&self, paragraph: usize) -> Option<(usize, usize)> {
        let before = &self.paragraphs[paragraph.checked_sub(1)?];
        if before.border {
            return None;
        }
        let end = before.end as usize;
        let spoken = self.spans.partition_point(|span| span.paragraph < paragraph);
        let start = spoken
            .checked_sub(1)
            .map(|at| self.spans[at])
            .filter(|span| span.paragraph + 1 == paragraph)
            .map_or(before.start as usize, |span| span.outer_end);
        (start < end).then_some((start, end))
    }

    fn add_quotation(
        &mut self,
        quote: usize,
        joined: bool,
        bare: bool,
        lead: Option<Tag>,
        after: Option<Tag>,
        narration: (usize, usize),
    ) {
        let span = self.spans[quote];
        let mut turn = Turn {
            first: quote,
            end: quote + 1,
            cue: SpeakerCue::None,
            actor_gender: Gender::Unknown,
            addressee_gender: Gender::Unknown,
            weights: Weights::default(),
            starts_conversation: false,
            repeat_score: -2.0,
            alternation_score: 1.2,
        };
        let is_third_person = |tag: &&Tag| {
            matches!(tag, Tag::Speech(NounPhrase::Pronoun(_, false)) | Tag::Action(NounPhrase::Pronoun(_, false)))
        };
        let is_third_person = [&lead, &after].into_iter().flatten().any(|tag| is_third_person(&tag));
        let mut is_subjectless = false;
        let has_no_subject = matches!(lead, Some(Tag::SubjectlessSpeech(None)));
        for tag in [lead, after].into_iter().flatten() {
            match tag {
                Tag::Speech(subject) => {
                    if turn.cue == SpeakerCue::None || matches!(turn.cue, SpeakerCue::Pronoun(_)) {
                        turn.cue = self.resolve_cue(&subject, span.outer_start, &mut turn.weights);
                    }
                }
                Tag::SubjectlessSpeech(subject) => {
                    is_subjectless = true;
                    turn.cue = SpeakerCue::Pronoun(Gender::Unknown);
                    if let Some(subject) = subject {
                        match self.referents.resolve(&subject) {
                            Referent::Sure(person) | Referent::Likely(person, _) => turn.weights.push((person, 5.0)),
                            Referent::Pronoun(gender) => {
                                self.score_recent_subjects(gender, span.outer_start, &mut turn.weights);
                            }
                            Referent::Several => {}
                        }
                    }
                }
                Tag::Action(subject) => match self.referents.resolve(&subject) {
                    Referent::Sure(person) => turn.weights.push((person, 2.5)),
                    Referent::Likely(person, weight) => {
                        turn.weights.push((person, weight.min(2.0)));
                        if turn.cue == SpeakerCue::None {
                            turn.actor_gender = self.referents.cast[person].gender();
                        }
                    }
                    Referent::Pronoun(gender) if turn.cue == SpeakerCue::None => {
                        turn.actor_gender = gender;
                        self.score_recent_subjects(gender, span.outer_start, &mut turn.weights);
                    }
                    Referent::Pronoun(_) | Referent::Several => {}
                },
            }
        }
        let addressed = self.score_speech(&mut turn);
        if is_third_person {
            // This is the index of the new turn; it is removed again if the turn is joined to the previous one.
            self.third_person.push(self.turns.len());
        }
        let conflict = matches!((self.turns.last().map(|turn| turn.cue), turn.cue), (Some(SpeakerCue::Named(a)), SpeakerCue::Named(b)) if a != b);
        if joined
            && !conflict
            && !is_subjectless
            && let Some(last) = self.turns.last_mut()
        {
            last.end = turn.end;
            last.weights.append(&mut turn.weights);
            if is_third_person {
                self.third_person.pop();
            }
            if matches!(last.cue, SpeakerCue::None | SpeakerCue::Pronoun(_)) && turn.cue != SpeakerCue::None {
                last.cue = turn.cue;
            }
            if let Some(list) = self.addressed.last_mut() {
                list.extend(addressed);
            }
            return;
        }
        self.score_context(&mut turn, span.paragraph, narration);
        if is_subjectless {
            // A speech verb without a subject: the last speaker continues, unless long narration may have changed the
            // subject.
            let length = narration.1 - narration.0;
            turn.repeat_score =
                if self.turns.last().is_some_and(|last| self.spans[last.end - 1].paragraph == span.paragraph) {
                    if has_no_subject {
                        3.0
                    } else if length < 12 {
                        2.0
                    } else {
                        0.5
                    }
                } else {
                    0.0
                };
            turn.alternation_score = 0.0;
        } else if bare {
            turn.repeat_score = -1.5;
        }
        self.turns.push(turn);
        self.addressed.push(addressed);
    }

    fn resolve_cue(&mut self, phrase: &NounPhrase, at: usize, weights: &mut Weights) -> SpeakerCue {
        match self.referents.resolve(phrase) {
            Referent::Sure(person) => SpeakerCue::Named(person),
            Referent::Likely(person, weight) => {
                weights.push((person, weight));
                SpeakerCue::Role(self.referents.cast[person].gender(), person)
            }
            Referent::Pronoun(gender) => {
                self.score_recent_subjects(gender, at, weights);
                SpeakerCue::Pronoun(gender)
            }
            Referent::Several => SpeakerCue::Several,
        }
    }

    /// Scores the previous subjects of a gender.
    fn score_recent_subjects(&self, gender: Gender, at: usize, weights: &mut Weights) {
        weights.extend(self.referents.recent_subjects(at, gender).into_iter().zip(SUBJECT_SCORES));
    }
}
