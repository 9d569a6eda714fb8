//! Inspects a pipeline file before a run: reads its books, lists its models and, on request, probes their endpoints.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

use super::book_source::BookSource;
use super::error::RunError;
use crate::config::{Loaded, ModelEntry};
use crate::llm::{self, AskError, HttpFault, Schemas};
use crate::prompt::Prompts;
use crate::stages;

/// The result of inspecting a pipeline file.
#[derive(Debug, Serialize)]
pub struct Examined {
    /// Its books, in order.
    pub books: Vec<ExaminedBook>,
    /// The models of the cast, by name.
    pub models: Vec<ExaminedModel>,
    /// Messages about contents of the named files that a run does not use.
    pub notes: Vec<String>,
}

/// A book of a pipeline file.
#[derive(Debug, Serialize)]
pub struct ExaminedBook {
    /// The book's file.
    pub path: PathBuf,
    /// The title; null if the book cannot be read.
    pub title: Option<String>,
    /// Number of chunks.
    pub chunks: u64,
    /// Why the book cannot be read.
    pub fault: Option<String>,
}

/// A model of the cast.
#[derive(Debug, Serialize)]
pub struct ExaminedModel {
    /// The name in the pipeline file.
    pub name: String,
    /// The id, as it appears in rows.
    pub id: String,
    /// Whether the model is on a server.
    pub served: bool,
    /// Whether the file has its price; offline models are free.
    pub priced: bool,
    /// The context window in tokens, as configured.
    pub context_window: Option<u32>,
    /// Probe results of its endpoints; empty if not probed.
    pub addresses: Vec<ProbedAddress>,
}

/// The probe result of an endpoint.
#[derive(Debug, Default, Serialize)]
pub struct ProbedAddress {
    /// The URL, without user, password and query.
    pub address: String,
    /// Whether the server responds.
    pub reachable: bool,
    /// Whether the key is accepted; null if unknown.
    pub key: Option<bool>,
    /// Whether the server knows the model; null if unknown.
    pub model_known: Option<bool>,
    /// How the server handles a JSON Schema: `json_schema`, `json_object`, `prompt` or `ignored`; null if unknown.
    pub schema: Option<&'static str>,
    /// The context window in tokens, as reported by the server.
    pub context: Option<u64>,
    /// Duration of the call in milliseconds.
    pub latency_ms: Option<u64>,
    /// Problems for a run, each with a remedy.
    pub findings: Vec<String>,
    /// Notes that are not problems.
    pub notes: Vec<String>,
}

/// Reads the books and prompts of a pipeline file. Opens no connections and writes nothing.
pub fn examine(loaded: &Loaded) -> Result<Examined, RunError> {
    Prompts::new(stages::prompts(), &loaded.prompts)?;
    let book_source = BookSource::new(loaded.book_paths.clone(), loaded.file.chunk.clone(), None);
    let mut books = Vec::new();
    for file in 0..book_source.files() {
        books.extend(book_source.list(file).into_iter().map(|listed| {
            let path = book_source.path(file).to_owned();
            match listed {
                Ok((listed, _)) => {
                    ExaminedBook { path, title: Some(listed.book.title), chunks: listed.chunks, fault: None }
                }
                Err(error) => ExaminedBook { path, title: None, chunks: 0, fault: Some(crate::llm::chain(&error)) },
            }
        }));
    }
    let cast = loaded.cast();
    let models = loaded.file.models.iter().filter(|(name, _)| cast.contains(name.as_str()));
    let models = models.map(|(name, entry)| match entry {
        ModelEntry::Offline(options) => ExaminedModel {
            name: name.clone(),
            id: format!("offline:{}", options.variant),
            served: false,
            priced: true,
            context_window: None,
            addresses: Vec::new(),
        },
        ModelEntry::OpenAi(served) => ExaminedModel {
            name: name.clone(),
            id: served.model.clone().unwrap_or_default(),
            served: true,
            priced: served.price.is_some(),
            context_window: served.context_window,
            addresses: Vec::new(),
        },
    });
    Ok(Examined { books, models: models.collect(), notes: loaded.notes.clone() })
}

/// Probes every endpoint of every served model in the cast, concurrently: one tiny call and the list of models each.
pub async fn probe(loaded: &Loaded, examined: &mut Examined) {
    let probed = examined.models.iter_mut().filter(|model| model.served).map(|model| async move {
        let ModelEntry::OpenAi(served) = &loaded.file.models[&model.name] else { return };
        let endpoint = &loaded.endpoints[&model.name];
        let extra_body = Value::Object(served.extra_body.clone());
        let probes = llm::probe(&model.name, endpoint, &served.sampling(), extra_body).await;
        model.addresses =
            probes.into_iter().map(|probe| interpret(probe, &model.name, model.context_window, &model.id)).collect();
        if !model.priced
            && let Some(first) = model.addresses.first_mut()
        {
            let note = format!("the price is unknown, so costs cannot be estimated: set `models.{}.price`", model.name);
            first.notes.push(note);
        }
    });
    futures::future::join_all(probed).await;
}

/// Interprets the result of a probe, with remedies.
fn interpret(probe: llm::Probe, name: &str, window: Option<u32>, id: &str) -> ProbedAddress {
    let mut address = ProbedAddress { address: probe.address, context: probe.context, ..ProbedAddress::default() };
    let key = |part: &str| format!("`models.{name}.{part}`");
    let listed = probe.models.as_ref().map(|models| models.iter().any(|model| model == id));
    match &probe.call {
        Ok((latency, schemas)) => {
            (address.reachable, address.key, address.model_known) = (true, Some(true), Some(true));
            address.latency_ms = u64::try_from(latency.as_millis()).ok();
            if listed == Some(false) {
                address.notes.push(format!("the server answers as `{id}` but does not list it"));
            }
            schema(&mut address, *schemas, &key("max_tokens"));
        }
        Err(error) => {
            let fault = fault(error);
            address.reachable = fault.is_some_and(|fault| !matches!(fault, HttpFault::Broken { .. }));
            let status = fault.and_then(|fault| match fault {
                HttpFault::Status { status, .. } => Some(*status),
                _ => None,
            });
            address.key = match status {
                Some(401 | 403) => Some(false),
                Some(_) => Some(true),
                None => None,
            };
            address.model_known = listed.or((status == Some(404)).then_some(false));
            address.reachable |= listed.is_some();
            let remedy = match status {
                _ if !address.reachable => format!("start the server, or check {}", key("base_url")),
                Some(401 | 403) => format!("set the variable named by {} to a valid key", key("api_key_env")),
                Some(402) => "add credit to the account".to_owned(),
                Some(429) => "wait, or add credit to the account if its quota is used up".to_owned(),
                Some(404 | 405) if listed == Some(true) => {
                    format!("{} must end before `/chat/completions`", key("base_url"))
                }
                Some(404 | 405) => format!("check {} and {}", key("model"), key("base_url")),
                Some(400 | 422) => format!("check {} and the sampling parameters", key("extra_body")),
                Some(500..) => "check the server's log, and try again".to_owned(),
                _ => format!("check {}", key("base_url")),
            };
            address.findings.push(format!("{}; {remedy}", crate::llm::chain(error)));
        }
    }
    if address.model_known == Some(false)
        && let Some(models) = &probe.models
    {
        let listed: Vec<String> = models.iter().take(8).map(|model| format!("`{model}`")).collect();
        let more = if models.len() > listed.len() { " …" } else { "" };
        let nearest = crate::config::document::problems::nearest(id, models.iter().map(String::as_str));
        let mean = nearest.map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default();
        address.findings.push(format!("`{id}` is not among the server's models: {}{more}{mean}", listed.join(", ")));
    }
    match (window, probe.context) {
        (Some(window), Some(context)) if u64::from(window) > context => address.findings.push(format!(
            "{} is {window}, but the server's context window is {context} tokens; set it to {context}",
            key("context_window")
        )),
        (None, Some(context)) => {
            address.notes.push(format!(
                "the server's context window is {context} tokens; set {} = {context} to reject longer prompts before they are sent",
                key("context_window")
            ));
        }
        _ => {}
    }
    address
}

fn schema(address: &mut ProbedAddress, schemas: Schemas, max_tokens: &str) {
    address.schema = Some(match schemas {
        Schemas::Strict => "json_schema",
        Schemas::Object => "json_object",
        Schemas::Prompt => "prompt",
        Schemas::Ignored => "ignored",
        Schemas::Cut => {
            let finding = "the reply was truncated before its JSON was complete; reasoning tokens count too";
            address.findings.push(format!("{finding}: raise {max_tokens}"));
            return;
        }
    });
    match schemas {
        Schemas::Ignored => address.findings.push(
            "the reply did not match the schema; replies are validated, and many will be requested again: \
             enable structured output on the server, or use another model"
                .to_owned(),
        ),
        Schemas::Object | Schemas::Prompt => address.notes.push(
            "the server does not support strict schemas; the schema is put into the prompt, and replies are validated"
                .to_owned(),
        ),
        Schemas::Strict | Schemas::Cut => {}
    }
}

fn fault(error: &AskError) -> Option<&HttpFault> {
    match error {
        AskError::Transient { source, .. } | AskError::Permanent { source, .. } | AskError::Unusable { source, .. } => {
            Some(source)
        }
        _ => None,
    }
}
