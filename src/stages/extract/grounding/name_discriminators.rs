//! Marks words that distinguish a name from a similar one even if no list has the name: the 洪 of 洪老爹, the 府 of 府城, the
//! `Great` of `Great Tarrow`; also years in the sexagenary cycle. Does not compare texts.

use std::sync::LazyLock;

use serde::Deserialize;

use super::token::{Begins, Token, TokenKind};
use crate::attribution::surname_before_title;

static WORDS: LazyLock<DiscriminatorFile> = LazyLock::new(|| embedded_toml!("name_discriminators.toml"));

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DiscriminatorFile {
    en: EnglishWords,
    zh: ChineseCharacters,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EnglishWords {
    /// Words that distinguish two places or people of the same name, separated by whitespace.
    qualifiers: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChineseCharacters {
    /// Stems of the sexagenary cycle.
    stems: String,
    /// Branches of the sexagenary cycle.
    branches: String,
    /// Characters before 月 that name a month.
    months: String,
    /// Last characters of place names.
    place_endings: String,
    /// Characters that, before one of `place_endings`, are not part of a name.
    not_before_place_endings: String,
}

/// Sets the kind of distinguishing words. `words` are in text order.
pub(crate) fn mark(words: &mut [Token]) {
    let characters = &WORDS.zh;
    for at in 0..words.len() {
        let (before, behind) = words.split_at_mut(at + 1);
        let word = &mut before[at];
        let rest = behind.iter().take_while(|word| word.begins == Begins::Nothing);
        if !matches!(word.kind, TokenKind::Ordinary | TokenKind::Capital) {
            continue;
        }
        if !word.is_han() {
            let named =
                behind.first().is_some_and(|next| next.kind == TokenKind::Name && next.begins == Begins::Nothing);
            if named && WORDS.en.qualifiers.split_whitespace().any(|qualifier| qualifier == word.text) {
                word.kind = TokenKind::Discriminator;
            }
            continue;
        }
        let chars: Vec<char> =
            word.text.chars().chain(rest.take(4).map_while(|next| next.text.chars().next())).collect();
        let Some((&first, &next)) = chars.first().zip(chars.get(1)) else { continue };
        if characters.stems.contains(first) && characters.branches.contains(next) {
            word.kind = TokenKind::Number;
            behind[0].kind = TokenKind::Number;
        } else if first == '阿' && behind[0].kind == TokenKind::Ordinary {
            behind[0].kind = TokenKind::Discriminator;
        } else if characters.place_endings.contains(next) && !characters.not_before_place_endings.contains(first)
            || next == '月' && characters.months.contains(first)
        {
            word.kind = TokenKind::Discriminator;
        } else {
            let surname = surname_before_title(&chars);
            words[at..at + surname].iter_mut().for_each(|word| word.kind = TokenKind::Discriminator);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stages::extract::book_index::names::Names;
    use crate::stages::extract::grounding::tokens::words;

    fn marked(text: &str, kind: TokenKind) -> String {
        let words = words(text, 0, &Names::new(&[]), false);
        words.iter().filter(|word| word.kind == kind).map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn words_that_distinguish_names_are_marked() {
        for (text, expected) in [
            ("Great Tarrow and little Tarrow, the great fair", "great little"),
            ("闸上的洪老爹和欧阳先生，聂家的泉", "洪 欧 阳 聂"),
            ("到了府城，过了青石桥，这城里的阿宁", "府 石 宁"),
            ("他坐在那山上，看着河", ""),
            ("我们渡河去，沿江走", ""),
            ("她登山望江，他守城修桥", ""),
            ("正月里来，腊月里走", "正 腊"),
        ] {
            assert_eq!(marked(text, TokenKind::Discriminator), expected, "{text}");
        }
        assert_eq!(marked("庚申年的纸，丁卯年的帘，庚子", TokenKind::Number), "庚 申 丁 卯 庚 子");
    }
}
