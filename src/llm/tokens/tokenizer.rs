//! Exact token counts with a known tokenizer. The vocabularies are embedded in the program, and are unpacked at the
//! first count.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tiktoken::CoreBpe;

/// Maximum number of bytes counted at once: the memory of a tokenizer grows with the length of a text without boundary,
/// up to 27 bytes per byte.
const WINDOW: usize = 1 << 16;

/// A tokenizer whose vocabulary is embedded in the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Tokenizer {
    /// Tokenizer of GPT-4o and later models.
    #[serde(rename = "o200k_base")]
    O200kBase,
    /// Tokenizer of GPT-3.5 and GPT-4; many open models extend it.
    #[serde(rename = "cl100k_base")]
    Cl100kBase,
}

impl Tokenizer {
    /// Returns the name used in the pipeline file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::O200kBase => "o200k_base",
            Self::Cl100kBase => "cl100k_base",
        }
    }

    /// Counts the tokens of a text. Names of special tokens, such as `<|endoftext|>`, are ordinary text.
    ///
    /// Exact if every 64 kB contain a word boundary; a longer run, such as a million times the same letter, is counted
    /// in parts of 64 kB, which keeps time linear and memory bounded. Counts of two parts can only differ from that of
    /// the whole where they touch within a word or at punctuation. The first count unpacks the vocabulary, once per
    /// process: 60 ms.
    #[must_use]
    pub fn count(self, text: &str) -> u32 {
        count(self.tables(), text, WINDOW)
    }

    fn tables(self) -> &'static CoreBpe {
        tiktoken::get_encoding(self.name()).expect("both vocabularies are enabled as features of the dependency")
    }
}

fn count(tables: &CoreBpe, text: &str, window: usize) -> u32 {
    let (mut sum, mut rest) = (0_usize, text);
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(seam(rest, window));
        sum = sum.saturating_add(tables.count(piece));
        rest = after;
    }
    u32::try_from(sum).unwrap_or(u32::MAX)
}

/// Returns the last position in the window that no token of any tokenizer spans: after a letter, before a character
/// that never continues a word. Returns the end of the window if there is none.
fn seam(text: &str, window: usize) -> usize {
    if text.len() <= window {
        return text.len();
    }
    let end = text.floor_char_boundary(window);
    let mut after = text[end..].chars().next();
    for (at, c) in text[..end].char_indices().rev() {
        let is_letter = c.is_ascii_alphabetic() || ('\u{4e00}'..='\u{9fff}').contains(&c);
        if is_letter && after.is_some_and(ends_word) {
            return at + c.len_utf8();
        }
        after = Some(c);
    }
    end.max(text.chars().next().map_or(0, char::len_utf8))
}

/// Whether a character never occurs within a word, unlike an apostrophe, a digit or a combining mark.
const fn ends_word(c: char) -> bool {
    matches!(
        c,
        ' ' | '\n'
            | '\r'
            | ','
            | '.'
            | ';'
            | ':'
            | '!'
            | '?'
            | '"'
            | '\u{3000}'
            | '，'
            | '。'
            | '、'
            | '；'
            | '：'
            | '！'
            | '？'
            | '“'
            | '”'
            | '「'
            | '」'
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BOTH: [Tokenizer; 2] = [Tokenizer::O200kBase, Tokenizer::Cl100kBase];

    /// Counts of another implementation, `tiktoken-rs`, for both tokenizers.
    #[test]
    fn counts_equal_those_of_the_reference() {
        for (text, o200k, cl100k) in [
            ("", 0, 0),
            ("hello world", 2, 2),
            ("tiktoken is great!", 6, 6),
            ("\n\n\n  \n", 2, 2),
            ("<|endoftext|>", 7, 7),
            ("天还没有亮，码头上已经站满了人。", 14, 17),
            ("卻說那日雨後，莊上的人都到河邊看水。", 20, 26),
            ("“She’ll have the letter,” said the harbour-master.\r\n", 11, 11),
            (".\n/x", 2, 2),
            ("  \u{3000}“Who’s there?”\u{3000}\n\n\n1931-32 É\u{301}a", 16, 16),
        ] {
            assert_eq!(
                (Tokenizer::O200kBase.count(text), Tokenizer::Cl100kBase.count(text)),
                (o200k, cl100k),
                "{text}"
            );
        }
    }

    #[test]
    fn a_very_long_word_takes_linear_time() {
        // With quadratic time the first text would take hours.
        for (unit, length) in
            [("a", 1_000_000), ("A", 99_999), (" ", 99_999), ("=", 99_999), ("\n", 99_999), ("河", 99_999)]
        {
            let text = unit.repeat(length);
            let tokens = Tokenizer::O200kBase.count(&text) as usize;
            assert!(tokens > 0 && tokens <= text.len(), "{unit:?}: {tokens}");
        }
    }

    #[test]
    fn windows_do_not_split_tokens() {
        assert_eq!(seam("one two three", 100), 13);
        assert_eq!(seam("one two three", 10), 7);
        assert_eq!(seam("河上，无风。", 13), 6);
        assert_eq!(seam("don't-stop", 8), 8);
        assert_eq!(seam("河河河", 4), 3);
        assert_eq!(seam("河河", 1), 3);
    }

    proptest! {
        #[test]
        fn windows_do_not_change_the_count(text in "([a-zA-Z]{1,9}|[0-9'é—/]{0,3}|[河水車這来。，“”「」]{1,5}[，。]|[ \r\n\t　]{1,3}|[ .,!?]{1,2}){0,60}", window in 64_usize..200) {
            for tokenizer in BOTH {
                let tables = tokenizer.tables();
                let mut rest = text.as_str();
                let mut whole = true;
                while rest.len() > window {
                    let at = seam(rest, window);
                    let before = rest[..at].chars().next_back();
                    whole &= before.is_some_and(char::is_alphabetic) && rest[at..].starts_with(ends_word);
                    rest = &rest[at..];
                }
                if whole {
                    prop_assert_eq!(count(tables, &text, window) as usize, tables.encode(&text).len());
                }
            }
        }

        #[test]
        fn no_character_has_more_tokens_than_bytes(text in "\\PC{0,40}") {
            for tokenizer in BOTH {
                prop_assert!(tokenizer.count(&text) as usize <= text.len());
            }
        }
    }
}
