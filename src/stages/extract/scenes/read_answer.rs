//! Converts an answer to drafts: resolves names, finds utterances in the book, drops what is invalid.

use super::draft::{Draft, round};
use crate::schema::{Chunk, RejectReason, Utterance};
use crate::stages::extract::asks::{FoundLine, FoundScene, FoundScenes};
use crate::stages::extract::book_index::BookIndex;
use crate::stages::extract::grounding::{MatchedRanges, PassageIndex};
use crate::stages::extract::language_check::{is_foreign, is_foreign_phrase};
use crate::stages::extract::naming::known;
use crate::stages::extract::params::Params;

/// Converts an answer to drafts, in its order. `carried` is the scene that the previous passage cut off.
pub(crate) fn drafts(
    answer: FoundScenes,
    params: &Params,
    book: &BookIndex,
    chunk: &Chunk,
    passage_index: &PassageIndex<'_>,
    carried: Option<&Draft>,
) -> Vec<Draft> {
    let mut reader =
        Reader { params, book, chunk, passage_index, matched: carried.map(Draft::matched_ranges).unwrap_or_default() };
    let mut after = chunk.start;
    let mut drafts = Vec::with_capacity(answer.scenes.len());
    for mut scene in answer.scenes {
        let mut seam = 0;
        if let Some(carried) = carried.filter(|_| drafts.is_empty()) {
            seam = reader.seam(carried, &scene.dialogue);
            scene.dialogue.drain(..seam);
        }
        let mut draft = reader.draft(scene, after, carried.is_some());
        draft.seam += u32::try_from(seam).unwrap_or(u32::MAX);
        after = draft.end().max(after);
        drafts.push(draft);
    }
    drafts
}

/// The context for reading an answer.
struct Reader<'a> {
    params: &'a Params,
    book: &'a BookIndex,
    chunk: &'a Chunk,
    passage_index: &'a PassageIndex<'a>,
    matched: MatchedRanges,
}

/// The result of reading one utterance.
enum LineResult {
    Utterance(Utterance),
    /// There is no speech, action or thought.
    Empty,
    /// The speaker is unknown.
    UnknownSpeaker(String),
    /// The book has it, but less often; with the offset of the earlier match.
    Repeated(u32, String),
}

impl Reader<'_> {
    /// Returns how many of the first utterances repeat the last ones of the carried scene.
    fn seam(&self, carried: &Draft, dialogue: &[FoundLine]) -> usize {
        let plain = |speech: Option<&str>| crate::text::letters_and_digits(speech.unwrap_or_default());
        let previous: Vec<String> = carried.dialogue.iter().map(|line| plain(line.speech.as_deref())).collect();
        let again: Vec<String> = dialogue.iter().map(|line| plain(line.speech.as_deref())).collect();
        let most = previous.len().min(again.len());
        let seam = (1..=most).rev().find(|count| previous[previous.len() - count..] == again[..*count]).unwrap_or(0);
        // If the passage itself begins with these words, they are spoken twice; the utterances that follow decide.
        if self.opening(&again) > self.opening(&again[seam..]) { 0 } else { seam }
    }

    /// Returns how many of the first utterances match the quotations at the start of the passage.
    fn opening(&self, lines: &[String]) -> usize {
        let quotations = self.book.quotations(self.chunk.start, self.chunk.end);
        let mut expected =
            quotations.iter().map(|quotation| crate::text::letters_and_digits(&quotation.text)).peekable();
        let matches_quotation = |line: &&String| {
            // A speech may span several quotations.
            let mut rest = line.as_str();
            while let Some(quotation) =
                expected.next_if(|quotation| !quotation.is_empty() && rest.starts_with(quotation))
            {
                rest = &rest[quotation.len()..];
            }
            rest.len() < line.len()
        };
        lines.iter().take_while(matches_quotation).count()
    }

    fn draft(&mut self, scene: FoundScene, after: u32, goes_on: bool) -> Draft {
        let (book, chunk) = (self.book, self.chunk);
        let mut cursor = after;
        let mut dialogue = Vec::with_capacity(scene.dialogue.len());
        let (mut unknown_characters, mut repeated) = (Vec::<(String, u32)>::new(), Vec::<(String, u32)>::new());
        let (mut seam, mut foreign) = (0, 0_u32);
        for mut line in scene.dialogue {
            for phrase in [&mut line.thought, &mut line.action] {
                foreign += u32::from(phrase.take_if(|phrase| is_foreign_phrase(phrase, book.language)).is_some());
            }
            match self.line(line, cursor) {
                LineResult::Utterance(utterance) => {
                    cursor = utterance.end.unwrap_or(cursor);
                    dialogue.push(utterance);
                }
                LineResult::Empty => {}
                LineResult::UnknownSpeaker(name) => count(&mut unknown_characters, name),
                LineResult::Repeated(offset, _) if goes_on && offset < chunk.start => seam += 1,
                LineResult::Repeated(_, speech) => count(&mut repeated, speech),
            }
        }
        let mut notes: Vec<(RejectReason, String)> = Vec::new();
        for (name, lines) in &unknown_characters {
            notes.push((
                RejectReason::UnknownSpeaker,
                format!("“{name}”, the speaker of {lines} of its utterances, does not occur in the text"),
            ));
        }
        for (speech, count) in &repeated {
            notes.push((RejectReason::RepeatedLine, format!("“{speech}” occurs {count} times fewer in the book")));
        }
        if foreign > 0 {
            notes.push((
                RejectReason::OtherLanguage,
                format!("{foreign} actions and thoughts of its utterances were dropped"),
            ));
        }
        let mut characters: Vec<String> = Vec::new();
        let mut unknown: Vec<&str> = Vec::new();
        for name in dialogue.iter().map(|line: &Utterance| &line.speaker).chain(&scene.characters) {
            match known(name, book, self.passage_index.text()) {
                Some(name) if name != Utterance::ENVIRONMENT && !name.is_empty() && !characters.contains(&name) => {
                    characters.push(name);
                }
                None if !name.trim().is_empty()
                    && !unknown_characters.iter().any(|(unknown_speaker, _)| unknown_speaker == name) =>
                {
                    unknown.push(name);
                }
                _ => {}
            }
        }
        if !unknown.is_empty() {
            notes.push((
                RejectReason::UnknownCharacter,
                format!("members of its cast that do not occur in the text: {}", unknown.join(", ")),
            ));
        }
        let mut summary = scene.summary.trim().to_owned();
        if is_foreign(&summary, book.language) {
            notes.push((RejectReason::OtherLanguage, format!("its summary was dropped: {summary}")));
            summary.clear();
        }
        let edge = |words: &str, from: u32| self.passage_index.locate(words, from, self.params.min_similarity);
        let first = dialogue.iter().filter_map(|line| line.start).min();
        let last = dialogue.iter().filter_map(|line| line.end).max();
        let start_found = edge(&scene.first_words, after)
            .map(|range| range.0)
            .filter(|start| first.is_none_or(|first| *start <= first));
        let end_found = edge(&scene.last_words, last.unwrap_or(after))
            .map(|range| range.1)
            .filter(|end| last.is_none_or(|last| *end >= last));
        let start = start_found.or(first).unwrap_or(after.min(chunk.end));
        let end = end_found.or(last).unwrap_or(chunk.end).max(start);
        // The closing punctuation was not part of the search.
        let marks = book.slice(end, end + 4).chars().take_while(|c| !c.is_alphanumeric() && !c.is_whitespace()).count();
        let end = end + u32::try_from(marks).unwrap_or(0);
        let opening = first.unwrap_or(start);
        let heading =
            chunk.headings.iter().rev().find(|(offset, _)| *offset <= opening).map(|(_, title)| title.clone());
        Draft {
            chapter: heading.unwrap_or_else(|| chunk.chapter.clone()),
            text_range: (start, end),
            summary,
            prominence: scene.prominence,
            characters,
            dialogue,
            continues: scene.continues,
            unfinished: scene.unfinished,
            dropped: 0,
            seam,
            notes,
        }
    }

    /// Cleans an utterance and searches for it in the book.
    fn line(&mut self, line: FoundLine, after: u32) -> LineResult {
        let clean = |text: Option<String>, marks: &[char]| {
            let text = text?;
            let text = text.trim().trim_matches(marks).trim();
            (!text.is_empty()).then(|| text.to_owned())
        };
        let thought = clean(line.thought, &['[', ']', '【', '】']);
        let action = clean(line.action, &['(', ')', '（', '）', '*']);
        let speech = clean(line.speech.as_deref().map(|speech| unquoted(speech).to_owned()), &[]);
        let name = line.speaker.trim();
        if name.is_empty() || (thought.is_none() && action.is_none() && speech.is_none()) {
            return LineResult::Empty;
        }
        let Some(speaker) = known(name, self.book, self.passage_index.text()) else {
            return LineResult::UnknownSpeaker(name.to_owned());
        };
        let found = speech
            .as_ref()
            .map(|speech| self.passage_index.find(speech, after, self.params.min_similarity, &self.matched));
        if let (Some(range), Some(speech)) = (found.as_ref().and_then(|found| found.repeated), &speech) {
            return LineResult::Repeated(range.0, speech.clone());
        }
        let range = found.as_ref().and_then(|found| found.range);
        if let Some(range) = range {
            self.matched.add(range);
        }
        LineResult::Utterance(Utterance {
            speaker,
            thought,
            action,
            speech,
            start: range.map(|range| range.0),
            end: range.map(|range| range.1),
            grounded: found.as_ref().map(|found| found.grounded),
            similarity: found.map(|found| round(found.similarity)),
        })
    }
}

/// Adds one to the count of a text.
fn count(counts: &mut Vec<(String, u32)>, text: String) {
    match counts.iter_mut().find(|(other, _)| *other == text) {
        Some((_, count)) => *count += 1,
        None => counts.push((text, 1)),
    }
}

/// Removes quotation marks that enclose the entire speech and unpaired ones at its ends; pairs inside it remain.
pub(crate) fn unquoted(speech: &str) -> &str {
    let mut speech = speech.trim();
    loop {
        let mut shorter = speech;
        for (open, close) in [('“', '”'), ('「', '」'), ('『', '』'), ('"', '"')] {
            let opened = speech.matches(open).count();
            let closed = if open == close { 0 } else { speech.matches(close).count() };
            let inner = speech.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
            let unwrapped = inner.filter(|inner| !inner.contains([open, close]));
            shorter = match unwrapped {
                Some(inner) => inner,
                None if open == close && opened.is_multiple_of(2) => continue,
                None if opened > closed && speech.starts_with(open) => &speech[open.len_utf8()..],
                None if (closed > opened || open == close) && speech.ends_with(close) => {
                    &speech[..speech.len() - close.len_utf8()]
                }
                None => continue,
            };
            break;
        }
        if shorter.len() == speech.len() {
            return speech;
        }
        speech = shorter.trim();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unpaired_and_enclosing_quotation_marks_are_removed() {
        for (speech, expected) in [
            ("“Row on.”", "Row on."),
            ("“Row on.", "Row on."),
            ("Row on.”", "Row on."),
            ("\"Row on.\"", "Row on."),
            ("She wrote “row.”", "She wrote “row.”"),
            ("“Row,” it says. I will.", "“Row,” it says. I will."),
            ("“Row,” it says, “on.”", "“Row,” it says, “on.”"),
            ("「划罢。」", "划罢。"),
            ("他写的是“划”。”", "他写的是“划”。"),
        ] {
            assert_eq!(unquoted(speech), expected);
        }
    }
}
