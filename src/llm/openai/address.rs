//! One address of an endpoint, with its HTTP client.
//!
//! Secrets leave this module only in HTTP headers.

use std::sync::Once;

use reqwest::Url;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;

use super::endpoint::{Endpoint, display_url, parse};
use crate::llm::error::{AskError, HttpFault, chain};

/// One base URL of the endpoint.
pub(super) struct Address {
    pub(super) url: Url,
    /// The address in the form shown in errors.
    pub(super) display_url: String,
    pub(super) http: reqwest::Client,
}

impl Address {
    /// Creates an address without opening a connection.
    pub(super) fn new(name: &str, endpoint: &Endpoint, base_url: &str) -> Result<Self, AskError> {
        let url = parse(base_url);
        let mut url = url.ok_or_else(|| unusable(name, "base_url", "not an http:// or https:// URL".to_owned()))?;
        url.set_path(&format!("{}/chat/completions", url.path().trim_end_matches('/')));
        if endpoint.api_key.is_some() {
            // Both would use the same header; the key is set explicitly.
            let cleared = url.set_username("").and_then(|()| url.set_password(None));
            cleared.expect("user info can be set on a URL with a host");
        }
        let display_url = display_url(&url);
        let headers = headers(endpoint).map_err(|cause| unusable(name, &display_url, cause))?;
        let http = build(endpoint, &url, headers).map_err(|error| unusable(name, &display_url, chain(&error)))?;
        Ok(Self { url, display_url, http })
    }
}

/// Returns the error of an endpoint that cannot be used.
pub(super) fn unusable(name: &str, url: &str, cause: String) -> AskError {
    let source = HttpFault::Broken { url: url.to_owned(), cause };
    AskError::Unusable { model: name.to_owned(), source }
}

/// Builds the HTTP client. It follows no redirects, which would change the request, and uses no proxy for servers on
/// this machine.
fn build(endpoint: &Endpoint, url: &Url, headers: HeaderMap) -> reqwest::Result<reqwest::Client> {
    static PROVIDER: Once = Once::new();
    // Keeps a provider that the process has already installed.
    PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    let mut builder = reqwest::Client::builder()
        .default_headers(headers)
        .user_agent(concat!("dramaturg/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::none())
        .connect_timeout(endpoint.options.connect_timeout())
        .timeout(endpoint.options.timeout());
    if url.scheme() == "http" {
        // Without this, a machine without certificates could not call its own server.
        builder = builder.tls_certs_only([]);
    }
    if matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]")) {
        builder = builder.no_proxy();
    }
    builder.build()
}

fn headers(endpoint: &Endpoint) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
    let mut insert = |name: HeaderName, value: String| {
        let mut value = HeaderValue::from_str(&value)
            .map_err(|_| format!("the value of the header `{name}` contains invalid characters"))?;
        value.set_sensitive(true);
        headers.insert(name, value);
        Ok::<_, String>(())
    };
    if let Some(key) = endpoint.api_key.as_ref().filter(|key| !key.expose().is_empty()) {
        insert(AUTHORIZATION, format!("Bearer {}", key.expose()))?;
    }
    for (name, value) in &endpoint.headers {
        let name = name.parse().map_err(|_| format!("`{name}` is not a valid header name"))?;
        insert(name, value.expose().to_owned())?;
    }
    Ok(headers)
}
