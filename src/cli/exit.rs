//! Exit codes.

use std::process::ExitCode;

use crate::llm::AskError;
use crate::pipeline::RunError;
use crate::store::StoreError;

/// Exit code of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Success.
    Done = 0,
    /// Internal error: a bug or a failed disk operation.
    Fault = 1,
    /// Invalid command or configuration; nothing was run.
    Usage = 2,
    /// Completed, but some items failed or a check reported findings.
    Failures = 3,
    /// A model API cannot be used, or a replay lacks a call.
    Api = 4,
    /// A limit of `[budget]` was reached; completed work is kept.
    Budget = 5,
    /// Interrupted by Ctrl-C; completed work is kept.
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
            // Invalid files in a pool and a run folder in use are problems that the user can fix.
            RunError::Invalid(_)
            | RunError::Aliases(_)
            | RunError::Vetoes(_)
            | RunError::Prompts(_)
            | RunError::Books { .. }
            | RunError::AddJudges(_)
            | RunError::Store(
                StoreError::InUse { .. } | StoreError::Scene { .. } | StoreError::DuplicateScene { .. },
            ) => Self::Usage,
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
            // The template is the user's own; embedded templates are tested.
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
