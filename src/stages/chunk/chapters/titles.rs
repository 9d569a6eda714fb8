//! Finds headings without a number or a unit word: by the form of a title, or because the book's table of contents
//! lists them.
//!
//! Candidates are judged over the whole book: each must be followed by enough text, and none may repeat often.

use std::collections::{BTreeMap, BTreeSet};

use super::boilerplate::{boilerplate_kind_of_title, is_credit};
use super::candidates::Heading;
use super::headings::{self, Candidate};
use super::levels::{opens_chapter, rank};
use super::lines::{Lines, has_leader};
use super::prose;
use super::title_patterns::{self, Form};
use crate::books::MAX_HEADINGS;
use crate::schema::{BoilerplateKind, Level};
use crate::text::{is_han, letters_and_digits, single_spaced};

/// Adds titles as chapter headings if nothing else opens chapters, or if the numbered headings are nested in the
/// titles; and adds named pieces before the first chapter.
pub(crate) fn with_titles(mut headings: Vec<Heading>, lines: &Lines, book: &str) -> Vec<Heading> {
    let numbered = headings.iter().any(|heading| opens_chapter(heading.candidate.level));
    if numbered && !may_be_collection(&headings, lines) {
        let fronts = fronts(&headings, lines, book);
        return merged(headings, fronts);
    }
    let mut titles = titles(&headings, lines, book, &title_patterns::CAPITALS);
    if !numbered {
        // Weaker forms, if there are none of the stronger.
        for form in [&title_patterns::DATES, &title_patterns::NAMES] {
            if titles.is_empty() {
                titles = self::titles(&headings, lines, book, form);
            }
        }
        if in_most_parts(&titles, &headings) {
            separate_titles(&mut headings, &titles, lines);
            return merged(headings, titles);
        }
        promote(&mut headings);
        return headings;
    }
    if is_collection(&titles, &headings, lines) {
        headings.retain(|heading| !opens_chapter(heading.candidate.level));
        return merged(headings, titles);
    }
    let fronts = fronts(&headings, lines, book);
    merged(headings, fronts)
}

/// Separates the headings of parts from chapter titles that were joined to them.
fn separate_titles(headings: &mut [Heading], titles: &[Heading], lines: &Lines) {
    for heading in headings.iter_mut().filter(|heading| heading.last > heading.line) {
        if titles.binary_search_by_key(&heading.last, |title| title.line).is_ok() {
            heading.title = single_spaced(lines.at(heading.line));
            heading.last = heading.line;
        }
    }
}

fn merged(mut headings: Vec<Heading>, more: Vec<Heading>) -> Vec<Heading> {
    if !more.is_empty() {
        headings.extend(more);
        headings.sort_by_key(|heading| heading.line);
    }
    headings
}

/// Turns parts without chapters into chapters, if the book has no others.
fn promote(headings: &mut [Heading]) {
    for level in [Level::Part, Level::Volume] {
        if headings.iter().filter(|heading| heading.candidate.level == level).count() >= 2 {
            for heading in headings.iter_mut().filter(|heading| heading.candidate.level == level) {
                heading.candidate.level = Level::Chapter;
            }
            return;
        }
    }
}

/// Whether titles are spread over the parts of a book as chapters are, if it has parts.
fn in_most_parts(titles: &[Heading], headings: &[Heading]) -> bool {
    if titles.is_empty() {
        return false;
    }
    let parts: Vec<usize> =
        headings.iter().filter(|heading| rank(heading.candidate.level) < 2).map(|heading| heading.line).collect();
    let held: BTreeSet<usize> =
        titles.iter().map(|title| parts.partition_point(|part| *part < title.line)).filter(|part| *part > 0).collect();
    held.len() * 2 >= parts.len()
}

/// Whether the numbered headings leave much of the book to others: numbers restart without a part, start late, or end
/// early. A cheap check before titles are searched for.
fn may_be_collection(headings: &[Heading], lines: &Lines) -> bool {
    let chapters: Vec<&Heading> = headings.iter().filter(|heading| opens_chapter(heading.candidate.level)).collect();
    let (Some(first), Some(last)) = (chapters.first(), chapters.last()) else { return true };
    let all = lines.between(0, lines.len());
    let restarts = chapters.iter().filter(|heading| heading.candidate.number == Some(1)).count();
    let parts = headings.iter().filter(|heading| rank(heading.candidate.level) < 2).count();
    let mean = lines.between(first.line, last.line) / chapters.len().max(1);
    (restarts >= 2 && parts == 0)
        || lines.between(0, first.line) * 6 > all
        || lines.between(last.line, lines.len()) > mean * 3
}

/// Whether titles open the pieces of a collection of which only some have numbered chapters: few of the titles are
/// between two consecutive numbers, and the pieces without numbers hold a good part of the book.
fn is_collection(titles: &[Heading], headings: &[Heading], lines: &Lines) -> bool {
    let numbered: Vec<&Heading> = headings.iter().filter(|heading| opens_chapter(heading.candidate.level)).collect();
    let (Some(first), Some(opening)) = (titles.first(), numbered.first()) else { return false };
    if first.line > opening.line || titles.len() < 3 {
        return false;
    }
    let (mut crossed, mut free, mut without) = (0_usize, 0_usize, 0_usize);
    for (at, title) in titles.iter().enumerate() {
        let end = titles.get(at + 1).map_or(lines.len(), |next| next.line);
        match numbered.get(numbered.partition_point(|heading| heading.line < title.line)) {
            Some(within) if within.line < end => {
                let below = (title.last + 1..within.line).all(|at| lines.is_blank(at));
                crossed += usize::from(within.candidate.number != Some(1) || !below);
            }
            _ => {
                free += 1;
                without += lines.between(title.last, end);
            }
        }
    }
    free >= 2 && crossed * 4 <= titles.len() && without * 4 >= lines.between(first.line, lines.len())
}

/// A line in the form of a title.
struct Line {
    at: usize,
    name: String,
    candidate: Candidate,
}

/// Finds titles that are headings by their form alone: separate lines, all different, each with a text below it that is
/// long enough for a chapter. At least three are required; fewer may be chance.
fn titles(known: &[Heading], lines: &Lines, book: &str, form: &Form) -> Vec<Heading> {
    let found = title_lines(known, lines, (0, lines.len()), &listed(lines), form);
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for line in &found {
        *times.entry(&line.name).or_default() += 1;
    }
    // A name that repeats is a speaker, an author or a running header. A name that occurs twice is listed in the table
    // of contents.
    let found: Vec<&Line> = found.iter().filter(|line| times[line.name.as_str()] <= 2).collect();
    // Starts of other headings; numbered chapters may be nested in a title's text.
    let others: Vec<usize> =
        known.iter().filter(|heading| !opens_chapter(heading.candidate.level)).map(|heading| heading.line).collect();
    let mut titles: Vec<(&Line, bool)> = Vec::new();
    let mut empty = 0;
    for (nth, line) in found.iter().enumerate() {
        let next = found.get(nth + 1).map_or(lines.len(), |next| next.at);
        let other = others.get(others.partition_point(|other| *other <= line.at)).copied().unwrap_or(next);
        // Of several in a row, the last one opens the text.
        if lines.between(line.at, next.min(other)) < form.min_text {
            empty += 1;
        } else {
            titles.push((line, empty >= 3));
            empty = 0;
        }
    }
    // The last entry of a table of contents seems to open the text after it.
    let latest: BTreeMap<&str, usize> = titles.iter().map(|(line, _)| (line.name.as_str(), line.at)).collect();
    let again: Vec<bool> =
        titles.iter().map(|(line, listed)| *listed && latest[line.name.as_str()] > line.at).collect();
    let mut again = again.into_iter();
    titles.retain(|_| !again.next().unwrap_or(false));
    let mut texts: BTreeMap<&str, usize> = BTreeMap::new();
    for (line, _) in &titles {
        *texts.entry(&line.name).or_default() += 1;
    }
    let own = letters_and_digits(book);
    let first = titles.first().map(|(line, _)| line.at);
    // The book's own title on its title page.
    let opens = |line: &Line| {
        let below = (line.at + 1..lines.len()).find(|at| !lines.is_blank(*at));
        let one = known.iter().any(|heading| Some(heading.line) == below && heading.candidate.number == Some(1));
        let paragraph = lines.paragraph(line.at + 1, lines.len());
        let words = paragraph.trim_end();
        let ended = words.ends_with(['.', '?', '!', '”', '。', '！', '？', '」']) && !headings::is_loud(words);
        one || (ended && words.len() > 45)
    };
    let titles: Vec<Heading> = titles
        .iter()
        .filter(|(line, _)| {
            texts[line.name.as_str()] == 1 && !(Some(line.at) == first && line.name == own && !opens(line))
        })
        .map(|(line, _)| heading(line, lines, line.candidate.clone()))
        .collect();
    let Some(first) = titles.first().filter(|_| titles.len() >= 3) else { return Vec::new() };
    let (before, text) = (lines.between(0, first.line), lines.between(first.line, lines.len()));
    let spread = before * 8 < text && text / titles.len() >= form.min_average_text;
    if form.min_average_text == 0 || spread { titles } else { Vec::new() }
}

fn heading(line: &Line, lines: &Lines, candidate: Candidate) -> Heading {
    Heading { candidate, line: line.at, last: line.at, title: single_spaced(lines.at(line.at)) }
}

/// Finds the lines in a range that have the form of a title or are listed in the table of contents, and have the
/// required space around them. Returns none if there are more than a book can have.
fn title_lines(
    known: &[Heading],
    lines: &Lines,
    (start, end): (usize, usize),
    listed: &BTreeSet<String>,
    form: &Form,
) -> Vec<Line> {
    let mut found: Vec<Line> = Vec::new();
    for at in start..end {
        if found.len() > MAX_HEADINGS {
            return Vec::new();
        }
        let words = lines.at(at);
        if words.is_empty() || words.len() > 100 || !has_room(lines, at, words) || has_leader(words) {
            continue;
        }
        let nth = known.partition_point(|heading| heading.last < at);
        // A title below a part's heading may be that of a chapter.
        let joined = |heading: &Heading| heading.line < at && rank(heading.candidate.level) < 2;
        if known.get(nth).is_some_and(|heading| heading.line <= at && !joined(heading))
            || boilerplate_kind_of_title(words).is_some()
        {
            continue;
        }
        let by_form = (form.matches)(words).then(title_patterns::listed);
        if by_form.is_none() && listed.is_empty() {
            continue;
        }
        let name = letters_and_digits(words);
        let candidate = by_form.or_else(|| listed.contains(&name).then(title_patterns::listed));
        // A numbered line is not a title, even if its rule does not apply here.
        let Some(candidate) = candidate.filter(|_| headings::candidate(words).is_none()) else { continue };
        found.push(Line { at, name, candidate });
    }
    found
}

/// Whether a line is separate: between blank lines, or not indented in a text with indented paragraphs.
fn has_room(lines: &Lines, at: usize, words: &str) -> bool {
    let alone = (at == 0 || lines.is_blank(at - 1)) && lines.is_blank(at + 1);
    if alone || !lines.dense || !headings::bare(words).starts_with(is_han) {
        return alone;
    }
    let ended = |line: &str| line.is_empty() || line.ends_with(['。', '！', '？', '”', '」', '…', '．', '）', '"']);
    let set_in = lines.indented && lines.is_flush(at);
    let parted = !lines.indented
        && (at <= 2 || ended(lines.at(at - 1)) || headings::candidate(lines.at(at - 1)).is_some())
        && words.chars().count() <= 12;
    let below = (at + 1..at + 3).map(|next| lines.at(next)).find(|line| !line.is_empty()).unwrap_or_default();
    let one = || headings::candidate(below).is_some_and(|below| below.number == Some(1));
    (set_in || parted) && (below.chars().take(16).count() == 16 || one())
}

/// Returns the names listed in the table of contents.
fn listed(lines: &Lines) -> BTreeSet<String> {
    /// The maximum number of lines of the table that are read.
    const MAX_LINES: usize = 400;
    let head = (0..=lines.len() / 2).find(|at| {
        let words = lines.at(*at);
        words.len() <= 40 && !words.is_empty() && boilerplate_kind_of_title(words) == Some(BoilerplateKind::Contents)
    });
    let Some(head) = head else { return BTreeSet::new() };
    let mut names = BTreeSet::new();
    for at in (head + 1..lines.len()).take(MAX_LINES) {
        let line = lines.at(at);
        if line.len() > 200 || (!line.is_empty() && lines.is_blank(at - 1) && lines.opens_prose(at, lines.len())) {
            break;
        }
        let entry = line.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '·' | '…' | ' ' | '\t'));
        let name = letters_and_digits(entry);
        if name.chars().count() >= 2 {
            names.insert(name);
        }
        // The number may be left out over the text.
        if let Some((number, rest)) = entry.split_once(['.', '、', ' ', '\u{3000}', '\t'])
            && headings::number(number).is_some()
        {
            names.insert(letters_and_digits(rest));
        }
    }
    names.remove("");
    names
}

/// Finds named pieces before the first chapter, each with prose directly below it.
fn fronts(known: &[Heading], lines: &Lines, book: &str) -> Vec<Heading> {
    let Some(first) = known.iter().position(|heading| heading.candidate.level != Level::Front) else {
        return Vec::new();
    };
    let end = known[first].line;
    if lines.between(0, end) < title_patterns::MIN_TEXT {
        return Vec::new();
    }
    let found = title_lines(&known[..first], lines, (0, end), &BTreeSet::new(), &title_patterns::CAPITALS);
    let own = letters_and_digits(book);
    let mut fronts = Vec::new();
    for (nth, line) in found.iter().enumerate() {
        let next = found.get(nth + 1).map_or(end, |next| next.at);
        let other = known.get(known.partition_point(|heading| heading.line <= line.at));
        let next = other.map_or(next, |other| next.min(other.line));
        let opening = lines.paragraph(line.at + 1, next);
        let long = lines.between(line.at, next) >= title_patterns::MIN_TEXT;
        if line.name != own && long && prose::is_prose(&opening) && !is_credit(&opening) {
            let candidate = Candidate { level: Level::Front, ..line.candidate.clone() };
            fronts.push(heading(line, lines, candidate));
        }
    }
    fronts
}
