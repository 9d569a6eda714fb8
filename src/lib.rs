//! Turns books into role-play benchmarks for language models.

#![allow(missing_docs)]

pub mod event;
pub mod llm;
pub mod prompt;
pub mod schema;
pub mod seed;
pub mod stages;
pub mod text;
