//! The offline answers of `synthesize`: worlds, characters, scenes and dialogues combined from tables; reviews by rules.
//!
//! An answer depends only on its ask and a random generator. Rows chosen by an earlier step (such as the place) are
//! recognized by their texts in the ask; if those are not from the tables, new rows are drawn.

mod characters;
mod dialogue;
mod known;
mod random;
mod review;
mod rows;
mod scene;
mod slots;
mod world;
