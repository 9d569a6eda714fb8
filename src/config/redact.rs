//! Masks anything that looks like a key in a text that will be shown. Keys do not belong in pipeline files, and the
//! error that reports one must not copy it into a log.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde::Deserialize;

use crate::text::{Secret, secrets};

/// A pattern of keys, with the group `key`.
struct KeyPattern {
    regex: Regex,
    /// Whether it finds user info or a key in a URL.
    in_url: bool,
}

static KEYS: LazyLock<Vec<KeyPattern>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    struct File {
        pattern: Vec<Entry>,
    }
    #[derive(Deserialize)]
    struct Entry {
        regex: String,
        #[serde(default)]
        in_url: bool,
    }
    let file: File = embedded_toml!("redact.toml");
    let compile = |entry: Entry| KeyPattern {
        regex: Regex::new(&entry.regex).expect("the patterns are embedded and tested"),
        in_url: entry.in_url,
    };
    file.pattern.into_iter().map(compile).collect()
});

/// Returns the text with everything that looks like a key replaced by asterisks, of the same length in bytes, so that
/// spans stay valid.
pub(crate) fn redact(text: &str) -> String {
    let mut concealed = KEYS.iter().fold(text.to_owned(), |text, pattern| {
        let struck = pattern.regex.replace_all(&text, |found: &Captures<'_>| {
            let (matched, key) = (found.get_match(), found.name("key").expect("every pattern has the group `key`"));
            if is_variable(key.as_str()) {
                return matched.as_str().to_owned();
            }
            let (before, after) = (&text[matched.start()..key.start()], &text[key.end()..matched.end()]);
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
    KEYS.iter().any(|pattern| pattern.in_url && pattern.regex.is_match(url))
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
        for (text, redacted) in [
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
            assert_eq!(redact(text), redacted);
            assert_eq!(redacted.len(), text.len(), "{text}");
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
