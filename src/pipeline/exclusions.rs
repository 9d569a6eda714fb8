//! The rows that manual edits remove, and the references that they correct.

use std::collections::BTreeMap;

use crate::config::Edit;
use crate::schema::{CharacterId, ConversationId, Reject, RejectReason, RoleId, Sample, SampleId, SceneId, Stage};

/// The rows to remove and the references to correct, by id.
#[derive(Debug, Default)]
pub(crate) struct Exclusions {
    pub(super) scenes: BTreeMap<SceneId, String>,
    pub(super) conversations: BTreeMap<ConversationId, String>,
    pub(super) samples: BTreeMap<SampleId, String>,
    pub(super) characters: BTreeMap<CharacterId, String>,
    pub(super) roles: BTreeMap<RoleId, String>,
    pub(super) rows: BTreeMap<String, String>,
    pub(super) edits: BTreeMap<SampleId, Edit>,
}

impl Exclusions {
    /// Returns whether a scene is kept.
    pub(super) fn keeps_scene(&self, id: &SceneId) -> bool {
        !self.scenes.contains_key(id)
    }

    /// Returns whether a conversation is kept.
    pub(super) fn keeps_conversation(&self, id: &ConversationId) -> bool {
        !self.conversations.contains_key(id)
    }

    /// Returns whether a test character is kept.
    pub(super) fn keeps_character(&self, id: &CharacterId) -> bool {
        !self.characters.contains_key(id)
    }

    /// Returns whether a role is kept.
    pub(super) fn keeps_role(&self, id: &RoleId) -> bool {
        !self.roles.contains_key(id)
    }

    /// Returns whether a row of a role is kept.
    pub(super) fn keeps_row(&self, id: &str) -> bool {
        !self.rows.contains_key(id)
    }

    /// Returns a reject for each removed row.
    pub(super) fn rejects(&self) -> Vec<Reject> {
        let roles = self.roles.iter().map(|(id, reason)| {
            // A test character and a role may share an id; each gets its own reject.
            let is_twice = self.characters.contains_key(id.as_str());
            reject(id, if is_twice { format!("{reason} (the role)") } else { reason.clone() })
        });
        let played = rejects(&self.conversations).chain(rejects(&self.samples)).chain(rejects(&self.characters));
        rejects(&self.scenes).chain(played).chain(rejects(&self.rows)).chain(roles).collect()
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

fn rejects<Id: AsRef<str>>(excluded: &BTreeMap<Id, String>) -> impl Iterator<Item = Reject> {
    excluded.iter().map(|(id, reason)| reject(id.as_ref(), reason.clone()))
}

fn reject(id: &str, reason: String) -> Reject {
    Reject::new(Stage::Export, id, RejectReason::Vetoed, reason)
}
