//! OpenAI-compatible chat completions over HTTP: tries, waits, and what a server's quirks ask for.
//!
//! Secrets leave this file in headers only.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::{Duration, Instant};

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Response, Url};
use serde_json::Value;
use tokio::sync::Semaphore;

use super::desk::Flight;
use super::endpoint::shown;
use super::form::Form;
use super::json::without_lone_surrogates;
use super::retry::{Failure, Verdict, retry_after, wait, words};
use super::{AskError, Endpoint, HttpFault, Reply, Request, Usage, completion};

/// No chat completion is longer; a body that is would only fill the memory.
const LONGEST_BODY: usize = 64 << 20;

/// So much of an error's body is shown.
const SHOWN: usize = 500;

/// A client of one endpoint.
pub(super) struct Client {
    name: String,
    endpoint: Endpoint,
    url: Url,
    shown_url: String,
    http: reqwest::Client,
    permits: Semaphore,
    form: AtomicU8,
    /// Whether the server has ever answered, with an error perhaps.
    answered: AtomicBool,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("name", &self.name).field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

/// How a call over HTTP went.
#[derive(Debug)]
pub(super) struct Exchange {
    /// Requests made, failed ones included.
    pub(super) requests: u32,
    /// From the first request to the end.
    pub(super) latency: Duration,
    /// What came of it.
    pub(super) outcome: Result<(Reply, Usage), AskError>,
}

impl Client {
    /// Makes a client; nothing is sent yet.
    pub(super) fn new(name: String, endpoint: Endpoint) -> Result<Self, AskError> {
        let unusable = |url: &str, cause: String| {
            let source = HttpFault::Broken { url: url.to_owned(), cause };
            AskError::Unusable { model: name.clone(), source }
        };
        let mut url =
            endpoint.url().ok_or_else(|| unusable("base_url", "it is no http:// or https:// URL".to_owned()))?;
        url.set_path(&format!("{}/chat/completions", url.path().trim_end_matches('/')));
        if endpoint.api_key.is_some() {
            // Both go into the same header, and the key is what was set on purpose.
            let cleared = url.set_username("").and_then(|()| url.set_password(None));
            cleared.expect("a URL with a host may have a user");
        }
        let shown_url = shown(&url);
        let headers = headers(&endpoint).map_err(|cause| unusable(&shown_url, cause))?;
        let http = build(&endpoint, &url, headers).map_err(|error| unusable(&shown_url, chain(&error)))?;
        let permits = Semaphore::new(endpoint.concurrency.clamp(1, Semaphore::MAX_PERMITS));
        let (form, answered) = (AtomicU8::new(Form::FIRST), AtomicBool::new(false));
        Ok(Self { name, endpoint, url, shown_url, http, permits, form, answered })
    }

    /// Sends a request until it is answered, its failures outlast the tries, or it is hopeless.
    ///
    /// A permit is held while a request is in flight, never while one waits for its next try.
    pub(super) async fn complete(
        &self,
        request: &Request,
        ask: &'static str,
        seed: u32,
        flight: &Flight<'_>,
    ) -> Exchange {
        let mut requests = 0;
        let mut begun = None;
        let outcome = self.tries(request, ask, seed, flight, &mut requests, &mut begun).await;
        Exchange { requests, latency: begun.map_or(Duration::ZERO, |begun: Instant| begun.elapsed()), outcome }
    }

    async fn tries(
        &self,
        request: &Request,
        ask: &'static str,
        seed: u32,
        flight: &Flight<'_>,
        requests: &mut u32,
        begun: &mut Option<Instant>,
    ) -> Result<(Reply, Usage), AskError> {
        let model = || self.name.clone();
        let mut form = Form::from_byte(self.form.load(Ordering::Relaxed));
        let mut keep_form = true;
        let mut failed = 0;
        loop {
            let permit = self.permits.acquire().await.expect("the semaphore is never closed");
            flight.may_begin()?;
            let begun = *begun.get_or_insert_with(Instant::now);
            *requests += 1;
            let result = self.exchange(request, &form.body(request, ask, seed)).await;
            drop(permit);
            let failure = match result {
                Ok(answer) => {
                    if keep_form {
                        self.form.fetch_max(form.byte(), Ordering::Relaxed);
                    }
                    return Ok(answer);
                }
                Err(failure) => failure,
            };
            let verdict = failure.verdict();
            let source = failure.fault;
            match verdict {
                Verdict::Retry => {
                    failed += 1;
                    tracing::debug!(model = self.name, ask, failed, fault = %source, "a request failed");
                    if failed >= self.endpoint.max_tries && !self.answered.load(Ordering::Relaxed) {
                        // Every other call would wait as long for nobody.
                        return Err(AskError::Unusable { model: model(), source });
                    }
                    if failed >= self.endpoint.max_tries {
                        return Err(AskError::Transient {
                            model: model(),
                            tries: failed,
                            elapsed: begun.elapsed(),
                            source,
                        });
                    }
                    tokio::select! {
                        () = tokio::time::sleep(wait(self.endpoint.backoff, failed, failure.retry_after, seed)) => {}
                        () = flight.stopped() => return Err(AskError::Interrupted),
                    }
                }
                Verdict::Reform => match form.after(request, &failure.says) {
                    Some(next) => {
                        tracing::debug!(model = self.name, ask, fault = %source, "a request takes another form");
                        form = next;
                        keep_form &= !Form::is_about_one_schema(&failure.says);
                    }
                    None => return Err(AskError::Permanent { model: model(), source }),
                },
                Verdict::Filtered => {
                    let finish = Some("content_filter".to_owned());
                    // The reply goes into the journal and its reason into the data set, where no address belongs.
                    return Ok((Reply { text: source.detail(), finish, ..Reply::default() }, Usage::default()));
                }
                Verdict::Permanent => return Err(AskError::Permanent { model: model(), source }),
                Verdict::Unusable => return Err(AskError::Unusable { model: model(), source }),
            }
        }
    }

    /// Sends one request and reads one completion.
    async fn exchange(&self, request: &Request, body: &Value) -> Result<(Reply, Usage), Failure> {
        let sent = self.http.post(self.url.clone()).body(body.to_string()).send().await;
        let response = sent.map_err(|error| self.broken(error))?;
        self.answered.store(true, Ordering::Relaxed);
        let status = response.status().as_u16();
        let header = |name| response.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let retry_after = header(RETRY_AFTER).and_then(|value| retry_after(value, header(DATE)));
        let bytes = self.bytes(response).await;
        if !(200..300).contains(&status) {
            // An error's status says enough, even when its body breaks off.
            return Err(self.refused(status, &String::from_utf8_lossy(&bytes.unwrap_or_default()), retry_after));
        }
        let bytes = bytes?;
        let mut text = String::from_utf8_lossy(&bytes);
        for secret in self.endpoint.unmistakable() {
            text = secret.redact(&text).into();
        }
        if text.trim_start().starts_with('<') {
            return Err(self.no_completion("it is a page of HTML".to_owned()));
        }
        let value: Value = serde_json::from_str(&without_lone_surrogates(&text))
            .map_err(|error| self.no_completion(format!("it is not JSON: {error}")))?;
        if let Some(error) = value.get("error").filter(|error| !error.is_null()) {
            let code = error["code"].as_u64().or_else(|| error["code"].as_str()?.parse().ok());
            let status = code.and_then(|code| u16::try_from(code).ok()).filter(|code| (400..600).contains(code));
            return Err(self.refused(status.unwrap_or(500), &text, retry_after));
        }
        completion::read(&value, request).map_err(|cause| self.no_completion(cause))
    }

    async fn bytes(&self, mut response: Response) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.broken(error))? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > LONGEST_BODY {
                return Err(self.no_completion(format!("it is longer than {LONGEST_BODY} bytes")));
            }
        }
        Ok(bytes)
    }

    fn broken(&self, error: reqwest::Error) -> Failure {
        let cause = self.endpoint.redact(&chain(&error.without_url()));
        Failure::of(HttpFault::Broken { url: self.shown_url.clone(), cause })
    }

    fn no_completion(&self, cause: String) -> Failure {
        Failure::of(HttpFault::Body { url: self.shown_url.clone(), cause })
    }

    fn refused(&self, status: u16, body: &str, retry_after: Option<Duration>) -> Failure {
        let value: Value = serde_json::from_str(&without_lone_surrogates(body)).unwrap_or_default();
        let says = if value.is_object() { words(&value) } else { body.to_lowercase() };
        let message = value["error"]["message"].as_str().or_else(|| value["error"].as_str()).unwrap_or(body);
        let message = self.endpoint.redact(message);
        let mut shown: String = message.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some((end, _)) = shown.char_indices().nth(SHOWN) {
            shown.truncate(end);
            shown.push('…');
        }
        if shown.is_empty() {
            "(no body)".clone_into(&mut shown);
        }
        let fault = HttpFault::Status { status, url: self.shown_url.clone(), body: shown };
        Failure { fault, retry_after, says }
    }
}

/// Builds the HTTP client: no redirects, since they would turn the request into another; no proxy for this machine's own servers.
fn build(endpoint: &Endpoint, url: &Url, headers: HeaderMap) -> reqwest::Result<reqwest::Client> {
    static PROVIDER: Once = Once::new();
    // A provider that the process has already chosen stays.
    PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    let mut builder = reqwest::Client::builder()
        .default_headers(headers)
        .user_agent(concat!("dramaturg/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::none())
        .connect_timeout(endpoint.connect_timeout)
        .timeout(endpoint.timeout);
    if url.scheme() == "http" {
        // Without it, a machine that has no certificates could not even ask its own server.
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
            .map_err(|_| format!("the value for the header `{name}` holds characters that no header may"))?;
        value.set_sensitive(true);
        headers.insert(name, value);
        Ok::<_, String>(())
    };
    if let Some(key) = endpoint.api_key.as_ref().filter(|key| !key.expose().is_empty()) {
        insert(AUTHORIZATION, format!("Bearer {}", key.expose()))?;
    }
    for (name, value) in &endpoint.headers {
        let name = name.parse().map_err(|_| format!("`{name}` is no name of a header"))?;
        insert(name, value.expose().to_owned())?;
    }
    Ok(headers)
}

/// Returns an error with its causes in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
