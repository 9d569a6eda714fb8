//! A scene before its description.

use crate::schema::{Grounded, Reject, RejectReason, SceneId, Stage, Utterance};
use crate::stages::extract::book_index::BookIndex;
use crate::stages::extract::grounding::MatchedRanges;
use crate::stages::extract::language_check::is_foreign;
use crate::stages::extract::params::Params;

/// A scene before its description.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Draft {
    pub(crate) chapter: String,
    /// The range of its text, in code points of the book.
    pub(crate) text_range: (u32, u32),
    pub(crate) summary: String,
    pub(crate) prominence: Option<u8>,
    pub(crate) characters: Vec<String>,
    pub(crate) dialogue: Vec<Utterance>,
    pub(crate) continues: bool,
    pub(crate) unfinished: bool,
    /// The number of dropped utterances that are not in the book.
    pub(crate) dropped: u32,
    /// The number of its utterances that repeat the previous passage.
    pub(crate) seam: u32,
    /// Other parts that were dropped, as reason and detail.
    pub(crate) notes: Vec<(RejectReason, String)>,
}

impl Draft {
    /// Returns the start of the first utterance that was found, or of its range.
    pub(crate) fn start(&self) -> u32 {
        self.dialogue.iter().find_map(|line| line.start).unwrap_or(self.text_range.0)
    }

    /// Returns the end of the last utterance that was found, or of its range.
    pub(crate) fn end(&self) -> u32 {
        self.dialogue.iter().filter_map(|line| line.end).max().unwrap_or(self.text_range.1)
    }

    pub(crate) fn id(&self, book: &BookIndex) -> SceneId {
        SceneId::at(&book.slug, self.start())
    }

    /// Returns the share of its utterances found in the book, counting those already dropped.
    pub(crate) fn grounding(&self) -> f64 {
        let speeches = self.dialogue.iter().filter(|line| line.speech.is_some());
        let (mut all, mut found) = (self.dropped, 0_u32);
        for line in speeches {
            all += 1;
            found += u32::from(line.start.is_some());
        }
        if all == 0 { 0.0 } else { f64::from(found) / f64::from(all) }
    }

    /// Returns the indexes of the utterances that were not found.
    pub(crate) fn missing(&self) -> Vec<usize> {
        let absent = |line: &Utterance| line.grounded == Some(Grounded::Absent);
        (0..self.dialogue.len()).filter(|at| absent(&self.dialogue[*at])).collect()
    }

    /// Returns the ranges of its utterances.
    pub(crate) fn matched_ranges(&self) -> MatchedRanges {
        let mut matched_ranges = MatchedRanges::default();
        self.dialogue.iter().filter_map(|line| line.start.zip(line.end)).for_each(|range| matched_ranges.add(range));
        matched_ranges
    }

    /// Returns the speakers in order, without repetition.
    pub(crate) fn speakers(&self) -> Vec<&str> {
        let mut speakers: Vec<&str> = Vec::new();
        for line in self.dialogue.iter().filter(|line| line.speech.is_some() && line.speaker != Utterance::ENVIRONMENT)
        {
            if !speakers.contains(&line.speaker.as_str()) {
                speakers.push(&line.speaker);
            }
        }
        speakers
    }

    /// Appends the part of the scene in the next passage.
    pub(crate) fn join(&mut self, rest: Self, blank: &str) {
        self.text_range.1 = rest.text_range.1;
        let summary = format!("{}{blank}{}", self.summary, rest.summary);
        summary.trim().clone_into(&mut self.summary);
        self.prominence = self.prominence.max(rest.prominence);
        for name in rest.characters {
            if !self.characters.contains(&name) {
                self.characters.push(name);
            }
        }
        for line in rest.dialogue {
            // An utterance that only the second answer has goes where the book has it.
            let before = |other: &Utterance| other.start.is_none_or(|start| line.start.is_none_or(|own| start <= own));
            let at = self.dialogue.iter().rposition(before).map_or(0, |at| at + 1);
            self.dialogue.insert(at, line);
        }
        self.unfinished = rest.unfinished;
        self.dropped += rest.dropped;
        self.notes.extend(rest.notes);
    }

    /// Returns rejects for the parts that were dropped.
    pub(crate) fn rejects(&mut self, book: &BookIndex) -> Vec<Reject> {
        let id = self.id(book);
        self.notes.drain(..).map(|(reason, detail)| Reject::new(Stage::Extract, &id, reason, detail)).collect()
    }

    /// Returns why it is not a valid scene, if so.
    pub(crate) fn reject_reason(&self, params: &Params, book: &BookIndex) -> Option<Reject> {
        let reject = |reason, detail: String| Some(Reject::new(Stage::Extract, self.id(book), reason, detail));
        let speeches = || self.dialogue.iter().filter_map(|line| line.speech.as_deref());
        let lines = speeches().count();
        let all = lines + self.dropped as usize;
        let speakers = self.speakers();
        let grounding = self.grounding();
        if all == 0 {
            return reject(RejectReason::NoDialogue, "nobody speaks in it".to_owned());
        }
        // Grounding is checked before length: for an invented scene the other counts mean nothing.
        if grounding < params.min_grounding {
            let found = self.dialogue.iter().filter(|line| line.start.is_some()).count();
            let detail = format!(
                "{found} of {all} utterances are in the book, the minimum share is {:.2}",
                params.min_grounding
            );
            let foreign = speeches().filter(|speech| is_foreign(speech, book.language)).count();
            if foreign * 2 > lines {
                return reject(
                    RejectReason::OtherLanguage,
                    format!("{foreign} utterances are in another language; {detail}"),
                );
            }
            return reject(RejectReason::Ungrounded, detail);
        }
        if lines < params.min_utterances as usize {
            return reject(
                RejectReason::TooShort,
                format!("{lines} utterances, the minimum is {}", params.min_utterances),
            );
        }
        if speakers.len() < 2 {
            return reject(
                RejectReason::OneSpeaker,
                format!("only {} speaks in its {lines} utterances", speakers.first().unwrap_or(&"no one")),
            );
        }
        None
    }
}

/// Rounds to three decimals; further ones could differ between machines.
pub(crate) fn round(share: f64) -> f64 {
    (share * 1000.0).round() / 1000.0
}
