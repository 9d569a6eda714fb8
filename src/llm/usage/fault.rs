//! What usage statistics count as a fault.

use std::cmp::Ordering;

use crate::schema::RejectReason;

/// Kind of a failed request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// The server accepted the request and did not answer in time.
    TimedOut,
    /// The connection failed.
    Broken,
    /// The server rejected the request because of a rate limit.
    RateLimited,
    /// The server reported an internal error.
    ServerError,
    /// The server rejected the request for another reason.
    RequestRefused,
    /// The response is not a chat completion.
    NoCompletion,
}

impl FailureKind {
    /// Returns the name in the usage statistics.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::TimedOut => "timed_out",
            Self::Broken => "broken",
            Self::RateLimited => "rate_limited",
            Self::ServerError => "server_error",
            Self::RequestRefused => "request_refused",
            Self::NoCompletion => "no_completion",
        }
    }
}

/// A failed request or an unusable reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CountedFault {
    /// A request without a completion.
    Request(FailureKind),
    /// A reply that cannot be used.
    Reply(RejectReason),
}

impl CountedFault {
    /// Returns the name in the usage statistics.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Request(kind) => kind.name(),
            Self::Reply(reason) => reason.name(),
        }
    }
}

// Faults are listed by name.
impl Ord for CountedFault {
    fn cmp(&self, other: &Self) -> Ordering {
        self.name().cmp(other.name())
    }
}

impl PartialOrd for CountedFault {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
