//! Decides which English names are characters, and which character each mention means.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::detection::title_gender;
use super::merging::Merger;
use super::{Name, Names};
use crate::attribution::Gender;
use crate::attribution::english::tokens::Tokens;
use crate::attribution::known_characters::KnownCharacters;
use crate::attribution::people::CharacterDraft;
use crate::attribution::words::english::KIN;

impl Names {
    /// Decides which names are characters and which belong to the same one. `links` are pairs of names that the
    /// dialogue shows to belong together.
    pub(in crate::attribution::english) fn characters(
        &mut self,
        book: &Tokens,
        links: &[(usize, usize)],
        known_characters: &KnownCharacters,
    ) -> Vec<CharacterDraft> {
        let person = |name: &Name| {
            !known_characters.ignores(&name.form)
                && (is_person(book, name) || known_characters.owner(&name.form).is_some())
        };
        let person: Vec<bool> = self.list.iter().map(person).collect();
        let (mut groups, shared) = Merger::merge(book, &self.list, &self.mentions, &person);
        for &(a, b) in links {
            groups.join(a, b);
        }
        let mut roots: Vec<usize> = (0..self.list.len()).map(|i| groups.root(i)).collect();
        let forms: Vec<(&str, u32)> = self.list.iter().map(|name| (name.form.as_str(), name.count)).collect();
        known_characters.regroup(&mut roots, &forms);
        let mut indices: BTreeMap<usize, usize> = BTreeMap::new();
        let mut drafts: Vec<CharacterDraft> = Vec::new();
        self.people = vec![None; self.list.len()];
        let anyone: Vec<bool> = {
            let mut any = vec![false; self.list.len()];
            for (i, &is) in person.iter().enumerate() {
                any[roots[i]] |= is;
            }
            any
        };
        for (i, &root) in roots.iter().enumerate() {
            if !anyone[root] {
                continue;
            }
            let index = *indices.entry(root).or_insert_with(|| {
                drafts.push(CharacterDraft::default());
                drafts.len() - 1
            });
            self.people[i] = Some(index);
            let name = &self.list[i];
            let draft = &mut drafts[index];
            draft.add(&name.form, name.count);
            draft.female += name.female;
            draft.male += name.male;
            if let Some(title) = name.title {
                match title_gender(book, title) {
                    Gender::Unknown => {}
                    gender => draft.known_gender = Some(gender),
                }
            }
        }
        let shared: BTreeMap<usize, Vec<usize>> = shared
            .into_iter()
            .map(|(name, sets)| {
                let people = sets.into_iter().filter_map(|root| indices.get(&roots[root]).copied());
                (name, people.collect())
            })
            .collect();
        self.resolve_mentions(&shared);
        known_characters.link_drafts(&mut drafts);
        drafts
    }

    /// Resolves each mention to a character. A vocative that several characters share means the one mentioned last.
    fn resolve_mentions(&mut self, shared: &BTreeMap<usize, Vec<usize>>) {
        let mut last_mentions: BTreeMap<usize, usize> = BTreeMap::new();
        let bearers: BTreeSet<usize> = shared.values().flatten().copied().collect();
        for (i, mention) in self.mentions.iter_mut().enumerate() {
            mention.person = self.people[mention.name];
            if let Some(people) = shared.get(&mention.name) {
                let last = people.iter().filter_map(|person| Some((*last_mentions.get(person)?, *person))).max();
                if let Some((_, person)) = last.filter(|(at, _)| mention.vocative && i - at < 80) {
                    mention.person = Some(person);
                }
            } else if let Some(person) = mention.person.filter(|person| bearers.contains(person)) {
                last_mentions.insert(person, i);
            }
        }
    }
}

/// Whether the book shows that a name is a person's.
fn is_person(book: &Tokens, name: &Name) -> bool {
    if name.words.is_empty() {
        return false;
    }
    if name.title.is_some() {
        return true;
    }
    let is_place = name.local * 4 > name.narrated && name.speech * 4 < name.local;
    if is_place {
        return false;
    }
    if let [word] = name.words[..] {
        let word = &book.words[word as usize];
        let doubled = word.text.split_once('-').is_some_and(|(a, b)| b.starts_with(a));
        // `Papa` may be a different person for each child, and an exclamation occurs only at the start of a sentence.
        if doubled || word.class & KIN != 0 && name.speech + name.actions < 3 || name.narrated == 0 && name.inner == 0 {
            return false;
        }
        return name.speech > 0 || name.vocative > 1 && name.inner > 0 || name.actions > 1;
    }
    name.speech > 0 || name.vocative > 1 || name.actions > 0
}
