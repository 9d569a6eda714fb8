//! Progress and results of lanes and conversations.

use super::dwrs::Counts;
use crate::schema::{Conversation, Reject, Sample, TurnKind};
use crate::stages::simulate::BalanceOn;

/// Progress of a lane, or of lanes that share counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Finished conversations, including dropped ones.
    pub conversations: u32,
    /// Counts reached, at most τ per dimension. Updated between batches.
    pub counted: u32,
    /// Counts required: τ × number of dimensions.
    pub required: u32,
    /// Whether the lane has ended.
    pub has_ended: bool,
}

/// The result of one conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct PlayedConversation {
    /// The conversation, kept or not. None if it failed before its end.
    pub conversation: Option<Conversation>,
    /// Its samples; empty unless the conversation is kept.
    pub samples: Vec<Sample>,
    /// Rejects for the conversation or for turns of it.
    pub rejects: Vec<Reject>,
}

/// The final state of lanes that share counts (usually a single lane).
#[derive(Debug, Clone, PartialEq)]
pub struct LaneEnd {
    /// The final counts.
    pub counts: Counts,
    /// Codes of dimensions whose count is below τ.
    pub dimensions_below_target: Vec<String>,
    /// Codes of dimensions that reached τ without yielding a sample.
    pub dimensions_without_samples: Vec<String>,
    /// Rejects for lanes that ended below τ, yielded no sample of a dimension, or never played.
    pub rejects: Vec<Reject>,
}

impl PlayedConversation {
    /// Adds this conversation to the counts. The order of conversations does not matter.
    pub(super) fn count(&self, balance_on: BalanceOn, counts: &mut Counts) {
        let turns = self.conversation.iter().flat_map(|conversation| &conversation.turns);
        let test_turns = turns.filter(|turn| turn.kind == TurnKind::Test);
        let codes: Vec<&String> = match balance_on {
            BalanceOn::Targeted => test_turns.filter_map(|turn| turn.target.as_ref()).collect(),
            BalanceOn::Judged => test_turns.filter_map(|turn| turn.dimension.as_ref()).collect(),
            BalanceOn::Accepted => self.samples.iter().map(|sample| &sample.dimension).collect(),
        };
        for code in codes {
            counts.add(code);
        }
    }
}
