//! Characters that appear by a noun before they are named: `the ferryman`, then `“I’m Tom Garrick,” said the ferryman`.
//!
//! A noun and a name are linked only by a statement that connects them. A noun that can mean many people, such as `the
//! stranger`, means the named one only for the rest of the scene.

use std::collections::BTreeMap;

use super::Dialogue;
use crate::attribution::Gender;
use crate::attribution::english::names::Mention;
use crate::attribution::english::names::self_naming::states_own_name;
use crate::attribution::english::noun_phrases::{NounPhrase, noun_phrase};
use crate::attribution::english::sentence_position::SentencePosition;
use crate::attribution::english::tokens::NONE;
use crate::attribution::speakers::{SpeakerCue, SpeakerDecision};
use crate::attribution::words::english::{ANIMAL, DETERMINER, ENGLISH, GENERIC, KIN, POSSESSIVE, ROLE};

/// Maximum distance in tokens between a noun and `It was Hale.`
const MAX_INTRODUCTION_DISTANCE: usize = 60;

/// A character known by a noun who is given a name.
#[derive(Debug, Clone)]
pub(super) struct Introduction {
    /// The phrase with the noun.
    pub(super) phrase: String,
    /// The character with that name.
    pub(in crate::attribution::english) person: usize,
    /// Token index of the name.
    pub(in crate::attribution::english) at: usize,
}

impl Introduction {
    /// Whether the noun can mean a different person in each scene.
    pub(super) fn is_ambiguous(&self) -> bool {
        ENGLISH.is(self.phrase.rsplit(' ').next().unwrap_or_default(), GENERIC | ANIMAL | KIN)
    }
}

impl Dialogue<'_> {
    /// Returns the introductions in narration: `a woman whose name was Mrs. Hale`, `the clerk’s name was Hale`, `the
    /// clerk was Hale`, `It was Hale.`
    pub(super) fn named_in_narration(&self) -> Vec<Introduction> {
        let named = self.names.mentions.iter().filter_map(|mention| {
            let person = mention.person.filter(|_| !mention.possessive)?;
            let is_narrated =
                self.book.list[mention.first].quote == NONE && !self.names.is_role(self.book, mention.name);
            let (phrase, gender) = self.noun_named(mention).filter(|_| is_narrated)?;
            self.gender_fits(person, gender).then_some(Introduction { phrase, person, at: mention.first })
        });
        named.collect()
    }

    /// Returns the introductions in which speakers state their own name: `“I’m Tom Garrick,” said the ferryman`.
    pub(super) fn named_in_speech(&self) -> Vec<Introduction> {
        let mut found = Vec::new();
        for turn in &self.turns {
            let SpeakerCue::Role(gender, role_person) = turn.cue else { continue };
            let Some(phrase) = self.roles.iter().find(|(_, role)| **role == role_person).map(|(phrase, _)| phrase)
            else {
                continue;
            };
            for quote in turn.first..turn.end {
                let stated = self.mentions(self.spans[quote].start, self.spans[quote].end);
                let stated = stated.iter().filter(|mention| states_own_name(self.book, mention));
                for (mention, person) in stated.filter_map(|mention| Some((mention, mention.person?))) {
                    if self.cast[role_person].role && person != role_person && self.gender_fits(person, gender) {
                        found.push(Introduction { phrase: phrase.clone(), person, at: mention.first });
                    }
                }
            }
        }
        found
    }

    fn gender_fits(&self, person: usize, gender: Gender) -> bool {
        let known = self.cast[person].gender();
        gender == Gender::Unknown || known == Gender::Unknown || gender == known
    }

    /// Returns the noun phrase that the narration links to a name.
    fn noun_named(&self, mention: &Mention) -> Option<(String, Gender)> {
        let book = self.book;
        let back = |n: usize| mention.first.checked_sub(n).map_or("", |at| book.text(at));
        if !matches!(back(1), "was" | "is") {
            return None;
        }
        let verb = mention.first - 1;
        // `It was Hale who spoke` picks one of the known characters.
        let closed = book.list.get(mention.end).is_none_or(|token| matches!(token.mark(), '.' | '!' | ';' | ','));
        match back(2) {
            // `It was Hale` may identify someone else than the last noun (someone a doctor hears at the door), so only
            // generic nouns count.
            "it" if closed && book.sentence_start(mention.first) == verb - 1 => {
                let general = |phrase: &str| ENGLISH.is(phrase.rsplit(' ').next().unwrap_or_default(), GENERIC);
                return self.last_role_phrase(verb - 1).filter(|(phrase, _)| general(phrase));
            }
            "name" => {}
            // `Beside the captain was Hale` is about two people: the noun has to open the sentence.
            _ if closed => {
                let at = book.sentence_start(verb);
                let is_determined = book.class(at) & (DETERMINER | POSSESSIVE) != 0;
                return match noun_phrase(book, self.names, at, verb).filter(|_| is_determined)? {
                    (NounPhrase::Role(phrase, gender, false), end) if end == verb => Some((phrase, gender)),
                    _ => None,
                };
            }
            _ => return None,
        }
        // `The vicar – his name was Mr. Hale – rose.`
        if matches!(back(3), "his" | "her") {
            let dash = mention.first.checked_sub(4)?;
            return self.role_phrase_before(dash).filter(|_| matches!(book.list[dash].mark(), '–' | '—' | '-' | '('));
        }
        if back(3) == "whose" {
            let stop = mention.first - 3;
            // A book may begin with `Whose name was Hale?`
            let comma = stop.checked_sub(1).filter(|&before| book.list[before].mark() == ',');
            return self.role_phrase_before(comma.unwrap_or(stop));
        }
        // `the clerk’s name was Hale`
        let owner = back(3).strip_suffix("'s").filter(|owner| ENGLISH.is(owner, ROLE))?;
        let is_determined =
            (4..8).any(|n| mention.first.checked_sub(n).is_some_and(|at| book.class(at) & DETERMINER != 0));
        is_determined.then(|| (format!("the {owner}"), Gender::Unknown))
    }

    /// Returns the role phrase that ends right before a token.
    fn role_phrase_before(&self, stop: usize) -> Option<(String, Gender)> {
        (stop.saturating_sub(6)..stop).find_map(|at| {
            let is_determined =
                self.book.class(at) & (DETERMINER | POSSESSIVE) != 0 && self.book.list[at].quote == NONE;
            match noun_phrase(self.book, self.names, at, stop).filter(|_| is_determined)? {
                (NounPhrase::Role(phrase, gender, false), end) if end == stop => Some((phrase, gender)),
                _ => None,
            }
        })
    }

    /// Returns the last role phrase in the narration before a token, if no named character has acted since.
    fn last_role_phrase(&self, stop: usize) -> Option<(String, Gender)> {
        let from = stop.saturating_sub(MAX_INTRODUCTION_DISTANCE);
        let (at, found) = (from..stop).rev().find_map(|at| {
            if self.book.list[at].quote != NONE || self.book.class(at) & DETERMINER == 0 {
                return None;
            }
            match noun_phrase(self.book, self.names, at, stop)? {
                (NounPhrase::Role(phrase, gender, false), _) => Some((at, (phrase, gender))),
                _ => None,
            }
        })?;
        let acted = |mention: &&Mention| {
            mention.person.is_some()
                && mention.position == SentencePosition::Main
                && self.book.list[mention.first].quote == NONE
        };
        (self.names.between(at, stop).iter().filter(acted).count() == 0).then_some(found)
    }

    /// Assigns to an introduced character the turns of its noun in the same scene, unless the noun is given to another
    /// character nearby or the name was used earlier in the scene.
    pub(in crate::attribution::english) fn introduce(&mut self, decisions: &mut [SpeakerDecision]) {
        let mut found = self.named_in_narration();
        found.extend(self.named_in_speech());
        found.sort_by_key(|introduction| introduction.at);
        let IntroductionIndex { borders, nouns, named, mut spoken } = self.introduction_index(&found, decisions);
        for introduction in &found {
            let role_person = self.roles.get(&introduction.phrase).copied();
            let Some(role_person) =
                role_person.filter(|&role_person| self.cast[role_person].role && !self.cast[role_person].exclusive)
            else {
                continue;
            };
            let (from, to) = self.scene_of(introduction.at, &borders);
            if from == to {
                continue;
            }
            let begins = |turn: usize| self.book.first_token_from(self.spans[self.turns[turn].first].start);
            let (head, tail) = (begins(from), begins(to - 1));
            let others = &nouns[introduction.phrase.as_str()];
            let at = others.partition_point(|run| run.last < introduction.at);
            let near = |run: &IntroductionRun| tail >= run.first && head <= run.last + MAX_INTRODUCTION_DISTANCE;
            let another =
                at.checked_sub(1).is_some_and(|before| near(&others[before])) || others.get(at + 1).is_some_and(near);
            let named_turns = named.get(&introduction.person).map_or(&[][..], |turns| turns);
            let first = named_turns.get(named_turns.partition_point(|&turn| turn < from)).filter(|&&turn| turn < to);
            let was_named = first.is_some_and(|&turn| begins(turn) + MAX_INTRODUCTION_DISTANCE < introduction.at);
            if another || was_named {
                continue;
            }
            let Some(turns) = spoken.get_mut(&role_person) else { continue };
            let until = turns.partition_point(|&turn| turn < to);
            let turns = turns.drain(turns.partition_point(|&turn| turn < from)..until);
            let mut moved = 0;
            for turn in turns {
                decisions[turn].speaker = Some(introduction.person);
                moved += 1;
            }
            if moved > 0 {
                *self.cast[introduction.person].forms.entry(introduction.phrase.clone()).or_default() += moved;
            }
        }
    }

    /// Builds the look-up tables of introductions, so that the cost of each depends on its own scene only.
    fn introduction_index<'f>(
        &self,
        found: &'f [Introduction],
        decisions: &[SpeakerDecision],
    ) -> IntroductionIndex<'f> {
        let mut index = IntroductionIndex {
            borders: (0..self.paragraphs.len()).filter(|&paragraph| self.paragraphs[paragraph].border).collect(),
            nouns: BTreeMap::new(),
            named: found.iter().map(|introduction| (introduction.person, Vec::new())).collect(),
            spoken: BTreeMap::new(),
        };
        for introduction in found {
            let (at, person) = (introduction.at, introduction.person);
            let runs = index.nouns.entry(introduction.phrase.as_str()).or_default();
            match runs.last_mut() {
                Some(run) if run.person == person => run.last = at,
                _ => runs.push(IntroductionRun { person, first: at, last: at }),
            }
            index.spoken.extend(self.roles.get(&introduction.phrase).map(|&role_person| (role_person, Vec::new())));
        }
        for (turn, decision) in decisions.iter().enumerate() {
            if let SpeakerCue::Named(person) = self.turns[turn].cue
                && let Some(turns) = index.named.get_mut(&person)
            {
                turns.push(turn);
            }
            if let Some(turns) = decision.speaker.and_then(|speaker| index.spoken.get_mut(&speaker)) {
                turns.push(turn);
            }
        }
        index
    }

    /// Returns the turns (start, end) of the scene that contains a token, between borders.
    fn scene_of(&self, at: usize, borders: &[usize]) -> (usize, usize) {
        let offset = self.book.list[at].start();
        let paragraph = self.paragraphs.partition_point(|paragraph| paragraph.end as usize <= offset);
        let next = borders.partition_point(|&border| border < paragraph);
        let first = next.checked_sub(1).map_or(0, |last| borders[last] + 1);
        let last = borders.get(next).copied().unwrap_or(self.paragraphs.len());
        let turn = |limit: usize| self.turns.partition_point(|turn| self.spans[turn.first].paragraph < limit);
        (turn(first), turn(last))
    }
}

/// Look-up tables for introductions.
struct IntroductionIndex<'f> {
    /// Indices of the paragraphs that are borders.
    borders: Vec<usize>,
    /// By noun: the characters introduced under it, in order.
    nouns: BTreeMap<&'f str, Vec<IntroductionRun>>,
    /// By introduced character: the turns whose tag names it.
    named: BTreeMap<usize, Vec<usize>>,
    /// By character known by a noun: its turns.
    spoken: BTreeMap<usize, Vec<usize>>,
}

/// Consecutive introductions of one character under one noun: the tokens of the first and the last.
struct IntroductionRun {
    pub(in crate::attribution::english) person: usize,
    pub(in crate::attribution::english) first: usize,
    pub(in crate::attribution::english) last: usize,
}
