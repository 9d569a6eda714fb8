//! The offline answers of this stage, built only from the data of each question.

mod person;
mod portrait;
mod questions;
mod talk;

pub(super) use portrait::{address, catchphrases, describe, grade};
pub(super) use questions::{description, segment};
pub(super) use talk::play;
