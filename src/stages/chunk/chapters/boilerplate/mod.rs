//! Boilerplate: text added by a distributor, printer or transcriber. Separates it from the story.

mod distributor;
mod excluded;
mod front_back;
mod story;
mod story_bounds;
mod story_start;
mod titles;

pub(super) use distributor::{Body, body};
pub(in crate::stages::chunk) use story::Story;
pub(super) use story_start::is_credit;
pub(in crate::stages::chunk) use titles::boilerplate_kind_of_title;
