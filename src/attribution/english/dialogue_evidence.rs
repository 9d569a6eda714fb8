//! Evidence from the first pass over the dialogue.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

/// Evidence from the first pass over the dialogue, for use in the second.
#[derive(Debug, Clone, Default)]
pub(super) struct DialogueEvidence {
    /// Whether a first pass has been made.
    pub(super) first_pass_done: bool,
    /// A name of the narrator.
    pub(super) narrator: Option<usize>,
    /// Role phrases, each with a name of the character it means.
    pub(super) roles: BTreeMap<String, usize>,
    /// Role phrases that occur with a speech verb.
    pub(super) phrases: BTreeSet<String>,
    /// Kinship nouns, each with names of those who spoke as such and their share of its votes, 0 to 1.
    pub(super) kin: BTreeMap<String, Vec<(usize, f32)>>,
}
