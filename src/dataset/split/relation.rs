//! Relations between rows that must not cross splits.

use serde::{Deserialize, Serialize};

/// A relation between rows that must not cross splits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// They have the same scene.
    Scene,
    /// They are from the same conversation.
    Conversation,
    /// They answer the same general instruction.
    Instruction,
    /// Their texts are similar.
    Similarity,
}

impl Relation {
    /// All relations.
    pub const ALL: [Self; 4] = [Self::Scene, Self::Conversation, Self::Instruction, Self::Similarity];

    /// The relations whose values identify a family, widest first.
    pub(super) const KEY_RELATIONS: [Self; 3] = [Self::Scene, Self::Instruction, Self::Conversation];

    /// Returns the name on the command line and in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scene => "scene",
            Self::Conversation => "conversation",
            Self::Instruction => "instruction",
            Self::Similarity => "similarity",
        }
    }

    /// Returns the column with the relation's value in a config, or `None` if there is no such column.
    #[must_use]
    pub fn column(self, config: &str) -> Option<&'static str> {
        match (self, config) {
            (Self::Scene, "samples" | "conversations") => Some("scene_id"),
            (Self::Conversation, "samples") => Some("conversation_id"),
            (Self::Instruction, "role_general") => Some("instruction"),
            _ => None,
        }
    }
}
