//! A model of the pipeline file: takes asks, returns validated answers.

mod reply;
pub(super) mod sampling;

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::ask::Shape;
use super::error::{AskError, ReplyFault};
use super::language::language_of;
use super::offline::{ENGINE_VERSION, Offline, OfflineAnswer, OfflineOptions};
use super::openai::Endpoint;
use super::openai::client::{Client, PreparedCall};
use super::record::{Answered, Record, Reply, Request, hash};
use super::session::{BudgetReservation, Session, SingleFlight};
use super::tokens::estimate_tokens;
use super::usage::budget::Weight;
use super::usage::fault::CountedFault;
use super::usage::tracker::{Outcome, Spent};
use super::usage::{Price, Usage};
use crate::schema::{Draw, Message};
use crate::seed::{number, seeded};
use reply::{Fault, read, retry_message};

pub use sampling::Sampling;

/// A model that has one or more roles in the cast.
#[derive(Debug)]
pub struct Model {
    name: String,
    id: String,
    engine: Engine,
    session: Arc<Session>,
}

#[derive(Debug)]
enum Engine {
    Offline(OfflineOptions, Semaphore),
    Served(Box<Served>),
}

#[derive(Debug)]
struct Served {
    client: Client,
    sampling: Value,
    extra_body: Value,
    price: Option<Price>,
    max_schema_retries: u32,
}

impl Model {
    /// Creates a model answered by the offline engine. Its id is `offline:<variant>`.
    pub fn offline(name: impl Into<String>, options: OfflineOptions, session: Arc<Session>) -> Self {
        let id = format!("offline:{}", options.variant);
        let most = options.concurrency.map_or(Semaphore::MAX_PERMITS, |concurrency| concurrency.max(1) as usize);
        let name = name.into();
        session.register(&name, Some(&Price::FREE));
        Self { name, id, engine: Engine::Offline(options, Semaphore::new(most)), session }
    }

    /// Creates a model answered by a server. A reply that does not match its schema is requested again up to
    /// `max_schema_retries` times.
    pub fn served(
        name: impl Into<String>,
        endpoint: Endpoint,
        sampling: &Sampling,
        extra_body: Value,
        price: Option<Price>,
        max_schema_retries: u32,
        session: Arc<Session>,
    ) -> Result<Self, AskError> {
        let (name, id) = (name.into(), endpoint.model.clone());
        let sampling = json!(sampling);
        let client = Client::new(name.clone(), endpoint)?;
        session.register(&name, price.as_ref());
        let served = Served { client, sampling, extra_body, price, max_schema_retries };
        Ok(Self { name, id, engine: Engine::Served(Box::new(served)), session })
    }

    /// Returns the name in the pipeline file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the id used in rows.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether it is answered by a server.
    #[must_use]
    pub const fn is_served(&self) -> bool {
        matches!(self.engine, Engine::Served(_))
    }

    /// Returns the session shared with the other models of the run.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Returns an answer that matches its schema and passes the ask's own check.
    ///
    /// The journal is looked up first; a new answer is written to it before it is returned. `draw` identifies one draw
    /// of the ask: the same ask with another draw is another call.
    pub async fn ask<A: OfflineAnswer>(&self, ask: &A, draw: &Draw) -> Result<A::Answer, AskError> {
        let result = self.call(ask, draw).await;
        let outcome = match &result {
            Ok((_, true)) => Outcome::Journal,
            Ok((_, false)) => Outcome::Made,
            Err(_) => Outcome::Failed,
        };
        // A call that was not started did not fail.
        if !matches!(result, Err(AskError::Interrupted | AskError::Budget(_) | AskError::Missing { .. })) {
            self.session.usage_tracker.close(&self.name, A::NAME, outcome);
        }
        result.map(|(answer, _)| answer)
    }

    /// Returns the answer, and whether all records behind it were in the journal.
    async fn call<A: OfflineAnswer>(&self, ask: &A, draw: &Draw) -> Result<(A::Answer, bool), AskError> {
        let prompt = |source| AskError::Prompt { ask: A::NAME, source };
        let shape = ask.shape();
        let (sampling, extra_body, max_schema_retries) = match &self.engine {
            Engine::Offline(options, _) => (json!([ENGINE_VERSION, options]), Value::Null, 0),
            Engine::Served(served) => (served.sampling.clone(), served.extra_body.clone(), served.max_schema_retries),
        };
        let mut request = Request {
            model: self.id.clone(),
            messages: ask.messages(&self.session.prompts).map_err(prompt)?,
            sampling,
            schema: match &shape {
                Shape::Json(schema) => schema.clone(),
                Shape::Text => Value::Null,
            },
            extra_body,
        };
        let parent = request.key(A::NAME, &draw.to_string());
        let flight = self.session.flight(&parent).await;
        let mut only_journal = true;
        let (mut tries, mut reasks) = (0, 0);
        let (mut schema_in_prompt, mut has_more_room) = (false, false);
        let mut thoughts = Vec::new();
        loop {
            let key = if tries == 0 { parent.clone() } else { hash(&json!([parent, tries])) };
            let found = self.session.journal.find(&key)?;
            let is_new = found.is_none();
            let (answered, reservation) = match found {
                Some(answered) => (answered, None),
                None if self.session.replays(draw) => {
                    let (draw, model) = (draw.to_string(), self.name.clone());
                    return Err(AskError::Missing { ask: A::NAME, draw, model, key });
                }
                None => {
                    only_journal = false;
                    let try_ = Try { number: tries, key, schema_in_prompt, thoughts: &thoughts };
                    let (record, reservation) = self.answer(ask, &request, draw, try_, &flight).await?;
                    let answered = Answered::from(&record);
                    self.session.journal.write(record).await?;
                    (answered, reservation)
                }
            };
            tries += 1;
            let spent =
                Spent { requests: answered.requests, usage: answered.usage, is_retry: tries > 1, kept: !is_new };
            self.session.usage_tracker.spend(&self.name, A::NAME, self.price(), &spent);
            drop(reservation);
            self.session.usage_tracker.prompt(&self.name, A::NAME, &request.messages);
            let (kind, fault) = match read(ask, &shape, &answered.reply, &self.session) {
                Ok(answer) => return Ok((answer, only_journal)),
                Err(Fault::Refused(reason, by_filter)) => {
                    let error = AskError::Refused { model: self.name.clone(), reason, by_filter };
                    self.session.usage_tracker.fault(&self.name, CountedFault::Reply(error.reason()), !is_new);
                    return Err(error);
                }
                Err(Fault::Bad(kind, fault)) => (kind, fault),
            };
            self.session.usage_tracker.fault(&self.name, CountedFault::Reply(kind.reason()), !is_new);
            if kind == ReplyFault::Cut && !has_more_room && request.sampling.is_object() {
                // Asks again with twice the length limit, once; the limit includes reasoning.
                has_more_room = true;
                let before = request.sampling["max_tokens"].as_u64();
                let room = before.unwrap_or(answered.usage.completion.max(LEAST_ROOM)).saturating_mul(2);
                request.sampling["max_tokens"] = json!(room.min(u64::from(u32::MAX)));
                continue;
            }
            reasks += 1;
            if reasks > max_schema_retries {
                return Err(AskError::BadReply { model: self.name.clone(), ask: A::NAME, tries, fault, kind });
            }
            // There is nothing to say about an empty reply; another seed may help.
            if !answered.reply.text.trim().is_empty() {
                let language = language_of(&request.messages);
                request.messages.push(Message::assistant(answered.reply.text));
                thoughts.push(answered.reply.reasoning);
                request.messages.push(Message::user(retry_message(&fault, &shape, language)));
                schema_in_prompt |= kind == ReplyFault::Unfit;
            }
        }
    }

    /// Returns the record of an answer and its budget reservation, to be kept until the usage is counted.
    async fn answer<'a, A: OfflineAnswer>(
        &self,
        ask: &A,
        request: &Request,
        draw: &Draw,
        Try { number: tries, key, schema_in_prompt, thoughts }: Try<'_>,
        flight: &SingleFlight<'a>,
    ) -> Result<(Record, Option<BudgetReservation<'a>>), AskError> {
        let (reply, usage, requests, latency, reservation) = match &self.engine {
            Engine::Offline(options, slots) => {
                let _slot = slots.acquire().await.expect("the semaphore is never closed");
                let reservation = flight.begin(Weight::default()).await?;
                let _in_flight = flight.request();
                let begun = Instant::now();
                let (reply, usage) = self.offline_answer(ask, request, draw, options);
                (reply, usage, 0, begun.elapsed(), Some(reservation))
            }
            Engine::Served(served) if let Some(dry_run) = self.session.dry_run() => {
                let reservation = flight.begin(Weight::default()).await?;
                served.client.weigh(request).inspect_err(|error| {
                    self.session.usage_tracker.fault(&self.name, CountedFault::Reply(error.reason()), false);
                })?;
                let (reply, usage) = self.offline_answer(ask, request, draw, &OfflineOptions::default());
                let expected = dry_run.expected(&self.name, A::NAME);
                let usage = expected.usage(usage);
                dry_run.pass(&self.name, served.client.limits(), &usage, expected.latency).await;
                (reply, usage, 1, expected.latency, Some(reservation))
            }
            Engine::Served(served) => {
                let seed = if tries == 0 { draw.to_string() } else { format!("{draw}#{tries}") };
                let seed = number(self.session.seed, &seed);
                let has_begun = tries > 0 || draw.is_later_turn();
                let weight = self.weigh(request);
                let question =
                    PreparedCall { request, ask: A::NAME, seed, has_begun, schema_in_prompt, thoughts, weight };
                let exchange = served.client.complete(question, flight).await;
                match exchange.outcome {
                    Ok((reply, usage, reservation)) => (reply, usage, exchange.requests, exchange.latency, reservation),
                    Err(error) => {
                        if let AskError::TooLong { .. } = &error {
                            self.session.usage_tracker.fault(&self.name, CountedFault::Reply(error.reason()), false);
                        }
                        let (requests, usage) = (exchange.requests, Usage::default());
                        let spent = Spent { requests, usage, is_retry: tries > 0, kept: false };
                        self.session.usage_tracker.spend(&self.name, A::NAME, self.price(), &spent);
                        return Err(error);
                    }
                }
            }
        };
        let (ask, model, draw) = (A::NAME.to_owned(), self.name.clone(), draw.to_string());
        let parent = (tries > 0).then(|| flight.key().to_owned());
        let (request, latency_ms) = (request.clone(), milliseconds(latency));
        let record = Record { key, parent, ask, model, draw, request, reply, usage, requests, latency_ms };
        Ok((record, reservation))
    }

    /// Answers in this process and estimates the tokens.
    fn offline_answer<A: OfflineAnswer>(
        &self,
        ask: &A,
        request: &Request,
        draw: &Draw,
        options: &OfflineOptions,
    ) -> (Reply, Usage) {
        let rng = seeded(self.session.seed, &["offline", &self.id, A::NAME, &draw.to_string()]);
        let answer = json!(ask.answer_offline(&mut Offline { options, rng }));
        let text = if let Value::String(text) = answer { text } else { answer.to_string() };
        let (prompt, completion) = (prompt_tokens(request), estimate_tokens(&text).into());
        let usage = Usage { prompt, completion, estimated: true, ..Usage::default() };
        (Reply { text, ..Reply::default() }, usage)
    }

    /// Returns the maximum usage of a request if the budget limits usage. Without a length limit the reply length is a
    /// guess.
    fn weigh(&self, request: &Request) -> Weight {
        if !self.session.bounds_requests() {
            return Weight::default();
        }
        let completion = request.sampling["max_tokens"].as_u64().unwrap_or(LONG_REPLY);
        Weight::of(&Usage { prompt: prompt_tokens(request), completion, ..Usage::default() }, self.price())
    }

    const fn price(&self) -> Option<&Price> {
        match &self.engine {
            Engine::Offline(..) => Some(&Price::FREE),
            Engine::Served(served) => served.price.as_ref(),
        }
    }
}

/// If a server's own limit cut a reply, the next limit is at least twice this number of tokens.
const LEAST_ROOM: u64 = 256;

/// Assumed maximum length of a reply without a length limit, in tokens.
const LONG_REPLY: u64 = 1000;

/// Estimates the prompt tokens of a request.
fn prompt_tokens(request: &Request) -> u64 {
    request.messages.iter().map(|message| u64::from(estimate_tokens(&message.content))).sum()
}

/// One try of a call.
struct Try<'a> {
    /// Number of the try, from 0.
    number: u32,
    /// Journal key of its record.
    key: String,
    /// Whether an earlier reply did not match the schema, so that the prompt has to include it.
    schema_in_prompt: bool,
    /// Reasoning behind the replies that are requested again.
    thoughts: &'a [Option<String>],
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
