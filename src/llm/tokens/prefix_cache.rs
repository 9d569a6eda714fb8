//! Estimates how many prompt tokens a server's prefix cache could serve.
//!
//! A prompt is cut into blocks of 16 tokens, counted without a vocabulary: four ASCII bytes, one character of three or
//! more bytes, or two other characters are one token. The hash of a block covers everything before it, so a known block
//! means a known prefix. The result depends on the set of prompts and not on their order: a block that occurs in
//! several prompts counts as new once. Memory is bounded: beyond a number of blocks only a sample by hash is kept.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use crate::schema::{Message, Role};

/// Quarter tokens per block.
const BLOCK_QUARTERS: usize = 64;

/// Number of distinct blocks at which every second one is dropped: the result is exact up to this number, and accurate
/// to about 1 % above it.
const MAX_BLOCKS: usize = 1 << 16;

/// Prompt blocks of one ask to one model.
#[derive(Debug, Default)]
pub(crate) struct Prefixes {
    kept: HashSet<u64, BuildHasherDefault<IdentityHasher>>,
    /// Blocks are kept if their hash ends in this many zero bits.
    level: u32,
    blocks: u64,
    quarters: u64,
}

impl Prefixes {
    /// Adds a prompt.
    pub(crate) fn add(&mut self, prompt: &Prompt) {
        self.blocks += prompt.blocks.len() as u64;
        self.quarters += prompt.quarters;
        for &block in &prompt.blocks {
            if block.trailing_zeros() < self.level {
                continue;
            }
            self.kept.insert(block);
            while self.kept.len() > MAX_BLOCKS {
                self.level += 1;
                let level = self.level;
                self.kept.retain(|block| block.trailing_zeros() >= level);
            }
        }
    }

    /// Returns the fraction of all prompt tokens that extend an earlier prompt, 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "token counts stay far below 2^52")]
    pub(crate) fn share(&self) -> f64 {
        let different = (self.kept.len() as u64) << self.level;
        let again = self.blocks.saturating_sub(different) as f64 * BLOCK_QUARTERS as f64;
        if self.quarters == 0 { 0.0 } else { (again / self.quarters as f64).min(1.0) }
    }
}

/// Hasher for values that are hashes already.
#[derive(Debug, Default)]
struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("the keys are u64 hashes");
    }

    fn write_u64(&mut self, hash: u64) {
        // The hashes of a sample have the same last bits, which a hash table uses to place entries.
        self.0 = hash.rotate_left(32);
    }
}

/// A prompt as the hashes of its blocks; each covers everything up to the end of the block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Prompt {
    blocks: Vec<u64>,
    quarters: u64,
}

impl Prompt {
    /// Cuts messages into blocks, each message preceded by its role; an incomplete block at the end is dropped.
    pub(crate) fn of(messages: &[Message]) -> Self {
        let mut text = String::with_capacity(messages.iter().map(|message| message.content.len() + 12).sum());
        for Message { role, content } in messages {
            text.push_str(match role {
                Role::System => "\nsystem\n",
                Role::User => "\nuser\n",
                Role::Assistant => "\nassistant\n",
            });
            text.push_str(content);
        }
        let (mut blocks, mut hash, mut at) = (Vec::with_capacity(text.len() / BLOCK_QUARTERS), 0, 0);
        while let Some(end) = block_end(&text, at) {
            hash = chained(hash, &text.as_bytes()[at..end]);
            blocks.push(hash);
            at = end;
        }
        let rest: usize = text[at..].chars().map(weight).sum();
        let quarters = (blocks.len() * BLOCK_QUARTERS + rest) as u64;
        Self { blocks, quarters }
    }
}

/// Returns the end of the block that starts at a byte; `None` if the text ends before.
fn block_end(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    // Most blocks of English prompts.
    if bytes.get(at..at + BLOCK_QUARTERS).is_some_and(<[u8]>::is_ascii) {
        return Some(at + BLOCK_QUARTERS);
    }
    let mut sum = 0;
    for (offset, c) in text[at..].char_indices() {
        sum += weight(c);
        if sum >= BLOCK_QUARTERS {
            return Some(at + offset + c.len_utf8());
        }
    }
    None
}

/// Returns the weight of a character in quarter tokens.
const fn weight(c: char) -> usize {
    match c.len_utf8() {
        1 => 1,
        2 => 2,
        _ => 4,
    }
}

/// Hashes a block with the hash of everything before it. Every bit of the result depends on every byte.
fn chained(before: u64, block: &[u8]) -> u64 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut hash = before ^ (block.len() as u64).wrapping_mul(ODD);
    for word in block.chunks(8) {
        let mut bytes = [0; 8];
        bytes[..word.len()].copy_from_slice(word);
        hash = (hash ^ u64::from_le_bytes(bytes)).wrapping_mul(ODD);
        hash ^= hash >> 29;
    }
    hash = (hash ^ (hash >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    hash ^ (hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(prompts: &[Vec<Message>]) -> f64 {
        let mut prefixes = Prefixes::default();
        for prompt in prompts {
            prefixes.add(&Prompt::of(prompt));
        }
        prefixes.share()
    }

    /// The prompts of a conversation, each extending the one before.
    fn turns(opening: &str, line: &str, count: usize) -> Vec<Vec<Message>> {
        let prompt =
            |turn: usize| vec![Message::system(opening), Message::user(format!("{opening}{}", line.repeat(turn)))];
        (0..count).map(prompt).collect()
    }

    #[test]
    fn the_shared_prefix_of_an_earlier_prompt_is_counted() {
        for (opening, line) in [
            ("You play Tess, a ferryman. ".repeat(40), "Tess: It rained all night. "),
            ("你演的是摆渡人老周。".repeat(40), "老周：昨夜下了一夜的雨。"),
        ] {
            let prompts = turns(&opening, &line.repeat(4), 10);
            let shared = share(&prompts);
            assert!((0.75..0.95).contains(&shared), "{shared}");
            assert!(share(&prompts[..1]).abs() < f64::EPSILON);
            // With another beginning nothing else can be cached.
            let otherwise = |(n, prompt): (usize, &Vec<Message>)| {
                [vec![Message::system(format!("{n} begins otherwise"))], prompt.clone()].concat()
            };
            let other: Vec<_> = prompts.iter().enumerate().map(otherwise).collect();
            assert!(share(&other).abs() < f64::EPSILON, "{}", share(&other));
        }
    }

    #[test]
    fn order_changes_nothing() {
        let mut prompts = turns(&"Once. ".repeat(90), "and then ", 30);
        prompts.extend(turns(&"从前。".repeat(90), "后来", 30));
        let forwards = share(&prompts);
        prompts.reverse();
        assert!((share(&prompts) - forwards).abs() < f64::EPSILON);
    }

    #[test]
    fn sampling_many_blocks_keeps_the_share_accurate() {
        let mut forwards = Prefixes::default();
        let mut backwards = Prefixes::default();
        let prompt = |n: usize| Prompt::of(&[Message::user(format!("{n:064}{}", "x".repeat(64 * 49)))]);
        // 400,000 blocks in 4,000 pairs of equal prompts.
        for n in 0..8000 {
            forwards.add(&prompt(n / 2));
            backwards.add(&prompt((7999 - n) / 2));
        }
        assert!(forwards.level > 0 && forwards.kept.len() <= MAX_BLOCKS);
        assert!((forwards.share() - 0.5).abs() < 0.01, "{}", forwards.share());
        assert!((forwards.share() - backwards.share()).abs() < f64::EPSILON);
    }

    #[test]
    fn blocks_have_sixteen_tokens() {
        let of = |text: &str| Prompt::of(&[Message::user(text)]).blocks.len();
        // The role before the text weighs six quarters.
        assert_eq!((of(&"x".repeat(57)), of(&"x".repeat(58)), of(&"x".repeat(122))), (0, 1, 2));
        assert_eq!((of(&"河".repeat(14)), of(&"河".repeat(15)), of(&"河".repeat(31))), (0, 1, 2));
    }
}
