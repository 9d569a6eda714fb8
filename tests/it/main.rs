//! Integration tests: the crate from outside, with a temporary folder and a loopback server at most.

mod llm;
mod support;
