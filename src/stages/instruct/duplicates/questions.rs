//! The distinct questions of a group, made ready to be compared.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::text::bm25::{B, K1, Terms, idf};
use crate::text::{float, pairs, plain};

/// A term of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Term {
    /// Its place among the group's terms, the rarest first.
    pub(super) rank: u32,
    /// How often it stands in the question.
    pub(super) count: u32,
}

/// Questions by number, in order of preference, no two with the same terms and pairs of letters.
///
/// Weights come from the distinct questions alone, so that a question that was asked a thousand times makes no word common.
pub(super) struct Questions {
    terms: Lists<Term>,
    pairs: Lists<u32>,
    /// By rank.
    weights: Vec<f64>,
    /// By question: what its length adds below a term's count in BM25.
    lengths: Vec<f64>,
    /// By question: its score with itself.
    own: Vec<f64>,
}

impl Questions {
    /// Makes texts ready. Returns with them, for each text, the number of the question that it is, and for each question the
    /// place of the first text that is it.
    pub(super) fn new<T: AsRef<str>>(texts: &[T]) -> (Self, Vec<u32>, Vec<u32>) {
        let mut reader = Reader::default();
        let (mut terms, mut pairs) = (Lists::default(), Lists::default());
        let (mut numbers, mut firsts) = (Vec::with_capacity(texts.len()), Vec::new());
        let mut known: HashMap<u64, Vec<u32>> = HashMap::new();
        for (place, text) in texts.iter().enumerate() {
            let (of_terms, of_pairs) = reader.read(text.as_ref());
            let mut hasher = DefaultHasher::new();
            (of_terms, of_pairs).hash(&mut hasher);
            let alike = known.entry(hasher.finish()).or_default();
            let same = |number: &&u32| terms.get(**number) == of_terms && pairs.get(**number) == of_pairs;
            if let Some(number) = alike.iter().find(same) {
                numbers.push(*number);
                continue;
            }
            let number = to_u32(firsts.len());
            alike.push(number);
            numbers.push(number);
            firsts.push(to_u32(place));
            terms.push(of_terms);
            pairs.push(of_pairs);
        }
        drop(known);
        (Self::weigh(terms, pairs, reader.terms.len()), numbers, firsts)
    }

    /// Ranks the terms by how few questions have them, and weighs them and the questions.
    fn weigh(mut terms: Lists<Term>, pairs: Lists<u32>, vocabulary: usize) -> Self {
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
        let mut made = Self { terms, pairs, weights, lengths, own: Vec::new() };
        made.own = (0..to_u32(questions)).map(|number| made.score(number, number)).collect();
        made
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

    /// Returns the most that a question makes of any of its terms' weights.
    pub(super) fn greatest_gain(&self, number: u32) -> f64 {
        let count = self.terms(number).iter().map(|term| term.count).max().unwrap_or(1);
        self.gain(number, count)
    }

    /// Returns the BM25 score of a question when another one asks.
    fn score(&self, asking: u32, number: u32) -> f64 {
        let mut score = 0.0;
        shared(self.terms(asking), self.terms(number), |one, other| {
            score += self.weight(one) * self.gain(number, other.count);
        });
        score
    }

    /// Returns how alike two questions are, 0 to 1 in millionths: the lesser of both measures. Where that is less than what
    /// is sought, it may be the greater one.
    pub(super) fn likeness(&self, one: u32, other: u32, at_least: f64) -> f64 {
        let (mut there, mut back) = (0.0, 0.0);
        shared(self.terms(one), self.terms(other), |of_one, of_other| {
            there += self.weight(of_one) * self.gain(other, of_other.count);
            back += self.weight(of_other) * self.gain(one, of_one.count);
        });
        if there == 0.0 {
            return 0.0;
        }
        let by_terms = rounded(f64::midpoint((there / self.own(one)).min(1.0), (back / self.own(other)).min(1.0)));
        if by_terms < at_least { by_terms } else { by_terms.min(rounded(self.dice(one, other))) }
    }

    fn dice(&self, one: u32, other: u32) -> f64 {
        let (one, other) = (self.pairs.get(one), self.pairs.get(other));
        let (mut i, mut j, mut both) = (0, 0, 0);
        while i < one.len() && j < other.len() {
            let (a, b) = (one[i], other[j]);
            both += usize::from(a == b);
            i += usize::from(a <= b);
            j += usize::from(b <= a);
        }
        2.0 * float(both) / float(one.len() + other.len())
    }
}

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

/// Cuts a likeness to what is written, so that what is read and what was decided agree.
fn rounded(likeness: f64) -> f64 {
    (likeness * 1e6).round() / 1e6
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

/// Numbers terms and pairs of letters as it meets them.
#[derive(Default)]
struct Reader {
    splitter: Terms,
    terms: HashMap<String, u32>,
    pairs: HashMap<(char, char), u32>,
    of_terms: Vec<Term>,
    of_pairs: Vec<u32>,
}

impl Reader {
    /// Returns a text's terms and its pairs of letters, each sorted; a term's number stands where its rank will be.
    fn read(&mut self, text: &str) -> (&[Term], &[u32]) {
        self.of_terms.clear();
        self.splitter.each(text, |term| {
            let rank = self.terms.get(term).copied().unwrap_or_else(|| {
                let number = to_u32(self.terms.len());
                self.terms.insert(term.to_owned(), number);
                number
            });
            self.of_terms.push(Term { rank, count: 1 });
        });
        self.of_terms.sort_unstable_by_key(|term| term.rank);
        self.of_terms.dedup_by(|later, first| {
            let same = later.rank == first.rank;
            first.count += u32::from(same);
            same
        });
        self.of_pairs.clear();
        for pair in pairs(&plain(text)) {
            let next = to_u32(self.pairs.len());
            self.of_pairs.push(*self.pairs.entry(pair).or_insert(next));
        }
        self.of_pairs.sort_unstable();
        (&self.of_terms, &self.of_pairs)
    }
}
