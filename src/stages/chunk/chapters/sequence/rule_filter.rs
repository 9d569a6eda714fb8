//! Chooses between heading rules whose headings need consecutive numbers.

use std::collections::BTreeSet;

use super::contents_filter::is_bare;
use super::numbering::follows;
use crate::schema::Level;
use crate::stages::chunk::chapters::candidates::Heading;
use crate::stages::chunk::chapters::headings::Strength;
use crate::stages::chunk::chapters::lines::Lines;
use crate::text::is_han;

/// Returns the indexes of a rule's headings with consecutive numbers, restarting at each 1.
fn chain(found: &[Heading], rule: usize) -> Vec<usize> {
    let (mut indexes, mut last) = (Vec::new(), 0);
    for (at, heading) in found.iter().enumerate() {
        let Some(number) = heading.candidate.number.filter(|_| is_of(heading, rule)) else { continue };
        if number == 1 || follows(last, number) {
            indexes.push(at);
            last = number;
        }
    }
    indexes
}

fn is_of(heading: &Heading, rule: usize) -> bool {
    heading.candidate.strength == Strength::Sequence && heading.candidate.rule == rule
}

/// Whether a rule's numbers are page numbers: the text before many of them breaks off inside a sentence.
fn are_page_numbers(found: &[Heading], rule: usize, lines: &Lines) -> bool {
    /// Fewer may be chance.
    const MIN_NUMBERS: usize = 6;
    let (mut numbers, mut broken) = (0_usize, 0_usize);
    for heading in found.iter().filter(|heading| is_of(heading, rule)) {
        let before = (heading.line.saturating_sub(4)..heading.line).rev().find(|at| !lines.is_blank(*at));
        let goes_on = lines.at(heading.last + 1).is_empty() && {
            let below = (heading.last + 2..heading.last + 6).find(|at| !lines.is_blank(*at));
            below.is_some_and(|at| lines.at(at).starts_with(char::is_lowercase))
        };
        let letter = |c: char| c.is_lowercase() || matches!(c, ',' | ';' | '-' | '，' | '、') || is_han(c);
        numbers += 1;
        broken += usize::from(
            before.is_some_and(|at| lines.at(at).ends_with(letter) && (goes_on || lines.at(at).len() > 40)),
        );
    }
    numbers >= MIN_NUMBERS && broken * 4 > numbers
}

/// Keeps only the longest of the sequences that need one, so that page numbers do not mix with chapters. If one
/// sequence contains another, the outer opens parts, or the inner opens sections.
pub(super) fn keep_one_sequence(mut found: Vec<Heading>, lines: &Lines) -> Vec<Heading> {
    let sequence = |heading: &&Heading| heading.candidate.strength == Strength::Sequence;
    let rules: BTreeSet<usize> = found.iter().filter(sequence).map(|heading| heading.candidate.rule).collect();
    let pages = |rule: &usize| are_page_numbers(&found, *rule, lines);
    let chains: Vec<(usize, Vec<usize>)> =
        rules.iter().filter(|rule| !pages(rule)).map(|rule| (*rule, chain(&found, *rule))).collect();
    // On equal lengths, the later rule.
    let best = chains.iter().filter(|(_, indexes)| indexes.len() >= 2).max_by_key(|(_, indexes)| indexes.len());
    let Some((mut best, inner)) = best.map(|(rule, indexes)| (*rule, indexes.as_slice())) else {
        return found.into_iter().filter(|heading| heading.candidate.strength != Strength::Sequence).collect();
    };
    for (rule, outer) in chains.iter().filter(|(rule, indexes)| *rule != best && indexes.len() >= 2) {
        match nest(&found, outer, inner, lines) {
            Nest::Sections => {
                best = *rule;
                break;
            }
            Nest::Parts => {
                for &at in outer {
                    found[at].candidate.level = Level::Part;
                    found[at].candidate.strength = Strength::Strong;
                }
                break;
            }
            Nest::Apart => {}
        }
    }
    found.retain(|heading| heading.candidate.strength != Strength::Sequence || heading.candidate.rule == best);
    found
}

/// How two sequences of numbers relate.
enum Nest {
    /// The outer opens parts that contain the inner as chapters.
    Parts,
    /// The outer opens chapters that contain the inner as sections.
    Sections,
    /// Neither contains the other.
    Apart,
}

fn nest(found: &[Heading], outer: &[usize], inner: &[usize], lines: &Lines) -> Nest {
    let (mut containing, mut restarting, mut adjacent) = (0_usize, 0_usize, 0_usize);
    for (nth, &at) in outer.iter().enumerate() {
        let end = outer.get(nth + 1).copied().unwrap_or(found.len());
        let within = &inner[inner.partition_point(|index| *index < at)..];
        let Some(&first) = within.first().filter(|index| **index < end) else { continue };
        containing += 1;
        restarting += usize::from(found[first].candidate.number == Some(1));
        adjacent += usize::from(first == at + 1 && is_bare(found, at, lines));
    }
    let all_adjacent = adjacent == outer.len();
    let titled = outer.iter().all(|at| found[*at].candidate.titled);
    let before = inner.first().is_some_and(|first| *first < outer[0]);
    if before || containing == 0 {
        Nest::Apart
    } else if restarting * 2 > containing && (titled || !all_adjacent) {
        Nest::Sections
    } else if all_adjacent {
        Nest::Parts
    } else {
        Nest::Apart
    }
}
