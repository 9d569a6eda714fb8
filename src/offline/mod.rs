//! The offline engine: how each ask is answered in this process, grouped by stage.

pub(crate) mod chunk;
pub(crate) mod extract;
pub(crate) mod instruct;
pub(crate) mod select;
pub(crate) mod simulate;
pub(crate) mod synthesize;
