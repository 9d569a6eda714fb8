//! A line of the journal: what a record looks like there, and the checksum before it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::llm::{Record, Reply, Request, Usage};
use crate::schema::{Message, Role};

/// A shorter text stands in its record.
const SHORT: usize = 64;

/// Where a value stands in the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) offset: u64,
    pub(super) length: u32,
}

/// 128 bits of a hash.
pub(super) type Hash = [u8; 16];

/// A record as its line holds it.
#[derive(Serialize, Deserialize)]
pub(super) struct Stored {
    pub(super) key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<String>,
    pub(super) ask: String,
    pub(super) model: String,
    pub(super) draw: String,
    pub(super) request: StoredRequest,
    pub(super) reply: Reply,
    pub(super) usage: Usage,
    pub(super) requests: u32,
    pub(super) latency_ms: u64,
}

#[derive(Serialize, Deserialize)]
pub(super) struct StoredRequest {
    pub(super) model: String,
    pub(super) messages: Vec<StoredMessage>,
    pub(super) sampling: Value,
    pub(super) schema: Option<String>,
    pub(super) extra_body: Value,
}

/// A message with its content, or with the hash of its text.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredMessage {
    pub(super) role: Role,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Text {
    pub(super) hash: String,
    pub(super) text: String,
}

/// What a line is read for when a journal is opened.
#[derive(Deserialize)]
struct Name<'a> {
    #[serde(alias = "hash", borrow)]
    key: Cow<'a, str>,
}

/// Returns a record's line without its long texts, and these with their hashes.
pub(super) fn stored(record: Record) -> (Stored, Vec<(Hash, String)>) {
    let mut texts = Vec::new();
    let mut keep = |text: String| {
        let hash = hash(&text);
        texts.push((hash, text));
        hexadecimal(&hash)
    };
    let mut messages = Vec::with_capacity(record.request.messages.len());
    for Message { role, content } in record.request.messages {
        messages.push(if content.len() < SHORT {
            StoredMessage { role, content: Some(content), text: None }
        } else {
            StoredMessage { role, content: None, text: Some(keep(content)) }
        });
    }
    let schema = Some(record.request.schema).filter(|schema| !schema.is_null()).map(|schema| keep(schema.to_string()));
    let Request { model, sampling, extra_body, .. } = record.request;
    let stored = Stored {
        key: record.key,
        parent: record.parent,
        ask: record.ask,
        model: record.model,
        draw: record.draw,
        request: StoredRequest { model, messages, sampling, schema, extra_body },
        reply: record.reply,
        usage: record.usage,
        requests: record.requests,
        latency_ms: record.latency_ms,
    };
    (stored, texts)
}

pub(super) fn hash(text: &str) -> Hash {
    let mut hash = Hash::default();
    hash.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..16]);
    hash
}

pub(super) fn hexadecimal(hash: &Hash) -> String {
    format!("{:032x}", u128::from_be_bytes(*hash))
}

pub(super) fn parse(hash: &str) -> Option<Hash> {
    (hash.len() == 32).then(|| u128::from_str_radix(hash, 16).ok().map(u128::to_be_bytes))?
}

/// Returns the checksum of a value's bytes.
fn check(value: &[u8]) -> String {
    blake3::hash(value).to_hex()[..16].to_owned()
}

/// Appends a line to a batch; returns where its value stands in the file.
pub(super) fn append(batch: &mut Vec<u8>, end: u64, kind: &str, value: &str) -> Place {
    batch.extend_from_slice(format!("{{\"check\":\"{}\",\"{kind}\":", check(value.as_bytes())).as_bytes());
    let offset = end + batch.len() as u64;
    batch.extend_from_slice(value.as_bytes());
    batch.extend_from_slice(b"}\n");
    Place { offset, length: u32::try_from(value.len()).expect("no record is longer than 4 GiB") }
}

/// Reads a line: whether it is a record, its name in the index, and where its value begins and how long it is.
pub(super) fn read_line(line: &[u8]) -> Option<(bool, Hash, u64, u32)> {
    let rest = line.strip_prefix(b"{\"check\":\"")?;
    let (sum, rest) = rest.split_at_checked(16)?;
    let (is_record, value) = match rest.strip_prefix(b"\",\"record\":") {
        Some(value) => (true, value),
        None => (false, rest.strip_prefix(b"\",\"text\":")?),
    };
    let value = value.strip_suffix(b"}\n")?;
    if check(value).as_bytes() != sum {
        return None;
    }
    let name = serde_json::from_slice::<Name<'_>>(value).ok()?;
    let hash = if is_record { hash(&name.key) } else { parse(&name.key)? };
    let at = line.len() - 2 - value.len();
    Some((is_record, hash, at as u64, u32::try_from(value.len()).ok()?))
}
