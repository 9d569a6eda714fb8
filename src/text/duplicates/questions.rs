//! The distinct questions of a group, made ready to be compared.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::text::bm25::{B, K1, Terms, idf};
use crate::text::float;

/// A term of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Term {
    /// Its place among the group's terms, the rarest first.
    pub(super) rank: u32,
    /// How often it stands in the question.
    pub(super) count: u32,
}

/// Questions by number, in order of preference, no two with the same terms.
///
/// Weights come from the distinct questions alone, so that a question that was asked a thousand times makes no word common.
pub(super) struct Questions {
    terms: Lists<Term>,
    /// By rank.
    weights: Vec<f64>,
    /// How many of the ranks are of rare terms.
    rare: u32,
    /// By question: what its length adds below a term's count in BM25.
    lengths: Vec<f64>,
    /// By question: its score with itself.
    own: Vec<f64>,
    /// By term of each question, as `terms` has them.
    left: Vec<Left>,
    /// By question: what [`Questions::class`] returns.
    classes: Vec<i8>,
    /// By question: the [`mark`]s of its terms.
    marks: Vec<u64>,
    /// What is left of the likeness of questions that share none of their rare terms.
    apart: f64,
}

impl Questions {
    /// Makes texts ready. Returns with them, for each text, the number of the question that it is, and for each question the
    /// place of the first text that is it.
    pub(super) fn new<T: AsRef<str>>(texts: &[T]) -> (Self, Vec<u32>, Vec<u32>) {
        let mut reader = Reader::default();
        let mut terms = Lists::default();
        let (mut numbers, mut firsts) = (Vec::with_capacity(texts.len()), Vec::new());
        let mut known: HashMap<u64, Vec<u32>> = HashMap::new();
        for (place, text) in texts.iter().enumerate() {
            let of_text = reader.read(text.as_ref());
            let mut hasher = DefaultHasher::new();
            of_text.hash(&mut hasher);
            let alike = known.entry(hasher.finish()).or_default();
            if let Some(number) = alike.iter().find(|number| terms.get(**number) == of_text) {
                numbers.push(*number);
                continue;
            }
            let number = to_u32(firsts.len());
            alike.push(number);
            numbers.push(number);
            firsts.push(to_u32(place));
            terms.push(of_text);
        }
        drop(known);
        (Self::weigh(terms, reader.vocabulary()), numbers, firsts)
    }

    /// Ranks the terms by how few questions have them, and weighs them and the questions.
    fn weigh(mut terms: Lists<Term>, vocabulary: usize) -> Self {
        let questions = terms.len();
        let mut frequencies = vec![0_usize; vocabulary];
        for term in &terms.values {
            frequencies[term.rank as usize] += 1;
        }
        let mut order: Vec<u32> = (0..to_u32(vocabulary)).collect();
        order.sort_unstable_by_key(|term| (frequencies[*term as usize], *term));
        let mut ranks = vec![0; vocabulary];
        for (rank, term) in order.iter().enumerate() {
            ranks[*term as usize] = to_u32(rank);
        }
        let bound = (questions / RARE).max(FEW);
        let rare = order.partition_point(|term| frequencies[*term as usize] <= bound);
        let weights: Vec<f64> = order.iter().map(|term| idf(questions, frequencies[*term as usize])).collect();

        let mut total = 0.0;
        let mut lengths = Vec::with_capacity(questions);
        for number in 0..questions {
            let list = terms.get_mut(number);
            for term in &mut *list {
                term.rank = ranks[term.rank as usize];
            }
            list.sort_unstable_by_key(|term| term.rank);
            let length: f64 = list.iter().map(|term| f64::from(term.count)).sum();
            total += length;
            lengths.push(length);
        }
        let average = if total > 0.0 { total / float(questions) } else { 1.0 };
        for length in &mut lengths {
            *length = K1 * (1.0 - B + B * *length / average);
        }
        let mut made = Self {
            terms,
            weights,
            rare: to_u32(rare),
            lengths,
            own: Vec::new(),
            left: Vec::new(),
            classes: Vec::new(),
            marks: Vec::new(),
            apart: APART,
        };
        made.own = (0..to_u32(questions)).map(|number| made.score(number, number)).collect();
        made.left = made.measure();
        let marks = |number| made.terms(number).iter().fold(0, |marks, term| marks | mark(term.rank));
        made.marks = (0..to_u32(questions)).map(marks).collect();
        made.classes = (0..to_u32(questions)).map(|number| class(made.left(number))).collect();
        made
    }

    /// Makes the same of them, but that rare terms tell nothing apart.
    pub(super) fn of_one_pattern(self) -> Self {
        Self { apart: 1.0, ..self }
    }

    /// Returns what is left of the likeness of questions that share none of their rare terms.
    pub(super) const fn apart(&self) -> f64 {
        self.apart
    }

    /// Returns how many there are.
    pub(super) fn len(&self) -> usize {
        self.own.len()
    }

    /// Returns how many terms they have between them.
    pub(super) fn vocabulary(&self) -> usize {
        self.weights.len()
    }

    /// Returns the terms of a question, the rarest first.
    pub(super) fn terms(&self, number: u32) -> &[Term] {
        self.terms.get(number)
    }

    /// Returns a question's score with itself.
    pub(super) fn own(&self, number: u32) -> f64 {
        self.own[number as usize]
    }

    /// Returns what a term weighs in a question that asks, before the other question has its say.
    pub(super) fn weight(&self, term: Term) -> f64 {
        f64::from(term.count) * self.weights[term.rank as usize]
    }

    /// Returns what a question makes of a term's weight that stands so often in it.
    fn gain(&self, number: u32, count: u32) -> f64 {
        let count = f64::from(count);
        count * (K1 + 1.0) / (count + self.lengths[number as usize])
    }

    /// Measures what each question has left from each of its terms on.
    fn measure(&self) -> Vec<Left> {
        let mut left = vec![Left::default(); self.terms.values.len()];
        for number in 0..to_u32(self.len()) {
            let range = self.terms.range(number as usize);
            let (mut asks, mut answers) = (0.0, 0.0);
            for (term, left) in self.terms(number).iter().zip(&mut left[range]).rev() {
                let (weight, count) = (self.weights[term.rank as usize], f64::from(term.count));
                asks += weight * count.powi(2);
                answers += weight * self.gain(number, term.count).powi(2);
                *left = Left { asks: narrow(asks.sqrt() / self.own(number)), answers: narrow(answers.sqrt()) };
            }
        }
        left
    }

    /// Returns what a question has left from each of its terms on.
    pub(super) fn left(&self, number: u32) -> &[Left] {
        &self.left[self.terms.range(number as usize)]
    }

    /// Returns a number that questions share whose proportion of what they answer to what they ask is about the same.
    pub(super) fn class(&self, number: u32) -> i8 {
        self.classes[number as usize]
    }

    /// Returns the square root of that proportion, the same for all questions of a class.
    pub(super) fn scale(&self, number: u32) -> f64 {
        (f64::from(self.class(number)) * CLASS).exp()
    }

    /// Returns the marks of a question's terms.
    pub(super) fn marks(&self, number: u32) -> u64 {
        self.marks[number as usize]
    }

    /// Returns the same of one of its terms alone.
    pub(super) fn alone(&self, number: u32, place: u32) -> Left {
        let term = self.terms(number)[place as usize];
        let weight = self.weights[term.rank as usize].sqrt();
        let asks = weight * f64::from(term.count) / self.own(number);
        Left { asks: narrow(asks), answers: narrow(weight * self.gain(number, term.count)) }
    }

    /// Returns the BM25 score of a question when another one asks.
    fn score(&self, asking: u32, number: u32) -> f64 {
        let mut score = 0.0;
        shared(self.terms(asking), self.terms(number), |one, other| {
            score += self.weight(one) * self.gain(number, other.count);
        });
        score
    }

    /// Whether a rank is of a rare term.
    pub(super) fn is_rare(&self, rank: u32) -> bool {
        rank < self.rare
    }

    /// Whether a question has a rare term.
    pub(super) fn has_rare(&self, number: u32) -> bool {
        self.terms(number).first().is_some_and(|term| self.is_rare(term.rank))
    }

    /// Returns how alike two questions are.
    #[cfg(test)]
    pub(super) fn likeness(&self, one: u32, other: u32) -> f64 {
        self.likeness_from((one, 0), (other, 0), -1.0).expect("nothing is less alike than that")
    }

    /// Returns how alike two questions are, 0 to 1 in millionths; none where that is surely less than what is sought. They share no
    /// term before the places that are given with them.
    pub(super) fn likeness_from(&self, one: (u32, usize), other: (u32, usize), at_least: f64) -> Option<f64> {
        let ((one, mut i), (other, mut j)) = (one, other);
        let (of_one, of_other) = (self.terms(one), self.terms(other));
        let (left_of_one, left_of_other) = (self.left(one), self.left(other));
        let (unit, unit_of_other) = (self.own(one).recip(), self.own(other).recip());
        let sought = 2.0 * (at_least - SLACK);
        let (mut there, mut back) = (0.0, 0.0);
        let mut rarest = None;
        while i < of_one.len() && j < of_other.len() {
            let (a, b) = (of_one[i], of_other[j]);
            if a.rank == b.rank {
                there += self.weight(a) * self.gain(other, b.count);
                back += self.weight(b) * self.gain(one, a.count);
                rarest = rarest.or(Some(a.rank));
            } else {
                let (ask, answer) = most(left_of_one[i], left_of_other[j]);
                if (there * unit + ask).min(1.0) + (back * unit_of_other + answer).min(1.0) < sought {
                    return None;
                }
            }
            i += usize::from(a.rank <= b.rank);
            j += usize::from(b.rank <= a.rank);
        }
        let Some(rarest) = rarest else { return Some(0.0) };
        let likeness = f64::midpoint((there / self.own(one)).min(1.0), (back / self.own(other)).min(1.0));
        let apart = !self.is_rare(rarest) && (self.has_rare(one) || self.has_rare(other));
        // Cut to what is written, so that what is read and what was decided agree.
        Some(((if apart { likeness * self.apart } else { likeness }) * 1e6).round() / 1e6)
    }
}

/// What a question has left from a term on: the terms in the order of rarity.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Left {
    /// How long its counts are, as a vector weighted by the terms' weights, for each unit of its score with itself.
    pub(super) asks: f32,
    /// How long its gains are, as such a vector.
    pub(super) answers: f32,
}

impl Left {
    /// Returns the greater of each.
    pub(super) fn max(self, other: Self) -> Self {
        Self { asks: self.asks.max(other.asks), answers: self.answers.max(other.answers) }
    }
}

/// Questions of a class differ by less than this in the logarithm of their scale.
const CLASS: f64 = 0.2;

#[expect(clippy::cast_possible_truncation, reason = "lengths of texts differ by less than e to the 50th")]
fn class(left: &[Left]) -> i8 {
    let proportion = left.first().map_or(1.0, |left| f64::from(left.answers) / f64::from(left.asks));
    (proportion.sqrt().ln() / CLASS).round() as i8
}

/// Returns one of 64 bits for a term: what has no such bit has no such term. Neighbours in rarity seldom share one.
pub(super) fn mark(rank: u32) -> u64 {
    1 << (rank.wrapping_mul(0x9e37_79b1) >> 26)
}

/// Returns the most that what two questions have left can add to each half of their likeness.
pub(super) fn most(one: Left, other: Left) -> (f64, f64) {
    (f64::from(one.asks) * f64::from(other.answers), f64::from(other.asks) * f64::from(one.answers))
}

/// What a bound is raised by, against rounding: of the likeness to millionths and of what is left to 24 bits.
pub(super) const SLACK: f64 = 1e-5;

#[expect(clippy::cast_possible_truncation, reason = "bounds have slack")]
const fn narrow(length: f64) -> f32 {
    length as f32
}

/// A term is rare that stands in at most one of so many questions, or in no more than a few.
const RARE: usize = 100;
/// How many questions may share a term that is rare in any group: so many may ask about one thing.
const FEW: usize = 10;

/// What is left of the likeness of questions that share none of their rare terms, where duplicates are sought.
const APART: f64 = 0.7;

/// Hands on the terms that two lists share.
fn shared(one: &[Term], other: &[Term], mut term: impl FnMut(Term, Term)) {
    let (mut i, mut j) = (0, 0);
    while i < one.len() && j < other.len() {
        let (a, b) = (one[i], other[j]);
        if a.rank == b.rank {
            term(a, b);
        }
        i += usize::from(a.rank <= b.rank);
        j += usize::from(b.rank <= a.rank);
    }
}

/// Converts a number of questions or terms; a group of more does not fit in memory.
pub(super) fn to_u32(number: usize) -> u32 {
    u32::try_from(number).expect("fewer than 2^32 questions and terms")
}

/// Lists one after the other.
struct Lists<T> {
    values: Vec<T>,
    ends: Vec<usize>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { values: Vec::new(), ends: Vec::new() }
    }
}

impl<T: Copy> Lists<T> {
    fn push(&mut self, values: &[T]) {
        self.values.extend_from_slice(values);
        self.ends.push(self.values.len());
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn range(&self, number: usize) -> std::ops::Range<usize> {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        start..self.ends[number]
    }

    fn get(&self, number: u32) -> &[T] {
        &self.values[self.range(number as usize)]
    }

    fn get_mut(&mut self, number: usize) -> &mut [T] {
        let range = self.range(number);
        &mut self.values[range]
    }
}

/// Numbers terms as it meets them.
#[derive(Default)]
struct Reader {
    splitter: Terms,
    /// Short terms by their bytes, which is most of them.
    short: HashMap<u64, u32>,
    long: HashMap<String, u32>,
    of_text: Vec<Term>,
}

/// Returns the bytes of a short term and their number as one; none of a longer term.
fn packed(term: &str) -> Option<u64> {
    let mut bytes = [0; 8];
    bytes.get_mut(1..=term.len())?.copy_from_slice(term.as_bytes());
    bytes[0] = u8::try_from(term.len()).ok()?;
    Some(u64::from_le_bytes(bytes))
}

impl Reader {
    /// Returns how many terms were met.
    fn vocabulary(&self) -> usize {
        self.short.len() + self.long.len()
    }

    /// Returns a text's terms, sorted; a term's number stands where its rank will be.
    fn read(&mut self, text: &str) -> &[Term] {
        self.of_text.clear();
        self.splitter.each(text, |term| {
            let next = to_u32(self.short.len() + self.long.len());
            let rank = match packed(term) {
                Some(key) => *self.short.entry(key).or_insert(next),
                None => match self.long.get(term) {
                    Some(number) => *number,
                    None => *self.long.entry(term.to_owned()).or_insert(next),
                },
            };
            self.of_text.push(Term { rank, count: 1 });
        });
        if self.of_text.is_empty() && !text.trim().is_empty() {
            // Pictures and marks alone: alike is what is the same. No word begins so.
            let next = to_u32(self.vocabulary());
            let rank = *self.long.entry(format!("\0{}", text.trim())).or_insert(next);
            self.of_text.push(Term { rank, count: 1 });
        }
        self.of_text.sort_unstable_by_key(|term| term.rank);
        self.of_text.dedup_by(|later, first| {
            let same = later.rank == first.rank;
            first.count += u32::from(same);
            same
        });
        &self.of_text
    }
}
