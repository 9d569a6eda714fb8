//! Detects leaks between splits: rows that are related to a row of a split with higher priority.

use std::collections::{BTreeMap, HashMap};

use crate::dataset::split::Params;
use crate::dataset::split::relation::Relation;
use crate::dataset::split::rows::Rows;

/// A row that is related to rows of a split with higher priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RelatedRow {
    /// The index of the row.
    pub row: usize,
    /// What it has in common.
    pub relation: Relation,
    /// The first related row in the split with the highest priority.
    pub with: usize,
}

/// Returns the rows that are related to a row of an earlier split, each once. Rows without a split are ignored.
#[must_use]
pub fn rows_crossing_splits(
    rows: &Rows,
    relations: &[Relation],
    similar: &[Vec<Option<u32>>],
    splits: &[Option<usize>],
) -> Vec<RelatedRow> {
    let mut found: BTreeMap<usize, RelatedRow> = BTreeMap::new();
    let columns = relations.iter().filter_map(|relation| Some((*relation, rows.keys(*relation)?)));
    let similarities = similar.iter().map(|firsts| (Relation::Similarity, firsts.as_slice()));
    for (relation, keys) in columns.chain(similarities) {
        let keyed =
            || keys.iter().zip(splits).enumerate().filter_map(|(row, (key, split))| Some((row, (*key)?, (*split)?)));
        // The split with the highest priority for each key, and its first row there.
        let mut best: HashMap<u32, (usize, usize)> = HashMap::new();
        for (row, key, split) in keyed() {
            let entry = best.entry(key).or_insert((split, row));
            *entry = (*entry).min((split, row));
        }
        for (row, key, split) in keyed() {
            let (first, with) = best[&key];
            if first < split {
                found.entry(row).or_insert(RelatedRow { row, relation, with });
            }
        }
    }
    found.into_values().collect()
}

/// Moves related rows of lower priority to `unused`, starting with the split of highest priority, so that moved rows
/// cause no further moves. Records the previous split and the relation of each moved row in `because`.
pub(in crate::dataset::split) fn set_aside(
    rows: &Rows,
    params: &Params,
    similar: &[Vec<Option<u32>>],
    splits: &mut [Option<usize>],
    because: &mut BTreeMap<usize, (usize, Relation)>,
) {
    let remainder = params.splits.len();
    let unused = remainder + 1;
    for protected in 0..remainder {
        // Rows that have no split yet are moved too.
        let side = |split: &Option<usize>| match *split {
            Some(split) if split == protected => Some(0),
            Some(split) if split < protected || split == unused => None,
            _ => Some(1),
        };
        let sides: Vec<Option<usize>> = splits.iter().map(side).collect();
        for found in rows_crossing_splits(rows, &params.group_by, similar, &sides) {
            because.insert(found.row, (splits[found.row].unwrap_or(remainder), found.relation));
            splits[found.row] = Some(unused);
        }
    }
}
