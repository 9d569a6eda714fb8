//! The integration tests: one binary, loopback only, no key, no sleep.

mod llm;
mod support;
mod tidy;
