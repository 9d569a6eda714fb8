//! A passage of a book, indexed, and the search for an utterance in it.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::OnceLock;

use super::matches::{ExactMatch, Found, MatchedRanges};
use super::ngrams::{PIECE, grams};
use super::normalized::{NormalizedText, SEPARATOR, normalize};
use super::token::Token;
use super::tokens::words;
use crate::attribution::{Quotation, QuotationKind};
use crate::schema::{Grounded, Language};
use crate::stages::extract::book_index::BookIndex;
use crate::stages::extract::book_index::sentences::one_line;

/// An indexed passage of a book.
#[derive(Debug)]
pub(crate) struct PassageIndex<'a> {
    pub(crate) book: &'a BookIndex,
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Its whole text.
    pub(crate) full_text: NormalizedText,
    /// Its quotations, with a separator between paragraphs.
    pub(crate) dialogue: NormalizedText,
    /// Segments for the approximate search.
    pub(crate) segments: Vec<Segment>,
    /// The length of n-grams, in characters.
    pub(crate) gram_length: usize,
    /// N-gram → pieces of segments that contain it. Only looked up, never iterated.
    pub(crate) postings: HashMap<u64, Vec<u32>>,
    /// Whether line ends separate paragraphs.
    pub(crate) is_script: bool,
    /// Words that the passage also has in lower case. Only looked up.
    pub(crate) lower_case_words: OnceLock<HashSet<String>>,
}

/// A quotation or paragraph for the approximate search.
#[derive(Debug)]
pub(crate) struct Segment {
    /// Whether it is a range of the dialogue; otherwise of the whole text.
    pub(crate) is_dialogue: bool,
    pub(crate) chars: Range<usize>,
    /// Its pieces, numbered over all segments.
    pub(crate) pieces: Range<usize>,
}

/// The maximum distance between the parts of a speech, in code points.
pub(crate) const MAX_GAP: u32 = 600;

/// The share of an utterance that a segment must contain to count as whole; allows for typos and filler words.
pub(crate) const MIN_COVERED: f64 = 0.9;

/// The maximum similarity of an approximate match; 1 is reserved for exact ones.
pub(crate) const MAX_APPROXIMATE: f64 = 0.999;

impl<'a> PassageIndex<'a> {
    /// Indexes a passage.
    pub(crate) fn new(book: &'a BookIndex, start: u32, end: u32) -> Self {
        let mut full_text = NormalizedText::default();
        full_text.extend(book.slice(start, end), start);
        let mut dialogue = NormalizedText::default();
        let paragraphs = &book.attribution.paragraphs;
        let mut last_paragraph = None;
        for quotation in book.quotations(start, end) {
            let index = paragraphs.partition_point(|paragraph| paragraph.end <= quotation.start);
            if last_paragraph.replace(index) != Some(index) {
                dialogue.separate();
            }
            dialogue.blank = true;
            dialogue.extend(book.slice(quotation.start, quotation.end.min(end)), quotation.start);
        }
        dialogue.separate();
        // Two Chinese characters carry about as much information as four letters.
        let gram_length = if book.language == Language::Zh { 2 } else { 4 };
        let is_script =
            book.quotations(start, end).iter().any(|quotation| quotation.kind == Some(QuotationKind::Script));
        let (segments, postings) = (Vec::new(), HashMap::new());
        let mut index = Self {
            book,
            start,
            end,
            full_text,
            dialogue,
            segments,
            postings,
            gram_length,
            is_script,
            lower_case_words: OnceLock::new(),
        };
        index.add_segments();
        index
    }

    pub(crate) fn add_segments(&mut self) {
        let (book, start, end) = (self.book, self.start, self.end);
        let mut segment_start = 0;
        for at in
            (0..self.dialogue.chars.len()).filter(|at| self.dialogue.chars[*at] == SEPARATOR).collect::<Vec<usize>>()
        {
            self.add_segment(true, segment_start..at);
            segment_start = at + 1;
        }
        let paragraphs = &book.attribution.paragraphs;
        for paragraph in &paragraphs[paragraphs.partition_point(|paragraph| paragraph.end <= start)..] {
            if paragraph.start >= end {
                break;
            }
            let from = self.full_text.points.partition_point(|point| *point < paragraph.start);
            let to = self.full_text.points.partition_point(|point| *point < paragraph.end);
            self.add_segment(false, from..to);
        }
    }

    pub(crate) fn add_segment(&mut self, is_dialogue: bool, chars: Range<usize>) {
        let first = self.segments.last().map_or(0, |before| before.pieces.end);
        let normalized = if is_dialogue { &self.dialogue } else { &self.full_text };
        let grams = grams(&normalized.chars[chars.clone()], self.gram_length);
        let pieces = first..first + grams.len().div_ceil(PIECE);
        for (piece, grams) in (first..).zip(grams.chunks(PIECE)) {
            let piece = u32::try_from(piece).expect("a book has fewer pieces");
            for gram in grams {
                let list = self.postings.entry(*gram).or_default();
                if list.last() != Some(&piece) {
                    list.push(piece);
                }
            }
        }
        self.segments.push(Segment { is_dialogue, chars, pieces });
    }

    /// Searches for an utterance among the ranges that are not yet matched. If there are several, ranges after `after`
    /// are preferred, and whole quotations over parts of one.
    pub(crate) fn find(&self, speech: &str, after: u32, min_similarity: f64, matched: &MatchedRanges) -> Found {
        let line = self.words(speech, 0);
        let Some(normalized) = normalize(speech).filter(|_| !line.is_empty()) else { return Found::absent(0.0) };
        let mut repeated = None;
        match self.find_exact(&normalized, after, matched) {
            Some(ExactMatch { range, already_matched: false, is_cut_off: false }) => {
                return Found::at(Grounded::Exact, 1.0, range);
            }
            Some(ExactMatch { range, already_matched: true, is_cut_off: false }) => repeated = Some(range),
            _ => {}
        }
        if let Some(range) = self.find_parts(speech, after, matched) {
            return Found::at(Grounded::Near, MAX_APPROXIMATE, range);
        }
        let mut best: Option<(Found, bool)> = None;
        for (_, candidate) in self.candidates(&normalized) {
            let Some((alignment, range)) = self.align_candidate(&line, candidate) else { continue };
            let similarity = alignment.similarity;
            let alike = similarity >= min_similarity && similarity > 0.0;
            let is_true = alike && alignment.alteration.is_none();
            if is_true && matched.has(range) {
                repeated = repeated.or(Some(range));
                continue;
            }
            // A segment that contains the whole utterance is preferred to a more similar one; a part can match
            // anywhere.
            let is_whole = is_true && alignment.covered >= MIN_COVERED;
            let better =
                best.as_ref().is_none_or(|(found, before)| (is_whole, similarity) > (*before, found.similarity));
            if better {
                let found = if is_true {
                    Found::at(Grounded::Near, similarity.min(MAX_APPROXIMATE), range)
                } else {
                    let (nearest, alteration) = (Some(range), alignment.alteration.filter(|_| alike));
                    Found { nearest, alteration, ..Found::absent(similarity.min(MAX_APPROXIMATE)) }
                };
                best = Some((found, is_whole));
            }
        }
        let found = best.map_or(Found::absent(0.0), |(found, _)| found);
        if found.range.is_some() { found } else { Found { repeated, ..found } }
    }

    /// Searches for a speech that narration splits into several paragraphs: each sentence must match exactly and follow
    /// closely.
    pub(crate) fn find_parts(&self, speech: &str, after: u32, matched: &MatchedRanges) -> Option<(u32, u32)> {
        let sentences = crate::text::sentences(speech);
        if sentences.len() < 2 {
            return None;
        }
        let mut speech_range: Option<(u32, u32)> = None;
        for sentence in sentences {
            let from = speech_range.map_or(after, |(_, end)| end);
            let found = self
                .find_exact(&normalize(sentence)?, from, matched)
                .filter(|found| !found.is_cut_off && !found.already_matched)?;
            let (start, end) = found.range;
            let follows = speech_range.is_none_or(|(_, before)| start >= before && start - before <= MAX_GAP);
            speech_range = follows.then_some((speech_range.map_or(start, |(start, _)| start), end));
            speech_range?;
        }
        speech_range
    }

    /// Finds the range of a text from the book, including narration and partial sentences.
    pub(crate) fn locate(&self, text: &str, after: u32, min_similarity: f64) -> Option<(u32, u32)> {
        let normalized = normalize(text)?;
        if let Some(exact) = self.find_exact(&normalized, after, &MatchedRanges::default()) {
            return Some(exact.range);
        }
        let (similarity, found) = self.candidates(&normalized).into_iter().next()?;
        (similarity >= min_similarity)
            .then(|| self.normalized(found.is_dialogue).book_range(found.matching.start, found.matching.end))
    }

    /// Returns the text that is indexed.
    pub(crate) fn text(&self) -> &str {
        self.book.slice(self.start, self.end)
    }

    /// Returns the paragraph of a range, shortened if it is long.
    pub(crate) fn passage(&self, range: (u32, u32)) -> String {
        let near = if self.book.language == Language::Zh { 120 } else { 400 };
        let bounds = self.bounds(range, false);
        let (start, end) = (range.0.saturating_sub(near).max(bounds.start), (range.1 + near).min(bounds.end));
        one_line(self.book.slice(start, end))
    }

    /// Returns the quoted text in a range, without the narration in between.
    pub(crate) fn quoted_text(&self, (start, end): (u32, u32)) -> String {
        let pieces = self.quotations(start..end).iter();
        let pieces: Vec<String> = pieces
            .map(|quotation| one_line(self.book.slice(quotation.start.max(start), quotation.end.min(end))))
            .collect();
        match self.book.language {
            _ if pieces.is_empty() => one_line(self.book.slice(start, end)),
            Language::En => pieces.join(" "),
            Language::Zh => pieces.concat(),
        }
    }

    /// Returns the normalized dialogue or the normalized whole text.
    pub(crate) fn normalized(&self, is_dialogue: bool) -> &NormalizedText {
        if is_dialogue { &self.dialogue } else { &self.full_text }
    }

    pub(crate) fn words(&self, text: &str, start: u32) -> Vec<Token> {
        words(text, start, self.book.names(), self.is_script)
    }

    /// Returns the context of a range: its quotations, or its paragraph.
    pub(crate) fn bounds(&self, (start, end): (u32, u32), is_dialogue: bool) -> Range<u32> {
        if is_dialogue {
            let quotations = self.quotations(start..end);
            if let (Some(first), Some(last)) = (quotations.first(), quotations.last()) {
                return first.start..last.end;
            }
        }
        let paragraphs = &self.book.attribution.paragraphs;
        let at = paragraphs.partition_point(|paragraph| paragraph.end <= start);
        let paragraph = paragraphs.get(at).filter(|paragraph| paragraph.start <= start);
        paragraph.map_or(start..end, |paragraph| paragraph.start..paragraph.end.max(end))
    }

    /// Returns the quotations that overlap a range.
    pub(crate) fn quotations(&self, range: Range<u32>) -> &[Quotation] {
        let all = self.book.quotations(self.start, self.end);
        let first = all.partition_point(|quotation| quotation.end <= range.start);
        let last = all.partition_point(|quotation| quotation.start < range.end);
        &all[first.min(last)..last]
    }

    /// Whether the passage has a word in lower case.
    pub(crate) fn is_used(&self, word: &str) -> bool {
        let lower_case_words = self.lower_case_words.get_or_init(|| {
            let words = self.book.slice(self.start, self.end).split(|c: char| !c.is_alphanumeric());
            words.filter(|word| word.starts_with(char::is_lowercase)).map(str::to_owned).collect()
        });
        lower_case_words.contains(word)
    }
}
