//! The lines of the journal: how a record is stored, and the checksum before it.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::llm::{Record, Reply, Request, Usage};
use crate::schema::{Message, Role};

/// A text with fewer bytes is stored inside its record.
const MAX_INLINE_BYTES: usize = 64;

/// A part of a text ends with the line that brings it to this many bytes. Prompts that grow share all parts but the
/// last.
const PART_BYTES: usize = 256;

/// The position of a value: the segment, the offset within its uncompressed lines, and the length. Sorts in write
/// order.
///
/// There is one per record in memory, so it is packed into twelve bytes: up to 16 million segments of 1 TiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
    at: [u8; 8],
    length: u32,
}

impl Position {
    const OFFSET_BITS: u32 = 40;

    pub(super) fn new(segment: u32, offset: u64, length: u32) -> Self {
        let at = u64::from(segment) << Self::OFFSET_BITS | offset;
        Self { at: at.to_be_bytes(), length }
    }

    pub(super) fn segment(self) -> u32 {
        u32::try_from(u64::from_be_bytes(self.at) >> Self::OFFSET_BITS).expect("64 - 40 = 24 bits fit in a u32")
    }

    pub(super) const fn offset(self) -> u64 {
        u64::from_be_bytes(self.at) & ((1 << Self::OFFSET_BITS) - 1)
    }

    pub(super) const fn length(self) -> usize {
        self.length as usize
    }
}

/// The first 128 bits of a BLAKE3 hash.
pub(super) type Hash = [u8; 16];

/// The position of every record, by the hash of its key.
pub(super) type Index = HashMap<Hash, Position>;

/// A record as its line stores it.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredRecord {
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

/// A message with either its content or the hash of its text.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredMessage {
    pub(super) role: Role,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
}

/// A text: the concatenation of its parts, which are texts themselves, and of its own remainder.
#[derive(Serialize, Deserialize)]
#[expect(clippy::struct_field_names, reason = "the field names are the JSON keys")]
pub(super) struct Text<'a> {
    pub(super) hash: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) parts: Vec<String>,
    #[serde(borrow)]
    pub(super) text: Cow<'a, str>,
}

impl<'a> Text<'a> {
    /// Splits a text into its parts, each with its hash, followed by the remainder.
    pub(super) fn split(hash: &Hash, text: &'a str) -> Vec<(Hash, Self)> {
        let (mut parts, mut names, mut rest) = (Vec::new(), Vec::new(), text);
        while let Some(end) = rest.as_bytes().iter().skip(PART_BYTES - 1).position(|byte| *byte == b'\n') {
            let (part, after) = rest.split_at(PART_BYTES + end);
            let part_hash = self::hash(part);
            names.push(hexadecimal(&part_hash));
            parts.push((part_hash, Self { hash: hexadecimal(&part_hash), parts: Vec::new(), text: part.into() }));
            rest = after;
        }
        if names.len() == 1 && rest.is_empty() {
            return parts;
        }
        parts.push((*hash, Self { hash: hexadecimal(hash), parts: names, text: rest.into() }));
        parts
    }
}

/// Returns a record without its long texts, and those texts with their hashes.
pub(super) fn stored(record: Record) -> (StoredRecord, Vec<(Hash, String)>) {
    let mut texts = Vec::new();
    let mut keep = |text: String| {
        let hash = hash(&text);
        texts.push((hash, text));
        hexadecimal(&hash)
    };
    let mut messages = Vec::with_capacity(record.request.messages.len());
    for Message { role, content } in record.request.messages {
        messages.push(if content.len() < MAX_INLINE_BYTES {
            StoredMessage { role, content: Some(content), text: None }
        } else {
            StoredMessage { role, content: None, text: Some(keep(content)) }
        });
    }
    let schema = Some(record.request.schema).filter(|schema| !schema.is_null()).map(|schema| keep(schema.to_string()));
    let Request { model, sampling, extra_body, .. } = record.request;
    let stored = StoredRecord {
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

pub(super) fn parse_hash(hash: &str) -> Option<Hash> {
    (hash.len() == 32).then(|| u128::from_str_radix(hash, 16).ok().map(u128::to_be_bytes))?
}

/// Returns the checksum of a value: the first 16 hexadecimal digits of its BLAKE3 hash.
fn checksum(value: &[u8]) -> String {
    blake3::hash(value).to_hex()[..16].to_owned()
}

/// Kind of a journal line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    /// A call.
    Record,
    /// A text that records refer to by its hash.
    Text,
}

impl LineKind {
    /// Returns the key of the line's value.
    const fn key(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::Text => "text",
        }
    }
}

/// Appends a line to a batch that will be written at offset `end` of a segment. Returns the position of its value.
pub(super) fn append_line(batch: &mut Vec<u8>, segment: u32, end: u64, kind: LineKind, value: &str) -> Position {
    batch.extend_from_slice(format!("{{\"check\":\"{}\",\"{}\":", checksum(value.as_bytes()), kind.key()).as_bytes());
    let offset = end + batch.len() as u64;
    batch.extend_from_slice(value.as_bytes());
    batch.extend_from_slice(b"}\n");
    Position::new(segment, offset, u32::try_from(value.len()).expect("records are shorter than 4 GiB"))
}

/// Parses a line. Returns its kind, its hash in the index, and the offset and length of its value within
/// the line. Returns `None` if the line is damaged.
pub(super) fn read_line(line: &[u8]) -> Option<(LineKind, Hash, u64, u32)> {
    let rest = line.strip_prefix(b"{\"check\":\"")?;
    let (sum, rest) = rest.split_at_checked(16)?;
    let (kind, value) = match rest.strip_prefix(b"\",\"record\":") {
        Some(value) => (LineKind::Record, value),
        None => (LineKind::Text, rest.strip_prefix(b"\",\"text\":")?),
    };
    let value = value.strip_suffix(b"}\n")?;
    if checksum(value).as_bytes() != sum {
        return None;
    }
    let name = key_or_hash(value, kind == LineKind::Record)?;
    let hash = match kind {
        LineKind::Record => hash(&name),
        LineKind::Text => parse_hash(&name)?,
    };
    let at = line.len() - 2 - value.len();
    Some((kind, hash, at as u64, u32::try_from(value.len()).ok()?))
}

/// Returns the model name and the token usage of a record's value. They are near its start and its end, so that the
/// rest need not be parsed.
pub(super) fn paid(value: &[u8]) -> Option<(String, Usage)> {
    let after = |key: &[u8], at: Option<usize>| at.map(|at| &value[at + key.len()..]);
    // Quotation marks inside a JSON string are escaped, so neither pattern can occur within a string.
    let (model, usage) = (b"\",\"model\":", b"},\"usage\":");
    let model = after(model, value.windows(model.len()).position(|part| part == model))?;
    let usage = after(usage, value.windows(usage.len()).rposition(|part| part == usage))?;
    let model = serde_json::Deserializer::from_slice(model).into_iter().next()?.ok()?;
    let usage = serde_json::Deserializer::from_slice(usage).into_iter().next()?.ok()?;
    Some((model, usage))
}

/// Returns the key of a record or the hash of a text. It is the first field; the rest is covered by the checksum and
/// need not be parsed.
fn key_or_hash(value: &[u8], is_record: bool) -> Option<Cow<'_, str>> {
    let first: &[u8] = if is_record { b"{\"key\":\"" } else { b"{\"hash\":\"" };
    let rest = value.strip_prefix(first)?;
    let end = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
    if rest[end] == b'"' {
        return std::str::from_utf8(&rest[..end]).ok().map(Cow::Borrowed);
    }
    let string = &value[first.len() - 1..];
    serde_json::Deserializer::from_slice(string).into_iter::<String>().next()?.ok().map(Cow::Owned)
}
