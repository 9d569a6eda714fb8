//! Finds the lines that may be headings, by the heading rules and the space around them.
//!
//! Does not compare candidates with each other; `sequence` does.

use super::boilerplate::{self, Body};
use super::headings::{self, Candidate, Room, Strength};
use super::title_patterns;
use crate::schema::{Book, Level};
use crate::text::{Shape, is_han, is_wrapped};

/// The lines of a book's body.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    /// The text of the book up to the end of its body.
    text: &'a str,
    /// The start of each line, in bytes. Nothing else is stored per line, since a book may consist of line breaks only.
    starts: Vec<u32>,
    /// The byte ranges between two books in the file. Lines in them are treated as blank.
    holes: &'a [(usize, usize)],
    /// Whether each line is a paragraph, or blank lines are too rare to separate headings.
    pub(crate) dense: bool,
    /// Whether paragraphs start with an indent, so that a line without one is not a paragraph.
    pub(crate) indented: bool,
    /// The length of full lines in bytes, for Latin text that is hard-wrapped and has almost no blank lines.
    full: Option<usize>,
}

impl<'a> Lines<'a> {
    pub(crate) fn of(text: &'a str, body: &'a Body) -> Self {
        let mut at = body.start;
        let starts = text[body.start..body.end].split_inclusive('\n').map(|line| {
            let begun = at;
            at += line.len();
            u32::try_from(begun).expect("a book has fewer than 2³² bytes")
        });
        let (text, holes) = (&text[..body.end], &body.holes);
        let mut lines = Self { text, starts: starts.collect(), holes, dense: false, indented: false, full: None };
        lines.look();
        lines
    }

    /// Detects the layout of the text.
    fn look(&mut self) {
        let (start, end) = (self.start(0), self.end());
        let lines = || self.text[start..end].split_inclusive('\n');
        let (mut filled, mut indented, mut han) = (0_usize, 0_usize, 0_usize);
        for line in lines().filter(|line| !line.trim_start().is_empty()) {
            filled += 1;
            indented += usize::from(line.starts_with(char::is_whitespace));
            han += usize::from(line.trim_start().starts_with(|c: char| !c.is_ascii()));
        }
        let blank = self.len() - filled;
        // Chinese books hard-wrap lines without any blank lines.
        let wrapped = || is_wrapped(&lines().map(Shape::of_line).collect::<Vec<_>>());
        let rare = blank * 2 < filled;
        self.dense = rare && (han * 2 > filled || !wrapped());
        self.indented = indented * 8 > filled && indented < filled;
        if rare && !self.dense && blank * 10 < filled {
            let mut lengths: Vec<usize> = (0..self.len()).map(|at| self.whole(at).len()).collect();
            let nine_of_ten = lengths.len() * 9 / 10;
            self.full = Some(*lengths.select_nth_unstable(nine_of_ten).1);
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns a line without its line break; empty after the last line.
    fn whole(&self, at: usize) -> &'a str {
        let Some(start) = self.starts.get(at) else { return "" };
        let start = *start as usize;
        let holes = &self.holes[..self.holes.partition_point(|hole| hole.0 <= start)];
        if holes.last().is_some_and(|hole| start < hole.1) {
            return "";
        }
        let end = self.starts.get(at + 1).map_or(self.text.len(), |next| *next as usize);
        self.text[start..end].trim_end_matches(['\n', '\r'])
    }

    /// Returns a line without surrounding white space; empty after the last line.
    pub(crate) fn at(&self, at: usize) -> &'a str {
        self.whole(at).trim()
    }

    pub(crate) fn is_blank(&self, at: usize) -> bool {
        self.at(at).is_empty()
    }

    /// Whether a line is blank or contains only a drawn rule.
    fn is_clear(&self, at: usize) -> bool {
        let words = self.at(at);
        words.bytes().all(|byte| matches!(byte, b'-' | b'=' | b'*' | b'_' | b'~' | b'#' | b'+' | b' '))
    }

    /// In hard-wrapped text without blank lines: whether the previous line ends there, rather than continuing on this
    /// one.
    fn is_parted(&self, at: usize) -> bool {
        self.full.is_some() && (at == 0 || self.is_short(at - 1) || ends_sentence(self.at(at - 1)))
    }

    /// In hard-wrapped text without blank lines: whether a line is much shorter than the full width.
    fn is_short(&self, at: usize) -> bool {
        self.full.is_some_and(|full| self.at(at).len() * 10 < full * 6)
    }

    /// Whether a line has no indent.
    pub(crate) fn is_flush(&self, at: usize) -> bool {
        at < self.len() && !self.whole(at).starts_with(char::is_whitespace)
    }

    /// Returns the start of a line, in bytes; after the last line, the end of the text.
    pub(crate) fn start(&self, at: usize) -> usize {
        self.starts.get(at).map_or_else(|| self.end(), |start| *start as usize)
    }

    /// Returns the number of bytes between the end of one line and the start of another.
    pub(crate) fn between(&self, last: usize, next: usize) -> usize {
        let end = if last < self.len() { self.start(last) + self.whole(last).len() } else { 0 };
        self.start(next).saturating_sub(end)
    }

    /// Whether the first paragraph of a range of lines is prose.
    pub(crate) fn opens_prose(&self, start: usize, end: usize) -> bool {
        boilerplate::is_prose(&self.paragraph(start, end))
    }

    /// Returns the first lines (at most 40) of the first paragraph of a range.
    pub(crate) fn paragraph(&self, start: usize, end: usize) -> String {
        let Some(first) = (start..end).find(|at| !self.is_blank(*at)) else { return String::new() };
        let mut paragraph = String::new();
        // Without blank lines, a paragraph ends with its line, or before the next indent.
        let goes_on = |at: usize| at == first || !self.dense || (self.indented && self.is_flush(at));
        for at in (first..end).take_while(|at| !self.is_blank(*at) && goes_on(*at)).take(40) {
            paragraph.push_str(self.at(at));
            paragraph.push('\n');
        }
        paragraph
    }

    /// Returns the end of the last line, in bytes.
    fn end(&self) -> usize {
        self.len().checked_sub(1).map_or(0, |last| self.starts[last] as usize + self.whole(last).len())
    }
}

/// A candidate heading with its position.
#[derive(Debug, Clone)]
pub(crate) struct Heading {
    pub(crate) candidate: Candidate,
    /// The index of its first line, and of its last line.
    pub(crate) line: usize,
    pub(crate) last: usize,
    pub(crate) title: String,
}

/// Returns the lines that may be headings and have the space around them that their rule requires. Returns none if
/// there are more than a book can have.
pub(crate) fn found(book: &Book, lines: &Lines) -> Vec<Heading> {
    let dense = lines.dense;
    let markdown = book.script
        || book.path.to_ascii_lowercase().ends_with(".md")
        || (0..lines.len()).filter(|at| hashes(lines.at(*at)).is_some()).count() >= 3;
    let depths = Depths::of((0..lines.len()).filter(|_| markdown).filter_map(|at| hashes(lines.at(at))));
    let mut headings: Vec<Heading> = Vec::new();
    for at in 0..lines.len() {
        if headings.len() > headings::MOST {
            return Vec::new();
        }
        let words = lines.at(at);
        if words.is_empty() || has_leader(words) || headings.last().is_some_and(|before| at <= before.last) {
            continue;
        }
        if markdown && let Some((depth, rest)) = hashes(words) {
            if let Some(candidate) = depths.open(depth, rest, book.script) {
                headings.push(Heading { candidate, line: at, last: at, title: rest.to_owned() });
            }
            continue;
        }
        if book.script && headings::is_slugline(words) && (at == 0 || lines.is_blank(at - 1)) {
            match headings.last_mut() {
                // A slug line directly below a numbered scene is its title.
                Some(scene)
                    if scene.candidate.level == Level::Scene
                        && (scene.last + 1..at).all(|between| lines.is_blank(between)) =>
                {
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
        let before = at == 0 || lines.is_clear(at - 1) || headings.last().is_some_and(|heading| heading.last + 1 == at);
        let parted = !before && lines.is_parted(at);
        // English headings never occur inside a paragraph.
        if !before && !dense && !parted && words.starts_with(|c: char| c.is_ascii()) {
            continue;
        }
        let Some(candidate) = headings::candidate(words).filter(|_| !closes_bracket(words)) else { continue };
        let (title, last) =
            if candidate.titled || !candidate.story { (one_line(words), at) } else { with_title(lines, at) };
        let room = match candidate.room {
            Room::Any => true,
            Room::Before | Room::Alone if dense => true,
            // Between unseparated lines, a bare number is as often a page number as a chapter number.
            Room::Before if candidate.strength != Strength::Sequence => before || parted,
            Room::Before => before,
            Room::Alone if candidate.strength == Strength::Strong && lines.is_short(last) => before || parted,
            // A number and the title below it share the blank lines around them.
            Room::Alone => before && lines.is_clear(last + 1),
        };
        if room {
            headings.push(Heading { candidate, line: at, last, title });
        }
    }
    headings
}

/// Whether a line ends like a sentence.
fn ends_sentence(line: &str) -> bool {
    line.ends_with(['.', '!', '?', '”', '"', '’', '\'', '*', '-', '—'])
}

/// Whether a line closes a bracket that an earlier line opened, as the caption of a picture does.
fn closes_bracket(line: &str) -> bool {
    line.ends_with([']', '］']) && !line.contains(['[', '［'])
}

/// Joins a heading with the title on the next line, or after one blank line, if there is one.
fn with_title(lines: &Lines, at: usize) -> (String, usize) {
    let own = lines.at(at);
    let alone = || (one_line(own), at);
    let below = if lines.is_blank(at + 1) { at + 2 } else { at + 1 };
    let printed = lines.at(below);
    let title = headings::bare(printed);
    if title.len() > 400 {
        return alone();
    }
    let letters = title.chars().filter(|c| c.is_alphabetic()).count();
    let loud = headings::is_loud(title);
    let short =
        title.chars().count() <= if loud { 120 } else { 70 } && title.chars().filter(|c| is_han(*c)).count() <= 24;
    let begins = title.starts_with(|c: char| c.is_uppercase() || is_han(c) || matches!(c, '“' | '‘' | '"'));
    // A full stop may end a title if the book puts one after each heading.
    let stopped = title.ends_with('.') && (loud || (below == at + 1 && own.ends_with('.')));
    let ends = stopped || !title.ends_with(['.', ',', ';', ':', '!', '。', '，', '；', '：', '！', '—', '-']);
    // A quotation after a blank line more often opens the text than is a title.
    // A Chinese full stop inside means that it is a sentence.
    let told = title.contains('。');
    let quoted = title.ends_with(['”', '"', '’', '」']) && below != at + 1;
    // Without blank lines: a line in the form of a title with a long line below it.
    let packed = below == at + 1
        && lines.at(below + 1).chars().take(16).count() == 16
        && ((lines.dense && (title_patterns::title(title) || (title_patterns::NAMES.fits)(title)))
            || (lines.is_short(below) && (loud || !lines.indented || !lines.is_flush(below + 1))));
    if letters == 0 || !short || !begins || !ends || told || quoted || !(packed || lines.is_blank(below + 1)) {
        return alone();
    }
    let another = has_leader(title)
        || headings::candidate(title).is_some()
        || headings::is_slugline(title)
        || hashes(title).is_some();
    let reach = if loud { 10 } else { 4 };
    let text_follows = (below + 1..below + reach).any(|next| !lines.is_blank(next));
    if another || !text_follows { alone() } else { (one_line(&format!("{own} {printed}")), below) }
}

/// Puts a heading on one line with single spaces.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a line ends in a page number after a dot leader or in brackets, as in a table of contents.
pub(crate) fn has_leader(line: &str) -> bool {
    let line = line.trim_end_matches([']', '）']);
    let rest = line.trim_end_matches(|c: char| c.is_ascii_digit());
    if rest.len() == line.len() {
        return false;
    }
    let dots = rest.chars().rev().take_while(|c| matches!(c, '.' | ' ' | '·' | '…' | '\t'));
    let leader = dots.filter(|c| matches!(c, '.' | '·' | '…')).count() >= 2;
    leader || rest.strip_suffix(['[', '（']).is_some_and(|rest| rest.contains(char::is_alphabetic))
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

/// The number of Markdown headings per depth. The meaning of a depth depends on the others.
struct Depths([usize; 7]);

impl Depths {
    fn of<'a>(headings: impl Iterator<Item = (usize, &'a str)>) -> Self {
        let mut counts = [0; 7];
        for (depth, _) in headings {
            counts[depth] += 1;
        }
        Self(counts)
    }

    /// Returns what a heading opens: by its words, or else by depth. A single heading above all others is the book's
    /// title.
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
