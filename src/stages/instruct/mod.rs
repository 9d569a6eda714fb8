//! tmp
mod params;
pub use params::{Params, Roles, SplitRule};
