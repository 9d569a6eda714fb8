//! The dimensions that a benchmark is balanced over.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ByLanguage;

/// A dimension of role-play: data, not code. The five of FURINA (4.1) are the default table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dimension {
    /// A short code such as `CR`; the value of the column `dimension`.
    pub code: String,
    /// Its name.
    pub name: ByLanguage<String>,
    /// What the judge looks at; the column `criteria`.
    pub definition: ByLanguage<String>,
    /// I(d): how a scene character draws it out of the test character.
    pub eliciting: ByLanguage<String>,
    /// S(d): how the test character answers to show it; the column `strategy`.
    pub strategy: ByLanguage<String>,
}
