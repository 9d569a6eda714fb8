//! The offline answers of this stage, built only from the data of each question.

mod person;
mod portrait;
mod questions;
mod talk;

pub(crate) use portrait::{address, catchphrases, describe, grade};
pub(crate) use questions::{description, segment};
pub(crate) use talk::play;
