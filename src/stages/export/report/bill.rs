//! What the calls of a run took, as the report tells it.

/// What one ask took of one model.
#[derive(Debug, Clone, Default)]
pub struct Charge {
    /// The ask, such as `select/judge`.
    pub ask: String,
    /// The model's name in the pipeline file.
    pub model: String,
    /// Calls that have an answer.
    pub calls: u64,
    /// Calls without one.
    pub failed: u64,
    /// Replies of no use that were asked for again.
    pub reasks: u64,
    /// Prompt tokens.
    pub prompt: u64,
    /// Those that a server read from its prefix cache.
    pub cached: u64,
    /// Those that extend an earlier prompt.
    pub cacheable: u64,
    /// Completion tokens.
    pub completion: u64,
    /// Tokens of both kinds that nobody counted.
    pub estimated: u64,
    /// USD; none where the price is unknown.
    pub usd: Option<f64>,
}

impl Charge {
    /// What costs nothing.
    const NOTHING: Self = Self {
        ask: String::new(),
        model: String::new(),
        calls: 0,
        failed: 0,
        reasks: 0,
        prompt: 0,
        cached: 0,
        cacheable: 0,
        completion: 0,
        estimated: 0,
        usd: Some(0.0),
    };

    /// Returns the sum of some; an unknown cost makes the sum's unknown.
    #[must_use]
    pub fn sum<'a>(charges: impl IntoIterator<Item = &'a Self>) -> Self {
        charges.into_iter().fold(Self::NOTHING, |mut sum, charge| {
            sum.calls += charge.calls;
            sum.failed += charge.failed;
            sum.reasks += charge.reasks;
            sum.prompt += charge.prompt;
            sum.cached += charge.cached;
            sum.cacheable += charge.cacheable;
            sum.completion += charge.completion;
            sum.estimated += charge.estimated;
            sum.usd = sum.usd.zip(charge.usd).map(|(a, b)| a + b);
            sum
        })
    }

    /// Sums charges by stage, in the order in which they ask.
    #[must_use]
    pub fn by_stage(charges: &[Self]) -> Vec<(&'static str, Self)> {
        let order = ["chunk", "extract", "synthesize", "simulate", "select", "instruct"];
        let of = |stage: &'static str| {
            let own: Vec<&Self> = charges.iter().filter(|charge| charge.stage() == stage).collect();
            (!own.is_empty()).then(|| (stage, Self::sum(own)))
        };
        order.into_iter().filter_map(of).collect()
    }

    /// Returns the stage that asked.
    #[must_use]
    pub fn stage(&self) -> &str {
        self.ask.split('/').next().unwrap_or_default()
    }
}
