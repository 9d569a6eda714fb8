//! Assigns conversations to the splits of their samples, so that conversations in `train` contain no turns that are
//! tested.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::error::{SplitError, frame};
use crate::cells::Cells;
use crate::dataset::split::relation::Relation;
use crate::dataset::split::rows::Rows;
use crate::dataset::split::rows::input::merged_ids;
use crate::dataset::split::{Params, Report, SplitAssignment, UNUSED};
use crate::store::{self, Table};

/// The config that follows its samples.
pub(crate) const CONFIG: &str = "conversations";

/// The split of each conversation.
pub(crate) struct ConversationSplits {
    /// By row of the concatenated tables: the index of its split in the names of the split.
    pub(crate) splits: Vec<usize>,
    /// The end of each table's rows.
    pub(crate) tails: Vec<usize>,
    /// The rows, sorted by id.
    pub(crate) order: Vec<usize>,
    rest: String,
}

impl ConversationSplits {
    /// Assigns each conversation to the split of highest priority among its samples. A conversation without samples
    /// gets the split of its scene, else the remainder split.
    pub(crate) fn new(
        tables: &[&Table],
        samples: &Rows,
        assignment: &SplitAssignment,
        params: &Params,
    ) -> Result<Self, SplitError> {
        let rest = params.splits.len();
        let by_id = samples.highest_priority_splits(Relation::Conversation, &assignment.splits, rest);
        let by_scene = samples.highest_priority_splits(Relation::Scene, &assignment.splits, rest);
        let (mut splits, mut tails, mut ids) = (Vec::new(), Vec::new(), Vec::new());
        for table in tables {
            for path in &table.files {
                let all = store::columns(path)?;
                let columns: Vec<&str> =
                    ["id", "scene_id"].into_iter().filter(|name| all.iter().any(|column| column == name)).collect();
                for group in store::groups(path, Some(&columns))? {
                    let (_, group) = group?;
                    let cells = |name: &str| group.column(name).ok().map(Cells::new).transpose().map_err(frame(CONFIG));
                    let (own, scenes) = (cells("id")?, cells("scene_id")?);
                    for row in 0..group.height() {
                        let word = |cells: &Option<Cells>| {
                            cells.as_ref().and_then(|cells| cells.value_text(row)).unwrap_or_default().into_owned()
                        };
                        let id = word(&own);
                        let split = by_id.get(id.as_str()).or_else(|| by_scene.get(word(&scenes).as_str()));
                        splits.push(split.copied().unwrap_or(rest));
                        ids.push(id);
                    }
                }
            }
            tails.push(splits.len());
        }
        let order = merged_ids(|row| ids[row].as_str(), ids.len(), &tails);
        Ok(Self { splits, tails, order, rest: params.remainder.clone() })
    }

    /// Returns the number of conversations per split.
    pub(crate) fn counts(&self, names: &[String]) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for split in &self.splits {
            *counts.entry(names[*split].clone()).or_default() += 1;
        }
        counts
    }

    /// Returns its entry in `splits.json`, given the report of the samples.
    #[expect(clippy::unused_self, reason = "it describes these conversations")]
    pub(crate) fn report(&self, samples: &Report) -> Value {
        // Near duplicates among conversations were not considered; the samples decided.
        let group_by =
            samples.params.group_by.iter().copied().filter(|relation| *relation == Relation::Scene).collect();
        let params = Params { group_by, stratify: Vec::new(), ..samples.params.clone() };
        json!({"with": "samples", "params": params, "rows": samples.carried})
    }

    /// Returns the section of the data card.
    pub(crate) fn section(&self) -> String {
        format!(
            "Each conversation is in the split of highest priority among its samples (`{UNUSED}` before `{0}`); one without samples follows the other \
             conversations of its scene, else it is in `{0}`. No conversation in `{0}` contains a turn that another split tests.\n",
            self.rest
        )
    }
}
