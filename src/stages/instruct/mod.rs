//! Makes role data for training: what a role is asked, and what it answers.

pub mod duplicates;
mod params;

pub use params::{Params, Roles, SplitRule};
