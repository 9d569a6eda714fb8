//! Findings with their places, no more of one kind in one place than somebody reads.

use std::collections::BTreeMap;

use super::AuditFinding;

/// So many findings of one check in one column of one file are told whole.
pub(super) const MOST: usize = 20;

/// Where a finding is.
#[derive(Debug, Clone)]
pub(super) struct Spot {
    pub(super) check: &'static str,
    pub(super) file: Option<String>,
    pub(super) row: Option<usize>,
    pub(super) column: Option<String>,
    pub(super) id: Option<String>,
}

impl Spot {
    /// The data set as a whole.
    pub(super) const fn whole(check: &'static str) -> Self {
        Self { check, file: None, row: None, column: None, id: None }
    }

    /// A file.
    pub(super) fn of(check: &'static str, file: &str) -> Self {
        Self { file: Some(file.to_owned()), ..Self::whole(check) }
    }
}

/// What was found so far.
#[derive(Debug)]
pub(super) struct Findings {
    /// Whether a run stands behind the data set, which can make it again.
    is_of_run: bool,
    all: Vec<AuditFinding>,
    counts: BTreeMap<(&'static str, Option<String>, Option<String>), usize>,
}

/// What is to be done where no run can make a table again.
const FOREIGN: &str =
    "take the data set again from where it comes from, or mend it there: the run that made it is not here";

impl Findings {
    /// Begins with none.
    pub(super) fn of(is_of_run: bool) -> Self {
        Self { is_of_run, all: Vec::new(), counts: BTreeMap::new() }
    }

    pub(super) fn add(&mut self, spot: Spot, message: &str, remedy: &'static str) {
        let Spot { check, file, row, column, id } = spot;
        let needs_run = ["--replay", "`dramaturg build", "`dramaturg export`", "build again"];
        let remedy =
            if !self.is_of_run && needs_run.iter().any(|part| remedy.contains(part)) { FOREIGN } else { remedy };
        let count = self.counts.entry((check, file.clone(), column.clone())).or_default();
        *count += 1;
        if *count <= MOST {
            self.all.push(AuditFinding { check, file, row, column, id, message: message.to_owned(), remedy });
        }
    }

    /// Counts so many more like the ones in a place of which [`MOST`] were added.
    pub(super) fn count(&mut self, spot: &Spot, more: usize) {
        *self.counts.entry((spot.check, spot.file.clone(), spot.column.clone())).or_default() += more;
    }

    /// Returns the findings, and how many more there are of each check.
    pub(super) fn end(self) -> (Vec<AuditFinding>, BTreeMap<&'static str, usize>) {
        let mut more: BTreeMap<&'static str, usize> = BTreeMap::new();
        for ((check, ..), count) in self.counts.into_iter().filter(|(_, count)| *count > MOST) {
            *more.entry(check).or_default() += count - MOST;
        }
        (self.all, more)
    }
}
