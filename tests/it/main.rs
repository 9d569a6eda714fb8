//! The integration tests: one binary, loopback only, no key, no sleep.

mod build;
mod cli;
mod llm;
mod reading;
mod schemas;
mod support;
mod tidy;
