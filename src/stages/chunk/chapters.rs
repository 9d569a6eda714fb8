//! A book's chapters: which of the lines that may be headings are. Splits nothing; `chunks` does.

use std::collections::{BTreeMap, BTreeSet};

use super::chunks;
use super::headings::{self, Candidate, Room, Strength};
use super::{matter, structure};
use crate::schema::{Book, Chapter, Format, Level};
use crate::text::is_han;

/// A line of the book, in bytes, its end without the line break.
#[derive(Debug, Clone, Copy)]
struct Line {
    start: usize,
    end: usize,
}

/// A heading on its way to a chapter.
#[derive(Debug, Clone)]
struct Heading {
    candidate: Candidate,
    /// Index of its line, and of the last line that belongs to it.
    line: usize,
    last: usize,
    title: String,
}

/// Returns the book's headings, each with the text up to the next, in order. A table of contents has no part in them,
/// nor has what a distributor put around the book. What the book's format marks goes before what its lines look like. One pass over the lines; offsets in code points are counted on the way.
#[must_use]
pub fn chapters(book: &Book) -> Vec<Chapter> {
    let mut chapters = structure::chapters(book).unwrap_or_else(|| by_lines(book));
    if book.format == Format::Epub {
        // An EPUB has pages; its lines are ours.
        for chapter in &mut chapters {
            chapter.line = None;
        }
    }
    chapters
}

/// Finds the headings among the lines.
fn by_lines(book: &Book) -> Vec<Chapter> {
    let text = book.text.as_str();
    let (body_start, body_end) = matter::body(text);
    let lines: Vec<Line> = lines(text, body_start, body_end);
    let line_before = text[..body_start].matches('\n').count();
    let number_of = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let (mut byte, mut point) = (0, 0_u32);
    let mut point_at = |at: usize| {
        point += count(&text[byte..at]);
        byte = at;
        point
    };
    let mut chapters: Vec<Chapter> = Vec::new();
    let mut headings = stand(found(book, &lines), text, &lines);
    if !book.script && headings.iter().all(|heading| rank(heading.candidate.level) < 2 || !opens_chapter(heading)) {
        headings.extend(titles(text, &lines, &headings));
        headings.sort_by_key(|heading| heading.line);
    }
    for (index, heading) in headings.into_iter().enumerate() {
        let start = point_at(lines[heading.line].start);
        if let Some(before) = chapters.last_mut() {
            before.end = start;
        }
        chapters.push(Chapter {
            book: book.slug.clone(),
            index: number_of(index),
            level: heading.candidate.level,
            number: heading.candidate.number,
            title: heading.title,
            line: Some(number_of(line_before + heading.line + 1)),
            start,
            end: start,
        });
    }
    let body_end = point_at(body_end);
    if let Some(last) = chapters.last_mut() {
        last.end = body_end;
    }
    chapters
}

const fn opens_chapter(heading: &Heading) -> bool {
    matches!(heading.candidate.level, Level::Chapter | Level::Letter | Level::Scene)
}

/// Finds titles that stand as headings by their form alone: lines of their own, each another, each with a text below it
/// that is long enough for a chapter. Three make a rule; fewer are chance.
fn titles(text: &str, lines: &[Line], known: &[Heading]) -> Vec<Heading> {
    /// The least text of a chapter, in bytes.
    const LEAST: usize = 600;
    let of = |at: usize| lines.get(at).map_or("", |line| text[line.start..line.end].trim());
    let taken: BTreeSet<usize> = known.iter().flat_map(|heading| heading.line..=heading.last).collect();
    let mut titles: Vec<Heading> = Vec::new();
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for (at, line) in lines.iter().enumerate() {
        let words = of(at);
        if words.is_empty() || words.len() > 100 || has_leader(words) {
            continue;
        }
        let alone = (at == 0 || of(at - 1).is_empty()) && of(at + 1).is_empty();
        let Some(candidate) = headings::title(words).filter(|_| alone) else { continue };
        if taken.contains(&at) {
            continue;
        }
        // Of several in a row the last opens the text.
        if titles.last().is_some_and(|before| line.start < lines[before.last].end + LEAST) {
            titles.pop();
        }
        titles.push(Heading { candidate, line: at, last: at, title: one_line(words) });
    }
    // The last one may be a signature, or `THE END` in other words.
    let end = lines.last().map_or(0, |line| line.end);
    if titles.last().is_some_and(|last| end < lines[last.last].end + LEAST) {
        titles.pop();
    }
    for title in &titles {
        *times.entry(title.title.to_uppercase()).or_default() += 1;
    }
    // What comes again and again names who speaks or runs over every page.
    titles.retain(|title| times[&title.title.to_uppercase()] == 1);
    if titles.len() < 3 {
        titles.clear();
    }
    titles
}

/// Returns how many code points a text has.
pub(super) fn count(text: &str) -> u32 {
    u32::try_from(text.chars().count()).unwrap_or(u32::MAX)
}

fn lines(text: &str, start: usize, end: usize) -> Vec<Line> {
    let mut at = start;
    text[start..end]
        .split_inclusive('\n')
        .map(|line| {
            let begun = at;
            at += line.len();
            Line { start: begun, end: begun + line.trim_end_matches(['\n', '\r']).len() }
        })
        .collect()
}

/// Finds the lines that may be headings and have the room around them that their rule asks for.
fn found(book: &Book, lines: &[Line]) -> Vec<Heading> {
    let text = book.text.as_str();
    let of = |line: &Line| text[line.start..line.end].trim();
    let blank = |at: usize| lines.get(at).is_none_or(|line| of(line).is_empty());
    let dense = is_dense(text, lines);
    let markdown = book.script
        || book.path.to_ascii_lowercase().ends_with(".md")
        || lines.iter().filter(|line| hashes(of(line)).is_some()).count() >= 3;
    let depths = Depths::of(lines.iter().filter(|_| markdown).filter_map(|line| hashes(of(line))));
    let mut headings: Vec<Heading> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let words = of(line);
        if words.is_empty() || has_leader(words) || headings.last().is_some_and(|before| at <= before.last) {
            continue;
        }
        if markdown && let Some((depth, rest)) = hashes(words) {
            if let Some(candidate) = depths.open(depth, rest, book.script) {
                headings.push(Heading { candidate, line: at, last: at, title: rest.to_owned() });
            }
            continue;
        }
        if book.script && headings::is_slugline(words) && (at == 0 || blank(at - 1)) {
            match headings.last_mut() {
                // A slug line straight below a numbered scene is its title.
                Some(scene) if scene.candidate.level == Level::Scene && (scene.last + 1..at).all(&blank) => {
                    scene.title = format!("{} {words}", scene.title);
                    scene.last = at;
                }
                _ => {
                    let candidate = plain(Level::Scene);
                    headings.push(Heading { candidate, line: at, last: at, title: words.to_owned() });
                }
            }
            continue;
        }
        let before = at == 0 || blank(at - 1) || headings.last().is_some_and(|heading| heading.last + 1 == at);
        // No rule of English takes a line within a paragraph.
        if !before && !dense && words.starts_with(|c: char| c.is_ascii()) {
            continue;
        }
        let Some(candidate) = headings::candidate(words) else { continue };
        let room = match candidate.room {
            Room::Any => true,
            Room::Before | Room::Alone if dense => true,
            Room::Before => before,
            Room::Alone => before && blank(at + 1),
        };
        if !room {
            continue;
        }
        let (title, last) =
            if candidate.titled || !candidate.story { (one_line(words), at) } else { with_title(text, lines, at) };
        headings.push(Heading { candidate, line: at, last, title });
    }
    headings
}

/// Whether each line is a paragraph and blank lines are rare, so that a heading has no room around it.
fn is_dense(text: &str, lines: &[Line]) -> bool {
    let lines: Vec<&str> = lines.iter().map(|line| &text[line.start..line.end]).collect();
    let filled = lines.iter().filter(|line| !line.trim().is_empty()).count();
    let blank = lines.len() - filled;
    blank * 2 < filled && !chunks::is_wrapped(&lines)
}

/// Joins a heading with the title on the line below it, or below one blank line, where one stands there.
fn with_title(text: &str, lines: &[Line], at: usize) -> (String, usize) {
    let of = |at: usize| lines.get(at).map_or("", |line| text[line.start..line.end].trim());
    let alone = (one_line(of(at)), at);
    let below = if of(at + 1).is_empty() { at + 2 } else { at + 1 };
    let title = of(below);
    let letters = title.chars().filter(|c| c.is_alphabetic()).count();
    let short = title.chars().count() <= 70 && title.chars().filter(|c| is_han(*c)).count() <= 24;
    let begins = title.starts_with(|c: char| c.is_uppercase() || is_han(c) || matches!(c, '“' | '‘' | '"'));
    let ends = !title.ends_with(['.', ',', ';', ':', '!', '。', '，', '；', '：', '！', '—', '-']);
    // A line of dialogue in quotation marks opens a text as well as a title does: only one straight below is a title.
    let quoted = title.ends_with(['”', '"', '’', '」']) && below != at + 1;
    let another = has_leader(title)
        || headings::candidate(title).is_some()
        || headings::is_slugline(title)
        || hashes(title).is_some();
    let text_follows = (below + 1..below + 4).any(|next| !of(next).is_empty());
    if letters > 0 && short && begins && ends && !quoted && !another && of(below + 1).is_empty() && text_follows {
        (one_line(&format!("{} {title}", of(at))), below)
    } else {
        alone
    }
}

/// Puts a heading into one line with single blanks.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a line ends in a leader and a page number, as in a table of contents.
fn has_leader(line: &str) -> bool {
    let rest = line.trim_end_matches(|c: char| c.is_ascii_digit());
    let dots = rest.chars().rev().take_while(|c| matches!(c, '.' | ' ' | '·' | '…' | '\t'));
    rest.len() < line.len() && dots.filter(|c| matches!(c, '.' | '·' | '…')).count() >= 2
}

/// Splits a Markdown heading into depth and text.
fn hashes(line: &str) -> Option<(usize, &str)> {
    let rest = line.trim_start_matches('#');
    let depth = line.len() - rest.len();
    ((1..=6).contains(&depth) && rest.starts_with(' ') && !rest.trim().is_empty()).then(|| (depth, rest.trim()))
}

const fn plain(level: Level) -> Candidate {
    Candidate {
        level,
        number: None,
        titled: true,
        strength: Strength::Strong,
        room: Room::Any,
        story: true,
        rule: usize::MAX,
        section: false,
    }
}

/// How often each depth of Markdown heading is used: what a depth means depends on the others.
struct Depths([usize; 7]);

impl Depths {
    fn of<'a>(headings: impl Iterator<Item = (usize, &'a str)>) -> Self {
        let mut counts = [0; 7];
        for (depth, _) in headings {
            counts[depth] += 1;
        }
        Self(counts)
    }

    /// Says what a heading opens: what its words say; else by depth. A lone heading above the others is the book's title.
    fn open(&self, depth: usize, title: &str, script: bool) -> Option<Candidate> {
        if let Some(candidate) = headings::candidate(title).filter(|candidate| candidate.strength == Strength::Strong) {
            return Some(Candidate { room: Room::Any, titled: true, ..candidate });
        }
        let top = self.0.iter().position(|count| *count > 0)?;
        let deeper = self.0[top + 1..].iter().any(|count| *count > 0);
        if script {
            return Some(plain(if depth == top && deeper { Level::Act } else { Level::Scene }));
        }
        let titled = self.0[top] == 1 && deeper;
        let chapters = if deeper { top + 1 + self.0[top + 1..].iter().position(|count| *count > 0)? } else { top };
        match depth {
            _ if depth == top && titled => None,
            _ if depth == chapters => Some(plain(Level::Chapter)),
            _ if depth < chapters => Some(plain(Level::Part)),
            _ => None,
        }
    }
}

/// Chooses, of the lines that may be headings, those that are.
fn stand(found: Vec<Heading>, text: &str, lines: &[Line]) -> Vec<Heading> {
    let strong_chapters = found
        .iter()
        .filter(|heading| {
            heading.candidate.strength == Strength::Strong
                && matches!(heading.candidate.level, Level::Chapter | Level::Letter | Level::Scene)
                && !heading.candidate.section
        })
        .count();
    let found: Vec<Heading> = found
        .into_iter()
        .filter(|heading| match heading.candidate.strength {
            Strength::Strong => !heading.candidate.section || strong_chapters == 0,
            Strength::Next | Strength::Title => true,
            Strength::Sequence => strong_chapters < 2,
        })
        .collect();
    let found = without_contents(found, text, lines);
    in_sequence(&found)
}

const fn rank(level: Level) -> u8 {
    match level {
        Level::Volume => 0,
        Level::Part | Level::Act => 1,
        Level::Front | Level::Back | Level::Chapter | Level::Letter | Level::Scene => 2,
    }
}

/// Drops runs of headings that have no text between them: they are a table of contents. What ends such a run and opens
/// a text (a part and its first chapter, say) stays.
fn without_contents(found: Vec<Heading>, text: &str, lines: &[Line]) -> Vec<Heading> {
    let bare = |at: usize| {
        let next = found[at + 1].line;
        let between = lines[found[at].last + 1..next].iter().map(|line| text[line.start..line.end].trim());
        let mut letters = 0;
        for line in between.filter(|line| !line.is_empty() && !has_leader(line)) {
            letters += line.chars().count();
            if letters > 160 || line.ends_with(['.', '!', '?', '。', '！', '？', '”', '’', '」', '．']) {
                return false;
            }
        }
        true
    };
    // Where each number stands last.
    let mut latest: BTreeMap<(Level, Option<u32>), usize> = BTreeMap::new();
    latest.extend(found.iter().enumerate().map(|(at, heading)| (key(heading), at)));
    let mut drop = vec![false; found.len()];
    let mut start = 0;
    while start < found.len() {
        let mut end = start;
        while end + 1 < found.len() && bare(end) {
            end += 1;
        }
        let mut keep = end;
        while keep > start && rank(found[keep - 1].candidate.level) < rank(found[keep].candidate.level) {
            keep -= 1;
        }
        let run = keep - start;
        if run >= 2 {
            drop[start..keep].fill(true);
            // When prose that has no heading follows, the last line of the table would open it.
            let (last, before) = (&found[end].candidate, &found[end - 1].candidate);
            let goes_on = keep == end && last.level == before.level && last.number > before.number;
            let again = latest[&key(&found[end])] > end;
            if goes_on && again && last.number.is_some() {
                drop[end] = true;
            }
        }
        start = end + 1;
    }
    let mut drop = drop.into_iter();
    found.into_iter().filter(|_| !drop.next().unwrap_or(false)).collect()
}

const fn key(heading: &Heading) -> (Level, Option<u32>) {
    (heading.candidate.level, heading.candidate.number)
}

/// Returns, for each heading, the number of the next of its level that has one, where no part comes between.
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

/// Drops what breaks the count: a heading that repeats the one before it, a bare number that is not the next.
fn in_sequence(found: &[Heading]) -> Vec<Heading> {
    // Of the rules that need a sequence, the one with the longest stands alone: page numbers do not mix with chapters.
    let length = |rule: usize| {
        let numbers = found.iter().filter(|heading| heading.candidate.rule == rule);
        numbers.fold((0, 0), |(count, last), heading| match heading.candidate.number {
            Some(number) if follows(last, number) => (count + 1, number),
            Some(1) => (count + 1, 1),
            _ => (count, last),
        })
    };
    let mut rules: Vec<usize> = found
        .iter()
        .filter(|heading| heading.candidate.strength == Strength::Sequence)
        .map(|heading| heading.candidate.rule)
        .collect();
    rules.sort_unstable();
    rules.dedup();
    let best = rules.iter().copied().max_by_key(|rule| length(*rule).0).filter(|rule| length(*rule).0 >= 2);
    let mut kept: Vec<Heading> = Vec::with_capacity(found.len());
    let mut last: Option<u32> = None;
    // The level of the last number, and whether a part has come since.
    let (mut last_level, mut since) = (None, true);
    for (heading, next) in found.iter().zip(next_numbers(found)) {
        let candidate = &heading.candidate;
        let higher = rank(candidate.level) < rank(Level::Chapter);
        let number = candidate.number;
        let gap = |step: u32| last.zip(next).is_some_and(|(last, next)| next == last + step);
        let in_place = number.zip(last).is_none_or(|(number, last)| follows(last, number));
        let below_part = kept.last().is_some_and(|before| rank(before.candidate.level) < 2);
        let stands = match candidate.strength {
            Strength::Strong if higher || number.is_none() || in_place => true,
            // Its number is a misprint when the count goes on behind it with one left out.
            Strength::Strong if gap(2) => true,
            // Said again: another heading all the same below a new part, or of another level.
            Strength::Strong if number == last => since || last_level != Some(candidate.level),
            // A mention of a chapter when the count goes on as if it were not there.
            Strength::Strong => below_part || !gap(1),
            Strength::Next => number.is_some() && number == last.map(|last| last + 1),
            Strength::Title => true,
            Strength::Sequence => {
                let restarted = number == Some(1) && kept.last().is_none_or(|before| rank(before.candidate.level) < 2);
                Some(candidate.rule) == best
                    && number.is_some_and(|number| restarted || follows(last.unwrap_or(0), number))
            }
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

/// Whether a number may come after another: one or two may be missing.
const fn follows(last: u32, number: u32) -> bool {
    number > last && number <= last + 3
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;
    use crate::schema::Language;

    fn headings(path: &str, text: &str) -> Vec<(String, Level, Option<u32>, u32)> {
        let book = read(path, text.as_bytes(), None).expect("reads");
        let of = |chapter: Chapter| (chapter.title, chapter.level, chapter.number, chapter.line.expect("a line"));
        chapters(&book).into_iter().map(of).collect()
    }

    fn titles(path: &str, text: &str) -> Vec<String> {
        headings(path, text).into_iter().map(|heading| heading.0).collect()
    }

    const PROSE: &str = "It rained on the weir all that night, and nobody slept.\n\n";

    #[test]
    fn a_title_may_stand_on_the_next_line() {
        let text = format!("CHAPTER I.\nLow Water\n\n{PROSE}CHAPTER II.\n\nHigh Water\n\n{PROSE}Chapter 3\n\n{PROSE}");
        let expected = [
            ("CHAPTER I. Low Water", Level::Chapter, Some(1), 1),
            ("CHAPTER II. High Water", Level::Chapter, Some(2), 6),
            ("Chapter 3", Level::Chapter, Some(3), 12),
        ];
        let expected = expected.map(|(title, level, number, line)| (title.to_owned(), level, number, line));
        assert_eq!(headings("a.txt", &text), expected);
    }

    #[test]
    fn a_table_of_contents_is_no_chapter() {
        let contents = "CONTENTS\n\nCHAPTER I. Low Water\nCHAPTER II. High Water\nCHAPTER III. No Water\n\n";
        let text = format!(
            "{contents}CHAPTER I. Low Water\n\n{PROSE}CHAPTER II. High Water\n\n{PROSE}CHAPTER III. No Water\n\n{PROSE}"
        );
        assert_eq!(titles("a.txt", &text).len(), 3);
        assert_eq!(headings("a.txt", &text)[0].3, 7);
        let dotted = format!("PART ONE\nThe Mill . . . 3\n\n1. MUD . . . 5\n\n{PROSE}");
        assert_eq!(titles("a.txt", &dotted), ["PART ONE"]);
        let zh = "第一回　看灯\n第二回　听雨\n第三回　过河\n\n第一回　看灯\n河上无风。\n第二回　听雨\n雨大。\n第三回　过河\n桥断了。\n";
        assert_eq!(headings("b.txt", zh).iter().map(|heading| heading.3).collect::<Vec<_>>(), [5, 7, 9]);
    }

    #[test]
    fn prose_after_a_table_of_contents_is_not_its_last_chapter() {
        let contents = "Chapter 1\n\nChapter 2\n\nChapter 3\n\n";
        let text = format!("{contents}{PROSE}Chapter 1\n\n{PROSE}Chapter 2\n\n{PROSE}Chapter 3\n\n{PROSE}");
        assert_eq!(headings("a.txt", &text).iter().map(|heading| heading.3).collect::<Vec<_>>(), [9, 13, 17]);
    }

    #[test]
    fn bare_numbers_need_their_neighbours() {
        let text = format!("1\n\n{PROSE}2\n\nThe Sluice\n\n{PROSE}He counted:\n\n9\n\n{PROSE}3\n\n{PROSE}");
        assert_eq!(titles("a.txt", &text), ["1", "2 The Sluice", "3"]);
        let roman = format!(
            "I. THE MILL\n\n{PROSE}II. THE WEIR\n\n{PROSE}I. Ho, ho! Was I funny\n\n{PROSE}III. THE END\n\n{PROSE}"
        );
        assert_eq!(titles("a.txt", &roman), ["I. THE MILL", "II. THE WEIR", "III. THE END"]);
        assert!(titles("a.txt", &format!("I\n\n{PROSE}")).is_empty());
        let zh = "一\n\n河上无风。\n\n二\n\n雨大。\n\n三\n\n桥断了。\n";
        assert_eq!(titles("b.txt", zh), ["一", "二", "三"]);
    }

    #[test]
    fn chinese_headings_need_no_blank_lines_and_may_lack_their_unit() {
        let zh = "楔子\n　　话说从前。\n第一章 归来\n　　他回来了。\n第二　他出门去\n　　他走了。\n第三章 远行\n　　第三章里说过的事，不再说。\n　　第三章远行——\n尾声\n　　完了。\n";
        assert_eq!(titles("b.txt", zh), ["楔子", "第一章 归来", "第二 他出门去", "第三章 远行", "尾声"]);
    }

    #[test]
    fn sections_open_chapters_only_alone() {
        let within = "第一章 归来\n他回来。\n第一节\n他坐下。\n第二节\n他起来。\n第二章 出门\n他走了。\n";
        assert_eq!(titles("b.txt", within), ["第一章 归来", "第二章 出门"]);
        assert_eq!(titles("b.txt", "第一节\n他坐下。\n第二节\n他起来。\n"), ["第一节", "第二节"]);
    }

    #[test]
    fn scripts_and_markdown_have_their_own_headings() {
        let play = "Title: Rain\n\n# Act One\n\n## Scene 1\n\nINT. SHED - NIGHT\n\nA shed.\n\nANNA\nRain.\n\nEXT. YARD - DAY\n\nMud.\n";
        let expected = [
            ("Act One", Level::Act, Some(1), 3),
            ("Scene 1 INT. SHED - NIGHT", Level::Scene, Some(1), 5),
            ("EXT. YARD - DAY", Level::Scene, None, 14),
        ];
        let expected = expected.map(|(title, level, number, line)| (title.to_owned(), level, number, line));
        assert_eq!(headings("a.fountain", play), expected);
        let markdown = format!("# Rain\n\n## Mud\n\n{PROSE}## Sun\n\n{PROSE}### A note\n\n{PROSE}");
        assert_eq!(titles("a.md", &markdown), ["Mud", "Sun"]);
    }

    #[test]
    fn a_distributors_header_and_licence_are_outside() {
        let text = format!(
            "Title: Rain\n\nChapter 9\n\nnoise.\n\n*** START OF THIS PROJECT GUTENBERG EBOOK RAIN ***\n\nChapter 1\n\n{PROSE}Chapter 2\n\n{PROSE}End of Project Gutenberg’s Rain\n\n*** END OF THIS PROJECT GUTENBERG EBOOK RAIN ***\n\nChapter 10\n\nlicence."
        );
        let book = read("a.txt", text.as_bytes(), None).expect("reads");
        let chapters = chapters(&book);
        assert_eq!(
            chapters.iter().map(|chapter| chapter.title.as_str()).collect::<Vec<_>>(),
            ["Chapter 1", "Chapter 2"]
        );
        let end: String = text.chars().skip(chapters[1].end as usize).take(14).collect();
        assert_eq!(end, "End of Project");
    }

    /// Some paragraphs of a chapter in a language.
    fn told(language: Language) -> String {
        match language {
            Language::En => PROSE.repeat(12),
            Language::Zh => "河上无风，水车不动，守夜的人都睡了。\n“谁在外头？”老周问。\n".repeat(9),
        }
    }

    #[test]
    fn headings_of_many_shapes_open_their_chapters() {
        let en: &[&[&str]] = &[
            &["Chapter the First", "Chapter the Second", "CHAPTER THE LAST"],
            &["CHAPTER XIII—THE WEIR", "CHAPTER XIV—THE TITLE", "CONCLUSION"],
            &["BOOK THE FIRST. SOWING", "CHAPTER I", "CHAPTER II", "BOOK THE SECOND", "CHAPTER I"],
            &["FIRST PART", "I", "II", "SECOND PART", "I", "II"],
            &["PART ONE", "1", "2", "PART TWO", "3", "4"],
            &["THE FIRST CHAPTER", "THE SECOND CHAPTER"],
            &["STAVE ONE", "STAVE TWO"],
            &["CANTO I", "CANTO II", "INTERLUDE", "CANTO III"],
            &["Chapter Ninety-Nine", "Chapter One Hundred", "CHAPTER ONE HUNDRED AND ONE MUD"],
            &["Chapter #1", "Chapter #2"],
            &["C H A P T E R  I", "C H A P T E R  I I"],
            &["== Chapter 1 ==", "_CHAPTER II_", "* Chapter 3 *"],
            &["ONE", "TWO", "THREE"],
            &["[1]", "[2]", "[3]"],
            &["- 1 -", "- 2 -", "- 3 -"],
            &["1 The Weir", "2 The Mill", "3 I Go Home"],
            &["I THE WEIR", "II THE MILL"],
            &["I. A WEIR", "II. A MILL"],
            &["LETTER THE FIRST", "LETTER THE SECOND"],
            &["DAY ONE", "DAY TWO"],
            &["THE RIVER", "MR. TARRANT", "AN OPEN ROAD"],
            &["PART ONE", "THE RIVER", "AN OPEN ROAD", "PART TWO", "MR. TARRANT"],
            &["ACT I. SCENE I. A street.", "ACT I. SCENE II. A room."],
            &["THE FIRST ACT", "THE SECOND ACT"],
            // A long heading in capitals.
            &[
                "CHAPTER I. IN WHICH THE FERRY COMES LATE, AND A LETTER IS GIVEN TO ONE WHO WAS NOT EXPECTED TO READ IT",
                "CHAPTER II. IN WHICH IT IS READ",
            ],
            // Misprints: a number said twice, and one that is no number.
            &["Chapter 1", "Chapter 2", "Chapter 2", "Chapter 4"],
            &["CHAPTER I", "CHAPTER II", "CHAPTER IIL", "CHAPTER IV"],
            &["CHAPTER I", "CHAPTER II", "CHAPTER VIII", "CHAPTER IV"],
        ];
        let zh: &[&[&str]] = &[
            &["卷之一", "卷之二", "卷之三"],
            &["第一百一十九回　看灯", "第一百二十回　听雨"],
            &["第９章", "第１０章"],
            &["第一〇二章", "第一零三章"],
            &["第廿九回 看灯", "第卅回 听雨", "第卅一回 过河！"],
            &["上部", "第一章", "第二章", "下部", "第三章"],
            &["上卷 春", "中卷 夏", "下卷 秋"],
            &["引子", "第一章 看灯", "番外 过河", "番外之二 断桥", "后记"],
            &["正文 第一章 看灯", "正文 第二章 听雨"],
            &["第一卷 春 第一章 看灯", "第一卷 春 第二章 听雨", "第二卷 秋 第三章 过河"],
            &["第一话 看灯", "第二话 听雨"],
            &["第一出 看灯", "第二出 听雨"],
            &["第一封信", "第二封信"],
            &["一、看灯", "二、听雨", "三、过河"],
            &["01 看灯", "02 听雨", "03 过河"],
            &["1.看灯", "2.听雨", "3.过河"],
            &["（一）", "（二）", "（三）"],
            &["1", "2", "3"],
            &["第一章", "第二章", "第二章", "第四章"],
        ];
        for (language, books) in [(Language::En, en), (Language::Zh, zh)] {
            let told = told(language);
            for heads in books {
                let text = heads.iter().flat_map(|head| [*head, "\n\n", &told, "\n"]).collect::<String>();
                assert_eq!(titles("a.txt", &text), heads.iter().map(|head| one_line(head)).collect::<Vec<_>>());
                if language == Language::Zh {
                    let dense = heads.iter().flat_map(|head| [*head, "\n", &told]).collect::<String>();
                    assert_eq!(titles("a.txt", &dense).len(), heads.len(), "{heads:?}");
                }
            }
        }
        let alone: String = ["看灯", "听雨", "过河"].map(|head| format!("{head}\n\n{}\n", told(Language::Zh))).concat();
        assert_eq!(titles("a.txt", &alone), ["看灯", "听雨", "过河"]);
    }

    #[test]
    fn a_part_and_its_chapter_in_one_line_are_the_chapter() {
        for (line, number) in [("第一卷 春 第二章 听雨", 2), ("ACT I. SCENE II.", 2), ("BOOK TWO, CHAPTER XI", 11)]
        {
            let candidate = headings::candidate(line).expect(line);
            assert!(matches!(candidate.level, Level::Chapter | Level::Scene), "{line}");
            assert_eq!(candidate.number, Some(number), "{line}");
        }
    }

    #[test]
    fn a_mention_of_a_chapter_is_no_heading() {
        let mention = "Chapter 9\n\nwas the one that she liked best.\n\n";
        let text = format!("Chapter 1\n\n{PROSE}{mention}Chapter 2\n\n{PROSE}Chapter 3\n\n{PROSE}");
        assert_eq!(titles("a.txt", &text), ["Chapter 1", "Chapter 2", "Chapter 3"]);
        let zh = "第一章 看灯\n河上无风。\n第九章\n是他最爱的。\n第二章 听雨\n雨大。\n第三章 过河\n桥断了。\n";
        assert_eq!(titles("b.txt", zh), ["第一章 看灯", "第二章 听雨", "第三章 过河"]);
    }

    #[test]
    fn lines_in_capitals_are_no_chapters_where_others_are() {
        let notice = format!("NO ENTRY\n\n{0}KEEP OUT\n\n{0}LAST WARNING\n\n{0}", told(Language::En));
        assert_eq!(
            titles("a.txt", &format!("Chapter 1\n\n{PROSE}{notice}Chapter 2\n\n{PROSE}")),
            ["Chapter 1", "Chapter 2"]
        );
        // Nor what is said again and again, nor two alone.
        let cue = format!("ANNA\n\n{}", told(Language::En)).repeat(6);
        assert!(titles("a.txt", &cue).is_empty());
    }

    #[test]
    fn offsets_are_code_points() {
        let text = "序\n河。\n第一回　看灯\n河上无风。\r\n第二回　听雨\n雨大。\n";
        let book = read("b.txt", text.as_bytes(), None).expect("reads");
        for chapter in chapters(&book) {
            let begun: String = text.chars().skip(chapter.start as usize).take(chapter.title.chars().count()).collect();
            assert_eq!(begun.replace('　', " "), chapter.title);
        }
    }

    #[test]
    fn the_shipped_play_has_its_scenes() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/books/forty_kilos_short.fountain");
        let book = read("forty_kilos_short.fountain", &std::fs::read(path).expect("shipped"), None).expect("reads");
        let levels: Vec<Level> = chapters(&book).iter().map(|chapter| chapter.level).collect();
        let act = [Level::Act, Level::Scene, Level::Scene, Level::Scene];
        assert_eq!((book.title.as_str(), book.script, levels), ("Forty Kilos Short", true, act.repeat(2)));
    }
}
