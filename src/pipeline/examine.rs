//! What a pipeline file leads to, looked at before any run: its books read, its models named and, when wanted, asked.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

use super::shelf::Shelf;
use super::{Loaded, ModelEntry, RunError};
use crate::llm::{self, AskError, HttpFault, Schemas};
use crate::prompt::Prompts;
use crate::stages;

/// What a pipeline file leads to.
#[derive(Debug, Serialize)]
pub struct Examined {
    /// Its books, in order.
    pub books: Vec<ExaminedBook>,
    /// The models of the cast, by name.
    pub models: Vec<ExaminedModel>,
    /// What the files that it names hold beside what a run uses.
    pub notes: Vec<String>,
}

/// A book of a pipeline file.
#[derive(Debug, Serialize)]
pub struct ExaminedBook {
    /// Its file.
    pub path: PathBuf,
    /// Its title; null when it cannot be read.
    pub title: Option<String>,
    /// Its chunks.
    pub chunks: u64,
    /// Why it cannot be read.
    pub fault: Option<String>,
}

/// A model of the cast.
#[derive(Debug, Serialize)]
pub struct ExaminedModel {
    /// Its name in the pipeline file.
    pub name: String,
    /// Its id, as rows name it.
    pub id: String,
    /// Whether a server plays it.
    pub served: bool,
    /// Whether the file has its price; what is offline costs nothing.
    pub priced: bool,
    /// How many tokens it takes, as the file says.
    pub context_window: Option<u32>,
    /// What was found at its addresses; empty when nobody asked.
    pub addresses: Vec<ProbedAddress>,
}

/// What was found at an address of a model.
#[derive(Debug, Default, Serialize)]
pub struct ProbedAddress {
    /// The address, without user, password and query.
    pub address: String,
    /// Whether anybody answers.
    pub reachable: bool,
    /// Whether the key is taken; null when that cannot be told.
    pub key: Option<bool>,
    /// Whether the server knows the model; null when that cannot be told.
    pub model_known: Option<bool>,
    /// What it does with a JSON Schema: `json_schema`, `json_object`, `prompt` or `ignored`; null when that cannot be told.
    pub schema: Option<&'static str>,
    /// How many tokens the model takes, where the server tells.
    pub context: Option<u64>,
    /// How long the call took, in milliseconds.
    pub latency_ms: Option<u64>,
    /// What keeps a run from being well, each with what to do about it.
    pub findings: Vec<String>,
    /// What is worth knowing and no hindrance.
    pub notes: Vec<String>,
}

/// Reads the books and prompts of a pipeline file. Opens no connection and writes nothing.
pub fn examine(loaded: &Loaded) -> Result<Examined, RunError> {
    Prompts::new(stages::prompts(), &loaded.prompts)?;
    let shelf = Shelf::new(loaded.book_paths.clone(), loaded.file.chunk.clone(), None);
    let mut books = Vec::new();
    for file in 0..shelf.files() {
        books.extend(shelf.list(file).into_iter().map(|listed| {
            let path = shelf.path(file).to_owned();
            match listed {
                Ok((listed, _)) => {
                    ExaminedBook { path, title: Some(listed.book.title), chunks: listed.chunks, fault: None }
                }
                Err(error) => ExaminedBook { path, title: None, chunks: 0, fault: Some(super::run::chain(&error)) },
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

/// Asks every address of every served model of the cast, all at once: one tiny call and the list of models at each.
pub async fn probe(loaded: &Loaded, examined: &mut Examined) {
    let probed = examined.models.iter_mut().filter(|model| model.served).map(|model| async move {
        let ModelEntry::OpenAi(served) = &loaded.file.models[&model.name] else { return };
        let endpoint = &loaded.endpoints[&model.name];
        let extra_body = Value::Object(served.extra_body.clone());
        let probes = llm::probe(&model.name, endpoint, &served.sampling(), extra_body).await;
        model.addresses =
            probes.into_iter().map(|probe| judged(probe, &model.name, model.context_window, &model.id)).collect();
        if !model.priced
            && let Some(first) = model.addresses.first_mut()
        {
            let note = format!("its price is unknown, so that no cost can be told: give `models.{}.price`", model.name);
            first.notes.push(note);
        }
    });
    futures::future::join_all(probed).await;
}

/// Says what was found, and what to do about it.
fn judged(probe: llm::Probe, name: &str, window: Option<u32>, id: &str) -> ProbedAddress {
    let mut address = ProbedAddress { address: probe.address, context: probe.context, ..ProbedAddress::default() };
    let key = |part: &str| format!("`models.{name}.{part}`");
    let listed = probe.models.as_ref().map(|models| models.iter().any(|model| model == id));
    match &probe.call {
        Ok((latency, schemas)) => {
            (address.reachable, address.key, address.model_known) = (true, Some(true), Some(true));
            address.latency_ms = u64::try_from(latency.as_millis()).ok();
            if listed == Some(false) {
                address.notes.push(format!("the server answers for `{id}` and does not list it"));
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
                _ if !address.reachable => format!("start the server, or look at {}", key("base_url")),
                Some(401 | 403) => format!("put a valid key into the variable that {} names", key("api_key_env")),
                Some(402) => "fill up the account".to_owned(),
                Some(429) => "wait, or fill up the account when its quota is used up".to_owned(),
                Some(404 | 405) if listed == Some(true) => {
                    format!("{} must end before `/chat/completions`", key("base_url"))
                }
                Some(404 | 405) => format!("look at {} and {}", key("model"), key("base_url")),
                Some(400 | 422) => format!("look at {} and the sampling parameters", key("extra_body")),
                Some(500..) => "look into the server's own log, and try again".to_owned(),
                _ => format!("look at {}", key("base_url")),
            };
            address.findings.push(format!("{}; {remedy}", super::run::chain(error)));
        }
    }
    if address.model_known == Some(false)
        && let Some(models) = &probe.models
    {
        let shown: Vec<String> = models.iter().take(8).map(|model| format!("`{model}`")).collect();
        let more = if models.len() > shown.len() { " …" } else { "" };
        let nearest = super::problems::nearest(id, models.iter().map(String::as_str));
        let mean = nearest.map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default();
        address.findings.push(format!("`{id}` is not among the server's models: {}{more}{mean}", shown.join(", ")));
    }
    match (window, probe.context) {
        (Some(window), Some(context)) if u64::from(window) > context => address.findings.push(format!(
            "{} is {window}, and the server takes {context} tokens; set it to {context}",
            key("context_window")
        )),
        (None, Some(context)) => {
            address.notes.push(format!(
                "the server takes {context} tokens; {} = {context} keeps what is longer from being sent",
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
            let finding = "the reply was cut before its JSON was whole; thoughts count as well";
            address.findings.push(format!("{finding}: raise {max_tokens}"));
            return;
        }
    });
    match schemas {
        Schemas::Ignored => address.findings.push(
            "the reply did not keep to the schema; every reply is checked, and many will be asked for again: \
             look for the server's structured output, or take another model"
                .to_owned(),
        ),
        Schemas::Object | Schemas::Prompt => address
            .notes
            .push("the server takes no strict schema; it is put into the prompt, and replies are checked".to_owned()),
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
