//! The offline answers of `simulate`: a director that balances turns, replies retrieved from the speakers' utterances
//! in their books, and a rating based on counts.
//!
//! Replies are retrieved first and supplemented by short phrases from tables. Every answer is a pure function of its
//! ask and the seeded generator; no file access, no state.

mod conversation;
mod conversation_rating;
mod dialogue_position;
mod director;
mod line_candidates;
mod line_scoring;
mod phrase_choice;
mod phrases;
mod question_kinds;
mod replies;
mod reply_assembly;
mod semantic_fields;
mod vocatives;
mod word_lists;
