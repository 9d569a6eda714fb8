//! Token estimates for texts with an unknown tokenizer.
//!
//! The weights were fitted to `o200k_base` on public-domain novels in English, simplified and traditional Chinese.

use super::char_class::{COMMON, CharClass, char_class, is_traditional, point};

/// Weights in fractions of a token.
mod weight {
    /// Units per token.
    pub(crate) const TOKEN: u64 = 32;
    /// A word of up to [`SHORT`] letters.
    pub(crate) const WORD: u64 = TOKEN;
    /// Maximum number of letters in a word of one token.
    pub(crate) const SHORT: u64 = 7;
    /// Each further letter.
    pub(crate) const LETTER: u64 = 7;
    /// Additional weight of a word of three or more capitals.
    pub(crate) const CAPITALS: u64 = TOKEN / 2;
    /// A Chinese character.
    pub(crate) const HAN: u64 = 30;
    /// A Chinese character that exists only in the traditional script; vocabularies have few words with it.
    pub(crate) const TRADITIONAL: u64 = 42;
    /// The first punctuation mark of a run.
    pub(crate) const MARK: u64 = TOKEN;
    /// Each further mark.
    pub(crate) const FURTHER_MARK: u64 = 13;
    /// A run of line breaks; after a punctuation mark they belong to its token.
    pub(crate) const LINE: u64 = TOKEN;
    /// The indentation of a line.
    pub(crate) const INDENT: u64 = TOKEN / 2;
    /// Up to three digits.
    pub(crate) const DIGITS: u64 = TOKEN;
    /// A letter of another script.
    pub(crate) const OTHER: u64 = TOKEN;
}

/// Estimates the tokens of a text by script.
///
/// Within 3 % of `o200k_base` on whole novels, within 10 % on their chunks. The estimate of a text is at most the sum
/// of those of its parts, plus one token if they split a word. One pass, no allocation.
#[must_use]
pub fn estimate_tokens(text: &str) -> u32 {
    Estimate::of(text).tokens()
}

/// Weight of a text, from which the weights of concatenated texts can be computed without reading them again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Estimate {
    /// In units of [`weight::TOKEN`].
    sum: u64,
    /// Character classes at the start and end.
    ends: Option<(CharClass, CharClass)>,
}

impl Estimate {
    /// Estimates the tokens of a text.
    pub(crate) fn of(text: &str) -> Self {
        let ends = text
            .chars()
            .next()
            .zip(text.chars().next_back())
            .map(|(first, last)| (char_class(first), char_class(last)));
        Self { sum: weigh(text), ends }
    }

    /// Returns the number of tokens, rounded up.
    pub(crate) fn tokens(self) -> u32 {
        u32::try_from(self.sum.div_ceil(weight::TOKEN)).unwrap_or(u32::MAX)
    }

    /// Returns the weight of this text followed by the next one; `None` if a word or number spans the boundary.
    pub(crate) const fn joined(self, next: Self) -> Option<Self> {
        let (Some((first, before)), Some((after, last))) = (self.ends, next.ends) else {
            return Some(if self.ends.is_some() { self } else { next });
        };
        let saved = match (before, after) {
            (CharClass::Letter, CharClass::Letter) | (CharClass::Digit, CharClass::Digit) => return None,
            (CharClass::Mark, CharClass::Mark) => weight::MARK - weight::FURTHER_MARK,
            (CharClass::Mark | CharClass::Line, CharClass::Line) => weight::LINE,
            (CharClass::Line, CharClass::Blank) => 0,
            (_, CharClass::Blank) => weight::INDENT,
            _ => 0,
        };
        Some(Self { sum: self.sum + next.sum - saved, ends: Some((first, last)) })
    }
}

/// Weighs a text. Looking at one character after the other would stall at the end of every word, so characters whose
/// weight depends on their neighbors are weighed a block at a time.
fn weigh(text: &str) -> u64 {
    let (bytes, mut at) = (text.as_bytes(), 0);
    let (mut sum, mut block) = (0, Block::new());
    if text.chars().next().is_some_and(|c| char_class(c) == CharClass::Blank) {
        sum += weight::INDENT;
    }
    while let Some(&byte) = bytes.get(at) {
        if byte.is_ascii_digit() {
            let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            sum += digits.div_ceil(3) as u64 * weight::DIGITS;
            block.push(CharClass::Digit);
            at += digits;
        } else if byte.is_ascii() {
            at += block.fill(&bytes[at..]);
        } else if COMMON.contains(&byte) {
            for han in bytes[at..].chunks_exact(3).take_while(|han| COMMON.contains(&han[0])) {
                let traditional = is_traditional(point(han[0], han[1], han[2]));
                sum += weight::HAN + u64::from(traditional) * (weight::TRADITIONAL - weight::HAN);
                at += 3;
            }
            block.push(CharClass::Han);
        } else {
            let Some(c) = text[at..].chars().next() else { break };
            let char_class = char_class(c);
            sum += match char_class {
                CharClass::Han => weight::HAN,
                CharClass::Other => weight::OTHER,
                _ => 0,
            };
            block.push(char_class);
            at += c.len_utf8();
        }
    }
    sum + block.finish()
}

/// Number of characters in a block.
const BLOCK_CHARS: usize = 64;

/// Character class, one bit each; 0 for characters whose weight does not depend on their neighbors.
mod class_bit {
    pub(crate) const LETTER: u8 = 1;
    pub(crate) const CAPITAL: u8 = 2;
    pub(crate) const MARK: u8 = 4;
    pub(crate) const LINE: u8 = 8;
    pub(crate) const BLANK: u8 = 16;
}

const fn class_bit(char_class: CharClass) -> u8 {
    match char_class {
        CharClass::Letter => class_bit::LETTER,
        CharClass::Mark => class_bit::MARK,
        CharClass::Line => class_bit::LINE,
        CharClass::Blank => class_bit::BLANK,
        CharClass::Digit | CharClass::Han | CharClass::Traditional | CharClass::Other => 0,
    }
}

/// Classes of the first 128 characters except digits, which most English text consists of.
static ASCII: [u8; 128] = {
    let (mut classes, mut at) = ([0; 128], 0_u8);
    while at < 128 {
        let capital = if at.is_ascii_uppercase() { class_bit::CAPITAL } else { 0 };
        classes[at as usize] = class_bit(char_class(at as char)) | capital;
        at += 1;
    }
    classes
};

/// Set of positions in a block, one bit each, with the set of the block before.
#[derive(Clone, Copy, Default)]
struct PositionSet {
    now: u64,
    before: u64,
}

impl PositionSet {
    /// Moves on to the set of the next block.
    const fn next(&mut self, now: u64) {
        *self = Self { now, before: self.now };
    }

    /// Returns the positions this many places after those of the set.
    const fn shifted(self, by: u32) -> u64 {
        self.now << by | self.before >> (u64::BITS - by)
    }
}

/// Characters waiting to be weighed, and the state of those before.
struct Block {
    classes: [u8; BLOCK_CHARS],
    filled: usize,
    letters: PositionSet,
    /// Letters preceded by one letter, and by three.
    second: PositionSet,
    fourth: PositionSet,
    /// Capitals preceded only by capitals in their words.
    uppercase: PositionSet,
    marks: PositionSet,
    lines: PositionSet,
    sum: u64,
}

impl Block {
    fn new() -> Self {
        let none = PositionSet::default();
        Self {
            classes: [0; BLOCK_CHARS],
            filled: 0,
            letters: none,
            second: none,
            fourth: none,
            uppercase: none,
            marks: none,
            lines: none,
            sum: 0,
        }
    }

    fn push(&mut self, char_class: CharClass) {
        self.classes[self.filled] = class_bit(char_class);
        self.filled += 1;
        if self.filled == BLOCK_CHARS {
            self.weigh();
        }
    }

    /// Takes the leading ASCII characters of a text, up to a digit or a full block; returns their number.
    fn fill(&mut self, bytes: &[u8]) -> usize {
        let free = &mut self.classes[self.filled..];
        let mut count = 0;
        for (free, &byte) in free.iter_mut().zip(bytes) {
            if !byte.is_ascii() || byte.is_ascii_digit() {
                break;
            }
            *free = ASCII[byte as usize];
            count += 1;
        }
        self.filled += count;
        if self.filled == BLOCK_CHARS {
            self.weigh();
        }
        count
    }

    /// Weighs the characters of a full block.
    fn weigh(&mut self) {
        let [letters, capitals, marks, lines, blanks] = self.sets();
        self.filled = 0;
        self.letters.next(letters);
        self.marks.next(marks);
        self.lines.next(lines);
        let words = letters & !self.letters.shifted(1);
        self.second.next(letters & self.letters.shifted(1));
        self.fourth.next(self.second.now & self.second.shifted(2));
        let beyond_short = self.fourth.now & self.fourth.shifted(4);
        let first_lines = lines & !self.lines.shifted(1) & !self.marks.shifted(1);
        self.sum += u64::from((words | marks | first_lines).count_ones()) * weight::TOKEN;
        self.sum += u64::from(beyond_short.count_ones()) * weight::LETTER;
        self.sum -= u64::from((marks & self.marks.shifted(1)).count_ones()) * (weight::MARK - weight::FURTHER_MARK);
        self.sum += u64::from((blanks & self.lines.shifted(1)).count_ones()) * weight::INDENT;
        // The carry of the sum runs through the capitals after the first of a word, also over the end of the block.
        let (begun, carry) = ((words & capitals), self.uppercase.now >> (u64::BITS - 1));
        let (sum, over) = capitals.carrying_add(begun, carry == 1);
        self.uppercase.next((sum ^ capitals ^ begun) >> 1 | u64::from(over) << (u64::BITS - 1));
        let uppercase_words = !letters & self.uppercase.shifted(1) & self.second.shifted(1) & self.second.shifted(2);
        self.sum += u64::from(uppercase_words.count_ones()) * weight::CAPITALS;
    }

    /// Returns the positions of each class.
    fn sets(&self) -> [u64; 5] {
        let mut sets = [0; 5];
        for (at, eight) in self.classes.as_chunks::<8>().0.iter().enumerate() {
            let eight = u64::from_le_bytes(*eight);
            for (bit, set) in sets.iter_mut().enumerate() {
                // The multiplication collects the lowest bits of all bytes in the highest byte.
                let bits = (eight >> bit & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56;
                *set |= bits << (8 * at);
            }
        }
        sets
    }

    /// Weighs the rest, and returns the total weight.
    fn finish(mut self) -> u64 {
        // The end of the text ends the last word.
        self.classes[self.filled..].fill(0);
        self.weigh();
        self.sum
    }
}

// A block finds the letters beyond the seventh, and counts words, marks and line breaks at the same time.
const _: () = assert!(
    weight::SHORT == 7
        && weight::WORD == weight::TOKEN
        && weight::MARK == weight::TOKEN
        && weight::LINE == weight::TOKEN
);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{CharClass, Estimate, char_class, estimate_tokens, weight};

    /// Texts of several kinds with their token counts by `o200k_base`.
    const COUNTED: &[(&str, u32)] = &[
        (
            "The ferry came in at a quarter past six, which was an hour late, and nobody on the quay had gone home. Old Mrs. Tarrant sat on a crate of onions with her hands folded; the two Pell boys threw stones at a bollard and missed it, again and again, with great conscientiousness.\n\n“She’ll have the letter,” said the harbour-master. “She always has the letter, and she never gives it to anyone but Joseph.”\n\n“Then where is Joseph?” asked the younger Pell.\n\nNobody answered. The gangway was let down with a noise like a dropped drawer of spoons, and the first passenger to set foot on it—a tall, colourless woman, wearing two coats—looked straight at the onions and began to laugh.\n",
            154,
        ),
        (
            "天还没有亮，码头上已经站满了人。卖馄饨的老周把炉子搬到墙根底下，一边扇火，一边数着今天要还的账：房租三块，煤钱一块二，还有女儿的学费。\n“听说船今天不来了。”有人在他背后说。\n“谁讲的？”老周头也不抬，“昨天电报里写得清清楚楚，早上六点，一分钟都不会差。”\n那个人没有再说话，只是把手伸进怀里，摸出一封皱巴巴的信，放在炉子旁边的凳子上。信封上写着老周的名字，字迹他认得，是他以为早就不在人世的弟弟写的。\n",
            180,
        ),
        (
            "卻說那日雨後，莊上的人都到河邊看水。只見一個老者撐著傘，慢慢走過橋來，身後跟著兩個孩子，手裡各提一盞燈。\n「老爺子，這麼晚了，還要進城去麼？」守橋的問道。\n老者笑道：「不進城，是來還債的。二十年前，我在這裡借過三百文錢，說好秋後歸還，誰知一去便是半生。」說罷，從袖中取出一個布包，雙手遞與他。\n",
            151,
        ),
        (
            "SCENE 2. A kitchen, 1931. Night.\n\nRUTH\n(without turning round)\nYou said ten o'clock. It's 11:40.\n\nDANIEL\nI said about ten.\n\nHe puts three pounds 15 on the table, one coin after another.\n",
            58,
        ),
    ];

    #[test]
    fn estimates_are_close_to_known_counts() {
        for (text, tokens) in COUNTED {
            let estimate = estimate_tokens(text);
            assert!(
                estimate.abs_diff(*tokens) * 100 <= tokens * 8,
                "{text}: estimated {estimate}, expected about {tokens}"
            );
        }
        assert_eq!(estimate_tokens(""), 0);
    }

    #[test]
    fn line_endings_and_indents_are_estimated_like_a_tokenizer() {
        for (text, tokens) in [
            ("one\n\n\ntwo", 3),
            ("one.\r\n\r\ntwo", 3),
            ("one two", 2),
            ("1234567", 3),
            ("1931-32", 4),
            ("    ", 1),
            ("conscientiousness", 4),
        ] {
            assert_eq!(estimate_tokens(text), tokens, "{text:?}");
        }
    }

    /// Weighs a text one character after the other, as a reference.
    fn weigh_one_by_one(text: &str) -> u64 {
        let (mut sum, mut word, mut digits, mut before) = (0, Vec::new(), 0_u64, None);
        for c in text.chars().map(Some).chain([None]) {
            let char_class = c.map(char_class);
            if char_class != Some(CharClass::Letter) && !word.is_empty() {
                let letters = word.len() as u64;
                let uppercase = letters >= 3 && word.iter().all(char::is_ascii_uppercase);
                sum += weight::WORD + letters.saturating_sub(weight::SHORT) * weight::LETTER;
                sum += if uppercase { weight::CAPITALS } else { 0 };
                word.clear();
            }
            let Some((c, char_class)) = c.zip(char_class) else { break };
            word.extend((char_class == CharClass::Letter).then_some(c));
            digits = if char_class == CharClass::Digit { digits + 1 } else { 0 };
            sum += match char_class {
                CharClass::Digit if digits % 3 == 1 => weight::DIGITS,
                CharClass::Mark if before == Some(CharClass::Mark) => weight::FURTHER_MARK,
                CharClass::Mark => weight::MARK,
                CharClass::Line if matches!(before, Some(CharClass::Mark | CharClass::Line)) => 0,
                CharClass::Line => weight::LINE,
                CharClass::Blank if matches!(before, None | Some(CharClass::Line)) => weight::INDENT,
                CharClass::Han => weight::HAN,
                CharClass::Traditional => weight::TRADITIONAL,
                CharClass::Other => weight::OTHER,
                CharClass::Blank | CharClass::Letter | CharClass::Digit => 0,
            };
            before = Some(char_class);
        }
        sum
    }

    fn texts() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            "[a-zA-Z0-9 ,.“”「」。，河水來這㐀䷀豈𠮷\n\r\t　é\u{a0}ця]{0,40}",
            "[A-Z]{1,140}",
            "[a-zéÀ]{1,140}",
            "[0-9]{1,90}",
            "[ .\n]{1,90}",
            "\\PC{0,40}",
        ];
        proptest::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn the_parts_have_at_least_the_tokens_of_the_whole(text in "[a-zA-Z0-9 ,.“”「」。，河水來這\n\r\t　é]{0,80}", at in 0_usize..80) {
            let at = text.char_indices().nth(at).map_or(text.len(), |(at, _)| at);
            let (first, second) = text.split_at(at);
            let within = first.ends_with(char::is_alphanumeric) && second.starts_with(char::is_alphanumeric);
            let parts = estimate_tokens(first) + estimate_tokens(second) + u32::from(within);
            prop_assert!(parts >= estimate_tokens(&text), "{:?} + {:?}", first, second);
        }

        #[test]
        fn blocks_have_the_weight_of_their_characters(text in texts()) {
            prop_assert_eq!(Estimate::of(&text).sum, weigh_one_by_one(&text));
        }

        #[test]
        fn estimates_of_parts_join(first in texts(), second in texts()) {
            let both = format!("{first}{second}");
            if let Some(joined) = Estimate::of(&first).joined(Estimate::of(&second)) {
                prop_assert_eq!(joined, Estimate::of(&both));
            } else {
                let within = |c: Option<char>| c.is_some_and(|c| matches!(char_class(c), CharClass::Letter | CharClass::Digit));
                prop_assert!(within(first.chars().next_back()) && within(second.chars().next()));
            }
        }
    }
}
