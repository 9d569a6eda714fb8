//! What would straddle a border: rows that share something with a row of a split that is better guarded.

use std::collections::{BTreeMap, HashMap};

use super::{Params, Relation, Rows};

/// A row that shares something with rows of a better guarded split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guarded {
    /// The row.
    pub row: usize,
    /// What it shares.
    pub relation: Relation,
    /// The first row of the better guarded split that shares it.
    pub with: usize,
}

/// Returns the rows that share something with a row of a split that comes before theirs, each once; rows without a split are not
/// looked at.
#[must_use]
pub fn straddling(
    rows: &Rows,
    relations: &[Relation],
    near: &[Vec<Option<u32>>],
    splits: &[Option<usize>],
) -> Vec<Guarded> {
    let mut found: BTreeMap<usize, Guarded> = BTreeMap::new();
    let columns = relations.iter().filter_map(|relation| Some((*relation, rows.keys(*relation)?)));
    let likenesses = near.iter().map(|firsts| (Relation::Near, firsts.as_slice()));
    for (relation, keys) in columns.chain(likenesses) {
        let keyed =
            || keys.iter().zip(splits).enumerate().filter_map(|(row, (key, split))| Some((row, (*key)?, (*split)?)));
        // The best guarded split that has a key, and its first row there.
        let mut best: HashMap<u32, (usize, usize)> = HashMap::new();
        for (row, key, split) in keyed() {
            let entry = best.entry(key).or_insert((split, row));
            *entry = (*entry).min((split, row));
        }
        for (row, key, split) in keyed() {
            let (first, with) = best[&key];
            if first < split {
                found.entry(row).or_insert(Guarded { row, relation, with });
            }
        }
    }
    found.into_values().collect()
}

/// Sets aside what would straddle a border, from the best guarded split on, so that what is set aside guards nothing. Notes of each
/// row where it was and what it shares.
pub(super) fn set_aside(
    rows: &Rows,
    params: &Params,
    near: &[Vec<Option<u32>>],
    splits: &mut [Option<usize>],
    because: &mut BTreeMap<usize, (usize, Relation)>,
) {
    let rest = params.splits.len();
    let unused = rest + 1;
    for guard in 0..rest {
        // Rows that have no split yet give way too.
        let side = |split: &Option<usize>| match *split {
            Some(split) if split == guard => Some(0),
            Some(split) if split < guard || split == unused => None,
            _ => Some(1),
        };
        let sides: Vec<Option<usize>> = splits.iter().map(side).collect();
        for found in straddling(rows, &params.apart, near, &sides) {
            because.insert(found.row, (splits[found.row].unwrap_or(rest), found.relation));
            splits[found.row] = Some(unused);
        }
    }
}
