//! The embedded word lists, and functions based on them.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::Deserialize;

use super::is_han;

/// The word lists of both languages, parsed once.
pub(super) static WORDS: LazyLock<Words> = LazyLock::new(|| embedded_toml!("words.toml"));

/// A word list, written as one string in the TOML file.
#[derive(Debug, Deserialize)]
#[serde(from = "String")]
pub(super) struct List(BTreeSet<String>);

impl From<String> for List {
    fn from(words: String) -> Self {
        Self(words.split_whitespace().map(|word| word.replace('_', " ")).collect())
    }
}

impl List {
    pub(super) fn contains(&self, word: &str) -> bool {
        self.0.contains(word)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

/// Words that show a speech act.
#[derive(Debug, Deserialize)]
pub(super) struct SpeechActWords {
    pub(super) recall: List,
    pub(super) reason: List,
    pub(super) feeling: List,
    pub(super) fact: List,
    pub(super) turn: List,
    pub(super) farewell: List,
    pub(super) greeting: List,
    pub(super) thanks: List,
    pub(super) anger: List,
    pub(super) world: List,
    pub(super) why: List,
}

/// The English word lists.
#[derive(Debug, Deserialize)]
pub(super) struct English {
    pub(super) stop: List,
    pub(super) distinctive: List,
    pub(super) abbreviations: List,
    pub(super) determiners: List,
    pub(super) followers: List,
    pub(super) not_topics: List,
    pub(super) not_things: List,
    pub(super) titles: List,
    pub(super) openers: List,
    #[serde(flatten)]
    pub(super) speech_acts: SpeechActWords,
}

/// The Chinese word lists.
#[derive(Debug, Deserialize)]
pub(super) struct Chinese {
    pub(super) stop: List,
    pub(super) nouns: List,
    pub(super) not_topics: List,
    pub(super) measures: List,
    pub(super) titles: List,
    pub(super) whole_titles: List,
    #[serde(flatten)]
    pub(super) speech_acts: SpeechActWords,
}

/// All word lists.
#[derive(Debug, Deserialize)]
pub(super) struct Words {
    pub(super) en: English,
    pub(super) zh: Chinese,
}

/// Returns the letters and digits of a text in lower case, without anything between them.
#[must_use]
pub fn letters_and_digits(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether a word is a form of address or ends in one, such as `Mrs.`, `captain` or `温先生`.
#[must_use]
pub fn is_title(word: &str) -> bool {
    let word = word.trim_end_matches('.').to_lowercase();
    WORDS.en.titles.contains(&word)
        || word.ends_with(is_han) && WORDS.zh.titles.iter().any(|title| word.ends_with(title))
}

/// Whether a capitalised word at the start of a sentence is a common opener, such as `Well` or `Indeed`, rather than a
/// name.
#[must_use]
pub fn is_sentence_opener(word: &str) -> bool {
    let word = word.to_lowercase().replace('’', "'");
    WORDS.en.openers.contains(&word) || WORDS.en.stop.contains(&word)
}

/// Returns the English words of a text in lower case, with straight apostrophes.
pub(super) fn latin_words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| is_han(c) || !(c.is_alphanumeric() || matches!(c, '\'' | '’' | '-')))
        .map(|word| word.trim_matches(['\'', '’', '-']))
        .filter(|word| !word.is_empty())
        .map(|word| word.replace('’', "'").to_lowercase())
}

/// Returns the content words of a text, in order and with repeats.
///
/// English words are stemmed. Chinese ones are known nouns and pairs of adjacent characters.
#[must_use]
pub fn content_words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = latin_words(text)
        .filter(|word| word.chars().count() > 2 && !WORDS.en.stop.contains(word))
        .map(|word| stem(&word))
        .collect();
    let mut pending: Vec<char> = Vec::new();
    for c in text.chars().chain(std::iter::once(' ')) {
        let mut buffer = [0; 4];
        if is_han(c) && !WORDS.zh.stop.contains(c.encode_utf8(&mut buffer)) {
            pending.push(c);
            continue;
        }
        if pending.len() == 1 {
            words.push(pending[0].to_string());
        }
        words.extend(pending.windows(2).map(|pair| pair.iter().collect::<String>()));
        if pending.len() > 1 {
            words.extend(pending.iter().map(char::to_string).filter(|character| WORDS.zh.nouns.contains(character)));
        }
        pending.clear();
    }
    words
}

/// Strips inflectional endings, roughly. Both sides of a comparison are stemmed in the same way.
fn stem(word: &str) -> String {
    let word = word.strip_suffix("'s").unwrap_or(word);
    for suffix in ["ing", "ed", "es", "s"] {
        if let Some(stem) = word.strip_suffix(suffix)
            && stem.chars().count() > 2
            && !stem.ends_with('s')
        {
            return stem.trim_end_matches('e').to_owned();
        }
    }
    let stem = word.trim_end_matches('e');
    if stem.chars().count() > 2 { stem.to_owned() } else { word.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_words_exclude_function_words() {
        assert_eq!(
            content_words("The bell’s lips were poured, and the bells rang."),
            ["bell", "lip", "pour", "bell", "rang"]
        );
        assert_eq!(content_words("我的账房不在"), ["账房"]);
        assert!(content_words("水不骗人").contains(&"水".to_owned()));
        assert!(content_words("老船").contains(&"船".to_owned()));
        assert!(content_words("and so it is").is_empty());
    }

    #[test]
    fn titles_of_both_languages_are_recognised() {
        for (word, expected) in [("Mrs.", true), ("Sergeant", true), ("温先生", true), ("bell", false), ("算盘", false)]
        {
            assert_eq!(is_title(word), expected, "{word}");
        }
    }
}
