//! OpenAI-compatible chat completions over HTTP.

use std::time::Duration;

use serde_json::Value;

use super::{AskError, Reply, Request, Usage};

/// A key that shows itself nowhere.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Wraps a key.
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("(secret)")
    }
}

/// Where and how a served model is reached.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The URL up to and with `/v1`.
    pub base_url: String,
    /// The key, where the server wants one.
    pub api_key: Option<Secret>,
    /// The model's id on the server.
    pub model: String,
    /// The most requests in flight.
    pub concurrency: usize,
    /// How long a whole request may take.
    pub timeout: Duration,
    /// How often a request is tried before its call fails.
    pub max_tries: u32,
}

/// A client of one endpoint.
#[derive(Debug)]
pub(super) struct Client {}

impl Client {
    pub(super) fn new(_name: String, _endpoint: Endpoint) -> Result<Self, AskError> {
        Ok(Self {})
    }

    pub(super) async fn complete(
        &self,
        _request: &Request,
        _ask: &'static str,
        _seed: u32,
    ) -> Result<(Reply, Usage, u32), AskError> {
        Err(AskError::Interrupted)
    }
}

/// Reads the JSON value of a reply.
pub(super) fn json_of(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}
