//! Settings of a served model.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::llm::model::sampling::Sampling;
use crate::llm::usage::Price;

/// Settings of a model on a server, as in the pipeline file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ServedOptions {
    /// The URL up to and including `/v1`, or a list of URLs that serve the same model; each request goes to the least
    /// busy one. `OPENAI_BASE_URL` of the environment if unset.
    pub base_url: Option<BaseUrl>,
    /// The model's id on the server. `OPENAI_MODEL` of the environment if unset.
    pub model: Option<String>,
    /// The environment variable with the API key. If it is not set, `<variable>_FILE` may name a file whose only line
    /// is the key. The key itself must not be in a pipeline file.
    pub api_key_env: String,
    /// Sampling temperature. The server's default if unset.
    #[schemars(range(min = 0.0, max = 2.0))]
    pub temperature: Option<f64>,
    /// Nucleus sampling: the probability mass to sample from. The server's default if unset.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub top_p: Option<f64>,
    /// Maximum tokens of a reply, reasoning included. The server's default if unset.
    #[schemars(range(min = 1))]
    pub max_tokens: Option<u32>,
    /// Maximum number of requests in flight over all URLs. A request that waits for a retry, as after a 429, does not
    /// count. The limit is lowered automatically when a server refuses requests. Default 32.
    #[schemars(range(min = 1, max = 65_536))]
    pub concurrency: u32,
    /// Maximum requests per minute at each URL. If unset, the server's limit is estimated from its responses.
    #[schemars(range(min = 1))]
    pub requests_per_minute: Option<u32>,
    /// Maximum tokens per minute at each URL, prompts and replies together. If unset, the server's limit is estimated
    /// from its responses.
    #[schemars(range(min = 1))]
    pub tokens_per_minute: Option<u32>,
    /// The model's context window in tokens, prompt and reply together. Prompts that are certainly longer are rejected
    /// before they are sent.
    #[schemars(range(min = 1))]
    pub context_window: Option<u32>,
    /// Timeout of a whole request, in seconds. Default 300, since reasoning models can take long.
    #[schemars(range(min = 1))]
    pub timeout_s: u32,
    /// Timeout for opening a connection, in seconds. Default 10.
    #[schemars(range(min = 1))]
    pub connect_timeout_s: u32,
    /// How many times a request is sent before its call fails. A rate-limited request (429) does not count as long as
    /// other requests succeed. If no URL has ever answered, the run ends after ten minutes and two tries. Default 6.
    #[schemars(range(min = 1, max = 100))]
    pub max_tries: u32,
    /// How many times a reply that does not match its schema is asked for again. Default 2.
    #[schemars(range(max = 20))]
    pub max_schema_retries: u32,
    /// USD per million tokens. If unset, the run's cost is unknown.
    pub price: Option<Price>,
    /// Additional headers of each request. Their values come from the environment, as in `{ X-Team = "$TEAM_TOKEN" }`,
    /// and are kept as secret as the key.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Additional keys of the request body, as defined by the server. They are stored in the journal and must not
    /// contain secrets.
    pub extra_body: Map<String, Value>,
}

/// The address of a served model: one URL, or several that serve the same model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum BaseUrl {
    /// One URL.
    One(String),
    /// Several URLs.
    Several(#[schemars(length(min = 1))] Vec<String>),
}

impl Default for ServedOptions {
    fn default() -> Self {
        Self {
            base_url: None,
            model: None,
            api_key_env: Self::API_KEY_ENV.to_owned(),
            temperature: None,
            top_p: None,
            max_tokens: None,
            concurrency: 32,
            requests_per_minute: None,
            tokens_per_minute: None,
            context_window: None,
            timeout_s: 300,
            connect_timeout_s: 10,
            max_tries: 6,
            max_schema_retries: 2,
            price: None,
            headers: BTreeMap::new(),
            extra_body: Map::new(),
        }
    }
}

impl ServedOptions {
    /// Default environment variable of the API key.
    pub(crate) const API_KEY_ENV: &'static str = "OPENAI_API_KEY";
    /// Default environment variable of the base URL.
    pub(crate) const BASE_URL_ENV: &'static str = "OPENAI_BASE_URL";
    /// Default environment variable of the model's id.
    pub(crate) const MODEL_ENV: &'static str = "OPENAI_MODEL";

    /// Returns the sampling parameters.
    #[must_use]
    pub const fn sampling(&self) -> Sampling {
        Sampling { temperature: self.temperature, top_p: self.top_p, max_tokens: self.max_tokens }
    }

    /// Returns the timeout of a whole request.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(u64::from(self.timeout_s))
    }

    /// Returns the timeout for opening a connection.
    #[must_use]
    pub fn connect_timeout(&self) -> Duration {
        Duration::from_secs(u64::from(self.connect_timeout_s))
    }
}
