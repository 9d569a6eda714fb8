//! Similarity of a segment to an utterance by shared character n-grams.

use std::collections::HashMap;
use std::ops::Range;

/// The number of n-grams in a piece of a segment; needed because a paragraph can be a whole book.
pub(super) const PIECE: usize = 4096;

/// Returns the n-grams of `length` characters, each hashed to a number.
pub(super) fn grams(chars: &[char], length: usize) -> Vec<u64> {
    let number = |run: &[char]| {
        run.iter()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, c| (hash ^ u64::from(u32::from(*c))).wrapping_mul(0x0100_0000_01b3))
    };
    chars.windows(length).map(number).collect()
}

/// Returns the windows of pieces that may contain an utterance of `length` n-grams, given the n-grams that each piece
/// shares with it: those with at least a fifth of the n-grams and no fewer than the neighbouring windows.
pub(super) fn likely(shared: &[u32], length: usize) -> Vec<(u32, Range<usize>)> {
    // Most segments share almost nothing.
    if shared.is_empty() || (shared.iter().sum::<u32>() as usize) * 5 < length {
        return Vec::new();
    }
    let span = (length / PIECE + 2).min(shared.len());
    let sums: Vec<u32> = shared.windows(span).map(|pieces| pieces.iter().sum()).collect();
    let highest = |at: usize| {
        let before = at.checked_sub(1).is_some_and(|before| sums[before] >= sums[at]);
        !before && sums.get(at + 1).is_none_or(|after| *after <= sums[at])
    };
    let enough = |at: &usize| sums[*at] as usize * 5 >= length && highest(*at);
    (0..sums.len()).filter(enough).map(|at| (sums[at], at..at + span)).collect()
}

/// Slides a window of `length` n-grams over a segment. Returns the best Dice coefficient and the range of matching
/// n-grams.
pub(super) fn window(passage: &[u64], length: usize, utterance_grams: &HashMap<u64, i32>) -> (f64, usize, usize) {
    let size = passage.len().min(length);
    let mut remaining = utterance_grams.clone();
    let (mut common, mut best, mut at) = (0_i32, 0_i32, 0);
    for (end, gram) in passage.iter().enumerate() {
        if let Some(count) = remaining.get_mut(gram) {
            common += i32::from(*count > 0);
            *count -= 1;
        }
        if end >= size
            && let Some(count) = remaining.get_mut(&passage[end - size])
        {
            *count += 1;
            common -= i32::from(*count > 0);
        }
        if end + 1 >= size && common > best {
            (best, at) = (common, end + 1 - size);
        }
    }
    let both_lengths = u32::try_from(size + length).unwrap_or(u32::MAX);
    // Trim the edges of the window that do not match.
    let alike = |gram: &u64| utterance_grams.contains_key(gram);
    let first = passage[at..at + size].iter().position(alike).map_or(at, |first| at + first);
    let last = passage[at..at + size].iter().rposition(alike).map_or(at + size, |last| at + last + 1);
    (2.0 * f64::from(best) / f64::from(both_lengths.max(1)), first, last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similarity_is_the_dice_coefficient_of_the_best_window() {
        let chars = |text: &str| text.chars().collect::<Vec<char>>();
        let utterance_grams: HashMap<u64, i32> = grams(&chars("abcd"), 2).into_iter().map(|gram| (gram, 1)).collect();
        // Of the windows of three bigrams the best is `abcx`: two of three bigrams, 2 · 2 / (3 + 3).
        let (similarity, start, end) = window(&grams(&chars("zzabcxyz"), 2), 3, &utterance_grams);
        assert!((similarity - 2.0 / 3.0).abs() < 1e-9 && (start..end).contains(&2), "{similarity} {start} {end}");
        assert!((window(&grams(&chars("abab"), 2), 3, &utterance_grams).0 - 1.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn pieces_with_most_shared_ngrams_are_searched() {
        assert_eq!(likely(&[], 10), []);
        assert_eq!(likely(&[3], 10), [(3, 0..1)]);
        assert_eq!(likely(&[1], 10), []);
        // An utterance may span two pieces, and of overlapping windows one is enough.
        assert_eq!(likely(&[0, 4, 5, 0, 0, 6, 0], 10), [(9, 1..3), (6, 4..6)]);
        assert_eq!(likely(&[9, 9, 9], 3 * PIECE), []);
        assert_eq!(likely(&[3000, 3000, 3000, 0, 0, 0], 3 * PIECE), [(9000, 0..5)]);
    }
}
