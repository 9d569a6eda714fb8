//! Whether a Chinese word that attribution took for a speaker can name one person.
//!
//! Finds no names. `may_name_person` rejects doubtful words, so use it only for speakers with few quotations.

use crate::attribution::words::chinese::CHINESE;

/// Whether a word can name one person: a surname with a given name of one or two characters, or a word that ends in a
/// role, title or kinship noun.
pub(crate) fn may_name_person(name: &str) -> bool {
    let chars: Vec<char> = name.chars().map(|c| CHINESE.fold(c)).collect();
    if chars.len() < 2 || CHINESE.not_names.has(&chars) || CHINESE.plurals.tail(&chars) > 0 {
        return false;
    }
    if chars.iter().filter(|c| **c == '氏').count() > 1 {
        return false;
    }
    let person_words = [
        &CHINESE.titles_female,
        &CHINESE.titles_male,
        &CHINESE.titles_either,
        &CHINESE.generic_female,
        &CHINESE.generic_male,
        &CHINESE.generic_either,
        &CHINESE.roles,
    ];
    let tail = person_words.iter().map(|words| words.tail(&chars)).max().unwrap_or(0);
    // In longer text, a role noun at the end is the object of a verb and not a form of address.
    if tail > 0 && chars.len() <= 6 {
        return true;
    }
    let last = chars[chars.len() - 1];
    let is_familiar = matches!(chars[0], '小' | '老' | '阿');
    let surname = CHINESE.surnames.head(&chars);
    let given_name = &chars[surname..];
    let is_full_name = surname > 0 && (1..=2).contains(&given_name.len());
    let has_common_word =
        given_name.iter().any(|c| CHINESE.not_in_names.has(&[*c]) || CHINESE.not_in_short_names.has(&[*c]))
            || CHINESE.manner.has(given_name)
            || CHINESE.speech.has(given_name);
    is_familiar
        || (is_full_name && !has_common_word)
        || (chars.len() <= 4 && (CHINESE.address_endings.has(&[last]) || last == '人'))
}

/// Returns the length of the surname at the start of the text if a title or a word for the family follows it, else 0:
/// 洪老爹, 聂家.
pub(crate) fn surname_before_title(chars: &[char]) -> usize {
    let surname = CHINESE.surnames.head(chars);
    let ending = &chars[surname..];
    let titles = [&CHINESE.titles_female, &CHINESE.titles_male, &CHINESE.titles_either];
    let has_title =
        ending.first().is_some_and(|c| "家府氏某".contains(*c)) || titles.iter().any(|title| title.head(ending) > 0);
    if has_title { surname } else { 0 }
}

/// Whether a word is certainly not a name, however often attribution took it for a speaker: 微微, 心内.
pub(crate) fn is_common_word(name: &str) -> bool {
    let chars: Vec<char> = name.chars().map(|c| CHINESE.fold(c)).collect();
    let inward = matches!(chars.as_slice(), ['心' | '口' | '腹', '内' | '里' | '中' | '下']);
    inward || CHINESE.manner.has(&chars) || CHINESE.not_names.has(&chars)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_distinguished_from_common_words() {
        for (name, expected) in [
            ("陆平", true),
            ("欧阳木", true),
            ("茶铺伙计", true),
            ("那婆子", true),
            ("老汉", true),
            ("秋官", true),
            ("门", false),
            ("遠遠", false),
            ("方欲", false),
            ("心内", false),
            ("即刻", false),
            ("红绿", false),
            ("右手", false),
            ("尤氏李氏", false),
            ("小满", true),
        ] {
            assert_eq!(may_name_person(name), expected, "{name}");
        }
        assert!(is_common_word("心内") && is_common_word("微笑") && !is_common_word("陆平"));
    }
}
