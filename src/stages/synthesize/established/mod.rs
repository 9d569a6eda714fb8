//! Established test characters: out of files, in our form and in other programs', and out of the scene pool; and as cards.
//!
//! Takes bytes, values and scenes, and gives characters. It opens no file and tells no place of one: `pipeline` does.

mod card;
mod container;
mod coser;
mod given;
mod macros;
mod pingpong;
mod png;
mod pool;
mod profile;
mod tavern;

pub use card::{card, card_of};
pub use container::{Fault, MOST_BYTES, is_wrapped, text};
pub use given::{Form, Given, Misfit, given};
pub use pool::{FEWEST_LINES, Picked, named, pick};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where established test characters come from: `"pool"`, a pattern, or a list of either.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Established {
    /// `pool`, or a file, folder or glob.
    One(String),
    /// Several of them.
    Several(Vec<String>),
}

impl Default for Established {
    fn default() -> Self {
        Self::Several(Vec::new())
    }
}

impl Established {
    /// The word that stands for the scene pool. A folder of that name is `./pool`.
    pub const POOL: &'static str = "pool";

    /// Says whether characters are picked out of the pool.
    #[must_use]
    pub fn has_pool(&self) -> bool {
        match self {
            Self::One(one) => one == Self::POOL,
            Self::Several(several) => several.iter().any(|one| one == Self::POOL),
        }
    }
}
