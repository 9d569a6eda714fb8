//! Evaluation dimensions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::language::ByLanguage;

/// An evaluation dimension of role-play. The default table has the five dimensions of FURINA (section 4.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dimension {
    /// Short code such as `CR`; the value of the column `dimension`.
    pub code: String,
    /// Name of the dimension.
    pub name: ByLanguage<String>,
    /// Criteria for the judge; the column `criteria`.
    pub definition: ByLanguage<String>,
    /// I(d): instruction for scene characters to elicit the dimension from the test character.
    pub eliciting: ByLanguage<String>,
    /// S(d): reply strategy for the test character; the column `strategy`.
    pub strategy: ByLanguage<String>,
}
