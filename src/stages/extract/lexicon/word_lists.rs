//! Named lists of words that patterns refer to.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::schema::ByLanguage;

/// Named lists of words of one language. A pattern refers to a list as `<name>`.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct WordLists(BTreeMap<String, Vec<String>>);

impl WordLists {
    /// Parses an embedded TOML file with the tables `en` and `zh`.
    pub(crate) fn parse(file: &str) -> ByLanguage<Self> {
        toml::from_str(file).expect("word lists are embedded and tested")
    }

    /// Returns the words of a list, none if there is no such list.
    pub(crate) fn words(&self, name: &str) -> &[String] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    /// Replaces each `<name>` in a pattern by the words of that list as alternatives.
    pub(crate) fn fill(&self, pattern: &str) -> String {
        let fill = |pattern: String, (name, words): (&String, &Vec<String>)| {
            pattern.replace(&format!("<{name}>"), &words.join("|"))
        };
        let filled = self.0.iter().fold(pattern.to_owned(), fill);
        debug_assert!(!filled.contains('<'), "a word list is missing: {filled}");
        filled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_filled_with_the_words_of_their_lists() {
        let lists = WordLists::parse("en = { trades = ['miller', 'clerks?'], kin = ['aunt'] }\nzh = {}");
        assert_eq!(lists.en.fill("the (?:<trades>) and <kin>"), "the (?:miller|clerks?) and aunt");
        assert_eq!((lists.en.words("kin").len(), lists.zh.words("kin").len()), (1, 0));
    }
}
