//! Finds the lines that may be headings, by the heading rules and the space around them.
//!
//! Does not compare candidates with each other; `sequence` does.

use super::headings::{self, Candidate, Room, Strength};
use super::lines::{Lines, has_leader};
use super::title_patterns;
use crate::books::{MAX_HEADINGS, is_scene_heading};
use crate::schema::{Book, Level};
use crate::text::{is_han, single_spaced};

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
        if headings.len() > MAX_HEADINGS {
            return Vec::new();
        }
        let words = lines.at(at);
        if words.is_empty() || has_leader(words) || headings.last().is_some_and(|before| at <= before.last) {
            continue;
        }
        if markdown && let Some((depth, rest)) = hashes(words) {
            if let Some(candidate) = depths.candidate(depth, rest, book.script) {
                headings.push(Heading { candidate, line: at, last: at, title: rest.to_owned() });
            }
            continue;
        }
        if book.script && is_scene_heading(words) && (at == 0 || lines.is_blank(at - 1)) {
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
                    let candidate = unnumbered(Level::Scene);
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
            if candidate.titled || !candidate.story { (single_spaced(words), at) } else { with_title(lines, at) };
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

/// Whether a line closes a bracket that an earlier line opened, as the caption of a picture does.
fn closes_bracket(line: &str) -> bool {
    line.ends_with([']', '］']) && !line.contains(['[', '［'])
}

/// Joins a heading with the title on the next line, or after one blank line, if there is one.
fn with_title(lines: &Lines, at: usize) -> (String, usize) {
    let own = lines.at(at);
    let alone = || (single_spaced(own), at);
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
    // A Chinese full stop inside means that it is a sentence.
    let is_sentence = title.contains('。');
    // A quotation after a blank line more often opens the text than is a title.
    let quoted = title.ends_with(['”', '"', '’', '」']) && below != at + 1;
    // Without blank lines: a line in the form of a title with a long line below it.
    let packed = below == at + 1
        && lines.at(below + 1).chars().take(16).count() == 16
        && ((lines.dense && (title_patterns::is_unnumbered_title(title) || (title_patterns::NAMES.matches)(title)))
            || (lines.is_short(below) && (loud || !lines.indented || !lines.is_flush(below + 1))));
    if letters == 0 || !short || !begins || !ends || is_sentence || quoted || !(packed || lines.is_blank(below + 1)) {
        return alone();
    }
    let another =
        has_leader(title) || headings::candidate(title).is_some() || is_scene_heading(title) || hashes(title).is_some();
    let reach = if loud { 10 } else { 4 };
    let text_follows = (below + 1..below + reach).any(|next| !lines.is_blank(next));
    if another || !text_follows { alone() } else { (single_spaced(&format!("{own} {printed}")), below) }
}

/// Splits a Markdown heading into depth and text.
fn hashes(line: &str) -> Option<(usize, &str)> {
    let rest = line.trim_start_matches('#');
    let depth = line.len() - rest.len();
    ((1..=6).contains(&depth) && rest.starts_with(' ') && !rest.trim().is_empty()).then(|| (depth, rest.trim()))
}

const fn unnumbered(level: Level) -> Candidate {
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
    fn candidate(&self, depth: usize, title: &str, script: bool) -> Option<Candidate> {
        if let Some(candidate) = headings::candidate(title).filter(|candidate| candidate.strength == Strength::Strong) {
            return Some(Candidate { room: Room::Any, titled: true, ..candidate });
        }
        let top = self.0.iter().position(|count| *count > 0)?;
        let deeper = self.0[top + 1..].iter().any(|count| *count > 0);
        if script {
            return Some(unnumbered(if depth == top && deeper { Level::Act } else { Level::Scene }));
        }
        let titled = self.0[top] == 1 && deeper;
        let chapters = if deeper { top + 1 + self.0[top + 1..].iter().position(|count| *count > 0)? } else { top };
        match depth {
            _ if depth == top && titled => None,
            _ if depth == chapters => Some(unnumbered(Level::Chapter)),
            _ if depth < chapters => Some(unnumbered(Level::Part)),
            _ => None,
        }
    }
}
