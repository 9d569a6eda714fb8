//! Word lists and patterns with which sentences are classified, and helpers for the phrases of the offline engine.

mod patterns;
mod phrasing;
mod profile_keys;
mod script;

pub(crate) use patterns::Patterns;
pub(crate) use patterns::{english, opening};
pub(crate) use phrasing::list;
pub(crate) use phrasing::{join, quoted};
pub(crate) use profile_keys::ProfileKey;
pub(crate) use script::Script;
