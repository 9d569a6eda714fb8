//! Probes an endpoint before a run: one small call, and the list of models.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{BoxFuture, join, join_all};
use serde_json::{Value, json};

use super::client::{Client, PreparedCall};
use super::endpoint::Endpoint;
use super::lenient_json::json_of;
use super::schema_support::Schemas;
use super::served_options::ServedOptions;
use crate::llm::error::AskError;
use crate::llm::model::sampling::Sampling;
use crate::llm::record::{Answered, Journal, JournalError, Record, Request};
use crate::llm::session::Session;
use crate::llm::usage::budget::{Budget, Weight};
use crate::prompt::Prompts;
use crate::schema::Message;

/// Result of probing an address.
#[derive(Debug)]
pub struct Probe {
    /// The address, as shown in errors.
    pub address: String,
    /// Latency of the call and support for schemas, or the error.
    pub call: Result<(Duration, Schemas), AskError>,
    /// Ids of the server's models, sorted; `None` if it does not list them.
    pub models: Option<Vec<String>>,
    /// Context length in tokens, if the model list states it.
    pub context: Option<u64>,
}

/// Maximum timeout of a probe. The server may have to load the model first, but the user is waiting.
const PATIENCE_S: u32 = 60;

/// Probes every address of a model with a request as in a run, but without retries and with a shorter timeout.
pub async fn probe(name: &str, endpoint: &Endpoint, sampling: &Sampling, extra_body: Value) -> Vec<Probe> {
    let addresses = endpoint
        .base_urls
        .iter()
        .map(|base_url| one(name, brief(endpoint, base_url), json!(sampling), extra_body.clone()));
    join_all(addresses).await
}

fn brief(endpoint: &Endpoint, base_url: &str) -> Endpoint {
    let timeout_s = endpoint.options.timeout_s.min(PATIENCE_S);
    let options = ServedOptions { max_tries: 1, timeout_s, ..endpoint.options.clone() };
    Endpoint { base_urls: vec![base_url.to_owned()], options, ..endpoint.clone() }
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
    let prompts = Prompts::new([], &BTreeMap::new()).expect("there are no templates to parse");
    let session = Session::new(0, prompts, Arc::new(Nowhere), Budget::default(), false);
    // A value that no model would produce by itself.
    let seal = json!({"type": "string", "enum": ["marl-0417"]});
    let schema = json!({"type": "object", "properties": {"seal": seal}, "required": ["seal"],
        "additionalProperties": false});
    let messages = vec![Message::user("Fill in the form: one JSON object and nothing else.")];
    let request = Request { model: model.to_owned(), messages, sampling, schema, extra_body };
    let flight = session.flight("probe").await;
    let weight = Weight::default();
    let (seed, thoughts) = (0, &[][..]);
    let question = PreparedCall {
        request: &request,
        ask: "probe",
        seed,
        has_begun: false,
        schema_in_prompt: false,
        thoughts,
        weight,
    };
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

/// Parses the ids of a model list, and the context length of one model, if stated.
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

/// A journal that stores nothing, because a probe is not part of a run.
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
    fn a_probe_has_a_shorter_timeout_than_a_run() {
        let endpoint = Endpoint::new("http://a.test/v1", "m");
        let options = ServedOptions { timeout_s: 5, ..ServedOptions::default() };
        let hasty = Endpoint { options, ..endpoint.clone() };
        for (endpoint, timeout_s) in [(endpoint, PATIENCE_S), (hasty, 5)] {
            let brief = brief(&endpoint, "http://b.test/v1");
            assert_eq!(
                (brief.options.timeout_s, brief.options.max_tries, &*brief.base_urls[0]),
                (timeout_s, 1, "http://b.test/v1")
            );
        }
    }

    #[test]
    fn model_lists_of_different_servers_are_parsed() {
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
