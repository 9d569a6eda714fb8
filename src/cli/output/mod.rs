//! What the program prints: diagnostics, progress, summaries and tables.

pub(crate) mod control_chars;
pub(crate) mod diagnostics;
pub(crate) mod progress;
pub(crate) mod summary;
pub(crate) mod table;
