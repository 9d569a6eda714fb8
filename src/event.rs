//! Progress events of a run. `cli` shows them as bars or lines; tests collect them.

use crate::schema::{Reject, Stage};

/// A progress event.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A stage has started.
    Started {
        /// The stage.
        stage: Stage,
        /// Number of items, if known in advance.
        total: Option<u64>,
    },
    /// A stage has completed more items, or its total has changed.
    Advanced {
        /// The stage.
        stage: Stage,
        /// Number of completed items.
        done: u64,
        /// Total number of items, if known.
        total: Option<u64>,
    },
    /// A lane has started, advanced or ended. Lanes that share counts are reported as one.
    Lane {
        /// Lane id, or the character id if its lanes share counts.
        lane: String,
        /// Number of completed conversations.
        conversations: u32,
        /// Counts reached, ignoring those above τ.
        counted: u32,
        /// Counts wanted: τ for each dimension.
        wanted: u32,
        /// Whether the lane runs no more conversations.
        has_ended: bool,
    },
    /// Calls, tokens and cost so far, over all stages.
    Spent {
        /// Completed calls, including those answered from the journal.
        calls: u64,
        /// Calls waiting for a server.
        in_flight: u64,
        /// Prompt and completion tokens.
        tokens: u64,
        /// Cost in USD; `None` if a price is unknown.
        usd: Option<f64>,
    },
    /// An item was rejected.
    Rejected(Reject),
    /// A stage has ended.
    Ended {
        /// The stage.
        stage: Stage,
        /// Result as text, such as `34 scenes of 3 books`.
        outcome: String,
    },
    /// Any other message for the user.
    Note(String),
}

/// Receives events. Called concurrently from many tasks, so it must return quickly.
pub trait Reporter: Send + Sync {
    /// Handles an event.
    fn report(&self, event: Event);
}

/// Reporter that ignores all events.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Reporter for Silent {
    fn report(&self, _: Event) {}
}
