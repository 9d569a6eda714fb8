//! The offline answers of `simulate`: a director that balances turns, replies retrieved from the speakers' utterances
//! in their books, and a rating based on counts.
//!
//! Replies are retrieved first and supplemented by short phrases from tables. Every answer is a pure function of its
//! ask and the seeded generator; no file access, no state.

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

pub(crate) use director::direct;
pub(crate) use rating::rate;
pub(crate) use replies::{scene_reply, test_reply};
