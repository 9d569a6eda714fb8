//! The offline answers of `simulate`: a director that balances turns, replies retrieved from what the speakers say in their
//! books, and a rating that counts.
//!
//! Retrieval comes first, short phrases from tables second. Every answer is a function of its ask and the seeded generator;
//! nothing here opens a file or keeps a state.

mod answers;
mod calls;
mod director;
mod fields;
mod frames;
mod lines;
mod place;
mod rating;
mod replies;
mod talk;
mod voice;

pub(super) use director::direct;
pub(super) use rating::rate;
pub(super) use replies::{scene_reply, test_reply};
