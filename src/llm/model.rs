//! A model under its name in the pipeline file: asks go in, checked answers come out.

use std::sync::Arc;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::client::Client;
use super::desk::Flight;
use super::json::json_of;
use super::language::language_of;
use super::ledger::Outcome;
use super::offline::ENGINE_VERSION;
use super::record::hash;
use super::{
    Ask, AskError, Desk, Endpoint, Offline, OfflineOptions, Price, Record, Reply, Request, Shape, Usage,
    estimate_tokens,
};
use crate::schema::{Language, Message};
use crate::seed::{number, seeded};

/// Sampling parameters; those that are silent are not sent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sampling {
    /// Temperature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Nucleus sampling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// The most tokens of a reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
}

/// A model that plays one or more parts of the cast.
#[derive(Debug)]
pub struct Model {
    name: String,
    id: String,
    engine: Engine,
    desk: Arc<Desk>,
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
    max_reasks: u32,
}

impl Model {
    /// Makes a model that the offline engine plays. Its id is `offline:<variant>`.
    pub fn offline(name: impl Into<String>, options: OfflineOptions, desk: Arc<Desk>) -> Self {
        let id = format!("offline:{}", options.variant);
        let most = options.concurrency.map_or(Semaphore::MAX_PERMITS, |concurrency| concurrency.max(1) as usize);
        Self { name: name.into(), id, engine: Engine::Offline(options, Semaphore::new(most)), desk }
    }

    /// Makes a model that a server plays. A reply that breaks its schema is asked again up to `max_reasks` times.
    pub fn served(
        name: impl Into<String>,
        endpoint: Endpoint,
        sampling: &Sampling,
        extra_body: Value,
        price: Option<Price>,
        max_reasks: u32,
        desk: Arc<Desk>,
    ) -> Result<Self, AskError> {
        let (name, id) = (name.into(), endpoint.model.clone());
        let sampling = json!(sampling);
        let client = Client::new(name.clone(), endpoint)?;
        let served = Served { client, sampling, extra_body, price, max_reasks };
        Ok(Self { name, id, engine: Engine::Served(Box::new(served)), desk })
    }

    /// Returns its name in the pipeline file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns its id, as rows name it.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns what it shares with the other models of the run.
    #[must_use]
    pub fn desk(&self) -> &Desk {
        &self.desk
    }

    /// Asks, and returns an answer that fits its schema and passes the ask's own check.
    ///
    /// The journal is asked first; a new answer is in the journal before it is returned. `draw` says which draw of the ask
    /// this is (CONTRACTS, Words): the same ask with another draw is another call.
    pub async fn ask<A: Ask>(&self, ask: &A, draw: &str) -> Result<A::Answer, AskError> {
        let result = self.call(ask, draw).await;
        let outcome = match &result {
            Ok((_, true)) => Outcome::Journal,
            Ok((_, false)) => Outcome::Made,
            Err(_) => Outcome::Failed,
        };
        // A call that was never begun is no failed call.
        if !matches!(result, Err(AskError::Interrupted | AskError::Budget(_) | AskError::Missing { .. })) {
            self.desk.ledger.close(&self.name, A::NAME, outcome);
        }
        result.map(|(answer, _)| answer)
    }

    /// Returns the answer and whether every record behind it was in the journal.
    async fn call<A: Ask>(&self, ask: &A, draw: &str) -> Result<(A::Answer, bool), AskError> {
        let prompt = |source| AskError::Prompt { ask: A::NAME, source };
        let shape = ask.shape();
        let (sampling, extra_body, max_reasks) = match &self.engine {
            Engine::Offline(options, _) => (json!([ENGINE_VERSION, options]), Value::Null, 0),
            Engine::Served(served) => (served.sampling.clone(), served.extra_body.clone(), served.max_reasks),
        };
        let mut request = Request {
            model: self.id.clone(),
            messages: ask.messages(&self.desk.prompts).map_err(prompt)?,
            sampling,
            schema: match &shape {
                Shape::Json(schema) => schema.clone(),
                Shape::Text => Value::Null,
            },
            extra_body,
        };
        let parent = request.key(A::NAME, draw);
        let flight = self.desk.flight(&parent).await;
        let mut only_journal = true;
        let mut tries = 0;
        loop {
            let key = if tries == 0 { parent.clone() } else { hash(&json!([parent, tries])) };
            let record = match self.desk.journal.find(&key)? {
                Some(record) => record,
                None if self.desk.replay => {
                    let (draw, model) = (draw.to_owned(), self.name.clone());
                    return Err(AskError::Missing { ask: A::NAME, draw, model, key });
                }
                None => {
                    only_journal = false;
                    let record = self.answer(ask, &request, draw, tries, key, &flight).await?;
                    self.desk.journal.write(record.clone()).await?;
                    record
                }
            };
            tries += 1;
            self.desk.ledger.spend(&self.name, A::NAME, self.price(), record.requests, &record.usage);
            match read(ask, &shape, &record.reply, &self.desk) {
                Ok(answer) => return Ok((answer, only_journal)),
                Err(Fault::Refused(reason)) => {
                    return Err(AskError::Refused { model: self.name.clone(), reason });
                }
                Err(Fault::Bad(fault)) if tries > max_reasks => {
                    return Err(AskError::BadReply { model: self.name.clone(), ask: A::NAME, tries, fault });
                }
                Err(Fault::Bad(fault)) => {
                    // Nothing can be said about an empty reply; another seed may do.
                    if !record.reply.text.trim().is_empty() {
                        let language = language_of(&request.messages);
                        request.messages.push(Message::assistant(record.reply.text));
                        request.messages.push(Message::user(again(&fault, &shape, language)));
                    }
                }
            }
        }
    }

    async fn answer<A: Ask>(
        &self,
        ask: &A,
        request: &Request,
        draw: &str,
        tries: u32,
        key: String,
        flight: &Flight<'_>,
    ) -> Result<Record, AskError> {
        let (reply, usage, requests, latency) = match &self.engine {
            Engine::Offline(options, places) => {
                let _place = places.acquire().await.expect("the places are never closed");
                flight.may_begin()?;
                let begun = Instant::now();
                let rng = seeded(self.desk.seed, &["offline", &self.id, A::NAME, draw]);
                let answer = json!(ask.offline(&mut Offline { options, rng }));
                let text = if let Value::String(text) = answer { text } else { answer.to_string() };
                let prompt: u32 = request.messages.iter().map(|message| estimate_tokens(&message.content)).sum();
                let completion = estimate_tokens(&text);
                let usage = Usage { prompt: prompt.into(), cached: 0, completion: completion.into(), estimated: true };
                (Reply { text, ..Reply::default() }, usage, 0, begun.elapsed())
            }
            Engine::Served(served) => {
                let seed = if tries == 0 { draw.to_owned() } else { format!("{draw}#{tries}") };
                let seed = number(self.desk.seed, &seed);
                let exchange = served.client.complete(request, A::NAME, seed, flight).await;
                match exchange.outcome {
                    Ok((reply, usage)) => (reply, usage, exchange.requests, exchange.latency),
                    Err(error) => {
                        let (price, usage) = (Some(&Price::FREE), Usage::default());
                        self.desk.ledger.spend(&self.name, A::NAME, price, exchange.requests, &usage);
                        return Err(error);
                    }
                }
            }
        };
        let (ask, model, draw) = (A::NAME.to_owned(), self.name.clone(), draw.to_owned());
        let parent = (tries > 0).then(|| flight.key().to_owned());
        let (request, latency_ms) = (request.clone(), milliseconds(latency));
        Ok(Record { key, parent, ask, model, draw, request, reply, usage, requests, latency_ms })
    }

    const fn price(&self) -> Option<&Price> {
        match &self.engine {
            Engine::Offline(..) => Some(&Price::FREE),
            Engine::Served(served) => served.price.as_ref(),
        }
    }
}

/// What is wrong with a reply.
enum Fault {
    /// The model refused, or a filter cut it off.
    Refused(String),
    /// It breaks its schema; asking again may help.
    Bad(String),
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Reads a reply as the answer of its ask.
fn read<A: Ask>(ask: &A, shape: &Shape, reply: &Reply, desk: &Desk) -> Result<A::Answer, Fault> {
    match reply.finish.as_deref() {
        Some("refusal") => return Err(Fault::Refused(reply.text.clone())),
        Some("content_filter") if reply.text.trim().is_empty() => {
            return Err(Fault::Refused("the provider's content filter left nothing of the reply".to_owned()));
        }
        Some("content_filter") => {
            return Err(Fault::Refused(format!("the provider's content filter: {}", short(&reply.text))));
        }
        _ => {}
    }
    let is_cut = reply.finish.as_deref() == Some("length");
    if reply.text.trim().is_empty() {
        let fault = if is_cut { "the length limit was reached before the reply began" } else { "the reply is empty" };
        return Err(Fault::Bad(fault.to_owned()));
    }
    let cut = || Fault::Bad("the reply was cut at the length limit; be shorter".to_owned());
    let value = match shape {
        Shape::Text if is_cut => return Err(cut()),
        Shape::Text => Value::String(reply.text.trim().to_owned()),
        // The limit may fall right after the last bracket.
        Shape::Json(schema) => {
            let value = json_of(&reply.text).map_err(|fault| if is_cut { cut() } else { Fault::Bad(fault) })?;
            validate(schema, &value, desk).map_err(|fault| if is_cut { cut() } else { Fault::Bad(fault) })?;
            value
        }
    };
    let answer = serde_json::from_value(value).map_err(|error| Fault::Bad(error.to_string()))?;
    ask.check(&answer).map_err(Fault::Bad)?;
    Ok(answer)
}

/// Checks a value; the error names up to five faults and where they are, without repeating the value.
fn validate(schema: &Value, value: &Value, desk: &Desk) -> Result<(), String> {
    let validator = desk.validator(schema)?;
    let faults: Vec<String> = validator
        .iter_errors(value)
        .take(5)
        .map(|error| {
            let place = error.instance_path().to_string();
            let fault = error.masked_with("the value").to_string();
            if place.is_empty() { fault } else { format!("at `{place}`, {fault}") }
        })
        .collect();
    if faults.is_empty() { Ok(()) } else { Err(short(&faults.join("; "))) }
}

/// Returns the beginning of a text, as much as an error can bear.
fn short(text: &str) -> String {
    text.char_indices().nth(600).map_or_else(|| text.to_owned(), |(end, _)| format!("{}…", &text[..end]))
}

/// What a model is told when its reply cannot be used.
fn again(fault: &str, shape: &Shape, language: Language) -> String {
    match (language, shape) {
        (Language::En, Shape::Json(_)) => format!(
            "That reply cannot be used: {fault}. Answer again with one JSON object that fits the schema, and nothing else."
        ),
        (Language::En, Shape::Text) => format!("That reply cannot be used: {fault}. Answer again."),
        (Language::Zh, Shape::Json(_)) => {
            format!("上面的回复无法使用：{fault}。请重新作答，只输出一个符合模式的 JSON 对象，不要输出任何其他内容。")
        }
        (Language::Zh, Shape::Text) => format!("上面的回复无法使用：{fault}。请重新作答。"),
    }
}
