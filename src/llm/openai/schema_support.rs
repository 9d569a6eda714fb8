//! How far a server supports JSON Schemas for replies.

/// Support of an address for JSON Schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schemas {
    /// Accepts `json_schema` and follows it.
    Strict,
    /// Rejects `json_schema` and accepts `json_object`; the schema is in the prompt.
    Object,
    /// Rejects both; the schema is in the prompt.
    Prompt,
    /// Accepts the schema, but the reply does not match it.
    Ignored,
    /// Unknown, because the reply was cut at the length limit.
    Cut,
}
