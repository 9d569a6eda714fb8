//! Which family goes into which split: in an order that the seed gives, as long as it brings the split nearer to its share of every
//! stratum.

use std::collections::BTreeMap;

use rand::Rng as _;

use super::{Params, Rows};
use crate::seed::seeded;
use crate::text::float;

/// Rows that are placed together.
#[derive(Debug)]
pub(super) struct Unit<'a> {
    /// What it is known by, whatever other rows come: the least of the ids of its rows, by group or scene where there is one.
    key: &'a str,
    /// Its rows.
    pub(super) rows: Vec<usize>,
}

impl<'a> Unit<'a> {
    /// Gathers rows that have one number; rows that have a split already are left out.
    pub(super) fn of(rows: &'a Rows, numbers: &[u32], splits: &[Option<usize>]) -> Vec<Self> {
        let mut units: BTreeMap<u32, Self> = BTreeMap::new();
        for row in (0..rows.len()).filter(|row| splits[*row].is_none()) {
            let key = rows.anchor(row);
            let unit = units.entry(numbers[row]).or_insert_with(|| Unit { key, rows: Vec::new() });
            unit.key = unit.key.min(key);
            unit.rows.push(row);
        }
        units.into_values().collect()
    }
}

/// How many rows of what each split is to have.
pub(super) struct Quotas {
    /// By row: its level of each kind.
    levels: Vec<Vec<usize>>,
    /// By level: how many rows have it, and what a row more or less of it counts.
    counts: Vec<(usize, f64)>,
    rows: usize,
}

impl Quotas {
    /// Counts all rows at once, by each stratified column and by all of them together.
    pub(super) fn new(rows: &Rows, params: &Params) -> Self {
        let columns = params.stratify.len();
        let mut numbers: BTreeMap<(usize, Vec<u32>), usize> = BTreeMap::new();
        let mut counts: Vec<(usize, f64)> = Vec::new();
        let mut levels = Vec::with_capacity(rows.len());
        for row in 0..rows.len() {
            let values: Vec<u32> = rows.levels.iter().map(|level| level[row]).collect();
            let alone = (0..columns).map(|column| (column, vec![values[column]]));
            let kinds = [(columns, Vec::new())].into_iter().chain(alone).chain([(columns + 1, values.clone())]);
            let of_row = kinds.map(|(kind, values)| {
                // All columns together count as much as everything else, so that no stratum is given up for a sum.
                let weight = if kind > columns { float(columns + 1) } else { 1.0 };
                *numbers.entry((kind, values)).or_insert_with(|| {
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

/// Places the units, split by split; those that no split takes are of the rest.
pub(super) fn place(units: &[Unit<'_>], quotas: &Quotas, params: &Params, splits: &mut [Option<usize>]) {
    let mut left: Vec<&Unit<'_>> = units.iter().collect();
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
        let mut order: Vec<(u64, &Unit<'_>)> =
            left.into_iter().map(|unit| (rank(params.seed, &part.name, unit.key), unit)).collect();
        order.sort_by(|(a, one), (b, other)| (a, one.key).cmp(&(b, other.key)));
        let mut best: Option<(f64, usize)> = None;
        let mut taken = vec![false; order.len()];
        for (place, (_, unit)) in order.iter().enumerate() {
            let gain = gain(unit, quotas, share, &have);
            if gain < -1e-9 {
                taken[place] = true;
                add(unit, quotas, &mut have);
            } else if best.is_none_or(|(least, _)| gain < least) {
                best = Some((gain, place));
            }
        }
        // A split that was asked for has a family at least, where that leaves one for the rest.
        if let (true, Some((_, place))) = (had_none && !taken.contains(&true) && order.len() > 1, best) {
            taken[place] = true;
        }
        left = Vec::with_capacity(order.len());
        for ((_, unit), taken) in order.into_iter().zip(taken) {
            if taken {
                unit.rows.iter().for_each(|row| splits[*row] = Some(split));
            } else {
                left.push(unit);
            }
        }
    }
    for unit in left {
        unit.rows.iter().for_each(|row| splits[*row] = Some(params.splits.len()));
    }
}

/// Returns by how much a unit would move a split away from what it is to have; less than nothing brings it nearer.
fn gain(unit: &Unit<'_>, quotas: &Quotas, share: f64, have: &[f64]) -> f64 {
    let mut more: BTreeMap<usize, f64> = BTreeMap::new();
    for row in &unit.rows {
        for level in &quotas.levels[*row] {
            *more.entry(*level).or_default() += 1.0;
        }
    }
    let change = |(level, more): (usize, f64)| {
        let (count, weight) = quotas.counts[level];
        let (wanted, have) = (share * float(count), have[level]);
        weight * ((have + more - wanted).abs() - (have - wanted).abs())
    };
    more.into_iter().map(change).sum()
}

fn add(unit: &Unit<'_>, quotas: &Quotas, have: &mut [f64]) {
    for row in &unit.rows {
        for level in &quotas.levels[*row] {
            have[*level] += 1.0;
        }
    }
}

/// Returns the place of a unit in the order of a split: a draw of its own, whatever other units and splits there are.
fn rank(seed: u64, split: &str, key: &str) -> u64 {
    seeded(seed, &["split", split, key]).next_u64()
}
