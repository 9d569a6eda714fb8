//! Merges English full names with each other, with initials and with first names.

use std::collections::HashMap;
use std::collections::HashSet;

use super::Merger;
use crate::attribution::english::tokens::Tokens;
use crate::attribution::words::english::{ENGLISH, PARTICLE};

impl Merger<'_> {
    /// Merges full names with the same words, with a first name and its short form, or where one contains the other.
    pub(super) fn merge_full_names(&mut self, fulls: &[usize]) {
        let mut by_words: HashMap<&[u32], Vec<usize>> = HashMap::new();
        let letter = |book: &Tokens, word: u32| book.words[word as usize].text.chars().count() == 1;
        for &i in fulls {
            let words = self.names[i].words.as_slice();
            if letter(self.book, words[0]) {
                continue;
            }
            let same = by_words.entry(words).or_default();
            let duplicate = same.iter().copied().find(|&other| self.groups.agree(i, other));
            same.push(i);
            if let Some(duplicate) = duplicate {
                self.groups.join(duplicate, i);
                continue;
            }
            self.by_last.entry(words[words.len() - 1]).or_default().push(i);
        }
        let mut lasts: Vec<(&u32, &Vec<usize>)> = self.by_last.iter().collect();
        lasts.sort();
        let mut pairs = Vec::new();
        for (_, bearers) in lasts {
            for (k, &a) in bearers.iter().enumerate().take(20) {
                for &b in bearers.iter().skip(k + 1).take(20) {
                    let (first, second) = (self.text(self.names[a].words[0]), self.text(self.names[b].words[0]));
                    if ENGLISH.shortens(first, second) || ENGLISH.shortens(second, first) {
                        pairs.push((a, b));
                    }
                }
            }
        }
        for &i in fulls.iter().filter(|&&i| self.names[i].words.len() > 2) {
            for piece in self.names[i].words.windows(2) {
                let particle = self.book.words[piece[0] as usize].class & PARTICLE != 0;
                if let Some(other) = by_words.get(piece).filter(|_| !particle).and_then(|same| same.first()) {
                    pairs.push((*other, i));
                }
            }
        }
        for (a, b) in pairs {
            if self.groups.agree(a, b) && !self.occur_together(a, b) {
                self.groups.join(a, b);
            }
        }
    }

    /// Merges `H. Hale` with the only Hale whose first name has that initial.
    pub(super) fn merge_initials(&mut self, fulls: &[usize]) {
        for &i in fulls {
            let words = &self.names[i].words;
            let initial = self.text(words[0]);
            if initial.chars().count() != 1 {
                continue;
            }
            let bearers = self.by_last.get(&words[words.len() - 1]).map_or(&[][..], Vec::as_slice);
            let fit: Vec<usize> = bearers
                .iter()
                .copied()
                .filter(|&other| self.text(self.names[other].words[0]).starts_with(initial))
                .collect();
            if let [only] = fit[..] {
                self.groups.join(only, i);
            }
        }
    }

    /// Merges a first name, alone or after a title that first names take, with the full name that begins with it.
    pub(super) fn merge_first_names(&mut self, fulls: &[usize]) {
        let mut by_first: HashMap<u32, Vec<usize>> = HashMap::new();
        for &i in fulls {
            by_first.entry(self.names[i].words[0]).or_default().push(i);
        }
        let ranked = self.groups_with_rank(fulls);
        let mut titled: HashMap<u32, u32> = HashMap::new();
        for (i, name) in self.names.iter().enumerate() {
            if let ([word], false) = (&name.words[..], self.may_take_first_name(i)) {
                *titled.entry(*word).or_default() += name.count;
            }
        }
        for (i, name) in self.names.iter().enumerate() {
            let [word] = name.words[..] else { continue };
            let Some(bearers) = by_first.get(&word) else { continue };
            let takes_first = self.may_take_first_name(i);
            let mut fit: Vec<usize> = Vec::new();
            for &other in bearers {
                let same_title = name.title.is_some() && self.title(other) == self.title(i);
                let root = self.groups.root(other);
                // A lady is not called by her first name alone.
                let rank = name.title.is_none() && ranked.contains(&root);
                if (takes_first && !rank || same_title)
                    && self.groups.agree(i, other)
                    && !self.is_established_before(i, other)
                    && !fit.iter().any(|&known| self.groups.root(known) == root)
                {
                    fit.push(other);
                }
            }
            // `Hale` is rather Colonel Hale than Hale Morton if the colonel is mentioned more often.
            let surname = name.title.is_none()
                && fit.iter().all(|&other| titled.get(&word).is_some_and(|&count| count > self.names[other].count));
            if surname {
                continue;
            }
            let clear = match fit[..] {
                [] => None,
                [only] => Some(only),
                [a, b, ..] => (self.names[a].count >= 3 * self.names[b].count).then_some(a),
            };
            if let Some(best) = clear {
                self.groups.join(best, i);
                self.is_first_name[i] = true;
            }
        }
    }

    /// Returns the groups whose full names mostly have a title of rank.
    fn groups_with_rank(&mut self, fulls: &[usize]) -> HashSet<usize> {
        let mut counts: HashMap<usize, (u32, u32)> = HashMap::new();
        for &i in fulls {
            let rank = matches!(self.title(i), "lady" | "sir" | "queen" | "king" | "prince" | "princess" | "saint");
            let (ranked, all) = counts.entry(self.groups.root(i)).or_default();
            *ranked += if rank { self.names[i].count } else { 0 };
            *all += self.names[i].count;
        }
        counts.into_iter().filter(|&(_, (ranked, all))| ranked * 2 > all).map(|(root, _)| root).collect()
    }

    /// Whether a first name is well established before a rare full name with a rare surname first occurs; that full
    /// name is then someone else's.
    fn is_established_before(&self, first: usize, full: usize) -> bool {
        let (first, full) = (&self.names[first], &self.names[full]);
        let rare = full.words.last().is_some_and(|last| self.surname_mentions[last] < first.count);
        if full.count * 5 >= first.count || first.title.is_some() || !rare {
            return false;
        }
        let name = self.mentions[first.first].name;
        let earlier = self.mentions[first.first..full.first.max(first.first)]
            .iter()
            .filter(|mention| mention.name == name)
            .take(12)
            .count();
        earlier > 11 || earlier as u64 * 3 > u64::from(first.count)
    }
}
