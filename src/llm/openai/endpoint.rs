//! Connection settings of a served model.

use std::time::Duration;

use reqwest::Url;

use super::served_options::ServedOptions;
use crate::llm::secret::Secret;
use crate::llm::throttle::address_limits::ConfiguredLimits;

/// Connection settings of a served model.
#[derive(Clone)]
pub struct Endpoint {
    /// Base URLs up to and including `/v1`: one, or several that serve the same model. Requests go to the least busy
    /// one.
    pub base_urls: Vec<String>,
    /// API key, sent as a bearer token if the server needs one.
    pub api_key: Option<Secret>,
    /// Additional headers; their values are treated as secrets, like the key.
    pub headers: Vec<(String, Secret)>,
    /// Id of the model on the server.
    pub model: String,
    /// All other settings. Addresses, id and header values in it are unresolved and not used.
    pub options: ServedOptions,
    /// Wait before the second try; doubles with every further try, up to a minute.
    pub backoff: Duration,
}

impl Endpoint {
    /// Creates an endpoint without a key, with default settings: six tries within about half a minute.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            base_urls: vec![base_url.into()],
            api_key: None,
            headers: Vec::new(),
            model: model.into(),
            options: ServedOptions::default(),
            backoff: Duration::from_secs(1),
        }
    }

    /// Returns the configured limits.
    pub(crate) const fn limits(&self) -> ConfiguredLimits {
        ConfiguredLimits {
            concurrency: self.options.concurrency as usize,
            requests_per_minute: self.options.requests_per_minute,
            tokens_per_minute: self.options.tokens_per_minute,
        }
    }

    /// Replaces the key and all header values in a server's text.
    pub(crate) fn redact(&self, text: &str) -> String {
        self.secrets().fold(text.to_owned(), |text, secret| secret.redact(&text))
    }

    /// Returns the secrets that are also removed from replies.
    pub(crate) fn unmistakable(&self) -> impl Iterator<Item = &Secret> {
        self.secrets().filter(|secret| secret.is_unmistakable())
    }

    fn secrets(&self) -> impl Iterator<Item = &Secret> {
        self.api_key.iter().chain(self.headers.iter().map(|(_, value)| value))
    }
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint")
            .field(
                "base_urls",
                &self.base_urls.iter().map(|url| parse(url).map(|url| display_url(&url))).collect::<Vec<_>>(),
            )
            .field("model", &self.model)
            .field("concurrency", &self.options.concurrency)
            .field("timeout", &self.options.timeout())
            .field("max_tries", &self.options.max_tries)
            .finish_non_exhaustive()
    }
}

/// Parses a base URL; `None` if it is not an HTTP URL with a host.
pub(crate) fn parse(base_url: &str) -> Option<Url> {
    Url::parse(base_url.trim()).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

/// Formats a URL for errors: without user, password and query, which may be secret.
pub(crate) fn display_url(url: &Url) -> String {
    let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
    format!("{}://{}{port}{}", url.scheme(), url.host_str().unwrap_or_default(), url.path())
}
