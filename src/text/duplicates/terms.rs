//! The terms of questions: tokenization, numbering and storage.

use std::collections::HashMap;

use crate::text::bm25::Terms;

/// A term of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Term {
    /// Its position among the group's terms, rarest first.
    pub(super) rank: u32,
    /// Its number of occurrences in the question.
    pub(super) count: u32,
}

/// Converts a number of questions or terms. A larger group would not fit in memory.
pub(super) fn to_u32(number: usize) -> u32 {
    u32::try_from(number).expect("fewer than 2^32 questions and terms")
}

/// A list of lists in contiguous storage.
pub(super) struct Lists<T> {
    pub(super) values: Vec<T>,
    ends: Vec<usize>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { values: Vec::new(), ends: Vec::new() }
    }
}

impl<T: Copy> Lists<T> {
    pub(super) fn push(&mut self, values: &[T]) {
        self.values.extend_from_slice(values);
        self.ends.push(self.values.len());
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn range(&self, number: usize) -> std::ops::Range<usize> {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        start..self.ends[number]
    }

    pub(super) fn get(&self, number: u32) -> &[T] {
        &self.values[self.range(number as usize)]
    }

    pub(super) fn get_mut(&mut self, number: usize) -> &mut [T] {
        let range = self.range(number);
        &mut self.values[range]
    }
}

/// Tokenizes texts and numbers terms in order of occurrence.
#[derive(Default)]
pub(super) struct Reader {
    splitter: Terms,
    /// The numbers of short terms by their packed bytes, which is most terms.
    short: HashMap<u64, u32>,
    long: HashMap<String, u32>,
    of_text: Vec<Term>,
}

/// Packs the bytes and the length of a short term into an integer. `None` for longer terms.
fn packed(term: &str) -> Option<u64> {
    let mut bytes = [0; 8];
    bytes.get_mut(1..=term.len())?.copy_from_slice(term.as_bytes());
    bytes[0] = u8::try_from(term.len()).ok()?;
    Some(u64::from_le_bytes(bytes))
}

impl Reader {
    /// Returns the number of distinct terms so far.
    pub(super) fn vocabulary(&self) -> usize {
        self.short.len() + self.long.len()
    }

    /// Returns a text's terms, sorted. `rank` holds the term's number until ranks are known.
    pub(super) fn read(&mut self, text: &str) -> &[Term] {
        self.of_text.clear();
        self.splitter.each(text, |term| {
            let next = to_u32(self.short.len() + self.long.len());
            let rank = match packed(term) {
                Some(key) => *self.short.entry(key).or_insert(next),
                None => match self.long.get(term) {
                    Some(number) => *number,
                    None => *self.long.entry(term.to_owned()).or_insert(next),
                },
            };
            self.of_text.push(Term { rank, count: 1 });
        });
        if self.of_text.is_empty() && !text.trim().is_empty() {
            // Emoji and punctuation only: equal texts count as similar. No word starts with NUL.
            let next = to_u32(self.vocabulary());
            let rank = *self.long.entry(format!("\0{}", text.trim())).or_insert(next);
            self.of_text.push(Term { rank, count: 1 });
        }
        self.of_text.sort_unstable_by_key(|term| term.rank);
        self.of_text.dedup_by(|later, first| {
            let same = later.rank == first.rank;
            first.count += u32::from(same);
            same
        });
        &self.of_text
    }
}
