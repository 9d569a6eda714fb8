//! Tokenizes utterances for comparison: marks names, numbers and negations, and clause boundaries. Tokens are words in
//! alphabetic scripts, characters in Chinese. Uses no data of the book except the names passed in.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use serde::Deserialize;

use super::name_discriminators;
use super::token::{Begins, Token, TokenKind};
use crate::stages::extract::book_index::names::Names;
use crate::text::is_han;

/// Maps characters that count as the same to one: ignores case, width and script.
pub(crate) fn folded(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '‘' | '’' => '\'',
        c if is_han(c) => crate::attribution::folded(c),
        c => c,
    }
}

static WORDS: LazyLock<TokenFile> = LazyLock::new(|| embedded_toml!("tokens.toml"));

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenFile {
    en: EnglishWords,
    zh: ChineseWords,
}

/// Words separated by whitespace, and tables.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EnglishWords {
    negations: String,
    fillers: String,
    titles: String,
    /// Number words that are not part of a compound.
    counting: String,
    /// The numbers from 0 to 19, in order.
    units: String,
    /// The multiples of ten from 20 to 90, in order.
    tens: String,
    scales: HashMap<String, u64>,
    /// Endings that make another word of a number.
    number_endings: String,
    /// Words that are capitalized only at the beginning of sentences, even if a passage never has them in lower case.
    common: String,
    contracted_endings: Vec<(String, String)>,
    contractions: Vec<(String, String, String)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChineseWords {
    /// Characters of negation.
    negations: String,
    /// Interjections and particles of one character.
    fillers: String,
}

/// Only looked up, never iterated.
struct Tables {
    negations: HashSet<&'static str>,
    fillers: HashSet<&'static str>,
    titles: HashSet<&'static str>,
    counting: HashSet<&'static str>,
    common: HashSet<&'static str>,
    cardinals: HashMap<&'static str, u64>,
    contractions: HashMap<&'static str, (&'static str, &'static str)>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let set = |text: &'static str| text.split_whitespace().collect();
    let words = &WORDS.en;
    let units = (0..).zip(words.units.split_whitespace()).map(|(value, word)| (word, value));
    let tens = (2..).zip(words.tens.split_whitespace()).map(|(value, word)| (word, value * 10));
    let scales = words.scales.iter().map(|(word, value)| (word.as_str(), *value));
    let contractions =
        words.contractions.iter().map(|(word, stem, rest)| (word.as_str(), (stem.as_str(), rest.as_str())));
    Tables {
        negations: set(&words.negations),
        fillers: set(&words.fillers),
        titles: set(&words.titles),
        counting: set(&words.counting),
        common: set(&words.common),
        cardinals: units.chain(tens).chain(scales).collect(),
        contractions: contractions.collect(),
    }
});

/// Whether a capital at the beginning of a sentence is no evidence of a name.
pub(crate) fn is_common(word: &str) -> bool {
    TABLES.common.contains(word)
}

/// Splits a text into tokens. `start` is its offset in code points; the first word begins a sentence.
pub(crate) fn words(text: &str, start: u32, names: &Names, newline_parts: bool) -> Vec<Token> {
    let mut reader = Reader { words: Vec::new(), begins: Begins::Sentence };
    let chars: Vec<(usize, char)> = text.char_indices().map(|(byte, c)| (byte, folded(c))).collect();
    let shouted = !chars.iter().any(|(_, c)| c.is_lowercase());
    let mut spans = names.spans(text).into_iter().peekable();
    let point = |at: usize| start + u32::try_from(at).unwrap_or(u32::MAX);
    let mut at = 0;
    while let Some(&(byte, c)) = chars.get(at) {
        while spans.next_if(|(_, end, _)| *end <= byte).is_some() {}
        let is_name = spans.peek().is_some_and(|(begin, _, _)| *begin <= byte);
        if is_han(c) {
            let mut end = at + 1;
            if !is_name && is_numeral(c) {
                while chars.get(end).is_some_and(|(_, c)| is_numeral(*c)) {
                    end += 1;
                }
                // After a number 两 is a unit of weight.
                end -= usize::from(end > at + 1 && chars[end - 1].1 == '两');
            }
            let run: String = chars[at..end].iter().map(|(_, c)| *c).collect();
            reader.han(run, is_name, point(at), point(end));
            at = end;
        } else if c.is_alphanumeric() {
            let mut end = at + 1;
            let inner = |end: usize| {
                let next = chars.get(end + 1).is_some_and(|(_, c)| c.is_alphanumeric());
                next && (chars[end].1 == '\''
                    || chars[end].1 == ',' && chars[end - 1].1.is_numeric() && chars[end + 1].1.is_numeric())
            };
            while chars.get(end).is_some_and(|(_, c)| (c.is_alphanumeric() && !is_han(*c)) || inner(end)) {
                end += 1;
            }
            let run: String = chars[at..end].iter().map(|(_, c)| *c).collect();
            reader.alphabetic(&run, is_name, shouted, point(at), point(end));
            at = end;
        } else {
            let ends = chars.get(at + 1).is_none_or(|(_, c)| !c.is_alphanumeric());
            let abbreviates =
                c == '.' && reader.words.last().is_some_and(|word| TABLES.titles.contains(word.text.as_str()));
            let begins = match c {
                '.' if abbreviates => Begins::Nothing,
                '.' | '!' | '?' | '…' | '。' | ';' | ':' | '“' | '”' | '「' | '」' | '『' | '』' | '"' | '(' | ')'
                | '—' => Begins::Sentence,
                '\n' if newline_parts || chars.get(at + 1).is_some_and(|(_, c)| *c == '\n') => Begins::Sentence,
                '-' | '·' if !ends => Begins::Nothing,
                '\'' => Begins::Nothing,
                c if c.is_whitespace() => Begins::Nothing,
                _ => Begins::Clause,
            };
            reader.begins = reader.begins.max(begins);
            at += 1;
        }
    }
    let mut words = numbers(&reader.words);
    name_discriminators::mark(&mut words);
    words
}

struct Reader {
    words: Vec<Token>,
    begins: Begins,
}

impl Reader {
    fn push(&mut self, text: String, kind: TokenKind, start: u32, end: u32) {
        let begins = std::mem::replace(&mut self.begins, Begins::Nothing);
        self.words.push(Token { text, kind, start, end, begins });
    }

    fn han(&mut self, run: String, is_name: bool, start: u32, end: u32) {
        // 一 is usually not a number.
        let kind = match run.as_str() {
            _ if is_name => TokenKind::Name,
            "一" => TokenKind::Ordinary,
            "半" => TokenKind::Number,
            one if one.starts_with(is_numeral) => TokenKind::Number,
            one if WORDS.zh.negations.contains(one) => TokenKind::Negation,
            one if WORDS.zh.fillers.contains(one) => TokenKind::Filler,
            _ => TokenKind::Ordinary,
        };
        let text =
            if kind == TokenKind::Number { han_number(&run).map_or(run, |value| value.to_string()) } else { run };
        self.push(text, kind, start, end);
    }

    fn alphabetic(&mut self, run: &str, is_name: bool, shouted: bool, start: u32, end: u32) {
        let lower = run.to_lowercase();
        let capital = run.starts_with(char::is_uppercase) && !shouted;
        let (stem, rest) = contracted(&lower);
        let kind = |text: &str, begins: Begins| {
            if is_name && !matches!(text, "the" | "of" | "and" | "a" | "s") {
                TokenKind::Name
            } else if TABLES.negations.contains(text) {
                TokenKind::Negation
            } else if TABLES.counting.contains(text) || text.starts_with(|c: char| c.is_numeric()) || counts(text) {
                TokenKind::Number
            } else if TABLES.fillers.contains(text) {
                TokenKind::Filler
            } else if capital && text != "i" && !TABLES.cardinals.contains_key(text) {
                if begins == Begins::Sentence { TokenKind::Capital } else { TokenKind::Name }
            } else {
                TokenKind::Ordinary
            }
        };
        let stem = stem.replace(['\'', ','], "");
        self.push(stem.clone(), kind(&stem, self.begins), start, end);
        if let Some(rest) = rest {
            let kind = if rest == "not" { TokenKind::Negation } else { TokenKind::Ordinary };
            self.push(rest.to_owned(), kind, start, end);
        }
    }
}

/// Whether a word contains a number: `fourpence`, `threefold`, `fourteenth`.
fn counts(word: &str) -> bool {
    let of = |end: &str| word.strip_suffix(end).is_some_and(|stem| TABLES.cardinals.contains_key(stem));
    WORDS.en.number_endings.split_whitespace().any(of) || word.ends_with("tieth")
}

/// Expands a contraction.
fn contracted(word: &str) -> (&str, Option<&'static str>) {
    if let Some((stem, rest)) = TABLES.contractions.get(word) {
        return (stem, Some(rest));
    }
    for (end, out) in &WORDS.en.contracted_endings {
        if let Some(stem) = word.strip_suffix(end.as_str()).filter(|stem| !stem.is_empty()) {
            return (stem, Some(out));
        }
    }
    // `is`, `has` or a possessive: the word alone does not show which.
    match word.strip_suffix("'s") {
        Some(stem) if !stem.is_empty() => (stem, Some("is")),
        _ => (word, None),
    }
}

const fn is_numeral(c: char) -> bool {
    matches!(
        c,
        '〇' | '零'
            | '一'
            | '二'
            | '三'
            | '四'
            | '五'
            | '六'
            | '七'
            | '八'
            | '九'
            | '十'
            | '百'
            | '千'
            | '万'
            | '亿'
            | '两'
            | '廿'
            | '卅'
            | '0'..='9'
    )
}

/// Parses a Chinese number.
fn han_number(run: &str) -> Option<u64> {
    let digit = |c: char| "零一二三四五六七八九".chars().zip(0..).find(|(d, _)| *d == c).map(|(_, value)| value);
    let digit = |c: char| match c {
        '〇' => Some(0),
        '两' => Some(2),
        c => digit(c).or(c.to_digit(10).map(u64::from)),
    };
    if let Some(digits) = run.chars().map(digit).collect::<Option<Vec<u64>>>() {
        return digits.into_iter().try_fold(0_u64, |all, digit| all.checked_mul(10)?.checked_add(digit));
    }
    let (mut all, mut section, mut last) = (0_u64, 0_u64, None::<u64>);
    for c in run.chars() {
        match c {
            '十' | '百' | '千' => {
                let scale = match c {
                    '十' => 10,
                    '百' => 100,
                    _ => 1000,
                };
                section += last.take().unwrap_or(1) * scale;
            }
            '廿' => section += 20,
            '卅' => section += 30,
            '万' | '亿' => {
                let scale = if c == '万' { 10_000 } else { 100_000_000 };
                all = (all + section + last.take().unwrap_or(0)).max(1).checked_mul(scale)?;
                section = 0;
            }
            c => {
                let digit = digit(c)?;
                last = Some(
                    last.filter(|_| c.is_ascii_digit())
                        .map_or(Some(digit), |before| before.checked_mul(10)?.checked_add(digit))?,
                );
            }
        }
    }
    Some(all + section + last.unwrap_or(0))
}

/// Merges the words of one number: `one hundred and thirty-seven` becomes `137`.
fn numbers(words: &[Token]) -> Vec<Token> {
    let value = |at: usize| {
        words
            .get(at)
            .filter(|word| word.kind != TokenKind::Name)
            .and_then(|word| TABLES.cardinals.get(word.text.as_str()))
            .copied()
    };
    let within = |at: usize| words.get(at).is_some_and(|word| word.begins == Begins::Nothing);
    let mut joined: Vec<Token> = Vec::with_capacity(words.len());
    let mut at = 0;
    while at < words.len() {
        let Some(first) = value(at) else {
            joined.push(words[at].clone());
            at += 1;
            continue;
        };
        let (mut all, mut current, mut end) = (0_u64, first, at + 1);
        loop {
            let and = end > at + 1 && words.get(end).is_some_and(|word| word.text == "and") && current % 100 == 0;
            let next = end + usize::from(and);
            let Some(number) = value(next).filter(|_| within(next) && within(end)) else { break };
            match number {
                100 if !and && (1..100).contains(&current) => current *= 100,
                1000.. if !and && current > 0 => {
                    all += current.saturating_mul(number);
                    current = 0;
                }
                1..100 if current % 100 == 0 => current += number,
                1..10 if current % 10 == 0 && current % 100 >= 20 => current += number,
                _ => break,
            }
            end = next + 1;
        }
        // `One` is usually a pronoun.
        let kind = if end == at + 1 && words[at].text == "one" { TokenKind::Ordinary } else { TokenKind::Number };
        let text = if kind == TokenKind::Ordinary { "one".to_owned() } else { all.saturating_add(current).to_string() };
        joined.push(Token { text, kind, start: words[at].start, end: words[end - 1].end, begins: words[at].begins });
        at = end;
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, TokenKind)> {
        words(text, 0, &Names::new(&[]), false).into_iter().map(|word| (word.text, word.kind)).collect()
    }

    fn texts(text: &str) -> String {
        read(text).into_iter().map(|(text, _)| text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn spelling_variants_are_the_same_token() {
        for (one, other) in [
            ("I’m sure he won't, and they'll say so.", "i am SURE he will not and they will say so"),
            ("One hundred and thirty-seven days, 9 pounds", "137 days nine pounds"),
            ("Twenty-one thousand four hundred", "21,400"),
            ("Can't you? Cannot I?", "can not you can not i"),
            ("這裏沒有一百三十七個人", "这里没有137个人"),
            ("一万二千零五十两", "12050两"),
            ("ＡＢＣ，二十", "abc 二十"),
        ] {
            let (one, other) = (texts(one), texts(other));
            assert_eq!(one.replace(' ', ""), other.replace(' ', ""));
        }
        assert_ne!(texts("twenty-one"), texts("twenty-two"));
        assert_ne!(texts("三四个"), texts("四个"));
    }

    #[test]
    fn names_numbers_and_negations_are_recognized() {
        use TokenKind::{Capital, Filler, Name, Negation, Number, Ordinary};
        let kinds = |text: &str| read(text).into_iter().map(|(_, kind)| kind).collect::<Vec<_>>();
        assert_eq!(kinds("Oh, Mr. Lunt never paid nine"), [Filler, Name, Name, Negation, Ordinary, Number]);
        assert_eq!(kinds("Splendid. I didn't"), [Capital, Ordinary, Ordinary, Negation]);
        assert_eq!(kinds("fourpence threefold fourteenth thirtieth worth"), [Number, Number, Number, Number, Ordinary]);
        assert_eq!(kinds("One of them"), [Ordinary; 3]);
        assert_eq!(kinds("SIT DOWN"), [Ordinary; 2]);
        assert_eq!(kinds("啊，沒有一個，十個"), [Filler, Negation, Ordinary, Ordinary, Ordinary, Number, Ordinary]);
    }
}
