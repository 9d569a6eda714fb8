//! Sets of short words and of characters, for fast look-ups in text.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;
use std::hash::Hasher;

/// A set of short words that is matched against the start or end of a clause.
pub(in crate::attribution) struct WordSet {
    set: HashSet<Vec<char>, BuildWordHasher>,
    longest: usize,
    /// First and last characters of the words, so that most look-ups need no hash.
    pub(in crate::attribution) first: CharSet,
    pub(in crate::attribution) last: CharSet,
}

impl WordSet {
    pub(in crate::attribution) fn new(list: &str) -> Self {
        let set: HashSet<Vec<char>, BuildWordHasher> =
            list.split_whitespace().map(|word| word.chars().collect()).collect();
        let longest = set.iter().map(Vec::len).max().unwrap_or(0);
        let mut words = Self { set: HashSet::default(), longest, first: CharSet::default(), last: CharSet::default() };
        for word in &set {
            words.first.add(word[0]);
            words.last.add(word[word.len() - 1]);
        }
        Self { set, ..words }
    }

    /// Whether the whole text is one of the words.
    pub(in crate::attribution) fn has(&self, word: &[char]) -> bool {
        word.first().is_some_and(|&c| self.first.has(c)) && word.len() <= self.longest && self.set.contains(word)
    }

    /// Returns the length of the longest word that the text starts with, 0 if none.
    pub(in crate::attribution) fn head(&self, chars: &[char]) -> usize {
        if !chars.first().is_some_and(|&c| self.first.has(c)) {
            return 0;
        }
        (1..=self.longest.min(chars.len())).rev().find(|&n| self.set.contains(&chars[..n])).unwrap_or(0)
    }

    /// Returns the length of the longest word that the text ends with, 0 if none.
    pub(in crate::attribution) fn tail(&self, chars: &[char]) -> usize {
        if !chars.last().is_some_and(|&c| self.last.has(c)) {
            return 0;
        }
        (1..=self.longest.min(chars.len())).rev().find(|&n| self.set.contains(&chars[chars.len() - n..])).unwrap_or(0)
    }
}

/// Fast hasher for the words of a table, which are looked up at every character of a book. The words are shipped with
/// the program, so no input can force collisions.
#[derive(Default)]
struct WordHasher(u64);

type BuildWordHasher = BuildHasherDefault<WordHasher>;

impl Hasher for WordHasher {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(byte.into());
        }
    }

    fn write_u32(&mut self, value: u32) {
        self.0 = (self.0.rotate_left(5) ^ u64::from(value)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn write_usize(&mut self, value: usize) {
        self.0 ^= value as u64;
    }
}

/// A set of characters: one bit each for the first 65,536 code points; all others count as members.
#[derive(Debug, Clone, Default)]
pub(in crate::attribution) struct CharSet {
    bits: Vec<u64>,
}

impl CharSet {
    /// Returns the set of the given characters, whitespace excluded.
    pub(in crate::attribution) fn of(chars: impl Iterator<Item = char>) -> Self {
        let mut set = Self::default();
        chars.filter(|c| !c.is_whitespace()).for_each(|c| set.add(c));
        set
    }

    /// Adds a character.
    pub(in crate::attribution) fn add(&mut self, c: char) {
        let at = c as usize;
        if at < 0x1_0000 {
            if self.bits.is_empty() {
                self.bits = vec![0; 0x400];
            }
            self.bits[at / 64] |= 1 << (at % 64);
        }
    }

    /// Whether the set may contain a character.
    pub(in crate::attribution) fn has(&self, c: char) -> bool {
        let at = c as usize;
        at >= 0x1_0000 || self.bits.get(at / 64).is_some_and(|bits| bits & (1 << (at % 64)) != 0)
    }
}
