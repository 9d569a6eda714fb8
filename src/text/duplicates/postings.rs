//! Where the terms of kept questions stand, so that the few that can be alike are found.
//!
//! Let t be the rarest term that two questions a and b share. What they share at most is what each has left from t on, in
//! the order of rarity: with A and B the summed weights of those terms (count times idf) and g the most that a question
//! makes of a term's weight, s(a, b) ≤ g(b) · A and s(b, a) ≤ g(a) · B. So their likeness is at most
//!
//! ½ (min(1, g(b) · A / s(a, a)) + min(1, g(a) · B / s(b, b))).
//!
//! Each term's list holds, for every question b that has it, B / s(b, b), the greatest first. A search for what reaches a
//! likeness reads a list only as long as the bound does, with A of the asking question and the greatest g of the listed
//! ones. Every pair has a rarest shared term, and its bound there is no less than its likeness, so nothing is passed over.
//!
//! Beside it stands a mark of one of 64 bits for each term of b: a term of a whose bit is not set is not shared, which
//! lowers A for this b and passes over most of a common word's list without a look at the question.

use std::collections::{BTreeMap, BinaryHeap};

use super::questions::{Questions, to_u32};

/// What a bound is raised by, against rounding: of the likeness to millionths and of shares to 24 bits.
const SLACK: f64 = 1e-5;

/// A question in a term's list.
#[derive(Debug, Clone, Copy)]
struct Posting {
    number: u32,
    /// What it has left from this term on, divided by its score with itself.
    left: f32,
    marks: u64,
}

/// Some questions by their terms.
pub(super) struct Postings {
    /// The questions, sorted.
    numbers: Vec<u32>,
    /// Where each rank's segments begin, and where the last one ends.
    starts: Vec<u32>,
    segments: Vec<Segment>,
    list: Vec<Posting>,
}

/// Questions of a term's list that gain about as much, which is those of about the same length: one bound holds well for all
/// of them. A short list is one segment.
struct Segment {
    /// The most that any of the questions makes of a term's weight.
    gain: f64,
    /// Where its postings begin, and where they end.
    range: [u32; 2],
}

/// A list of no more than so many is read as a whole.
const SHORT: usize = 8;

impl Postings {
    /// Lists questions, given in order.
    pub(super) fn new(questions: &Questions, numbers: Vec<u32>) -> Self {
        let mut ends = vec![0_u32; questions.vocabulary() + 1];
        let mut classes: BTreeMap<i8, Vec<u32>> = BTreeMap::new();
        for number in &numbers {
            classes.entry(questions.class(*number)).or_default().push(*number);
            for term in questions.terms(*number) {
                ends[term.rank as usize + 1] += 1;
            }
        }
        for rank in 1..ends.len() {
            ends[rank] += ends[rank - 1];
        }
        let size = ends.last().map_or(0, |end| *end as usize);
        let mut list = vec![Posting { number: 0, left: 0.0, marks: 0 }; size];
        // Class by class, so that those of a class stand together in every list. What was where a list begins is where it ends
        // when all are in.
        for number in classes.into_values().flatten() {
            let terms = questions.terms(number);
            let marks = terms.iter().fold(0, |marks, term| marks | mark(term.rank));
            let mut left = 0.0;
            for term in terms.iter().rev() {
                left += questions.weight(*term);
                let at = &mut ends[term.rank as usize];
                list[*at as usize] = Posting { number, left: narrow(left / questions.own(number)), marks };
                *at += 1;
            }
        }
        let mut starts = Vec::with_capacity(ends.len());
        let mut segments: Vec<Segment> = Vec::new();
        let mut start = 0;
        for end in &ends[..ends.len() - 1] {
            starts.push(to_u32(segments.len()));
            let of_rank = &mut list[start as usize..*end as usize];
            let is_short = of_rank.len() <= SHORT;
            for part in of_rank
                .chunk_by_mut(|one, other| is_short || questions.class(one.number) == questions.class(other.number))
            {
                part.sort_unstable_by(|one, other| other.left.total_cmp(&one.left).then(one.number.cmp(&other.number)));
                let gain = part.iter().map(|posting| questions.scales(posting.number).0).fold(0.0, f64::max);
                let end = start + to_u32(part.len());
                segments.push(Segment { gain, range: [start, end] });
                start = end;
            }
        }
        starts.push(to_u32(segments.len()));
        Self { numbers, starts, segments, list }
    }

    /// Returns the questions, sorted.
    pub(super) fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    fn segments(&self, rank: u32) -> &[Segment] {
        &self.segments[self.starts[rank as usize] as usize..self.starts[rank as usize + 1] as usize]
    }

    fn of(&self, segment: &Segment) -> &[Posting] {
        &self.list[segment.range[0] as usize..segment.range[1] as usize]
    }
}

/// A question that asks, with what its bounds need.
pub(super) struct Search<'a> {
    questions: &'a Questions,
    number: u32,
    own: f64,
    gain: f64,
    /// By rank: the weight of the term where it asks.
    asked: Vec<f64>,
    /// By bit: the weight of the terms that have it and are no rarer than the one whose list is read.
    weights: [f64; 64],
    candidates: BinaryHeap<(u32, u32)>,
}

impl<'a> Search<'a> {
    pub(super) fn new(questions: &'a Questions) -> Self {
        Self {
            asked: vec![0.0; questions.vocabulary()],
            questions,
            number: 0,
            own: 0.0,
            gain: 0.0,
            weights: [0.0; 64],
            candidates: BinaryHeap::new(),
        }
    }

    fn begin(&mut self, number: u32) -> f64 {
        for term in self.questions.terms(self.number) {
            self.asked[term.rank as usize] = 0.0;
        }
        self.number = number;
        self.own = self.questions.own(number);
        self.gain = self.questions.scales(number).0;
        self.weights = [0.0; 64];
        let mut all = 0.0;
        for term in self.questions.terms(number) {
            let weight = self.questions.weight(*term);
            self.asked[term.rank as usize] = weight;
            self.weights[bit(term.rank)] += weight;
            all += weight;
        }
        all
    }

    /// Hands on the questions that may be at least so alike, with a bound, list by list; `found` returns the likeness that is sought from
    /// then on. A question may be handed on more than once, and itself too where it is listed.
    fn candidates(
        &mut self,
        postings: &Postings,
        number: u32,
        mut at_least: f64,
        mut list_done: impl FnMut(&mut BinaryHeap<(u32, u32)>, f64) -> Option<f64>,
    ) {
        let mut rest = self.begin(number);
        let mut marks = self.questions.terms(number).iter().fold(0, |marks, term| marks | mark(term.rank));
        let has_rare = self.questions.has_rare(number);
        for term in self.questions.terms(number) {
            // Where the rarest shared term is none of the asking question's rare ones, likeness is cut down.
            let is_common = !self.questions.is_rare(term.rank);
            let factor = if has_rare && is_common { self.questions.apart() } else { 1.0 };
            let sought = 2.0 * (at_least - SLACK) / factor;
            for segment in postings.segments(term.rank) {
                let ask = segment.gain / self.own;
                let there = (ask * rest).min(1.0);
                if there + 1.0 < sought {
                    continue;
                }
                let cut = (sought - there) / self.gain;
                for posting in postings.of(segment) {
                    let left = f64::from(posting.left);
                    if left < cut {
                        break;
                    }
                    let mut common = marks & posting.marks;
                    let mut weight = 0.0;
                    while common != 0 {
                        weight += self.weights[common.trailing_zeros() as usize];
                        common &= common - 1;
                    }
                    let back = (self.gain * left).min(1.0);
                    if (ask * weight).min(1.0) + back < sought {
                        continue;
                    }
                    let (gain, scale) = self.questions.scales(posting.number);
                    let terms = self.questions.terms(posting.number);
                    let weight: f64 = terms.iter().map(|term| self.asked[term.rank as usize]).sum();
                    let bound = (gain * weight / self.own).min(1.0) + (self.gain * weight * scale).min(1.0);
                    let apart = is_common && (has_rare || self.questions.has_rare(posting.number));
                    let bound = if apart { bound * self.questions.apart() } else { bound };
                    if bound >= 2.0 * (at_least - SLACK) {
                        self.candidates.push((to_order(bound), posting.number));
                    }
                }
            }
            match list_done(&mut self.candidates, at_least) {
                Some(sought) => at_least = sought,
                None => break,
            }
            self.candidates.clear();
            let weight = self.questions.weight(*term);
            rest -= weight;
            let bit = bit(term.rank);
            self.weights[bit] -= weight;
            if self.weights[bit] <= 1e-12 {
                marks &= !(1 << bit);
            }
        }
        self.candidates.clear();
    }

    /// Whether one of the listed questions is at least so alike.
    pub(super) fn any(&mut self, postings: &Postings, number: u32, at_least: f64) -> bool {
        let questions = self.questions;
        let mut found = false;
        self.candidates(postings, number, at_least, |candidates, at_least| {
            found = candidates.drain().any(|(_, other)| questions.likeness(number, other) >= at_least);
            (!found).then_some(at_least)
        });
        found
    }

    /// Returns the listed questions before this one that are at least so alike, with repeats.
    pub(super) fn all_before(&mut self, postings: &Postings, number: u32, at_least: f64) -> Vec<u32> {
        let mut all = Vec::new();
        self.each_before(postings, number, at_least, |_| true, |other| all.push(other));
        all
    }

    /// Hands on the listed questions before one that are so alike, of those that are asked for.
    pub(super) fn each_before(
        &mut self,
        postings: &Postings,
        number: u32,
        at_least: f64,
        is_asked_for: impl Fn(u32) -> bool,
        mut alike: impl FnMut(u32),
    ) {
        let questions = self.questions;
        self.candidates(postings, number, at_least, |candidates, at_least| {
            for (_, other) in candidates.drain() {
                if other < number && is_asked_for(other) && questions.likeness(number, other) >= at_least {
                    alike(other);
                }
            }
            Some(at_least)
        });
    }

    /// Returns the most alike of the listed questions, itself aside, the first of equals.
    pub(super) fn nearest(&mut self, postings: &Postings, number: u32, at_least: f64) -> Option<(u32, f64)> {
        let questions = self.questions;
        let mut nearest: Option<(u32, f64)> = None;
        self.candidates(postings, number, at_least, |candidates, mut best| {
            while let Some((bound, other)) = candidates.pop() {
                if from_order(bound) < 2.0 * (best - SLACK) {
                    break;
                }
                if other == number {
                    continue;
                }
                let likeness = questions.likeness(number, other);
                let nearer =
                    |(first, most): (u32, f64)| (likeness, std::cmp::Reverse(other)) > (most, std::cmp::Reverse(first));
                if likeness > 0.0 && likeness >= at_least && nearest.is_none_or(nearer) {
                    nearest = Some((other, likeness));
                    best = likeness;
                }
            }
            Some(best)
        });
        nearest
    }
}

/// Spreads ranks over 64 bits, so that neighbours in rarity seldom share one.
fn bit(rank: u32) -> usize {
    (rank.wrapping_mul(0x9e37_79b1) >> 26) as usize
}

fn mark(rank: u32) -> u64 {
    1 << bit(rank)
}

#[expect(clippy::cast_possible_truncation, reason = "the bound's slack covers it")]
const fn narrow(share: f64) -> f32 {
    share as f32
}

/// Returns an integer that sorts as a bound does.
fn to_order(bound: f64) -> u32 {
    narrow(bound).to_bits()
}

fn from_order(order: u32) -> f64 {
    f64::from(f32::from_bits(order))
}
