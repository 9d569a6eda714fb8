//! Texts by which the errors of servers are classified.

use std::sync::LazyLock;

use serde::Deserialize;

/// The texts of `error_texts.toml`.
pub(super) static ERROR_TEXTS: LazyLock<ErrorTexts> = LazyLock::new(|| embedded_toml!("error_texts.toml"));

/// Texts by what they mean for a call.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ErrorTexts {
    /// The request is too long for the model or for the token rate limit.
    pub(super) too_long: TextList,
    /// A content filter stopped the request.
    pub(super) filtered: TextList,
    /// The quota is exhausted.
    pub(super) quota_exhausted: TextList,
    /// With status 400, no request can succeed.
    pub(super) unusable: TextList,
    /// The chat template rejects the roles.
    pub(super) roles_rejected: TextList,
    /// The error is about one schema and not about schemas in general.
    pub(super) one_schema: TextList,
    /// Features of the request format.
    pub(super) format: FormatTexts,
}

/// Texts about features of the request format.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FormatTexts {
    /// Schemas and JSON replies.
    pub(super) schema: TextList,
    /// The key of the length limit.
    pub(super) length_key: TextList,
    /// The key is not supported.
    pub(super) length_key_rejected: TextList,
    /// The reasoning of earlier replies.
    pub(super) reasoning: TextList,
    /// The reasoning has to be sent.
    pub(super) reasoning_required: TextList,
    /// System messages.
    pub(super) system: TextList,
    /// System messages are not supported.
    pub(super) system_rejected: TextList,
    /// The word for the seed.
    pub(super) seed: String,
}

/// Alternative texts.
#[derive(Debug, Deserialize)]
pub(super) struct TextList(Vec<String>);

impl TextList {
    /// Whether any of the texts occurs in an error, which is in lower case.
    pub(super) fn matches(&self, error: &str) -> bool {
        self.0.iter().any(|text| error.contains(text.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_in_lower_case() {
        let text = include_str!("error_texts.toml");
        let values = text.lines().filter(|line| !line.starts_with('#'));
        assert!(values.into_iter().all(|line| line == line.to_lowercase()));
        assert!(ERROR_TEXTS.too_long.matches("the context length is 10") && !ERROR_TEXTS.too_long.matches("seed"));
    }
}
