//! The table `[extract]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of the stage (the table `[extract]`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Folder of the scene pool.
    pub pool: String,
    /// Minimum share of a scene's utterances that must be found in the book, 0 to 1; scenes below it are rejected.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub min_grounding: f64,
    /// Minimum similarity at which an utterance counts as found in the book, 0 to 1. The default 0.6 is what CoSER uses
    /// to map sentences back to the text.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub min_similarity: f64,
    /// How many times the model is asked again for the utterances of a scene that are not in the book; 0 turns this
    /// off. Utterances that are still not found are dropped.
    #[schemars(range(max = 8))]
    pub max_repairs: u32,
    /// Minimum number of utterances in a scene.
    #[schemars(range(min = 1))]
    pub min_utterances: u32,
    /// Maximum number of utterances in a scene made by the offline engine; longer conversations are split.
    #[schemars(range(min = 4))]
    pub max_utterances: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            pool: "scene_pool".to_owned(),
            min_grounding: 0.5,
            min_similarity: 0.6,
            max_repairs: 1,
            min_utterances: 4,
            max_utterances: 40,
        }
    }
}
