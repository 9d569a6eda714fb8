//! Semantic fields, by which an utterance can fit a conversation without sharing a word with it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use crate::schema::{ByLanguage, Language};
use crate::text::content_words;

static FIELDS: LazyLock<ByLanguage<BTreeMap<String, u32>>> = LazyLock::new(|| {
    let lists: ByLanguage<BTreeMap<String, String>> = embedded_toml!("semantic_fields.toml");
    ByLanguage { en: marks(&lists.en, Language::En), zh: marks(&lists.zh, Language::Zh) }
});

/// Maps each word to the bit set of its fields; bit n is the n-th list.
fn marks(lists: &BTreeMap<String, String>, language: Language) -> BTreeMap<String, u32> {
    let mut marks = BTreeMap::new();
    for (at, list) in lists.values().enumerate() {
        for word in list.split_whitespace() {
            // Texts are compared by stemmed content words, so the entries are stemmed, too.
            let words = match language {
                Language::En => content_words(word),
                Language::Zh => vec![word.to_owned()],
            };
            for word in words {
                *marks.entry(word).or_default() |= 1 << at;
            }
        }
    }
    marks
}

/// Returns the bit set of the fields of these content words.
pub(super) fn fields<'a>(words: impl Iterator<Item = &'a String>, language: Language) -> u32 {
    let marks = FIELDS.get(language);
    let of = |word: &str| marks.get(word).copied().unwrap_or(0);
    words.fold(0, |fields, word| {
        let parts = match language {
            Language::En => 0,
            Language::Zh => word.char_indices().fold(0, |all, (at, c)| all | of(&word[at..at + c.len_utf8()])),
        };
        fields | parts | of(word)
    })
}

/// Returns the bit set of the fields of a set of content words.
pub(super) fn fields_of(words: &BTreeSet<String>, language: Language) -> u32 {
    fields(words.iter(), language)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn related_lines_share_a_field_without_a_common_word() {
        let of = |text: &str, language| fields(content_words(text).iter(), language);
        for (language, one, same, other) in [
            (Language::En, "You sold him for forty pounds.", "It’s dear, for a bed.", "My bees would have told you."),
            (Language::En, "The ships are late.", "I never learned to swim.", "She sang it twice."),
            (Language::Zh, "这银子是谁出的？", "我那笔账还没算清。", "他们唱了一夜。"),
            (Language::Zh, "渠里有船么？", "岸边泊着呢。", "你写来看看。"),
        ] {
            assert!(of(one, language) & of(same, language) != 0, "{one} {same}");
            assert_eq!(of(one, language) & of(other, language), 0, "{one} {other}");
        }
    }

    #[test]
    fn every_field_has_a_bit_and_words_have_few_fields() {
        for language in Language::ALL {
            let marks = FIELDS.get(language);
            assert_eq!(marks.values().fold(0, |all, mark| all | mark).count_ones(), 24, "{language}");
            assert!(marks.iter().all(|(word, mark)| mark.count_ones() < 4 && !word.is_empty()));
        }
    }
}
