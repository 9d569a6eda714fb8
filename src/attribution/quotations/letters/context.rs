//! A quotation with the text around it.

use crate::attribution::Paragraph;
use crate::attribution::quotations::span::Span;

/// Maximum length in characters of the narration before a quotation that is searched for an introduction.
const MAX_INTRODUCTION: usize = 240;

/// The quotations of a book with the surrounding text.
pub(super) struct QuotedWriting<'a> {
    pub(in crate::attribution) chars: &'a [char],
    pub(in crate::attribution) paragraphs: &'a [Paragraph],
    pub(in crate::attribution) spans: &'a [Span],
}

impl QuotedWriting<'_> {
    pub(in crate::attribution) fn text(&self, at: usize) -> &[char] {
        &self.chars[self.spans[at].start..self.spans[at].end]
    }

    /// Returns the narration right after a quotation, within its paragraph.
    pub(in crate::attribution) fn narration_after(&self, at: usize) -> &[char] {
        let span = self.spans[at];
        let next = self.spans.get(at + 1).filter(|next| next.paragraph == span.paragraph);
        let end = next.map_or(self.paragraphs[span.paragraph].end as usize, |next| next.outer_start);
        trimmed(&self.chars[span.outer_end.min(end)..end])
    }

    /// Returns the narration right before a quotation, in its paragraph or the previous one.
    pub(super) fn narration_before(&self, at: usize) -> &[char] {
        let span = self.spans[at];
        let floor = at.checked_sub(1).map_or(0, |before| self.spans[before].outer_end);
        let mut paragraph = span.paragraph;
        let mut end = span.outer_start;
        if end == self.paragraphs[paragraph].start as usize {
            let Some(before) = paragraph.checked_sub(1).filter(|&before| !self.paragraphs[before].border) else {
                return &[];
            };
            paragraph = before;
            end = self.paragraphs[before].end as usize;
        }
        let start = floor.max(self.paragraphs[paragraph].start as usize).max(end.saturating_sub(MAX_INTRODUCTION));
        trimmed(&self.chars[start.min(end)..end])
    }

    /// Whether a quotation fills its paragraph.
    pub(in crate::attribution) fn fills_paragraph(&self, at: usize) -> bool {
        let span = self.spans[at];
        span.outer_start == self.paragraphs[span.paragraph].start as usize && self.narration_after(at).is_empty()
    }

    /// Whether a quotation fills the paragraph after that of the previous quotation.
    pub(super) fn follows(&self, at: usize) -> bool {
        let near = |span: &Span| span.continues || self.spans[at - 1].paragraph + 1 == span.paragraph;
        self.spans.get(at).is_some_and(near) && self.fills_paragraph(at)
    }

    /// Returns the end of the quotation's run of spans that continue each other over paragraphs.
    pub(in crate::attribution) fn run_end(&self, at: usize) -> usize {
        (at + 1..self.spans.len()).find(|&k| !self.spans[k].continues).unwrap_or(self.spans.len())
    }
}

fn trimmed(chars: &[char]) -> &[char] {
    let head = chars.iter().take_while(|c| c.is_whitespace()).count();
    let tail = chars[head..].iter().rev().take_while(|c| c.is_whitespace()).count();
    &chars[head..chars.len() - tail]
}
