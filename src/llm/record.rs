//! Requests and replies as stored in the journal.

use std::collections::BTreeMap;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::usage::Usage;
use crate::schema::Message;

/// A request in canonical form, before it is adapted to a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Id of the model, such as `Qwen/Qwen3-32B` or `offline:plain`.
    pub model: String,
    /// The messages.
    pub messages: Vec<Message>,
    /// Sampling parameters that are set; for the offline engine the options of the variant and the engine's version.
    pub sampling: Value,
    /// JSON Schema of the reply; null for plain text.
    pub schema: Value,
    /// Additional keys of the body from the pipeline file.
    pub extra_body: Value,
}

impl Request {
    /// Returns the journal key: a hash of the ask, the request and the draw, in 32 hexadecimal digits.
    #[must_use]
    pub fn key(&self, ask: &str, draw: &str) -> String {
        hash(&(ask, self, draw))
    }
}

/// Returns 128 bits of blake3 over a value's JSON, in hexadecimal.
pub(super) fn hash(value: &impl Serialize) -> String {
    // A single call: feeding the hasher in small parts is several times slower.
    let json = serde_json::to_vec(value).expect("all keys of a request are strings");
    blake3::hash(&json).to_hex()[..32].to_owned()
}

/// A reply of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// Content, without reasoning.
    pub text: String,
    /// Reasoning returned next to or inside the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Finish reason reported by the server: `stop`, `length` …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<String>,
    /// Model name reported by the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served_model: Option<String>,
}

/// An answered request in the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Key of the record.
    pub key: String,
    /// Key of the first try, if this is a schema retry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Name of the ask.
    pub ask: String,
    /// Name of the model in the pipeline file.
    pub model: String,
    /// Draw of the ask.
    pub draw: String,
    /// The request.
    pub request: Request,
    /// The reply.
    pub reply: Reply,
    /// Token counts.
    pub usage: Usage,
    /// Number of HTTP requests, including failed ones; 0 offline.
    pub requests: u32,
    /// Time from the first request to the reply, in milliseconds.
    pub latency_ms: u64,
}

/// A record without its request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Answered {
    /// The reply.
    pub reply: Reply,
    /// Token counts.
    pub usage: Usage,
    /// Number of HTTP requests, including failed ones; 0 offline.
    pub requests: u32,
}

impl From<&Record> for Answered {
    fn from(record: &Record) -> Self {
        Self { reply: record.reply.clone(), usage: record.usage, requests: record.requests }
    }
}

/// Error of a journal. Always ends the run: an answer that cannot be stored must not be used.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct JournalError {
    /// The failed operation, with the path.
    pub message: String,
    /// Cause.
    #[source]
    pub source: std::io::Error,
}

/// Storage of answered requests. `store` implements it on disk.
pub trait Journal: Send + Sync {
    /// Returns the answer for a key. The caller already has the request.
    fn find(&self, key: &str) -> Result<Option<Answered>, JournalError>;

    /// Writes a record; once the future completes, the record survives a crash.
    fn write(&self, record: Record) -> BoxFuture<'_, Result<(), JournalError>>;

    /// Returns the usage of all records at the time of opening, by model name: what has been paid for, whether or not a
    /// run asks for it again. Empty for a journal that always starts empty.
    fn paid(&self) -> BTreeMap<String, Usage> {
        BTreeMap::new()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_depends_on_the_ask_the_request_and_the_draw() {
        let request = Request {
            model: "m".to_owned(),
            messages: vec![Message::user("是吗？")],
            sampling: json!({"temperature": 0.7}),
            schema: Value::Null,
            extra_body: Value::Null,
        };
        let key = request.key("a/b", "1");
        assert_eq!(key, hash(&json!(["a/b", request, "1"])), "the key is a hash of the request's JSON");
        assert_eq!(key.len(), 32);
        let hotter = Request { sampling: json!({"temperature": 0.8}), ..request.clone() };
        for other in [request.key("a/c", "1"), request.key("a/b", "2"), hotter.key("a/b", "1")] {
            assert_ne!(other, key);
        }
    }
}
