//! Resolves a Chinese noun phrase to a character.

use super::naming::MAX_BINDING_DISTANCE;
use super::{IntroducedPerson, Referent, Referents};
use crate::attribution::Gender;
use crate::attribution::chinese::names::Mention;
use crate::attribution::chinese::names::surnames::surname_length;
use crate::attribution::chinese::noun_phrases::{DescribedNoun, NounPhrase, Possessor};
use crate::attribution::chinese::role_nouns::is_role_noun;
use crate::attribution::people::CharacterDraft;
use crate::attribution::words::chinese::CHINESE;

/// Maximum distance in characters to the antecedent of a noun.
pub(in crate::attribution::chinese) const MAX_ANTECEDENT_DISTANCE: usize = 4000;

impl Referents<'_> {
    /// Resolves a noun phrase.
    pub(in crate::attribution::chinese) fn resolve(&mut self, phrase: &NounPhrase) -> Referent {
        match phrase {
            NounPhrase::Name(name, _) => Referent::Sure(self.names.people[*name]),
            NounPhrase::Pronoun(_, true) => Referent::Several,
            // In books without 她, 他 can be anyone.
            NounPhrase::Pronoun(gender, false) => {
                Referent::Pronoun(if self.modern { *gender } else { Gender::Unknown })
            }
            NounPhrase::Narrator => {
                let person = self.add_unnamed("我", Gender::Unknown);
                self.cast[person].name = Some(if self.traditional { "敘述者" } else { "叙述者" }.to_owned());
                self.narrator = Some(person);
                Referent::Sure(person)
            }
            NounPhrase::Role(noun) => match self.short_name_referent(noun) {
                Some(person) => Referent::Sure(person),
                // The last character of a full name that was not recently used is not a reference: `所谓`, `起身进道`.
                None if self.is_short_name(noun) => Referent::Pronoun(Gender::Unknown),
                None => self.resolve_noun(noun),
            },
        }
    }

    fn resolve_noun(&mut self, noun: &DescribedNoun) -> Referent {
        let head: Vec<char> = self.text[noun.head..noun.to].to_vec();
        let phrase = self.printed(noun.from, noun.to);
        let described = self.printed(noun.bare, noun.to);
        // The known-character list says to whom the phrase refers.
        let listed = [&phrase, &described].into_iter().filter_map(|form| self.roles.get(form).copied());
        if let Some(person) = listed.into_iter().find(|&person| self.cast[person].exclusive) {
            self.cast[person].add(&phrase, 1);
            return Referent::Sure(person);
        }
        if noun.several {
            let person = self.add_unnamed(if noun.bare > noun.from { &phrase } else { &described }, Gender::Unknown);
            return Referent::Sure(person);
        }
        if noun.new {
            if let Some(&(_, person)) = self.introductions.iter().rev().take(8).find(|(at, _)| *at == noun.from) {
                return Referent::Sure(person);
            }
            let person = self.cast.len();
            self.introductions.push((noun.from, person));
            let known_gender = (noun.gender != Gender::Unknown).then_some(noun.gender);
            self.cast.push(CharacterDraft { role: true, known_gender, ..CharacterDraft::default() });
            // `钻出个孩子`: a classifier without a numeral is not part of the name.
            if described == "人" || phrase != described && !phrase.starts_with(['个', '個', '位', '名']) {
                self.cast[person].add(&phrase, 1);
            }
            if described != "人" {
                self.cast[person].add(&described, 1);
                self.cast[person].name = Some(described);
            }
            self.introduced.push(IntroducedPerson { noun: head, person, at: noun.from });
            return Referent::Sure(person);
        }
        if noun.owner != Possessor::None && self.text[noun.from] == '我' {
            // `我的母亲`, which the narrator also calls `母亲`.
            let person = self.add_unnamed(&described, noun.gender);
            self.cast[person].add(&phrase, 1);
            return Referent::Likely(person, 4.0);
        }
        if noun.owner != Possessor::None {
            let owner = match noun.owner {
                Possessor::Name(name) => Some(self.names.people[name]),
                _ => self.subjects.last().map(|&(_, person)| person),
            };
            let key = format!("{}/{}", owner.map_or(-1, |person| i64::try_from(person).unwrap_or(-1)), described);
            let person = self.character_for(&key, noun.gender);
            self.cast[person].add(&phrase, 1);
            self.cast[person].add(&described, 1);
            return Referent::Likely(person, 2.0);
        }
        if let Some(person) = self.named_referent(&head, noun.from) {
            self.cast[person].add(&described, 1);
            if noun.demonstrative {
                self.cast[person].add(&phrase, 1);
            }
            return Referent::Sure(person);
        }
        let is_undescribed = noun.head == noun.bare;
        // `那人` after `一个满脸麻子的人`, `那客人` after `又一个客人`.
        let introduced_person = self.introduced.iter().rev().take(12).find(|other| {
            let same = other.noun == head
                || noun.demonstrative && head == ['人']
                || head.ends_with(&other.noun) && other.noun.len() > 1;
            // `那人` is the person mentioned just before; `那老者` the last old man of the book.
            let max_distance = if head == ['人'] { MAX_BINDING_DISTANCE } else { MAX_ANTECEDENT_DISTANCE };
            noun.from < other.at + max_distance && same && (noun.demonstrative || head != ['人'])
        });
        if let Some(person) = introduced_person.map(|other| other.person) {
            self.cast[person].add(&phrase, 1);
            if described != "人" {
                self.cast[person].add(&described, 1);
            }
            return if noun.demonstrative { Referent::Sure(person) } else { Referent::Likely(person, 3.0) };
        }
        let person = self.character_for(&described, noun.gender);
        // 人 alone is not a name, and a demonstrative is not part of one if the noun is specific.
        let is_specific = described != "人";
        if is_specific {
            self.cast[person].add(&described, 1);
            self.cast[person].name.get_or_insert_with(|| described.clone());
        }
        if noun.demonstrative || !is_specific {
            self.cast[person].add(&phrase, 1);
        }
        if !is_undescribed || self.titled.contains_key(&head) {
            return Referent::Sure(person);
        }
        // A generic noun may mean a named character; any other noun is a character of its own.
        let generic = noun.gender != Gender::Unknown || CHINESE.generic_either.has(&head) || head == ['人'];
        match (generic, self.modern) {
            (false, _) => Referent::Sure(person),
            (true, true) => Referent::Likely(person, if noun.demonstrative { 0.0 } else { 0.5 }),
            // Old novels regularly refer to characters by the noun alone.
            (true, false) => Referent::Likely(person, 4.0),
        }
    }

    /// Returns the named character that a noun means at an offset.
    fn named_referent(&self, head: &[char], at: usize) -> Option<usize> {
        if let Some(offsets) = self.bound_nouns.get(head) {
            let next = offsets.partition_point(|&(offset, _)| offset <= at);
            let before = next.checked_sub(1).map(|i| offsets[i]);
            if let Some((offset, person)) = before
                && at < offset + MAX_BINDING_DISTANCE
            {
                return Some(person);
            }
            let first = offsets[0].1;
            if (self.modern || offsets.len() > 1)
                && offsets.iter().all(|&(_, person)| person == first)
                && CHINESE.roles.has(head)
            {
                return Some(first);
            }
        }
        let offsets = self.titled.get(head)?;
        let next = offsets.partition_point(|&(offset, _)| offset <= at);
        let (offset, person) = offsets[next.checked_sub(1)?];
        // A noun for anyone of a common kind means a character only shortly after the name.
        let max_distance = if CHINESE.common_roles.has(head) { MAX_BINDING_DISTANCE } else { MAX_ANTECEDENT_DISTANCE };
        (at < offset + max_distance).then_some(person)
    }

    /// Returns the character that a single character stands for: the last one mentioned whose full name ends in it.
    fn short_name_referent(&self, noun: &DescribedNoun) -> Option<usize> {
        let c = self.text[noun.bare];
        if !is_single_character(c, noun) {
            return None;
        }
        let before = self.names.between(noun.from.saturating_sub(MAX_ANTECEDENT_DISTANCE), noun.from);
        let ends = |mention: &&Mention| {
            let form = &self.names.list[mention.name].form;
            form.last() == Some(&c) && surname_length(form).is_some()
        };
        before.iter().rev().find(ends).map(|mention| self.names.people[mention.name])
    }

    /// Whether a noun is a single character that ends some full name of the book.
    fn is_short_name(&self, noun: &DescribedNoun) -> bool {
        let c = self.text[noun.bare];
        is_single_character(c, noun) && self.names.ends_full_name(c)
    }
}

/// Whether a noun is a single character that is not a role noun.
fn is_single_character(c: char, noun: &DescribedNoun) -> bool {
    noun.to == noun.bare + 1 && !is_role_noun(&[c]) && c != '人'
}
