//! The questions of the stage: a role's profile, triplets about it, and its replies.

mod role_play;
mod role_profile;
mod triplets;

pub use role_play::{Exchange, OfflineMaterial, PlayRole};
pub use role_profile::{AddressRole, Catchphrases, ChooseCatchphrases, DescribeRole, Grade, GradeVoice};
pub(super) use triplets::angle;
pub(crate) use triplets::direct_questions;
pub use triplets::{AskDescription, AskSegment, Triplet, Triplets};
