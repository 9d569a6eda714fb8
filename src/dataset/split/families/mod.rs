//! Families: rows that are placed in the same split because they are related, directly or through other rows.

mod cross_split;
mod similarity;

pub(super) use cross_split::set_aside;
pub use cross_split::{RelatedRow, rows_crossing_splits};
pub use similarity::{similar_rows, uncompared_questions};

use super::relation::Relation;
use super::rows::Rows;

/// The families of rows, with and without text similarity.
pub(super) struct Families {
    all: Vec<u32>,
    structural: Vec<u32>,
    joined: Vec<usize>,
}

impl Families {
    /// Computes the families. `near` has one list per compared text: the first row of each row's group of similar rows.
    pub(super) fn new(rows: &Rows, group_by: &[Relation], near: &[Vec<Option<u32>>]) -> Self {
        let mut parents: Vec<u32> = (0_u32..).take(rows.len()).collect();
        for keys in group_by.iter().filter_map(|relation| rows.keys(*relation)) {
            let mut firsts = std::collections::HashMap::new();
            for (row, key) in (0_u32..).zip(keys) {
                if let Some(key) = key {
                    join(&mut parents, row, *firsts.entry(*key).or_insert(row));
                }
            }
        }
        let structural = roots(&mut parents);
        for (row, first) in near.iter().flat_map(|firsts| (0_u32..).zip(firsts)) {
            if let Some(first) = first {
                join(&mut parents, row, *first);
            }
        }
        let all = roots(&mut parents);
        // Similarity joined a family if the family without similarity differs for one of its rows.
        let mut is_joined = vec![false; rows.len()];
        for (family, own) in all.iter().zip(&structural) {
            is_joined[*family as usize] |= family != own;
        }
        let joined = (0..rows.len()).filter(|row| is_joined[all[*row] as usize]).collect();
        Self { all, structural, joined }
    }

    /// Returns the first row of each row's family.
    pub(super) fn all(&self) -> &[u32] {
        &self.all
    }

    /// Returns the first row of each row's family, ignoring text similarity.
    pub(super) fn structural(&self) -> &[u32] {
        &self.structural
    }

    /// Returns whether text similarity joined any families.
    pub(super) fn are_joined(&self) -> bool {
        !self.joined.is_empty()
    }

    /// Returns the rows of families that text similarity joined.
    pub(super) fn joined_rows(&self) -> impl Iterator<Item = usize> {
        self.joined.iter().copied()
    }
}

fn join(parents: &mut [u32], one: u32, other: u32) {
    let (one, other) = (root(parents, one), root(parents, other));
    parents[one.max(other) as usize] = one.min(other);
}

fn roots(parents: &mut [u32]) -> Vec<u32> {
    (0_u32..).take(parents.len()).map(|row| root(parents, row)).collect()
}

fn root(parents: &mut [u32], row: u32) -> u32 {
    let mut at = row;
    while parents[at as usize] != at {
        parents[at as usize] = parents[parents[at as usize] as usize];
        at = parents[at as usize];
    }
    at
}
