//! Checks that conversations are in the split of their samples, since a conversation contains the turns that its
//! samples test.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use super::leaks::params;
use crate::config::Check;
use crate::dataset::split::{SplitPriority, UNUSED};
use crate::dataset::validate::Group;
use crate::dataset::validate::findings::Remedy;
use crate::dataset::validate::findings::{Findings, Location};
use crate::store::Table;

/// The splits of conversations and of their samples. Empty if all samples are in one split.
#[derive(Debug, Default)]
pub(in crate::dataset::validate) struct ConversationSplitCheck {
    /// Whether samples have two or more splits, not counting unused rows.
    is_split: bool,
    priority: SplitPriority,
    /// Names of splits and files, in order of occurrence.
    names: Vec<String>,
    /// By id: indices of its split and file in `names`, and its row in the file.
    conversations: BTreeMap<String, (usize, usize, usize)>,
    /// By conversation id: the split of highest priority among its samples.
    samples: HashMap<String, usize>,
}

impl ConversationSplitCheck {
    /// Creates an empty check. The priority of splits is that of the samples.
    pub(in crate::dataset::validate) fn new(tables: &[Table], split_configs: &Value) -> Self {
        let samples = tables.iter().filter(|table| table.config == "samples" && table.split != UNUSED);
        let splits: BTreeSet<&str> = samples.map(|table| table.split.as_str()).collect();
        let priority = SplitPriority::new(params("samples", split_configs).as_ref());
        Self { is_split: splits.len() > 1, priority, ..Self::default() }
    }

    /// Adds the rows of a group.
    pub(in crate::dataset::validate) fn add(&mut self, group: &Group<'_>) {
        if !self.is_split {
            return;
        }
        match group.config {
            "conversations" => {
                let (split, file) = (self.number(group.split), self.number(group.file));
                for row in 0..group.height {
                    let Some(id) = group.text("id", row) else { continue };
                    self.conversations.insert(id.to_owned(), (split, file, group.first + row));
                }
            }
            "samples" => {
                let split = self.number(group.split);
                for row in 0..group.height {
                    let Some(id) = group.text("conversation_id", row) else { continue };
                    match self.samples.get_mut(id) {
                        Some(best) if self.priority.rank(group.split) < self.priority.rank(&self.names[*best]) => {
                            *best = split;
                        }
                        Some(_) => {}
                        None => drop(self.samples.insert(id.to_owned(), split)),
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns the index of a name.
    fn number(&mut self, name: &str) -> usize {
        self.names.iter().position(|known| known == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        })
    }

    /// Reports conversations in a split of lower priority than their samples, or notes that conversations were not
    /// split at all.
    pub(in crate::dataset::validate) fn check(self, findings: &mut Findings, notes: &mut Vec<String>) {
        let rank = |split: usize| self.priority.rank(&self.names[split]);
        for (id, (split, file, row)) in &self.conversations {
            let Some(best) = self.samples.get(id).filter(|best| rank(**best) < rank(*split)) else { continue };
            let message = format!(
                "its samples are in `{}`, but the conversation is in `{}`",
                self.names[*best], self.names[*split]
            );
            let mut location = Location::of_file(Check::Leak, &self.names[*file]);
            (location.row, location.column, location.id) = (Some(*row), Some("id".to_owned()), Some(id.clone()));
            findings.add(location, &message, Remedy::SplitConversations);
        }
        let own: BTreeSet<usize> = self.conversations.values().map(|(split, ..)| *split).collect();
        if let (Some(only_split), 1) = (own.first(), own.len()) {
            notes.push(format!(
                "`conversations` was not split: `{}` contains the conversations of every split of `samples`, including those whose turns are tested",
                self.names[*only_split]
            ));
        }
    }
}
