//! Findings with their positions, limited in number per check and column.

use std::collections::BTreeMap;

use super::AuditFinding;
use super::remedy::Remedy;

/// Maximum number of findings listed per check, file and column.
pub(super) const MOST: usize = 20;

/// The position of a finding.
#[derive(Debug, Clone)]
pub(super) struct Spot {
    pub(super) check: &'static str,
    pub(super) file: Option<String>,
    pub(super) row: Option<usize>,
    pub(super) column: Option<String>,
    pub(super) id: Option<String>,
}

impl Spot {
    /// Returns the position of the data set as a whole.
    pub(super) const fn whole(check: &'static str) -> Self {
        Self { check, file: None, row: None, column: None, id: None }
    }

    /// Returns the position of a file.
    pub(super) fn of(check: &'static str, file: &str) -> Self {
        Self { file: Some(file.to_owned()), ..Self::whole(check) }
    }
}

/// The findings so far.
#[derive(Debug)]
pub(super) struct Findings {
    /// Whether the data set is inside a run's folder, so that it can be rebuilt.
    is_of_run: bool,
    all: Vec<AuditFinding>,
    counts: BTreeMap<(&'static str, Option<String>, Option<String>), usize>,
}

impl Findings {
    /// Creates an empty list.
    pub(super) fn of(is_of_run: bool) -> Self {
        Self { is_of_run, all: Vec::new(), counts: BTreeMap::new() }
    }

    /// Adds a finding. If its remedy needs the run and there is none, the remedy is to download the data set again.
    pub(super) fn add(&mut self, spot: Spot, message: &str, remedy: Remedy) {
        let Spot { check, file, row, column, id } = spot;
        let remedy = if remedy.needs_run() && !self.is_of_run { Remedy::Download } else { remedy };
        let count = self.counts.entry((check, file.clone(), column.clone())).or_default();
        *count += 1;
        if *count <= MOST {
            self.all.push(AuditFinding { check, file, row, column, id, message: message.to_owned(), remedy });
        }
    }

    /// Counts further findings at a position for which [`MOST`] were added.
    pub(super) fn count(&mut self, spot: &Spot, more: usize) {
        *self.counts.entry((spot.check, spot.file.clone(), spot.column.clone())).or_default() += more;
    }

    /// Returns the findings, and the number of further ones by check.
    pub(super) fn finish(self) -> (Vec<AuditFinding>, BTreeMap<&'static str, usize>) {
        let mut more: BTreeMap<&'static str, usize> = BTreeMap::new();
        for ((check, ..), count) in self.counts.into_iter().filter(|(_, count)| *count > MOST) {
            *more.entry(check).or_default() += count - MOST;
        }
        (self.all, more)
    }
}
