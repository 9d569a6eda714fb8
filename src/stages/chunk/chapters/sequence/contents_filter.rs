//! Drops heading candidates that belong to a table of contents or a title page.

use std::collections::BTreeMap;

use crate::schema::Level;
use crate::stages::chunk::chapters::candidates::Heading;
use crate::stages::chunk::chapters::levels::{opens_chapter, rank};
use crate::stages::chunk::chapters::lines::{Lines, has_leader};
use crate::text::letters_and_digits;

/// Whether there is almost no text between a heading and the next.
pub(super) fn is_bare(found: &[Heading], at: usize, lines: &Lines) -> bool {
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
pub(super) fn without_contents(found: Vec<Heading>, lines: &Lines) -> Vec<Heading> {
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
    (level, number, if number.is_some() { String::new() } else { letters_and_digits(&heading.title) })
}

pub(super) const fn key(heading: &Heading) -> (Level, Option<u32>) {
    (heading.candidate.level, heading.candidate.number)
}

/// Drops a first pass over all headings with only a few words below each: a table of contents with summaries.
pub(super) fn without_summaries(found: Vec<Heading>, lines: &Lines) -> Vec<Heading> {
    /// The maximum number of restarts tried. After more, there is no table of contents.
    const TRIED: usize = 64;
    /// The minimum number of headings in a pass.
    const MIN_HEADINGS: usize = 3;
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
    let again = (MIN_HEADINGS..found.len()).filter(|at| key(&found[*at]) == first).take(TRIED).find(|&at| {
        let reach = (2 * at).min(found.len());
        // The text after the table of contents seems to belong to its last entry.
        sums[at - 1] * 8 < sums[reach] - sums[at] && same(at) * 10 >= at * 9
    });
    match again {
        Some(at) => found.into_iter().skip(at).collect(),
        None => found,
    }
}

/// Drops headings announced before they start, such as a part on a title page: the same heading comes again before any
/// chapter.
pub(super) fn without_half_titles(found: Vec<Heading>, lines: &Lines) -> Vec<Heading> {
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
