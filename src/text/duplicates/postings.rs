//! Where the terms of kept questions stand, so that the few that can be alike are found.
//!
//! Let t be the rarest term that two questions a and b share. A half of their likeness is a sum over shared terms of weight ×
//! count in the asking one × gain in the other one, so by Cauchy and Schwarz it is at most the product of two lengths: that of
//! the asking one's counts and that of the other one's gains, as vectors weighted by the terms, from t on in the order of
//! rarity. [`Left`] holds both for every place in every question, and so each half has a bound that no pair exceeds.
//!
//! Each term's list holds what every question that has it has left from there, the most first. A search for what reaches a
//! likeness reads a list only as long as the bound does: every pair has a rarest shared term, and its bound there is no less
//! than its likeness, so nothing is passed over.
//!
//! Most of what is met so shares one rare term by chance and nothing else. Where that term can add no more than little, the pair is
//! only noted, and compared when it shares another: were there none whose bound, with what the terms before can have added, reaches what is
//! sought, the likeness could not. Lists are read further by as much.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::questions::{Left, Questions, SLACK, mark, most, to_u32};

/// A question in a term's list.
#[derive(Debug, Clone, Copy)]
struct Posting {
    number: u32,
    /// The term's place among the question's.
    place: u32,
    /// What the question has left from this term on.
    left: Left,
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

/// Questions of a term's list that ask and answer about as much in proportion. A short list is one segment.
struct Segment {
    /// What `answers` is divided by and `asks` multiplied with, so that one number sorts; 0 where the segment is read whole.
    scale: f64,
    /// The most that this term alone is of what any of the questions has left.
    most: Left,
    /// Where its postings begin, and where they end.
    range: [u32; 2],
}

impl Segment {
    /// Returns what the postings are sorted by.
    fn order(&self, left: Left) -> f64 {
        order(self.scale, left)
    }
}

fn order(scale: f64, left: Left) -> f64 {
    (f64::from(left.asks) * scale).max(f64::from(left.answers) / scale)
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
        let mut list = vec![Posting { number: 0, place: 0, left: Left::default() }; size];
        // Class by class, so that those of a class stand together in every list. What was where a list begins is where it ends
        // when all are in.
        for number in classes.into_values().flatten() {
            for ((place, term), left) in (0_u32..).zip(questions.terms(number)).zip(questions.left(number)) {
                let at = &mut ends[term.rank as usize];
                list[*at as usize] = Posting { number, place, left: *left };
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
                        order(scale, other.left).total_cmp(&order(scale, one.left)).then(one.number.cmp(&other.number))
                    });
                }
                let end = start + to_u32(part.len());
                let alone = part.iter().map(|posting| questions.alone(posting.number, posting.place));
                let most = alone.fold(Left::default(), Left::max);
                segments.push(Segment { scale, most, range: [start, end] });
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

/// What looks for questions that are alike.
pub(super) struct Search<'a> {
    questions: &'a Questions,
    /// By question: how far it is known to the one that asks.
    met: Vec<Met>,
    /// Those that are known at all.
    numbers: Vec<u32>,
    /// By bit: the squares of what the terms that have it are alone, of those of the one that asks that were not passed yet.
    squares: [(f64, f64); 64],
}

/// How far a question is known to one that asks.
#[derive(Debug, Clone, Copy)]
enum Met {
    /// They share no term that was looked at.
    Not,
    /// They share one: its places among the terms of either.
    Once(u32, u32),
    /// They were compared.
    Compared,
}

impl<'a> Search<'a> {
    pub(super) fn new(questions: &'a Questions) -> Self {
        Self { questions, met: vec![Met::Not; questions.len()], numbers: Vec::new(), squares: [(0.0, 0.0); 64] }
    }

    /// Hands on the listed questions that are at least so alike, of those that are asked for, each once; `found` returns the likeness that
    /// is sought from then on. The question that asks is handed on too where it is listed.
    fn each(
        &mut self,
        postings: &Postings,
        number: u32,
        at_least: f64,
        is_asked_for: impl Fn(u32) -> bool,
        found: impl FnMut(u32, f64) -> ControlFlow<(), f64>,
    ) {
        let _ = self.walk(postings, number, at_least, is_asked_for, found);
        for other in self.numbers.drain(..) {
            self.met[other as usize] = Met::Not;
        }
    }

    fn walk(
        &mut self,
        postings: &Postings,
        number: u32,
        mut at_least: f64,
        is_asked_for: impl Fn(u32) -> bool,
        mut found: impl FnMut(u32, f64) -> ControlFlow<(), f64>,
    ) -> ControlFlow<()> {
        let questions = self.questions;
        let has_rare = questions.has_rare(number);
        // What a term that was shared may have added, where nothing else was.
        let mut so_far = 0.0_f64;
        let is_marked = questions.terms(number).len() <= MARKED;
        if is_marked {
            self.squares = [(0.0, 0.0); 64];
            for (place, term) in (0_u32..).zip(questions.terms(number)) {
                self.add(term.rank, questions.alone(number, place), 1.0);
            }
        }
        for ((term, left), place) in questions.terms(number).iter().zip(questions.left(number)).zip(0_u32..) {
            let is_common = !questions.is_rare(term.rank);
            let alone = questions.alone(number, place);
            let before = so_far;
            for segment in postings.segments(term.rank) {
                // Where the rarest shared term is none of the asking question's rare ones, likeness is cut down.
                let factor = if has_rare && is_common { questions.apart() } else { 1.0 };
                let mut sought = 2.0 * (at_least - SLACK);
                let (there, back) = most(alone, segment.most);
                let adds = there + back;
                let is_small = adds <= SMALL && adds < sought;
                let least = if segment.scale > 0.0 { least(*left, segment.scale, sought - before) } else { 0.0 };
                let mut was_met = false;
                for posting in postings.of(segment) {
                    if segment.order(posting.left) < least {
                        break;
                    }
                    let other = posting.number;
                    let met = &mut self.met[other as usize];
                    let needed = match *met {
                        Met::Compared => continue,
                        Met::Not => sought / factor,
                        Met::Once(..) => sought - before,
                    };
                    let (there, back) = most(*left, posting.left);
                    if there.min(1.0) + back.min(1.0) < needed {
                        continue;
                    }
                    let (from, to) = match *met {
                        Met::Once(from, to) => (from, to),
                        _ if !is_asked_for(other) => continue,
                        _ => {
                            self.numbers.push(other);
                            if is_small {
                                *met = Met::Once(place, posting.place);
                                was_met = true;
                                continue;
                            }
                            (place, posting.place)
                        }
                    };
                    // What fails here is not alike: it may be met again, and fails again.
                    if is_marked && self.most_marked(questions.marks(other), posting.left) < needed {
                        continue;
                    }
                    self.met[other as usize] = Met::Compared;
                    let likeness = questions.likeness_from((number, from as usize), (other, to as usize), at_least);
                    if let Some(likeness) = likeness.filter(|likeness| *likeness >= at_least) {
                        at_least = found(other, likeness)?;
                        sought = 2.0 * (at_least - SLACK);
                    }
                }
                if was_met {
                    so_far = so_far.max(adds);
                }
            }
            if is_marked {
                self.add(term.rank, alone, -1.0);
            }
        }
        ControlFlow::Continue(())
    }

    fn add(&mut self, rank: u32, alone: Left, times: f64) {
        let (asks, answers) = &mut self.squares[mark(rank).trailing_zeros() as usize];
        *asks += times * f64::from(alone.asks).powi(2);
        *answers += times * f64::from(alone.answers).powi(2);
    }

    /// Returns the most that is shared with a question that has these marks and so much left.
    fn most_marked(&self, mut marks: u64, left: Left) -> f64 {
        let (mut asks, mut answers) = (0.0, 0.0);
        while marks != 0 {
            let of_bit = self.squares[marks.trailing_zeros() as usize];
            (asks, answers) = (asks + of_bit.0, answers + of_bit.1);
            marks &= marks - 1;
        }
        let there = asks.max(0.0).sqrt() * f64::from(left.answers);
        there.min(1.0) + (answers.max(0.0).sqrt() * f64::from(left.asks)).min(1.0)
    }

    /// Whether one of the listed questions is at least so alike.
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

    /// Returns the listed questions before this one that are at least so alike.
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
        let before = |other| other < number && is_asked_for(other);
        self.each(postings, number, at_least, before, |other, _| {
            alike(other);
            ControlFlow::Continue(at_least)
        });
    }

    /// Returns the most alike of the listed questions, itself aside, the first of equals.
    pub(super) fn nearest(&mut self, postings: &Postings, number: u32, at_least: f64) -> Option<(u32, f64)> {
        let mut nearest: Option<(u32, f64)> = None;
        self.each(
            postings,
            number,
            at_least,
            |other| other != number,
            |other, likeness| {
                let is_nearer = nearest.is_none_or(|(first, most)| likeness > most || other < first);
                if likeness > 0.0 && is_nearer {
                    nearest = Some((other, likeness));
                }
                ControlFlow::Continue(likeness)
            },
        );
        nearest
    }
}

/// Returns the least that a posting of a segment is sorted by whose bound reaches what is sought, twice the likeness.
fn least(left: Left, scale: f64, sought: f64) -> f64 {
    let (there, back) = (f64::from(left.asks) * scale, f64::from(left.answers) / scale);
    let (more, less) = (there.max(back), there.min(back));
    // Both halves grow with it until the greater one is 1.
    if sought * more <= more + less { sought / (more + less) } else { (sought - 1.0) / less }
}

/// Questions that share one term are compared when they share another, unless the one may add more than this to twice their likeness.
const SMALL: f64 = 0.25;

/// Marks tell the terms of questions apart that have no more than so many.
const MARKED: usize = 32;
