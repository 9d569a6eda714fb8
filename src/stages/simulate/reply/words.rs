//! Word lists for cleaning replies; `words.toml` says what each is.

use std::sync::LazyLock;

use serde::Deserialize;

/// The word lists.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Words {
    pub(super) english_non_speakers: Vec<String>,
    pub(super) chinese_non_speakers: Vec<String>,
    pub(super) phrase_characters: String,
    pub(super) role_characters: String,
    pub(super) list_numbers: Vec<String>,
    pub(super) group_address: Vec<String>,
    pub(super) narrators: Vec<String>,
    pub(super) later_narrators: Vec<String>,
    pub(super) listeners: Vec<String>,
    pub(super) self_references: Vec<String>,
    pub(super) reply_keys: Vec<String>,
    pub(super) action_keys: Vec<String>,
    pub(super) template_tokens: Vec<String>,
    pub(super) notes: Vec<String>,
    pub(super) emphasized_characters: String,
}

/// The embedded word lists.
pub(super) static WORDS: LazyLock<Words> = LazyLock::new(|| embedded_toml!("words.toml"));

/// Returns whether a list contains a word.
pub(super) fn contains(list: &[String], word: &str) -> bool {
    list.iter().any(|own| own == word)
}
