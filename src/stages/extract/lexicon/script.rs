//! The script of a text, and built-in phrases written in it.

use std::sync::LazyLock;

use serde::Deserialize;

use super::phrasing::list;
use crate::schema::Language;

/// The language of a text together with its script.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub(crate) enum Script {
    /// English.
    #[default]
    Latin,
    /// Chinese in simplified characters.
    Simplified,
    /// Chinese in traditional characters.
    Traditional,
}

static CHARACTERS: LazyLock<ScriptCharacters> = LazyLock::new(|| embedded_toml!("script.toml"));

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptCharacters {
    /// Simplified characters of the built-in phrases that have a traditional variant, in the order of `traditional`.
    simplified: String,
    traditional: String,
    /// Frequent characters that exist in simplified script only.
    only_simplified: String,
    /// Frequent characters that exist in traditional script only.
    only_traditional: String,
}

impl Script {
    pub(super) const ALL: [Self; 3] = [Self::Latin, Self::Simplified, Self::Traditional];

    /// Detects the script of a text by characters that exist in only one of the two.
    pub(crate) fn of(language: Language, text: &str) -> Self {
        if language == Language::En {
            return Self::Latin;
        }
        let (mut simplified, mut traditional) = (0_u32, 0_u32);
        for c in text.chars().take(20_000) {
            simplified += u32::from(CHARACTERS.only_simplified.contains(c));
            traditional += u32::from(CHARACTERS.only_traditional.contains(c));
        }
        if traditional > simplified { Self::Traditional } else { Self::Simplified }
    }

    pub(crate) const fn language(self) -> Language {
        if matches!(self, Self::Latin) { Language::En } else { Language::Zh }
    }

    /// Joins names into a list, as usual in the language.
    pub(crate) fn list(self, names: &[String]) -> String {
        list(names, self.language())
    }

    /// Converts a built-in phrase, given in simplified characters, to this script.
    pub(crate) fn write(self, phrase: &str) -> String {
        if self != Self::Traditional {
            return phrase.to_owned();
        }
        let pairs = || CHARACTERS.simplified.chars().zip(CHARACTERS.traditional.chars());
        let traditional = |c: char| pairs().find(|(simplified, _)| *simplified == c).map_or(c, |(_, variant)| variant);
        phrase.chars().map(traditional).collect()
    }
}
