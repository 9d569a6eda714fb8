//! The subcommands, one file per verb.

pub(crate) mod build;
pub(crate) mod character;
pub(crate) mod check;
mod check_dataset;
pub(crate) mod chunk;
pub(crate) mod diff;
pub(crate) mod dry_run;
pub(crate) mod export;
pub(crate) mod extract;
pub(crate) mod init;
pub(crate) mod instruct;
pub(crate) mod journal;
pub(crate) mod pool;
pub(crate) mod schema;
pub(crate) mod select;
pub(crate) mod simulate;
pub(crate) mod split;
pub(crate) mod status;
pub(crate) mod synthesize;
