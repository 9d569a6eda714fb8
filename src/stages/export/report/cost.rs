//! The usage and cost of a run's calls, by ask and model.

use crate::schema::Stage;

/// The usage of one ask with one model.
#[derive(Debug, Clone, Default)]
pub struct AskCost {
    /// The ask, such as `select/judge`.
    pub ask: String,
    /// The model's name in the pipeline file.
    pub model: String,
    /// The number of answered calls.
    pub calls: u64,
    /// The number of failed calls.
    pub failed: u64,
    /// The number of retries after unusable replies.
    pub schema_retries: u64,
    /// Prompt tokens.
    pub prompt: u64,
    /// The prompt tokens that a server reported as read from its prefix cache.
    pub cached: u64,
    /// The prompt tokens that extend an earlier prompt.
    pub cacheable: u64,
    /// Completion tokens.
    pub completion: u64,
    /// The prompt and completion tokens that were estimated instead of counted by the server.
    pub estimated: u64,
    /// The cost in USD; `None` if a price is unknown.
    pub usd: Option<f64>,
}

impl AskCost {
    /// No usage and no cost.
    const NOTHING: Self = Self {
        ask: String::new(),
        model: String::new(),
        calls: 0,
        failed: 0,
        schema_retries: 0,
        prompt: 0,
        cached: 0,
        cacheable: 0,
        completion: 0,
        estimated: 0,
        usd: Some(0.0),
    };

    /// Returns the sum. Its cost is unknown if any cost is unknown.
    #[must_use]
    pub fn sum<'a>(charges: impl IntoIterator<Item = &'a Self>) -> Self {
        charges.into_iter().fold(Self::NOTHING, |mut sum, charge| {
            sum.calls += charge.calls;
            sum.failed += charge.failed;
            sum.schema_retries += charge.schema_retries;
            sum.prompt += charge.prompt;
            sum.cached += charge.cached;
            sum.cacheable += charge.cacheable;
            sum.completion += charge.completion;
            sum.estimated += charge.estimated;
            sum.usd = sum.usd.zip(charge.usd).map(|(a, b)| a + b);
            sum
        })
    }

    /// Returns the sums by stage, in the order of the pipeline.
    #[must_use]
    pub fn by_stage(charges: &[Self]) -> Vec<(Stage, Self)> {
        let of = |stage: Stage| {
            let own: Vec<&Self> = charges.iter().filter(|charge| charge.stage() == stage.name()).collect();
            (!own.is_empty()).then(|| (stage, Self::sum(own)))
        };
        Stage::ALL.into_iter().filter_map(of).collect()
    }

    /// Returns the name of the ask's stage.
    #[must_use]
    pub fn stage(&self) -> &str {
        self.ask.split('/').next().unwrap_or_default()
    }
}
