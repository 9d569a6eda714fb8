//! Word lists and patterns with which sentences are classified, and helpers for the phrases of the offline engine.

mod patterns;
mod phrasing;
mod profile_keys;
mod script;
mod word_lists;

pub(crate) use patterns::{Patterns, english, opening};
pub(crate) use phrasing::{join, list, quoted};
pub(crate) use profile_keys::ProfileKey;
pub(crate) use script::Script;
pub(crate) use word_lists::WordLists;
