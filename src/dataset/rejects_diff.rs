//! Compares what two runs rejected, by stage, reason and id.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Serialize;

use crate::store::{self, StoreError};

/// Differences in the rejects of one reason.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RejectChanges {
    /// Number of entries in both runs.
    pub same: u64,
    /// Ids rejected only by the second run; an id is repeated if it is rejected several times more.
    pub added: Vec<String>,
    /// Ids rejected only by the first run.
    pub removed: Vec<String>,
}

/// Number of rejects by id, by stage and reason.
pub(crate) type RejectCounts = BTreeMap<String, BTreeMap<String, u64>>;

/// Reads the rejects of a run.
pub(crate) fn reject_counts(run: &Path) -> Result<RejectCounts, StoreError> {
    let mut reject_counts = RejectCounts::new();
    store::each_texts(&run.join("dataset"), "rejected", &["stage", "reason", "id"], |texts| {
        let [stage, reason, id] = texts else { return };
        *reject_counts.entry(format!("{stage} {reason}")).or_default().entry(id.clone()).or_default() += 1;
    })?;
    Ok(reject_counts)
}

impl RejectChanges {
    /// Compares the rejects of two runs; reasons without a difference are omitted.
    pub(crate) fn between(one: &RejectCounts, other: &RejectCounts) -> BTreeMap<String, Self> {
        let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
        let none = BTreeMap::new();
        let mut all = BTreeMap::new();
        for name in names {
            let (one, other) = (one.get(name).unwrap_or(&none), other.get(name).unwrap_or(&none));
            let ids: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            let mut changes = Self::default();
            for id in ids {
                let count = |ids: &BTreeMap<String, u64>| ids.get(id).copied().unwrap_or_default();
                let (before, after) = (count(one), count(other));
                changes.same += before.min(after);
                changes.added.extend((before..after).map(|_| id.clone()));
                changes.removed.extend((after..before).map(|_| id.clone()));
            }
            if !changes.added.is_empty() || !changes.removed.is_empty() {
                all.insert(name.clone(), changes);
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_are_compared_by_stage_reason_and_id() {
        let reject_counts = |entries: &[(&str, &str)]| {
            let mut reject_counts = RejectCounts::new();
            for (name, id) in entries {
                *reject_counts.entry((*name).to_owned()).or_default().entry((*id).to_owned()).or_default() += 1;
            }
            reject_counts
        };
        let one = reject_counts(&[
            ("extract thin", "a"),
            ("extract thin", "雨"),
            ("simulate quality", "t"),
            ("select x", "s"),
        ]);
        let other =
            reject_counts(&[("extract thin", "雨"), ("extract thin", "雨"), ("extract thin", "b"), ("select x", "s")]);
        let changes = RejectChanges::between(&one, &other);
        assert_eq!(changes.keys().collect::<Vec<_>>(), ["extract thin", "simulate quality"]);
        let thin = &changes["extract thin"];
        assert_eq!((thin.same, thin.added.join(" "), thin.removed.join(" ")), (1, "b 雨".into(), "a".into()));
        assert_eq!(changes["simulate quality"].removed, ["t"]);
        assert!(RejectChanges::between(&one, &one).is_empty());
    }
}
