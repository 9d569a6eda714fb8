//! Evidence from dialogue: which names belong to one person, who narrates, whom role nouns mean.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::Dialogue;
use super::narrator::narrator_names;
use crate::attribution::Gender;
use crate::attribution::english::dialogue_evidence::DialogueEvidence;
use crate::attribution::english::names::merging::names_in_one_sentence;
use crate::attribution::english::names::merging::short_forms::may_shorten;
use crate::attribution::speakers::{SpeakerCue, SpeakerDecision};
use crate::attribution::words::english::{ENGLISH, GENERIC, KIN, TITLE_GIVEN};

impl Dialogue<'_> {
    /// Returns pairs of names that belong to one person, and the evidence for the second pass.
    pub(in crate::attribution::english) fn collect_evidence(
        &self,
        decisions: &[SpeakerDecision],
    ) -> (Vec<(usize, usize)>, DialogueEvidence) {
        let mut links = self.linked_names(decisions);
        links.extend(self.role_names(decisions));
        let narrator_role = self.roles.get("I");
        let names = narrator_role.map_or_else(Vec::new, |&narrator_role| {
            let mentions_in = |turn: usize| {
                self.mentions(self.spans[self.turns[turn].first].start, self.spans[self.turns[turn].end - 1].end)
            };
            narrator_names(self.book, self.names, &self.turns, &self.vocatives, decisions, narrator_role, mentions_in)
        });
        let narrator = names.first().copied();
        if let Some((&first, others)) = names.split_first() {
            links.retain(|(a, b)| !names.contains(a) && !names.contains(b));
            links.extend(others.iter().map(|&other| (first, other)));
        }
        (
            links,
            DialogueEvidence {
                first_pass_done: true,
                narrator,
                roles: self.add_stated_names(self.learn_roles(decisions)),
                phrases: self.role_phrases(),
                kin: self.relative_speakers(decisions),
            },
        )
    }

    /// Returns capitalised roles whose turns mostly have one speaker, each paired with that speaker's name.
    fn role_names(&self, decisions: &[SpeakerDecision]) -> Vec<(usize, usize)> {
        let mut votes: BTreeMap<usize, BTreeMap<usize, u32>> = BTreeMap::new();
        for (turn, decision) in self.turns.iter().zip(decisions) {
            if let (SpeakerCue::Role(_, role_person), Some(speaker)) = (turn.cue, decision.speaker)
                && !self.cast[role_person].role
            {
                *votes.entry(role_person).or_default().entry(speaker).or_default() += 1;
            }
        }
        if votes.is_empty() {
            return Vec::new();
        }
        let people = &self.names.people;
        let separate: BTreeSet<(usize, usize)> = names_in_one_sentence(self.book, &self.names.mentions)
            .into_iter()
            .filter_map(|(a, b)| Some((people[a]?, people[b]?)))
            .flat_map(|(a, b)| [(a, b), (b, a)])
            .collect();
        let mut pairs = Vec::new();
        for (role_person, speakers) in votes {
            let Some(person) = strong_majority(speakers).filter(|&person| person != role_person) else { continue };
            if self.cast[person].role || separate.contains(&(role_person, person)) {
                continue;
            }
            let name = |person: usize| people.iter().position(|of| *of == Some(person));
            pairs.extend(name(person).zip(name(role_person)));
        }
        pairs
    }

    /// Returns pairs of names that belong to one person: a character addressed by the first answers under the second.
    fn linked_names(&self, decisions: &[SpeakerDecision]) -> Vec<(usize, usize)> {
        let mut votes: BTreeMap<usize, BTreeMap<usize, u32>> = BTreeMap::new();
        for (i, vocatives) in self.vocatives.iter().enumerate() {
            let Some(next) = self.turns.get(i + 1).filter(|next| !next.starts_conversation) else { continue };
            let SpeakerCue::Named(answers) = next.cue else { continue };
            if decisions[i].speaker == Some(answers) {
                continue;
            }
            for &(name, person) in vocatives {
                if person != answers {
                    *votes.entry(name).or_default().entry(answers).or_default() += 1;
                }
            }
        }
        let mut links = self.same_person_names.clone();
        let genders = self.genders();
        for (name, answers) in votes {
            let total: u32 = answers.values().sum();
            let Some((&person, &count)) =
                answers.iter().max_by_key(|&(person, count)| (*count, std::cmp::Reverse(*person)))
            else {
                continue;
            };
            if self.cast[person].role || count * 2 <= total {
                continue;
            }
            let Some(addressee) = self.names.people[name] else { continue };
            let genders_differ = matches!(
                (genders[addressee], genders[person]),
                (Gender::Female, Gender::Male) | (Gender::Male, Gender::Female)
            );
            // A name with speech of its own is another person's, unless the two names share a word.
            let tagged_turns: u32 =
                self.turns.iter().map(|turn| u32::from(turn.cue == SpeakerCue::Named(addressee))).sum();
            let shares_word = self.shares_word(name, person);
            let has_family_title = self.names.list[name].title.is_some_and(|title| {
                self.book.words[title as usize].class & TITLE_GIVEN == 0 || self.is_married(addressee) == Some(false)
            });
            if self.is_married(addressee) != self.is_married(person)
                && self.is_married(addressee).is_some()
                && self.is_married(person).is_some()
            {
                continue;
            }
            if !genders_differ
                && (shares_word && tagged_turns <= count && (!has_family_title || tagged_turns == 0)
                    || tagged_turns == 0 && count > 2 && count * 4 > total * 3)
            {
                let other = (0..self.names.list.len())
                    .filter(|&other| self.names.people[other] == Some(person))
                    .max_by_key(|&other| (self.names.list[other].count, std::cmp::Reverse(other)));
                links.extend(other.map(|other| (name, other)));
            }
        }
        links
    }

    /// Whether a character is a Mrs. (true) or a Miss (false), if the book says so.
    fn is_married(&self, person: usize) -> Option<bool> {
        let has = |title: &str| self.cast[person].forms.keys().any(|form| form.starts_with(title));
        match (has("Mrs"), has("Miss ")) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => None,
        }
    }

    /// Whether a name shares a word, or a short form of one, with a name of a character.
    fn shares_word(&self, name: usize, person: usize) -> bool {
        let name_words = &self.names.list[name].words;
        self.names.list.iter().zip(&self.names.people).filter(|(_, of)| **of == Some(person)).any(|(other, _)| {
            other.words.iter().any(|word| {
                name_words.iter().any(|name_word| {
                    word == name_word
                        || may_shorten(
                            &self.book.words[*name_word as usize].text,
                            &self.book.words[*word as usize].text,
                        )
                })
            })
        })
    }

    /// Returns the role phrases whose turns mostly have one speaker, each with a name of that speaker.
    fn learn_roles(&self, decisions: &[SpeakerDecision]) -> BTreeMap<String, usize> {
        let mut votes: BTreeMap<usize, BTreeMap<usize, u32>> = BTreeMap::new();
        for (turn, decision) in self.turns.iter().zip(decisions) {
            if let (SpeakerCue::Role(_, role_person), Some(speaker)) = (turn.cue, decision.speaker)
                && self.cast[role_person].role
                && self.cast[role_person].known_character.is_none()
            {
                *votes.entry(role_person).or_default().entry(speaker).or_default() += 1;
            }
        }
        let mut learned = BTreeMap::new();
        for (role_person, speakers) in votes {
            let Some(person) = strong_majority(speakers).filter(|&person| person != role_person) else { continue };
            // `his wife` can mean any wife in the book, and `the boy` any boy.
            if let Some(name) = self.names.people.iter().position(|of| *of == Some(person)) {
                let definite = self.cast[role_person].forms.keys().filter(|form| form.starts_with("the "));
                let phrases = definite.filter(|form| !ENGLISH.is(form.rsplit(' ').next().unwrap_or_default(), GENERIC));
                learned.extend(phrases.map(|form| (form.clone(), name)));
            }
        }
        learned
    }

    /// Adds the role phrases whose speakers state their own name, if all state the same one.
    fn add_stated_names(&self, mut learned: BTreeMap<String, usize>) -> BTreeMap<String, usize> {
        let mut stated: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        for introduction in self.named_in_speech().into_iter().filter(|introduction| !introduction.is_ambiguous()) {
            stated.entry(introduction.phrase).or_default().insert(introduction.person);
        }
        for (phrase, people) in
            stated.into_iter().filter(|(phrase, people)| people.len() == 1 && phrase.starts_with("the "))
        {
            let name = self.names.people.iter().position(|of| of.is_some_and(|person| people.contains(&person)));
            if let Some(name) = name {
                learned.entry(phrase).or_insert(name);
            }
        }
        learned
    }

    /// Returns who mostly speaks as someone's mother, brother and so on: names with their share of votes, 0 to 1.
    fn relative_speakers(&self, decisions: &[SpeakerDecision]) -> BTreeMap<String, Vec<(usize, f32)>> {
        let mut votes: BTreeMap<&str, BTreeMap<usize, u16>> = BTreeMap::new();
        for (turn, decision) in self.turns.iter().zip(decisions) {
            let (SpeakerCue::Role(_, role_person), Some(speaker)) = (turn.cue, decision.speaker) else { continue };
            let Some(noun) = self.cast[role_person].forms.keys().next().and_then(|form| form.rsplit(' ').next()) else {
                continue;
            };
            if self.cast[role_person].role && ENGLISH.is(noun, KIN) && !self.cast[speaker].role {
                *votes.entry(noun).or_default().entry(speaker).or_default() += 1;
            }
        }
        votes
            .into_iter()
            .map(|(noun, speakers)| {
                let total: u16 = speakers.values().sum();
                let weighed = speakers.into_iter().filter_map(|(person, count)| {
                    let name = self.names.people.iter().position(|of| *of == Some(person))?;
                    let share = f32::from(count) / f32::from(total.max(3));
                    (count > 1 && share > 0.25).then_some((name, share))
                });
                (noun.to_owned(), weighed.collect())
            })
            .collect()
    }
}

/// Returns the candidate with the majority of votes, if it has at least three and three times as many as any other.
fn strong_majority(votes: BTreeMap<usize, u32>) -> Option<usize> {
    let total: u32 = votes.values().sum();
    let mut best: Vec<(u32, usize)> = votes.into_iter().map(|(person, count)| (count, person)).collect();
    best.sort_unstable_by_key(|&(count, person)| (std::cmp::Reverse(count), person));
    let (count, person) = *best.first()?;
    let second = best.get(1).map_or(0, |(count, _)| *count);
    (count > 2 && count * 2 > total && count >= second * 3).then_some(person)
}
