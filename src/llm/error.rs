//! Why a question has no answer. Variants say what can be done about it; match on them, never on text.

use std::time::Duration;

use super::JournalError;
use crate::prompt::PromptError;

/// What one HTTP exchange ended in.
#[derive(Debug, Clone, thiserror::Error)]
pub enum HttpFault {
    /// The server answered with a status that is no success.
    #[error("HTTP {status} from `{url}`: {body}")]
    Status {
        /// The status.
        status: u16,
        /// The URL.
        url: String,
        /// The beginning of the body.
        body: String,
    },
    /// The server could not be reached, or the exchange broke.
    #[error("no complete reply from `{url}`: {cause}")]
    Broken {
        /// The URL.
        url: String,
        /// What broke, with its causes.
        cause: String,
    },
    /// The body is no chat completion.
    #[error("no chat completion in the reply of `{url}`: {cause}")]
    Body {
        /// The URL.
        url: String,
        /// What is wrong with it.
        cause: String,
    },
}

impl HttpFault {
    /// Returns the fault without the server's address.
    pub(super) fn detail(&self) -> String {
        match self {
            Self::Status { status, body, .. } => format!("HTTP {status}: {body}"),
            Self::Broken { .. } => "no complete reply".to_owned(),
            Self::Body { cause, .. } => format!("no chat completion in the reply: {cause}"),
        }
    }
}

/// What makes a reply useless.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyFault {
    /// There is nothing in it.
    Empty,
    /// The length limit cut it.
    Cut,
    /// It is no JSON, breaks its schema or fails the ask's own check.
    Unfit,
}

impl ReplyFault {
    /// Returns the word that stands for it in rejects and counts.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Empty => "empty_reply",
            Self::Cut => "cut_reply",
            Self::Unfit => "bad_reply",
        }
    }
}

/// Why a call has no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The template does not render. Ends the run.
    #[error("ask `{ask}`")]
    Prompt {
        /// The ask.
        ask: &'static str,
        /// Why.
        #[source]
        source: PromptError,
    },
    /// Transient faults (429, 5xx, time-outs, broken connections) outlasted every try.
    #[error("no reply from model `{model}` after {tries} tries in {:.1} s", elapsed.as_secs_f64())]
    Transient {
        /// The model's name.
        model: String,
        /// How often it was tried.
        tries: u32,
        /// How long that took.
        elapsed: Duration,
        /// The last fault.
        #[source]
        source: HttpFault,
    },
    /// The prompt, with the room for its reply, is longer than the model takes; found before it was sent, or by the server.
    #[error("the request is too long for model `{model}`: {cause}")]
    TooLong {
        /// The model's name.
        model: String,
        /// By how much, or what the server says.
        cause: String,
    },
    /// The server refuses this request and would again.
    #[error("model `{model}` does not take the request")]
    Permanent {
        /// The model's name.
        model: String,
        /// What the server says.
        #[source]
        source: HttpFault,
    },
    /// The key or the model is wrong, or nobody answers at the address, so that no other call can go better. Ends the run.
    #[error("model `{model}` cannot be used")]
    Unusable {
        /// The model's name.
        model: String,
        /// What the server says.
        #[source]
        source: HttpFault,
    },
    /// The model refused, or the provider's filter stopped the request or cut the reply.
    #[error("model `{model}` refused: {reason}")]
    Refused {
        /// The model's name.
        model: String,
        /// In its words.
        reason: String,
        /// Whether it was the provider's filter.
        by_filter: bool,
    },
    /// Every reply was empty, cut or broke the schema; all of them stand in the journal.
    #[error("model `{model}` gave no usable reply to `{ask}` in {tries} tries: {fault}")]
    BadReply {
        /// The model's name.
        model: String,
        /// The ask.
        ask: &'static str,
        /// How often it was asked.
        tries: u32,
        /// What was wrong with the last reply.
        fault: String,
        /// Which kind of fault that was.
        kind: ReplyFault,
    },
    /// A replay met a call that the journal does not have. Ends the run.
    #[error("the journal has no answer for `{ask}`, draw `{draw}`, model `{model}` (key {key})")]
    Missing {
        /// The ask.
        ask: &'static str,
        /// The draw.
        draw: String,
        /// The model's name.
        model: String,
        /// The journal key.
        key: String,
    },
    /// A bound of `[budget]` has been reached. Ends the run.
    #[error("the budget is used up: {0}")]
    Budget(String),
    /// The run was asked to stop. Ends the run.
    #[error("interrupted")]
    Interrupted,
    /// The journal failed. Ends the run.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl AskError {
    /// Says whether the run ends with it; else only the item that asked fails.
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

    /// The reasons of items that failed because a call did.
    pub const REASONS: [&'static str; 8] = [
        "no_reply",
        "request_refused",
        "context_too_long",
        "model_refused",
        "content_filter",
        "empty_reply",
        "cut_reply",
        "bad_reply",
    ];

    /// Those of them whose replies stand in the journal, so that running again reads them back.
    pub const KEPT: [&'static str; 5] = ["model_refused", "content_filter", "empty_reply", "cut_reply", "bad_reply"];

    /// Returns the error with its cause in one line, as a reject carries it: no address and no time, which belong to no
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

    /// Returns the word that a reject carries as its reason.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Transient { .. } => "no_reply",
            Self::Permanent { .. } => "request_refused",
            Self::TooLong { .. } => "context_too_long",
            Self::Refused { by_filter: false, .. } => "model_refused",
            Self::Refused { by_filter: true, .. } => "content_filter",
            Self::BadReply { kind, .. } => kind.reason(),
            Self::Prompt { .. } => "prompt",
            Self::Unusable { .. } => "model_unusable",
            Self::Missing { .. } => "not_in_journal",
            Self::Budget(_) => "budget",
            Self::Interrupted => "interrupted",
            Self::Journal(_) => "journal",
        }
    }
}
