//! The supported languages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Language of books, prompts and replies, as an ISO 639-1 code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// English.
    #[default]
    En,
    /// Chinese, simplified or traditional.
    Zh,
}

impl Language {
    /// Both languages, in sort order.
    pub const ALL: [Self; 2] = [Self::En, Self::Zh];

    /// Returns the ISO 639-1 code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh",
        }
    }
}

impl std::fmt::Display for Language {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.code())
    }
}

/// One value per language.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByLanguage<T> {
    /// English value.
    pub en: T,
    /// Chinese value.
    pub zh: T,
}

impl<T> ByLanguage<T> {
    /// Returns the value for a language.
    pub const fn get(&self, language: Language) -> &T {
        match language {
            Language::En => &self.en,
            Language::Zh => &self.zh,
        }
    }
}
