//! The distinct questions of a group, prepared for comparison.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::terms::{Lists, Reader, Term, to_u32};
use crate::text::bm25::{B, K1, idf};
use crate::text::float;

/// The distinct questions by number, in order of preference.
///
/// Weights are computed from distinct questions, so that a question repeated a thousand times makes no word common.
pub(super) struct Questions {
    terms: Lists<Term>,
    /// The weights (idf), by rank.
    weights: Vec<f64>,
    /// The number of ranks that are rare terms.
    rare: u32,
    /// By question: the length term in the denominator of BM25.
    lengths: Vec<f64>,
    /// By question: its score with itself.
    self_score: Vec<f64>,
    /// By term of each question, parallel to `terms`.
    norms: Vec<RemainingNorms>,
    /// By question: the value of [`Questions::class`].
    classes: Vec<i8>,
    /// By question: the [`mark`]s of its terms.
    marks: Vec<u64>,
    /// The factor on the similarity of questions that share none of their rare terms.
    unrelated_factor: f64,
}

impl Questions {
    /// Prepares texts. Also returns, for each text, the number of its question, and for each question, the index of its
    /// first text.
    pub(super) fn new<T: AsRef<str>>(texts: &[T]) -> (Self, Vec<u32>, Vec<u32>) {
        let mut reader = Reader::default();
        let mut terms = Lists::default();
        let (mut numbers, mut firsts) = (Vec::with_capacity(texts.len()), Vec::new());
        let mut known: HashMap<u64, Vec<u32>> = HashMap::new();
        for (position, text) in texts.iter().enumerate() {
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
            firsts.push(to_u32(position));
            terms.push(of_text);
        }
        drop(known);
        (Self::weigh(terms, reader.vocabulary()), numbers, firsts)
    }

    /// Ranks the terms by document frequency, and computes the weights of terms and questions.
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
            self_score: Vec::new(),
            norms: Vec::new(),
            classes: Vec::new(),
            marks: Vec::new(),
            unrelated_factor: UNRELATED_FACTOR,
        };
        made.self_score = (0..to_u32(questions)).map(|number| made.score(number, number)).collect();
        made.norms = made.measure();
        let marks = |number| made.terms(number).iter().fold(0, |marks, term| marks | mark(term.rank));
        made.marks = (0..to_u32(questions)).map(marks).collect();
        made.classes = (0..to_u32(questions)).map(|number| class(made.norms(number))).collect();
        made
    }

    /// Returns the same questions without the reduction for pairs that share no rare term.
    pub(super) fn of_one_pattern(self) -> Self {
        Self { unrelated_factor: 1.0, ..self }
    }

    /// Returns the factor on the similarity of questions that share none of their rare terms.
    pub(super) const fn unrelated_factor(&self) -> f64 {
        self.unrelated_factor
    }

    /// Returns the number of questions.
    pub(super) fn len(&self) -> usize {
        self.self_score.len()
    }

    /// Returns the number of distinct terms.
    pub(super) fn vocabulary(&self) -> usize {
        self.weights.len()
    }

    /// Returns the terms of a question, rarest first.
    pub(super) fn terms(&self, number: u32) -> &[Term] {
        self.terms.get(number)
    }

    /// Returns a question's score with itself.
    pub(super) fn self_score(&self, number: u32) -> f64 {
        self.self_score[number as usize]
    }

    /// Returns the weight of a term in the querying question, before the gain of the other question.
    pub(super) fn weight(&self, term: Term) -> f64 {
        f64::from(term.count) * self.weights[term.rank as usize]
    }

    /// Returns the BM25 gain of a term with the given count in a question.
    fn gain(&self, number: u32, count: u32) -> f64 {
        let count = f64::from(count);
        count * (K1 + 1.0) / (count + self.lengths[number as usize])
    }

    /// Computes the remaining norms of each question from each of its terms on.
    fn measure(&self) -> Vec<RemainingNorms> {
        let mut norms = vec![RemainingNorms::default(); self.terms.values.len()];
        for number in 0..to_u32(self.len()) {
            let range = self.terms.range(number as usize);
            let (mut query_norm, mut target_norm) = (0.0, 0.0);
            for (term, norms) in self.terms(number).iter().zip(&mut norms[range]).rev() {
                let (weight, count) = (self.weights[term.rank as usize], f64::from(term.count));
                query_norm += weight * count.powi(2);
                target_norm += weight * self.gain(number, term.count).powi(2);
                *norms = RemainingNorms {
                    query_norm: narrow(query_norm.sqrt() / self.self_score(number)),
                    target_norm: narrow(target_norm.sqrt()),
                };
            }
        }
        norms
    }

    /// Returns the remaining norms of a question from each of its terms on.
    pub(super) fn norms(&self, number: u32) -> &[RemainingNorms] {
        &self.norms[self.terms.range(number as usize)]
    }

    /// Returns the class of a question. Questions of a class have about the same ratio of `target_norm` to `query_norm`.
    pub(super) fn class(&self, number: u32) -> i8 {
        self.classes[number as usize]
    }

    /// Returns the square root of that ratio, the same for all questions of a class.
    pub(super) fn scale(&self, number: u32) -> f64 {
        (f64::from(self.class(number)) * CLASS).exp()
    }

    /// Returns the marks of a question's terms.
    pub(super) fn marks(&self, number: u32) -> u64 {
        self.marks[number as usize]
    }

    /// Returns the norms of a single term of a question.
    pub(super) fn alone(&self, number: u32, position: u32) -> RemainingNorms {
        let term = self.terms(number)[position as usize];
        let weight = self.weights[term.rank as usize].sqrt();
        let query_norm = weight * f64::from(term.count) / self.self_score(number);
        RemainingNorms { query_norm: narrow(query_norm), target_norm: narrow(weight * self.gain(number, term.count)) }
    }

    /// Returns the BM25 score of a question for another one as the query.
    fn score(&self, asking: u32, number: u32) -> f64 {
        let mut score = 0.0;
        shared(self.terms(asking), self.terms(number), |one, other| {
            score += self.weight(one) * self.gain(number, other.count);
        });
        score
    }

    /// Whether a rank is that of a rare term.
    pub(super) fn is_rare(&self, rank: u32) -> bool {
        rank < self.rare
    }

    /// Whether a question has a rare term.
    pub(super) fn has_rare(&self, number: u32) -> bool {
        self.terms(number).first().is_some_and(|term| self.is_rare(term.rank))
    }

    /// Returns the similarity of two questions.
    #[cfg(test)]
    pub(super) fn similarity(&self, one: u32, other: u32) -> f64 {
        self.similarity_from((one, 0), (other, 0), -1.0).expect("a similarity is never below the bound")
    }

    /// Returns the similarity of two questions, 0 to 1 in millionths, or `None` if it is certainly below `at_least`.
    /// The pairs are (question, position); the two must share no term before these positions.
    pub(super) fn similarity_from(&self, one: (u32, usize), other: (u32, usize), at_least: f64) -> Option<f64> {
        let ((one, mut i), (other, mut j)) = (one, other);
        let (of_one, of_other) = (self.terms(one), self.terms(other));
        let (norms_of_one, norms_of_other) = (self.norms(one), self.norms(other));
        let (scale, scale_of_other) = (self.self_score(one).recip(), self.self_score(other).recip());
        let required_sum = 2.0 * (at_least - SLACK);
        let (mut forward, mut backward) = (0.0, 0.0);
        let mut rarest = None;
        while i < of_one.len() && j < of_other.len() {
            let (a, b) = (of_one[i], of_other[j]);
            if a.rank == b.rank {
                forward += self.weight(a) * self.gain(other, b.count);
                backward += self.weight(b) * self.gain(one, a.count);
                rarest = rarest.or(Some(a.rank));
            } else {
                let (ask, answer) = most(norms_of_one[i], norms_of_other[j]);
                if (forward * scale + ask).min(1.0) + (backward * scale_of_other + answer).min(1.0) < required_sum {
                    return None;
                }
            }
            i += usize::from(a.rank <= b.rank);
            j += usize::from(b.rank <= a.rank);
        }
        let Some(rarest) = rarest else { return Some(0.0) };
        let similarity =
            f64::midpoint((forward / self.self_score(one)).min(1.0), (backward / self.self_score(other)).min(1.0));
        let shares_no_rare_term = !self.is_rare(rarest) && (self.has_rare(one) || self.has_rare(other));
        // Rounded as written to files, so that stored values agree with the decision.
        Some(((if shares_no_rare_term { similarity * self.unrelated_factor } else { similarity }) * 1e6).round() / 1e6)
    }
}

/// The remaining norms of a question from a term on, with terms in order of rarity.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RemainingNorms {
    /// The norm of its counts, weighted by the terms' weights, divided by its score with itself.
    pub(super) query_norm: f32,
    /// The norm of its gains, weighted by the terms' weights.
    pub(super) target_norm: f32,
}

impl RemainingNorms {
    /// Returns the element-wise maximum.
    pub(super) fn max(self, other: Self) -> Self {
        Self { query_norm: self.query_norm.max(other.query_norm), target_norm: self.target_norm.max(other.target_norm) }
    }
}

/// The width of a class, in the logarithm of the scale.
const CLASS: f64 = 0.2;

#[expect(clippy::cast_possible_truncation, reason = "lengths of texts differ by less than e to the 50th")]
fn class(norms: &[RemainingNorms]) -> i8 {
    let proportion = norms.first().map_or(1.0, |norms| f64::from(norms.target_norm) / f64::from(norms.query_norm));
    (proportion.sqrt().ln() / CLASS).round() as i8
}

/// Returns a mask with one of 64 bits set for a term. A question without that bit does not have the term. Terms of
/// similar rarity seldom share a bit.
pub(super) fn mark(rank: u32) -> u64 {
    1 << (rank.wrapping_mul(0x9e37_79b1) >> 26)
}

/// Returns the maximum that the remaining terms of two questions can add to each half of their similarity.
pub(super) fn most(one: RemainingNorms, other: RemainingNorms) -> (f64, f64) {
    (f64::from(one.query_norm) * f64::from(other.target_norm), f64::from(other.query_norm) * f64::from(one.target_norm))
}

/// The slack added to bounds, against rounding of similarities to millionths and of norms to 24 bits.
pub(super) const SLACK: f64 = 1e-5;

#[expect(clippy::cast_possible_truncation, reason = "bounds have slack")]
const fn narrow(length: f64) -> f32 {
    length as f32
}

/// A term is rare if it occurs in at most one of this many questions, or in at most [`FEW`].
const RARE: usize = 100;
/// The number of questions that may share a rare term in a group of any size, since so many may ask about the same
/// thing.
const FEW: usize = 10;

/// The factor on the similarity of questions that share none of their rare terms, when searching for duplicates.
const UNRELATED_FACTOR: f64 = 0.7;

/// Calls `term` for each term that two lists share.
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
