//! What the judge is asked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema::{Attribute, CastMember, Language, Line};

/// A dimension as the judge sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Criterion {
    /// Its code.
    pub code: String,
    /// Its name in the judge's language.
    pub name: String,
    /// Its definition in the judge's language.
    pub definition: String,
}

/// Which dimension fits the context, and which of two replies is better on it?
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Judge {
    /// The language of the prompt.
    pub language: Language,
    /// The test character's name.
    pub name: String,
    /// The test character's profile, whole.
    pub profile: Vec<Attribute>,
    /// Lines that the test character is known for.
    pub lines: Vec<String>,
    /// The others present, with public attributes only.
    pub others: Vec<CastMember>,
    /// The situation.
    pub situation: String,
    /// What was said before.
    pub history: Vec<Line>,
    /// The dimensions to choose from.
    pub criteria: Vec<Criterion>,
    /// The reply shown first.
    pub first: String,
    /// The reply shown second.
    pub second: String,
    /// The code of the dimension that was aimed at, where the judge is told.
    pub hint: Option<String>,
}

/// The judge's answer: reasons before verdicts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    /// Why the context calls for this dimension.
    pub dimension_reason: String,
    /// The code of the dimension.
    pub dimension: String,
    /// How the two replies compare on it.
    pub comparison: String,
    /// 1: the first is much better … 3: alike … 5: the second is much better.
    #[schemars(range(min = 1, max = 5))]
    pub score: u8,
}
