//! Limits on the usage of a run.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pricing::{Price, Usage};

/// The table `[budget]`. A run that reaches one of these limits stops cleanly; completed work is kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    /// Maximum cost of all requests in USD; needs a price for every served model.
    #[schemars(range(min = 0.0))]
    pub max_usd: Option<f64>,
    /// Maximum number of calls, not counting those answered from the journal.
    pub max_calls: Option<u64>,
    /// Maximum number of prompt and completion tokens over all requests.
    pub max_tokens: Option<u64>,
}

/// Usage of a request or of many, or its estimated maximum.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(in crate::llm) struct Weight {
    /// Prompt and completion tokens.
    pub(in crate::llm) tokens: u64,
    /// Cost in millionths of a cent; an integer, so that sums are exact.
    pub(in crate::llm) price: u64,
}

impl Weight {
    /// Returns the weight of a usage at a price.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates, and no price is negative"
    )]
    pub(in crate::llm) fn of(usage: &Usage, price: Option<&Price>) -> Self {
        let usd = price.map_or(0.0, |price| price.of(usage));
        Self { tokens: usage.prompt + usage.completion, price: (usd * UNITS).ceil() as u64 }
    }

    /// Adds a weight.
    pub(in crate::llm) const fn plus(self, other: Self) -> Self {
        Self { tokens: self.tokens + other.tokens, price: self.price + other.price }
    }

    /// Subtracts a weight that was added.
    pub(in crate::llm) const fn minus(self, other: Self) -> Self {
        Self { tokens: self.tokens - other.tokens, price: self.price - other.price }
    }

    #[expect(clippy::cast_precision_loss, reason = "sums stay far below 2^52")]
    fn usd(self) -> f64 {
        self.price as f64 / UNITS
    }
}

/// Millionths of a cent per dollar.
const UNITS: f64 = 1e8;

/// A limit of `[budget]` that was reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReachedLimit {
    /// The key of the limit in `[budget]`.
    pub key: &'static str,
    /// Its value, and what was used of it.
    pub value: String,
}

impl fmt::Display for ReachedLimit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} = {}", self.key, self.value)
    }
}

/// Whether a request may start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::llm) enum Room {
    /// It may start.
    Enough,
    /// It has to wait, because requests in flight may use what is left.
    Later,
    /// It may not start, because this limit was reached.
    None(ReachedLimit),
}

impl Budget {
    /// Whether the budget limits tokens or cost.
    pub(in crate::llm) const fn bounds_requests(&self) -> bool {
        self.max_usd.is_some() || self.max_tokens.is_some()
    }

    /// Returns whether a request with maximum usage `next` may start, given the usage so far and the maximum usage of
    /// requests in flight. The limit on calls is enforced where calls start.
    pub(in crate::llm) fn room(&self, spent: Weight, held: Weight, next: Weight) -> Room {
        let mut room = Room::Enough;
        if let Some(max) = self.max_usd {
            let usd = spent.usd();
            if usd >= max || usd + next.usd() > max {
                let value = format!("{max} (spent {usd:.4}, the next call up to {:.4})", next.usd());
                return Room::None(ReachedLimit { key: "max_usd", value });
            }
            if usd + held.usd() + next.usd() > max {
                room = Room::Later;
            }
        }
        if let Some(max) = self.max_tokens {
            let used = spent.tokens;
            if used >= max || used + next.tokens > max {
                let next = next.tokens;
                let value = format!("{max} (used {used}, next call up to {next})");
                return Room::None(ReachedLimit { key: "max_tokens", value });
            }
            if used + held.tokens + next.tokens > max {
                room = Room::Later;
            }
        }
        room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_starts_if_it_cannot_exceed_the_budget() {
        let weight = |tokens| {
            let price = Price { input: 10.0, cached_input: None, output: 10.0 };
            Weight::of(&Usage { prompt: tokens, ..Usage::default() }, Some(&price))
        };
        let dollar = Budget { max_usd: Some(1.0), ..Budget::default() };
        let tokens = Budget { max_tokens: Some(100_000), ..Budget::default() };
        // Ten dollars per million tokens.
        for (budget, spent) in [(dollar, weight(90_000)), (tokens, weight(90_000))] {
            assert!(budget.bounds_requests());
            assert_eq!(budget.room(spent, weight(0), weight(10_000)), Room::Enough);
            assert_eq!(budget.room(spent, weight(1), weight(10_000)), Room::Later);
            assert!(
                matches!(budget.room(spent, weight(0), weight(10_001)), Room::None(limit) if limit.to_string().contains("= 1"))
            );
        }
        assert_eq!(Budget::default().room(weight(9), weight(1), weight(1)), Room::Enough);
        assert_eq!(weight(3).plus(weight(4)).minus(weight(4)), weight(3));
    }
}
