//! Characters referred to by English role nouns and titles.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::Dialogue;
use crate::attribution::Gender;
use crate::attribution::english::names::Mention;
use crate::attribution::english::names::titles::canonical;
use crate::attribution::english::noun_phrases::{NounPhrase, noun_phrase};
use crate::attribution::english::sentence_position::sentence_position;
use crate::attribution::english::tokens::{NONE, Token};
use crate::attribution::people::CharacterDraft;
use crate::attribution::words::english::{ANIMAL, DETERMINER, ENGLISH, GENERIC, KIN, POSSESSIVE, ROLE, TITLE};

/// Placeholder for the name in a mention by role.
pub(super) const ROLE_ONLY: usize = usize::MAX;

impl Dialogue<'_> {
    /// Returns the role phrases that the text links to a character: `Hale, the old clerk`; `Hale, who was a clerk`;
    /// `Captain Hale` for `the captain`. Also returns pairs of names of which one is a capitalised role of the other.
    pub(super) fn appositions(&self) -> (BTreeMap<String, usize>, Vec<(usize, usize)>) {
        let mut votes: BTreeMap<String, BTreeMap<usize, u32>> = BTreeMap::new();
        let mut ranks: BTreeMap<String, BTreeMap<usize, u32>> = BTreeMap::new();
        let mut roles: BTreeMap<usize, BTreeMap<usize, u32>> = BTreeMap::new();
        let book = self.book;
        let mut titled: BTreeMap<&str, usize> = BTreeMap::new();
        for (i, name) in self.names.list.iter().enumerate() {
            if self.names.is_role(book, i) && self.names.people[i].is_some() {
                titled.entry(canonical(&book.words[name.words[0] as usize].text)).or_insert(i);
            }
        }
        for mention in &self.names.mentions {
            let Some(person) = mention.person else { continue };
            if mention.possessive || self.names.is_role(book, mention.name) {
                continue;
            }
            if let Some(title) = self.names.list[mention.name].title {
                let title = canonical(&book.words[title as usize].text);
                if let Some(&role) = titled.get(title) {
                    *roles.entry(role).or_default().entry(person).or_default() += 1;
                }
                if ENGLISH.is(title, ROLE) && !ENGLISH.is(title, GENERIC) {
                    *ranks.entry(format!("the {title}")).or_default().entry(person).or_default() += 2;
                }
            }
            if book.list[mention.first].quote != NONE {
                continue;
            }
            if let Some(phrase) = self.role_given_name(mention) {
                *votes.entry(phrase).or_default().entry(person).or_default() += 2;
            }
            let mut at = mention.end;
            let comma = book.list.get(at).is_some_and(|token| token.mark() == ',');
            at += usize::from(comma);
            at += usize::from(book.text(at) == "who");
            let copula = matches!(book.text(at), "was" | "is");
            at += usize::from(copula);
            // `Hale, the clerk, and the boy` is a list of three people.
            let listed = mention.first > 0
                && (book.list[mention.first - 1].mark() == ',' || book.text(mention.first - 1) == "and");
            if !comma && !copula || comma && listed || book.class(at) & DETERMINER == 0 {
                continue;
            }
            let Some((apposed, after)) = noun_phrase(book, self.names, at, book.list.len()) else { continue };
            let ends =
                book.list.get(after).is_none_or(|token| token.word() == NONE || copula || book.text(after) == "who");
            if !ends || book.list[after - 1].quote != NONE {
                continue;
            }
            match apposed {
                // `the boy` may mean any boy of the book.
                NounPhrase::Role(phrase, _, false)
                    if !ENGLISH.is(phrase.rsplit(' ').next().unwrap_or_default(), GENERIC | ANIMAL | KIN) =>
                {
                    *votes.entry(phrase).or_default().entry(person).or_default() += 3;
                }
                NounPhrase::Name(role) if self.names.is_role(book, role) => {
                    *roles.entry(role).or_default().entry(person).or_default() += 3;
                }
                _ => {}
            }
        }
        for introduction in self.named_in_narration().into_iter().filter(|introduction| !introduction.is_ambiguous()) {
            *votes.entry(introduction.phrase).or_default().entry(introduction.person).or_default() += 2;
        }
        // A character with the word as a title takes precedence over one that an apposition links to it.
        votes.extend(ranks);
        let known = votes.into_iter().filter_map(|(phrase, people)| Some((phrase, clear_majority(people)?))).collect();
        let pairs = roles
            .into_iter()
            .filter_map(|(role, people)| {
                let person = clear_majority(people)?;
                let name = self.names.people.iter().position(|owner| *owner == Some(person))?;
                (self.names.people[role] != Some(person)).then_some((name, role))
            })
            .collect();
        (known, pairs)
    }

    /// Returns the role that a name is given to: `the boy they called Hale`, `a clerk named Hale`, `the clerk, Mr.
    /// Hale;`.
    fn role_given_name(&self, mention: &Mention) -> Option<String> {
        let book = self.book;
        let comma = mention.first.checked_sub(1).filter(|&at| book.list[at].mark() == ',');
        if let Some(comma) = comma {
            let mark = book.list.get(mention.end).map_or('.', Token::mark);
            let listed = mark == ',' && book.text(mention.end + 1) == "and";
            let closed = matches!(mark, ',' | ';' | '.' | ')') && !listed && !mention.possessive;
            return (comma.saturating_sub(5)..comma).filter(|_| closed).find_map(|at| {
                let is_definite = book.text(at) == "the" || book.class(at) & POSSESSIVE != 0;
                let listed = at > 0 && (book.list[at - 1].mark() == ',' || book.text(at - 1) == "and");
                match noun_phrase(book, self.names, at, comma).filter(|_| is_definite && !listed)? {
                    (NounPhrase::Role(phrase, _, _), end) if end == comma && is_specific_role(&phrase) => Some(phrase),
                    _ => None,
                }
            });
        }
        let verb = mention.first.checked_sub(1).filter(|&at| matches!(book.text(at), "called" | "named"))?;
        let between = |at: usize| matches!(book.text(at), "they" | "everybody" | "we" | "all" | "who" | "was" | "whom");
        (verb.saturating_sub(6)..verb).rev().find_map(|at| match noun_phrase(book, self.names, at, verb)? {
            (NounPhrase::Role(phrase, _, false), end) if (end..verb).all(between) => Some(phrase),
            _ => None,
        })
    }

    /// Returns the character for a role phrase: the one linked to it, else one known only by the role.
    pub(super) fn role(&mut self, phrase: &str, gender: Gender) -> usize {
        if let Some(&person) = self.linked_roles.get(phrase) {
            self.cast[person].add(phrase, 1);
            return person;
        }
        let cast = &mut self.cast;
        let person = *self.roles.entry(phrase.to_owned()).or_insert_with(|| {
            let known_gender = (gender != Gender::Unknown).then_some(gender);
            let name = (phrase == "I").then(|| "the narrator".to_owned());
            cast.push(CharacterDraft { role: true, known_gender, name, ..CharacterDraft::default() });
            cast.len() - 1
        });
        self.cast[person].add(phrase, 1);
        person
    }

    /// Returns the last mention before an offset that has a title: `Captain Hale` for `captain`.
    pub(super) fn titled(&self, noun: &str, before: usize) -> Option<Mention> {
        if !ENGLISH.is(noun, TITLE) {
            return None;
        }
        let before = self.names.between(0, self.book.first_token_from(before));
        let recent = before[before.len().saturating_sub(150)..].iter().rev();
        let bears = |mention: &&Mention| {
            let title = mention.person.and(self.names.list[mention.name].title);
            title.is_some_and(|title| canonical(&self.book.words[title as usize].text) == canonical(noun))
        };
        recent.copied().find(|mention| bears(&mention))
    }

    /// Whether a character known only by a role has a role that is specific to one person.
    pub(super) fn has_specific_role(&self, person: usize) -> bool {
        self.cast[person].forms.keys().any(|form| is_specific_role(form))
    }

    /// Returns the phrases for characters that have no name.
    pub(super) fn role_phrases(&self) -> BTreeSet<String> {
        self.roles.keys().chain(self.linked_roles.keys()).filter(|phrase| is_specific_role(phrase)).cloned().collect()
    }

    /// Adds the mentions in narration of roles that occur with a speech verb.
    pub(super) fn find_role_mentions(&mut self) {
        if self.evidence.phrases.is_empty() {
            return;
        }
        let mut last = None;
        for at in 0..self.book.list.len() {
            if self.book.list[at].quote != NONE || self.book.class(at) & (DETERMINER | POSSESSIVE) == 0 {
                continue;
            }
            let Some((NounPhrase::Role(phrase, gender, _), end)) =
                noun_phrase(self.book, self.names, at, self.book.list.len())
            else {
                continue;
            };
            if !self.evidence.phrases.contains(&phrase) || self.book.list[end - 1].quote != NONE {
                continue;
            }
            let person = self.role(&phrase, gender);
            let position = sentence_position(self.book, at, self.book.sentence_start(at), last);
            last = Some((end, position));
            let possessive = self.book.text(end - 1).ends_with("'s");
            let (vocative, person) = (false, Some(person));
            self.role_mentions.push(Mention {
                first: at,
                end,
                name: ROLE_ONLY,
                possessive,
                vocative,
                position,
                person,
            });
        }
    }
}

/// Whether a role phrase means the same person for a while: `the miller’s boy` and `my mother`, but not `the boy`.
fn is_specific_role(phrase: &str) -> bool {
    let mut words = phrase.rsplit(' ');
    phrase.starts_with("my ")
        || phrase.starts_with("the ")
            && (!ENGLISH.is(words.next().unwrap_or_default(), GENERIC)
                || words.next().is_some_and(|word| word.ends_with("’s")))
}

/// Returns the candidate with more than three quarters of the votes, if it has at least two.
fn clear_majority(votes: BTreeMap<usize, u32>) -> Option<usize> {
    let total: u32 = votes.values().sum();
    let (person, count) = votes.into_iter().max_by_key(|&(person, count)| (count, std::cmp::Reverse(person)))?;
    (count > 1 && count * 4 > total * 3).then_some(person)
}
