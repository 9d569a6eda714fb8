//! The command `split`: assigns the rows of a data set to splits. Uses no model and no files.
//!
//! Related rows stay together: rows of the same scene, conversation or instruction and rows with similar texts form a
//! *family*. Families are placed whole, in an order that the seed and the family's own id determine. So adding a row
//! moves few others, and the content of a split does not depend on the sizes of other splits.
//!
//! With `by` or `hold_out`, groups or values are placed first. Rows in other splits that are related to them are moved
//! to [`UNUSED`] instead of being dropped.

pub(crate) mod apply;
mod conversations;
mod error;
mod families;
mod params;
mod placement;
mod relation;
mod report;
mod rows;
#[cfg(test)]
mod tests;

pub use apply::{SplitOptions, SplitOutcome, split_dataset};
pub use error::SplitError;
pub use families::{RelatedRow, rows_crossing_splits, similar_rows, uncompared_questions};
pub use params::{DEFAULT_SIMILARITY, HoldOut, Params, Part, Size, UNUSED};
pub use placement::SplitPriority;
pub use relation::Relation;
pub use rows::{ComparedText, Rows, SPLITTABLE_CONFIGS, column_of, needed};

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use families::Families;
use placement::{PlacementGroup, Quotas};

/// A row that is not in the split to which it would be assigned by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// The id of the row.
    pub id: String,
    /// The split to which it would be assigned by itself, with its scene and conversation.
    pub from: String,
    /// The split that it is in; [`UNUSED`] if it was set aside.
    pub to: String,
    /// The relation to a row of that split, or to a row of a split with higher priority.
    pub because: Relation,
}

/// The result of a split. The file `splits.json` has one for each config.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The parameters.
    pub params: Params,
    /// The number of rows by split.
    pub rows: BTreeMap<String, usize>,
    /// The number of rows by stratum and split. The name of a stratum is its values joined by `/`.
    pub strata: BTreeMap<String, BTreeMap<String, usize>>,
    /// The number of families, including those of a single row.
    pub families: usize,
    /// The number of rows in the largest family.
    pub largest_family: usize,
    /// The number of rows that were moved or set aside, by relation.
    pub moved_by: BTreeMap<Relation, usize>,
    /// The rows that were moved or set aside, sorted by id.
    pub moved: Vec<Moved>,
    /// The number of conversations that were assigned with their samples, by split; empty unless samples were split.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub carried: BTreeMap<String, usize>,
}

/// An assignment of rows to splits.
#[derive(Debug, Clone, PartialEq)]
pub struct SplitAssignment {
    /// For each row, the index of its split in [`names`](Self::names).
    pub splits: Vec<usize>,
    /// The requested splits, the remainder, and [`UNUSED`].
    pub names: Vec<String>,
    /// The result for `splits.json`.
    pub report: Report,
}

/// Assigns rows to splits. The result does not depend on the order of the rows or the number of threads.
#[must_use]
pub fn assign_splits(rows: &Rows, params: &Params, threads: NonZeroUsize) -> SplitAssignment {
    let mut names: Vec<String> = params.splits.iter().map(|part| part.name.clone()).collect();
    names.extend([params.remainder.clone(), UNUSED.to_owned()]);
    let near = similar_rows(rows, params, threads);
    let families = Families::new(rows, &params.group_by, &near);
    let quotas = Quotas::new(rows, params);

    let mut because: BTreeMap<usize, (usize, Relation)> = BTreeMap::new();
    let mut splits = rows.held(params, &names);
    let (count, largest);
    if params.by.is_some() {
        let groups = PlacementGroup::of(rows, rows.groups(), &splits);
        (count, largest) = sizes(&groups);
        placement::assign(&groups, &quotas, params, &mut splits);
        families::set_aside(rows, params, &near, &mut splits, &mut because);
    } else {
        // Held-out values are placed first; rows related to them are not drawn.
        families::set_aside(rows, params, &near, &mut splits, &mut because);
        let groups = PlacementGroup::of(rows, families.all(), &splits);
        (count, largest) = sizes(&PlacementGroup::of(rows, families.all(), &vec![None; rows.len()]));
        if families.are_joined() {
            let mut alone = splits.clone();
            placement::assign(&PlacementGroup::of(rows, families.structural(), &splits), &quotas, params, &mut alone);
            placement::assign(&groups, &quotas, params, &mut splits);
            for row in families.joined_rows() {
                if let Some(from) = alone[row].filter(|_| alone[row] != splits[row]) {
                    because.entry(row).or_insert((from, Relation::Similarity));
                }
            }
        } else {
            placement::assign(&groups, &quotas, params, &mut splits);
        }
    }
    let splits: Vec<usize> = splits.into_iter().map(|split| split.expect("`assign` places every row")).collect();
    let report = report(rows, params, &names, &splits, &because, (count, largest));
    SplitAssignment { splits, names, report }
}

fn sizes(groups: &[PlacementGroup<'_>]) -> (usize, usize) {
    (groups.len(), groups.iter().map(|group| group.rows.len()).max().unwrap_or(0))
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
