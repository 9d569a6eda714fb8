//! OpenAI-compatible servers over HTTP: request formats, replies, retries and probes.

pub(crate) mod client;
mod completion;
mod endpoint;
pub(crate) mod lenient_json;
mod probe;
mod request_format;
mod retry;

pub use endpoint::Endpoint;
pub use probe::{Probe, Schemas, probe};
