//! Scripts of letters, as far as the form of a reply needs them. Pure; knows no language but by its script.

use crate::schema::Language;
use crate::text::is_han;

/// What a character belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    /// Latin letters.
    Latin,
    /// Chinese characters.
    Han,
    /// Marks that are as wide as a Chinese character and stand without spaces.
    Wide,
    /// Letters of any other script.
    Other,
    /// Everything else.
    None,
}

/// Returns the script of a character.
pub(super) fn of(c: char) -> Script {
    match c {
        'a'..='z' | 'A'..='Z' | '\u{aa}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => {
            if c.is_alphabetic() {
                Script::Latin
            } else {
                Script::None
            }
        }
        '々' | '〇' => Script::Han,
        _ if is_han(c) => Script::Han,
        '\u{3000}'..='\u{3020}' | '\u{ff00}'..='\u{ff20}' | '“' | '”' | '‘' | '’' | '…' | '—' => {
            Script::Wide
        }
        _ if c.is_alphabetic() => Script::Other,
        _ => Script::None,
    }
}

/// Returns the Latin words, the Chinese characters and the other letters of a text.
fn units(text: &str) -> (usize, usize, usize) {
    let (mut words, mut han, mut other, mut inside) = (0, 0, 0, false);
    for c in text.chars() {
        let script = of(c);
        match script {
            Script::Latin if !inside => words += 1,
            Script::Han => han += 1,
            Script::Other => other += 1,
            _ => {}
        }
        inside = script == Script::Latin || (inside && matches!(c, '\'' | '’' | '-'));
    }
    (words, han, other)
}

/// Returns how much a text says: three for a Latin word, two for a Chinese character or another letter.
pub(super) fn weight(text: &str) -> usize {
    let (words, han, other) = units(text);
    3 * words + 2 * (han + other)
}

/// Says whether most of a text is of another script than its language's. A name or a loan word here and there is no fault.
pub(super) fn is_foreign(text: &str, language: Language) -> bool {
    let (words, han, other) = units(text);
    let expected = match language {
        Language::En => words,
        Language::Zh => han,
    };
    let latin = language == Language::En && words >= LONG_ENOUGH;
    2 * expected < words + han + other || (latin && is_no_english(text))
}

/// The fewest words that a language is told by: fewer, full of names, are told wrongly too often.
const LONG_ENOUGH: usize = 12;

fn is_no_english(text: &str) -> bool {
    whatlang::detect(text).is_some_and(|info| info.is_reliable() && info.lang() != whatlang::Lang::Eng)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_tell_a_foreign_reply() {
        for (text, language, expected) in [
            ("I met 薛嵩 at the gate.", Language::En, false),
            ("我见过 Mr. Darcy 一面。", Language::Zh, false),
            ("我见过他一面。", Language::En, true),
            ("I have met him once.", Language::Zh, true),
            ("こんにちは、お元気ですか。", Language::Zh, true),
            ("Я вас не знаю.", Language::En, true),
            (
                "Je ne sais pas ce que vous voulez dire, monsieur, mais je vous écoute encore un moment.",
                Language::En,
                true,
            ),
            ("Nom de Dieu, monsieur!", Language::En, false),
            ("42!", Language::En, false),
        ] {
            assert_eq!(is_foreign(text, language), expected, "{text}");
        }
    }

    #[test]
    fn a_word_weighs_more_than_a_character() {
        assert_eq!((weight("don't go"), weight("别走"), weight("...")), (6, 4, 0));
    }
}
