//! Errors of calls to models. Variants state what can be done about them; match on variants, not on text.

use std::time::Duration;

use super::record::JournalError;
use super::usage::ReachedLimit;
use crate::prompt::PromptError;
use crate::schema::RejectReason;

/// Failure of one HTTP exchange.
#[derive(Debug, Clone, thiserror::Error)]
pub enum HttpFault {
    /// The server answered with an error status.
    #[error("HTTP {status} from `{url}`: {body}")]
    Status {
        /// HTTP status.
        status: u16,
        /// URL, without secrets.
        url: String,
        /// Beginning of the body.
        body: String,
    },
    /// The server could not be reached, or the connection failed.
    #[error("no complete reply from `{url}`: {cause}")]
    Broken {
        /// URL, without secrets.
        url: String,
        /// What failed, with its causes.
        cause: String,
    },
    /// The body is not a chat completion.
    #[error("invalid chat completion from `{url}`: {cause}")]
    Body {
        /// URL, without secrets.
        url: String,
        /// What is wrong with the body.
        cause: String,
    },
}

impl HttpFault {
    /// Returns the fault without the server's address.
    pub(super) fn detail(&self) -> String {
        match self {
            Self::Status { status, body, .. } => format!("HTTP {status}: {body}"),
            Self::Broken { .. } => "no complete reply".to_owned(),
            Self::Body { cause, .. } => format!("invalid chat completion: {cause}"),
        }
    }
}

/// Why a reply is unusable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyFault {
    /// It is empty.
    Empty,
    /// It was cut at the length limit.
    Cut,
    /// It is not JSON, does not match its schema, or fails the ask's own check.
    Unfit,
}

impl ReplyFault {
    /// Returns the code used in rejects and counts.
    #[must_use]
    pub const fn reason(self) -> RejectReason {
        match self {
            Self::Empty => RejectReason::EmptyReply,
            Self::Cut => RejectReason::CutReply,
            Self::Unfit => RejectReason::BadReply,
        }
    }
}

/// Error of a call.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The prompt template does not render. Ends the run.
    #[error("failed to render the prompt of `{ask}`")]
    Prompt {
        /// Name of the ask.
        ask: &'static str,
        /// Cause.
        #[source]
        source: PromptError,
    },
    /// Transient failures (429, 5xx, timeouts, broken connections) exhausted all tries.
    #[error("no reply from model `{model}` after {tries} tries in {:.1} s", elapsed.as_secs_f64())]
    Transient {
        /// Name of the model.
        model: String,
        /// Number of tries.
        tries: u32,
        /// Total time.
        elapsed: Duration,
        /// The last failure.
        #[source]
        source: HttpFault,
    },
    /// The prompt and the maximum reply exceed the context length, according to our estimate or to the server.
    #[error("the request is too long for model `{model}`: {cause}")]
    TooLong {
        /// Name of the model.
        model: String,
        /// The token counts, or the server's error text.
        cause: String,
    },
    /// The server rejects this request, and would reject it again.
    #[error("model `{model}` rejected the request")]
    Permanent {
        /// Name of the model.
        model: String,
        /// The server's answer.
        #[source]
        source: HttpFault,
    },
    /// The key or model is wrong, or the server cannot be reached, so no other call can succeed. Ends the run.
    #[error("model `{model}` cannot be used")]
    Unusable {
        /// Name of the model.
        model: String,
        /// The failure.
        #[source]
        source: HttpFault,
    },
    /// The model refused, or the provider's content filter stopped the request or the reply.
    #[error("model `{model}` refused: {reason}")]
    Refused {
        /// Name of the model.
        model: String,
        /// Reason, in the words of the model or provider.
        reason: String,
        /// Whether it was the provider's content filter.
        by_filter: bool,
    },
    /// Every reply was empty, cut or did not match the schema; all are in the journal.
    #[error("model `{model}` gave no usable reply to `{ask}` in {tries} tries: {fault}")]
    BadReply {
        /// Name of the model.
        model: String,
        /// Name of the ask.
        ask: &'static str,
        /// Number of replies.
        tries: u32,
        /// What was wrong with the last reply.
        fault: String,
        /// Kind of that fault.
        kind: ReplyFault,
    },
    /// A replay needs a call that is not in the journal. Ends the run.
    #[error("the journal has no answer for `{ask}`, draw `{draw}`, model `{model}` (key {key})")]
    Missing {
        /// Name of the ask.
        ask: &'static str,
        /// Draw of the ask.
        draw: String,
        /// Name of the model.
        model: String,
        /// Journal key.
        key: String,
    },
    /// A limit of `[budget]` was reached. Ends the run.
    #[error("budget reached: {0}")]
    Budget(ReachedLimit),
    /// The run was asked to stop. Ends the run.
    #[error("interrupted")]
    Interrupted,
    /// The journal failed. Ends the run.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl AskError {
    /// Whether the error ends the run; otherwise only the item that made the call fails.
    #[must_use]
    pub const fn ends_the_run(&self) -> bool {
        match self {
            Self::Prompt { .. }
            | Self::Unusable { .. }
            | Self::Missing { .. }
            | Self::Budget(_)
            | Self::Interrupted
            | Self::Journal(_) => true,
            Self::Transient { .. }
            | Self::TooLong { .. }
            | Self::Permanent { .. }
            | Self::Refused { .. }
            | Self::BadReply { .. } => false,
        }
    }

    /// Returns the error with its cause in one line, for rejects: without addresses and times, which do not belong in a
    /// data set.
    #[must_use]
    pub fn detail(&self) -> String {
        match self {
            Self::Transient { model, tries, source, .. } => {
                format!("no reply from model `{model}` after {tries} tries: {}", source.detail())
            }
            Self::Permanent { source, .. } | Self::Unusable { source, .. } => format!("{self}: {}", source.detail()),
            Self::Prompt { source, .. } => format!("{self}: {source}"),
            _ => self.to_string(),
        }
    }

    /// Returns the reason code for rejects.
    #[must_use]
    pub const fn reason(&self) -> RejectReason {
        match self {
            Self::Transient { .. } => RejectReason::NoReply,
            Self::Permanent { .. } => RejectReason::RequestRefused,
            Self::TooLong { .. } => RejectReason::ContextTooLong,
            Self::Refused { by_filter: false, .. } => RejectReason::ModelRefused,
            Self::Refused { by_filter: true, .. } => RejectReason::ContentFilter,
            Self::BadReply { kind, .. } => kind.reason(),
            Self::Prompt { .. } => RejectReason::Prompt,
            Self::Unusable { .. } => RejectReason::ModelUnusable,
            Self::Missing { .. } => RejectReason::NotInJournal,
            Self::Budget(_) => RejectReason::Budget,
            Self::Interrupted => RejectReason::Interrupted,
            Self::Journal(_) => RejectReason::Journal,
        }
    }
}

/// Formats an error and its causes on one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
