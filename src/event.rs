//! What happened, told without a terminal. `cli` turns events into bars or lines; tests collect them.

use crate::schema::Reject;

/// Something that a user may want to see while a run works.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A stage begins. `total` counts its items, where that is known beforehand.
    Started {
        /// The stage's verb.
        stage: &'static str,
        /// How many items it has.
        total: Option<u64>,
    },
    /// A stage has finished more of its items, or knows better how many there are.
    Advanced {
        /// The stage's verb.
        stage: &'static str,
        /// How many items are done.
        done: u64,
        /// How many there are.
        total: Option<u64>,
    },
    /// A lane begins, has come further, or ended; lanes that share counts are one.
    Lane {
        /// Its id; that of the character where its lanes share counts.
        lane: String,
        /// Conversations that have ended.
        conversations: u32,
        /// Counts reached, those over τ left out.
        counted: u32,
        /// Counts wanted: τ for each dimension.
        wanted: u32,
        /// Whether nothing more is played.
        has_ended: bool,
    },
    /// How much has been asked so far, over all stages.
    Spent {
        /// Calls that have ended, those read back from the journal included.
        calls: u64,
        /// Calls that wait for a server.
        in_flight: u64,
        /// Prompt and completion tokens.
        tokens: u64,
        /// USD; null when a price is unknown.
        usd: Option<f64>,
    },
    /// Something was left out.
    Rejected(Reject),
    /// A stage has ended.
    Ended {
        /// The stage's verb.
        stage: &'static str,
        /// What came out, in words, such as `34 scenes of 3 books`.
        outcome: String,
    },
    /// Something else worth a line.
    Note(String),
}

/// Takes events. Called from many tasks at once; must be quick.
pub trait Reporter: Send + Sync {
    /// Takes one event.
    fn report(&self, event: Event);
}

/// Takes events and forgets them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Reporter for Silent {
    fn report(&self, _: Event) {}
}
