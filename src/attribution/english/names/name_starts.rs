//! Bit set of the tokens at which names begin, with a running count per 64 tokens: long books have millions of tokens
//! and few names.

/// Number of tokens per entry.
const TOKENS_PER_ENTRY: usize = u64::BITS as usize;

/// The tokens at which mentions of names begin.
#[derive(Debug, Default)]
pub(super) struct NameStarts {
    /// Per 64 tokens: their bits, and the number of mentions before them.
    pub(in crate::attribution::english) words: Vec<(u64, u32)>,
}

impl NameStarts {
    /// Builds the set from the first tokens of all mentions, in order.
    pub(in crate::attribution::english) fn new(name_starts: impl IntoIterator<Item = usize>) -> Self {
        let mut words: Vec<(u64, u32)> = Vec::new();
        for (before, head) in (0_u32..).zip(name_starts) {
            while words.len() <= head / TOKENS_PER_ENTRY {
                words.push((0, before));
            }
            words[head / TOKENS_PER_ENTRY].0 |= 1 << (head % TOKENS_PER_ENTRY);
        }
        Self { words }
    }

    /// Returns the number of mentions that begin before a token, and whether one begins at it.
    pub(super) fn rank(&self, at: usize) -> (usize, bool) {
        let Some(&(bits, before)) = self.words.get(at / TOKENS_PER_ENTRY) else {
            let all = self.words.last().map_or(0, |(bits, before)| before + bits.count_ones());
            return (all as usize, false);
        };
        let bit = 1 << (at % TOKENS_PER_ENTRY);
        (before as usize + (bits & (bit - 1)).count_ones() as usize, bits & bit != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_counts_the_names_that_start_before_an_offset() {
        let list = [0, 3, 63, 64, 200];
        let name_starts = NameStarts::new(list);
        for at in 0..400 {
            let before = list.iter().filter(|&&head| head < at).count();
            assert_eq!(name_starts.rank(at), (before, list.contains(&at)), "{at}");
        }
        assert_eq!(NameStarts::new([]).rank(5), (0, false));
    }

    #[test]
    fn long_passages_without_names_take_little_memory() {
        assert!(NameStarts::new([1_000_000]).words.len() * size_of::<(u64, u32)>() < 1_000_000 / 3);
    }
}
