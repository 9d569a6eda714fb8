//! Parses numbers as written in headings: digits, Roman numerals, English words, Chinese numerals.

use std::sync::LazyLock;

use serde::Deserialize;

static NUMERALS: LazyLock<Numerals> = LazyLock::new(|| embedded_toml!("numerals.toml"));

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Numerals {
    /// Roman numerals with their values, in descending order.
    roman: Vec<(String, u32)>,
    /// English cardinals and ordinals from 1 to 19.
    ones: Vec<(String, String)>,
    /// English cardinals and ordinals of the multiples of ten from 20 to 90.
    tens: Vec<(String, String)>,
    /// The Chinese digits from 0 to 9, each with its variants.
    chinese_digits: Vec<String>,
}

/// Parses a number in any of the forms used in headings. Returns `None` if it is not a number.
pub(crate) fn number(text: &str) -> Option<u32> {
    let text = text.trim();
    sign(text).or_else(|| digits(text)).or_else(|| roman(text)).or_else(|| words(text)).or_else(|| chinese(text))
}

/// Parses a single character: a circled number or a Unicode Roman numeral.
fn sign(text: &str) -> Option<u32> {
    let mut chars = text.chars();
    let (Some(c), None) = (chars.next(), chars.next()) else { return None };
    match c {
        '①'..='⑳' => Some(u32::from(c) - u32::from('①') + 1),
        'Ⅰ'..='Ⅻ' => Some(u32::from(c) - u32::from('Ⅰ') + 1),
        _ => None,
    }
}

/// Parses one to five ASCII or full-width digits.
pub(crate) fn digits(text: &str) -> Option<u32> {
    let count = text.chars().count();
    if !(1..=5).contains(&count) {
        return None;
    }
    text.chars().try_fold(0, |number, c| {
        let c = if ('０'..='９').contains(&c) { char::from_u32(u32::from(c) - 0xff10 + 0x30)? } else { c };
        Some(number * 10 + c.to_digit(10)?)
    })
}

/// Parses a Roman numeral, upper or lower case. Only the canonical spelling is accepted, to exclude words.
pub(crate) fn roman(text: &str) -> Option<u32> {
    if text.is_empty() || text.len() > 9 {
        return None;
    }
    let text = text.to_ascii_uppercase();
    let (mut rest, mut number) = (text.as_str(), 0);
    for (sign, value) in &NUMERALS.roman {
        let mut times = 0;
        while let Some(tail) = rest.strip_prefix(sign.as_str()) {
            rest = tail;
            number += value;
            times += 1;
        }
        if times > 3 || (times > 1 && (sign.len() == 2 || matches!(*value, 5 | 50 | 500))) {
            return None;
        }
    }
    // Above 300, the letters spell words more often than numbers.
    (rest.is_empty() && number <= 300).then_some(number)
}

/// Parses an English cardinal or ordinal below one thousand, such as `one hundred and twenty-first`.
pub(crate) fn words(text: &str) -> Option<u32> {
    let text = text.to_lowercase();
    let parts = text.split(['-', ' ', '‐', '–']).filter(|part| !matches!(*part, "" | "the" | "and"));
    let find = |table: &[(String, String)], word: &str| {
        let at = table.iter().position(|(cardinal, ordinal)| word == cardinal || word == ordinal)?;
        u32::try_from(at + 1).ok()
    };
    // A part must be smaller than this: `one two` is not a number, `twenty one` is.
    let (mut number, mut below) = (0, 100);
    for part in parts {
        if matches!(part, "hundred" | "hundredth") && (1..10).contains(&number) {
            (number, below) = (number * 100, 100);
            continue;
        }
        let value = find(&NUMERALS.ones, part).or_else(|| find(&NUMERALS.tens, part).map(|tens| (tens + 1) * 10))?;
        if value >= below {
            return None;
        }
        below = if value >= 20 { 10 } else { 1 };
        number += value;
    }
    (number > 0).then_some(number)
}

/// Returns a regular expression for the English number words.
pub(crate) fn pattern() -> String {
    let both = NUMERALS.ones.iter().chain(&NUMERALS.tens).flat_map(|(cardinal, ordinal)| [cardinal.as_str(), ordinal]);
    let mut words: Vec<&str> = both.chain(["hundred", "hundredth"]).collect();
    // Longer words first, since an alternation takes the first one that matches.
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    let word = words.join("|");
    format!(r"(?:{word})(?:[ ‐–-]+(?:and[ ‐–-]+)?(?:{word}))*\b")
}

/// Parses a Chinese numeral: with units (一百二十), digit by digit (一二〇), with 廿 and 卅, or Arabic digits.
pub(crate) fn chinese(text: &str) -> Option<u32> {
    if let Some(number) = digits(text) {
        return Some(number);
    }
    let digit = |c: char| {
        let value = NUMERALS.chinese_digits.iter().position(|variants| variants.contains(c))?;
        u32::try_from(value).ok()
    };
    if text.is_empty() || text.chars().count() > 9 {
        return None;
    }
    if text.chars().all(|c| digit(c).is_some()) {
        return text.chars().try_fold(0_u32, |number, c| number.checked_mul(10)?.checked_add(digit(c)?));
    }
    let (mut number, mut ones) = (0_u32, 0);
    for c in text.chars() {
        let unit = match c {
            // The unit multiplies everything before it.
            '万' | '萬' if number < 10_000 && number + ones > 0 => {
                (number, ones) = ((number + ones) * 10_000, 0);
                continue;
            }
            '十' | '拾' => 10,
            '百' | '佰' => 100,
            '千' | '仟' => 1000,
            '廿' => {
                number += 20;
                continue;
            }
            '卅' => {
                number += 30;
                continue;
            }
            _ => {
                ones = digit(c)?;
                continue;
            }
        };
        number += if ones == 0 { unit } else { ones * unit };
        ones = 0;
    }
    Some(number + ones)
}

#[cfg(test)]
mod tests {
    use super::{number, roman};

    #[test]
    fn numerals_are_parsed_in_many_forms() {
        for (text, expected) in [
            ("7", Some(7)),
            ("１２", Some(12)),
            ("XLIV", Some(44)),
            ("xii", Some(12)),
            ("IIII", None),
            ("VX", None),
            ("Twenty-One", Some(21)),
            ("the First", Some(1)),
            ("ninetieth", Some(90)),
            ("one two", None),
            ("one hundred and twenty-first", Some(121)),
            ("Two Hundred", Some(200)),
            ("hundred", None),
            ("twenty hundred", None),
            ("一百二十", Some(120)),
            ("一一〇", Some(110)),
            ("第一零零".trim_start_matches('第'), Some(100)),
            ("十", Some(10)),
            ("二十三", Some(23)),
            ("廿四", Some(24)),
            ("十一月", None),
            ("10000", Some(10_000)),
            ("一万零三", Some(10_003)),
            ("十二万", Some(120_000)),
            ("万一", None),
            ("", None),
        ] {
            assert_eq!(number(text), expected, "{text}");
        }
    }

    #[test]
    fn words_made_of_roman_digits_are_not_numerals() {
        for word in ["did", "mix", "civil", "mild", "DC"] {
            assert_eq!(roman(word), None, "{word}");
        }
    }
}
