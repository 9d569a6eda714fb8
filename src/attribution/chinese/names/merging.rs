//! Merges Chinese names that belong to one person.
//!
//! Only evidence counts: a name and a part of it, a title that occurs soon after the full name, a statement of the
//! book. A shared surname is not evidence.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::collections::HashSet;

use super::Names;
use super::characters::MAX_MENTIONS_PER_TITLE;
use super::surnames::{is_maiden_title, surname_length};
use crate::attribution::Gender;
use crate::attribution::chinese::role_nouns::{is_role_noun, is_title, title_gender};
use crate::attribution::people::CharacterDraft;
use crate::attribution::words::chinese::CHINESE;

/// Maximum number of mentions of a title that are used to find its bearer.
const MAX_VOTES: usize = 12;

/// Maximum distance in characters between a title and the last mention of its bearer.
pub(in crate::attribution::chinese) const MAX_TITLE_DISTANCE: usize = 1200;

impl Names {
    pub(super) fn linked_names(&self) -> Vec<(usize, usize)> {
        let forms: HashMap<&[char], usize> =
            self.list.iter().enumerate().map(|(i, name)| (name.form.as_slice(), i)).collect();
        // Another family's name, borne by someone with a second name, is not evidence for titles.
        let mut other_families: HashSet<&[char]> = HashSet::new();
        for statement in &self.statements {
            let Some(bearer) = statement.bearer.as_deref().filter(|bearer| surname_length(bearer).is_some()) else {
                continue;
            };
            let others = statement.forms.iter().filter(|alias| alias.is_main && alias.form[0] != bearer[0]);
            other_families.extend(others.map(|alias| alias.form.as_slice()));
        }
        // By what follows the surname: a given name or a numbered title.
        let mut by_given_name: HashMap<&[char], Vec<usize>> = HashMap::new();
        let mut fulls: HashMap<&[char], Vec<usize>> = HashMap::new();
        for (i, name) in self.list.iter().enumerate() {
            let surname = CHINESE.surnames.head(&name.form);
            let tail = &name.form[surname..];
            if surname > 0 && tail.len() > 1 && name.count > 0 && !is_role_noun(tail) && !is_title(tail) {
                by_given_name.entry(&name.form[surname..]).or_default().push(i);
            }
            if let Some(surname) = surname_length(&name.form)
                && name.count > 1
                && !other_families.contains(name.form.as_slice())
            {
                fulls.entry(&name.form[..surname]).or_default().push(i);
            }
        }
        // By part of a foreign name: the names that contain it.
        let mut parts: HashMap<&[char], Vec<usize>> = HashMap::new();
        for (i, name) in self.list.iter().enumerate().filter(|(_, name)| name.form.contains(&'·') && name.count > 0) {
            for part in name.form.split(|&c| c == '·') {
                parts.entry(part).or_default().push(i);
            }
        }
        // By name: the offsets of its first mentions.
        let mut first_mentions: Vec<Vec<usize>> = vec![Vec::new(); self.list.len()];
        for mention in &self.mentions {
            if first_mentions[mention.name].len() < MAX_VOTES {
                first_mentions[mention.name].push(mention.start);
            }
        }
        let mut joins: Vec<(usize, usize)> = Vec::new();
        for (i, name) in self.list.iter().enumerate() {
            if let Some((&'儿', stem)) = name.form.split_last()
                && stem.len() > 1
                && let Some(&other) = forms.get(stem)
            {
                joins.push((other, i));
            }
            for length in 2..name.form.len() {
                let word = &name.form[length..];
                if let Some(&other) = forms.get(&name.form[..length])
                    && (CHINESE.same_person_titles.has(word)
                        || word == ['子'] && title_gender(&name.form[length - 1..]).is_some())
                {
                    joins.push((other, i));
                }
            }
            if let Some(others) = by_given_name.get(name.form.as_slice())
                && name.form.len() > 1
                && let Some(other) = self.bearer(i, others)
            {
                joins.push((other, i));
            }
            if let Some(others) = parts.get(name.form.as_slice())
                && let Some(other) = self.bearer(i, others)
            {
                joins.push((other, i));
            }
            if let Some(other) = self.titled_bearer(i, &fulls, &first_mentions[i]) {
                joins.push((other, i));
            }
        }
        joins
    }

    /// Returns the full name that a given name belongs to: the only one, or one more than three times as frequent as
    /// any other.
    pub(super) fn bearer(&self, name: usize, others: &[usize]) -> Option<usize> {
        let mut others: Vec<usize> = others.iter().copied().filter(|&other| other != name).collect();
        others.sort_by_key(|&other| (std::cmp::Reverse(self.list[other].count), other));
        match others[..] {
            [] => None,
            [only] => Some(only),
            [first, second, ..] => (self.list[first].count > self.list[second].count * 3).then_some(first),
        }
    }

    /// Returns the full name that a surname with a title or with 老 refers to: the one that is mostly mentioned last
    /// before it.
    fn titled_bearer(
        &self,
        at: usize,
        fulls: &HashMap<&[char], Vec<usize>>,
        first_mentions: &[usize],
    ) -> Option<usize> {
        let name = &self.list[at];
        let (surname, gender) = match name.form[..] {
            ['老', c] if CHINESE.surnames.has(&[c]) => (&name.form[1..], Gender::Unknown),
            _ => {
                let length = CHINESE.surnames.head(&name.form);
                (&name.form[..length], title_gender(&name.form[length..])?)
            }
        };
        // 张和尚 is a name of its own rather than another person's title.
        let is_own_name = matches!(&name.form[surname.len()..], ['和', '尚'] | ['道', '士' | '人'] | ['婆', '子']);
        if surname.is_empty() || name.count == 0 || is_own_name {
            return None;
        }
        let others = fulls.get(surname)?;
        // Each use of the form is a vote for the last person with that surname mentioned before it.
        let mut votes: BTreeMap<usize, usize> = BTreeMap::new();
        let mut full_form = surname.to_vec();
        for &start in first_mentions {
            let window = self.between(start.saturating_sub(MAX_TITLE_DISTANCE), start);
            // A person is mentioned by the full name or by the given name.
            let bearer = window.iter().rev().find_map(|mention| {
                full_form.truncate(surname.len());
                full_form.extend(&self.list[mention.name].form);
                let both = [Some(mention.name), self.index_of(&full_form)];
                both.into_iter().flatten().filter(|name| *name != at && others.binary_search(name).is_ok()).min()
            });
            if let Some(bearer) = bearer {
                *votes.entry(bearer).or_default() += 1;
            }
        }
        let (&other, &most) = votes.iter().max_by_key(|&(&other, &count)| (count, std::cmp::Reverse(other)))?;
        let known_gender = self.gender_of(other);
        let fits = match gender {
            // A wife's title is used with her husband's surname as often as with her own.
            Gender::Female => {
                known_gender == Gender::Female
                    || known_gender == Gender::Unknown && is_maiden_title(&name.form[surname.len()..])
            }
            Gender::Male => {
                known_gender == Gender::Male
                    || known_gender == Gender::Unknown && self.is_frequent_title(at, other, surname)
            }
            Gender::Unknown => true,
        };
        (fits && most * 5 >= first_mentions.len() * 3).then_some(other)
    }

    /// Whether a title is used often enough, relative to a full name, to determine its gender.
    fn is_frequent_title(&self, title: usize, full: usize, surname: &[char]) -> bool {
        let full = &self.list[full].form;
        let names = [self.index_of(full), self.index_of(&full[surname.len()..])];
        let known: u32 = names.into_iter().flatten().map(|name| self.list[name].count).sum();
        self.list[title].count * MAX_MENTIONS_PER_TITLE >= known
    }

    fn gender_of(&self, at: usize) -> Gender {
        match self.titled_gender(at) {
            Gender::Unknown => {
                let name = &self.list[at];
                CharacterDraft { female: name.female, male: name.male, ..CharacterDraft::default() }.gender()
            }
            gender => gender,
        }
    }
}
