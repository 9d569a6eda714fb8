//! One HTTP request and its response.

use std::time::Duration;

use reqwest::Response;
use reqwest::header::{DATE, HeaderValue, RETRY_AFTER};
use serde_json::Value;

use super::address::Address;
use super::completion;
use super::endpoint::Endpoint;
use super::lenient_json::without_lone_surrogates;
use super::retry::{Failure, retry_after, words};
use crate::llm::error::{HttpFault, chain};
use crate::llm::record::{Reply, Request};
use crate::llm::throttle::address_limits::QuotaHeaders;
use crate::llm::throttle::rate_limiter::reset_of;
use crate::llm::throttle::scheduler::Permit;
use crate::llm::usage::Usage;
use crate::llm::usage::fault::FailureKind;

/// Limit on the size of a response in bytes, to protect memory; no chat completion is longer.
const LONGEST_BODY: usize = 64 << 20;

/// Maximum number of characters shown of an error body.
const MAX_ERROR_CHARS: usize = 500;

impl Address {
    /// Sends one request and parses one completion.
    pub(super) async fn exchange(
        &self,
        endpoint: &Endpoint,
        request: &Request,
        body: String,
        permit: &Permit<'_>,
    ) -> Result<(Reply, Usage), Failure> {
        let sent = self.http.post(self.url.clone()).body(body).send().await;
        let response = sent.map_err(|error| self.broken(endpoint, error))?;
        let status = response.status().as_u16();
        let headers = response.headers();
        let header = |name: &str| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let asked = retry_after_of(&header);
        permit.record_response(&quota_of(&header));
        let bytes = self.bytes(endpoint, response).await;
        if !(200..300).contains(&status) {
            // The status of an error is sufficient, even if reading its body fails.
            return Err(self.refused(endpoint, status, &String::from_utf8_lossy(&bytes.unwrap_or_default()), asked));
        }
        let bytes = bytes?;
        let mut text = String::from_utf8_lossy(&bytes);
        for secret in endpoint.unmistakable() {
            text = secret.redact(&text).into();
        }
        if text.trim_start().starts_with('<') {
            return Err(no_completion(self, "it is an HTML page".to_owned()));
        }
        let value: Value = serde_json::from_str(&without_lone_surrogates(&text))
            .map_err(|error| no_completion(self, format!("it is not JSON: {error}")))?;
        let errors = [&value["error"], &value["choices"][0]["error"]];
        if let Some(error) = errors.into_iter().find(|error| !error.is_null()) {
            let code = error["code"].as_u64().or_else(|| error["code"].as_str()?.parse().ok());
            let status = code.and_then(|code| u16::try_from(code).ok()).filter(|code| (400..600).contains(code));
            let body = serde_json::json!({ "error": error }).to_string();
            return Err(self.refused(endpoint, status.unwrap_or(500), &body, asked));
        }
        completion::read(&value, request).map_err(|cause| no_completion(self, cause))
    }

    /// Reads the body of a response.
    pub(super) async fn bytes(&self, endpoint: &Endpoint, mut response: Response) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.broken(endpoint, error))? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > LONGEST_BODY {
                return Err(no_completion(self, format!("it is longer than {LONGEST_BODY} bytes")));
            }
        }
        Ok(bytes)
    }

    fn broken(&self, endpoint: &Endpoint, error: reqwest::Error) -> Failure {
        // A connection that times out while being established does not mean that the server is slow.
        let kind = if error.is_timeout() && !error.is_connect() { FailureKind::TimedOut } else { FailureKind::Broken };
        let cause = endpoint.redact(&chain(&error.without_url()));
        Failure::of(kind, HttpFault::Broken { url: self.display_url.clone(), cause })
    }

    fn refused(&self, endpoint: &Endpoint, status: u16, body: &str, retry_after: Option<Duration>) -> Failure {
        let value: Value = serde_json::from_str(&without_lone_surrogates(body)).unwrap_or_default();
        let error_text = if value.is_object() { words(&value) } else { body.to_lowercase() };
        let message = value["error"]["message"].as_str().or_else(|| value["error"].as_str()).unwrap_or(body);
        let message = endpoint.redact(message);
        let mut excerpt: String = message.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some((end, _)) = excerpt.char_indices().nth(MAX_ERROR_CHARS) {
            excerpt.truncate(end);
            excerpt.push('…');
        }
        if excerpt.is_empty() {
            "(no body)".clone_into(&mut excerpt);
        }
        let kind = match status {
            429 => FailureKind::RateLimited,
            500.. => FailureKind::ServerError,
            _ => FailureKind::RequestRefused,
        };
        let fault = HttpFault::Status { status, url: self.display_url.clone(), body: excerpt };
        Failure { fault, retry_after, error_text, kind }
    }
}

fn no_completion(address: &Address, cause: String) -> Failure {
    Failure::of(FailureKind::NoCompletion, HttpFault::Body { url: address.display_url.clone(), cause })
}

/// Parses how long a server asks to wait; the header in milliseconds takes precedence because it is more precise.
fn retry_after_of<'a>(header: &impl Fn(&str) -> Option<&'a str>) -> Option<Duration> {
    let milliseconds = header("retry-after-ms").and_then(|value| value.trim().parse().ok());
    let exact = milliseconds.and_then(|milliseconds: f64| Duration::try_from_secs_f64(milliseconds / 1e3).ok());
    exact.or_else(|| retry_after(header(RETRY_AFTER.as_str())?, header(DATE.as_str())))
}

/// Parses the `x-ratelimit-*` headers.
fn quota_of<'a>(header: &impl Fn(&str) -> Option<&'a str>) -> QuotaHeaders {
    let count = |remaining: &str, reset: &str| {
        let remaining = header(remaining)?.trim().parse().ok().filter(|remaining: &f64| remaining.is_finite())?;
        Some((remaining, reset_of(header(reset)?)?))
    };
    QuotaHeaders {
        requests: count("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests")
            .or_else(|| count("x-ratelimit-remaining", "x-ratelimit-reset")),
        tokens: count("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
    }
}
