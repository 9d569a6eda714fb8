//! Disjoint sets of names, used while names are merged.

/// Disjoint sets of names; each set is one person's, and its root is its first name.
pub(super) struct Groups {
    parents: Vec<usize>,
}

impl Groups {
    /// Returns `count` sets of one name each.
    pub(in crate::attribution::chinese) fn new(count: usize) -> Self {
        Self { parents: (0..count).collect() }
    }

    /// Returns the root of a name's set.
    pub(super) fn root(&mut self, mut at: usize) -> usize {
        while self.parents[at] != at {
            self.parents[at] = self.parents[self.parents[at]];
            at = self.parents[at];
        }
        at
    }

    /// Joins the sets of two names.
    pub(super) fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parents[a.max(b)] = a.min(b);
    }
}
