//! Where a talk stands in the book's dialogue, so that scene characters keep to its order.

use std::collections::BTreeSet;

use super::lines::length;
use crate::schema::Line;
use crate::text::{asks, content_words, float, pair_likeness, pairs, plain, sentences, spoken};

/// How many of the last lines can still be answered.
const ANSWERABLE: usize = 3;

/// From this length on, an answer tells by itself what it speaks of.
const TELLING: usize = 10;

/// Where the talk stands in the book's dialogue.
pub(super) struct Place {
    /// The furthest line that was said.
    reached: Option<usize>,
    /// The line whose words were said last.
    last: Option<usize>,
    /// The lines that can still be answered.
    recent: Vec<usize>,
    /// All lines that were said.
    said: BTreeSet<usize>,
    /// Of each line, how much it needs the line before it, which somebody else says: 0 to 1.
    leaning: Vec<f64>,
}

/// A line of the book's dialogue, laid out for comparison.
struct Entry<'a> {
    speaker: &'a str,
    plain: String,
    /// Its first sentence, where that is long enough to tell it from others: a reply may have been cut to it.
    first: Option<String>,
    pairs: Vec<(char, char)>,
}

impl<'a> Entry<'a> {
    fn new(line: &'a Line) -> Self {
        let text = spoken(&line.content);
        let plain = plain(text);
        let first = sentences(text).first().map(|first| crate::text::plain(first));
        let first = first.filter(|first| first.chars().count() > 8);
        Self { speaker: &line.speaker, pairs: pairs(&plain), plain, first }
    }
}

impl Place {
    pub(super) fn new(dialogue: &[Line], history: &[Line]) -> Self {
        let entries: Vec<Entry<'_>> = dialogue.iter().map(Entry::new).collect();
        let find = |line: &Line| {
            let said = plain(spoken(&line.content));
            let letters = pairs(&said);
            let alike = |entry: &Entry<'_>| {
                entry.speaker == line.speaker
                    && (!entry.plain.is_empty() && said.contains(&entry.plain)
                        || entry.first.as_ref().is_some_and(|first| said.contains(first))
                        || pair_likeness(&letters, &entry.pairs) > 0.6)
            };
            entries.iter().rposition(alike)
        };
        let found: Vec<Option<usize>> = history.iter().map(find).collect();
        let said: BTreeSet<usize> = found.iter().flatten().copied().collect();
        Self {
            reached: said.last().copied(),
            last: found.last().copied().flatten(),
            recent: found.iter().rev().take(ANSWERABLE).flatten().copied().collect(),
            said,
            leaning: dialogue.iter().enumerate().map(|(at, line)| leaning(dialogue, at, line)).collect(),
        }
    }

    /// Returns how much it is a line's turn: the next ones after what was reached come first.
    pub(super) fn turn(&self, line: usize) -> f64 {
        let next = self.reached.map_or(0, |reached| reached + 1);
        let order = if line >= next { 1.2 - 0.12 * float((line - next).min(12)) } else { -0.2 };
        // An answer to what nobody has asked makes no sense to those who hear it.
        let asked = line.checked_sub(1).is_some_and(|before| self.recent.contains(&before));
        let lost = if asked { 0.0 } else { self.leaning.get(line).copied().unwrap_or(0.0) };
        order + if self.follows(line) { 1.5 } else { 0.0 } - lost
    }

    /// Whether a line makes sense now: it is no short answer to what nobody asked, and no question that has been answered.
    pub(super) fn may_be_said(&self, dialogue: &[Line], line: usize) -> bool {
        let text = spoken(&dialogue[line].content);
        let asked = line.checked_sub(1).is_some_and(|before| self.recent.contains(&before));
        let lost = !asked && self.leaning[line] >= 1.0 && length(text) < TELLING;
        let stale = Self::answerer(dialogue, line).is_some() && self.said.contains(&(line + 1));
        !lost && !stale
    }

    /// Returns who answers a line in the book: whoever else has the next one.
    pub(super) fn answerer(dialogue: &[Line], line: usize) -> Option<&str> {
        let next = dialogue.get(line + 1)?;
        let asks = asks(spoken(&dialogue[line].content));
        (asks && next.speaker != dialogue[line].speaker).then_some(next.speaker.as_str())
    }

    /// Whether a line stands right after what was said last.
    pub(super) fn follows(&self, line: usize) -> bool {
        self.last.is_some_and(|last| last + 1 == line)
    }
}

/// Returns how much a line needs the line before it: an answer much, a few words that ask nothing somewhat.
fn leaning(dialogue: &[Line], at: usize, line: &Line) -> f64 {
    let Some(before) = at.checked_sub(1).map(|before| &dialogue[before]) else { return 0.0 };
    let text = spoken(&line.content);
    let answers = before.speaker != line.speaker && asks(spoken(&before.content));
    let short = length(text) < 4 && !asks(text);
    // `See what?` asks after words that were not said.
    let bare = length(text) < 5 && asks(text) && before.speaker != line.speaker && content_words(text).len() < 2;
    if bare {
        return 1.0;
    }
    // A question of its own opens again what an answer closes.
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
            let after = |history: &[Line]| Place::new(&dialogue, history);
            assert!(after(&lines(&[(asked, other)])).turn(1) < after(&lines(&[(asked, other)])).turn(3));
            let question = after(&dialogue[..1]);
            assert!(question.follows(1) && question.turn(1) > question.turn(3));
            // Somebody may have said a word in between.
            let mut history = dialogue[..1].to_vec();
            history.extend(lines(&[("X", other)]));
            assert!(after(&history).turn(1) > after(&history).turn(3));
            assert!(question.may_be_said(&dialogue, 1) && !after(&[]).may_be_said(&dialogue, 1));
            assert!(after(&[]).may_be_said(&dialogue, 0) && after(&[]).may_be_said(&dialogue, 3));
            // What is answered is not asked any more.
            assert!(!after(&dialogue[1..2]).may_be_said(&dialogue, 0));
        }
    }
}
