//! Bounds on what a run may ask for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Totals;

/// The table `[budget]`: a run stops cleanly when it reaches one of these; what is done is kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    /// USD over all requests; needs a price for every served model.
    #[schemars(range(min = 0.0))]
    pub max_usd: Option<f64>,
    /// Calls, those read back from the journal not counted.
    pub max_calls: Option<u64>,
    /// Prompt and completion tokens over all requests.
    pub max_tokens: Option<u64>,
}

impl Budget {
    /// Returns which bound on requests has been reached, in words; the one on calls is kept where calls begin.
    #[must_use]
    pub fn reached(&self, totals: &Totals) -> Option<String> {
        if let (Some(max), Some(usd)) = (self.max_usd, totals.usd)
            && usd >= max
        {
            return Some(format!("max_usd = {max} (spent {usd:.4})"));
        }
        let tokens = totals.usage.prompt + totals.usage.completion;
        if let Some(max) = self.max_tokens
            && tokens >= max
        {
            return Some(format!("max_tokens = {max} (used {tokens})"));
        }
        None
    }
}
