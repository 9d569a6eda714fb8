//! Finds a cheap word-by-word alignment of an utterance with a passage.

use std::collections::HashMap;

use super::token::{Token, TokenKind};

/// One step of an alignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Same(usize, usize),
    /// A typo.
    Slip(usize, usize),
    Other(usize, usize),
    /// Only in the utterance.
    Added(usize),
    /// Only in the passage.
    Missing(usize),
}

impl Step {
    /// Returns the step shifted by an offset in both texts.
    pub(super) const fn behind(self, own: usize, other: usize) -> Self {
        match self {
            Self::Same(line, book) => Self::Same(line + own, book + other),
            Self::Slip(line, book) => Self::Slip(line + own, book + other),
            Self::Other(line, book) => Self::Other(line + own, book + other),
            Self::Added(line) => Self::Added(line + own),
            Self::Missing(book) => Self::Missing(book + other),
        }
    }

    pub(super) const fn line(self) -> Option<usize> {
        match self {
            Self::Same(line, _) | Self::Slip(line, _) | Self::Other(line, _) | Self::Added(line) => Some(line),
            Self::Missing(_) => None,
        }
    }

    pub(super) const fn book(self) -> Option<usize> {
        match self {
            Self::Same(_, book) | Self::Slip(_, book) | Self::Other(_, book) | Self::Missing(book) => Some(book),
            Self::Added(_) => None,
        }
    }
}

/// Maximum number of word pairs to align at once; longer texts are first split at exact matches.
pub(super) const MAX_PAIRS: usize = 1 << 18;

/// The number of consecutive words (English) or characters (Chinese) that make an anchor in a long utterance.
pub(super) const ANCHOR: (usize, usize) = (3, 6);

/// Finds a cheap alignment of an utterance with a range of the passage; words of the passage before and after the range
/// cost nothing. It is optimal unless one of the two is long.
pub(super) fn steps(line: &[Token], passage: &[Token]) -> Vec<Step> {
    if line.len() * passage.len() <= MAX_PAIRS {
        return block(line, passage, [true, true]);
    }
    let mut steps = Vec::with_capacity(line.len() + 16);
    let (mut own, mut book) = (0, 0);
    let anchors = anchors(line, passage);
    let first = anchors.first().copied();
    for (next, other) in anchors.into_iter().chain([(line.len(), passage.len())]) {
        let is_free = [first.is_none_or(|first| (next, other) == first), next == line.len()];
        let (lines, books) = (&line[own..next], &passage[book..other]);
        let found = if lines.len() * books.len() <= MAX_PAIRS {
            block(lines, books, is_free)
        } else {
            unlike(lines.len(), books.len(), is_free)
        };
        steps.extend(found.into_iter().map(|step| step.behind(own, book)));
        (own, book) = (next, other);
    }
    steps
}

/// Returns the positions of word sequences that occur exactly once in each text, in increasing order in both.
pub(super) fn anchors(line: &[Token], passage: &[Token]) -> Vec<(usize, usize)> {
    fn unique_runs(words: &[Token], length: usize) -> HashMap<Vec<&str>, Option<usize>> {
        let mut unique_runs: HashMap<Vec<&str>, Option<usize>> = HashMap::new();
        for (at, run) in words.windows(length).enumerate() {
            let run: Vec<&str> = run.iter().map(|word| word.text.as_str()).collect();
            unique_runs.entry(run).and_modify(|position| *position = None).or_insert(Some(at));
        }
        unique_runs
    }
    let length = if line.iter().any(Token::is_han) { ANCHOR.1 } else { ANCHOR.0 };
    let others = unique_runs(passage, length);
    let mut pairs: Vec<(usize, usize)> = unique_runs(line, length)
        .into_iter()
        .filter_map(|(run, position)| Some((position?, (*others.get(&run)?)?)))
        .collect();
    pairs.sort_unstable();
    // The longest increasing chain: for each length the chain that ends earliest, with the predecessor of each pair.
    let (mut ends, mut before): (Vec<usize>, Vec<Option<usize>>) = (Vec::new(), Vec::with_capacity(pairs.len()));
    for (at, (_, position)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end: &usize| pairs[*end].1 < *position);
        before.push(length.checked_sub(1).map(|last| ends[last]));
        if length == ends.len() { ends.push(at) } else { ends[length] = at }
    }
    let mut chain: Vec<(usize, usize)> =
        std::iter::successors(ends.last().copied(), |at| before[*at]).map(|at| pairs[at]).collect();
    chain.reverse();
    chain
}

/// Returns steps for texts that are not compared: all words differ.
pub(super) fn unlike(line: usize, book: usize, is_free: [bool; 2]) -> Vec<Step> {
    let both = line.min(book);
    // Words of the passage at a free side are skipped.
    let book = if is_free.contains(&true) { both } else { book };
    let others = (0..both).map(|at| Step::Other(at, at));
    others.chain((both..line).map(Step::Added)).chain((both..book).map(Step::Missing)).collect()
}

/// Finds the cheapest alignment of two texts; words of the passage at a free side cost nothing.
pub(super) fn block(line: &[Token], passage: &[Token], [before, after]: [bool; 2]) -> Vec<Step> {
    const SLIP: u32 = 2;
    // Replacing a significant word by one of the same kind is cheaper than removing it and adding the other.
    let replacement = |a: &Token, b: &Token| if a.kind == b.kind && a.kind != TokenKind::Ordinary { 4 } else { 7 };
    let skip = |word: &Token| if word.kind == TokenKind::Filler { 1 } else { 5 };
    let width = passage.len() + 1;
    let mut costs = vec![0_u32; (line.len() + 1) * width];
    // The step that led to a cell: 0 same, 1 typo, 2 other, 3 added, 4 missing.
    let mut ways = vec![4_u8; costs.len()];
    for (column, word) in passage.iter().enumerate().filter(|_| !before) {
        costs[column + 1] = costs[column] + skip(word);
    }
    for (row, word) in line.iter().enumerate() {
        let (above, here) = (row * width, (row + 1) * width);
        costs[here] = costs[above] + skip(word);
        ways[here] = 3;
        for (column, other) in passage.iter().enumerate() {
            let (cost, way) = if word.text == other.text {
                (0, 0)
            } else if is_slip(word, other) {
                (SLIP, 1)
            } else {
                (replacement(word, other), 2)
            };
            let mut best = (costs[above + column] + cost, way);
            let added = costs[above + column + 1] + skip(word);
            let missing = costs[here + column] + skip(other);
            // Prefer a missing second word to an added first one.
            let gap = if missing <= added { (missing, 4) } else { (added, 3) };
            if gap.0 < best.0 {
                best = gap;
            }
            (costs[here + column + 1], ways[here + column + 1]) = best;
        }
    }
    let end = line.len() * width;
    let last = width - 1;
    let cheapest = (0..width).min_by_key(|column| (costs[end + column], *column)).unwrap_or(0);
    let mut book = if after { cheapest } else { last };
    let mut own = line.len();
    let mut steps = Vec::with_capacity(own + 4);
    while own > 0 || !before && book > 0 {
        let way = ways[own * width + book];
        let step = match way {
            3 => Step::Added(own - 1),
            4 => Step::Missing(book - 1),
            0 => Step::Same(own - 1, book - 1),
            1 => Step::Slip(own - 1, book - 1),
            _ => Step::Other(own - 1, book - 1),
        };
        own -= usize::from(way != 4);
        book -= usize::from(way != 3);
        steps.push(step);
    }
    steps.reverse();
    steps
}

/// Whether one word is a typo of the other. In names, numbers and negations only a missing, added or transposed letter
/// counts, and never the first letter: `Stott` is not `Scott`, `ever` is not `never`.
pub(super) fn is_slip(line: &Token, book: &Token) -> bool {
    let (a, b) = (line.text.as_str(), book.text.as_str());
    if line.is_han() || book.is_han() {
        return false;
    }
    let (length, other) = (a.len(), b.len());
    if length.min(other) < 4 || length.abs_diff(other) > 2 || denies(a, b) || denies(b, a) {
        return false;
    }
    let counts = |word: &Token| matches!(word.kind, TokenKind::Name | TokenKind::Number | TokenKind::Negation);
    if counts(book) || counts(line) {
        let grave = line.kind != book.kind && counts(line) && line.kind != TokenKind::Name;
        let digits = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
        if grave || digits(a) || digits(b) || book.kind == TokenKind::Negation && other < 5 {
            return false;
        }
        let swapped = length == other && strsim::osa_distance(a, b) == 1 && strsim::levenshtein(a, b) == 2;
        let longer = length != other && strsim::levenshtein(a, b) == 1;
        return a.chars().next() == b.chars().next() && (swapped || longer && length.max(other) >= 5);
    }
    strsim::osa_distance(a, b) <= if length.min(other) >= 8 { 2 } else { 1 }
}

/// Whether a word is another one with a negative prefix.
pub(super) fn denies(long: &str, short: &str) -> bool {
    let begins = |prefix: &&str| long.strip_prefix(*prefix).is_some_and(|rest| rest == short && rest.len() > 2);
    ["un", "in", "im", "dis", "non", "ir", "il", "mis"].iter().any(begins)
}
