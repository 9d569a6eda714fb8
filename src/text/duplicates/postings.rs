//! An inverted index of kept questions, which finds the few that can be similar to a given one.
//!
//! Let t be the rarest term shared by two questions a and b. Half of their similarity is a sum over shared terms of
//! weight × count in the querying question × gain in the other. By the Cauchy–Schwarz inequality it is at most the
//! product of two norms: that of the querying question's counts and that of the other's gains, as vectors weighted by
//! the terms, from t on in order of rarity. [`RemainingNorms`] stores both norms for every position in every
//! question, which gives an upper bound for each half.
//!
//! Each term's list stores the remaining norms of every question with that term, largest first. A search for a given
//! similarity reads a list only as long as the bound reaches it. Every pair has a rarest shared term, and its bound
//! there is at least its similarity, so no pair is missed.
//!
//! Most pairs found in this way share one rare term by chance and nothing else. If that term can add only little, the
//! pair is only recorded, and compared once it shares another term. If no other shared term has a bound that, together
//! with what earlier terms can have added, reaches the required similarity, then the pair cannot reach it. Lists are
//! read correspondingly further.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::question_weights::{Questions, RemainingNorms, SLACK, mark, most};
use super::terms::to_u32;

/// An entry of a term's list.
#[derive(Debug, Clone, Copy)]
struct Posting {
    number: u32,
    /// The position of the term among the question's terms.
    position: u32,
    /// The remaining norms of the question from this term on.
    norms: RemainingNorms,
}

/// An index of some questions by their terms.
pub(super) struct Postings {
    /// The indexed questions, sorted.
    numbers: Vec<u32>,
    /// The index of the first segment of each rank, and the end of the last one.
    starts: Vec<u32>,
    segments: Vec<Segment>,
    list: Vec<Posting>,
}

/// Questions of a term's list with a similar ratio of the two norms. A short list is a single segment.
struct Segment {
    /// The factor by which `target_norm` is divided and `query_norm` multiplied, so that one number sorts them; 0 if the
    /// segment is read in full.
    scale: f64,
    /// The maximum norms that this term alone contributes in any of the questions.
    most: RemainingNorms,
    /// The start and the end of its postings.
    range: [u32; 2],
}

impl Segment {
    /// Returns the sort key of the postings.
    fn order(&self, norms: RemainingNorms) -> f64 {
        order(self.scale, norms)
    }
}

fn order(scale: f64, norms: RemainingNorms) -> f64 {
    (f64::from(norms.query_norm) * scale).max(f64::from(norms.target_norm) / scale)
}

/// Lists of at most this length are read in full.
const SHORT: usize = 8;

impl Postings {
    /// Indexes questions, given in order.
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
        let mut list = vec![Posting { number: 0, position: 0, norms: RemainingNorms::default() }; size];
        // Class by class, so that questions of a class are adjacent in every list. After the loop, each element of
        // `ends` has moved from the start of its list to the end.
        for number in classes.into_values().flatten() {
            for ((position, term), norms) in (0_u32..).zip(questions.terms(number)).zip(questions.norms(number)) {
                let at = &mut ends[term.rank as usize];
                list[*at as usize] = Posting { number, position, norms: *norms };
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
            let of = |posting: &Posting| questions.class(posting.number);
            for part in of_rank.chunk_by_mut(|one, other| is_short || of(one) == of(other)) {
                let scale = if is_short { 0.0 } else { questions.scale(part[0].number) };
                if !is_short {
                    part.sort_unstable_by(|one, other| {
                        order(scale, other.norms)
                            .total_cmp(&order(scale, one.norms))
                            .then(one.number.cmp(&other.number))
                    });
                }
                let end = start + to_u32(part.len());
                let alone = part.iter().map(|posting| questions.alone(posting.number, posting.position));
                let most = alone.fold(RemainingNorms::default(), RemainingNorms::max);
                segments.push(Segment { scale, most, range: [start, end] });
                start = end;
            }
        }
        starts.push(to_u32(segments.len()));
        Self { numbers, starts, segments, list }
    }

    /// Returns the indexed questions, sorted.
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

/// A search for similar questions, with reusable buffers.
pub(super) struct Search<'a> {
    questions: &'a Questions,
    /// By question: what is known about it relative to the querying one.
    state: Vec<PairState>,
    /// The questions with an entry in `state` other than [`PairState::Not`].
    numbers: Vec<u32>,
    /// By bit: the sums of the squared norms of the querying question's terms with that bit that were not processed
    /// yet.
    squares: [(f64, f64); 64],
}

/// What is known about a question relative to the querying one.
#[derive(Debug, Clone, Copy)]
enum PairState {
    /// No shared term was found yet.
    Not,
    /// One shared term was found: its positions in the querying and in the other question.
    Once(u32, u32),
    /// The two were compared.
    Compared,
}

impl<'a> Search<'a> {
    pub(super) fn new(questions: &'a Questions) -> Self {
        Self { questions, state: vec![PairState::Not; questions.len()], numbers: Vec::new(), squares: [(0.0, 0.0); 64] }
    }

    /// Calls `found` for each indexed question with at least the given similarity that `is_candidate` accepts, once
    /// each, including the querying question if it is indexed. `found` returns the minimum similarity from then on.
    fn each(
        &mut self,
        postings: &Postings,
        number: u32,
        at_least: f64,
        is_candidate: impl Fn(u32) -> bool,
        found: impl FnMut(u32, f64) -> ControlFlow<(), f64>,
    ) {
        let _ = self.visit(postings, number, at_least, is_candidate, found);
        for other in self.numbers.drain(..) {
            self.state[other as usize] = PairState::Not;
        }
    }

    fn visit(
        &mut self,
        postings: &Postings,
        number: u32,
        mut at_least: f64,
        is_candidate: impl Fn(u32) -> bool,
        mut found: impl FnMut(u32, f64) -> ControlFlow<(), f64>,
    ) -> ControlFlow<()> {
        let questions = self.questions;
        let has_rare = questions.has_rare(number);
        // The maximum that a recorded shared term may have added if nothing else was shared.
        let mut so_far = 0.0_f64;
        let is_marked = questions.terms(number).len() <= MARKED;
        if is_marked {
            self.squares = [(0.0, 0.0); 64];
            for (position, term) in (0_u32..).zip(questions.terms(number)) {
                self.add(term.rank, questions.alone(number, position), 1.0);
            }
        }
        for ((term, norms), position) in questions.terms(number).iter().zip(questions.norms(number)).zip(0_u32..) {
            let is_common = !questions.is_rare(term.rank);
            let alone = questions.alone(number, position);
            let before = so_far;
            for segment in postings.segments(term.rank) {
                // If the rarest shared term is not one of the querying question's rare terms, the similarity is
                // reduced.
                let factor = if has_rare && is_common { questions.unrelated_factor() } else { 1.0 };
                let mut required_sum = 2.0 * (at_least - SLACK);
                let (forward, backward) = most(alone, segment.most);
                let adds = forward + backward;
                let is_small = adds <= SMALL && adds < required_sum;
                let least = if segment.scale > 0.0 { least(*norms, segment.scale, required_sum - before) } else { 0.0 };
                let mut recorded = false;
                for posting in postings.of(segment) {
                    if segment.order(posting.norms) < least {
                        break;
                    }
                    let other = posting.number;
                    let state = &mut self.state[other as usize];
                    let needed = match *state {
                        PairState::Compared => continue,
                        PairState::Not => required_sum / factor,
                        PairState::Once(..) => required_sum - before,
                    };
                    let (forward, backward) = most(*norms, posting.norms);
                    if forward.min(1.0) + backward.min(1.0) < needed {
                        continue;
                    }
                    let (from, to) = match *state {
                        PairState::Once(from, to) => (from, to),
                        _ if !is_candidate(other) => continue,
                        _ => {
                            self.numbers.push(other);
                            if is_small {
                                *state = PairState::Once(position, posting.position);
                                recorded = true;
                                continue;
                            }
                            (position, posting.position)
                        }
                    };
                    // A pair that fails here is not similar. It may be found again, and fails again.
                    if is_marked && self.most_marked(questions.marks(other), posting.norms) < needed {
                        continue;
                    }
                    self.state[other as usize] = PairState::Compared;
                    let similarity = questions.similarity_from((number, from as usize), (other, to as usize), at_least);
                    if let Some(similarity) = similarity.filter(|similarity| *similarity >= at_least) {
                        at_least = found(other, similarity)?;
                        required_sum = 2.0 * (at_least - SLACK);
                    }
                }
                if recorded {
                    so_far = so_far.max(adds);
                }
            }
            if is_marked {
                self.add(term.rank, alone, -1.0);
            }
        }
        ControlFlow::Continue(())
    }

    fn add(&mut self, rank: u32, alone: RemainingNorms, times: f64) {
        let (query_norm, target_norm) = &mut self.squares[mark(rank).trailing_zeros() as usize];
        *query_norm += times * f64::from(alone.query_norm).powi(2);
        *target_norm += times * f64::from(alone.target_norm).powi(2);
    }

    /// Returns the upper bound of the similarity, doubled, to a question with the given term marks and remaining norms.
    fn most_marked(&self, mut marks: u64, norms: RemainingNorms) -> f64 {
        let (mut query_norm, mut target_norm) = (0.0, 0.0);
        while marks != 0 {
            let of_bit = self.squares[marks.trailing_zeros() as usize];
            (query_norm, target_norm) = (query_norm + of_bit.0, target_norm + of_bit.1);
            marks &= marks - 1;
        }
        let forward = query_norm.max(0.0).sqrt() * f64::from(norms.target_norm);
        forward.min(1.0) + (target_norm.max(0.0).sqrt() * f64::from(norms.query_norm)).min(1.0)
    }

    /// Whether any indexed question has at least the given similarity.
    pub(super) fn any(&mut self, postings: &Postings, number: u32, at_least: f64) -> bool {
        let mut is_any = false;
        self.each(
            postings,
            number,
            at_least,
            |_| true,
            |_, _| {
                is_any = true;
                ControlFlow::Break(())
            },
        );
        is_any
    }

    /// Returns the indexed questions before `number` with at least the given similarity.
    pub(super) fn all_before(&mut self, postings: &Postings, number: u32, at_least: f64) -> Vec<u32> {
        let mut all = Vec::new();
        self.each_before(postings, number, at_least, |_| true, |other| all.push(other));
        all
    }

    /// Calls `on_match` for the indexed questions before `number` with at least the given similarity that `is_candidate`
    /// accepts.
    pub(super) fn each_before(
        &mut self,
        postings: &Postings,
        number: u32,
        at_least: f64,
        is_candidate: impl Fn(u32) -> bool,
        mut on_match: impl FnMut(u32),
    ) {
        let before = |other| other < number && is_candidate(other);
        self.each(postings, number, at_least, before, |other, _| {
            on_match(other);
            ControlFlow::Continue(at_least)
        });
    }

    /// Returns the most similar other indexed question; the first one on a tie.
    pub(super) fn nearest(&mut self, postings: &Postings, number: u32, at_least: f64) -> Option<(u32, f64)> {
        let mut nearest: Option<(u32, f64)> = None;
        self.each(
            postings,
            number,
            at_least,
            |other| other != number,
            |other, similarity| {
                let is_nearer = nearest.is_none_or(|(first, most)| similarity > most || other < first);
                if similarity > 0.0 && is_nearer {
                    nearest = Some((other, similarity));
                }
                ControlFlow::Continue(similarity)
            },
        );
        nearest
    }
}

/// Returns the minimum sort key of a posting whose bound reaches `required_sum`, which is twice the similarity.
fn least(norms: RemainingNorms, scale: f64, required_sum: f64) -> f64 {
    let (forward, backward) = (f64::from(norms.query_norm) * scale, f64::from(norms.target_norm) / scale);
    let (more, less) = (forward.max(backward), forward.min(backward));
    // Both halves grow with the key until the larger one is 1.
    if required_sum * more <= more + less { required_sum / (more + less) } else { (required_sum - 1.0) / less }
}

/// Questions that share one term are compared only when they share another, unless the first can add more than this to
/// twice their similarity.
const SMALL: f64 = 0.25;

/// Term marks are selective for questions with at most this many terms.
const MARKED: usize = 32;
