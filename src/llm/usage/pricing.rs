//! Token counts and prices.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Token counts of one or more requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Prompt tokens, including cached ones.
    pub prompt: u64,
    /// Prompt tokens that the server read from its prefix cache.
    pub cached: u64,
    /// Completion tokens, including reasoning.
    pub completion: u64,
    /// Reasoning tokens, if the server reports them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning: u64,
    /// Whether counts are estimated because the server did not report them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}

impl Usage {
    /// Adds another usage.
    pub fn add(&mut self, other: &Self) {
        self.prompt += other.prompt;
        self.cached += other.cached;
        self.completion += other.completion;
        self.reasoning += other.reasoning;
        self.estimated |= other.estimated;
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Prices in USD per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Price of prompt tokens, in USD per million.
    #[schemars(range(min = 0.0))]
    pub input: f64,
    /// Price of prompt tokens read from a prefix cache, in USD per million. Default: `input`.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub cached_input: Option<f64>,
    /// Price of completion tokens, in USD per million.
    #[schemars(range(min = 0.0))]
    pub output: f64,
}

impl Price {
    /// Price of the offline engine.
    pub const FREE: Self = Self { input: 0.0, cached_input: None, output: 0.0 };

    /// Returns the cost of a usage in USD.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "token counts stay far below 2^52")]
    pub fn of(&self, usage: &Usage) -> f64 {
        let fresh = usage.prompt.saturating_sub(usage.cached) as f64;
        let cached = usage.cached as f64 * self.cached_input.unwrap_or(self.input);
        (fresh * self.input + cached + usage.completion as f64 * self.output) / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_tokens_cost_less() {
        let price = Price { input: 1.0, cached_input: Some(0.1), output: 2.0 };
        let usage = Usage { prompt: 1_000_000, cached: 500_000, completion: 1_000_000, ..Usage::default() };
        assert!((price.of(&usage) - 2.55).abs() < 1e-9);
    }
}
