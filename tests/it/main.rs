//! The integration tests, in one binary.

mod cli;
mod schemas;
