//! Decides which heading candidates are headings, by the sequence of their numbers.
//!
//! Does not look at what a line may open; `candidates` does.

mod contents_filter;
mod numbering;
mod rule_filter;

use self::contents_filter::{without_contents, without_half_titles, without_summaries};
use self::numbering::in_sequence;
use self::rule_filter::keep_one_sequence;
use super::candidates::Heading;
use super::headings::Strength;
use super::levels::{opens_chapter, rank};
use super::lines::Lines;
use crate::schema::Level;

/// Returns the candidates that are headings.
pub(super) fn headings_in_sequence(mut found: Vec<Heading>, lines: &Lines) -> Vec<Heading> {
    number_halves(&mut found);
    let found = of_strength(found);
    let found = without_contents(found, lines);
    let found = without_summaries(found, lines);
    let found = keep_one_sequence(found, lines);
    let found = in_sequence(&found, lines);
    without_notes(without_half_titles(found, lines))
}

/// A 下 (second half) has number 2 if there is no 中 (middle).
fn number_halves(found: &mut [Heading]) {
    let half = |heading: &Heading, sign: &str| {
        let words = heading.title.trim_matches(['卷', '（', '）', '(', ')']);
        words == sign || (rank(heading.candidate.level) < 2 && words.starts_with(sign))
    };
    if found.iter().any(|heading| half(heading, "下")) && !found.iter().any(|heading| half(heading, "中")) {
        for heading in found.iter_mut().filter(|heading| half(heading, "下")) {
            heading.candidate.number = Some(2);
        }
    }
}

/// Drops headings that need a sequence if there are explicit chapters, and 节 (sections) if anything else opens
/// chapters.
fn of_strength(found: Vec<Heading>) -> Vec<Heading> {
    let strong = |heading: &&Heading| {
        let candidate = &heading.candidate;
        candidate.strength == Strength::Strong && opens_chapter(candidate.level) && !candidate.section
    };
    let chapters = found.iter().filter(strong).count();
    let letters = found.iter().filter(|heading| strong(heading) && heading.candidate.level == Level::Letter).count();
    // Letters may come before chapters with bare numbers.
    let last_letter = found.iter().rposition(|heading| heading.candidate.level == Level::Letter);
    let behind = |at: usize| letters == chapters && last_letter.is_some_and(|last| at > last);
    let mut at = 0;
    found
        .into_iter()
        .filter(|heading| {
            at += 1;
            match heading.candidate.strength {
                Strength::Strong => !heading.candidate.section || chapters == 0,
                Strength::Next | Strength::Title => true,
                Strength::Sequence => chapters < 2 || behind(at - 1),
            }
        })
        .collect()
}

/// Drops headings of notes and the like between chapters, since they belong to the chapter before them.
fn without_notes(found: Vec<Heading>) -> Vec<Heading> {
    // The number of the next chapter, if no part comes before it.
    let mut coming = None;
    let mut next: Vec<(bool, Option<u32>)> = Vec::with_capacity(found.len());
    let mut any = false;
    for heading in found.iter().rev() {
        next.push((any, coming));
        if opens_chapter(heading.candidate.level) {
            (any, coming) = (true, heading.candidate.number);
        } else if rank(heading.candidate.level) < 2 {
            coming = None;
        }
    }
    let mut number = None;
    let mut begun = false;
    found
        .into_iter()
        .filter(|heading| {
            let candidate = &heading.candidate;
            let (later, coming) = next.pop().unwrap_or_default();
            if opens_chapter(candidate.level) {
                (begun, number) = (true, candidate.number);
            }
            let goes_on = number.zip(coming).is_some_and(|(number, coming)| coming == number + 1);
            match candidate.level {
                Level::Back if !candidate.story => !(begun && later),
                Level::Front if !candidate.story => !(begun && goes_on),
                _ => true,
            }
        })
        .collect()
}
