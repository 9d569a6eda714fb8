//! The stage `synthesize`: original test characters, made up in a world of their own (FURINA, Appendix A).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema::ByLanguage;

/// The stage's prompt templates: (name, source).
pub const PROMPTS: &[(&str, &str)] = &[];

/// The table `[synthesize]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Character files (globs) of the established test characters.
    pub established: Vec<String>,
    /// How many characters to make up per language. The paper's figure (3.1, Table 3): 5 and 5.
    pub count: ByLanguage<u32>,
    /// How many characters one world gives.
    #[schemars(range(min = 1, max = 6))]
    pub characters_per_world: u32,
    /// How often a step that its reviewer faults is done again.
    pub max_refinements: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            established: Vec::new(),
            count: ByLanguage { en: 5, zh: 5 },
            characters_per_world: 2,
            max_refinements: 2,
        }
    }
}
