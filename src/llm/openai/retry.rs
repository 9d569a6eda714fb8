//! Classifies failed requests, and computes the wait before the next try. Reads no clock.

use std::time::Duration;

use rand::RngExt as _;
use serde_json::Value;

use super::error_texts::ERROR_TEXTS;
use crate::llm::error::HttpFault;
use crate::llm::throttle::circuit_breaker::PATIENCE;
use crate::llm::usage::fault::FailureKind;
use crate::seed::seeded;

/// Maximum wait before a try, regardless of what the server asks for.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// A request without a completion.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The fault shown in errors.
    pub(crate) fault: HttpFault,
    /// How long the server asks to wait.
    pub(crate) retry_after: Option<Duration>,
    /// Error text of the server in lower case, for [`Failure::verdict`].
    pub(crate) error_text: String,
    /// Its kind.
    pub(crate) kind: FailureKind,
}

/// Consequence of a failure for its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The same request may succeed later.
    Retry,
    /// The server rejected the request because of a rate limit.
    RateLimited,
    /// The provider's content filter stopped the request.
    Filtered,
    /// The server does not support the request format; another format may succeed.
    ChangeFormat,
    /// The prompt and the maximum reply exceed the context length.
    TooLong,
    /// The request cannot succeed for another reason.
    Permanent,
    /// No call to this endpoint can succeed.
    Unusable,
}

impl Failure {
    /// Creates a failure without an error text from the server.
    pub(crate) const fn of(kind: FailureKind, fault: HttpFault) -> Self {
        Self { fault, retry_after: None, error_text: String::new(), kind }
    }

    /// Classifies the failure by its status, and by the error text where a status is ambiguous.
    pub(crate) fn verdict(&self) -> Verdict {
        let (texts, error) = (&*ERROR_TEXTS, self.error_text.as_str());
        let HttpFault::Status { status, .. } = self.fault else { return Verdict::Retry };
        match status {
            400 | 413 | 422 | 429 | 500 if texts.too_long.matches(error) => Verdict::TooLong,
            400 | 403 if texts.filtered.matches(error) => Verdict::Filtered,
            402 | 429 if texts.quota_exhausted.matches(error) => Verdict::Unusable,
            400 if texts.unusable.matches(error) => Verdict::Unusable,
            429 => Verdict::RateLimited,
            // Some servers report an error of the chat template as an internal error.
            500 if texts.roles_rejected.matches(error) => Verdict::ChangeFormat,
            408 | 409 | 425 | 500 | 502..=599 => Verdict::Retry,
            300..=399 | 401..=405 | 501 => Verdict::Unusable,
            400 | 422 => Verdict::ChangeFormat,
            _ => Verdict::Permanent,
        }
    }
}

/// Returns the error text of a response body in lower case: messages and codes, without quoted parts of the request.
pub(crate) fn words(body: &Value) -> String {
    let mut words = Vec::new();
    let error = body.get("error").unwrap_or(body);
    for value in [error, &error["message"], &error["code"], &error["param"], &error["type"], &error["detail"]] {
        if let Value::String(word) = value {
            words.push(word.clone());
        }
    }
    for detail in error["detail"].as_array().into_iter().flatten() {
        words.push(detail["msg"].as_str().unwrap_or_default().to_owned());
        words.extend(detail["loc"].as_array().into_iter().flatten().map(Value::to_string));
    }
    words.join(" ").to_lowercase()
}

/// Whether a call has tried long enough if no address has ever answered: all tries are used, or [`PATIENCE`] has
/// passed. At least two tries are made, since one request may take that long.
pub(crate) fn is_long(failed: u32, most: u32, elapsed: Duration) -> bool {
    failed >= most || failed > 1 && elapsed >= PATIENCE
}

/// Returns the wait after the `tries`-th failed try: as asked for by the server, otherwise doubling.
///
/// The jitter is drawn from the seed of the request, so that requests that failed together are not retried together.
pub(crate) fn wait(backoff: Duration, tries: u32, retry_after: Option<Duration>, seed: u32) -> Duration {
    let jitter = seeded(u64::from(seed), &["back-off", &tries.to_string()]).random_range(0.5..=1.0);
    let doubled = backoff.saturating_mul(1_u32.checked_shl(tries.saturating_sub(1)).unwrap_or(u32::MAX));
    match retry_after {
        Some(asked) => asked.min(LONGEST_WAIT) + backoff.min(LONGEST_WAIT).mul_f64(jitter),
        None => doubled.min(LONGEST_WAIT).mul_f64(jitter),
    }
}

/// Parses `Retry-After`: seconds, or a date, which is compared with the server's own `Date`.
pub(crate) fn retry_after(value: &str, date: Option<&str>) -> Option<Duration> {
    if let Ok(seconds) = value.trim().parse::<f64>() {
        return Duration::try_from_secs_f64(seconds.max(0.0)).ok();
    }
    let (until, now) = (httpdate::parse_http_date(value).ok()?, httpdate::parse_http_date(date?).ok()?);
    Some(until.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn status(status: u16, error_text: &str) -> Failure {
        let fault = HttpFault::Status { status, url: String::new(), body: String::new() };
        Failure { fault, retry_after: None, error_text: error_text.to_owned(), kind: FailureKind::ServerError }
    }

    #[test]
    fn a_call_without_any_answer_is_tried_at_least_twice() {
        assert!(!is_long(1, 6, PATIENCE) && is_long(2, 6, PATIENCE), "a single request may take ten minutes");
        assert!(!is_long(5, 6, Duration::from_secs(30)) && is_long(6, 6, Duration::from_secs(30)));
        assert!(is_long(1, 1, Duration::ZERO));
    }

    #[test]
    fn each_status_has_its_verdict() {
        for (code, error_text, verdict) in [
            (429, "rate limit reached", Verdict::RateLimited),
            (429, "insufficient_quota", Verdict::Unusable),
            (402, "insufficient credits", Verdict::Unusable),
            (429, "request too large for model `x`", Verdict::TooLong),
            (503, "", Verdict::Retry),
            (500, "the request exceeds the available context size", Verdict::TooLong),
            (500, "conversation roles must alternate", Verdict::ChangeFormat),
            (500, "", Verdict::Retry),
            (501, "", Verdict::Unusable),
            (401, "invalid key", Verdict::Unusable),
            (403, "your input was flagged", Verdict::Filtered),
            (404, "model `x` does not exist", Verdict::Unusable),
            (301, "", Verdict::Unusable),
            (400, "this model's maximum context length is 10 tokens; max_tokens", Verdict::TooLong),
            (400, "content_filter", Verdict::Filtered),
            (400, "'response_format' is unsupported", Verdict::ChangeFormat),
            (413, "", Verdict::Permanent),
            (400, "litellm.contextwindowexceedederror: 9000 tokens", Verdict::TooLong),
            (400, "litellm.contentpolicyviolationerror", Verdict::Filtered),
            (400, "budget has been exceeded! current cost: 2", Verdict::Unusable),
            (400, "/chat/completions: invalid model name passed in model=x", Verdict::Unusable),
            (400, "no connected db. no_db_connection", Verdict::Unusable),
        ] {
            assert_eq!(status(code, error_text).verdict(), verdict, "{code} {error_text}");
        }
    }

    #[test]
    fn error_texts_exclude_the_request() {
        let body = json!({"error": {"message": "Bad", "param": "seed", "code": null}});
        assert_eq!(words(&body), "bad seed");
        let body = json!({"detail": [{"loc": ["body", "seed"], "msg": "Extra", "input": {"response_format": 1}}]});
        assert_eq!(words(&body), "extra \"body\" \"seed\"");
        assert_eq!(words(&json!({"error": "No Model"})), "no model");
    }

    #[test]
    fn waits_double_up_to_a_minute_and_differ() {
        let second = Duration::from_secs(1);
        for (tries, most) in [(1, 1.0), (2, 2.0), (5, 16.0), (7, 60.0), (40, 60.0)] {
            let waited = wait(second, tries, None, 7);
            assert!((most / 2.0..=most).contains(&waited.as_secs_f64()), "{tries}: {waited:?}");
            assert_eq!(waited, wait(second, tries, None, 7));
            assert_ne!(waited, wait(second, tries, None, 8));
        }
        let asked = wait(second, 1, Some(Duration::from_secs(9)), 7);
        assert!((9.5..=10.0).contains(&asked.as_secs_f64()), "{asked:?}");
        assert!(wait(second, 1, Some(Duration::from_hours(9)), 7) <= Duration::from_secs(61));
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let date = Some("Sun, 06 Nov 1994 08:49:37 GMT");
        for (value, seconds) in [
            ("3", Some(3)),
            ("-1", Some(0)),
            ("Sun, 06 Nov 1994 08:50:07 GMT", Some(30)),
            ("Sat, 05 Nov 1994 08:50:07 GMT", Some(0)),
            ("soon", None),
        ] {
            assert_eq!(retry_after(value, date), seconds.map(Duration::from_secs), "{value}");
        }
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:50:07 GMT", None), None, "the server's own date is needed");
    }
}
