//! Client for OpenAI-compatible chat completions: retries, waits, and adaptation to server differences.
//!
//! Secrets leave this module only in HTTP headers.

use std::pin::pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Once, OnceLock};
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Response, Url};
use serde_json::Value;
use tokio::time::Instant;

use super::completion;
use super::endpoint::{Endpoint, parse, shown};
use super::lenient_json::without_lone_surrogates;
use super::probe::Schemas;
use super::request_format::Form;
use super::retry::{Failure, Verdict, is_long, retry_after, wait, words};
use crate::llm::budget::Weight;
use crate::llm::error::{AskError, HttpFault};
use crate::llm::record::{Reply, Request};
use crate::llm::session::{Flight, Hold};
use crate::llm::throttle::rate_limiter::reset_of;
use crate::llm::throttle::scheduler::{End, Gate, Limits, News, Permit, Then, Told, What};
use crate::llm::throttle::stall_detector::WORTH_TELLING;
use crate::llm::tokens::estimate_tokens;
use crate::llm::usage::Usage;

/// Limit on the size of a response in bytes, to protect memory; no chat completion is longer.
const LONGEST_BODY: usize = 64 << 20;

/// Maximum number of characters shown of an error body.
const SHOWN: usize = 500;

/// A call fails after this many rate-limit rejections per allowed try while other calls are accepted.
const REFUSALS_PER_TRY: u32 = 10;

/// Kind of a failure in which the server accepted a request and did not answer in time.
const TIMED_OUT: &str = "timed_out";

/// Assumed reply length for token rate limits if there is no length limit.
const USUAL_REPLY: u32 = 300;

/// Client of one model at one or more addresses.
pub(crate) struct Client {
    name: String,
    endpoint: Endpoint,
    addresses: Vec<Address>,
    gate: Gate,
    form: AtomicU8,
    /// Set once it is known that no call can succeed; pending calls are then not sent.
    unusable: OnceLock<HttpFault>,
}

/// One base URL of the endpoint.
struct Address {
    url: Url,
    shown: String,
    http: reqwest::Client,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("name", &self.name).field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

/// One call, as the client needs it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Question<'a> {
    /// The request.
    pub(crate) request: &'a Request,
    /// Name of the ask.
    pub(crate) ask: &'static str,
    /// Value sent as `seed`.
    pub(crate) seed: u32,
    /// Whether the call belongs to a conversation that has started, or is a schema retry.
    pub(crate) has_begun: bool,
    /// Whether an earlier reply did not match the schema, so that the prompt has to include it.
    pub(crate) spelt_out: bool,
    /// Reasoning behind the replies of this call that are requested again; some servers require it.
    pub(crate) thoughts: &'a [Option<String>],
    /// Maximum usage of one request.
    pub(crate) weight: Weight,
}

/// Result of a call over HTTP.
#[derive(Debug)]
pub(crate) struct Exchange<'a> {
    /// Number of HTTP requests, including failed ones.
    pub(crate) requests: u32,
    /// Time from the first request to the end.
    pub(crate) latency: Duration,
    /// The reply, its usage and the budget reservation of its request, or the error.
    pub(crate) outcome: Result<(Reply, Usage, Option<Hold<'a>>), AskError>,
}

impl Client {
    /// Creates a client without sending anything.
    pub(crate) fn new(name: String, endpoint: Endpoint) -> Result<Self, AskError> {
        let addresses = endpoint.base_urls.iter().map(|base_url| Address::new(&name, &endpoint, base_url));
        let addresses = addresses.collect::<Result<Vec<_>, _>>()?;
        if addresses.is_empty() {
            return Err(unusable(&name, "base_url", "no base URL is set".to_owned()));
        }
        let gate = Gate::new(addresses.len(), endpoint.limits());
        Ok(Self { name, endpoint, addresses, gate, form: AtomicU8::new(Form::FIRST), unusable: OnceLock::new() })
    }

    /// Sends a request until it succeeds, runs out of tries, or cannot succeed.
    ///
    /// A permit is held while a request is in flight, not while a call waits for its next try.
    pub(crate) async fn complete<'a>(&self, question: Question<'_>, flight: &Flight<'a>) -> Exchange<'a> {
        let mut requests = 0;
        let mut begun = None;
        let outcome = self.tries(question, flight, &mut requests, &mut begun).await;
        Exchange { requests, latency: begun.map_or(Duration::ZERO, |begun: Instant| begun.elapsed()), outcome }
    }

    async fn tries<'a>(
        &self,
        question: Question<'_>,
        flight: &Flight<'a>,
        requests: &mut u32,
        begun: &mut Option<Instant>,
    ) -> Result<(Reply, Usage, Option<Hold<'a>>), AskError> {
        let Question { request, ask, seed, .. } = question;
        let model = || self.name.clone();
        let weight = self.weigh(request)?;
        let mut form = Form::from_byte(self.form.load(Ordering::Relaxed));
        let mut keep_form = true;
        let (mut failed, mut refused) = (0, 0);
        let mut place = self.gate.place(question.has_begun);
        loop {
            let permit = tokio::select! {
                biased;
                permit = self.gate.enter(place, weight) => permit,
                () = flight.stopped() => return Err(AskError::Interrupted),
            };
            let hold = flight.begin(question.weight).await?;
            if let Some(source) = self.unusable.get().cloned() {
                return Err(AskError::Unusable { model: model(), source });
            }
            let begun = *begun.get_or_insert_with(Instant::now);
            place = place.begun();
            *requests += 1;
            let body = form.body(request, ask, seed, question.spelt_out, question.thoughts);
            let body = serde_json::to_string(&body).expect("all keys of a request body are strings");
            let in_flight = flight.request();
            let result = self.watched(self.exchange(request, body, &permit), &permit, flight).await;
            drop(in_flight);
            let failure = match result {
                Ok((reply, usage)) => {
                    if keep_form {
                        self.form.fetch_or(form.byte(), Ordering::Relaxed);
                    }
                    self.end(permit, End::Answered, usage.prompt + usage.completion, "", flight);
                    return Ok((reply, usage, Some(hold)));
                }
                Err(failure) => failure,
            };
            drop(hold);
            flight.session().usage_tracker.fault(&self.name, failure.kind, false);
            let verdict = failure.verdict();
            if verdict == Verdict::Unusable {
                self.unusable.get_or_init(|| failure.fault.clone());
            }
            let end = match verdict {
                Verdict::Retry if failure.kind == TIMED_OUT => End::TimedOut,
                Verdict::Retry => End::Failed(failure.retry_after),
                Verdict::Slower => End::Refused(failure.retry_after),
                _ => End::Answered,
            };
            // A probe of an address that has answered before does not count as a try.
            let is_free = permit.is_probe() && self.gate.has_answered();
            let then = self.end(permit, end, 0, &failure.fault.detail(), flight);
            let source = failure.fault;
            if then == Then::GiveUp {
                return Err(AskError::Unusable { model: model(), source });
            }
            let pause = match verdict {
                Verdict::Retry => {
                    failed += u32::from(!is_free);
                    tracing::debug!(model = self.name, ask, failed, fault = %source, "a request failed");
                    let is_long = is_long(failed, self.endpoint.max_tries, begun.elapsed());
                    if is_long && !self.gate.has_answered() {
                        // Every other call would wait as long in vain.
                        self.unusable.get_or_init(|| source.clone());
                        return Err(AskError::Unusable { model: model(), source });
                    }
                    if failed >= self.endpoint.max_tries {
                        let elapsed = begun.elapsed();
                        return Err(AskError::Transient { model: model(), tries: failed, elapsed, source });
                    }
                    // Another address may answer immediately.
                    let is_elsewhere = then == Then::Queue && self.addresses.len() > 1;
                    (!is_elsewhere).then(|| wait(self.endpoint.backoff, failed.max(1), failure.retry_after, seed))
                }
                Verdict::Slower => {
                    refused += 1;
                    tracing::debug!(model = self.name, ask, refused, fault = %source, "a request was rate limited");
                    if refused >= self.endpoint.max_tries.saturating_mul(REFUSALS_PER_TRY) && then == Then::Nothing {
                        let elapsed = begun.elapsed();
                        return Err(AskError::Transient { model: model(), tries: refused, elapsed, source });
                    }
                    // While an address is closed, the scheduler makes the whole queue wait.
                    (then == Then::Nothing).then(|| wait(self.endpoint.backoff, refused, failure.retry_after, seed))
                }
                Verdict::Reform => match form.after(request, &failure.says) {
                    Some(next) => {
                        tracing::debug!(model = self.name, ask, fault = %source, "retrying with another request format");
                        form = next;
                        keep_form &= !Form::is_about_one_schema(&failure.says);
                        None
                    }
                    None => return Err(AskError::Permanent { model: model(), source }),
                },
                Verdict::Filtered => {
                    let finish = Some("content_filter".to_owned());
                    // This text is written to the journal and to the data set, which must not contain an address.
                    return Ok((Reply { text: source.detail(), finish, ..Reply::default() }, Usage::default(), None));
                }
                Verdict::TooLong => return Err(AskError::TooLong { model: model(), cause: source.detail() }),
                Verdict::Permanent => return Err(AskError::Permanent { model: model(), source }),
                Verdict::Unusable => return Err(AskError::Unusable { model: model(), source }),
            };
            if let Some(pause) = pause {
                tokio::select! {
                    () = tokio::time::sleep(pause) => {}
                    () = flight.stopped() => return Err(AskError::Interrupted),
                }
            }
        }
    }

    /// Returns the first address in the form shown in errors.
    pub(crate) fn address(&self) -> &str {
        &self.addresses[0].shown
    }

    /// Returns how a reply's JSON is requested, according to the errors of the server so far.
    pub(crate) fn schemas(&self) -> Schemas {
        Form::from_byte(self.form.load(Ordering::Relaxed)).schemas()
    }

    /// Returns the model list of the first address; `None` if it does not provide one.
    pub(crate) async fn listed(&self) -> Option<Value> {
        let address = &self.addresses[0];
        let mut url = address.url.clone();
        url.set_path(&url.path().replace("/chat/completions", "/models"));
        let response = address.http.get(url).send().await.ok().filter(|response| response.status().is_success())?;
        let bytes = self.bytes(address, response).await.ok()?;
        let text = self.endpoint.redact(&String::from_utf8_lossy(&bytes));
        serde_json::from_str(&text).ok()
    }

    /// Returns the configured limits, summed over all addresses.
    pub(crate) fn limits(&self) -> Limits {
        let limits = self.endpoint.limits();
        let addresses = u32::try_from(self.addresses.len()).unwrap_or(u32::MAX);
        let all = |limit: Option<u32>| limit.map(|limit| limit.saturating_mul(addresses));
        Limits {
            requests_per_minute: all(limits.requests_per_minute),
            tokens_per_minute: all(limits.tokens_per_minute),
            ..limits
        }
    }

    /// Returns the maximum tokens of a request and its reply, or 0 if nothing depends on them. Fails if they certainly
    /// exceed the context window; estimates are within a tenth.
    pub(crate) fn weigh(&self, request: &Request) -> Result<u32, AskError> {
        let window = self.endpoint.context_window;
        if window.is_none() && !self.gate.weighs() {
            return Ok(0);
        }
        let prompt =
            request.messages.iter().map(|message| estimate_tokens(&message.content)).fold(0, u32::saturating_add);
        let most = request.sampling["max_tokens"].as_u64().and_then(|most| u32::try_from(most).ok());
        let room = most.unwrap_or_default();
        if let Some(window) = window.filter(|window| (prompt - prompt / 10).saturating_add(room) > *window) {
            let cause = format!(
                "about {prompt} prompt tokens and {room} reply tokens exceed the context window of {window} tokens"
            );
            return Err(AskError::TooLong { model: self.name.clone(), cause });
        }
        Ok(prompt.saturating_add(most.map_or(USUAL_REPLY, |most| most.min(USUAL_REPLY))))
    }

    /// Ends a request in the scheduler, and reports news about its address.
    fn end(&self, permit: Permit<'_>, end: End, used: u64, fault: &str, flight: &Flight<'_>) -> Then {
        let (then, news) = permit.end(end, used);
        // With a single try the error itself says it all.
        let is_all = |news: &News| news.what == What::Unreached && self.endpoint.max_tries <= 1;
        if let Some(news) = news.filter(|news| !is_all(news)) {
            self.tell(&news, fault, flight);
        }
        then
    }

    /// Waits for a request, and reports when its address has not responded for a long time.
    async fn watched<T>(&self, exchange: impl Future<Output = T>, permit: &Permit<'_>, flight: &Flight<'_>) -> T {
        let mut exchange = pin!(exchange);
        loop {
            tokio::select! {
                biased;
                result = &mut exchange => return result,
                () = tokio::time::sleep(WORTH_TELLING) => {
                    if let Some(news) = permit.silence() {
                        self.tell(&news, "", flight);
                    }
                }
            }
        }
    }

    /// Reports news about an address.
    fn tell(&self, news: &News, fault: &str, flight: &Flight<'_>) {
        let place = format!("model `{}`: `{}`", self.name, self.addresses[news.address].shown);
        let calls = match news.waiting {
            1 => "1 call waiting".to_owned(),
            waiting => format!("{waiting} calls waiting"),
        };
        let wait = |wait: Duration| format!("{calls}, next try in {:.0} s", wait.as_secs_f64());
        let seconds = |time: Duration| format!("{:.0} s", time.as_secs_f64());
        flight.session().tell(match news.what {
            What::Saturated(pause) => format!("{place} is rate limited ({fault}); {}", wait(pause)),
            What::Down(pause) => format!("{place} is failing repeatedly ({fault}); {}", wait(pause)),
            What::Unreached => {
                format!(
                    "{place} is not responding ({fault}); each call makes up to {} tries, or two if they take ten minutes",
                    self.endpoint.max_tries
                )
            }
            What::Silent(silence) => format!(
                "{place} has not responded for {}; {calls}, with a timeout of {}",
                seconds(silence),
                seconds(self.endpoint.timeout)
            ),
            What::Back => format!("{place} is responding again"),
        });
    }

    /// Sends one request and parses one completion.
    async fn exchange(&self, request: &Request, body: String, permit: &Permit<'_>) -> Result<(Reply, Usage), Failure> {
        let address = &self.addresses[permit.address()];
        let sent = address.http.post(address.url.clone()).body(body).send().await;
        let response = sent.map_err(|error| self.broken(address, error))?;
        let status = response.status().as_u16();
        let headers = response.headers();
        let header = |name: &str| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let asked = retry_after_of(&header);
        permit.hear(&told(&header));
        let bytes = self.bytes(address, response).await;
        if !(200..300).contains(&status) {
            // The status of an error is sufficient, even if reading its body fails.
            return Err(self.refused(address, status, &String::from_utf8_lossy(&bytes.unwrap_or_default()), asked));
        }
        let bytes = bytes?;
        let mut text = String::from_utf8_lossy(&bytes);
        for secret in self.endpoint.unmistakable() {
            text = secret.redact(&text).into();
        }
        if text.trim_start().starts_with('<') {
            return Err(no_completion(address, "it is an HTML page".to_owned()));
        }
        let value: Value = serde_json::from_str(&without_lone_surrogates(&text))
            .map_err(|error| no_completion(address, format!("it is not JSON: {error}")))?;
        let errors = [&value["error"], &value["choices"][0]["error"]];
        if let Some(error) = errors.into_iter().find(|error| !error.is_null()) {
            let code = error["code"].as_u64().or_else(|| error["code"].as_str()?.parse().ok());
            let status = code.and_then(|code| u16::try_from(code).ok()).filter(|code| (400..600).contains(code));
            let body = serde_json::json!({ "error": error }).to_string();
            return Err(self.refused(address, status.unwrap_or(500), &body, asked));
        }
        completion::read(&value, request).map_err(|cause| no_completion(address, cause))
    }

    async fn bytes(&self, address: &Address, mut response: Response) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.broken(address, error))? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > LONGEST_BODY {
                return Err(no_completion(address, format!("it is longer than {LONGEST_BODY} bytes")));
            }
        }
        Ok(bytes)
    }

    fn broken(&self, address: &Address, error: reqwest::Error) -> Failure {
        // A connection that times out while being established does not mean that the server is slow.
        let kind = if error.is_timeout() && !error.is_connect() { TIMED_OUT } else { "broken" };
        let cause = self.endpoint.redact(&chain(&error.without_url()));
        Failure::of(kind, HttpFault::Broken { url: address.shown.clone(), cause })
    }

    fn refused(&self, address: &Address, status: u16, body: &str, retry_after: Option<Duration>) -> Failure {
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
        let kind = match status {
            429 => "rate_limited",
            500.. => "server_error",
            _ => "request_refused",
        };
        let fault = HttpFault::Status { status, url: address.shown.clone(), body: shown };
        Failure { fault, retry_after, says, kind }
    }
}

impl Address {
    fn new(name: &str, endpoint: &Endpoint, base_url: &str) -> Result<Self, AskError> {
        let url = parse(base_url);
        let mut url = url.ok_or_else(|| unusable(name, "base_url", "not an http:// or https:// URL".to_owned()))?;
        url.set_path(&format!("{}/chat/completions", url.path().trim_end_matches('/')));
        if endpoint.api_key.is_some() {
            // Both would use the same header; the key is set explicitly.
            let cleared = url.set_username("").and_then(|()| url.set_password(None));
            cleared.expect("user info can be set on a URL with a host");
        }
        let shown = shown(&url);
        let headers = headers(endpoint).map_err(|cause| unusable(name, &shown, cause))?;
        let http = build(endpoint, &url, headers).map_err(|error| unusable(name, &shown, chain(&error)))?;
        Ok(Self { url, shown, http })
    }
}

fn unusable(name: &str, url: &str, cause: String) -> AskError {
    let source = HttpFault::Broken { url: url.to_owned(), cause };
    AskError::Unusable { model: name.to_owned(), source }
}

fn no_completion(address: &Address, cause: String) -> Failure {
    Failure::of("no_completion", HttpFault::Body { url: address.shown.clone(), cause })
}

/// Parses how long a server asks to wait; the header in milliseconds takes precedence because it is more precise.
fn retry_after_of<'a>(header: &impl Fn(&str) -> Option<&'a str>) -> Option<Duration> {
    let milliseconds = header("retry-after-ms").and_then(|value| value.trim().parse().ok());
    let exact = milliseconds.and_then(|milliseconds: f64| Duration::try_from_secs_f64(milliseconds / 1e3).ok());
    exact.or_else(|| retry_after(header(RETRY_AFTER.as_str())?, header(DATE.as_str())))
}

/// Parses the `x-ratelimit-*` headers.
fn told<'a>(header: &impl Fn(&str) -> Option<&'a str>) -> Told {
    let count = |remaining: &str, reset: &str| {
        let remaining = header(remaining)?.trim().parse().ok().filter(|remaining: &f64| remaining.is_finite())?;
        Some((remaining, reset_of(header(reset)?)?))
    };
    Told {
        requests: count("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests")
            .or_else(|| count("x-ratelimit-remaining", "x-ratelimit-reset")),
        tokens: count("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
    }
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
        .connect_timeout(endpoint.connect_timeout)
        .timeout(endpoint.timeout);
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

/// Formats an error with its causes in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
