//! Whether a text is in the language of its book.

use crate::schema::Language;
use crate::text::is_han;

/// Whether a text is in another language than the book. One Chinese character counts as four letters; a few words, such
/// as names in the other script, are not enough.
pub(super) fn is_foreign(text: &str, language: Language) -> bool {
    let (mut latin, mut han, mut kana) = (0_usize, 0_usize, 0_usize);
    for c in text.chars() {
        latin += usize::from(c.is_alphabetic() && !is_han(c));
        han += usize::from(is_han(c));
        kana += usize::from(matches!(c, '\u{3041}'..='\u{30ff}' | '\u{ac00}'..='\u{d7a3}'));
    }
    match language {
        Language::Zh => (latin >= 12 && latin > han * 4) || (kana >= 4 && kana * 4 > han),
        Language::En if han + kana >= 3 && (han + kana) * 4 > latin => true,
        Language::En => latin >= 60 && !is_english(text),
    }
}

/// Whether a short phrase is in another language than the book: it has no letter of its script.
pub(super) fn is_foreign_phrase(text: &str, language: Language) -> bool {
    let han = text.chars().filter(|c| is_han(*c)).count();
    let latin = text.chars().filter(|c| c.is_alphabetic() && !is_han(*c)).count();
    let is_other = match language {
        Language::En => han > 0 && latin == 0,
        Language::Zh => latin > 3 && han == 0,
    };
    is_other || is_foreign(text, language)
}

fn is_english(text: &str) -> bool {
    whatlang::detect(text)
        .is_none_or(|found| found.lang() == whatlang::Lang::Eng || !found.is_reliable() || found.confidence() < 0.95)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_language_is_recognized_by_its_letters() {
        for (text, language, expected) in [
            ("Anna asks Boris who took the stones away.", Language::En, false),
            ("陆平向周老七打听磨盘的去处。", Language::Zh, false),
            ("陆平向 Anna Catherine Montgomery 打听磨盘的去处。", Language::Zh, false),
            ("Lu Ping asks Zhou where the stones have gone.", Language::Zh, true),
            ("陆平向周老七打听磨盘的去处。", Language::En, true),
            ("He wrote 磨 on the door, and nobody could read it.", Language::En, false),
            ("OK", Language::Zh, false),
            (
                "Anna demande à Boris qui a emporté les pierres du moulin, et il lui répond qu’elle devrait voir le maire.",
                Language::En,
                true,
            ),
        ] {
            assert_eq!(is_foreign(text, language), expected, "{text}");
        }
        for (text, language, expected) in [
            ("nods", Language::Zh, true),
            ("点头", Language::Zh, false),
            ("点头", Language::En, true),
            ("nods", Language::En, false),
            ("拿起 iPad", Language::Zh, false),
            ("…", Language::En, false),
        ] {
            assert_eq!(is_foreign_phrase(text, language), expected, "{text}");
        }
    }
}
