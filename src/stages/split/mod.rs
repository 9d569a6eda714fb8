//! The verb `split`: which rows of a data set stand in which split. No model is asked, and no file is seen.
//!
//! What belongs together stays together: rows of one scene, one conversation or one instruction, and rows that are much alike
//! are a *family*, and families are placed whole, in an order that the seed gives each of them by its own id. So a further row
//! moves few others, and what is drawn for a split depends on no other split's size. Where something is held out by name, or
//! whole groups are (`by`), those decide; what is then a family with a row of a better guarded split is set aside in
//! [`UNUSED`], and never lost.

mod apart;
mod families;
mod guard;
mod likeness;
mod placement;
mod rows;
mod told;

pub use apart::{Guarded, straddling};
pub use guard::Guard;
pub use likeness::{Kind, alike, untold};
pub use rows::{CONFIGS, Relation, Rows, column_of, needed};

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::schema::ByLanguage;
use families::Families;
use placement::{Quotas, Unit};

/// The split of rows that are set aside: alike to a row of a split that is better guarded.
pub const UNUSED: &str = "unused";

/// How alike two texts are that count as one when nobody says otherwise: the bounds of `instruct`'s leak-free split.
pub const NEAR: ByLanguage<f64> = ByLanguage { en: 0.6, zh: 0.5 };

/// How rows are divided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Params {
    /// The splits that are drawn, the best guarded first; each row that none takes is in `rest`.
    pub splits: Vec<Part>,
    /// The split of all other rows.
    pub rest: String,
    /// The column whose values are placed whole, whatever else is alike.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Values that stand in one split and no other.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub hold_out: Vec<HoldOut>,
    /// The columns whose values, together and each, have the same shares in all splits.
    pub stratify: Vec<String>,
    /// What never straddles a border.
    pub apart: Vec<Relation>,
    /// How alike two texts are that may not, 0 to 1.
    pub near: ByLanguage<f64>,
    /// The seed.
    pub seed: u64,
}

/// A split that is drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// How much of the rows it takes; none for what is held out by name alone.
    pub size: Size,
}

/// How much of the rows a split takes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Size {
    /// A share of all rows, 0 to 1.
    Share(f64),
    /// So many rows.
    Rows(usize),
}

impl Size {
    /// Returns how many of so many rows it is, not rounded.
    fn of(self, rows: usize) -> f64 {
        match self {
            Self::Share(share) => share * crate::text::float(rows),
            Self::Rows(count) => crate::text::float(count.min(rows)),
        }
    }
}

/// A value that stands in one split and no other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HoldOut {
    /// The column.
    pub column: String,
    /// The value.
    pub value: String,
    /// The split.
    pub split: String,
}

/// Why a row is not where it would be by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// The row.
    pub id: String,
    /// The split that it would be in by itself, with its scene and conversation.
    pub from: String,
    /// The split that it is in, [`UNUSED`] where it was set aside.
    pub to: String,
    /// What it shares with a row there, or with a row of the split that is better guarded.
    pub because: Relation,
}

/// What a division came to: the file `splits.json` holds one for each config.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// How it was asked for.
    pub params: Params,
    /// How many rows each split has.
    pub rows: BTreeMap<String, usize>,
    /// How many rows of each stratum each split has, the stratum's values joined by `/`.
    pub strata: BTreeMap<String, BTreeMap<String, usize>>,
    /// How many families there are; rows that nothing is alike to are families of their own.
    pub families: usize,
    /// How many rows the largest has.
    pub largest_family: usize,
    /// How many rows were moved or set aside, by what they share.
    pub moved_by: BTreeMap<Relation, usize>,
    /// Which rows were moved or set aside, in order of their ids.
    pub moved: Vec<Moved>,
    /// How many conversations went along to each split; none where there are none, or rows are no samples.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub carried: BTreeMap<String, usize>,
}

/// A division of rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Divided {
    /// By row: the place of its split among [`names`](Self::names).
    pub splits: Vec<usize>,
    /// The splits: those that are drawn, then the rest, then [`UNUSED`].
    pub names: Vec<String>,
    /// What it came to.
    pub report: Report,
}

/// Divides rows. The same rows in any order, with any number of threads, are divided the same.
#[must_use]
pub fn divide(rows: &Rows, params: &Params, threads: NonZeroUsize) -> Divided {
    let mut names: Vec<String> = params.splits.iter().map(|part| part.name.clone()).collect();
    names.extend([params.rest.clone(), UNUSED.to_owned()]);
    let near = alike(rows, params, threads);
    let families = Families::new(rows, &params.apart, &near);
    let quotas = Quotas::new(rows, params);

    let mut because: BTreeMap<usize, (usize, Relation)> = BTreeMap::new();
    let mut splits = rows.held(params, &names);
    let (count, largest);
    if params.by.is_some() {
        let units = Unit::of(rows, rows.groups(), &splits);
        (count, largest) = sizes(&units);
        placement::place(&units, &quotas, params, &mut splits);
        apart::set_aside(rows, params, &near, &mut splits, &mut because);
    } else {
        // What is held out by name comes first; what is alike to it is out of the draw.
        apart::set_aside(rows, params, &near, &mut splits, &mut because);
        let units = Unit::of(rows, families.all(), &splits);
        (count, largest) = sizes(&Unit::of(rows, families.all(), &vec![None; rows.len()]));
        if families.are_joined() {
            let mut alone = splits.clone();
            placement::place(&Unit::of(rows, families.structural(), &splits), &quotas, params, &mut alone);
            placement::place(&units, &quotas, params, &mut splits);
            for row in families.joined_rows() {
                if let Some(from) = alone[row].filter(|_| alone[row] != splits[row]) {
                    because.entry(row).or_insert((from, Relation::Near));
                }
            }
        } else {
            placement::place(&units, &quotas, params, &mut splits);
        }
    }
    let splits: Vec<usize> = splits.into_iter().map(|split| split.expect("every row was placed")).collect();
    let report = report(rows, params, &names, &splits, &because, (count, largest));
    Divided { splits, names, report }
}

fn sizes(units: &[Unit<'_>]) -> (usize, usize) {
    (units.len(), units.iter().map(|unit| unit.rows.len()).max().unwrap_or(0))
}

fn report(
    rows: &Rows,
    params: &Params,
    names: &[String],
    splits: &[usize],
    because: &BTreeMap<usize, (usize, Relation)>,
    (families, largest_family): (usize, usize),
) -> Report {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut strata: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
    for (row, split) in splits.iter().enumerate() {
        *counts.entry(names[*split].clone()).or_default() += 1;
        if !params.stratify.is_empty() {
            *strata.entry(rows.stratum(row)).or_default().entry(names[*split].clone()).or_default() += 1;
        }
    }
    let mut moved_by: BTreeMap<Relation, usize> = BTreeMap::new();
    let mut moved = Vec::new();
    for (row, (from, relation)) in because {
        *moved_by.entry(*relation).or_default() += 1;
        let (from, to) = (names[*from].clone(), names[splits[*row]].clone());
        moved.push(Moved { id: rows.id(*row).to_owned(), from, to, because: *relation });
    }
    moved.sort_by(|a, b| a.id.cmp(&b.id));
    let carried = BTreeMap::new();
    Report { params: params.clone(), rows: counts, strata, families, largest_family, moved_by, moved, carried }
}

#[cfg(test)]
mod tests;
