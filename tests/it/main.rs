//! The integration tests, one binary.

mod reading;
