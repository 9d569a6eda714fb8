//! Boundaries between chunks, and where they should be.

mod adjust;
mod ask;
#[cfg(test)]
mod tests;

pub use adjust::adjust_boundaries;
pub use ask::{Cut, FindBoundary, FoundBoundary};
pub(crate) use ask::{Paragraph, window};
