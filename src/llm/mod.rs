//! Calls to models; the only module that opens connections to them.
//!
//! A question is an [`Ask`]. A [`Model`] answers it: a served model over HTTP, or the offline engine in this process.
//! Both look up the [`Journal`] first, write every answer to it before it is used, and are counted in the [`Ledger`].
//! This module does not depend on stages, files or environment variables.

mod ask;
mod breaker;
mod bucket;
mod budget;
mod client;
mod completion;
mod desk;
mod endpoint;
mod error;
mod form;
mod gate;
mod json;
mod language;
mod ledger;
mod limit;
#[cfg(test)]
mod memory;
mod model;
mod offline;
mod pace;
mod prefix;
mod probe;
mod record;
mod refusals;
mod rehearsal;
mod retry;
mod scripts;
mod secret;
mod silence;
mod tokenizer;
mod tokens;
mod width;

#[cfg(test)]
pub(crate) use memory::Memory;

pub use ask::{Ask, Shape, schema_of};
pub use budget::Budget;
pub use desk::Desk;
pub use endpoint::Endpoint;
pub use error::{AskError, HttpFault, ReplyFault};
pub use ledger::{Account, Ledger, Price, Totals, Usage, part};
pub use model::{Model, Sampling};
pub use offline::{Offline, OfflineOptions};
pub use probe::{Probe, Schemas, probe};
pub use record::{Answered, Journal, JournalError, Record, Reply, Request};
pub use rehearsal::{Expected, Rehearsal};
pub use secret::Secret;
pub use tokenizer::Tokenizer;
pub(crate) use tokens::Estimate;
pub use tokens::estimate_tokens;
