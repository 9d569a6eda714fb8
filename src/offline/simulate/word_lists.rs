//! Short word lists by which lines, names and things are recognized.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::schema::Language;

/// The lists of `word_lists.toml`.
pub(super) static WORD_LISTS: LazyLock<WordLists> = LazyLock::new(|| embedded_toml!("word_lists.toml"));

/// The lists that apply to both languages, and those of each language.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WordLists {
    /// Conjunctions at the start of a part of a line that depends on the part before it.
    pub(super) conjunctions: Vec<String>,
    /// Parts of profile keys for relations to other people.
    pub(super) relation_keys: Vec<String>,
    /// Parts of profile keys whose values name no things to talk about.
    pub(super) personal_keys: Vec<String>,
    en: LanguageWords,
    zh: LanguageWords,
}

/// The lists of one language. Lists that only the other language needs are empty.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LanguageWords {
    /// Pronouns of the second person.
    pub(super) second_person: Vec<String>,
    /// Pronouns of the third person.
    pub(super) third_person: Vec<String>,
    /// Words at the start of a sentence that only its original context explains.
    pub(super) context_openers: Vec<String>,
    /// Words that only begin answers.
    pub(super) answer_openers: Vec<String>,
    /// Words that begin a fragment of a sentence.
    #[serde(default)]
    pub(super) fragment_openers: Vec<String>,
    /// Articles and possessives before a thing.
    #[serde(default)]
    pub(super) determiners: Vec<String>,
    /// Endings of adjectives.
    #[serde(default)]
    pub(super) adjective_endings: Vec<String>,
    /// Words after a noun that are not part of a thing: `it makes my food cold`, `a quarter past nine`.
    #[serde(default)]
    pub(super) words_after_things: Vec<String>,
    /// Epithets before a name that are part of the form of address.
    #[serde(default)]
    pub(super) epithets: Vec<String>,
    /// Characters at the end of words for times, which are not things.
    #[serde(default)]
    pub(super) time_endings: Vec<char>,
    /// Characters that do not occur in a vocative.
    #[serde(default)]
    pub(super) no_vocative: Vec<char>,
}

/// Returns the lists of a language.
pub(super) fn words_of(language: Language) -> &'static LanguageWords {
    match language {
        Language::En => &WORD_LISTS.en,
        Language::Zh => &WORD_LISTS.zh,
    }
}
