//! OpenAI-compatible servers over HTTP: request formats, replies, retries and probes.

mod address;
pub(crate) mod client;
mod completion;
mod endpoint;
mod error_texts;
mod exchange;
pub(crate) mod lenient_json;
mod probe;
mod request_format;
mod retry;
mod schema_support;
mod served_options;

pub use endpoint::Endpoint;
pub use probe::{Probe, probe};
pub use schema_support::Schemas;
pub use served_options::{BaseUrl, ServedOptions};
