//! Sets of names while they are being joined.

/// Sets of names that are one person's; each goes by the first name in it.
pub(super) struct Groups {
    parents: Vec<usize>,
}

impl Groups {
    /// Returns a set for each of so many names.
    pub(super) fn new(count: usize) -> Self {
        Self { parents: (0..count).collect() }
    }

    /// Returns the name that the set of a name goes by.
    pub(super) fn root(&mut self, mut at: usize) -> usize {
        while self.parents[at] != at {
            self.parents[at] = self.parents[self.parents[at]];
            at = self.parents[at];
        }
        at
    }

    /// Makes one set of the sets of two names.
    pub(super) fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parents[a.max(b)] = a.min(b);
    }
}
