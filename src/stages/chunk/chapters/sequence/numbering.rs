//! Drops heading candidates whose numbers break the count.

use std::collections::{BTreeMap, BTreeSet};

use super::contents_filter::key;
use crate::schema::Level;
use crate::stages::chunk::chapters::candidates::Heading;
use crate::stages::chunk::chapters::headings::Strength;
use crate::stages::chunk::chapters::levels::{opens_chapter, rank};
use crate::stages::chunk::chapters::lines::Lines;
use crate::text::letters_and_digits;

/// Returns, for each heading, the number of the next numbered heading of its level, if no part comes between.
fn next_numbers(found: &[Heading]) -> Vec<Option<u32>> {
    let mut coming: BTreeMap<Level, u32> = BTreeMap::new();
    let mut next: Vec<Option<u32>> = found
        .iter()
        .rev()
        .map(|heading| {
            let (level, number) = key(heading);
            let next = coming.get(&level).copied();
            if rank(level) < 2 {
                coming.clear();
            }
            if let Some(number) = number {
                coming.insert(level, number);
            }
            next
        })
        .collect();
    next.reverse();
    next
}

/// Decides whether a 1 inside a sequence starts another sequence (`None`) or a list, after which the count continues.
/// Returns the end of the list.
fn list(found: &[Heading], at: usize, last: u32) -> Option<usize> {
    let mut count = 1;
    let mut end = at + 1;
    for (next, heading) in found.iter().enumerate().skip(at + 1) {
        match heading.candidate.number {
            _ if rank(heading.candidate.level) < 2 => break,
            None => {}
            Some(number) if number == count + 1 => (count, end) = (number, next + 1),
            Some(number) if number > 1 && follows(last, number) => return Some(end),
            Some(_) => break,
        }
    }
    // A repeated 1, or one that does not count further, does not start a sequence.
    (count < 2 || last == 1).then_some(at + 1)
}

/// Drops headings that break the count: repetitions of the previous heading, and bare numbers that are not the next
/// one.
pub(super) fn in_sequence(found: &[Heading], lines: &Lines) -> Vec<Heading> {
    let mut kept: Vec<Heading> = Vec::with_capacity(found.len());
    let mut last: Option<u32> = None;
    // The level of the last number, and whether a part has come since.
    let (mut last_level, mut since) = (None, true);
    let mut listed = 0;
    let doubled = doubled(found, lines);
    for (at, (heading, next)) in found.iter().zip(next_numbers(found)).enumerate() {
        let candidate = &heading.candidate;
        let higher = rank(candidate.level) < rank(Level::Chapter);
        let number = candidate.number;
        let gap = |step: u32| last.zip(next).is_some_and(|(last, next)| next == last + step);
        let in_sequence = number.zip(last).is_none_or(|(number, last)| follows(last, number));
        let below_part = kept.last().is_some_and(|before| rank(before.candidate.level) < 2);
        let is_kept = match candidate.strength {
            Strength::Strong if higher || number.is_none() || in_sequence => true,
            // The number is a misprint if the count continues after it with one number left out.
            Strength::Strong if gap(2) => true,
            // A repeated number is still a heading below a new part or on another level.
            Strength::Strong if number == last => {
                since
                    || last_level != Some(candidate.level)
                    || doubled.contains(&at)
                    || kept.last().is_some_and(|before| opens_another_text(before, heading, lines))
            }
            // A mention of a chapter, if the count continues as if it were not there.
            Strength::Strong => below_part || !gap(1),
            Strength::Next => number.is_some() && number == last.map(|last| last + 1),
            Strength::Title => true,
            Strength::Sequence if at < listed => false,
            Strength::Sequence => match number {
                Some(1) if since || last_level != Some(candidate.level) => true,
                Some(1) => {
                    let end = list(found, at, last.unwrap_or(0));
                    listed = end.unwrap_or(0);
                    end.is_none()
                }
                Some(number) => follows(last.unwrap_or(0), number),
                None => false,
            },
        };
        if !is_kept {
            continue;
        }
        since |= higher;
        if !higher && number.is_some() {
            (last_level, since) = (Some(candidate.level), false);
            last = if !in_sequence && gap(2) { last.map(|last| last + 1) } else { number };
        }
        kept.push(heading.clone());
    }
    kept
}

/// Finds the second of two untitled headings with the same number that each have enough text: a misprint, or a part
/// that starts without a heading. Running page headers repeat more often, or in most chapters.
fn doubled(found: &[Heading], lines: &Lines) -> BTreeSet<usize> {
    let numbered: Vec<usize> = (0..found.len())
        .filter(|at| opens_chapter(found[*at].candidate.level) && found[*at].candidate.number.is_some())
        .filter(|at| found[*at].candidate.strength == Strength::Strong)
        .collect();
    let mut doubled = BTreeSet::new();
    let (mut runs, mut repeated) = (0_usize, 0_usize);
    for run in numbered.chunk_by(|before, at| key(&found[*before]) == key(&found[*at])) {
        runs += 1;
        repeated += usize::from(run.len() > 1);
        let [first, second] = *run else { continue };
        let (before, heading) = (&found[first], &found[second]);
        let end = found.get(second + 1).map_or(lines.len(), |next| next.line);
        let has_text = lines.between(before.last, heading.line).min(lines.between(heading.last, end)) >= MIN_TEXT;
        let titled = before.candidate.titled || heading.candidate.titled;
        let mentioned = lines.paragraph(heading.last + 1, end).starts_with(char::is_lowercase);
        if has_text && !titled && !mentioned {
            doubled.insert(second);
        }
    }
    if repeated > 1 && repeated * 4 > runs { BTreeSet::new() } else { doubled }
}

/// The minimum length of the text of two headings with the same number, in bytes.
const MIN_TEXT: usize = 600;

/// Whether two headings with the same number open different texts, such as the halves of a chapter: the titles differ.
fn opens_another_text(before: &Heading, heading: &Heading, lines: &Lines) -> bool {
    let (first, second) = (letters_and_digits(&before.title), letters_and_digits(&heading.title));
    heading.candidate.titled
        && before.candidate.titled
        && before.candidate.rule == heading.candidate.rule
        && lines.between(before.last, heading.line) >= MIN_TEXT
        // A running page header may be shorter than the heading, but never longer.
        && !first.starts_with(&second)
}

/// Whether a number may come after another; one or two may be missing in between.
pub(super) const fn follows(last: u32, number: u32) -> bool {
    number > last && number <= last + 3
}
