//! Calls to models; the only module that opens connections to them.
//!
//! A question is an [`Ask`]. A [`Model`] answers it: a served model over HTTP, or the offline engine in this process.
//! Both look up the [`Journal`] first, write every answer to it before it is used, and are counted in the [`UsageTracker`].
//! This module does not depend on stages, files or environment variables.

mod ask;
mod dry_run;
mod error;
mod language;
#[cfg(test)]
mod memory;
mod model;
mod offline;
mod openai;
mod record;
mod secret;
mod session;
mod throttle;
mod tokens;
mod usage;

pub use ask::{Ask, Shape, schema_of};
pub use dry_run::{DryRun, Expected};
pub use error::{AskError, HttpFault, ReplyFault};
pub use model::{Model, Sampling};
pub use offline::{Offline, OfflineAnswer, OfflineOptions};
pub use openai::{BaseUrl, Endpoint, Probe, Schemas, ServedOptions, probe};
pub use record::{Answered, Journal, JournalError, Record, Reply, Request};
pub use secret::Secret;
pub use session::Session;
pub use tokens::{Tokenizer, estimate_tokens};
pub use usage::{Account, Budget, Price, ReachedLimit, Totals, Usage, UsageTracker, part};

pub(crate) use error::chain;
pub(crate) use tokens::Estimate;

#[cfg(test)]
pub(crate) use memory::Memory;
