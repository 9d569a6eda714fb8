//! What is asked and answered, in the form that the journal keeps.

use std::collections::BTreeMap;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Usage;
use crate::schema::Message;

/// A request in canonical form: what is asked, before anything that a server's quirks make of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The model's id, such as `Qwen/Qwen3-32B` or `offline:plain`.
    pub model: String,
    /// The messages.
    pub messages: Vec<Message>,
    /// Sampling parameters, those that are set (offline: the options of the variant and the engine's version).
    pub sampling: Value,
    /// The schema of the reply; null for plain text.
    pub schema: Value,
    /// Further keys of the body that the pipeline file sets.
    pub extra_body: Value,
}

impl Request {
    /// Returns the journal key: a hash of the ask, the request and the draw, 32 hexadecimal digits.
    #[must_use]
    pub fn key(&self, ask: &str, draw: &str) -> String {
        hash(&(ask, self, draw))
    }
}

/// Returns 128 bits of blake3 over a value's JSON, in hexadecimal.
pub(super) fn hash(value: &impl Serialize) -> String {
    // All at once: a hasher that is fed word by word is several times slower.
    let json = serde_json::to_vec(value).expect("requests have string keys only");
    blake3::hash(&json).to_hex()[..32].to_owned()
}

/// What a model said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// The content, without reasoning.
    pub text: String,
    /// Reasoning that came beside or inside the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Why it ended, as the server says: `stop`, `length` …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<String>,
    /// The model as the server names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served_model: Option<String>,
}

/// One answered request in the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The key that it is found by.
    pub key: String,
    /// The key of the first try, when this one is a re-ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The ask's name.
    pub ask: String,
    /// The model's name in the pipeline file.
    pub model: String,
    /// Which draw of the ask this is.
    pub draw: String,
    /// What was asked.
    pub request: Request,
    /// What was answered.
    pub reply: Reply,
    /// Tokens.
    pub usage: Usage,
    /// HTTP requests that it took, failed ones included; 0 offline.
    pub requests: u32,
    /// From the first request to the reply, in milliseconds.
    pub latency_ms: u64,
}

/// What a record holds beside its question.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Answered {
    /// What was answered.
    pub reply: Reply,
    /// Tokens.
    pub usage: Usage,
    /// HTTP requests that it took, failed ones included; 0 offline.
    pub requests: u32,
}

impl From<&Record> for Answered {
    fn from(record: &Record) -> Self {
        Self { reply: record.reply.clone(), usage: record.usage, requests: record.requests }
    }
}

/// What goes wrong with a journal. Always ends the run: an answer that cannot be kept must not be used.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct JournalError {
    /// What was tried, with the path.
    pub what: String,
    /// Why it failed.
    #[source]
    pub source: std::io::Error,
}

/// Where answered requests are kept. `store` has the one on disk.
pub trait Journal: Send + Sync {
    /// Returns what was answered to a key. Who has the key has the question.
    fn find(&self, key: &str) -> Result<Option<Answered>, JournalError>;

    /// Writes a record; when the future is done, the record outlives a crash.
    fn write(&self, record: Record) -> BoxFuture<'_, Result<(), JournalError>>;

    /// Returns the tokens of all that was answered before it was opened, by the model's name: what has been paid for, whether
    /// a run asks for it again or not. A journal that always begins empty has none.
    fn paid(&self) -> BTreeMap<String, Usage> {
        BTreeMap::new()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_holds_the_ask_the_request_and_the_draw() {
        let request = Request {
            model: "m".to_owned(),
            messages: vec![Message::user("是吗？")],
            sampling: json!({"temperature": 0.7}),
            schema: Value::Null,
            extra_body: Value::Null,
        };
        let key = request.key("a/b", "1");
        assert_eq!(key, hash(&json!(["a/b", request, "1"])), "a key is made from the request's JSON");
        assert_eq!(key.len(), 32);
        let hotter = Request { sampling: json!({"temperature": 0.8}), ..request.clone() };
        for other in [request.key("a/c", "1"), request.key("a/b", "2"), hotter.key("a/b", "1")] {
            assert_ne!(other, key);
        }
    }
}
