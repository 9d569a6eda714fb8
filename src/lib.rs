//! Turns books into role-play benchmarks for language models.
//!
//! Books go in; a Parquet data set comes out, built by a director-led group chat over balanced evaluation dimensions (the
//! method of the FURINA paper). This page is the map; `ARCHITECTURE.md` says more.
//!
//! In reading order:
//! - [`schema`]: the records that cross borders.
//! - [`text`], [`cells`], [`seed`], [`prompt`], [`event`]: words and sentences, tables read by value, seeded decisions, templates,
//!   and what happened.
//! - [`llm`]: asking a model, served or offline.
//! - [`stages`]: `chunk`, `extract`, `synthesize`, `simulate` with `select`, `instruct`, `export`.
//! - [`store`]: journal, scene pool, Parquet, manifest.
//! - [`pipeline`]: the pipeline file and the road of a run.
//! - [`cli`]: the program.
//!
//! # Invariants
//! - No room but [`llm`] opens a connection.
//! - No room but [`store`] writes a file.
//! - No room but [`cli`] prints, reads the environment or exits (the HTTP library's proxy variables aside).
//! - Same pipeline file, same books, same journal: the same bytes in every Parquet file, at any concurrency, on any day.
//! - What is dropped stands in `rejected` with its reason; nothing is lost without a word.
//! - A secret reaches no file, no log, no error text and no journal key.

pub mod cells;
pub mod cli;
pub mod event;
pub mod llm;
pub mod pipeline;
pub mod prompt;
pub mod schema;
pub mod seed;
pub mod stages;
pub mod store;
pub mod text;
