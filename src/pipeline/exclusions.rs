//! The rows that manual edits remove, and the references that they correct.

use std::collections::BTreeMap;

use crate::config::Edit;
use crate::schema::{Reject, RejectReason, Sample, Stage};

/// The rows to remove and the references to correct, by id.
#[derive(Debug, Default)]
pub(crate) struct Exclusions {
    pub(super) scenes: BTreeMap<String, String>,
    pub(super) conversations: BTreeMap<String, String>,
    pub(super) samples: BTreeMap<String, String>,
    pub(super) characters: BTreeMap<String, String>,
    pub(super) roles: BTreeMap<String, String>,
    pub(super) rows: BTreeMap<String, String>,
    pub(super) edits: BTreeMap<String, Edit>,
}

impl Exclusions {
    /// Returns whether a scene is kept.
    pub(super) fn has_scene(&self, id: &str) -> bool {
        !self.scenes.contains_key(id)
    }

    /// Returns whether a conversation is kept.
    pub(super) fn has_conversation(&self, id: &str) -> bool {
        !self.conversations.contains_key(id)
    }

    /// Returns whether a test character is kept.
    pub(super) fn has_character(&self, id: &str) -> bool {
        !self.characters.contains_key(id)
    }

    /// Returns whether a role is kept.
    pub(super) fn has_role(&self, id: &str) -> bool {
        !self.roles.contains_key(id)
    }

    /// Returns whether a row of a role is kept.
    pub(super) fn has_row(&self, id: &str) -> bool {
        !self.rows.contains_key(id)
    }

    /// Returns a reject for each removed row.
    pub(super) fn rejects(&self) -> Vec<Reject> {
        let reject = |(id, reason): (&String, &String)| Reject::new(Stage::Export, id, RejectReason::Vetoed, reason);
        let lists = [&self.scenes, &self.conversations, &self.samples, &self.characters, &self.rows];
        let roles = self.roles.iter().map(|(id, reason)| {
            // A test character and a role may share an id; each gets its own reject.
            let is_twice = self.characters.contains_key(id);
            reject((id, &if is_twice { format!("{reason} (the role)") } else { reason.clone() }))
        });
        lists.into_iter().flatten().map(reject).chain(roles).collect()
    }

    /// Returns a sample with its edit applied, or `None` if it was removed.
    pub(super) fn sample(&self, mut sample: Sample) -> Option<Sample> {
        if self.samples.contains_key(&sample.id) {
            return None;
        }
        if let Some(edit) = self.edits.get(&sample.id) {
            sample.reference.clone_from(&edit.reference);
            sample.edit_reason = Some(edit.reason.clone());
        }
        Some(sample)
    }
}
