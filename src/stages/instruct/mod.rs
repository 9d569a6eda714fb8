//! The stage `instruct`: role data for training, by Context-Instruct and `RoleGPT` (`RoleLLM`, 3.2 to 3.4, Appendices C
//! and D).
//!
//! A [`Role`] has a profile (description, catchphrases, dialogue in rounds). [`process_role()`] asks a model for triplets of
//! question, confidence and answer on segments of the dialogue and on the description, and has another model play the
//! role for general instructions. [`select_rows`] filters, cleans and de-duplicates the rows of one role, and a [`SplitPlanner`]
//! of all roles assigns each row its [`SplitAssignments`]. The stage reads and writes no file. The rows of a role depend on that
//! role alone, except for duplicates across roles and splits.

pub(crate) mod asks;
mod general;
mod params;
mod role;
mod role_pipeline;
mod rows;
#[cfg(test)]
mod tests;

pub use asks::{
    AddressRole, AskDescription, AskSegment, Catchphrases, ChooseCatchphrases, DescribeRole, Exchange, Grade,
    GradeVoice, OfflineMaterial, PlayRole, Triplet, Triplets,
};
pub use general::{GeneralInstruction, select_instructions};
pub use params::{Params, Roles, SplitRule};
pub use role::{Act, ActTurn, Acts, Phrase, Role, Segment, segments};
pub use role_pipeline::{RoleContext, RoleOutput, grade_speech, min_calls, process_role};
pub use rows::{Fault, SelectedRows, SplitAssignments, SplitPlanner, fault, select_rows};

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
