//! Where and how a served model is reached: settings, no connection.

use std::time::Duration;

use reqwest::Url;

use super::Secret;
use super::gate::Limits;

/// Where and how a served model is reached.
#[derive(Clone)]
pub struct Endpoint {
    /// The URLs up to and with `/v1`: one, or several that serve the same model. The least busy one is asked.
    pub base_urls: Vec<String>,
    /// The key, where the server wants one; it is sent as a bearer token.
    pub api_key: Option<Secret>,
    /// Further headers; their values are kept as secret as the key.
    pub headers: Vec<(String, Secret)>,
    /// The model's id on the server.
    pub model: String,
    /// The most requests in flight, over all addresses; at least 1. It falls by itself when a server refuses more.
    pub concurrency: usize,
    /// The most requests a minute at each address; what the server allows is found out when silent.
    pub requests_per_minute: Option<u32>,
    /// The most tokens a minute at each address, prompts and replies together.
    pub tokens_per_minute: Option<u32>,
    /// How many tokens the model takes, prompt and reply together: what is surely longer is not sent.
    pub context_window: Option<u32>,
    /// How long a whole request may take.
    pub timeout: Duration,
    /// How long a connection may take to come about.
    pub connect_timeout: Duration,
    /// How often a request is tried before its call fails, at least once. Where no address has ever answered, ten minutes and
    /// two tries end the run earlier.
    pub max_tries: u32,
    /// The wait before the second try; it doubles with each further one, up to a minute.
    pub backoff: Duration,
}

impl Endpoint {
    /// Makes an endpoint without a key: 32 requests in flight, five minutes each, six tries that span half a minute.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            base_urls: vec![base_url.into()],
            api_key: None,
            headers: Vec::new(),
            model: model.into(),
            concurrency: 32,
            requests_per_minute: None,
            tokens_per_minute: None,
            context_window: None,
            timeout: Duration::from_mins(5),
            connect_timeout: Duration::from_secs(10),
            max_tries: 6,
            backoff: Duration::from_secs(1),
        }
    }

    /// Returns the limits that are stated.
    pub(super) const fn limits(&self) -> Limits {
        Limits {
            concurrency: self.concurrency,
            requests_per_minute: self.requests_per_minute,
            tokens_per_minute: self.tokens_per_minute,
        }
    }

    /// Returns a server's text with the key and the values of all headers struck out.
    pub(super) fn redact(&self, text: &str) -> String {
        self.secrets().fold(text.to_owned(), |text, secret| secret.redact(&text))
    }

    /// Returns the secrets that are struck out of replies too.
    pub(super) fn unmistakable(&self) -> impl Iterator<Item = &Secret> {
        self.secrets().filter(|secret| secret.is_unmistakable())
    }

    fn secrets(&self) -> impl Iterator<Item = &Secret> {
        self.api_key.iter().chain(self.headers.iter().map(|(_, value)| value))
    }
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint")
            .field("base_urls", &self.base_urls.iter().map(|url| parse(url).map(|url| shown(&url))).collect::<Vec<_>>())
            .field("model", &self.model)
            .field("concurrency", &self.concurrency)
            .field("timeout", &self.timeout)
            .field("max_tries", &self.max_tries)
            .finish_non_exhaustive()
    }
}

/// Returns a base URL, when it is one that can be asked.
pub(super) fn parse(base_url: &str) -> Option<Url> {
    Url::parse(base_url.trim()).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

/// Returns a URL as errors show it: without user, password and query, which may be secret.
pub(super) fn shown(url: &Url) -> String {
    let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
    format!("{}://{}{port}{}", url.scheme(), url.host_str().unwrap_or_default(), url.path())
}
