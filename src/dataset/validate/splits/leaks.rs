//! Checks that related rows are in the same split: rows of a scene, a conversation or an instruction, and near
//! duplicates.

use polars::prelude::DataFrame;
use serde_json::Value;

use crate::config::Check;
use crate::dataset::error::DatasetError;
use crate::dataset::split::{
    DEFAULT_SIMILARITY, Params, Relation, Rows, SPLITTABLE_CONFIGS, SplitPriority, UNUSED, rows_crossing_splits,
    similar_rows, uncompared_questions,
};
use crate::dataset::validate::Group;
use crate::dataset::validate::findings::Remedy;
use crate::dataset::validate::findings::{Findings, Location};
use crate::schema::ByLanguage;
use crate::stages::instruct::SplitRule;
use crate::store::{StoreError, Table};

/// Returns how a config was split, from the data set's `splits.json`.
pub(in crate::dataset::validate) fn params(config: &str, split_configs: &Value) -> Option<Params> {
    serde_json::from_value(split_configs[config]["params"].clone()).ok()
}

/// The rows of a config with several splits.
pub(in crate::dataset::validate) struct Leaks {
    config: String,
    /// `None` if the config has fewer than two splits.
    rows: Option<Rows>,
    params: Params,
    /// The splits, by decreasing priority.
    splits: Vec<String>,
    /// By row: its split and position.
    positions: Vec<(Option<usize>, Location)>,
    is_paper_split: bool,
}

impl Leaks {
    /// Creates an empty check. Relations that the data set's own split ignored are not checked.
    pub(in crate::dataset::validate) fn new(
        config: &str,
        tables: &[&Table],
        manifest: Option<&Value>,
        split_configs: &Value,
    ) -> Self {
        let own = params(config, split_configs);
        let priority = SplitPriority::new(own.as_ref());
        let instruct = manifest
            .and_then(|manifest| toml::from_str::<toml::Table>(manifest["configuration"].as_str()?).ok())
            .and_then(|file| file.get("instruct")?.as_table().cloned())
            .unwrap_or_default();
        let is_paper_split = config.starts_with("role_")
            && own.is_none()
            && instruct.get("split").cloned().and_then(|rule| rule.try_into::<SplitRule>().ok())
                == Some(SplitRule::Paper);
        let similarity = |language: &str, default: f64| {
            let set = instruct.get("leak_similarity").and_then(|similarity| similarity.get(language)?.as_float());
            if config.starts_with("role_") { set.unwrap_or(default) } else { default }
        };
        let params = own.map_or_else(
            || Params {
                splits: Vec::new(),
                remainder: String::new(),
                by: None,
                hold_out: Vec::new(),
                stratify: Vec::new(),
                group_by: Relation::ALL.to_vec(),
                similarity: ByLanguage {
                    en: similarity("en", DEFAULT_SIMILARITY.en),
                    zh: similarity("zh", DEFAULT_SIMILARITY.zh),
                },
                seed: 0,
            },
            |own| Params { splits: Vec::new(), by: None, hold_out: Vec::new(), stratify: Vec::new(), ..own },
        );
        let mut splits: Vec<String> = tables.iter().map(|table| table.split.clone()).collect();
        splits.retain(|split| split != UNUSED);
        splits.sort_by_key(|split| priority.rank(split));
        let rows = (splits.len() > 1 && SPLITTABLE_CONFIGS.contains(&config)).then(|| Rows::new(config, &params));
        Self { config: config.to_owned(), rows, params, splits, positions: Vec::new(), is_paper_split }
    }

    /// Adds the rows of a group.
    pub(in crate::dataset::validate) fn add(
        &mut self,
        group: &Group<'_>,
        frame: &DataFrame,
    ) -> Result<(), DatasetError> {
        let Some(rows) = &mut self.rows else { return Ok(()) };
        let added = rows.add(&self.config, &self.params, frame);
        added.map_err(|source| StoreError::Rows { path: group.file.into(), source })?;
        let split = self.splits.iter().position(|split| split == group.split);
        self.positions.extend((0..group.height).map(|row| (split, group.location(Check::Leak, row, "id"))));
        Ok(())
    }

    /// Reports the rows that share something with a row of a split of higher priority.
    pub(in crate::dataset::validate) fn check(self, findings: &mut Findings, notes: &mut Vec<String>) {
        let Some(rows) = self.rows else { return };
        let threads = std::thread::available_parallelism().unwrap_or(std::num::NonZero::<usize>::MIN);
        let near = similar_rows(&rows, &self.params, threads);
        let splits: Vec<Option<usize>> = self.positions.iter().map(|(split, _)| *split).collect();
        let found = rows_crossing_splits(&rows, &self.params.group_by, &near, &splits);
        let cut = if self.params.group_by.contains(&Relation::Similarity) { uncompared_questions(&rows) } else { 0 };
        if cut > 0 {
            notes.push(format!(
                "{cut} rows of `{}` were not compared with others, since the removed parts of their questions would distinguish them",
                self.config
            ));
        }
        if self.is_paper_split && !found.is_empty() {
            notes.push(format!(
                "{} rows of `{}` are near duplicates of rows in another split, as the paper's rule allows",
                found.len(),
                self.config
            ));
            return;
        }
        for leak in found {
            let (_, location) = &self.positions[leak.row];
            let (with, _) = &self.positions[leak.with];
            let split = with.map_or("", |with| self.splits[with].as_str());
            let column = leak.relation.column(&self.config);
            let shared = match leak.relation {
                Relation::Scene => "the scene",
                Relation::Conversation => "the conversation",
                Relation::Instruction => "the instruction",
                Relation::Similarity => "nearly the same text",
            };
            let message = format!("it shares {shared} with `{}` in `{split}`", rows.id(leak.with));
            let column = column.map_or_else(|| location.column.clone(), |column| Some(column.to_owned()));
            findings.add(Location { column, ..location.clone() }, &message, Remedy::SplitAgain);
        }
        let asked = Relation::ALL
            .iter()
            .filter(|relation| relation.column(&self.config).is_some() || **relation == Relation::Similarity);
        let ignored: Vec<&str> =
            asked.filter(|one| !self.params.group_by.contains(one)).map(|one| one.name()).collect();
        if !ignored.is_empty() {
            notes.push(format!("`{}` was split without regard to {}", self.config, ignored.join(", ")));
        }
    }
}
