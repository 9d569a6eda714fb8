//! Input of the offline engine.

use super::Ask;
use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Increase when any offline answer changes, so that old journal entries are not reused.
pub(super) const ENGINE_VERSION: u32 = 7;

/// A variant of the offline engine. The options make an offline source model differ from an offline base model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OfflineOptions {
    /// Name of the variant; rows name the model `offline:<variant>`.
    pub variant: String,
    /// Number of candidate replies per turn, 1 to 64; more candidates give better replies.
    #[schemars(range(min = 1, max = 64))]
    pub candidates: u32,
    /// Probability that a reply starts with an action in parentheses, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub action_rate: f64,
    /// Probability that a reply follows the given strategy, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub strategy_rate: f64,
    /// Maximum number of concurrent answers. Default: unlimited. Does not affect answers, and is not part of a request.
    #[serde(skip_serializing)]
    #[schemars(range(min = 1, max = 65_536))]
    pub concurrency: Option<u32>,
}

impl Default for OfflineOptions {
    fn default() -> Self {
        Self { variant: "plain".to_owned(), candidates: 8, action_rate: 0.3, strategy_rate: 0.5, concurrency: None }
    }
}

/// Context of an offline answer besides its ask.
#[derive(Debug)]
pub struct Offline<'a> {
    /// Options of the variant.
    pub options: &'a OfflineOptions,
    /// Generator seeded with the run's seed, the model, the ask and the draw.
    pub rng: ChaCha8Rng,
}

/// The offline engine's answer to an ask, computed from the input record and a seeded generator. The implementations are
/// in [`crate::offline`], so that the stages do not depend on them.
pub trait OfflineAnswer: Ask {
    /// Returns the answer. It passes [`Ask::check`] and fits the schema.
    fn answer_offline(&self, offline: &mut Offline<'_>) -> Self::Answer;
}
