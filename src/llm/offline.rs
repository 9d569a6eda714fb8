//! The offline engine: what an ask's offline answer is given.

use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Raised when any offline answer changes, so that old journals are not read for new answers.
pub(super) const ENGINE_VERSION: u32 = 7;

/// A variant of the offline engine. The options are what makes an offline source differ from an offline base.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OfflineOptions {
    /// Its name; rows name the model `offline:<variant>`.
    pub variant: String,
    /// How many candidate lines it weighs before it replies, 1 to 64: more fit the talk better.
    #[schemars(range(min = 1, max = 64))]
    pub breadth: u32,
    /// How often a reply opens with an action in parentheses, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub actions: f64,
    /// How often a reply follows the strategy it is given, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub diligence: f64,
    /// The most answers at once; no bound when silent. Changes no answer, so it is no part of a request.
    #[serde(skip_serializing)]
    #[schemars(range(min = 1, max = 65_536))]
    pub concurrency: Option<u32>,
}

impl Default for OfflineOptions {
    fn default() -> Self {
        Self { variant: "plain".to_owned(), breadth: 8, actions: 0.3, diligence: 0.5, concurrency: None }
    }
}

/// What an offline answer may use besides its ask.
#[derive(Debug)]
pub struct Offline<'a> {
    /// The variant's options.
    pub options: &'a OfflineOptions,
    /// A generator seeded with the run's seed, the model, the ask and the draw.
    pub rng: ChaCha8Rng,
}
