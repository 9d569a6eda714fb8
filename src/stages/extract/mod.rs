//! The stage `extract`: a chunk becomes scenes.

pub mod reading;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The stage's prompt templates: (name, source).
pub const PROMPTS: &[(&str, &str)] = &[];

/// The table `[extract]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// The folder of the scene pool.
    pub pool: String,
    /// The least share of a scene's lines that must be found in the book, 0 to 1; below it the scene is rejected.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub min_grounding: f64,
    /// How much a line must be like the book's to count as found, 0 to 1. CoSER's figure for mapping sentences back: 0.6.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub min_similarity: f64,
    /// The fewest utterances of a scene.
    #[schemars(range(min = 1))]
    pub min_utterances: u32,
    /// The most utterances of a scene that the offline engine makes; longer talk becomes several scenes.
    #[schemars(range(min = 4))]
    pub max_utterances: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            pool: "scene_pool".to_owned(),
            min_grounding: 0.5,
            min_similarity: 0.6,
            min_utterances: 4,
            max_utterances: 40,
        }
    }
}
