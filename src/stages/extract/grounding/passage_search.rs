//! A passage of a book, indexed for finding utterances.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::OnceLock;

use super::matches::{Exact, Found, MatchedRanges};
use super::ngrams::{PIECE, grams};
use super::normalized::{NormalizedText, SEPARATOR, plain};
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
    pub(crate) whole: NormalizedText,
    pub(crate) talk: NormalizedText,
    /// Segments for the approximate search.
    pub(crate) passages: Vec<Segment>,
    /// N-gram → pieces of segments that contain it. Only looked up, never iterated.
    pub(crate) postings: HashMap<u64, Vec<u32>>,
    pub(crate) run: usize,
    /// Whether line ends separate paragraphs.
    pub(crate) is_script: bool,
    /// Words that the passage also has in lower case. Only looked up.
    pub(crate) used: OnceLock<HashSet<String>>,
}

/// A quotation or paragraph for the approximate search.
#[derive(Debug)]
pub(crate) struct Segment {
    /// Whether it is dialogue; otherwise it is the whole text.
    pub(crate) talk: bool,
    pub(crate) chars: Range<usize>,
    /// Its pieces, numbered over all segments.
    pub(crate) pieces: Range<usize>,
}

/// The maximum distance between the parts of a speech, in code points.
pub(crate) const FAR: u32 = 600;

/// The share of an utterance that a segment must contain to count as whole; allows for typos and filler words.
pub(crate) const COVERED: f64 = 0.9;

/// The maximum similarity of an approximate match; 1 is reserved for exact ones.
pub(crate) const NEAREST: f64 = 0.999;

impl<'a> PassageIndex<'a> {
    /// Indexes a passage.
    pub(crate) fn new(book: &'a BookIndex, start: u32, end: u32) -> Self {
        let mut whole = NormalizedText::default();
        whole.extend(book.slice(start, end), start);
        let mut talk = NormalizedText::default();
        let paragraphs = &book.attribution.paragraphs;
        let mut paragraph = None;
        for quotation in book.quotations(start, end) {
            let stands_in = paragraphs.partition_point(|paragraph| paragraph.end <= quotation.start);
            if paragraph.replace(stands_in) != Some(stands_in) {
                talk.part();
            }
            talk.blank = true;
            talk.extend(book.slice(quotation.start, quotation.end.min(end)), quotation.start);
        }
        talk.part();
        // Two Chinese characters carry about as much information as four letters.
        let run = if book.language == Language::Zh { 2 } else { 4 };
        let is_script =
            book.quotations(start, end).iter().any(|quotation| quotation.kind == Some(QuotationKind::Script));
        let (passages, postings) = (Vec::new(), HashMap::new());
        let mut ground =
            Self { book, start, end, whole, talk, passages, postings, run, is_script, used: OnceLock::new() };
        ground.add_passages();
        ground
    }

    pub(crate) fn add_passages(&mut self) {
        let (book, start, end) = (self.book, self.start, self.end);
        let mut begun = 0;
        for at in (0..self.talk.chars.len()).filter(|at| self.talk.chars[*at] == SEPARATOR).collect::<Vec<usize>>() {
            self.add_passage(true, begun..at);
            begun = at + 1;
        }
        let paragraphs = &book.attribution.paragraphs;
        for paragraph in &paragraphs[paragraphs.partition_point(|paragraph| paragraph.end <= start)..] {
            if paragraph.start >= end {
                break;
            }
            let from = self.whole.points.partition_point(|point| *point < paragraph.start);
            let to = self.whole.points.partition_point(|point| *point < paragraph.end);
            self.add_passage(false, from..to);
        }
    }

    pub(crate) fn add_passage(&mut self, talk: bool, chars: Range<usize>) {
        let first = self.passages.last().map_or(0, |before| before.pieces.end);
        let plain = if talk { &self.talk } else { &self.whole };
        let grams = grams(&plain.chars[chars.clone()], self.run);
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
        self.passages.push(Segment { talk, chars, pieces });
    }

    /// Searches for an utterance among the ranges that are not yet matched. If there are several, ranges after `after`
    /// are preferred, and whole quotations over parts of one.
    pub(crate) fn find(&self, speech: &str, after: u32, min_similarity: f64, taken: &MatchedRanges) -> Found {
        let line = self.words(speech, 0);
        let Some(plain) = plain(speech).filter(|_| !line.is_empty()) else { return Found::absent(0.0) };
        let mut repeated = None;
        match self.exact(&plain, after, taken) {
            Some(Exact { place, taken: false, cut: false }) => return Found::at(Grounded::Exact, 1.0, place),
            Some(Exact { place, taken: true, cut: false }) => repeated = Some(place),
            _ => {}
        }
        if let Some(place) = self.parts(speech, after, taken) {
            return Found::at(Grounded::Near, NEAREST, place);
        }
        let mut best: Option<(Found, bool)> = None;
        for (_, candidate) in self.candidates(&plain) {
            let Some((alignment, place)) = self.beside(&line, candidate) else { continue };
            let similarity = alignment.similarity;
            let alike = similarity >= min_similarity && similarity > 0.0;
            let is_true = alike && alignment.alteration.is_none();
            if is_true && taken.has(place) {
                repeated = repeated.or(Some(place));
                continue;
            }
            // A segment that contains the whole utterance is preferred to a more similar one; a part can match
            // anywhere.
            let is_whole = is_true && alignment.covered >= COVERED;
            let better =
                best.as_ref().is_none_or(|(found, before)| (is_whole, similarity) > (*before, found.similarity));
            if better {
                let found = if is_true {
                    Found::at(Grounded::Near, similarity.min(NEAREST), place)
                } else {
                    let (nearest, alteration) = (Some(place), alignment.alteration.filter(|_| alike));
                    Found { nearest, alteration, ..Found::absent(similarity.min(NEAREST)) }
                };
                best = Some((found, is_whole));
            }
        }
        let found = best.map_or(Found::absent(0.0), |(found, _)| found);
        if found.place.is_some() { found } else { Found { repeated, ..found } }
    }

    /// Searches for a speech that narration splits into several paragraphs: each sentence must match exactly and follow
    /// closely.
    pub(crate) fn parts(&self, speech: &str, after: u32, taken: &MatchedRanges) -> Option<(u32, u32)> {
        let sentences = crate::text::sentences(speech);
        if sentences.len() < 2 {
            return None;
        }
        let mut whole: Option<(u32, u32)> = None;
        for sentence in sentences {
            let from = whole.map_or(after, |(_, end)| end);
            let found = self.exact(&plain(sentence)?, from, taken).filter(|found| !found.cut && !found.taken)?;
            let (start, end) = found.place;
            let follows = whole.is_none_or(|(_, before)| start >= before && start - before <= FAR);
            whole = follows.then_some((whole.map_or(start, |(start, _)| start), end));
            whole?;
        }
        whole
    }

    /// Finds the range of a text from the book, including narration and partial sentences.
    pub(crate) fn locate(&self, text: &str, after: u32, min_similarity: f64) -> Option<(u32, u32)> {
        let plain = plain(text)?;
        if let Some(exact) = self.exact(&plain, after, &MatchedRanges::default()) {
            return Some(exact.place);
        }
        let (similarity, found) = self.candidates(&plain).into_iter().next()?;
        (similarity >= min_similarity).then(|| self.plain(found.talk).place(found.alike.start, found.alike.end))
    }

    /// Returns the text that is indexed.
    pub(crate) fn text(&self) -> &str {
        self.book.slice(self.start, self.end)
    }

    /// Returns the paragraph of a range, shortened if it is long.
    pub(crate) fn passage(&self, place: (u32, u32)) -> String {
        let near = if self.book.language == Language::Zh { 120 } else { 400 };
        let bounds = self.bounds(place, false);
        let (start, end) = (place.0.saturating_sub(near).max(bounds.start), (place.1 + near).min(bounds.end));
        one_line(self.book.slice(start, end))
    }

    /// Returns the quoted text in a range, without the narration in between.
    pub(crate) fn said(&self, (start, end): (u32, u32)) -> String {
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

    pub(crate) fn plain(&self, talk: bool) -> &NormalizedText {
        if talk { &self.talk } else { &self.whole }
    }

    pub(crate) fn words(&self, text: &str, start: u32) -> Vec<Token> {
        words(text, start, self.book.names(), self.is_script)
    }

    /// Returns the context of a range: its quotations, or its paragraph.
    pub(crate) fn bounds(&self, (start, end): (u32, u32), talk: bool) -> Range<u32> {
        if talk {
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
        let used = self.used.get_or_init(|| {
            let words = self.book.slice(self.start, self.end).split(|c: char| !c.is_alphanumeric());
            words.filter(|word| word.starts_with(char::is_lowercase)).map(str::to_owned).collect()
        });
        used.contains(word)
    }
}
