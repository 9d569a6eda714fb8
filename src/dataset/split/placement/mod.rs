//! Places families in splits: in a random order, each family that brings the split closer to its share of every
//! stratum.

mod split_priority;

pub use split_priority::SplitPriority;

use std::collections::BTreeMap;

use rand::Rng as _;

use super::Params;
use super::rows::Rows;
use crate::seed::seeded;
use crate::text::float;

/// Rows that are placed together.
#[derive(Debug)]
pub(super) struct PlacementGroup<'a> {
    /// The key for the random order: the smallest of its rows' ids, or of their groups or scenes if they have one. So
    /// it stays the same when other rows are added.
    key: &'a str,
    /// The indices of the rows.
    pub(super) rows: Vec<usize>,
}

impl<'a> PlacementGroup<'a> {
    /// Groups rows with the same number. Rows that already have a split are skipped.
    pub(super) fn of(rows: &'a Rows, numbers: &[u32], splits: &[Option<usize>]) -> Vec<Self> {
        let mut groups: BTreeMap<u32, Self> = BTreeMap::new();
        for row in (0..rows.len()).filter(|row| splits[*row].is_none()) {
            let key = rows.stable_key(row);
            let group = groups.entry(numbers[row]).or_insert_with(|| PlacementGroup { key, rows: Vec::new() });
            group.key = group.key.min(key);
            group.rows.push(row);
        }
        groups.into_values().collect()
    }
}

/// The target numbers of rows in the splits.
pub(super) struct Quotas {
    /// For each row, its level of each kind.
    levels: Vec<Vec<usize>>,
    /// For each level, the number of rows and the weight of a row.
    counts: Vec<(usize, f64)>,
    rows: usize,
}

impl Quotas {
    /// Counts all rows, by each stratified column and by all of them combined.
    pub(super) fn new(rows: &Rows, params: &Params) -> Self {
        let columns = params.stratify.len();
        let mut numbers: BTreeMap<(usize, Vec<u32>), usize> = BTreeMap::new();
        let mut counts: Vec<(usize, f64)> = Vec::new();
        let mut levels = Vec::with_capacity(rows.len());
        for row in 0..rows.len() {
            let values: Vec<u32> = rows.levels.iter().map(|level| level[row]).collect();
            let alone = (0..columns).map(|column| (column, vec![values[column]]));
            let kinds = [(columns, Vec::new())].into_iter().chain(alone).chain([(columns + 1, values.clone())]);
            let of_row = kinds.map(|(level, values)| {
                // The combination of all columns weighs as much as everything else, so that no stratum is sacrificed
                // for the totals.
                let weight = if level > columns { float(columns + 1) } else { 1.0 };
                *numbers.entry((level, values)).or_insert_with(|| {
                    counts.push((0, weight));
                    counts.len() - 1
                })
            });
            let of_row: Vec<usize> = of_row.collect();
            for level in &of_row {
                counts[*level].0 += 1;
            }
            levels.push(of_row);
        }
        Self { levels, counts, rows: rows.len() }
    }
}

/// Assigns the groups, split by split. Groups that no split takes go to the remainder.
pub(super) fn assign(groups: &[PlacementGroup<'_>], quotas: &Quotas, params: &Params, splits: &mut [Option<usize>]) {
    let mut remaining: Vec<&PlacementGroup<'_>> = groups.iter().collect();
    for (split, part) in params.splits.iter().enumerate() {
        let share = part.size.of(quotas.rows) / float(quotas.rows.max(1));
        let mut have = vec![0.0; quotas.counts.len()];
        for row in (0..quotas.rows).filter(|row| splits[*row] == Some(split)) {
            for level in &quotas.levels[row] {
                have[*level] += 1.0;
            }
        }
        let had_none = have.iter().all(|count| *count == 0.0);
        if share <= 0.0 {
            continue;
        }
        let mut order: Vec<(u64, &PlacementGroup<'_>)> =
            remaining.into_iter().map(|group| (rank(params.seed, &part.name, group.key), group)).collect();
        order.sort_by(|(a, one), (b, other)| (a, one.key).cmp(&(b, other.key)));
        let mut best: Option<(f64, usize)> = None;
        let mut chosen = vec![false; order.len()];
        for (index, (_, group)) in order.iter().enumerate() {
            let gain = gain(group, quotas, share, &have);
            if gain < -1e-9 {
                chosen[index] = true;
                add(group, quotas, &mut have);
            } else if best.is_none_or(|(least, _)| gain < least) {
                best = Some((gain, index));
            }
        }
        // A requested split gets at least one group if that leaves one for the remainder.
        if let (true, Some((_, index))) = (had_none && !chosen.contains(&true) && order.len() > 1, best) {
            chosen[index] = true;
        }
        remaining = Vec::with_capacity(order.len());
        for ((_, group), chosen) in order.into_iter().zip(chosen) {
            if chosen {
                group.rows.iter().for_each(|row| splits[*row] = Some(split));
            } else {
                remaining.push(group);
            }
        }
    }
    for group in remaining {
        group.rows.iter().for_each(|row| splits[*row] = Some(params.splits.len()));
    }
}

/// Returns how much further from its targets a group would move a split; negative if it brings the split closer.
fn gain(group: &PlacementGroup<'_>, quotas: &Quotas, share: f64, have: &[f64]) -> f64 {
    let mut more: BTreeMap<usize, f64> = BTreeMap::new();
    for row in &group.rows {
        for level in &quotas.levels[*row] {
            *more.entry(*level).or_default() += 1.0;
        }
    }
    let change = |(level, more): (usize, f64)| {
        let (count, weight) = quotas.counts[level];
        let (target, have) = (share * float(count), have[level]);
        weight * ((have + more - target).abs() - (have - target).abs())
    };
    more.into_iter().map(change).sum()
}

fn add(group: &PlacementGroup<'_>, quotas: &Quotas, have: &mut [f64]) {
    for row in &group.rows {
        for level in &quotas.levels[*row] {
            have[*level] += 1.0;
        }
    }
}

/// Returns the rank of a group in the random order of a split, which is independent of other groups and splits.
fn rank(seed: u64, split: &str, key: &str) -> u64 {
    seeded(seed, &["split", split, key]).next_u64()
}
