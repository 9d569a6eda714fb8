//! Writing systems: classifies characters and detects replies in the wrong language.

use crate::schema::Language;
use crate::text::is_han;

/// The writing system of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Script {
    /// Latin letters.
    Latin,
    /// Chinese characters.
    Han,
    /// Full-width punctuation, written without spaces.
    Wide,
    /// Letters of other scripts.
    Other,
    /// Everything else.
    None,
}

/// Returns the script of a character.
pub(crate) fn of(c: char) -> Script {
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

/// Returns the numbers of Latin words, Chinese characters and other letters of a text.
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

/// Returns the weight of a text: 3 per Latin word, 2 per Chinese character or other letter.
pub(crate) fn weight(text: &str) -> usize {
    let (words, han, other) = units(text);
    3 * words + 2 * (han + other)
}

/// Returns whether most of a text is not in the script of the language, or is Latin text that is reliably detected as
/// not English. Single names and loan words are allowed.
pub(crate) fn is_foreign(text: &str, language: Language) -> bool {
    let (words, han, other) = units(text);
    let expected = match language {
        Language::En => words,
        Language::Zh => han,
    };
    let latin = language == Language::En && words >= LONG_ENOUGH;
    2 * expected < words + han + other || (latin && is_no_english(text))
}

/// Minimum number of words for language detection; shorter texts, full of names, are misdetected too often.
const LONG_ENOUGH: usize = 12;

fn is_no_english(text: &str) -> bool {
    whatlang::detect(text).is_some_and(|info| info.is_reliable() && info.lang() != whatlang::Lang::Eng)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_in_the_other_language_is_recognized_by_its_script() {
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
    fn a_word_has_more_weight_than_a_character() {
        assert_eq!((weight("don't go"), weight("别走"), weight("...")), (6, 4, 0));
    }
}
