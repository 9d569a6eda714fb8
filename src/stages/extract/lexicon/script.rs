//! The script of a text, and built-in phrases written in it.

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

/// Simplified characters of the built-in phrases that have a traditional variant, in the order of `FULL`.
const SIMPLE: &str =
    "让还给张从这总说话长问与来约书们个里么带气发实场谈叹没样对话请见为亲语开头爱关于听则两边后别龄际系";

const FULL: &str = "讓還給張從這總說話長問與來約書們個裡麼帶氣發實場談嘆沒樣對話請見為親語開頭愛關於聽則兩邊後別齡際係";

impl Script {
    pub(super) const ALL: [Self; 3] = [Self::Latin, Self::Simplified, Self::Traditional];

    /// Detects the script of a text by characters that exist in only one of the two.
    pub(crate) fn of(language: Language, text: &str) -> Self {
        if language == Language::En {
            return Self::Latin;
        }
        let (mut simple, mut full) = (0_u32, 0_u32);
        for c in text.chars().take(20_000) {
            simple += u32::from("说话问与来个们这时见为门东车马国开长".contains(c));
            full += u32::from("說話問與來個們這時見為門東車馬國開長".contains(c));
        }
        if full > simple { Self::Traditional } else { Self::Simplified }
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
        let full =
            |c: char| SIMPLE.chars().zip(FULL.chars()).find(|(simple, _)| *simple == c).map_or(c, |(_, full)| full);
        phrase.chars().map(full).collect()
    }
}
