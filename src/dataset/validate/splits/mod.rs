//! Checks that splits of a data set have nothing in common.

pub(super) mod conversation_splits;
pub(super) mod leaks;
