//! Where a talk stands in the book's dialogue, so that scene characters keep to its order.

use crate::schema::Line;
use crate::text::{float, pair_likeness, pairs, plain, sentences, spoken};

/// Where the talk stands in the book's dialogue.
pub(super) struct Place {
    /// The furthest line that was said.
    reached: Option<usize>,
    /// The line whose words were said last.
    last: Option<usize>,
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
        Self { reached: history.iter().filter_map(find).max(), last: history.last().and_then(find) }
    }

    /// Returns how much it is a line's turn: the next ones after what was reached come first.
    pub(super) fn turn(&self, line: usize) -> f64 {
        let next = self.reached.map_or(0, |reached| reached + 1);
        let order = if line >= next { 1.2 - 0.12 * float((line - next).min(12)) } else { -0.2 };
        order + if self.follows(line) { 0.8 } else { 0.0 }
    }

    /// Whether a line stands right after what was said last.
    pub(super) fn follows(&self, line: usize) -> bool {
        self.last.is_some_and(|last| last + 1 == line)
    }
}
