//! Finds an utterance in the book: an exact search first, then an approximate one. Makes no decision about scenes.
//!
//! A passage is indexed once. Each utterance is then searched for, and aligned with the few segments that share the
//! most n-grams with it. An utterance that differs by a name, a number or a negation is not found, however similar the
//! rest is.

mod alignment;
mod name_discriminators;
pub(crate) mod tokens;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::OnceLock;

use memchr::memmem::Finder;

use self::alignment::{Alignment, Alteration, align, cut};
use self::tokens::{Word, folded, words};
use super::book_index::BookFacts;
use super::book_index::narration::one_line;
use crate::attribution::{Quotation, QuotationKind};
use crate::schema::{Grounded, Language};
use crate::text::is_han;

/// The result of a search for an utterance.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub(super) grounded: Grounded,
    /// Similarity to the text of the book, 0 to 1.
    pub(super) similarity: f64,
    /// Range in code points of the decoded text.
    pub(super) place: Option<(u32, u32)>,
    /// The most similar range, if the utterance was not found.
    pub(super) nearest: Option<(u32, u32)>,
    /// The difference from the nearest range that changes the meaning.
    pub(super) alteration: Option<Alteration>,
    /// The range, if the text is there but was already matched to another utterance.
    pub(super) repeated: Option<(u32, u32)>,
}

impl Found {
    const fn absent(similarity: f64) -> Self {
        let grounded = Grounded::Absent;
        Self { grounded, similarity, place: None, nearest: None, alteration: None, repeated: None }
    }

    const fn at(grounded: Grounded, similarity: f64, place: (u32, u32)) -> Self {
        Self { grounded, similarity, place: Some(place), nearest: None, alteration: None, repeated: None }
    }
}

/// Ranges that are already matched; each range of the book is used once.
#[derive(Debug, Clone, Default)]
pub(super) struct Taken {
    places: BTreeSet<(u32, u32)>,
    /// The length of the longest range.
    longest: u32,
}

impl Taken {
    pub(super) fn add(&mut self, place: (u32, u32)) {
        self.longest = self.longest.max(place.1 - place.0);
        self.places.insert(place);
    }

    /// Whether more than half of a range is already matched.
    pub(super) fn has(&self, (start, end): (u32, u32)) -> bool {
        let shared = |(from, to): &(u32, u32)| (*to).min(end).saturating_sub((*from).max(start));
        let near = self.places.range((start.saturating_sub(self.longest), 0)..(end, 0));
        near.into_iter().any(|taken| shared(taken) * 2 > (end - start).min(taken.1 - taken.0))
    }
}

/// Searches for utterances in a passage (range in code points) and returns for each how it was found and its similarity
/// to the text. As in a scene, each one is searched for after the previous one first, and no range is used twice.
#[must_use]
pub fn ground(book: &BookFacts, stretch: Range<u32>, lines: &[String], min_similarity: f64) -> Vec<(Grounded, f64)> {
    let ground = Ground::new(book, stretch.start, stretch.end);
    let (mut taken, mut after) = (Taken::default(), stretch.start);
    let mut found = Vec::with_capacity(lines.len());
    for line in lines {
        let line = ground.find(line, after, min_similarity, &taken);
        if let Some(place) = line.place {
            taken.add(place);
            after = place.1;
        }
        found.push((line.grounded, line.similarity));
    }
    found
}

/// A separator that no match may cross.
const BORDER: char = '\u{1}';

/// Text normalized for matching: without punctuation, case, width and insignificant white space.
#[derive(Debug, Default)]
struct Plain {
    text: String,
    chars: Vec<char>,
    /// The byte offset of each character.
    bytes: Vec<usize>,
    /// The code point of the book for each character.
    points: Vec<u32>,
    blank: bool,
}

impl Plain {
    fn of(text: &str) -> Self {
        let mut plain = Self::default();
        plain.extend(text, 0);
        plain
    }

    fn extend(&mut self, text: &str, start: u32) {
        for (point, c) in (start..).zip(text.chars()) {
            let c = folded(c);
            if c == '\'' {
                continue;
            }
            if !c.is_alphanumeric() {
                self.blank = true;
                continue;
            }
            let spaced = |c: char| !is_han(c) && c != BORDER;
            if std::mem::take(&mut self.blank) && spaced(c) && self.chars.last().is_some_and(|before| spaced(*before)) {
                self.push(' ', point);
            }
            for c in c.to_lowercase() {
                self.push(c, point);
            }
        }
    }

    fn push(&mut self, c: char, point: u32) {
        self.bytes.push(self.text.len());
        self.text.push(c);
        self.chars.push(c);
        self.points.push(point);
    }

    /// Adds a separator before the text that follows.
    fn part(&mut self) {
        if self.chars.last().is_some_and(|c| *c != BORDER) {
            let point = self.points.last().map_or(0, |point| point + 1);
            self.push(BORDER, point);
        }
        self.blank = false;
    }

    fn index(&self, byte: usize) -> usize {
        self.bytes.partition_point(|at| *at < byte)
    }

    fn place(&self, from: usize, to: usize) -> (u32, u32) {
        (self.points[from], self.points[to - 1] + 1)
    }
}

/// An indexed passage of a book.
#[derive(Debug)]
pub(crate) struct Ground<'a> {
    book: &'a BookFacts,
    start: u32,
    end: u32,
    whole: Plain,
    talk: Plain,
    /// Segments for the approximate search.
    passages: Vec<Passage>,
    /// N-gram → pieces of segments that contain it. Only looked up, never iterated.
    postings: HashMap<u64, Vec<u32>>,
    run: usize,
    /// Whether line ends separate paragraphs.
    is_script: bool,
    /// Words that the passage also has in lower case. Only looked up.
    used: OnceLock<HashSet<String>>,
}

impl<'a> Ground<'a> {
    /// Indexes a passage.
    pub(crate) fn new(book: &'a BookFacts, start: u32, end: u32) -> Self {
        let mut whole = Plain::default();
        whole.extend(book.slice(start, end), start);
        let mut talk = Plain::default();
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

    fn add_passages(&mut self) {
        let (book, start, end) = (self.book, self.start, self.end);
        let mut begun = 0;
        for at in (0..self.talk.chars.len()).filter(|at| self.talk.chars[*at] == BORDER).collect::<Vec<usize>>() {
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

    fn add_passage(&mut self, talk: bool, chars: Range<usize>) {
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
        self.passages.push(Passage { talk, chars, pieces });
    }

    /// Searches for an utterance among the ranges that are not yet matched. If there are several, ranges after `after`
    /// are preferred, and whole quotations over parts of one.
    pub(super) fn find(&self, speech: &str, after: u32, min_similarity: f64, taken: &Taken) -> Found {
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
    fn parts(&self, speech: &str, after: u32, taken: &Taken) -> Option<(u32, u32)> {
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
    pub(super) fn locate(&self, text: &str, after: u32, min_similarity: f64) -> Option<(u32, u32)> {
        let plain = plain(text)?;
        if let Some(exact) = self.exact(&plain, after, &Taken::default()) {
            return Some(exact.place);
        }
        let (similarity, found) = self.candidates(&plain).into_iter().next()?;
        (similarity >= min_similarity).then(|| self.plain(found.talk).place(found.alike.start, found.alike.end))
    }

    /// Returns the text that is indexed.
    pub(super) fn text(&self) -> &str {
        self.book.slice(self.start, self.end)
    }

    /// Returns the paragraph of a range, shortened if it is long.
    pub(super) fn passage(&self, place: (u32, u32)) -> String {
        let near = if self.book.language == Language::Zh { 120 } else { 400 };
        let bounds = self.bounds(place, false);
        let (start, end) = (place.0.saturating_sub(near).max(bounds.start), (place.1 + near).min(bounds.end));
        one_line(self.book.slice(start, end))
    }

    /// Returns the quoted text in a range, without the narration in between.
    pub(super) fn said(&self, (start, end): (u32, u32)) -> String {
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

    fn plain(&self, talk: bool) -> &Plain {
        if talk { &self.talk } else { &self.whole }
    }

    fn words(&self, text: &str, start: u32) -> Vec<Word> {
        words(text, start, self.book.names(), self.is_script)
    }

    fn exact(&self, plain: &Plain, after: u32, taken: &Taken) -> Option<Exact> {
        let length = plain.chars.len();
        let search = |talk: bool| {
            let ground = self.plain(talk);
            let mut best: Option<((bool, bool, bool, bool), Exact)> = None;
            // Later matches come first, so that a phrase that occurs a thousand times is not scanned in full each time.
            let behind = ground.points.partition_point(|point| *point < after);
            let behind = ground.bytes.get(behind).copied().unwrap_or(ground.text.len());
            let finder = Finder::new(&plain.text);
            let later = finder.find_iter(&ground.text.as_bytes()[behind..]).map(|byte| behind + byte).take(MOST_PLACES);
            let earlier = finder.find_iter(ground.text.as_bytes()).take_while(|byte| *byte < behind).take(MOST_PLACES);
            for byte in later.chain(earlier) {
                let from = ground.index(byte);
                let to = from + length;
                let letter = |at: Option<usize>| {
                    at.and_then(|at| ground.chars.get(at)).is_some_and(|c| c.is_alphanumeric() && !is_han(*c))
                };
                let inside = |at: usize| letter(at.checked_sub(1)) && letter(Some(at));
                if inside(from) || inside(to) {
                    continue;
                }
                let place = ground.place(from, to);
                let exact = Exact { place, taken: taken.has(place), cut: self.cuts(place, talk, plain) };
                let opens = talk && (from == 0 || ground.chars[from - 1] == BORDER);
                let rank = (!exact.cut, !exact.taken, opens, place.0 >= after);
                if best.is_none_or(|(found, _)| rank > found) {
                    best = Some((rank, exact));
                }
                // A whole match after the previous one is the best possible.
                if rank == (true, true, true, true) {
                    break;
                }
            }
            best.map(|(_, exact)| exact)
        };
        // A word or two of narration is not an utterance.
        let least = if plain.chars.iter().any(|c| is_han(*c)) { 5 } else { 12 };
        let talk = search(true);
        if talk.is_some_and(|exact| !exact.cut && !exact.taken) || length < least {
            return talk;
        }
        let whole = search(false).filter(|exact| !(exact.cut || talk.is_some() && exact.taken));
        whole.or(talk)
    }

    /// Whether a range is cut out of its clause in a way that changes the meaning: without a name, a number or a
    /// negation, or because it is only a word or two.
    fn cuts(&self, place: (u32, u32), talk: bool, plain: &Plain) -> bool {
        let Range { start, end } = self.bounds(place, talk);
        let blank = |c: &char| c.is_whitespace();
        let before = self.book.slice(place.0.saturating_sub(REST).max(start), place.0);
        let after = self.book.slice(place.1, (place.1 + REST).min(end));
        let inner = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let torn = inner(before.chars().rev().find(|c| !blank(c))) || inner(after.chars().find(|c| !blank(c)));
        let short = if plain.chars.iter().any(|c| is_han(*c)) {
            plain.chars.len() < 4
        } else {
            plain.chars.iter().filter(|c| **c == ' ').count() < 2
        };
        let comma = before.trim_end().ends_with([',', '，', '、']);
        if !torn && !comma {
            return false;
        }
        if torn && short {
            return true;
        }
        let mut passage = self.words(before, place.0 - u32::try_from(before.chars().count()).unwrap_or(0));
        let first = passage.len();
        let own = self.words(self.book.slice(place.0, place.1), place.0);
        let begins = |text: &str| {
            let mark = text.chars().rev().find(|c| !c.is_whitespace());
            mark.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '-' | '·'))
        };
        passage.extend(own);
        let last = passage.len().saturating_sub(1);
        passage.extend(self.words(after, place.1));
        if first > last {
            return false;
        }
        // The three parts were tokenized separately, so that each seems to begin a sentence.
        let own_begins = match before.trim_end().chars().next_back() {
            Some(',' | '，' | '、') => self::tokens::Begins::Clause,
            _ if begins(before) => self::tokens::Begins::Sentence,
            _ => self::tokens::Begins::Nothing,
        };
        passage[first].begins = own_begins;
        if let Some(next) = passage.get_mut(last + 1)
            && after.trim_start().starts_with(char::is_alphanumeric)
        {
            next.begins = self::tokens::Begins::Nothing;
        }
        cut(&passage, first, last, &|word| self.is_used(word)).is_some()
    }

    /// Returns the context of a range: its quotations, or its paragraph.
    fn bounds(&self, (start, end): (u32, u32), talk: bool) -> Range<u32> {
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
    fn quotations(&self, range: Range<u32>) -> &[Quotation] {
        let all = self.book.quotations(self.start, self.end);
        let first = all.partition_point(|quotation| quotation.end <= range.start);
        let last = all.partition_point(|quotation| quotation.start < range.end);
        &all[first.min(last)..last]
    }

    /// Whether the passage has a word in lower case.
    fn is_used(&self, word: &str) -> bool {
        let used = self.used.get_or_init(|| {
            let words = self.book.slice(self.start, self.end).split(|c: char| !c.is_alphanumeric());
            words.filter(|word| word.starts_with(char::is_lowercase)).map(str::to_owned).collect()
        });
        used.contains(word)
    }

    /// Aligns an utterance with a segment plus a margin. Returns the alignment and the matched range.
    fn beside(&self, line: &[Word], candidate: Candidate) -> Option<(Alignment, (u32, u32))> {
        let Candidate { talk, alike, within } = candidate;
        let margin = alike.len() / 2 + 12;
        let ground = self.plain(talk);
        let from = alike.start.saturating_sub(margin).max(within.start);
        let to = (alike.end + margin).min(within.end);
        let (start, end) = ground.place(from, to);
        let passage = if talk {
            let pieces = self.quotations(start..end).iter();
            let pieces = pieces.map(|quotation| (quotation.start.max(start), quotation.end.min(end)));
            pieces.flat_map(|(start, end)| self.words(self.book.slice(start, end), start)).collect()
        } else {
            self.words(self.book.slice(start, end), start)
        };
        let alignment = align(line, &passage, self.book.language, &|word| self.is_used(word))?;
        let (first, last) = alignment.words;
        let place = (passage[first].start, passage[last - 1].end);
        Some((alignment, place))
    }

    /// Finds the segments with the best Dice coefficient over any window of the utterance's length, with that window.
    /// The most similar comes first.
    fn candidates(&self, plain: &Plain) -> Vec<(f64, Candidate)> {
        let own = grams(&plain.chars, self.run);
        if own.len() < 3 {
            return Vec::new();
        }
        let mut shared: Vec<u32> = vec![0; self.passages.last().map_or(0, |last| last.pieces.end)];
        for gram in &own {
            for piece in self.postings.get(gram).into_iter().flatten() {
                shared[*piece as usize] += 1;
            }
        }
        let mut order: Vec<(u32, usize, Range<usize>)> = Vec::new();
        for (at, passage) in self.passages.iter().enumerate() {
            let most = likely(&shared[passage.pieces.clone()], own.len());
            order.extend(most.into_iter().map(|(sum, pieces)| (sum, at, pieces)));
        }
        order.sort_by_key(|(sum, at, pieces)| (std::cmp::Reverse(*sum), *at, pieces.start));
        let mut wanted: HashMap<u64, i32> = HashMap::new();
        for gram in &own {
            *wanted.entry(*gram).or_default() += 1;
        }
        let mut candidates: Vec<(f64, Candidate)> = Vec::new();
        for (_, passage, pieces) in order.into_iter().take(4) {
            let Passage { talk, chars: within, .. } = &self.passages[passage];
            let ground = self.plain(*talk);
            let from = within.start + pieces.start * PIECE;
            let to = (within.start + pieces.end * PIECE + self.run - 1).min(within.end);
            let (similarity, start, end) = window(&grams(&ground.chars[from..to], self.run), own.len(), &wanted);
            let alike = from + start..(from + end + self.run - 1).min(to);
            if similarity > 0.0 && !alike.is_empty() {
                candidates.push((similarity, Candidate { talk: *talk, alike, within: within.clone() }));
            }
        }
        candidates.sort_by(|a, b| b.0.total_cmp(&a.0));
        candidates
    }
}

/// The maximum number of matches examined on each side of the previous one.
const MOST_PLACES: usize = 400;

/// The maximum distance between the parts of a speech, in code points.
const FAR: u32 = 600;

/// The share of an utterance that a segment must contain to count as whole; allows for typos and filler words.
const COVERED: f64 = 0.9;

/// The maximum similarity of an approximate match; 1 is reserved for exact ones.
const NEAREST: f64 = 0.999;

/// How much of the surrounding clause is examined, in code points.
const REST: u32 = 60;

/// The number of n-grams in a piece of a segment; needed because a paragraph can be a whole book.
const PIECE: usize = 4096;

/// A quotation or paragraph for the approximate search.
#[derive(Debug)]
struct Passage {
    /// Whether it is dialogue; otherwise it is the whole text.
    talk: bool,
    chars: Range<usize>,
    /// Its pieces, numbered over all segments.
    pieces: Range<usize>,
}

/// Returns the windows of pieces that may contain an utterance of `length` n-grams, given the n-grams that each piece
/// shares with it: those with at least a fifth of the n-grams and no fewer than the neighbouring windows.
fn likely(shared: &[u32], length: usize) -> Vec<(u32, Range<usize>)> {
    // Most segments share almost nothing.
    if shared.is_empty() || (shared.iter().sum::<u32>() as usize) * 5 < length {
        return Vec::new();
    }
    let span = (length / PIECE + 2).min(shared.len());
    let sums: Vec<u32> = shared.windows(span).map(|pieces| pieces.iter().sum()).collect();
    let highest = |at: usize| {
        let before = at.checked_sub(1).is_some_and(|before| sums[before] >= sums[at]);
        !before && sums.get(at + 1).is_none_or(|after| *after <= sums[at])
    };
    let enough = |at: &usize| sums[*at] as usize * 5 >= length && highest(*at);
    (0..sums.len()).filter(enough).map(|at| (sums[at], at..at + span)).collect()
}

/// A range that contains an utterance's characters.
#[derive(Debug, Clone, Copy)]
struct Exact {
    place: (u32, u32),
    taken: bool,
    /// Whether it is cut out of its clause.
    cut: bool,
}

/// A range that may match an utterance, in characters of the dialogue or of the whole text.
#[derive(Debug, Clone)]
struct Candidate {
    talk: bool,
    alike: Range<usize>,
    /// The segment it lies in.
    within: Range<usize>,
}

/// Normalizes an utterance without surrounding punctuation; `None` if nothing is left.
fn plain(text: &str) -> Option<Plain> {
    let plain = Plain::of(text.trim_matches(|c: char| c.is_whitespace() || ".,;:!?。，；：！？．…—-".contains(c)));
    (!plain.chars.is_empty()).then_some(plain)
}

/// Slides a window of `length` n-grams over a segment. Returns the best Dice coefficient and the range of matching
/// n-grams.
fn window(passage: &[u64], length: usize, wanted: &HashMap<u64, i32>) -> (f64, usize, usize) {
    let size = passage.len().min(length);
    let mut left = wanted.clone();
    let (mut common, mut best, mut at) = (0_i32, 0_i32, 0);
    for (end, gram) in passage.iter().enumerate() {
        if let Some(count) = left.get_mut(gram) {
            common += i32::from(*count > 0);
            *count -= 1;
        }
        if end >= size
            && let Some(count) = left.get_mut(&passage[end - size])
        {
            *count += 1;
            common -= i32::from(*count > 0);
        }
        if end + 1 >= size && common > best {
            (best, at) = (common, end + 1 - size);
        }
    }
    let whole = u32::try_from(size + length).unwrap_or(u32::MAX);
    // Trim the edges of the window that do not match.
    let alike = |gram: &u64| wanted.contains_key(gram);
    let first = passage[at..at + size].iter().position(alike).map_or(at, |first| at + first);
    let last = passage[at..at + size].iter().rposition(alike).map_or(at + size, |last| at + last + 1);
    (2.0 * f64::from(best) / f64::from(whole.max(1)), first, last)
}

/// Returns the n-grams of `length` characters, each hashed to a number.
fn grams(chars: &[char], length: usize) -> Vec<u64> {
    let number = |run: &[char]| {
        run.iter()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, c| (hash ^ u64::from(u32::from(*c))).wrapping_mul(0x0100_0000_01b3))
    };
    chars.windows(length).map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stages::extract::fixtures::{EN, EN_PEOPLE, EN_SPEAKERS, ZH, ZH_PEOPLE, attribution, facts, length};

    fn check(language: Language, cases: &[(&str, Grounded, &str)]) {
        let (text, people) = if language == Language::En { (EN, EN_PEOPLE) } else { (ZH, ZH_PEOPLE) };
        let book = facts(language, text, attribution(text, people, EN_SPEAKERS));
        let ground = Ground::new(&book, 0, length(text));
        for (speech, grounded, begins) in cases {
            let found = ground.find(speech, 0, 0.6, &Taken::default());
            assert_eq!(found.grounded, *grounded, "{speech}: {found:?}");
            assert_eq!(found.place.is_some(), *grounded != Grounded::Absent);
            if let Some((start, end)) = found.place {
                assert!(book.slice(start, end).starts_with(begins), "{speech}: {}", book.slice(start, end));
            }
        }
    }

    #[test]
    fn english_lines_are_found_as_they_stand_or_nearly() {
        check(
            Language::En,
            &[
                ("There is nobody here but me.", Grounded::Exact, "There is"),
                ("“THERE  is nobody here, but me!”", Grounded::Exact, "There is"),
                ("Is anybody there? I must see the miller before dark.", Grounded::Exact, "Is anybody"),
                ("They took the stones away in January", Grounded::Exact, "They took"),
                ("They carried the stones away in January.", Grounded::Near, "They"),
                ("The king himself will hear of this before the week is out.", Grounded::Absent, ""),
                ("Boris, my dear, would you care for another cup of tea?", Grounded::Absent, ""),
                ("fog", Grounded::Absent, ""),
                ("…", Grounded::Absent, ""),
            ],
        );
    }

    #[test]
    fn chinese_lines_are_found_as_they_stand_or_nearly() {
        check(
            Language::Zh,
            &[
                ("只有我一个", Grounded::Exact, "只有我"),
                ("里头有人么？天黑之前，我要见一见磨坊的主人。", Grounded::Exact, "里头"),
                ("「从前是．正月里他们把磨盘抬走了」", Grounded::Exact, "从前是"),
                ("从前是。正月里，他们便把那磨盘抬走了。", Grounded::Near, "从前是"),
                ("皇上若知道了，定要拿你是问。", Grounded::Absent, ""),
                ("大雾", Grounded::Absent, ""),
            ],
        );
    }

    #[test]
    fn of_equal_places_the_next_one_counts() {
        let text = "“Yes,” said Anna.\n“No.”\n“Yes.”\n";
        let book = facts(Language::En, text, attribution(text, EN_PEOPLE, &[0, 1, 0]));
        let ground = Ground::new(&book, 0, length(text));
        let start = |after| ground.find("Yes!", after, 0.6, &Taken::default()).place.expect("the text contains it").0;
        assert_eq!((start(0), start(10)), (1, 25));
        // Each occurrence is used once.
        let mut taken = Taken::default();
        for expected in [Some(25), Some(1), None] {
            let found = ground.find("Yes!", 10, 0.6, &taken);
            assert_eq!(found.place.map(|place| place.0), expected);
            assert_eq!(found.repeated.is_some(), expected.is_none());
            found.place.into_iter().for_each(|place| taken.add(place));
        }
    }

    #[test]
    fn likeness_is_the_dice_coefficient_of_the_best_window() {
        let chars = |text: &str| text.chars().collect::<Vec<char>>();
        let wanted: HashMap<u64, i32> = grams(&chars("abcd"), 2).into_iter().map(|gram| (gram, 1)).collect();
        // Of the windows of three bigrams the best is `abcx`: two of three bigrams, 2 · 2 / (3 + 3).
        let (similarity, start, end) = window(&grams(&chars("zzabcxyz"), 2), 3, &wanted);
        assert!((similarity - 2.0 / 3.0).abs() < 1e-9 && (start..end).contains(&2), "{similarity} {start} {end}");
        assert!((window(&grams(&chars("abab"), 2), 3, &wanted).0 - 1.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn what_is_said_a_thousand_times_is_found_in_its_turn() {
        for (language, said, people) in [(Language::En, "Yes.", EN_PEOPLE), (Language::Zh, "是的。", ZH_PEOPLE)] {
            let text = format!("“{said}”\n").repeat(1000);
            let book = facts(language, &text, attribution(&text, people, &[]));
            let lines = vec![said.to_owned(); 1001];
            let found = ground(&book, 0..length(&text), &lines, 0.6);
            assert!(found[..1000].iter().all(|(grounded, _)| *grounded == Grounded::Exact), "{language}");
            assert_eq!(found[1000].0, Grounded::Absent);
        }
    }

    #[test]
    fn a_book_without_paragraphs_is_searched_in_pieces() {
        for (language, sentence) in [
            (Language::En, "On day N the ferry left the weir with N + 1 sacks and came back for the lamp. "),
            (Language::Zh, "第N日，渡船载着货离了坝口，到N + 1更时分又折回来取那盏灯。"),
        ] {
            let told = |n: usize| sentence.replace("N + 1", &(n + 1).to_string()).replace('N', &n.to_string());
            let mut text: String = (100..900).map(told).collect();
            let (line, near) = match language {
                Language::En => ("Nobody ever asked me what the lamp was for, and I did not say.", "ever "),
                Language::Zh => ("从来没有人问过我这盏灯是做什么用的，我也就没有说。", "过"),
            };
            let middle = text.char_indices().nth(text.chars().count() / 2).expect("the text is not empty").0;
            text.insert_str(middle, &format!("“{line}”"));
            let people = if language == Language::En { EN_PEOPLE } else { ZH_PEOPLE };
            let book = facts(language, &text, attribution(&text, people, &[0]));
            let ground = Ground::new(&book, 0, length(&text));
            assert!(ground.passages.iter().any(|passage| passage.pieces.len() > 4), "{language}");
            let found = ground.find(&line.replacen(near, "", 1), 0, 0.6, &Taken::default());
            assert_eq!(found.grounded, Grounded::Near, "{language}: {found:?}");
            let (start, end) = found.place.expect("a near match has a place");
            assert!(line.contains(book.slice(start, end)), "{language}: {}", book.slice(start, end));
        }
    }

    #[test]
    fn pieces_that_share_most_are_looked_at() {
        assert_eq!(likely(&[], 10), []);
        assert_eq!(likely(&[3], 10), [(3, 0..1)]);
        assert_eq!(likely(&[1], 10), []);
        // An utterance may span two pieces, and of overlapping windows one is enough.
        assert_eq!(likely(&[0, 4, 5, 0, 0, 6, 0], 10), [(9, 1..3), (6, 4..6)]);
        assert_eq!(likely(&[9, 9, 9], 3 * PIECE), []);
        assert_eq!(likely(&[3000, 3000, 3000, 0, 0, 0], 3 * PIECE), [(9000, 0..5)]);
    }
}
