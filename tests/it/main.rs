//! The integration tests: one binary, loopback only, no key, no sleep.

#![allow(clippy::unwrap_used, clippy::format_collect, reason = "a test may panic, and speed does not matter")]

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
mod forecast;
mod hostile;
mod instruct;
mod journal;
mod lanes;
mod llm;
mod network;
mod pool;
mod probe;
mod review;
mod schemas;
mod scripted_scenes;
mod served;
mod support;
mod tidy;
