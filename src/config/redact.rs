//! Masks anything that looks like a key in a text that will be shown. Keys do not belong in pipeline files, and the
//! error that reports one must not copy it into a log.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::text::{Secret, secrets};

/// Patterns of keys, each with the group `key`.
static KEYS: LazyLock<[Regex; 5]> = LazyLock::new(|| {
    [
        r#"(?i)\b(?:api_?key|secret|password|passwd|authorization|access_?token)["']?\s*[=:]\s*["']?(?<key>[^\s"',}][^"'\n]*)"#,
        r#"\bapi_key_env["']?\s*=\s*["']?(?<key>[^\s"',}]+)"#,
        r#"://(?<key>[^/\s"'@]+)@"#,
        r#"(?i)[?&][a-z_-]*(?:key|token|secret)=(?<key>[^&\s"']+)"#,
        r"\b(?<key>sk-[A-Za-z0-9_-]{6,})",
    ]
    .map(|pattern| Regex::new(pattern).expect("the patterns are constant and tested"))
});

/// Returns the text with everything that looks like a key replaced by asterisks, of the same length in bytes, so that
/// spans stay valid.
pub(crate) fn redact(text: &str) -> String {
    let mut concealed = KEYS.iter().fold(text.to_owned(), |text, pattern| {
        let struck = pattern.replace_all(&text, |found: &Captures<'_>| {
            let (whole, key) = (found.get_match(), found.name("key").expect("every pattern has the group `key`"));
            if is_variable(key.as_str()) {
                return whole.as_str().to_owned();
            }
            let (before, after) = (&text[whole.start()..key.start()], &text[key.end()..whole.end()]);
            format!("{before}{}{after}", "*".repeat(key.len()))
        });
        struck.into_owned()
    });
    for Secret { range, .. } in secrets(&concealed) {
        concealed.replace_range(range.clone(), &"*".repeat(range.len()));
    }
    concealed
}

/// Returns whether a URL contains user info or a key.
pub(crate) fn has_key(url: &str) -> bool {
    KEYS[2..4].iter().any(|pattern| pattern.is_match(url))
}

/// Returns whether a word is written like an environment variable, or refers to one.
pub(crate) fn is_variable(word: &str) -> bool {
    word.starts_with('$') || word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_keys_are_redacted() {
        for (text, shown) in [
            ("api_key = \"sk-1 名\" # mine", "api_key = \"********\" # mine"),
            ("models.a.api_key=abc", "models.a.api_key=***"),
            ("{ apiKey: 'abc', x = 1 }", "{ apiKey: '***', x = 1 }"),
            ("api_key_env = \"abc-1\"", "api_key_env = \"*****\""),
            ("api_key_env = \"MY_KEY_2\"", "api_key_env = \"MY_KEY_2\""),
            ("api_key = \"$MY_KEY\"", "api_key = \"$MY_KEY\""),
            ("base_url = \"https://me:pw@host/v1?key=abc&x=1\"", "base_url = \"https://*****@host/v1?key=***&x=1\""),
            ("# hf_aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH 名", "# ************************************* 名"),
            ("model = \"sk-abcdef-123\"", "model = \"*************\""),
            ("max_tokens = 4096\nkey = \"性格\"", "max_tokens = 4096\nkey = \"性格\""),
        ] {
            assert_eq!(redact(text), shown);
            assert_eq!(shown.len(), text.len(), "{text}");
        }
    }

    #[test]
    fn keys_in_urls_are_detected() {
        for (url, has) in [
            ("https://me:pw@host/v1", true),
            ("https://host/v1?api_key=abc", true),
            ("https://host/v1?api-version=2024-10-21", false),
            ("http://localhost:8000/v1", false),
        ] {
            assert_eq!(has_key(url), has, "{url}");
        }
    }
}
