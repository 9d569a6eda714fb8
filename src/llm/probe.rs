//! Asks an endpoint what it is able to do, before any work depends on it: one tiny call, and the list of its models.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{BoxFuture, join, join_all};
use serde_json::{Value, json};

use super::budget::Weight;
use super::client::{Client, Question};
use super::json::json_of;
use super::{Answered, AskError, Budget, Desk, Endpoint, Journal, JournalError, Record, Request, Sampling};
use crate::prompt::Prompts;
use crate::schema::Message;

/// What an address does with a JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schemas {
    /// It takes `json_schema` and keeps to it.
    Strict,
    /// It refuses `json_schema` and takes `json_object`; the schema stands in the prompt.
    Object,
    /// It refuses both; the schema stands in the prompt.
    Prompt,
    /// It took the schema, and its reply does not fit.
    Ignored,
    /// The length limit cut the reply before that could be seen.
    Cut,
}

/// What was found at an address.
#[derive(Debug)]
pub struct Probe {
    /// The address, as errors show it.
    pub address: String,
    /// How the call went: the time that it took and what became of the schema.
    pub call: Result<(Duration, Schemas), AskError>,
    /// The ids of the server's models, sorted; null when it does not list them.
    pub models: Option<Vec<String>>,
    /// How many tokens the model takes, where the list tells.
    pub context: Option<u64>,
}

/// So long a probe waits for a reply at most. A server may have to load its model first, but who asks waits for the answer.
const PATIENCE: Duration = Duration::from_mins(1);

/// Asks every address of a model, as a run would ask it but without further tries, and with less patience.
pub async fn probe(name: &str, endpoint: &Endpoint, sampling: &Sampling, extra_body: Value) -> Vec<Probe> {
    let addresses = endpoint
        .base_urls
        .iter()
        .map(|base_url| one(name, brief(endpoint, base_url), json!(sampling), extra_body.clone()));
    join_all(addresses).await
}

fn brief(endpoint: &Endpoint, base_url: &str) -> Endpoint {
    let timeout = endpoint.timeout.min(PATIENCE);
    Endpoint { base_urls: vec![base_url.to_owned()], max_tries: 1, timeout, ..endpoint.clone() }
}

async fn one(name: &str, endpoint: Endpoint, sampling: Value, extra_body: Value) -> Probe {
    let model = endpoint.model.clone();
    let client = match Client::new(name.to_owned(), endpoint) {
        Ok(client) => client,
        Err(error) => return Probe { address: String::new(), call: Err(error), models: None, context: None },
    };
    let (call, listed) = join(call(&client, &model, sampling, extra_body), client.listed()).await;
    let (models, context) = listed.map_or((None, None), |list| read(&list, &model));
    Probe { address: client.address().to_owned(), call, models, context }
}

async fn call(
    client: &Client,
    model: &str,
    sampling: Value,
    extra_body: Value,
) -> Result<(Duration, Schemas), AskError> {
    let prompts = Prompts::new([], &BTreeMap::new()).expect("no template is wrong where there is none");
    let desk = Desk::new(0, prompts, Arc::new(Nowhere), Budget::default(), false);
    // Nobody would write this word of themselves.
    let seal = json!({"type": "string", "enum": ["marl-0417"]});
    let schema = json!({"type": "object", "properties": {"seal": seal}, "required": ["seal"],
        "additionalProperties": false});
    let messages = vec![Message::user("Fill in the form: one JSON object and nothing else.")];
    let request = Request { model: model.to_owned(), messages, sampling, schema, extra_body };
    let flight = desk.flight("probe").await;
    let weight = Weight::default();
    let (seed, thoughts) = (0, &[][..]);
    let question =
        Question { request: &request, ask: "probe", seed, has_begun: false, spelt_out: false, thoughts, weight };
    let exchange = client.complete(question, &flight).await;
    let (reply, ..) = exchange.outcome?;
    let fits = json_of(&reply.text).is_ok_and(|value| value == json!({"seal": "marl-0417"}));
    let schemas = match reply.finish.as_deref() {
        _ if fits => client.schemas(),
        Some("length") => Schemas::Cut,
        _ => Schemas::Ignored,
    };
    Ok((exchange.latency, schemas))
}

/// Reads the ids out of a list of models, and the context of one of them, as far as the server tells.
fn read(list: &Value, model: &str) -> (Option<Vec<String>>, Option<u64>) {
    let Some(entries) = list["data"].as_array().or_else(|| list["models"].as_array()) else { return (None, None) };
    let id = |entry: &Value| entry["id"].as_str().or_else(|| entry["name"].as_str()).map(str::to_owned);
    let context = entries.iter().find(|entry| id(entry).as_deref() == Some(model)).and_then(|entry| {
        let keys = ["max_model_len", "context_length", "context_window", "max_context_length", "max_input_tokens"];
        let direct = keys.iter().find_map(|key| entry[*key].as_u64());
        direct.or_else(|| entry["meta"]["n_ctx"].as_u64()).or_else(|| entry["meta"]["n_ctx_train"].as_u64())
    });
    let mut ids: Vec<String> = entries.iter().filter_map(id).collect();
    ids.sort();
    (Some(ids), context)
}

/// A journal that keeps nothing: a probe is no part of a run.
struct Nowhere;

impl Journal for Nowhere {
    fn find(&self, _: &str) -> Result<Option<Answered>, JournalError> {
        Ok(None)
    }

    fn write(&self, _: Record) -> BoxFuture<'_, Result<(), JournalError>> {
        async { Ok(()) }.boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_says_nothing_is_not_waited_for_as_long_as_in_a_run() {
        let endpoint = Endpoint::new("http://a.test/v1", "m");
        let hasty = Endpoint { timeout: Duration::from_secs(5), ..endpoint.clone() };
        for (endpoint, timeout) in [(endpoint, PATIENCE), (hasty, Duration::from_secs(5))] {
            let brief = brief(&endpoint, "http://b.test/v1");
            assert_eq!((brief.timeout, brief.max_tries, &*brief.base_urls[0]), (timeout, 1, "http://b.test/v1"));
        }
    }

    #[test]
    fn lists_are_read_as_servers_write_them() {
        for (list, expected) in [
            (json!({"data": [{"id": "b", "max_model_len": 8192}, {"id": "a"}]}), (Some(2), Some(8192))),
            (json!({"data": [{"id": "b", "context_length": 4096}]}), (Some(1), Some(4096))),
            (json!({"data": [{"id": "b", "meta": {"n_ctx_train": 512}}]}), (Some(1), Some(512))),
            (json!({"models": [{"name": "b"}]}), (Some(1), None)),
            (json!({"data": [{"id": "a", "max_model_len": 1}]}), (Some(1), None)),
            (json!({"error": "no"}), (None, None)),
        ] {
            let (models, context) = read(&list, "b");
            assert_eq!((models.map(|models| models.len()), context), expected, "{list}");
        }
    }
}
