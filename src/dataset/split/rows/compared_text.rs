//! The texts of a row that are compared with those of other rows.

use crate::cells::Cells;
use crate::schema::Language;
use crate::text::OMITTED_TEXT;

/// A text of a row that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparedText {
    /// A sample's reference and the last turns before it.
    Exchange,
    /// A scene's situation.
    Situation,
    /// A conversation's first turns.
    Opening,
    /// A question to a role, or a general instruction.
    Question,
}

/// The number of turns before a reference, and at the start of a conversation, that are compared.
const LINES: usize = 3;

/// The number of code points that are compared; longer texts are cut.
const MOST: usize = 240;

impl ComparedText {
    /// Returns the texts by which rows of a config are compared.
    pub(in crate::dataset::split) fn of(config: &str) -> &'static [Self] {
        match config {
            "samples" => &[Self::Exchange, Self::Situation],
            "conversations" => &[Self::Opening],
            _ => &[Self::Question],
        }
    }

    /// Returns the columns of the text.
    pub(in crate::dataset::split) const fn columns(self) -> &'static [&'static str] {
        match self {
            // The reference comes first, because long texts are cut at the end.
            Self::Exchange => &["reference", "history"],
            Self::Situation => &["situation"],
            Self::Opening => &["turns"],
            Self::Question => &["question"],
        }
    }

    /// Returns the text of a row, given its columns.
    pub(in crate::dataset::split) fn text(self, columns: &[Cells], row: usize) -> String {
        let mut text = String::new();
        for cells in columns {
            let Some(contents) = cells.field("content") else {
                text.push_str(cells.text(row).unwrap_or_default());
                text.push('\n');
                continue;
            };
            let lines = cells.list(row);
            let lines = match self {
                Self::Opening => lines.start..lines.end.min(lines.start + LINES),
                _ => lines.start.max(lines.end.saturating_sub(LINES))..lines.end,
            };
            for line in lines {
                text.push_str(contents.text(line).unwrap_or_default());
                text.push('\n');
            }
        }
        if let Some((end, _)) = text.char_indices().nth(MOST) {
            text.truncate(end);
        }
        text
    }

    /// Returns whether a text is distinctive enough to compare: `Yes.` or `Well?` can occur anywhere.
    pub(in crate::dataset::split) fn is_comparable(self, text: &str, language: Language) -> bool {
        // A question is identified by its quotation from the book. If that was cut, the rest must be long enough.
        let is_cut = text.contains(OMITTED_TEXT);
        let least = match (self, language) {
            (Self::Question, _) if !is_cut => 1,
            (_, Language::En) => 40,
            (_, Language::Zh) => 14,
        };
        text.chars().filter(|c| c.is_alphanumeric()).take(least).count() == least
    }
}
