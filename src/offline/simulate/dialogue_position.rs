//! Tracks the position of a conversation in the original dialogue, so that scene characters follow its order.

use std::collections::BTreeSet;

use super::line_candidates::length;
use crate::schema::Line;
use crate::text::{asks, content_words, float, letters_and_digits, pair_similarity, pairs, sentences, spoken};

/// Number of most recent utterances that can still be answered.
const ANSWERABLE: usize = 3;

/// Minimum length, in words, of an answer that makes sense without its question.
const MIN_STANDALONE_WORDS: usize = 10;

/// The position in the original dialogue. Indices refer to the dialogue's lines.
pub(super) struct DialoguePosition {
    /// The highest index that was said.
    reached: Option<usize>,
    /// The index of the previous utterance, if it is from the dialogue.
    last: Option<usize>,
    /// Indices that can still be answered.
    recent: Vec<usize>,
    /// All indices that were said.
    said_lines: BTreeSet<usize>,
    /// For each line, how much it depends on the line before it, from 0 to 1.3.
    dependence: Vec<f64>,
}

/// A line of the original dialogue, prepared for comparison.
struct Entry<'a> {
    speaker: &'a str,
    plain: String,
    /// Its first sentence, if it is longer than 8 characters: the reply may have been truncated to it.
    first: Option<String>,
    pairs: Vec<(char, char)>,
}

impl<'a> Entry<'a> {
    fn new(line: &'a Line) -> Self {
        let text = spoken(&line.content);
        let plain = letters_and_digits(text);
        let first = sentences(text).first().map(|first| crate::text::letters_and_digits(first));
        let first = first.filter(|first| first.chars().count() > 8);
        Self { speaker: &line.speaker, pairs: pairs(&plain), plain, first }
    }
}

impl DialoguePosition {
    pub(super) fn new(dialogue: &[Line], history: &[Line]) -> Self {
        let entries: Vec<Entry<'_>> = dialogue.iter().map(Entry::new).collect();
        let find = |line: &Line| {
            let spoken_text = letters_and_digits(spoken(&line.content));
            let letters = pairs(&spoken_text);
            let alike = |entry: &Entry<'_>| {
                entry.speaker == line.speaker
                    && (!entry.plain.is_empty() && spoken_text.contains(&entry.plain)
                        || entry.first.as_ref().is_some_and(|first| spoken_text.contains(first))
                        || pair_similarity(&letters, &entry.pairs) > 0.6)
            };
            entries.iter().rposition(alike)
        };
        let found: Vec<Option<usize>> = history.iter().map(find).collect();
        let said_lines: BTreeSet<usize> = found.iter().flatten().copied().collect();
        Self {
            reached: said_lines.last().copied(),
            last: found.last().copied().flatten(),
            recent: found.iter().rev().take(ANSWERABLE).flatten().copied().collect(),
            said_lines,
            dependence: dialogue.iter().enumerate().map(|(at, line)| dependence(dialogue, at, line)).collect(),
        }
    }

    /// Scores a line by its position: the lines right after the highest index said come first.
    pub(super) fn turn(&self, line: usize) -> f64 {
        let next = self.reached.map_or(0, |reached| reached + 1);
        let order = if line >= next { 1.2 - 0.12 * float((line - next).min(12)) } else { -0.2 };
        // An answer makes no sense unless its question was said.
        let asked = line.checked_sub(1).is_some_and(|before| self.recent.contains(&before));
        let lost = if asked { 0.0 } else { self.dependence.get(line).copied().unwrap_or(0.0) };
        order + if self.follows(line) { 1.5 } else { 0.0 } - lost
    }

    /// Returns whether a line makes sense now: it is not a short answer whose question was not said, and not a question
    /// that has already been answered.
    pub(super) fn may_be_said(&self, dialogue: &[Line], line: usize) -> bool {
        let text = spoken(&dialogue[line].content);
        let asked = line.checked_sub(1).is_some_and(|before| self.recent.contains(&before));
        let lost = !asked && self.dependence[line] >= 1.0 && length(text) < MIN_STANDALONE_WORDS;
        let stale = Self::answerer(dialogue, line).is_some() && self.said_lines.contains(&(line + 1));
        !lost && !stale
    }

    /// Returns who answers a question in the original dialogue: the speaker of the next line, if different.
    pub(super) fn answerer(dialogue: &[Line], line: usize) -> Option<&str> {
        let next = dialogue.get(line + 1)?;
        let asks = asks(spoken(&dialogue[line].content));
        (asks && next.speaker != dialogue[line].speaker).then_some(next.speaker.as_str())
    }

    /// Returns whether a line directly follows the previous utterance in the dialogue.
    pub(super) fn follows(&self, line: usize) -> bool {
        self.last.is_some_and(|last| last + 1 == line)
    }
}

/// Returns how much a line depends on the line before it: strongly for an answer, weakly for a few words that are not a
/// question.
fn dependence(dialogue: &[Line], at: usize, line: &Line) -> f64 {
    let Some(before) = at.checked_sub(1).map(|before| &dialogue[before]) else { return 0.0 };
    let text = spoken(&line.content);
    let answers = before.speaker != line.speaker && asks(spoken(&before.content));
    let short = length(text) < 4 && !asks(text);
    // `See what?` refers to words that were not said.
    let is_bare = length(text) < 5 && asks(text) && before.speaker != line.speaker && content_words(text).len() < 2;
    if is_bare {
        return 1.0;
    }
    // An answer with a question of its own depends less on the line before.
    let opens = if asks(text) { 0.3 } else { 0.0 };
    (if answers { 1.0 - opens } else { 0.0 }) + if short { 0.3 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(dialogue: &[(&str, &str)]) -> Vec<Line> {
        let line = |(speaker, content): &(&str, &str)| Line {
            speaker: (*speaker).to_owned(),
            content: (*content).to_owned(),
            is_test: false,
        };
        dialogue.iter().map(line).collect()
    }

    #[test]
    fn an_answer_waits_for_its_question() {
        for (dialogue, asked, other) in [
            (
                [
                    ("Ben", "Who carried the oil up the stairs?"),
                    ("Cora", "I did, at noon, when the barrel was full."),
                    ("Ben", "Then somebody has been at the barrel."),
                    ("Cora", "The cellar door was open when I came down."),
                ],
                "Ben",
                "The tide is late today.",
            ),
            (
                [
                    ("马奔", "是谁把油提上楼的？"),
                    ("付珂", "是我，晌午提的，那时还是满桶。"),
                    ("马奔", "那就是有人动过油桶。"),
                    ("付珂", "我下来的时候，地窖的门开着。"),
                ],
                "马奔",
                "今日潮水来得晚。",
            ),
        ] {
            let dialogue = lines(&dialogue);
            let after = |history: &[Line]| DialoguePosition::new(&dialogue, history);
            assert!(after(&lines(&[(asked, other)])).turn(1) < after(&lines(&[(asked, other)])).turn(3));
            let question = after(&dialogue[..1]);
            assert!(question.follows(1) && question.turn(1) > question.turn(3));
            // Another utterance may come in between.
            let mut history = dialogue[..1].to_vec();
            history.extend(lines(&[("X", other)]));
            assert!(after(&history).turn(1) > after(&history).turn(3));
            assert!(question.may_be_said(&dialogue, 1) && !after(&[]).may_be_said(&dialogue, 1));
            assert!(after(&[]).may_be_said(&dialogue, 0) && after(&[]).may_be_said(&dialogue, 3));
            // A question that has been answered is not asked again.
            assert!(!after(&dialogue[1..2]).may_be_said(&dialogue, 0));
        }
    }
}
