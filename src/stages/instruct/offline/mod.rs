//! The offline answers of this stage: counted, rearranged and retrieved from what the ask itself holds.

mod person;
mod portrait;
mod questions;
mod talk;

pub(super) use portrait::{address, catchphrases, describe, grade};
pub(super) use questions::{description, segment};
pub(super) use talk::play;
