//! Tokenizes texts for lookup: stems of English words, and pairs of adjacent Chinese characters.

use std::collections::HashMap;

use tantivy::tokenizer::{Language, RawTokenizer, Stemmer, TextAnalyzer};

use crate::text::is_han;
use crate::text::words::latin_words;

/// The maximum number of cached stems; further words are stemmed each time.
const MAX_CACHED_STEMS: usize = 1 << 16;

/// Splits texts into terms by the script of each character, so that a text may mix both languages.
///
/// English words are lower-cased and stemmed. A run of Chinese characters gives each pair of adjacent characters, and a
/// single character gives itself. Pairs need no dictionary, so names and archaic words count like any others. There are
/// no stop words: common words weigh almost nothing, and some questions have no others.
pub struct Terms {
    stemmer: TextAnalyzer,
    stems: HashMap<String, String>,
    run: Vec<char>,
    pair: String,
}

impl Default for Terms {
    fn default() -> Self {
        let stemmer = TextAnalyzer::builder(RawTokenizer::default()).filter(Stemmer::new(Language::English)).build();
        Self { stemmer, stems: HashMap::new(), run: Vec::new(), pair: String::new() }
    }
}

impl Terms {
    /// Calls `term` with the terms of a text, including repeats: first its words in order, then its pairs in order.
    pub fn each(&mut self, text: &str, mut term: impl FnMut(&str)) {
        for word in latin_words(text) {
            if let Some(stem) = self.stems.get(&word) {
                term(stem);
                continue;
            }
            let stem = stem(&mut self.stemmer, &word);
            term(&stem);
            if self.stems.len() < MAX_CACHED_STEMS {
                self.stems.insert(word, stem);
            }
        }
        self.run.clear();
        for c in text.chars().chain(std::iter::once(' ')) {
            if is_han(c) {
                self.run.push(c);
                continue;
            }
            // A single character is its own term; a longer run has one pair fewer than characters.
            for pair in self.run.windows(self.run.len().clamp(1, 2)) {
                self.pair.clear();
                self.pair.extend(pair);
                term(&self.pair);
            }
            self.run.clear();
        }
    }
}

fn stem(stemmer: &mut TextAnalyzer, word: &str) -> String {
    let mut stem = String::new();
    stemmer.token_stream(word).process(&mut |token| stem.clone_from(&token.text));
    // An empty stem would make all such words equal.
    if stem.is_empty() { word.to_owned() } else { stem }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_split_by_the_script_of_each_character() {
        let terms = |text: &str| {
            let mut found = Vec::new();
            Terms::default().each(text, |term| found.push(term.to_owned()));
            found
        };
        for (text, expected) in [
            ("Who keeps the Ferries?", vec!["who", "keep", "the", "ferri"]),
            ("the ferrymen’s, THE", vec!["the", "ferrymen", "the"]),
            ("水不骗人。你信么？", vec!["水不", "不骗", "骗人", "你信", "信么"]),
            ("薛嵩 knows 3 of我们", vec!["know", "3", "of", "薛嵩", "我们"]),
            ("水，火", vec!["水", "火"]),
            ("?! …", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(terms(text), expected, "{text}");
        }
    }
}
