//! What the exit code says.

use std::process::ExitCode;

use crate::llm::AskError;
use crate::pipeline::RunError;
use crate::store::StoreError;

/// How a command ended, as scripts see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Everything was done.
    Done = 0,
    /// Our fault: a bug, or a disk that fails.
    Fault = 1,
    /// The command or the configuration is wrong; nothing was run.
    Usage = 2,
    /// Done, but some items failed; or a check has findings.
    Failures = 3,
    /// A model's API cannot be used, or a replay misses a call.
    Api = 4,
    /// A bound of `[budget]` has been reached; what is done is kept.
    Budget = 5,
    /// Ended by Ctrl-C; what is done is kept.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl From<&RunError> for Exit {
    fn from(error: &RunError) -> Self {
        match error {
            // What people write into a pool is theirs to mend, as their files are; and who has the folder is theirs to see.
            RunError::Invalid(_)
            | RunError::Aliases(_)
            | RunError::Vetoes(_)
            | RunError::Prompts(_)
            | RunError::Books { .. }
            | RunError::Unbuilt { .. }
            | RunError::Divided { .. }
            | RunError::OtherRun { .. }
            | RunError::Store(StoreError::InUse { .. } | StoreError::Scene { .. } | StoreError::TwoScenes { .. }) => {
                Self::Usage
            }
            RunError::Start(_) | RunError::Store(_) | RunError::Export(_) => Self::Fault,
            RunError::Ask(error) => error.into(),
            RunError::Failures { .. } => Self::Failures,
        }
    }
}

impl From<&AskError> for Exit {
    fn from(error: &AskError) -> Self {
        match error {
            AskError::Budget(_) => Self::Budget,
            AskError::Interrupted => Self::Interrupted,
            AskError::Journal(_) => Self::Fault,
            // The template is the user's own, or one that came with the program and has its tests.
            AskError::Prompt { .. } => Self::Usage,
            AskError::Transient { .. }
            | AskError::TooLong { .. }
            | AskError::Permanent { .. }
            | AskError::Unusable { .. }
            | AskError::Refused { .. }
            | AskError::BadReply { .. }
            | AskError::Missing { .. } => Self::Api,
        }
    }
}
