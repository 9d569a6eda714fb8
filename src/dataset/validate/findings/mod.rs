//! Findings with their positions, limited in number per check and column.

use std::collections::BTreeMap;

mod remedy;

pub use remedy::Remedy;

use super::AuditFinding;
use crate::config::Check;

/// Maximum number of findings listed per check, file and column.
pub(super) const MOST: usize = 20;

/// The position of a finding.
#[derive(Debug, Clone)]
pub(super) struct Location {
    pub(super) check: Check,
    pub(super) file: Option<String>,
    pub(super) row: Option<usize>,
    pub(super) column: Option<String>,
    pub(super) id: Option<String>,
}

impl Location {
    /// Returns the position of the data set as a whole.
    pub(super) const fn of_dataset(check: Check) -> Self {
        Self { check, file: None, row: None, column: None, id: None }
    }

    /// Returns the position of a file.
    pub(super) fn of_file(check: Check, file: &str) -> Self {
        Self { file: Some(file.to_owned()), ..Self::of_dataset(check) }
    }
}

/// The findings so far.
#[derive(Debug)]
pub(super) struct Findings {
    /// Whether the data set is inside a run's folder, so that it can be rebuilt.
    is_of_run: bool,
    all: Vec<AuditFinding>,
    counts: BTreeMap<(Check, Option<String>, Option<String>), usize>,
}

impl Findings {
    /// Creates an empty list.
    pub(super) fn of(is_of_run: bool) -> Self {
        Self { is_of_run, all: Vec::new(), counts: BTreeMap::new() }
    }

    /// Adds a finding. If its remedy needs the run and there is none, the remedy is to download the data set again.
    pub(super) fn add(&mut self, location: Location, message: &str, remedy: Remedy) {
        let Location { check, file, row, column, id } = location;
        let remedy = if remedy.needs_run() && !self.is_of_run { Remedy::Download } else { remedy };
        let count = self.counts.entry((check, file.clone(), column.clone())).or_default();
        *count += 1;
        if *count <= MOST {
            self.all.push(AuditFinding { check, file, row, column, id, message: message.to_owned(), remedy });
        }
    }

    /// Counts further findings at a position for which [`MOST`] were added.
    pub(super) fn count(&mut self, location: &Location, more: usize) {
        *self.counts.entry((location.check, location.file.clone(), location.column.clone())).or_default() += more;
    }

    /// Returns the findings, and the number of further ones by check.
    pub(super) fn finish(self) -> (Vec<AuditFinding>, BTreeMap<Check, usize>) {
        let mut more: BTreeMap<Check, usize> = BTreeMap::new();
        for ((check, ..), count) in self.counts.into_iter().filter(|(_, count)| *count > MOST) {
            *more.entry(check).or_default() += count - MOST;
        }
        (self.all, more)
    }
}
