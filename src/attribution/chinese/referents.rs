//! Resolves Chinese nouns and pronouns to characters.
//!
//! A noun means the character whom the book has recently named with it, introduced by it, or mentioned by a longer form
//! of it; otherwise it is a new character. Speech is not considered here.

use std::collections::BTreeMap;

use super::aliases::surname_length;
use super::bindings::{NounOffsets, introducing_noun, noun_name_phrases, nouns_of_names, titles_in_names};
use super::clauses::sentence_end;
use super::names::{Mention, Names};
use super::nominals::{DescribedNoun, NounPhrase, Possessor};
use super::words::is_role_noun;
use crate::attribution::Gender;
use crate::attribution::known_characters::KnownCharacters;
use crate::attribution::people::CharacterDraft;
use crate::attribution::tables::CHINESE;

/// Maximum distance in characters to the antecedent of a noun.
const NEAR: usize = 4000;

/// Maximum distance in characters to a name that the noun was used with.
const BOUND: usize = 900;

/// Nouns that are part of names but also apply to anyone.
const ANYBODY: [&str; 10] = ["丫头", "丫鬟", "婆子", "嬷嬷", "妈妈", "和尚", "道士", "道人", "媳妇", "师父"];

/// Maximum distance in characters between `自称X` and its subject.
const CLOSE: usize = 120;

/// The character that a noun phrase refers to, with the certainty of that.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Referent {
    /// Certainly this character.
    Sure(usize),
    /// This character unless other evidence is stronger; with its score.
    Likely(usize, f32),
    /// Any character of this gender.
    Pronoun(Gender),
    /// Several characters at once.
    Several,
}

/// A character introduced by a noun.
struct IntroducedPerson {
    noun: Vec<char>,
    person: usize,
    at: usize,
}

/// The characters of a book, resolved from start to end.
pub(super) struct Referents<'a> {
    text: &'a [char],
    chars: &'a [char],
    names: &'a Names,
    /// Whether the book distinguishes 她 from 他.
    modern: bool,
    /// Whether the book is in traditional characters.
    traditional: bool,
    pub(super) cast: Vec<CharacterDraft>,
    given: &'a KnownCharacters,
    roles: BTreeMap<String, usize>,
    /// By noun: the offsets where it precedes a name or is equated with one, and the character with that name.
    bound: NounOffsets,
    /// By noun: the mentions whose name ends in it, as surname and title.
    titled: NounOffsets,
    pub(super) narrator: Option<usize>,
    introduced: Vec<IntroducedPerson>,
    /// The introductions already made, as (offset, character), so that none is made twice.
    new: Vec<(usize, usize)>,
    /// Characters introduced by a noun, mapped to the named characters they turned out to be.
    pub(super) merged: BTreeMap<usize, usize>,
    /// The subjects of the clauses so far, as (offset, character).
    focus: Vec<(usize, usize)>,
}

impl<'a> Referents<'a> {
    /// Starts with the named characters.
    pub(super) fn new(
        text: &'a [char],
        chars: &'a [char],
        names: &'a Names,
        mut cast: Vec<CharacterDraft>,
        modern: bool,
        given: &'a KnownCharacters,
    ) -> Self {
        let roles = given.roles(&mut cast);
        let written = chars.iter().zip(text).take(4000);
        let traditional = written.filter(|(own, folded)| own != folded).count() * 20 > chars.len().min(4000);
        let allowed = |mut places: NounOffsets, cast: &[CharacterDraft]| {
            places.retain(|noun, bearers| {
                let noun: String = noun.iter().collect();
                bearers.retain(|&(_, person)| given.allows(&noun, &cast[person]));
                !bearers.is_empty()
            });
            places
        };
        let (bound, titled) = (allowed(nouns_of_names(text, names), &cast), allowed(titles_in_names(names), &cast));
        for (person, (phrase, count)) in noun_name_phrases(text, chars, names, &bound) {
            if given.allows(&phrase, &cast[person]) {
                cast[person].add(&phrase, count);
            }
        }
        Self {
            text,
            chars,
            names,
            modern,
            traditional,
            cast,
            given,
            roles,
            bound,
            titled,
            narrator: None,
            introduced: Vec::new(),
            new: Vec::new(),
            merged: BTreeMap::new(),
            focus: Vec::new(),
        }
    }

    /// Resolves a noun phrase.
    pub(super) fn resolve(&mut self, who: &NounPhrase) -> Referent {
        match who {
            NounPhrase::Name(name, _) => Referent::Sure(self.names.people[*name]),
            NounPhrase::Pronoun(_, true) => Referent::Several,
            // In books without 她, 他 can be anyone.
            NounPhrase::Pronoun(gender, false) => {
                Referent::Pronoun(if self.modern { *gender } else { Gender::Unknown })
            }
            NounPhrase::Narrator => {
                let person = self.add_own("我", Gender::Unknown);
                self.cast[person].name = Some(if self.traditional { "敘述者" } else { "叙述者" }.to_owned());
                self.narrator = Some(person);
                Referent::Sure(person)
            }
            NounPhrase::Role(noun) => match self.short_name_referent(noun) {
                Some(person) => Referent::Sure(person),
                // The last character of a full name that was not recently used is no reference: `所谓`, `起身进道`.
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
        let told = [&phrase, &described].into_iter().filter_map(|form| self.roles.get(form).copied());
        if let Some(person) = told.into_iter().find(|&person| self.cast[person].sure) {
            self.cast[person].add(&phrase, 1);
            return Referent::Sure(person);
        }
        if noun.several {
            let person = self.add_own(if noun.bare > noun.from { &phrase } else { &described }, Gender::Unknown);
            return Referent::Sure(person);
        }
        if noun.new {
            if let Some(&(_, person)) = self.new.iter().rev().take(8).find(|(at, _)| *at == noun.from) {
                return Referent::Sure(person);
            }
            let person = self.cast.len();
            self.new.push((noun.from, person));
            let fixed = (noun.gender != Gender::Unknown).then_some(noun.gender);
            self.cast.push(CharacterDraft { role: true, fixed, ..CharacterDraft::default() });
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
        if noun.owner != Possessor::Nobody && self.text[noun.from] == '我' {
            // `我的母亲`, which the narrator also calls `母亲`.
            let person = self.add_own(&described, noun.gender);
            self.cast[person].add(&phrase, 1);
            return Referent::Likely(person, 4.0);
        }
        if noun.owner != Possessor::Nobody {
            let owner = match noun.owner {
                Possessor::Name(name) => Some(self.names.people[name]),
                _ => self.focus.last().map(|&(_, person)| person),
            };
            let key = format!("{}/{}", owner.map_or(-1, |person| i64::try_from(person).unwrap_or(-1)), described);
            let person = self.character_for(&key, noun.gender);
            self.cast[person].add(&phrase, 1);
            self.cast[person].add(&described, 1);
            return Referent::Likely(person, 2.0);
        }
        if let Some(person) = self.named_referent(&head, noun.from) {
            self.cast[person].add(&described, 1);
            if noun.shown {
                self.cast[person].add(&phrase, 1);
            }
            return Referent::Sure(person);
        }
        let plain = noun.head == noun.bare;
        // `那人` after `一个满脸麻子的人`, `那客人` after `又一个客人`.
        let brought = self.introduced.iter().rev().take(12).find(|other| {
            let same = other.noun == head
                || noun.shown && head == ['人']
                || head.ends_with(&other.noun) && other.noun.len() > 1;
            // `那人` is the person mentioned just before; `那老者` the last old man of the book.
            let far = if head == ['人'] { BOUND } else { NEAR };
            noun.from < other.at + far && same && (noun.shown || head != ['人'])
        });
        if let Some(person) = brought.map(|other| other.person) {
            self.cast[person].add(&phrase, 1);
            if described != "人" {
                self.cast[person].add(&described, 1);
            }
            return if noun.shown { Referent::Sure(person) } else { Referent::Likely(person, 3.0) };
        }
        let person = self.character_for(&described, noun.gender);
        // 人 alone is no name, and a demonstrative is not part of one if the noun is specific.
        let worded = described != "人";
        if worded {
            self.cast[person].add(&described, 1);
            self.cast[person].name.get_or_insert_with(|| described.clone());
        }
        if noun.shown || !worded {
            self.cast[person].add(&phrase, 1);
        }
        if !plain || self.titled.contains_key(&head) {
            return Referent::Sure(person);
        }
        // A generic noun may mean a named character; any other noun is a character of its own.
        let generic = noun.gender != Gender::Unknown || CHINESE.generic_either.has(&head) || head == ['人'];
        match (generic, self.modern) {
            (false, _) => Referent::Sure(person),
            (true, true) => Referent::Likely(person, if noun.shown { 0.0 } else { 0.5 }),
            // Old novels regularly refer to characters by the noun alone.
            (true, false) => Referent::Likely(person, 4.0),
        }
    }

    /// Returns the named character that a noun means at an offset.
    fn named_referent(&self, head: &[char], at: usize) -> Option<usize> {
        if let Some(places) = self.bound.get(head) {
            let next = places.partition_point(|&(place, _)| place <= at);
            let before = next.checked_sub(1).map(|i| places[i]);
            if let Some((place, person)) = before
                && at < place + BOUND
            {
                return Some(person);
            }
            let first = places[0].1;
            if (self.modern || places.len() > 1)
                && places.iter().all(|&(_, person)| person == first)
                && CHINESE.roles.has(head)
            {
                return Some(first);
            }
        }
        let places = self.titled.get(head)?;
        let next = places.partition_point(|&(place, _)| place <= at);
        let (place, person) = places[next.checked_sub(1)?];
        // A noun for anyone of a common kind means a character only shortly after the name.
        let far = if ANYBODY.contains(&head.iter().collect::<String>().as_str()) { BOUND } else { NEAR };
        (at < place + far).then_some(person)
    }

    /// Returns the character that a single character stands for: the last one mentioned whose full name ends in it.
    fn short_name_referent(&self, noun: &DescribedNoun) -> Option<usize> {
        let c = self.text[noun.bare];
        if !is_single_character(c, noun) {
            return None;
        }
        let before = self.names.between(noun.from.saturating_sub(NEAR), noun.from);
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

    fn add_own(&mut self, phrase: &str, gender: Gender) -> usize {
        let person = self.character_for(phrase, gender);
        self.cast[person].add(phrase, 1);
        person
    }

    fn character_for(&mut self, key: &str, gender: Gender) -> usize {
        if let Some(&person) = self.roles.get(key) {
            return person;
        }
        let person = self.cast.len();
        self.roles.insert(key.to_owned(), person);
        let fixed = (gender != Gender::Unknown).then_some(gender);
        self.cast.push(CharacterDraft { role: true, fixed, ..CharacterDraft::default() });
        person
    }

    fn printed(&self, from: usize, to: usize) -> String {
        self.chars[from..to].iter().collect()
    }

    /// Links characters to the names they are given in a passage: `这女子叫X` after `一个撑篙的女子`.
    pub(super) fn link_names(&mut self, at: usize, end: usize) {
        let mentions = self.names.between(at, end).iter().map(|mention| (mention.start, mention.name, false));
        let from = self.names.namings.partition_point(|naming| naming.forms[0].at < at);
        let told = self.names.namings[from..].iter().map_while(|naming| {
            let first = naming.own();
            (naming.forms[0].at < end).then(|| Some((first.at, self.names.index_of(&first.form)?, true)))
        });
        let given: Vec<(usize, usize, bool)> = mentions.chain(told.flatten()).collect();
        for (place, name, told) in given {
            let person = self.names.people[name];
            let brought = match introducing_noun(self.text, place, told) {
                Some(noun) => self
                    .introduced
                    .iter()
                    .rev()
                    .take(6)
                    .find(|other| other.noun.ends_with(&noun) && other.at < place && place < other.at + BOUND),
                // `自称X`, `他姓沈，名叫X`: the name of the previous subject.
                None if self.names_previous_subject(place, told) => {
                    let last = self.focus.iter().rev().find(|&&(before, _)| before < place);
                    let last = last.filter(|&&(before, _)| place < before + CLOSE).map(|&(_, person)| person);
                    self.introduced.iter().rev().take(6).find(|other| Some(other.person) == last)
                }
                None => None,
            };
            if let Some(other) = brought.map(|other| other.person)
                && other != person
                && self.cast[other].role
                && !self.cast[person].role
                && self.cast[other].forms.keys().all(|form| self.given.allows(form, &self.cast[person]))
            {
                self.merged.insert(other, person);
            }
        }
    }

    /// Whether a name is given to the person mentioned last: its sentence begins with the statement or with a pronoun.
    fn names_previous_subject(&self, place: usize, told: bool) -> bool {
        let start =
            (place.saturating_sub(40)..place).rev().find(|&i| sentence_end(self.text[i]) || self.text[i] == '\n');
        let opening = &self.text[start.map_or(0, |i| i + 1)..place];
        let opening = &opening[opening.iter().take_while(|c| c.is_whitespace()).count()..];
        match opening {
            ['自', '称'] => true,
            [first, ..] => told && matches!(first, '他' | '她' | '此' | '姓' | '名'),
            [] => false,
        }
    }

    /// Records the subject of a clause.
    pub(super) fn record_subject(&mut self, who: &NounPhrase, at: usize) {
        let person = match self.resolve(who) {
            Referent::Sure(person) | Referent::Likely(person, _) => person,
            Referent::Pronoun(gender) => match self.recent_subjects(at, gender).first() {
                Some(&person) => person,
                None => return,
            },
            Referent::Several => return,
        };
        self.focus.push((at, person));
    }

    /// Returns the last subject between two offsets.
    pub(super) fn last_subject(&self, start: usize, end: usize) -> Option<usize> {
        self.focus
            .iter()
            .rev()
            .find(|&&(place, _)| place < end)
            .filter(|&&(place, _)| place >= start)
            .map(|&(_, person)| person)
    }

    /// Returns the unnamed characters among the last subjects between two offsets, latest first.
    pub(super) fn recent_unnamed(&self, start: usize, end: usize) -> Vec<usize> {
        let inside =
            self.focus.iter().rev().skip_while(|&&(place, _)| place >= end).take_while(|&&(place, _)| place >= start);
        inside.take(6).map(|&(_, person)| person).filter(|&person| self.cast[person].role).collect()
    }

    /// Returns the recent subjects before an offset, latest first.
    pub(super) fn recent_subjects(&self, at: usize, gender: Gender) -> Vec<usize> {
        let mut people: Vec<usize> = Vec::new();
        for &(place, person) in self.focus.iter().rev().take(12) {
            let own = self.cast[person].gender();
            let fits = gender == Gender::Unknown || own == Gender::Unknown || own == gender;
            if at > place + 1200 || people.len() > 3 {
                break;
            }
            if place < at && fits && !people.contains(&person) && self.narrator != Some(person) {
                people.push(person);
            }
        }
        people
    }
}

/// Whether a noun is a single character that is no role noun.
fn is_single_character(c: char, noun: &DescribedNoun) -> bool {
    noun.to == noun.bare + 1 && !is_role_noun(&[c]) && c != '人'
}
