//! Decides which Chinese names belong to one character, and determines the gender.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::collections::HashMap;
use std::collections::HashSet;

use super::Names;
use super::groups::Groups;
use super::statement::{Alias, NameStatement};
use super::surnames::surname_length;
use crate::attribution::Gender;
use crate::attribution::chinese::role_nouns::{is_role_noun, title_gender};
use crate::attribution::known_characters::KnownCharacters;
use crate::attribution::people::CharacterDraft;
use crate::attribution::words::chinese::CHINESE;

/// A title used less than once per this many mentions of a character is not evidence of its gender.
pub(super) const MAX_MENTIONS_PER_TITLE: u32 = 50;

impl Names {
    /// Decides which names belong to one character.
    pub(in crate::attribution::chinese) fn characters(
        &mut self,
        known_characters: &KnownCharacters,
    ) -> Vec<CharacterDraft> {
        let count = self.list.len();
        let mut groups = Groups::new(count);
        for (a, b) in self.linked_names() {
            groups.join(a, b);
        }
        self.apply_statements(&mut groups);
        let mut roots: Vec<usize> = (0..count).map(|i| groups.root(i)).collect();
        let printed: Vec<(String, u32)> =
            self.list.iter().map(|name| (name.form.iter().collect(), name.count)).collect();
        let printed: Vec<(&str, u32)> = printed.iter().map(|(form, count)| (form.as_str(), *count)).collect();
        known_characters.regroup(&mut roots, &printed);
        let mut draft_indices: BTreeMap<usize, usize> = BTreeMap::new();
        let mut drafts: Vec<CharacterDraft> = Vec::new();
        let mut people = Vec::with_capacity(count);
        let mut highest_counts: BTreeMap<usize, u32> = BTreeMap::new();
        for (name, &root) in self.list.iter().zip(&roots) {
            let most = highest_counts.entry(root).or_default();
            *most = name.count.max(*most);
        }
        let mut stated: HashMap<&[char], &Alias> = HashMap::new();
        for form in self.statements.iter().flat_map(|statement| &statement.forms) {
            stated.entry(&form.form).or_insert(form);
        }
        let bearers: HashSet<&[char]> =
            self.statements.iter().filter_map(|statement| statement.bearer.as_deref()).collect();
        for (i, &root) in roots.iter().enumerate() {
            let draft_index = *draft_indices.entry(root).or_insert_with(|| {
                drafts.push(CharacterDraft::default());
                drafts.len() - 1
            });
            people.push(draft_index);
            let name = &self.list[i];
            let draft = &mut drafts[draft_index];
            let stated = stated.get(name.form.as_slice());
            // A name may occur only in the statement that gives it, there in two parts.
            let printed = stated.filter(|_| name.count == 0).map_or(&name.printed, |form| &form.printed);
            if !printed.is_empty() {
                draft.add(printed, name.count.max(u32::from(stated.is_some())));
            }
            let is_main_name = (bearers.contains(name.form.as_slice()) || stated.is_some_and(|form| form.is_main))
                && name.count * 10 >= highest_counts[&root];
            draft.female += name.female;
            draft.male += name.male;
            draft.role |= is_role_noun(&name.form);
            // Surname and given name become the main name, even if a title is more frequent.
            if surname_length(&name.form).is_some()
                && (name.count > 2 || is_main_name)
                && draft.name.as_ref().is_none_or(|other| {
                    let known = draft.forms.get(other).copied().unwrap_or(0);
                    (other.chars().count(), known) < (name.form.len(), name.count)
                })
            {
                draft.name = Some(printed.clone());
            }
            match self.titled_gender(i) {
                // A rare title may have been meant for someone else.
                gender if gender != Gender::Unknown && name.count * MAX_MENTIONS_PER_TITLE >= highest_counts[&root] => {
                    draft.known_gender = Some(gender);
                }
                _ => {}
            }
        }
        // Fix the names now, so that nouns added later cannot replace them.
        for draft in &mut drafts {
            if draft.name.is_none() {
                let most = draft.forms.values().copied().max().unwrap_or(0);
                let fit = draft.forms.iter().filter(|&(_, &count)| count * 10 >= most);
                draft.name =
                    fit.max_by_key(|&(form, &count)| (form.chars().count(), count, form)).map(|(form, _)| form.clone());
            }
        }
        self.people = people;
        known_characters.link_drafts(&mut drafts);
        drafts
    }

    /// Merges the names that a statement of the book gives to one person, unless someone else has one of them.
    fn apply_statements(&self, groups: &mut Groups) {
        // By name: the characters it is given to.
        let mut bearers: BTreeMap<&[char], BTreeSet<usize>> = BTreeMap::new();
        for statement in &self.statements {
            let Some(first) = self.index_of(statement.primary_name()) else { continue };
            for form in &statement.forms {
                bearers.entry(&form.form).or_default().insert(first);
            }
        }
        // By character: the full names that occur in the book.
        let mut fulls: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (i, _) in
            self.list.iter().enumerate().filter(|(_, name)| name.count > 0 && surname_length(&name.form).is_some())
        {
            fulls.entry(groups.root(i)).or_default().push(i);
        }
        for statement in &self.statements {
            let Some(first) = self.index_of(statement.primary_name()) else { continue };
            for form in &statement.forms {
                let Some(other) = self.index_of(&form.form) else { continue };
                let (a, b) = (groups.root(first), groups.root(other));
                let shared = bearers[form.form.as_slice()].iter().any(|&bearer| groups.root(bearer) != a);
                if a == b || shared || ![a, b].iter().all(|person| self.statement_fits(fulls.get(person), statement)) {
                    continue;
                }
                groups.join(a, b);
                let mut names = [a, b].map(|person| fulls.remove(&person).unwrap_or_default());
                names.sort_by_key(|names| std::cmp::Reverse(names.len()));
                let [mut all, fewer] = names;
                all.extend(fewer);
                fulls.insert(groups.root(a), all);
            }
        }
    }

    /// Whether a statement can be about a character: it contains all of their full names, or at least the given names.
    fn statement_fits(&self, fulls: Option<&Vec<usize>>, statement: &NameStatement) -> bool {
        let states = |name: &[char]| {
            statement.forms.iter().any(|form| form.form == name) || statement.bearer.as_deref() == Some(name)
        };
        let states_given_name = |tail: &[char]| statement.forms.iter().any(|form| form.form.ends_with(tail));
        fulls.into_iter().flatten().all(|&name| {
            let form = &self.list[name].form;
            states(form) || surname_length(form).is_some_and(|surname| states_given_name(&form[surname..]))
        })
    }

    pub(super) fn titled_gender(&self, at: usize) -> Gender {
        let form = &self.list[at].form;
        if CHINESE.generic_female.tail(form) > 1 {
            return Gender::Female;
        }
        if CHINESE.generic_male.tail(form) > 1 {
            return Gender::Male;
        }
        (1..form.len()).find_map(|i| title_gender(&form[i..])).unwrap_or(Gender::Unknown)
    }
}
