//! Offline answers of the stage `synthesize`.

pub(crate) mod invention;
pub(crate) mod tables;
