//! Rows of the role tables: filtered, cleaned, de-duplicated, and assigned to splits.

mod cleaning;
mod deduplication;
#[cfg(test)]
mod fixtures;
mod overlap;
mod planner;
mod select_rows;
mod splits;

pub use cleaning::{Fault, fault};
pub use planner::SplitPlanner;
pub use select_rows::{SelectedRows, select_rows};
pub use splits::SplitAssignments;
