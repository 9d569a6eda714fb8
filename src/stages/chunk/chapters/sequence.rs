//! Decides which heading candidates are headings, by the sequence of their numbers.
//!
//! Does not look at what a line may open; `candidates` does.

use std::collections::{BTreeMap, BTreeSet};

use super::boilerplate::letters;
use super::candidates::{Heading, Lines, has_leader};
use super::headings::Strength;
use crate::schema::Level;
use crate::text::is_han;

/// Returns the candidates that are headings.
pub(crate) fn stand(mut found: Vec<Heading>, lines: &Lines) -> Vec<Heading> {
    number_halves(&mut found);
    let found = of_strength(found);
    let found = without_contents(found, lines);
    let found = without_summaries(found, lines);
    let found = of_one_rule(found, lines);
    let found = in_sequence(&found, lines);
    without_notes(without_half_titles(found, lines))
}

/// Whether headings of a level contain the text itself.
pub(crate) const fn opens_chapter(level: Level) -> bool {
    matches!(level, Level::Chapter | Level::Letter | Level::Scene)
}

pub(crate) const fn rank(level: Level) -> u8 {
    match level {
        Level::Volume => 0,
        Level::Part | Level::Act => 1,
        Level::Front | Level::Back | Level::Chapter | Level::Letter | Level::Scene => 2,
    }
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

/// Whether there is almost no text between a heading and the next.
fn is_bare(found: &[Heading], at: usize, lines: &Lines) -> bool {
    let between = (found[at].last + 1..found[at + 1].line).map(|line| lines.at(line));
    let mut letters = 0;
    for line in between.filter(|line| !line.is_empty() && !has_leader(line)) {
        letters += line.chars().count();
        if letters > 160 || line.ends_with(['.', '!', '?', '。', '！', '？', '”', '’', '」', '．']) {
            return false;
        }
    }
    true
}

/// Drops runs of headings without text between them, since they are a table of contents. Headings at the end of a run
/// that open a text, such as a part and its first chapter, are kept.
fn without_contents(found: Vec<Heading>, lines: &Lines) -> Vec<Heading> {
    // The last occurrence of each heading.
    let names: Vec<(Level, Option<u32>, String)> = found.iter().map(name).collect();
    let latest: BTreeMap<_, usize> = names.iter().enumerate().map(|(at, name)| (name, at)).collect();
    let mut drop = vec![false; found.len()];
    let mut start = 0;
    while start < found.len() {
        let mut end = start;
        while end + 1 < found.len() && is_bare(&found, end, lines) {
            end += 1;
        }
        let mut keep = end;
        while keep > start && rank(found[keep - 1].candidate.level) < rank(found[keep].candidate.level) {
            keep -= 1;
        }
        if keep - start >= 2 {
            drop[start..keep].fill(true);
            // If prose without a heading follows, the last line of the table would open it.
            let (last, before) = (&found[end].candidate, &found[end - 1].candidate);
            let goes_on = if last.number.is_some() {
                last.level == before.level && last.number > before.number
            } else {
                names[start..end].iter().all(|name| *name != names[end])
            };
            if keep == end && goes_on && latest[&names[end]] > end {
                drop[end] = true;
            }
        }
        start = end + 1;
    }
    let mut drop = drop.into_iter();
    found.into_iter().filter(|_| !drop.next().unwrap_or(false)).collect()
}

/// Returns the key by which two headings are the same: level and number, or level and words if there is no number.
fn name(heading: &Heading) -> (Level, Option<u32>, String) {
    let (level, number) = key(heading);
    (level, number, if number.is_some() { String::new() } else { letters(&heading.title) })
}

const fn key(heading: &Heading) -> (Level, Option<u32>) {
    (heading.candidate.level, heading.candidate.number)
}

/// Drops a first pass over all headings with only a few words below each: a table of contents with summaries.
fn without_summaries(found: Vec<Heading>, lines: &Lines) -> Vec<Heading> {
    /// The maximum number of restarts tried. After more, there is no table of contents.
    const TRIED: usize = 64;
    /// The minimum number of headings in a pass.
    const LEAST: usize = 3;
    let Some(first) = found.first().map(key) else { return found };
    // The amount of text before each heading.
    let mut sums = vec![0];
    for (at, heading) in found.iter().enumerate() {
        let next = found.get(at + 1).map_or(lines.len(), |next| next.line);
        sums.push(sums[at] + lines.between(heading.last, next));
    }
    let same = |at: usize| {
        let steps = 0..at.min(found.len() - at);
        steps.filter(|step| key(&found[*step]) == key(&found[at + step])).count()
    };
    let again = (LEAST..found.len()).filter(|at| key(&found[*at]) == first).take(TRIED).find(|&at| {
        let reach = (2 * at).min(found.len());
        // The text after the table of contents seems to belong to its last entry.
        sums[at - 1] * 8 < sums[reach] - sums[at] && same(at) * 10 >= at * 9
    });
    match again {
        Some(at) => found.into_iter().skip(at).collect(),
        None => found,
    }
}

/// Returns the indexes of a rule's headings with consecutive numbers, restarting at each 1.
fn chain(found: &[Heading], rule: usize) -> Vec<usize> {
    let (mut places, mut last) = (Vec::new(), 0);
    for (at, heading) in found.iter().enumerate() {
        let Some(number) = heading.candidate.number.filter(|_| is_of(heading, rule)) else { continue };
        if number == 1 || follows(last, number) {
            places.push(at);
            last = number;
        }
    }
    places
}

fn is_of(heading: &Heading, rule: usize) -> bool {
    heading.candidate.strength == Strength::Sequence && heading.candidate.rule == rule
}

/// Whether a rule's numbers are page numbers: the text before many of them breaks off inside a sentence.
fn are_pages(found: &[Heading], rule: usize, lines: &Lines) -> bool {
    /// Fewer may be chance.
    const LEAST: usize = 6;
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
    numbers >= LEAST && broken * 4 > numbers
}

/// Keeps only the longest of the sequences that need one, so that page numbers do not mix with chapters. If one
/// sequence contains another, the outer opens parts, or the inner opens sections.
fn of_one_rule(mut found: Vec<Heading>, lines: &Lines) -> Vec<Heading> {
    let sequence = |heading: &&Heading| heading.candidate.strength == Strength::Sequence;
    let rules: BTreeSet<usize> = found.iter().filter(sequence).map(|heading| heading.candidate.rule).collect();
    let pages = |rule: &usize| are_pages(&found, *rule, lines);
    let chains: Vec<(usize, Vec<usize>)> =
        rules.iter().filter(|rule| !pages(rule)).map(|rule| (*rule, chain(&found, *rule))).collect();
    // On equal lengths, the later rule.
    let best = chains.iter().filter(|(_, places)| places.len() >= 2).max_by_key(|(_, places)| places.len());
    let Some((mut best, inner)) = best.map(|(rule, places)| (*rule, places.as_slice())) else {
        return found.into_iter().filter(|heading| heading.candidate.strength != Strength::Sequence).collect();
    };
    for (rule, outer) in chains.iter().filter(|(rule, places)| *rule != best && places.len() >= 2) {
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
    let (mut holding, mut restarting, mut straight) = (0_usize, 0_usize, 0_usize);
    for (nth, &at) in outer.iter().enumerate() {
        let end = outer.get(nth + 1).copied().unwrap_or(found.len());
        let within = &inner[inner.partition_point(|place| *place < at)..];
        let Some(&first) = within.first().filter(|place| **place < end) else { continue };
        holding += 1;
        restarting += usize::from(found[first].candidate.number == Some(1));
        straight += usize::from(first == at + 1 && is_bare(found, at, lines));
    }
    let all_straight = straight == outer.len();
    let titled = outer.iter().all(|at| found[*at].candidate.titled);
    let before = inner.first().is_some_and(|first| *first < outer[0]);
    if before || holding == 0 {
        Nest::Apart
    } else if restarting * 2 > holding && (titled || !all_straight) {
        Nest::Sections
    } else if all_straight {
        Nest::Parts
    } else {
        Nest::Apart
    }
}

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
fn in_sequence(found: &[Heading], lines: &Lines) -> Vec<Heading> {
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
        let in_place = number.zip(last).is_none_or(|(number, last)| follows(last, number));
        let below_part = kept.last().is_some_and(|before| rank(before.candidate.level) < 2);
        let stands = match candidate.strength {
            Strength::Strong if higher || number.is_none() || in_place => true,
            // The number is a misprint if the count continues after it with one number left out.
            Strength::Strong if gap(2) => true,
            // A repeated number is still a heading below a new part or on another level.
            Strength::Strong if number == last => {
                since
                    || last_level != Some(candidate.level)
                    || doubled.contains(&at)
                    || kept.last().is_some_and(|before| another(before, heading, lines))
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
        if !stands {
            continue;
        }
        since |= higher;
        if !higher && number.is_some() {
            (last_level, since) = (Some(candidate.level), false);
            last = if !in_place && gap(2) { last.map(|last| last + 1) } else { number };
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
        let told = lines.between(before.last, heading.line).min(lines.between(heading.last, end)) >= LEAST;
        let titled = before.candidate.titled || heading.candidate.titled;
        let mentioned = lines.paragraph(heading.last + 1, end).starts_with(char::is_lowercase);
        if told && !titled && !mentioned {
            doubled.insert(second);
        }
    }
    if repeated > 1 && repeated * 4 > runs { BTreeSet::new() } else { doubled }
}

/// The minimum length of the text of two headings with the same number, in bytes.
const LEAST: usize = 600;

/// Whether two headings with the same number open different texts, such as the halves of a chapter: the titles differ.
fn another(before: &Heading, heading: &Heading, lines: &Lines) -> bool {
    let (first, second) = (letters(&before.title), letters(&heading.title));
    heading.candidate.titled
        && before.candidate.titled
        && before.candidate.rule == heading.candidate.rule
        && lines.between(before.last, heading.line) >= LEAST
        // A running page header may be shorter than the heading, but never longer.
        && !first.starts_with(&second)
}

/// Whether a number may come after another; one or two may be missing in between.
const fn follows(last: u32, number: u32) -> bool {
    number > last && number <= last + 3
}

/// Drops headings announced before they start, such as a part on a title page: the same heading comes again before any
/// chapter.
fn without_half_titles(found: Vec<Heading>, lines: &Lines) -> Vec<Heading> {
    let mut drop = vec![false; found.len()];
    // The headings since the last chapter.
    let mut since: BTreeMap<(Level, Option<u32>, String), usize> = BTreeMap::new();
    for (at, heading) in found.iter().enumerate() {
        if opens_chapter(heading.candidate.level) {
            since.clear();
        } else if let Some(before) = since.insert(name(heading), at) {
            let part = rank(heading.candidate.level) < 2;
            drop[before] = part || !lines.opens_prose(found[before].last + 1, found[before + 1].line);
        }
    }
    let mut drop = drop.into_iter();
    found.into_iter().filter(|_| !drop.next().unwrap_or(false)).collect()
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
