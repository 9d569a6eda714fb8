//! Detects the language of a text.

use whatlang::Lang;

use super::is_han;
use super::words::WORDS;
use crate::schema::Language;

/// Returns the main language of a text: Chinese if more than 30% of its letters are Chinese characters, since an
/// English word takes about five letters where Chinese takes two.
#[must_use]
pub fn main_language(text: &str) -> Language {
    /// The number of bytes checked at a time for being ASCII.
    const BLOCK: usize = 32;
    let (mut han, mut letters) = (0_u64, 0_u64);
    let (bytes, mut at) = (text.as_bytes(), 0);
    while at < bytes.len() {
        let block = &bytes[at..bytes.len().min(at + BLOCK)];
        if block.is_ascii() {
            letters += u64::from(block.iter().map(|byte| u8::from(byte.is_ascii_alphabetic())).sum::<u8>());
            at += block.len();
            continue;
        }
        let end = at + block.len();
        while at < end {
            match bytes[at..] {
                [byte @ 0..0x80, ..] => {
                    letters += u64::from(byte.is_ascii_alphabetic());
                    at += 1;
                }
                // U+4000 to U+9FFF, except for the hexagrams.
                [first @ 0xe4..=0xe9, second, ..] if (first, second) != (0xe4, 0xb7) => {
                    (han, letters) = (han + 1, letters + 1);
                    at += 3;
                }
                _ => {
                    let Some(c) = text[at..].chars().next() else { break };
                    han += u64::from(is_han(c));
                    letters += u64::from(is_letter(c));
                    at += c.len_utf8();
                }
            }
        }
    }
    if han * 10 > letters * 3 { Language::Zh } else { Language::En }
}

/// Whether a character is a letter of any script. Common punctuation is excluded first, without table lookups.
fn is_letter(c: char) -> bool {
    match c {
        '\0'..='\x7f' => c.is_ascii_alphabetic(),
        '\u{2010}'..='\u{2027}' | '\u{3000}'..='\u{3004}' | '\u{3008}'..='\u{3020}' | '\u{ff01}'..='\u{ff20}' => false,
        _ => c.is_alphabetic(),
    }
}

/// Returns the English name of a text's language if it is neither English nor Chinese, or `None` if in doubt. Examines
/// a bounded number of places in the middle of the text.
#[must_use]
pub fn other_language(text: &str) -> Option<&'static str> {
    let passages = passages(text);
    let mut found = None;
    for passage in passages {
        if is_english(passage) {
            return None;
        }
        let info = whatlang::detect(passage).filter(whatlang::Info::is_reliable)?;
        let lang = info.lang();
        if matches!(lang, Lang::Eng | Lang::Cmn) || found.is_some_and(|found| found != lang) {
            return None;
        }
        found = Some(lang);
    }
    found.map(Lang::eng_name)
}

/// Returns some passages of a text, or none if it is too short to judge.
fn passages(text: &str) -> Vec<&str> {
    /// The number of passages, and the length of each in bytes.
    const COUNT: usize = 7;
    const LENGTH: usize = 2400;
    /// The minimum length of a text, in bytes.
    const SHORT: usize = 300;
    let cut = |from: usize, to: usize| &text[text.ceil_char_boundary(from)..text.floor_char_boundary(to)];
    if text.len() < SHORT {
        return Vec::new();
    }
    if text.len() < COUNT * LENGTH {
        return vec![cut(0, text.len().min(COUNT * LENGTH))];
    }
    // The text around a book is often English, whatever the language of the book.
    let (from, to) = (text.len() / 8, text.len() / 8 * 7 - LENGTH);
    (0..COUNT).map(|at| from + (to - from) / (COUNT - 1) * at).map(|at| cut(at, at + LENGTH)).collect()
}

/// Whether more than 4% of the words are common English words that related languages lack, including archaic ones. The
/// threshold is low because verse and plays have fewer of them than prose.
fn is_english(text: &str) -> bool {
    let (mut words, mut english) = (0_usize, 0_usize);
    for word in text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()) {
        words += 1;
        english += usize::from(WORDS.en.distinctive.iter().any(|common| word.eq_ignore_ascii_case(common)));
    }
    english * 25 > words
}

#[cfg(test)]
mod tests {
    use super::{main_language, other_language};
    use crate::schema::Language;

    #[test]
    fn languages_are_recognized_by_letters() {
        for (text, expected) in [
            ("A short text.", Language::En),
            ("他说：“OK，我们走吧。”", Language::Zh),
            ("He read the word 道 aloud and went home.", Language::En),
            ("", Language::En),
        ] {
            assert_eq!(main_language(text), expected, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn counting_in_blocks_agrees_with_counting_characters(text in "[a-z0-9 ，。“é\u{4000}\u{4dbf}\u{4dc0}\u{4dff}\u{4e00}\u{9fff}\u{20000}яーか]{0,90}") {
            let han = text.chars().filter(|c| super::is_han(*c)).count();
            let letters = text.chars().filter(|c| super::is_han(*c) || c.is_alphabetic()).count();
            let expected = if han * 10 > letters * 3 { Language::Zh } else { Language::En };
            proptest::prop_assert_eq!(main_language(&text), expected);
        }
    }

    #[test]
    fn the_letter_table_agrees_with_unicode() {
        assert!(('\0'..=char::MAX).all(|c| super::is_letter(c) == c.is_alphabetic()));
    }

    #[test]
    fn other_languages_are_named() {
        let french = "Il pleuvait sur le moulin depuis la veille, et personne ne dormait dans la maison. La roue ne tournait plus. \
            « Qui est là ? » demanda Anne en prenant la lampe, et elle descendit l'escalier, une main contre le mur. ";
        let german = "Es regnete die ganze Nacht auf das Wehr, und niemand in der Mühle schlief. Das Rad stand still, der Fluss ging \
            vorüber. »Wer ist da?«, fragte Anna und nahm die Lampe von der Wand, ehe sie langsam hinunterging. ";
        let russian = "Всю ночь шёл дождь, и никто на мельнице не спал. Колесо стояло, а река текла мимо. «Кто там?» — спросила \
            Анна и взяла лампу со стены, прежде чем спуститься вниз по лестнице. ";
        let japanese = "その夜はずっと雨が降っていて、水車小屋では誰も眠れなかった。車輪は止まり、川だけが流れていた。「どなたですか」とアンナは言い、ランプを手に取って階段を下りていった。";
        for (text, name) in [(french, "French"), (german, "German"), (russian, "Russian"), (japanese, "Japanese")] {
            for count in [3, 400] {
                assert_eq!(other_language(&text.repeat(count)), Some(name));
            }
        }
        // A translator's page at the start and a licence at the end are not part of the book.
        let english = "It rained on the weir all that night, and nobody in the mill slept; the wheel stood still. ";
        let framed = format!("{}{}{}", english.repeat(20), german.repeat(400), english.repeat(20));
        assert_eq!(other_language(&framed), Some("German"));
        assert_eq!(other_language(&format!("{}{}", french.repeat(200), english.repeat(300))), None);
    }

    #[test]
    fn dialects_and_verse_are_still_english_or_chinese() {
        for text in [
            "Tha knows nowt o’ t’ mill, lad, nor o’ them as worked it. Th’ wheel’s been stuck sin’ afore tha were born, an’ I’ll none shift it. ",
            "Thou shalt not go, nor shall thy brother bide; the tide is out, and mud is all thy road. ",
            "The rain it rained, the wheel stood still,\nThe river ran below the hill;\nAnd who should come when night was done\nBut she that never saw the sun? ",
            "ANNA. Who’s there?\nBORIS. Nobody.\nANNA. Then go away.\nBORIS. I cannot.\nANNA. Why not?\nBORIS. The river’s up. You know it is.\n",
            "“Dinna fash yersel’, lassie,” said he; “I hae nae mair to gie ye than the bit lamp, and ye ken it weel.” ",
            "夫水之为物也，柔而能胜刚，静而能制动。故智者观水而知其道，愚者观水而见其影。",
            "「佢哋喺度做咩嘢？」陸三更話：「唔好嘈，嗰個人嚟咗。」河邊有一座舊水車，三十年沒有轉過。",
            "他说：“OK，I see，我们走吧。”她回答：“No way！谁告诉你的？”两个人站在河边，谁也不动。",
            "Chapter 1\n\n“Mon Dieu!” cried she. “Qu’est-ce que c’est?” But nobody in the mill understood a word of it. ",
        ] {
            for count in [4, 20, 400] {
                assert_eq!(other_language(&text.repeat(count)), None, "{text}");
            }
        }
        assert_eq!(other_language("Oui."), None);
    }
}
