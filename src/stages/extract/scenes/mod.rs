//! Converts answers to scenes: resolves names, finds utterances in the book, drops what is invalid. Calls no model.

mod assemble;
mod draft;
mod read_answer;

pub(super) use assemble::{drop_foreign_parts, scene, unknown_characters};
pub(crate) use draft::Draft;
pub(super) use draft::round;
pub(crate) use read_answer::drafts;
pub(super) use read_answer::unquoted;
