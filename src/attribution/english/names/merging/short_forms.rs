//! Merges short forms of English first names.

use std::collections::HashSet;

use super::Merger;
use crate::attribution::words::english::ENGLISH;

impl Merger<'_> {
    /// Merges a short form with the only character who is called by the full first name alone.
    pub(super) fn merge_short_forms(&mut self) {
        let bare: Vec<usize> = (0..self.names.len())
            .filter(|&i| self.names[i].words.len() == 1 && self.names[i].title.is_none() && self.person[i])
            .collect();
        let roots: Vec<usize> = (0..self.names.len()).map(|i| self.groups.root(i)).collect();
        let apart: HashSet<(usize, usize)> =
            self.companions.iter().map(|&(a, b)| (roots[a].min(roots[b]), roots[a].max(roots[b]))).collect();
        for &i in &bare {
            let short = self.text(self.names[i].words[0]);
            let mut fit: Vec<usize> = Vec::new();
            for &other in &bare {
                if ENGLISH.shortens(short, self.text(self.names[other].words[0])) {
                    let root = self.groups.root(other);
                    if !fit.contains(&root) {
                        fit.push(root);
                    }
                }
            }
            if let [only] = fit[..]
                && self.groups.agree(only, i)
                && !apart.contains(&(roots[only].min(roots[i]), roots[only].max(roots[i])))
            {
                self.groups.join(only, i);
            }
        }
    }

    /// Merges short forms that occur mainly in dialogue with the name that they shorten.
    pub(super) fn merge_spoken_short_forms(&mut self) {
        for i in 0..self.names.len() {
            let name = &self.names[i];
            let [word] = name.words[..] else { continue };
            if !self.may_take_first_name(i) || name.narrated * 4 > name.count {
                continue;
            }
            let short = self.text(word);
            let mut fit: Vec<usize> = Vec::new();
            for (k, other) in self.names.iter().enumerate() {
                let Some(&first) = other.words.first() else { continue };
                let surname = other.words.len() == 1 && !self.may_take_first_name(k);
                if self.person[k]
                    && !surname
                    && first != word
                    && other.narrated * 2 > other.count
                    && other.count > name.count
                    && may_shorten(short, self.text(first))
                    && self.groups.agree(i, k)
                {
                    let root = self.groups.root(k);
                    if !fit.contains(&root) {
                        fit.push(root);
                    }
                }
            }
            if let [only] = fit[..] {
                self.groups.join(only, i);
            }
        }
    }
}

/// Whether a name may be a short form of another: not longer by more than one letter, with the same beginning or a
/// clear part of it.
pub(in crate::attribution::english) fn may_shorten(short: &str, long: &str) -> bool {
    let stem = ["sie", "sy", "zie", "zy", "kie", "ky", "ie", "ey", "y", "s", ""]
        .iter()
        .find_map(|ending| short.strip_suffix(ending).filter(|stem| stem.chars().count() > 2))
        .unwrap_or(short);
    let doubled = stem.chars().rev().take(2).collect::<Vec<_>>();
    let stem = match doubled[..] {
        [a, b] if a == b && stem.chars().count() > 3 => &stem[..stem.len() - a.len_utf8()],
        _ => stem,
    };
    // `Nellie`: the part before the ending, of at least three letters, anywhere in the longer name.
    stem.chars().count() > 2
        && short.chars().count() <= long.chars().count() + 1
        && (long.starts_with(stem) || stem.chars().count() > 2 && long.contains(stem))
}
