//! Compares what two runs rejected, by stage, reason and id.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Serialize;

use crate::store::{self, StoreError};

/// Differences in the rejects of one reason.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct LeftOutChanges {
    /// Number of entries in both runs.
    pub same: u64,
    /// Ids rejected only by the second run; an id is repeated if it is rejected several times more.
    pub added: Vec<String>,
    /// Ids rejected only by the first run.
    pub removed: Vec<String>,
}

/// Number of rejects by id, by stage and reason.
pub(crate) type LeftOut = BTreeMap<String, BTreeMap<String, u64>>;

/// Reads the rejects of a run.
pub(crate) fn left_out(run: &Path) -> Result<LeftOut, StoreError> {
    let mut left_out = LeftOut::new();
    store::each_texts(&run.join("dataset"), "rejected", &["stage", "reason", "id"], |texts| {
        let [stage, reason, id] = texts else { return };
        *left_out.entry(format!("{stage} {reason}")).or_default().entry(id.clone()).or_default() += 1;
    })?;
    Ok(left_out)
}

impl LeftOutChanges {
    /// Compares the rejects of two runs; reasons without a difference are omitted.
    pub(crate) fn between(one: &LeftOut, other: &LeftOut) -> BTreeMap<String, Self> {
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
    fn what_was_left_out_is_compared_by_stage_reason_and_id() {
        let left_out = |entries: &[(&str, &str)]| {
            let mut left_out = LeftOut::new();
            for (name, id) in entries {
                *left_out.entry((*name).to_owned()).or_default().entry((*id).to_owned()).or_default() += 1;
            }
            left_out
        };
        let one =
            left_out(&[("extract thin", "a"), ("extract thin", "雨"), ("simulate quality", "t"), ("select x", "s")]);
        let other =
            left_out(&[("extract thin", "雨"), ("extract thin", "雨"), ("extract thin", "b"), ("select x", "s")]);
        let changes = LeftOutChanges::between(&one, &other);
        assert_eq!(changes.keys().collect::<Vec<_>>(), ["extract thin", "simulate quality"]);
        let thin = &changes["extract thin"];
        assert_eq!((thin.same, thin.added.join(" "), thin.removed.join(" ")), (1, "b 雨".into(), "a".into()));
        assert_eq!(changes["simulate quality"].removed, ["t"]);
        assert!(LeftOutChanges::between(&one, &one).is_empty());
    }
}
