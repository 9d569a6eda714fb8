//! Merges English surnames, with and without titles.

use crate::attribution::words::english::ENGLISH;
use std::collections::BTreeMap;
use std::collections::HashSet;

use super::Merger;
use crate::attribution::Gender;

impl Merger<'_> {
    /// Merges names with the same surname whose titles are compatible: `Captain Hale`, `Mr. Hale`, `Hale`.
    pub(super) fn merge_surnames(&mut self) {
        let mut singles: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (i, name) in self.names.iter().enumerate() {
            if let [word] = name.words[..]
                && !self.is_first_name[i]
                && (self.person[i] || name.title.is_none())
            {
                singles.entry(word).or_default().push(i);
            }
        }
        for (word, forms) in &singles {
            let bearers: Vec<usize> = self.by_last.get(word).cloned().unwrap_or_default();
            let titled: Vec<usize> = forms.iter().copied().filter(|&i| self.names[i].title.is_some()).collect();
            self.merge_titles(&titled, bearers.len());
            for &i in &titled {
                let fit = self.compatible(i, &bearers);
                // Wife and daughter share the surname; only dialogue can show which of them is meant.
                let wife = self.title(i) == "mrs";
                if let [only] = fit[..]
                    && (!wife || self.title(only) == "mrs")
                    && !self.occur_together(only, i)
                {
                    self.groups.join(only, i);
                }
            }
            let bare = forms.iter().copied().find(|&i| self.names[i].title.is_none());
            let Some(bare) = bare else { continue };
            let mut fit = self.compatible(bare, &titled);
            fit.sort_by_key(|&i| std::cmp::Reverse(self.names[i].count));
            // In most books, a bare surname means a man.
            let men: Vec<usize> = fit.iter().copied().filter(|&i| self.groups.gender(i) != Gender::Female).collect();
            let choice = match (&men[..], &fit[..]) {
                ([only], _) | ([], [only]) => Some(*only),
                ([a, b, ..], _) if self.names[*a].count >= 4 * self.names[*b].count => Some(*a),
                ([], []) => match self.compatible(bare, &bearers)[..] {
                    [only] => Some(only),
                    _ => None,
                },
                _ => None,
            };
            if let Some(choice) = choice {
                self.groups.join(choice, bare);
            }
        }
    }

    /// Merges names with one surname and equivalent titles, and Mr. with the only professional title.
    fn merge_titles(&mut self, titled: &[usize], bearers: usize) {
        for (k, &a) in titled.iter().enumerate() {
            for &b in &titled[k + 1..] {
                if self.title(a) == self.title(b) {
                    self.groups.join(a, b);
                }
            }
        }
        let mr: Vec<usize> = titled.iter().copied().filter(|&i| self.title(i) == "mr").collect();
        let others: Vec<usize> =
            titled.iter().copied().filter(|&i| ENGLISH.professions.contains(self.title(i))).collect();
        if let ([mr, ..], Some(&other)) = (&mr[..], others.first())
            && others.iter().all(|&i| self.title(i) == self.title(other))
            && bearers < 2
            && !self.occur_together(*mr, other)
            && self.groups.agree(*mr, other)
        {
            self.groups.join(*mr, other);
        }
    }

    /// Merges `Miss Hale` with the daughter of that surname; of several daughters, with the one who is never called
    /// Miss with her first name. Returns the names that several people share, each with their groups.
    pub(super) fn merge_daughters(&mut self) -> Vec<(usize, Vec<usize>)> {
        let mut shared = Vec::new();
        let mut younger: HashSet<usize> = HashSet::new();
        for k in 0..self.names.len() {
            if self.title(k) == "miss" && (self.is_first_name[k] || self.names[k].words.len() > 1) {
                younger.insert(self.groups.root(k));
            }
        }
        for i in 0..self.names.len() {
            let [word] = self.names[i].words[..] else { continue };
            if self.title(i) != "miss" || self.is_first_name[i] {
                continue;
            }
            let own_group = self.groups.root(i);
            let bearers: Vec<usize> = self.by_last.get(&word).cloned().unwrap_or_default();
            let mut daughters: Vec<usize> = Vec::new();
            for other in bearers {
                let root = self.groups.root(other);
                if root != own_group
                    && self.groups.gender(other) != Gender::Male
                    && self.groups.agree(i, other)
                    && !daughters.contains(&root)
                {
                    daughters.push(root);
                }
            }
            if daughters.len() > 1 {
                shared.push((i, daughters.clone()));
                daughters.retain(|root| !younger.contains(root));
                daughters.sort_unstable_by_key(|&root| std::cmp::Reverse(self.names[root].count));
                if let [first, second, ..] = daughters[..]
                    && self.names[first].count > self.names[second].count * 2
                {
                    daughters.truncate(1);
                }
            }
            if let [only] = daughters[..]
                && !self.occur_together(only, i)
            {
                self.groups.join(only, i);
            }
        }
        shared
    }
}
