//! Turns books into role-play benchmarks for language models.

#![allow(missing_docs)]

pub mod cli;
pub mod event;
pub mod llm;
pub mod pipeline;
pub mod prompt;
pub mod schema;
pub mod seed;
pub mod stages;
