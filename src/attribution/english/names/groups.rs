//! Disjoint sets of names, used while names are merged.

use crate::attribution::Gender;
use crate::attribution::people::CharacterDraft;

/// Disjoint sets of names; each set is one person's.
pub(super) struct Groups {
    parents: Vec<usize>,
    /// By root: the evidence of titles as bits: 1 female, 2 male, 4 Mrs., 8 Miss.
    titles: Vec<u8>,
    /// By root: counts of feminine and masculine pronouns.
    counts: Vec<(u32, u32)>,
}

impl Groups {
    pub(in crate::attribution::english) fn new(titles: Vec<u8>, counts: Vec<(u32, u32)>) -> Self {
        Self { parents: (0..titles.len()).collect(), titles, counts }
    }

    /// Returns the gender of a set, by titles or, without one, by pronouns.
    pub(in crate::attribution::english) fn gender(&mut self, at: usize) -> Gender {
        let root = self.root(at);
        match self.titles[root] & 3 {
            1 => return Gender::Female,
            2 => return Gender::Male,
            _ => {}
        }
        let (female, male) = self.counts[root];
        CharacterDraft { female, male, ..CharacterDraft::default() }.gender()
    }

    /// Whether two sets are compatible by titles and pronouns.
    pub(super) fn agree(&mut self, a: usize, b: usize) -> bool {
        let (first, second) = (self.gender(a), self.gender(b));
        let (a, b) = (self.root(a), self.root(b));
        let married_and_unmarried = (self.titles[a] | self.titles[b]) & 0b1100 == 0b1100;
        (first == Gender::Unknown || second == Gender::Unknown || first == second) && !married_and_unmarried
    }

    pub(super) fn root(&mut self, mut at: usize) -> usize {
        while self.parents[at] != at {
            self.parents[at] = self.parents[self.parents[at]];
            at = self.parents[at];
        }
        at
    }

    /// Joins two sets, unless their titles contradict each other.
    pub(in crate::attribution::english) fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        let (a, b) = (a.min(b), a.max(b));
        let titles = self.titles[a] | self.titles[b];
        if titles & 0b0011 != 0b0011 && titles & 0b1100 != 0b1100 {
            if a != b {
                let (female, male) = self.counts[b];
                self.counts[a].0 += female;
                self.counts[a].1 += male;
            }
            self.parents[b] = a;
            self.titles[a] = titles;
        }
    }
}
