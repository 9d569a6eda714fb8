//! Established test characters: imported from files of several formats, picked from the scene pool, exported as cards.
//!
//! Works on bytes, JSON values and scenes. `pipeline` reads the files and reports positions in them.

mod card;
mod container;
mod container_error;
mod coser;
mod import;
mod imported;
mod macros;
mod pingpong;
mod png;
mod pool;
mod profile;
mod spoken_lines;
mod tavern;

pub use card::{card, imported_card};
pub use container::{is_wrapped, text};
pub use container_error::{ContainerError, MOST_BYTES};
pub use import::import;
pub use imported::{CharacterFormat, ImportError, ImportedCharacter};
pub use pool::{MIN_LINES, Picked, named, pick};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Sources of established test characters: `"pool"`, a path or glob pattern, or a list of these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Established {
    /// `pool`, or a file, folder or glob pattern.
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
    /// The value for the scene pool. A folder of that name is written `./pool`.
    pub const POOL: &'static str = "pool";

    /// Returns whether characters are picked from the scene pool.
    #[must_use]
    pub fn has_pool(&self) -> bool {
        match self {
            Self::One(one) => one == Self::POOL,
            Self::Several(several) => several.iter().any(|one| one == Self::POOL),
        }
    }
}
