//! Finding a line of speech in the book: word for word first, then by likeness. Decides nothing about scenes.
//!
//! A stretch is indexed once; each line is then a few searches in it, and its likeness is measured against the few
//! passages that share most with it.

use std::collections::HashMap;

use super::facts::BookFacts;
use crate::schema::{Grounded, Language};
use crate::text::is_han;

/// Where and how well a line was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Found {
    pub(super) grounded: Grounded,
    /// Likeness to what stands in the book, 0 to 1.
    pub(super) similarity: f64,
    /// Where it stands, in code points of the decoded text.
    pub(super) place: Option<(u32, u32)>,
}

/// Parts what must not be matched across.
const BORDER: char = '\u{1}';

/// A text without what is not looked at: marks, case, width, blanks that say nothing.
#[derive(Debug, Default)]
struct Plain {
    text: String,
    chars: Vec<char>,
    /// The byte of each character.
    bytes: Vec<usize>,
    /// Where each character stands in the book.
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
            let c = match c {
                '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
                _ => c,
            };
            if matches!(c, '‘' | '’' | '\'') {
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

    /// Parts what follows from what stands, where they must not be read as one.
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

/// A stretch of a book, indexed.
#[derive(Debug)]
pub(super) struct Ground {
    whole: Plain,
    talk: Plain,
    /// Passages that a likeness is measured against: (in the talk, first character, end).
    passages: Vec<(bool, usize, usize)>,
    /// Which passages hold a run of characters. Only looked up, never walked.
    postings: HashMap<u64, Vec<u32>>,
    run: usize,
}

impl Ground {
    /// Indexes a stretch.
    pub(super) fn new(book: &BookFacts, start: u32, end: u32) -> Self {
        let mut whole = Plain::default();
        whole.extend(book.slice(start, end), start);
        let mut talk = Plain::default();
        let paragraphs = &book.reading.paragraphs;
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
        // A pair of Chinese characters says as much as four letters of an alphabet.
        let run = if book.language == Language::Zh { 2 } else { 4 };
        let mut ground = Self { whole, talk, passages: Vec::new(), postings: HashMap::new(), run };
        ground.add_passages(book, start, end);
        ground
    }

    fn add_passages(&mut self, book: &BookFacts, start: u32, end: u32) {
        let mut begun = 0;
        for (at, c) in self.talk.chars.iter().enumerate() {
            if *c == BORDER {
                self.passages.push((true, begun, at));
                begun = at + 1;
            }
        }
        let paragraphs = &book.reading.paragraphs;
        for paragraph in &paragraphs[paragraphs.partition_point(|paragraph| paragraph.end <= start)..] {
            if paragraph.start >= end {
                break;
            }
            let from = self.whole.points.partition_point(|point| *point < paragraph.start);
            let to = self.whole.points.partition_point(|point| *point < paragraph.end);
            self.passages.push((false, from, to));
        }
        for (passage, &(talk, from, to)) in (0_u32..).zip(&self.passages) {
            let plain = if talk { &self.talk } else { &self.whole };
            for gram in grams(&plain.chars[from..to], self.run) {
                let list = self.postings.entry(gram).or_default();
                if list.last() != Some(&passage) {
                    list.push(passage);
                }
            }
        }
    }

    /// Looks for a line of speech. Of several places the one after `after` counts first, and one that is a whole
    /// quotation before a part of one.
    pub(super) fn find(&self, speech: &str, after: u32, min_similarity: f64) -> Found {
        let plain =
            Plain::of(speech.trim_matches(|c: char| c.is_whitespace() || ".,;:!?。，；：！？．…—-".contains(c)));
        let absent = |similarity| Found { grounded: Grounded::Absent, similarity, place: None };
        if plain.chars.is_empty() {
            return absent(0.0);
        }
        if let Some(place) = self.exact(&plain, after) {
            return Found { grounded: Grounded::Exact, similarity: 1.0, place: Some(place) };
        }
        let (similarity, place) = self.near(&plain);
        if similarity >= min_similarity && similarity > 0.0 {
            return Found { grounded: Grounded::Near, similarity, place };
        }
        absent(similarity)
    }

    fn exact(&self, plain: &Plain, after: u32) -> Option<(u32, u32)> {
        let length = plain.chars.len();
        let search = |ground: &Plain, talk: bool| {
            let mut best: Option<((bool, bool), (u32, u32))> = None;
            for (byte, _) in ground.text.match_indices(&plain.text).take(400) {
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
                let opens = talk && (from == 0 || ground.chars[from - 1] == BORDER);
                let rank = (opens, place.0 >= after);
                if best.is_none_or(|(found, _)| rank > found) {
                    best = Some((rank, place));
                }
            }
            best.map(|(_, place)| place)
        };
        // A word or two outside of quotation marks is no line of speech.
        let least = if plain.chars.iter().any(|c| is_han(*c)) { 5 } else { 12 };
        search(&self.talk, true).or_else(|| (length >= least).then(|| search(&self.whole, false)).flatten())
    }

    /// Measures the likeness with the passages that share most: the best of any stretch of the line's own length.
    fn near(&self, plain: &Plain) -> (f64, Option<(u32, u32)>) {
        let own = grams(&plain.chars, self.run);
        if own.len() < 3 {
            return (0.0, None);
        }
        let mut shared: Vec<u32> = vec![0; self.passages.len()];
        for gram in &own {
            for passage in self.postings.get(gram).into_iter().flatten() {
                shared[*passage as usize] += 1;
            }
        }
        let mut order: Vec<usize> = (0..shared.len()).filter(|at| shared[*at] as usize * 5 >= own.len()).collect();
        order.sort_by_key(|at| (std::cmp::Reverse(shared[*at]), *at));
        let mut wanted: HashMap<u64, i32> = HashMap::new();
        for gram in &own {
            *wanted.entry(*gram).or_default() += 1;
        }
        let (mut best, mut place) = (0.0, None);
        for passage in order.into_iter().take(4) {
            let (talk, from, to) = self.passages[passage];
            let ground = if talk { &self.talk } else { &self.whole };
            let (similarity, start, end) = window(&grams(&ground.chars[from..to], self.run), own.len(), &wanted);
            if similarity > best {
                (best, place) = (similarity, Some(ground.place(from + start, (from + end + self.run - 1).min(to))));
            }
        }
        (best, place)
    }
}

/// Slides a window of `length` runs over a passage; returns the best Dice coefficient, and which runs of it are alike.
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
    // What the window holds beyond the likeness is not the line.
    let alike = |gram: &u64| wanted.contains_key(gram);
    let first = passage[at..at + size].iter().position(alike).map_or(at, |first| at + first);
    let last = passage[at..at + size].iter().rposition(alike).map_or(at + size, |last| at + last + 1);
    (2.0 * f64::from(best) / f64::from(whole.max(1)), first, last)
}

/// Returns the runs of `length` characters, each as a number.
fn grams(chars: &[char], length: usize) -> Vec<u64> {
    let number = |run: &[char]| {
        run.iter()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, c| (hash ^ u64::from(u32::from(*c))).wrapping_mul(0x0100_0000_01b3))
    };
    chars.windows(length).map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::super::sample::{EN, EN_PEOPLE, EN_SPEAKERS, ZH, ZH_PEOPLE, facts, length, reading};
    use super::*;

    fn check(language: Language, cases: &[(&str, Grounded, &str)]) {
        let (text, people) = if language == Language::En { (EN, EN_PEOPLE) } else { (ZH, ZH_PEOPLE) };
        let book = facts(language, text, reading(text, people, EN_SPEAKERS));
        let ground = Ground::new(&book, 0, length(text));
        for (speech, grounded, begins) in cases {
            let found = ground.find(speech, 0, 0.6);
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
        let book = facts(Language::En, text, reading(text, EN_PEOPLE, &[0, 1, 0]));
        let ground = Ground::new(&book, 0, length(text));
        let start = |after| ground.find("Yes!", after, 0.6).place.expect("found").0;
        assert_eq!((start(0), start(10)), (1, 25));
    }

    #[test]
    fn likeness_is_the_dice_coefficient_of_the_best_window() {
        let chars = |text: &str| text.chars().collect::<Vec<char>>();
        let wanted: HashMap<u64, i32> = grams(&chars("abcd"), 2).into_iter().map(|gram| (gram, 1)).collect();
        // Of the windows of three pairs the best is `abcx`: two of the three pairs, 2 · 2 / (3 + 3).
        let (similarity, start, end) = window(&grams(&chars("zzabcxyz"), 2), 3, &wanted);
        assert!((similarity - 2.0 / 3.0).abs() < 1e-9 && (start..end).contains(&2), "{similarity} {start} {end}");
        assert!((window(&grams(&chars("abab"), 2), 3, &wanted).0 - 1.0 / 3.0).abs() < 1e-9);
    }
}
