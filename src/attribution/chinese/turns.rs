//! Chinese turns: the evidence for the speaker of each, from narration and dialogue around it.

use std::collections::BTreeMap;

use super::clauses::{clause_end, clauses, sentence_end};
use super::names::{Mention, Names, distinguishes_she};
use super::nominals::{NounPhrase, Possessor};
use super::referents::{Referent, Referents};
use super::tags::{Tag, subject, tag_after_speech, tag_before_speech};
use super::words::title_gender;
use crate::attribution::known_characters::KnownCharacters;
use crate::attribution::people::{CharacterDraft, SpeakerAssignment};
use crate::attribution::quotations::Span;
use crate::attribution::speakers::{SpeakerCue, SpeakerDecision, Turn, Weights};
use crate::attribution::tables::CHINESE;
use crate::attribution::{Gender, Paragraph, flatten};

/// Factor for names in the preceding narration if the tag is a pronoun or noun rather than missing.
const PRONOUN: f32 = 1.6;

/// Maximum narration in characters between two turns of one conversation.
const APART: usize = 500;

/// Scores for the last subjects before a pronoun, latest first.
const FOCUS: [f32; 4] = [2.4, 1.2, 0.6, 0.3];

/// The turns of a book and the evidence they are built from.
pub(super) struct Dialogue<'a> {
    text: &'a [char],
    chars: &'a [char],
    paragraphs: &'a [Paragraph],
    spans: &'a [Span],
    names: &'a Names,
    who: Referents<'a>,
    /// Whether the book distinguishes 她 from 他.
    modern: bool,
    pub(super) turns: Vec<Turn>,
    /// Indices of the turns introduced by a third-person pronoun: `他说`.
    told: Vec<usize>,
    /// By turn: the characters addressed in its speech.
    called: Vec<Vec<usize>>,
}

impl<'a> Dialogue<'a> {
    /// Builds the turns of a book.
    pub(super) fn read(
        text: &'a [char],
        chars: &'a [char],
        paragraphs: &'a [Paragraph],
        spans: &'a [Span],
        names: &'a Names,
        cast: Vec<CharacterDraft>,
        given: &'a KnownCharacters,
    ) -> Self {
        let modern = distinguishes_she(text);
        let who = Referents::new(text, chars, names, cast, modern, given);
        let (turns, told, called) = (Vec::new(), Vec::new(), Vec::new());
        let mut scene = Self { text, chars, paragraphs, spans, names, who, modern, turns, told, called };
        let mut first = 0;
        for (index, paragraph) in paragraphs.iter().enumerate() {
            let mut end = first;
            while end < spans.len() && spans[end].paragraph == index {
                end += 1;
            }
            if end > first {
                scene.add_paragraph(first, end);
            } else if !paragraph.border {
                scene.record_subjects(paragraph.start as usize, paragraph.end as usize);
            }
            first = end;
        }
        scene.merge_named();
        scene
    }

    /// Returns the gender of each character.
    pub(super) fn genders(&self) -> Vec<Gender> {
        self.who.cast.iter().map(CharacterDraft::gender).collect()
    }

    /// Replaces characters known only by a noun by the named characters they turned out to be.
    fn merge_named(&mut self) {
        let merged = std::mem::take(&mut self.who.merged);
        for (&noun, &person) in &merged {
            let forms = std::mem::take(&mut self.who.cast[noun].forms);
            for (form, count) in forms {
                self.who.cast[person].add(&form, count);
            }
            let fixed = self.who.cast[noun].fixed;
            self.who.cast[person].fixed = self.who.cast[person].fixed.or(fixed);
        }
        // `他说` never means the narrator.
        if let Some(narrator) = self.who.narrator {
            for &turn in &self.told {
                self.turns[turn].weights.push((narrator, -8.0));
            }
        }
        let place = |person: usize| merged.get(&person).copied().unwrap_or(person);
        for turn in &mut self.turns {
            if let SpeakerCue::Named(person) | SpeakerCue::Role(_, person) = &mut turn.cue {
                *person = place(*person);
            }
            turn.weights.replace(place);
        }
    }

    /// Records the subjects of the clauses in a passage of narration.
    fn record_subjects(&mut self, at: usize, end: usize) {
        self.who.link_names(at, end);
        for clause in clauses(self.text, at, end) {
            if let Some(who) = subject(self.text, self.names, clause, false) {
                let sure = match &who {
                    NounPhrase::Role(noun) => {
                        let head = &self.text[noun.head..noun.to];
                        noun.new
                            || noun.shown
                            || noun.owner != Possessor::Nobody
                            || self.modern && CHINESE.roles.has(head)
                    }
                    _ => true,
                };
                if sure {
                    self.who.record_subject(&who, clause.0);
                }
            }
        }
    }

    fn add_paragraph(&mut self, first: usize, end: usize) {
        let paragraph = &self.paragraphs[self.spans[first].paragraph];
        let (start, stop) = (paragraph.start as usize, paragraph.end as usize);
        let mut used = false;
        let mut before_led = false;
        let mut at = start;
        for quote in first..end {
            let span = self.spans[quote];
            if span.written {
                self.record_subjects(at, span.outer_start);
                (used, before_led, at) = (false, false, span.outer_end);
                continue;
            }
            let next = if quote + 1 < end { self.spans[quote + 1].outer_start } else { stop };
            let narration = (at, span.outer_start);
            let blank = self.text[narration.0..narration.1].iter().all(|c| c.is_whitespace());
            let tag = if blank && quote == first {
                self.narration_before(span.paragraph)
                    .and_then(|(from, to)| tag_before_speech(self.text, self.names, from, to, true))
            } else if used {
                None
            } else {
                tag_before_speech(self.text, self.names, narration.0, narration.1, false)
            };
            let led = matches!(tag, Some(Tag::Says(_) | Tag::Goes(_)));
            // After a quotation that a tag introduced, narration belongs to the next quotation.
            let after = if led { None } else { tag_after_speech(self.text, self.names, span.outer_end, next) };
            let hands_on = quote + 1 < end
                && matches!(self.text[..next].iter().rev().find(|c| !c.is_whitespace()), Some('：' | ':'));
            let short = !self.text[span.outer_end..next].iter().any(|&c| sentence_end(c));
            let after = after.filter(|after| !(hands_on && matches!(after, Tag::Says(_)) && quote > first && !short));
            // `X道：“……”Y笑了，“……”`: if a tag introduced the first quotation, the narration between belongs to the second.
            let another = before_led && matches!(tag, Some(Tag::Acts(_)));
            let joined = quote > first && (used || !led && !blank && !another) || span.continues;
            before_led = led;
            used = matches!(after, Some(Tag::Says(_)));
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
            acts: Gender::Unknown,
            hears: Gender::Unknown,
            weights: Weights::default(),
            fresh: false,
            same: -2.0,
            alternate: 1.2,
        };
        let third = |tag: &&Tag| {
            matches!(tag, Tag::Says(NounPhrase::Pronoun(_, false)) | Tag::Acts(NounPhrase::Pronoun(_, false)))
        };
        let third = [&lead, &after].into_iter().flatten().any(|tag| third(&tag));
        let mut goes = false;
        let nobody = matches!(lead, Some(Tag::Goes(None)));
        for tag in [lead, after].into_iter().flatten() {
            match tag {
                Tag::Says(who) => {
                    if turn.cue == SpeakerCue::None || matches!(turn.cue, SpeakerCue::Pronoun(_)) {
                        turn.cue = self.resolve_cue(&who, span.outer_start, &mut turn.weights);
                    }
                }
                Tag::Goes(who) => {
                    goes = true;
                    turn.cue = SpeakerCue::Pronoun(Gender::Unknown);
                    if let Some(who) = who {
                        match self.who.resolve(&who) {
                            Referent::Sure(person) | Referent::Likely(person, _) => turn.weights.push((person, 5.0)),
                            Referent::Pronoun(gender) => self.score_focus(gender, span.outer_start, &mut turn.weights),
                            Referent::Several => {}
                        }
                    }
                }
                Tag::Acts(who) => match self.who.resolve(&who) {
                    Referent::Sure(person) => turn.weights.push((person, 2.5)),
                    Referent::Likely(person, weight) => {
                        turn.weights.push((person, weight.min(2.0)));
                        if turn.cue == SpeakerCue::None {
                            turn.acts = self.who.cast[person].gender();
                        }
                    }
                    Referent::Pronoun(gender) if turn.cue == SpeakerCue::None => {
                        turn.acts = gender;
                        self.score_focus(gender, span.outer_start, &mut turn.weights);
                    }
                    Referent::Pronoun(_) | Referent::Several => {}
                },
            }
        }
        let called = self.score_speech(&mut turn);
        if third {
            // This is the index of the new turn; it is removed again if the turn is joined to the previous one.
            self.told.push(self.turns.len());
        }
        let conflict = matches!((self.turns.last().map(|turn| turn.cue), turn.cue), (Some(SpeakerCue::Named(a)), SpeakerCue::Named(b)) if a != b);
        if joined
            && !conflict
            && !goes
            && let Some(last) = self.turns.last_mut()
        {
            last.end = turn.end;
            last.weights.append(&mut turn.weights);
            if third {
                self.told.pop();
            }
            if matches!(last.cue, SpeakerCue::None | SpeakerCue::Pronoun(_)) && turn.cue != SpeakerCue::None {
                last.cue = turn.cue;
            }
            if let Some(list) = self.called.last_mut() {
                list.extend(called);
            }
            return;
        }
        self.score_context(&mut turn, span.paragraph, narration);
        if goes {
            // A speech verb without a subject: the last speaker continues, unless long narration may have changed the
            // subject.
            let length = narration.1 - narration.0;
            turn.same = if self.turns.last().is_some_and(|last| self.spans[last.end - 1].paragraph == span.paragraph) {
                if nobody {
                    3.0
                } else if length < 12 {
                    2.0
                } else {
                    0.5
                }
            } else {
                0.0
            };
            turn.alternate = 0.0;
        } else if bare {
            turn.same = -1.5;
        }
        self.turns.push(turn);
        self.called.push(called);
    }

    fn resolve_cue(&mut self, who: &NounPhrase, at: usize, weights: &mut Weights) -> SpeakerCue {
        match self.who.resolve(who) {
            Referent::Sure(person) => SpeakerCue::Named(person),
            Referent::Likely(person, weight) => {
                weights.push((person, weight));
                SpeakerCue::Role(self.who.cast[person].gender(), person)
            }
            Referent::Pronoun(gender) => {
                self.score_focus(gender, at, weights);
                SpeakerCue::Pronoun(gender)
            }
            Referent::Several => SpeakerCue::Several,
        }
    }

    /// Scores the previous subjects of a gender.
    fn score_focus(&self, gender: Gender, at: usize, weights: &mut Weights) {
        weights.extend(self.who.recent_subjects(at, gender).into_iter().zip(FOCUS));
    }

    /// Returns the mentions that begin between two offsets.
    fn mentions(&self, start: usize, end: usize) -> &'a [Mention] {
        self.names.between(start, end)
    }

    /// Scores the names within the speech; returns the characters addressed.
    fn score_speech(&self, turn: &mut Turn) -> Vec<usize> {
        let mut called = Vec::new();
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
                let own = mention.start > span.start && self.text[mention.start - 1] == '我';
                if own {
                    turn.weights.push((person, 2.0));
                } else if opens && closes && mention.end < span.end {
                    called.push(person);
                    turn.weights.push((person, -4.0));
                } else {
                    turn.weights.push((person, -1.0));
                }
            }
        }
        called
    }

    /// Scores the context before a turn: the previous turn, the narration since, a border.
    fn score_context(&self, turn: &mut Turn, paragraph: usize, narration: (usize, usize)) {
        let from = self.spans[turn.first].outer_start;
        let Some(last) = self.turns.last() else {
            turn.begin();
            self.score_opening(turn, paragraph, from);
            return;
        };
        let last_span = self.spans[last.end - 1];
        let between = paragraph - last_span.paragraph;
        if between == 0 {
            turn.same = -0.5;
            turn.alternate = 0.6;
        } else {
            let border = self.paragraphs[last_span.paragraph..paragraph].iter().any(|paragraph| paragraph.border);
            let told: usize = self.paragraphs[last_span.paragraph + 1..paragraph]
                .iter()
                .map(|paragraph| (paragraph.end - paragraph.start) as usize)
                .sum();
            let later = (last_span.paragraph + 1..=paragraph).any(|index| {
                let paragraph = &self.paragraphs[index];
                CHINESE.times.head(&self.text[paragraph.start as usize..paragraph.end as usize]) > 0
            });
            turn.fresh = border || later || told > APART || between > 6;
            if between > 1 || narration.1 > narration.0 + 4 {
                turn.same = -0.8;
                turn.alternate = 0.5;
            }
            if turn.fresh {
                turn.begin();
                self.score_opening(turn, paragraph, from);
                return;
            }
        }
        if let Some(called) = self.called.last() {
            for &person in called.iter().take(3) {
                turn.weights.push((person, 1.6));
            }
        }
        let share = if matches!(turn.cue, SpeakerCue::Pronoun(_) | SpeakerCue::Role(..)) { PRONOUN } else { 1.0 };
        self.score_narration(turn, last_span.outer_end, from, share);
    }

    /// Scores the characters named in the paragraphs before the start of a conversation.
    fn score_opening(&self, turn: &mut Turn, paragraph: usize, from: usize) {
        let mut since = paragraph;
        while since > 0 && paragraph - since < 6 && !self.paragraphs[since - 1].border {
            since -= 1;
        }
        let share = if matches!(turn.cue, SpeakerCue::Pronoun(_) | SpeakerCue::Role(..)) { PRONOUN } else { 0.8 };
        self.score_narration(turn, self.paragraphs[since].start as usize, from, share);
    }

    /// Scores the characters named between two offsets: recent mentions and subjects score higher.
    fn score_narration(&self, turn: &mut Turn, start: usize, end: usize, share: f32) {
        let mut weights: BTreeMap<usize, f32> = BTreeMap::new();
        let mut quote = self.spans.partition_point(|span| span.outer_end <= start);
        let mentions = self.mentions(start, end);
        let recent = &mentions[mentions.len().saturating_sub(24)..];
        for (place, mention) in recent.iter().enumerate() {
            while quote < self.spans.len() && self.spans[quote].outer_end <= mention.start {
                quote += 1;
            }
            let spoken = self.spans.get(quote).is_some_and(|span| span.outer_start <= mention.start);
            let acting = mention.start > 0 && clause_end(self.text[mention.start - 1]) || mention.start == start;
            #[expect(clippy::cast_precision_loss, reason = "at most 24")]
            let fade = 1.0 / (1.0 + (recent.len() - 1 - place) as f32 * 0.25);
            let weight = if spoken {
                0.2
            } else if acting {
                1.1
            } else {
                0.6
            };
            let entry = weights.entry(self.names.people[mention.name]).or_default();
            *entry = entry.max(weight * fade * share);
        }
        for (place, person) in self.who.recent_unnamed(start, end).into_iter().enumerate() {
            #[expect(clippy::cast_precision_loss, reason = "at most 6")]
            let fade = 1.0 / (1.0 + place as f32 * 0.4);
            let entry = weights.entry(person).or_default();
            *entry = entry.max(fade * share);
        }
        if let Some(person) = self.who.last_subject(start, end) {
            *weights.entry(person).or_default() += 0.5 * share;
        }
        turn.weights.extend(weights);
    }

    /// Returns the characters, and the speaker of each quotation.
    pub(super) fn finish(mut self, verdicts: Vec<SpeakerDecision>) -> (Vec<CharacterDraft>, Vec<SpeakerAssignment>) {
        self.who.cast.iter_mut().filter(|draft| draft.given.is_none()).for_each(strip_demonstratives);
        let mut found = vec![SpeakerAssignment::default(); self.spans.len()];
        for (turn, verdict) in self.turns.iter().zip(verdicts) {
            for (quote, found) in found.iter_mut().enumerate().take(turn.end).skip(turn.first) {
                *found = SpeakerAssignment {
                    speaker: verdict.speaker,
                    kind: verdict.kind,
                    confidence: verdict.confidence,
                    action: verdict.speaker.and_then(|_| self.action(quote)),
                };
            }
        }
        (self.who.cast, found)
    }

    /// Returns the speaker's action after a quotation, if it is a separate sentence of narration without a speech verb.
    fn action(&self, quote: usize) -> Option<String> {
        let span = self.spans[quote];
        let end = self
            .spans
            .get(quote + 1)
            .filter(|next| next.paragraph == span.paragraph)
            .map_or(self.paragraphs[span.paragraph].end as usize, |next| next.outer_start);
        let narration = &self.text[span.outer_end..end];
        let stop = narration.iter().position(|&c| sentence_end(c))?;
        let short = (2..60).contains(&stop) && narration[stop + 1..].iter().all(|c| c.is_whitespace());
        let spoken = matches!(self.text[span.end - 1], '。' | '！' | '？' | '…' | '．' | '!' | '?');
        let silent = !narration[..stop].split(|&c| clause_end(c)).any(|clause| CHINESE.ends_in_speech(clause));
        (short && spoken && silent).then(|| flatten(&self.chars[span.outer_end..=span.outer_end + stop]))
    }
}

/// Demonstratives, which are not part of a name.
const POINTERS: [char; 6] = ['那', '这', '這', '此', '该', '該'];

/// Removes demonstratives from the name of an unnamed character, and demonstrative or generic nouns from the aliases of
/// a named one.
fn strip_demonstratives(draft: &mut CharacterDraft) {
    let name = draft.fullest();
    if !draft.role {
        let anybody = |form: &str| {
            let form: Vec<char> = form.chars().map(|c| CHINESE.fold(c)).collect();
            let nouns = [&CHINESE.generic_female, &CHINESE.generic_male, &CHINESE.generic_either];
            nouns.iter().any(|words| words.has(&form)) && title_gender(&form).is_none()
        };
        draft.forms.retain(|form, _| *form == name || !form.starts_with(POINTERS) && !anybody(form));
        return;
    }
    let bare = name.trim_start_matches(POINTERS);
    let bare = bare.strip_prefix(['个', '個', '位', '名']).unwrap_or(bare);
    let bare = ["一个", "一個", "一位", "一名"].iter().find_map(|count| bare.strip_prefix(count)).unwrap_or(bare);
    if bare.len() < name.len() && !bare.starts_with('些') {
        // 人 alone is no name.
        draft.name = Some(if bare == "人" || bare.is_empty() { "某人".to_owned() } else { bare.to_owned() });
    }
}
