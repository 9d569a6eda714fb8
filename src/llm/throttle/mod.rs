//! When a request may be sent, and to which address: scheduling, rate and concurrency limits, circuit breaker.

pub(crate) mod address_limits;
pub(crate) mod circuit_breaker;
mod concurrency_limit;
mod rate_estimator;
pub(crate) mod rate_limiter;
mod rejection_window;
pub(crate) mod scheduler;
pub(crate) mod stall_detector;
mod token_bucket;
