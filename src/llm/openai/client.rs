//! Client for OpenAI-compatible chat completions: retries, waits, and adaptation to server differences.

use std::pin::pin;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::address::{Address, unusable};
use super::endpoint::Endpoint;
use super::request_format::RequestFormat;
use super::retry::{Verdict, is_long, wait};
use super::schema_support::Schemas;
use crate::llm::error::{AskError, HttpFault};
use crate::llm::record::{Reply, Request};
use crate::llm::session::{BudgetReservation, SingleFlight};
use crate::llm::throttle::address_limits::{AddressChange, ConfiguredLimits, Reaction, RequestEnd};
use crate::llm::throttle::scheduler::{AddressEvent, Permit, Scheduler};
use crate::llm::throttle::stall_detector::MIN_REPORTED_STALL;
use crate::llm::tokens::estimate_tokens;
use crate::llm::usage::Usage;
use crate::llm::usage::budget::Weight;
use crate::llm::usage::fault::{CountedFault, FailureKind};

/// A call fails after this many rate-limit rejections per allowed try while other calls are accepted.
const REFUSALS_PER_TRY: u32 = 10;

/// Assumed reply length for token rate limits if there is no length limit.
const USUAL_REPLY: u32 = 300;

/// Client of one model at one or more addresses.
pub(crate) struct Client {
    name: String,
    endpoint: Endpoint,
    addresses: Vec<Address>,
    scheduler: Scheduler,
    form: AtomicU8,
    /// Set once it is known that no call can succeed; pending calls are then not sent.
    unusable: OnceLock<HttpFault>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("name", &self.name).field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

/// One call, as the client needs it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PreparedCall<'a> {
    /// The request.
    pub(crate) request: &'a Request,
    /// Name of the ask.
    pub(crate) ask: &'static str,
    /// Value sent as `seed`.
    pub(crate) seed: u32,
    /// Whether the call belongs to a conversation that has started, or is a schema retry.
    pub(crate) has_begun: bool,
    /// Whether an earlier reply did not match the schema, so that the prompt has to include it.
    pub(crate) schema_in_prompt: bool,
    /// Reasoning behind the replies of this call that are requested again; some servers require it.
    pub(crate) thoughts: &'a [Option<String>],
    /// Maximum usage of one request.
    pub(crate) weight: Weight,
}

/// Result of a call over HTTP.
#[derive(Debug)]
pub(crate) struct CallResult<'a> {
    /// Number of HTTP requests, including failed ones.
    pub(crate) requests: u32,
    /// Time from the first request to the end.
    pub(crate) latency: Duration,
    /// The reply, its usage and the budget reservation of its request, or the error.
    pub(crate) outcome: Result<(Reply, Usage, Option<BudgetReservation<'a>>), AskError>,
}

impl Client {
    /// Creates a client without sending anything.
    pub(crate) fn new(name: String, endpoint: Endpoint) -> Result<Self, AskError> {
        let addresses = endpoint.base_urls.iter().map(|base_url| Address::new(&name, &endpoint, base_url));
        let addresses = addresses.collect::<Result<Vec<_>, _>>()?;
        if addresses.is_empty() {
            return Err(unusable(&name, "base_url", "no base URL is set".to_owned()));
        }
        let scheduler = Scheduler::new(addresses.len(), endpoint.limits());
        Ok(Self {
            name,
            endpoint,
            addresses,
            scheduler,
            form: AtomicU8::new(RequestFormat::FIRST),
            unusable: OnceLock::new(),
        })
    }

    /// Sends a request until it succeeds, runs out of tries, or cannot succeed.
    ///
    /// A permit is held while a request is in flight, not while a call waits for its next try.
    pub(crate) async fn complete<'a>(&self, question: PreparedCall<'_>, flight: &SingleFlight<'a>) -> CallResult<'a> {
        let mut requests = 0;
        let mut begun = None;
        let outcome = self.tries(question, flight, &mut requests, &mut begun).await;
        CallResult { requests, latency: begun.map_or(Duration::ZERO, |begun: Instant| begun.elapsed()), outcome }
    }

    async fn tries<'a>(
        &self,
        question: PreparedCall<'_>,
        flight: &SingleFlight<'a>,
        requests: &mut u32,
        begun: &mut Option<Instant>,
    ) -> Result<(Reply, Usage, Option<BudgetReservation<'a>>), AskError> {
        let PreparedCall { request, ask, seed, .. } = question;
        let model = || self.name.clone();
        let weight = self.weigh(request)?;
        let mut form = RequestFormat::from_byte(self.form.load(Ordering::Relaxed));
        let mut keep_form = true;
        let (mut failed, mut refused) = (0, 0);
        let mut position = self.scheduler.new_position(question.has_begun);
        loop {
            let permit = tokio::select! {
                biased;
                permit = self.scheduler.enter(position, weight) => permit,
                () = flight.stopped() => return Err(AskError::Interrupted),
            };
            let reservation = flight.begin(question.weight).await?;
            if let Some(source) = self.unusable.get().cloned() {
                return Err(AskError::Unusable { model: model(), source });
            }
            let begun = *begun.get_or_insert_with(Instant::now);
            position = position.begun();
            *requests += 1;
            let body = form.body(request, ask, seed, question.schema_in_prompt, question.thoughts);
            let body = serde_json::to_string(&body).expect("all keys of a request body are strings");
            let in_flight = flight.request();
            let result = self
                .watched(
                    self.addresses[permit.address()].exchange(&self.endpoint, request, body, &permit),
                    &permit,
                    flight,
                )
                .await;
            drop(in_flight);
            let failure = match result {
                Ok((reply, usage)) => {
                    if keep_form {
                        self.form.fetch_or(form.byte(), Ordering::Relaxed);
                    }
                    self.end(permit, RequestEnd::Answered, usage.prompt + usage.completion, "", flight);
                    return Ok((reply, usage, Some(reservation)));
                }
                Err(failure) => failure,
            };
            drop(reservation);
            flight.session().usage_tracker.fault(&self.name, CountedFault::Request(failure.kind), false);
            let verdict = failure.verdict();
            if verdict == Verdict::Unusable {
                self.unusable.get_or_init(|| failure.fault.clone());
            }
            let end = match verdict {
                Verdict::Retry if failure.kind == FailureKind::TimedOut => RequestEnd::TimedOut,
                Verdict::Retry => RequestEnd::Failed(failure.retry_after),
                Verdict::RateLimited => RequestEnd::Refused(failure.retry_after),
                _ => RequestEnd::Answered,
            };
            // A probe of an address that has answered before does not count as a try.
            let is_free = permit.is_probe() && self.scheduler.has_answered();
            let reaction = self.end(permit, end, 0, &failure.fault.detail(), flight);
            let source = failure.fault;
            if reaction == Reaction::GiveUp {
                return Err(AskError::Unusable { model: model(), source });
            }
            let pause = match verdict {
                Verdict::Retry => {
                    failed += u32::from(!is_free);
                    tracing::debug!(model = self.name, ask, failed, fault = %source, "a request failed");
                    let is_long = is_long(failed, self.endpoint.options.max_tries, begun.elapsed());
                    if is_long && !self.scheduler.has_answered() {
                        // Every other call would wait as long in vain.
                        self.unusable.get_or_init(|| source.clone());
                        return Err(AskError::Unusable { model: model(), source });
                    }
                    if failed >= self.endpoint.options.max_tries {
                        let elapsed = begun.elapsed();
                        return Err(AskError::Transient { model: model(), tries: failed, elapsed, source });
                    }
                    // Another address may answer immediately.
                    let is_elsewhere = reaction == Reaction::Queue && self.addresses.len() > 1;
                    (!is_elsewhere).then(|| wait(self.endpoint.backoff, failed.max(1), failure.retry_after, seed))
                }
                Verdict::RateLimited => {
                    refused += 1;
                    tracing::debug!(model = self.name, ask, refused, fault = %source, "a request was rate limited");
                    if refused >= self.endpoint.options.max_tries.saturating_mul(REFUSALS_PER_TRY)
                        && reaction == Reaction::Nothing
                    {
                        let elapsed = begun.elapsed();
                        return Err(AskError::Transient { model: model(), tries: refused, elapsed, source });
                    }
                    // While an address is closed, the scheduler makes the whole queue wait.
                    (reaction == Reaction::Nothing)
                        .then(|| wait(self.endpoint.backoff, refused, failure.retry_after, seed))
                }
                Verdict::ChangeFormat => match form.after(request, &failure.error_text) {
                    Some(next) => {
                        tracing::debug!(model = self.name, ask, fault = %source, "retrying with another request format");
                        form = next;
                        keep_form &= !RequestFormat::is_about_one_schema(&failure.error_text);
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
        &self.addresses[0].display_url
    }

    /// Returns how a reply's JSON is requested, according to the errors of the server so far.
    pub(crate) fn schemas(&self) -> Schemas {
        RequestFormat::from_byte(self.form.load(Ordering::Relaxed)).schemas()
    }

    /// Returns the model list of the first address; `None` if it does not provide one.
    pub(crate) async fn listed(&self) -> Option<Value> {
        let address = &self.addresses[0];
        let mut url = address.url.clone();
        url.set_path(&url.path().replace("/chat/completions", "/models"));
        let response = address.http.get(url).send().await.ok().filter(|response| response.status().is_success())?;
        let bytes = address.bytes(&self.endpoint, response).await.ok()?;
        let text = self.endpoint.redact(&String::from_utf8_lossy(&bytes));
        serde_json::from_str(&text).ok()
    }

    /// Returns the configured limits, summed over all addresses.
    pub(crate) fn limits(&self) -> ConfiguredLimits {
        let limits = self.endpoint.limits();
        let addresses = u32::try_from(self.addresses.len()).unwrap_or(u32::MAX);
        let all = |limit: Option<u32>| limit.map(|limit| limit.saturating_mul(addresses));
        ConfiguredLimits {
            requests_per_minute: all(limits.requests_per_minute),
            tokens_per_minute: all(limits.tokens_per_minute),
            ..limits
        }
    }

    /// Returns the maximum tokens of a request and its reply, or 0 if nothing depends on them. Fails if they certainly
    /// exceed the context window; estimates are within a tenth.
    pub(crate) fn weigh(&self, request: &Request) -> Result<u32, AskError> {
        let window = self.endpoint.options.context_window;
        if window.is_none() && !self.scheduler.weighs() {
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
    fn end(&self, permit: Permit<'_>, end: RequestEnd, used: u64, fault: &str, flight: &SingleFlight<'_>) -> Reaction {
        let (reaction, event) = permit.end(end, used);
        // With a single try the error itself says it all.
        let is_all =
            |event: &AddressEvent| event.change == AddressChange::Unreached && self.endpoint.options.max_tries <= 1;
        if let Some(event) = event.filter(|event| !is_all(event)) {
            self.report(&event, fault, flight);
        }
        reaction
    }

    /// Waits for a request, and reports when its address has not responded for a long time.
    async fn watched<T>(&self, exchange: impl Future<Output = T>, permit: &Permit<'_>, flight: &SingleFlight<'_>) -> T {
        let mut exchange = pin!(exchange);
        loop {
            tokio::select! {
                biased;
                result = &mut exchange => return result,
                () = tokio::time::sleep(MIN_REPORTED_STALL) => {
                    if let Some(event) = permit.stall() {
                        self.report(&event, "", flight);
                    }
                }
            }
        }
    }

    /// Reports news about an address.
    fn report(&self, event: &AddressEvent, fault: &str, flight: &SingleFlight<'_>) {
        let address = format!("model `{}`: `{}`", self.name, self.addresses[event.address].display_url);
        let calls = match event.waiting {
            1 => "1 call waiting".to_owned(),
            waiting => format!("{waiting} calls waiting"),
        };
        let wait = |wait: Duration| format!("{calls}, next try in {:.0} s", wait.as_secs_f64());
        let seconds = |time: Duration| format!("{:.0} s", time.as_secs_f64());
        flight.session().report(match event.change {
            AddressChange::Saturated(pause) => format!("{address} is rate limited ({fault}); {}", wait(pause)),
            AddressChange::Down(pause) => format!("{address} is failing repeatedly ({fault}); {}", wait(pause)),
            AddressChange::Unreached => {
                format!(
                    "{address} is not responding ({fault}); each call makes up to {} tries, or two if they take ten minutes",
                    self.endpoint.options.max_tries
                )
            }
            AddressChange::Silent(stall) => format!(
                "{address} has not responded for {}; {calls}, with a timeout of {}",
                seconds(stall),
                seconds(self.endpoint.options.timeout())
            ),
            AddressChange::Back => format!("{address} is responding again"),
        });
    }
}
