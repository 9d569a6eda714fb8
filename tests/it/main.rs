//! The integration tests: one binary, loopback only, no key, no sleep.

#![allow(
    clippy::unwrap_used,
    clippy::format_collect,
    reason = "a test that cannot go on fails, and none is in a hurry"
)]

mod attribution;
mod boundaries;
mod build;
mod characters;
mod chat;
mod cli;
mod dataset;
mod docs;
mod duplicates;
mod extraction;
mod faults;
mod hostile;
mod hosts;
mod instruct;
mod journal;
mod lanes;
mod llm;
mod money;
mod pool;
mod probe;
mod review;
mod schemas;
mod scripted_scenes;
mod served;
mod support;
mod tidy;
