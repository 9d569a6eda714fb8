//! The stage `instruct`: role data for training, by Context-Instruct and `RoleGPT` (`RoleLLM`, 3.2 to 3.4, Appendices C
//! and D).
//!
//! A [`Role`] has a profile (description, catchphrases, dialogue in rounds). [`work()`] asks a model for triplets of
//! question, confidence and answer on segments of the dialogue and on the description, and has another model play the
//! role for general instructions. [`glean`] filters, cleans and de-duplicates the rows of one role, and a [`Harvest`]
//! of all roles assigns each row its [`Sides`]. The stage reads and writes no file. The rows of a role depend on that
//! role alone, except for duplicates across roles and splits.

mod cleaning;
mod example_lines;
mod general;
mod overlap;
mod params;
mod phrases;
mod role;
mod role_pipeline;
mod role_play;
mod role_profile;
mod segments;
mod select_rows;
mod splits;
#[cfg(test)]
mod tests;
pub(crate) mod triplets;

pub use cleaning::{Fault, fault};
pub use general::{General, general};
pub use params::{Params, Roles, SplitRule};
pub use phrases::Phrase;
pub use role::{Act, Role, Spoken};
pub use role_pipeline::{Made, Work, calls, grade, work};
pub use role_play::{Behind, Exchange, PlayRole};
pub use role_profile::{AddressRole, Catchphrases, ChooseCatchphrases, DescribeRole, Grade, GradeVoice};
pub use segments::{Segment, segments};
pub use select_rows::{Gleaned, Harvest, glean};
pub use splits::Sides;
pub use triplets::{AskDescription, AskSegment, Triplet, Triplets};

/// The stage's prompt templates, as (name, source).
pub const PROMPTS: &[(&str, &str)] = &[
    ("instruct/grade.en", include_str!("prompts/grade.en.jinja")),
    ("instruct/grade.zh", include_str!("prompts/grade.zh.jinja")),
    ("instruct/describe.en", include_str!("prompts/describe.en.jinja")),
    ("instruct/describe.zh", include_str!("prompts/describe.zh.jinja")),
    ("instruct/address.en", include_str!("prompts/address.en.jinja")),
    ("instruct/address.zh", include_str!("prompts/address.zh.jinja")),
    ("instruct/catchphrases.en", include_str!("prompts/catchphrases.en.jinja")),
    ("instruct/catchphrases.zh", include_str!("prompts/catchphrases.zh.jinja")),
    ("instruct/script_based.en", include_str!("prompts/script_based.en.jinja")),
    ("instruct/script_based.zh", include_str!("prompts/script_based.zh.jinja")),
    ("instruct/script_agnostic.en", include_str!("prompts/script_agnostic.en.jinja")),
    ("instruct/script_agnostic.zh", include_str!("prompts/script_agnostic.zh.jinja")),
    ("instruct/general.en", include_str!("prompts/general.en.jinja")),
    ("instruct/general.zh", include_str!("prompts/general.zh.jinja")),
];
