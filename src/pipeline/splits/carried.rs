//! Conversations that go with their samples: who trains on the chats of `train` reads none whose turns are tested.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::SplitError;
use super::error::frame;
use super::rows::merged_ids;
use crate::cells::Cells;
use crate::stages::split::{Divided, Params, Relation, Report, Rows, UNUSED};
use crate::store::{self, Table};

/// The config that goes along.
pub(super) const CONFIG: &str = "conversations";

/// Where each conversation goes.
pub(super) struct Carried {
    /// By row of the tables, one after the other: the place of its split among the names of the division.
    pub(super) splits: Vec<usize>,
    /// Where each table's rows end.
    pub(super) tails: Vec<usize>,
    /// The rows in the order of their ids.
    pub(super) order: Vec<usize>,
    rest: String,
}

impl Carried {
    /// Gives each conversation the best guarded split of its samples; one without samples that of its scene's, else the rest.
    pub(super) fn new(
        tables: &[&Table],
        samples: &Rows,
        divided: &Divided,
        params: &Params,
    ) -> Result<Self, SplitError> {
        let rest = params.splits.len();
        let by_id = samples.best_guarded(Relation::Conversation, &divided.splits, rest);
        let by_scene = samples.best_guarded(Relation::Scene, &divided.splits, rest);
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
                            cells.as_ref().and_then(|cells| cells.word(row)).unwrap_or_default().into_owned()
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
        Ok(Self { splits, tails, order, rest: params.rest.clone() })
    }

    /// Returns how many conversations each split has.
    pub(super) fn counts(&self, names: &[String]) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for split in &self.splits {
            *counts.entry(names[*split].clone()).or_default() += 1;
        }
        counts
    }

    /// Returns what `splits.json` tells of it, by the report of the samples.
    #[expect(clippy::unused_self, reason = "it tells of these conversations")]
    pub(super) fn report(&self, samples: &Report) -> Value {
        // Their own likeness was not asked: that of the samples decided.
        let apart = samples.params.apart.iter().copied().filter(|relation| *relation == Relation::Scene).collect();
        let params = Params { apart, stratify: Vec::new(), ..samples.params.clone() };
        json!({"with": "samples", "params": params, "rows": samples.carried})
    }

    /// Returns the section of the card.
    pub(super) fn section(&self) -> String {
        format!(
            "Each conversation stands in the best guarded split of its samples (`{UNUSED}` before `{0}`), one without samples with those of \
             its scene, else in `{0}`: no chat of `{0}` holds a turn that another split tests.\n",
            self.rest
        )
    }
}
