//! The passage of a [`FindScenes`] question, and the utterances found in it.

use crate::stages::extract::FindScenes;
use crate::stages::extract::asks::SentenceHint;

/// An utterance under construction: one speaker's words in one paragraph, joined across interruptions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line<'a> {
    pub(super) speaker: &'a str,
    pub(super) speech: String,
    /// Whether it is thought, not spoken.
    pub(super) thought: bool,
    pub(super) action: Option<String>,
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) paragraph: usize,
}

/// The text of a passage, sliced by code points.
pub(super) struct Passage<'a> {
    pub(super) ask: &'a FindScenes,
    /// The byte offset of each code point.
    bytes: Vec<usize>,
}

impl<'a> Passage<'a> {
    pub(super) fn new(ask: &'a FindScenes) -> Self {
        Self { ask, bytes: ask.text.char_indices().map(|(byte, _)| byte).collect() }
    }

    pub(super) fn text_between(&self, start: u32, end: u32) -> &'a str {
        let byte = |point: u32| {
            self.bytes.get(point.saturating_sub(self.ask.start) as usize).copied().unwrap_or(self.ask.text.len())
        };
        &self.ask.text[byte(start)..byte(end.max(start))]
    }

    /// Returns the text between two offsets that is outside of quotation marks.
    pub(super) fn narration_text(&self, start: u32, end: u32) -> Vec<(u32, &'a str)> {
        let quotations = &self.ask.quotations;
        let mut parts = Vec::new();
        let mut at = start;
        for quotation in &quotations[quotations.partition_point(|quotation| quotation.end <= start)..] {
            if quotation.start >= end {
                break;
            }
            if quotation.start > at {
                parts.push((at, self.text_between(at, quotation.start)));
            }
            at = at.max(quotation.end);
        }
        if end > at {
            parts.push((at, self.text_between(at, end)));
        }
        parts
    }

    /// Returns the sentences of narration that begin between two offsets.
    pub(super) fn narration(&self, start: u32, end: u32) -> &'a [SentenceHint] {
        let all = &self.ask.narration;
        let from = all.partition_point(|sentence| sentence.start < start);
        &all[from..from.max(all.partition_point(|sentence| sentence.start < end))]
    }
}
