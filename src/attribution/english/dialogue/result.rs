//! The result of English attribution: speakers and actions of the quotations.

use std::collections::BTreeMap;

use super::{Dialogue, Passage};
use crate::attribution::english::speech_tags::{Tag, tag_after_speech};
use crate::attribution::flatten;
use crate::attribution::people::{CharacterDraft, SpeakerAssignment};
use crate::attribution::speakers::{SpeakerDecision, Turn};

impl Dialogue<'_> {
    /// Records the speaker's action beside the speech, if it is a separate sentence of narration in the paragraph.
    pub(super) fn record_action(&mut self, first: usize, end: usize, passages: &[Passage], pieces: (usize, usize)) {
        for k in pieces.0..pieces.1 {
            let (at, to) = passages[k + 1];
            if to <= at + 1 || to - at > 30 || self.book.list[to - 1].mark() != '.' {
                continue;
            }
            let ends_sentence = self.chars[self.spans[first + k - pieces.0].end - 1] != ',';
            let opens = self.book.list[at].capital();
            let speech = matches!(tag_after_speech(self.book, self.names, at, to, false), Some(Tag::Speech(_)));
            if ends_sentence && opens && !speech && first + k - pieces.0 < end {
                let (from, until) = (self.book.list[at].start(), self.book.end(to - 1));
                self.actions.insert(first + k - pieces.0, flatten(&self.chars[from..until]));
            }
        }
    }

    /// Returns the data that must outlive the tokens of the book.
    pub(in crate::attribution::english) fn finish(self) -> FinishedDialogue {
        FinishedDialogue { quotations: self.spans.len(), cast: self.cast, turns: self.turns, actions: self.actions }
    }
}

/// The turns of a book, without references to its tokens.
pub(in crate::attribution::english) struct FinishedDialogue {
    pub(super) cast: Vec<CharacterDraft>,
    pub(in crate::attribution::english) turns: Vec<Turn>,
    actions: BTreeMap<usize, String>,
    pub(in crate::attribution::english) quotations: usize,
}

impl FinishedDialogue {
    /// Returns the characters, and the speaker of each quotation.
    pub(in crate::attribution::english) fn attribute(
        mut self,
        decisions: Vec<SpeakerDecision>,
    ) -> (Vec<CharacterDraft>, Vec<SpeakerAssignment>) {
        let mut found = vec![SpeakerAssignment::default(); self.quotations];
        for (turn, decision) in self.turns.iter().zip(decisions) {
            for (quote, found) in found.iter_mut().enumerate().take(turn.end).skip(turn.first) {
                *found = SpeakerAssignment {
                    speaker: decision.speaker,
                    kind: decision.kind,
                    confidence: decision.confidence,
                    action: self.actions.remove(&quote).filter(|_| decision.speaker.is_some()),
                };
            }
        }
        (self.cast, found)
    }
}
