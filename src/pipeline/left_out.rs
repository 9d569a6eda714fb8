//! What two runs left out, compared by stage, reason and id. What the reasons mean is not asked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Serialize;

use crate::store::{self, StoreError};

/// How what was left out for one reason differs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct LeftOutChanges {
    /// How many entries are what they were.
    pub same: u64,
    /// Ids that only the other run has left out for it; one that stands there oftener than before, as often as it is more.
    pub added: Vec<String>,
    /// Ids that only the one run has left out for it.
    pub removed: Vec<String>,
}

/// What was left out: by stage and reason, how often each id.
pub(super) type LeftOut = BTreeMap<String, BTreeMap<String, u64>>;

/// Reads what a run left out.
pub(super) fn left_out(run: &Path) -> Result<LeftOut, StoreError> {
    let mut left_out = LeftOut::new();
    store::each_texts(&run.join("dataset"), "rejected", &["stage", "reason", "id"], |texts| {
        let [stage, reason, id] = texts else { return };
        *left_out.entry(format!("{stage} {reason}")).or_default().entry(id.clone()).or_default() += 1;
    })?;
    Ok(left_out)
}

impl LeftOutChanges {
    /// Compares what two runs left out; what is the same is left out here.
    pub(super) fn between(one: &LeftOut, other: &LeftOut) -> BTreeMap<String, Self> {
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
