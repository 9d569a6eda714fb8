//! Reads each table of a data set once, row group by row group, and passes the groups to every check.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use polars::prelude::DataFrame;
use serde_json::Value;

use super::balance::Balance;
use super::files::{self, card};
use super::findings::Findings;
use super::findings::Remedy;
use super::privacy::Privacy;
use super::references::References;
use super::splits::conversation_splits::ConversationSplitCheck;
use super::splits::leaks::Leaks;
use super::values::Values;
use super::{Audit, Group, schema, texts};
use crate::config::Check;
use crate::dataset::error::DatasetError;
use crate::store::{self, Dataset, Table};

/// The state of all checks.
pub(super) struct DatasetScan<'a> {
    dataset: &'a Dataset,
    run: Option<&'a Path>,
    manifest: Option<&'a Value>,
    split_configs: Value,
    ids: HashSet<String>,
    references: References,
    privacy: Privacy,
    conversation_splits: ConversationSplitCheck,
    balance: Balance,
    rows: BTreeMap<String, BTreeMap<String, usize>>,
    columns: BTreeMap<String, BTreeSet<String>>,
    /// Configs with an unreadable file, so that their number of rows is unknown.
    unread: BTreeSet<String>,
    findings: Findings,
    notes: Vec<String>,
}

impl<'a> DatasetScan<'a> {
    /// Creates the scan, with the findings so far.
    pub(super) fn new(
        dataset: &'a Dataset,
        run: Option<&'a Path>,
        manifest: Option<&'a Value>,
        split_configs: Value,
        findings: Findings,
        notes: Vec<String>,
    ) -> Self {
        let conversation_splits = ConversationSplitCheck::new(&dataset.tables, &split_configs);
        let (ids, references, privacy, balance, rows, columns, unread) = Default::default();
        Self {
            dataset,
            run,
            manifest,
            split_configs,
            ids,
            references,
            privacy,
            conversation_splits,
            balance,
            rows,
            columns,
            unread,
            findings,
            notes,
        }
    }

    /// Runs the checks that need all tables.
    pub(super) fn finish(mut self) -> Audit {
        self.references.check(&mut self.findings, &mut self.notes);
        self.privacy.add_notes(&mut self.notes);
        self.conversation_splits.check(&mut self.findings, &mut self.notes);
        let mut known = self.rows.clone();
        known.retain(|config, _| !self.unread.contains(config));
        let actual = card::ActualContents { rows: &known, columns: &self.columns, unread: &self.unread };
        card::check(&self.dataset.path, self.run, self.manifest, &actual, &mut self.findings);
        let balance = if self.unread.contains("samples") {
            self.notes.push("`samples` could not be read completely; its balance was not checked".to_owned());
            BTreeMap::new()
        } else {
            self.balance.check(self.manifest, &mut self.findings, &mut self.notes)
        };
        if self.rows.is_empty() {
            self.notes.push("the data set has no rows".to_owned());
        }
        let (findings, more) = self.findings.finish();
        Audit { rows: self.rows, balance, findings, more, notes: self.notes }
    }

    /// Reads the tables of one config.
    pub(super) fn config(&mut self, tables: &[&Table]) -> Result<(), DatasetError> {
        let config = tables[0].config.as_str();
        let Some(expected) = crate::stages::export::expected(config)? else {
            self.notes.push(format!("unknown config `{config}`; only its texts were checked"));
            return self.unknown(tables);
        };
        self.ids.clear();
        let mut leaks = Leaks::new(config, tables, self.manifest, &self.split_configs);
        let values = Values::new(config);
        let mut is_complete = true;
        for table in tables {
            for path in &table.files {
                let file = self.dataset.relative(path);
                let (height, has_ids) = self.file(path, table, &file, &expected, &values, &mut leaks)?;
                is_complete &= has_ids;
                let rows = self.rows.entry(config.to_owned()).or_default().entry(table.split.clone()).or_default();
                *rows += height;
            }
        }
        if is_complete {
            self.references.mark_complete(config);
        }
        leaks.check(&mut self.findings, &mut self.notes);
        Ok(())
    }

    /// Reads one file. Returns the number of rows read, and whether the file was read completely and has ids. Each
    /// check looks up the columns that it needs, so that a missing or mistyped column does not disable the other
    /// checks.
    fn file(
        &mut self,
        path: &Path,
        table: &Table,
        file: &str,
        expected: &DataFrame,
        values: &Values,
        leaks: &mut Leaks,
    ) -> Result<(usize, bool), DatasetError> {
        let mut height = 0;
        let mut has_ids = true;
        let groups = match store::groups(path, None) {
            Ok(groups) => groups,
            Err(error) => {
                files::unreadable(path, file, &error, &mut self.findings);
                self.unread.insert(table.config.clone());
                return Ok((0, false));
            }
        };
        for group in groups {
            let (first, frame) = match group {
                Ok(group) => group,
                Err(error) => {
                    files::unreadable(path, file, &error, &mut self.findings);
                    self.unread.insert(table.config.clone());
                    return Ok((height, false));
                }
            };
            if first == 0 {
                self.see_columns(&table.config, &frame);
                schema::check(file, expected, &frame, &mut self.findings);
            }
            height += frame.height();
            let group = Group::new(&table.config, file, &table.split, first, &frame)?;
            texts::check(&group, &mut self.findings);
            values.check(&group, &mut self.findings);
            has_ids &= group.texts("id").or_else(|| group.texts("role_id")).is_some();
            self.check_ids(&group);
            self.references.add(&group);
            self.privacy.check(&group, &mut self.findings);
            self.conversation_splits.add(&group);
            leaks.add(&group, &frame)?;
            self.balance.add(&group);
        }
        Ok((height, has_ids))
    }

    /// Reads the tables of an unknown config, of which only the texts are checked.
    fn unknown(&mut self, tables: &[&Table]) -> Result<(), DatasetError> {
        for (table, path) in tables.iter().flat_map(|table| table.files.iter().map(move |path| (table, path))) {
            let file = self.dataset.relative(path);
            let mut height = 0;
            let groups = store::groups(path, None).map(|groups| {
                groups.map(|group| {
                    let (first, frame) = group?;
                    if first == 0 {
                        self.see_columns(&table.config, &frame);
                    }
                    height += frame.height();
                    let group = Group::new("", &file, "", first, &frame)?;
                    texts::check(&group, &mut self.findings);
                    Ok(())
                })
            });
            let read =
                groups.map_err(DatasetError::from).and_then(|mut groups| groups.find(Result::is_err).unwrap_or(Ok(())));
            match read {
                Ok(()) => {}
                Err(DatasetError::Store(error)) => {
                    files::unreadable(path, &file, &error, &mut self.findings);
                    self.unread.insert(table.config.clone());
                }
                Err(error) => return Err(error),
            }
            *self.rows.entry(table.config.clone()).or_default().entry(table.split.clone()).or_default() += height;
        }
        Ok(())
    }

    fn see_columns(&mut self, config: &str, frame: &DataFrame) {
        let names = frame.get_column_names().into_iter().map(ToString::to_string);
        self.columns.entry(config.to_owned()).or_default().extend(names);
    }

    fn check_ids(&mut self, group: &Group<'_>) {
        let Some(ids) = group.texts("id").or_else(|| group.texts("role_id")) else { return };
        // Several stages may reject the same thing, so ids of `rejected` are not unique.
        if group.config == "rejected" {
            return;
        }
        for row in 0..group.height {
            let location = || group.location(Check::Id, row, "id");
            match ids.text(row) {
                None | Some("") => self.findings.add(location(), "the row has no id", Remedy::AddId),
                Some(id) if !self.ids.insert(id.to_owned()) => {
                    let message = format!("another row of `{}` has the same id `{id}`", group.config);
                    self.findings.add(location(), &message, Remedy::RemoveDuplicate);
                }
                Some(_) => {}
            }
        }
    }
}
