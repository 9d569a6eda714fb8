//! The stage `export`: records become the tables of the data set and its card. It builds them; `store` writes them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The table `[export]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// The data set's name on its card; the run's name when silent.
    pub pretty_name: Option<String>,
    /// The licence as the card names it, such as `cc0-1.0`; `other` when silent.
    pub license: Option<String>,
    /// Further tags of the card.
    pub tags: Vec<String>,
}

impl Default for Params {
    fn default() -> Self {
        Self { pretty_name: None, license: None, tags: Vec::new() }
    }
}
