//! The questions of the stage: a role's profile, triplets about it, and its replies.

mod angles;
mod role_play;
mod role_profile;
mod triplets;

pub(super) use angles::angle;
pub(crate) use angles::direct_questions;
pub use role_play::{Exchange, OfflineMaterial, PlayRole};
pub use role_profile::{AddressRole, Catchphrases, ChooseCatchphrases, DescribeRole, Grade, GradeVoice};
pub use triplets::{AskDescription, AskSegment, Triplet, Triplets};
