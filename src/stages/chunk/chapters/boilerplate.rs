//! Finds the boilerplate around a story: text added by a distributor, printer or transcriber.
//!
//! It is recognised by its headings and by marks of the book's format. It is left out of the chunks and listed with a
//! reason. Does not depend on how chapters are found.

use std::collections::BTreeSet;

use super::{headings, story_start};
use crate::books::reader::Points;
use crate::schema::{Book, Chapter, Level, Reject, RejectReason, Stage};

/// Reject reasons.
pub(crate) mod reasons {
    use crate::schema::RejectReason;

    pub(crate) const FRONT: RejectReason = RejectReason::FrontMatter;
    pub(crate) const BACK: RejectReason = RejectReason::BackMatter;
    pub(crate) const LICENCE: RejectReason = RejectReason::Licence;
    pub(crate) const CONTENTS: RejectReason = RejectReason::Contents;
    pub(crate) const ILLUSTRATIONS: RejectReason = RejectReason::Illustrations;
    pub(crate) const TRANSCRIBER: RejectReason = RejectReason::TranscriberNote;
    /// Part of the story that the pipeline file does not select.
    pub(crate) const NOT_CHOSEN: RejectReason = RejectReason::NotChosen;
}
use reasons::{BACK, CONTENTS, FRONT, ILLUSTRATIONS, LICENCE, NOT_CHOSEN, TRANSCRIBER};

/// Titles of pages outside the story, in lower case and without punctuation, with the reject reason.
const TITLES: &[(&str, RejectReason)] = &[
    ("contents", CONTENTS),
    ("content", CONTENTS),
    ("the contents", CONTENTS),
    ("table of contents", CONTENTS),
    ("list of contents", CONTENTS),
    ("list of chapters", CONTENTS),
    ("chapters", CONTENTS),
    ("目录", CONTENTS),
    ("目錄", CONTENTS),
    ("目次", CONTENTS),
    ("总目", CONTENTS),
    ("總目", CONTENTS),
    ("总目录", CONTENTS),
    ("總目錄", CONTENTS),
    ("章节目录", CONTENTS),
    ("章節目錄", CONTENTS),
    ("回目", CONTENTS),
    ("illustrations", ILLUSTRATIONS),
    ("list of illustrations", ILLUSTRATIONS),
    ("the illustrations", ILLUSTRATIONS),
    ("list of plates", ILLUSTRATIONS),
    ("list of maps", ILLUSTRATIONS),
    ("list of figures", ILLUSTRATIONS),
    ("插图", ILLUSTRATIONS),
    ("插圖", ILLUSTRATIONS),
    ("插图目录", ILLUSTRATIONS),
    ("插圖目錄", ILLUSTRATIONS),
    ("图目", ILLUSTRATIONS),
    ("圖目", ILLUSTRATIONS),
    ("copyright", LICENCE),
    ("copyright page", LICENCE),
    ("copyright notice", LICENCE),
    ("colophon", LICENCE),
    ("imprint", LICENCE),
    ("uncopyright", LICENCE),
    ("license", LICENCE),
    ("licence", LICENCE),
    ("full license", LICENCE),
    ("the full project gutenberg license", LICENCE),
    ("project gutenberg license", LICENCE),
    ("project gutenberg licence", LICENCE),
    ("the project gutenberg license", LICENCE),
    ("start full license", LICENCE),
    ("版权", LICENCE),
    ("版權", LICENCE),
    ("版权页", LICENCE),
    ("版權頁", LICENCE),
    ("版权信息", LICENCE),
    ("版權信息", LICENCE),
    ("版权声明", LICENCE),
    ("版權聲明", LICENCE),
    ("cover", FRONT),
    ("title page", FRONT),
    ("titlepage", FRONT),
    ("half title", FRONT),
    ("halftitle", FRONT),
    ("half title page", FRONT),
    ("frontispiece", FRONT),
    ("封面", FRONT),
    ("扉页", FRONT),
    ("扉頁", FRONT),
    ("书名页", FRONT),
    ("書名頁", FRONT),
    ("about this book", FRONT),
    ("also by the author", FRONT),
    ("praise", FRONT),
    ("blurb", FRONT),
    ("内容简介", FRONT),
    ("內容簡介", FRONT),
    ("内容介绍", FRONT),
    ("內容介紹", FRONT),
    ("作品简介", FRONT),
    ("作品簡介", FRONT),
    ("作者简介", FRONT),
    ("作者簡介", FRONT),
    ("简介", FRONT),
    ("簡介", FRONT),
    ("文案", FRONT),
    ("transcription notes", TRANSCRIBER),
    ("校对说明", TRANSCRIBER),
    ("校對說明", TRANSCRIBER),
    ("录入说明", TRANSCRIBER),
    ("錄入說明", TRANSCRIBER),
    ("制作说明", TRANSCRIBER),
    ("製作說明", TRANSCRIBER),
    ("整理说明", TRANSCRIBER),
    ("整理說明", TRANSCRIBER),
    ("电子版说明", TRANSCRIBER),
    ("電子版說明", TRANSCRIBER),
];

/// Returns the reject reason of a heading that opens boilerplate, by its words.
pub(crate) fn kind(title: &str) -> Option<RejectReason> {
    if title.len() > 90 {
        return None;
    }
    let mut words = String::with_capacity(title.len());
    for c in title.chars() {
        if c.is_alphanumeric() {
            words.extend(c.to_lowercase());
        } else if !matches!(c, '\'' | '’') && !words.is_empty() && !words.ends_with(' ') {
            words.push(' ');
        }
    }
    let words = words.trim_end();
    if words.is_ascii() {
        let notes = ["transcribers note", "transcriber note", "transcribers notes", "transcriber notes"];
        if notes.iter().any(|note| words == *note || words.starts_with(&format!("{note} "))) {
            return Some(TRANSCRIBER);
        }
        // The table of contents of a single volume names the volume.
        let volume = words.strip_prefix("the ").unwrap_or(words).strip_prefix("contents of ").unwrap_or_default();
        if ["volume ", "vol ", "book ", "part "].iter().any(|unit| volume.starts_with(unit)) && volume.len() < 30 {
            return Some(CONTENTS);
        }
    }
    let joined: String = if words.is_ascii() { String::new() } else { words.split(' ').collect() };
    let words = if joined.is_empty() { words } else { joined.as_str() };
    TITLES.iter().find(|(title, _)| *title == words).map(|(_, kind)| *kind)
}

/// The range of a file, in bytes, without what the distributor put around the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Body {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Ranges between two books in one file: from the end marker of one to the start marker of the next.
    pub(crate) holes: Vec<(usize, usize)>,
}

/// Finds the text between the distributor's header and footer. The file may hold several books.
pub(crate) fn body(text: &str) -> Body {
    let (mut body, mut at) = (Body { start: 0, end: text.len(), holes: Vec::new() }, 0);
    // The end of the last book seen; another may follow.
    let mut closed = None;
    for line in text.split_inclusive('\n') {
        let next = at + line.len();
        if line.len() < 300 && could_mark(line) {
            let upper = line.trim().to_ascii_uppercase();
            match closed {
                None if at < body.start => {}
                None if opens(&upper) && at <= text.len() / 2 && body.holes.is_empty() => {
                    body.start = marker_end(text, &upper, next);
                }
                None if closes(&upper) => closed = Some(at),
                Some(end) if opens(&upper) => {
                    body.holes.push((end, marker_end(text, &upper, next)));
                    closed = None;
                }
                _ => {}
            }
        }
        at = next;
    }
    body.end = closed.unwrap_or(body.end);
    body
}

/// Returns the end of a start marker. If its title runs over the line, the closing stars are on one of the next three
/// lines.
fn marker_end(text: &str, upper: &str, next: usize) -> usize {
    if !upper.starts_with("***") || upper[3..].ends_with('*') {
        return next;
    }
    let mut at = next;
    for line in text[next..].split_inclusive('\n').take(3).take_while(|line| !line.trim().is_empty()) {
        at += line.len();
        if line.trim_end().ends_with("***") {
            return at;
        }
    }
    next
}

/// A cheap check for the prefixes that all markers have.
fn could_mark(line: &str) -> bool {
    let line = line.trim_start().as_bytes();
    let begins = |with: &[u8]| line.len() >= with.len() && line[..with.len()].eq_ignore_ascii_case(with);
    [&b"***"[..], b"*END", b"END", b"THE END ", b"THE FULL ", b"START: ", b"---"].into_iter().any(begins)
}

fn opens(upper: &str) -> bool {
    let gutenberg = upper.contains("GUTENBERG");
    (upper.starts_with("***") && upper.contains("START") && gutenberg && !upper.contains("FULL LICENSE"))
        || (upper.starts_with('*') && upper.contains("END") && upper.contains("THE SMALL PRINT"))
        || (upper.starts_with("END") && upper.contains("THE SMALL PRINT"))
        || (upper.starts_with("-----") && upper.contains("START OF PROJECT GUTENBERG"))
}

fn closes(upper: &str) -> bool {
    let upper = upper.trim_start_matches(['*', '-', ' ']);
    let gutenberg = upper.contains("GUTENBERG");
    let ends = [
        "END OF PROJECT",
        "END OF THE PROJECT",
        "END OF THIS PROJECT",
        "END OF THE PG",
        "THE END OF PROJECT",
        "THE END OF THE PROJECT",
        "END THE PROJECT",
        "END PROJECT",
        "END OF PG",
    ];
    (gutenberg && (ends.iter().any(|end| upper.starts_with(end)) || upper.starts_with("START: FULL LICENSE")))
        || upper.starts_with("THE FULL PROJECT GUTENBERG LICENSE")
        || upper.starts_with("START: FULL LICENSE")
        || upper.starts_with("END OF PROJECT GUTENBERG")
}

/// A range left out of the chunks, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    start: usize,
    end: usize,
    reason: RejectReason,
    detail: String,
}

/// The location of a book's story and what is left out, in bytes of the text.
#[derive(Debug)]
pub(crate) struct Story {
    /// The ranges of the story, in order; everything between them is left out.
    pub(crate) ranges: Vec<(usize, usize)>,
    /// The starts of its chapters.
    pub(crate) borders: Vec<usize>,
    parts: Vec<Part>,
}

impl Story {
    /// Finds the story. `starts` are the chapter starts in bytes.
    pub(crate) fn of(book: &Book, chapters: &[Chapter], starts: &[usize]) -> Self {
        let text = book.text.as_str();
        let Body { start: body_start, end: body_end, holes: between } = body(text);
        let outside: Vec<bool> = chapters
            .iter()
            .map(|chapter| headings::opens_matter(&chapter.title) || kind(&chapter.title).is_some())
            .collect();
        let first = outside.iter().position(|outside| !outside);
        let last = outside.iter().rposition(|outside| !outside);
        let (start, end, borders) = if let (Some(first), Some(last)) = (first, last) {
            let end = starts.get(last + 1).copied().unwrap_or(body_end);
            let mean = (end - starts[first]) / (last - first + 1);
            // A long text before the first heading is an untitled part of the story, not a title page.
            let long = || text[body_start..starts[0]].trim().len() > mean;
            let start = match first {
                0 if long() => leading(text, body_start, starts[0]),
                0 if !matches!(chapters[0].level, Level::Act | Level::Scene) => {
                    let from = leading(text, body_start, starts[0]);
                    story_start::start(text, from, starts[0]).unwrap_or(starts[0])
                }
                _ => starts[first],
            };
            (start, end, starts[first..=last].to_vec())
        } else {
            let start = leading(text, body_start, body_end);
            // If nothing ends the table of contents, it was not one.
            (if start < body_end { start } else { body_start }, body_end, Vec::new())
        };
        let end = trailing(text, borders.last().copied().unwrap_or(start), end, start);
        let end = before_notices(text, borders.last().copied().unwrap_or(start), end);
        let mut parts = Vec::new();
        cut(&mut parts, text, 0, body_start, LICENCE, "before the book");
        let marked = marked(book);
        let titles: BTreeSet<String> = chapters.iter().map(|chapter| letters(&chapter.title)).collect();
        around(&mut parts, text, (body_start, start), &marked, |parts, from, to| {
            front(parts, text, from, to, starts, &titles);
        });
        let mut holes: Vec<Part> = marked
            .iter()
            .filter(|part| part.start < end && part.end > start && part.start < part.end)
            .cloned()
            .collect();
        holes.extend(between.into_iter().map(|(start, end)| {
            let detail = "between two books".to_owned();
            Part { start, end, reason: LICENCE, detail }
        }));
        holes.extend(tables(text, &borders, start, end));
        // A preface below a volume's heading, or one of a second volume.
        for at in first.unwrap_or(0)..last.unwrap_or(0) {
            if outside[at] && chapters[at].level == Level::Front {
                let detail = "inside the story".to_owned();
                holes.push(Part { start: starts[at], end: starts[at + 1], reason: FRONT, detail });
            }
        }
        holes.sort_by_key(|hole| (hole.start, hole.end));
        let mut ranges = Vec::new();
        let mut from = start;
        for hole in holes {
            let (begin, stop) = (hole.start.max(from), hole.end.min(end));
            if begin >= stop {
                continue;
            }
            if begin > from && !text[from..begin].trim().is_empty() {
                ranges.push((from, begin));
            }
            parts.push(Part { start: begin, end: stop, ..hole });
            from = stop;
        }
        if from < end || ranges.is_empty() {
            ranges.push((from, end));
        }
        around(&mut parts, text, (end, body_end), &marked, |parts, from, to| back(parts, text, from, to, starts));
        cut(&mut parts, text, body_end, text.len(), LICENCE, "after the book");
        parts.extend(marked.into_iter().filter(|part| part.start == part.end));
        parts.sort_by_key(|part| (part.start, part.end));
        // A range that was not chosen may reach from the front of the story into it.
        parts.dedup_by(|next, part| {
            let one = next.reason == NOT_CHOSEN && part.end == next.start && part.detail == next.detail;
            part.end = if one { next.end } else { part.end };
            one
        });
        Self { ranges, borders, parts }
    }

    /// Returns a reject for each range left out, with its position.
    pub(crate) fn rejects(&self, book: &Book) -> Vec<Reject> {
        let text = book.text.as_str();
        let mut points = Points::new(text);
        let mut rejects = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let (begin, end) = (points.at(part.start), points.at(part.end));
            let opening: Vec<&str> = text[part.start..part.end].split_whitespace().take(60).collect();
            let opening: String = opening.join(" ").chars().take(60).collect();
            let detail = if part.start == part.end {
                part.detail.clone()
            } else {
                format!("{}, code points {begin} to {end}: “{opening}…”", part.detail)
            };
            rejects.push(Reject::new(Stage::Chunk, format!("{}@{begin}", book.slug), part.reason, detail));
        }
        rejects
    }
}

/// Adds a range unless it is blank.
fn cut(parts: &mut Vec<Part>, text: &str, start: usize, end: usize, reason: RejectReason, detail: &str) {
    if start < end && !text[start..end].trim().is_empty() {
        parts.push(Part { start, end, reason, detail: detail.to_owned() });
    }
}

/// Returns the ranges that the book's format marks, in bytes.
fn marked(book: &Book) -> Vec<Part> {
    let (mut chars, mut passed) = (book.text.char_indices(), 0);
    let mut at = |point: u32| {
        while passed < point && chars.next().is_some() {
            passed += 1;
        }
        chars.offset()
    };
    let of = |matter: &crate::schema::Matter| {
        let (start, end) = (at(matter.start), at(matter.end));
        Part { start, end, reason: matter.reason, detail: matter.detail.clone() }
    };
    book.matter.iter().map(of).collect()
}

/// Adds the ranges marked by the format within `start..end`, and calls `split` for the text between them.
fn around(
    parts: &mut Vec<Part>,
    text: &str,
    (start, end): (usize, usize),
    marked: &[Part],
    mut split: impl FnMut(&mut Vec<Part>, usize, usize),
) {
    let mut from = start;
    for mark in marked.iter().filter(|mark| mark.start < mark.end) {
        let (begin, stop) = (mark.start.max(from), mark.end.min(end));
        if begin < stop {
            split(parts, from, begin);
            cut(parts, text, begin, stop, mark.reason, &mark.detail);
            from = stop;
        }
    }
    if from < end {
        split(parts, from, end);
    }
}

/// Iterates over lines that may be headings of boilerplate, with their offsets: lines after a blank line, the first
/// line, and short Chinese lines, since Chinese books do not use blank lines between paragraphs.
struct Heads<'a> {
    text: &'a str,
    at: usize,
    end: usize,
    blank: bool,
}

impl<'a> Iterator for Heads<'a> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        while self.at < self.end {
            let start = self.at;
            let line = self.text[start..self.end].split_inclusive('\n').next()?;
            self.at += line.len();
            let words = line.trim();
            let head = !words.is_empty() && (self.blank || (words.len() <= 30 && !words.is_ascii()));
            self.blank = words.is_empty();
            if head {
                return Some((start, words));
            }
        }
        None
    }
}

const fn heads(text: &str, start: usize, end: usize) -> Heads<'_> {
    Heads { text, at: start, end, blank: true }
}

/// Returns the reject reason if a line is a heading of boilerplate. A bracketed transcriber's note needs no heading.
pub(crate) fn head_kind(words: &str) -> Option<RejectReason> {
    let note = words.trim_start_matches(['[', '*', '_', '（', '(', '=', ' ']);
    let lower: String = note.chars().take(24).collect::<String>().to_lowercase();
    if ["transcriber's note", "transcriber’s note", "transcribers' note", "transcribers’ note", "transcriber note"]
        .iter()
        .any(|head| lower.starts_with(head))
    {
        return Some(TRANSCRIBER);
    }
    // A line with quotation marks, a question or an exclamation belongs to the story.
    let speech = ['“', '”', '"', '「', '」', '『', '』', '？', '?', '！', '!'];
    if words.len() > 90 || words.contains(speech) {
        return None;
    }
    kind(words)
}

/// Splits the text before the story at its headings.
fn front(parts: &mut Vec<Part>, text: &str, start: usize, end: usize, chapters: &[usize], titles: &BTreeSet<String>) {
    let detail = "before the story";
    let table = table(text, start, end, titles);
    let (mut from, mut reason) = (start, FRONT);
    for (at, words) in heads(text, start, end) {
        let opens = chapters.binary_search(&at).is_ok();
        let kind = head_kind(words).or(opens.then_some(FRONT));
        // A table of contents lists pages such as the cover, and may contain a list of its own titles.
        let listed = matches!(reason, CONTENTS | ILLUSTRATIONS) && kind == Some(FRONT) && !opens;
        let Some(kind) = kind.filter(|_| !listed) else { continue };
        cut_block(parts, text, (from, at), reason, detail, table);
        (from, reason) = (at, kind);
    }
    cut_block(parts, text, (from, end), reason, detail, table);
}

/// Returns the letters and digits of a text in lower case, so that a title is the same in a table of contents and over
/// its chapter.
pub(crate) fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Finds a table of contents without a heading: lines that repeat chapter titles.
fn table(text: &str, start: usize, end: usize, titles: &BTreeSet<String>) -> Option<(usize, usize)> {
    let (mut at, mut found, mut lines): (usize, Vec<(usize, usize)>, usize) = (start, Vec::new(), 0);
    for line in text[start..end].split_inclusive('\n') {
        let begun = at;
        at += line.len();
        let words = letters(line.trim_end().trim_end_matches(|c: char| c.is_ascii_digit()));
        if words.is_empty() {
            continue;
        }
        lines += usize::from(!found.is_empty());
        if titles.contains(&words) || titles.contains(&letters(line)) {
            found.push((begun, lines));
        }
    }
    let ((first, _), (last, span)) = (*found.first()?, *found.last()?);
    let last = last + text[last..end].find('\n').map_or(end - last, |line| line + 1);
    (found.len() >= 3 && found.len() * 2 > span).then_some((first, last))
}

/// Adds a block of front matter. A table of contents or a note extends only as far as [`block_end`] says.
fn cut_block(
    parts: &mut Vec<Part>,
    text: &str,
    (start, end): (usize, usize),
    reason: RejectReason,
    detail: &str,
    table: Option<(usize, usize)>,
) {
    let stop = if reason == FRONT { start } else { block_end(text, start, end, reason) };
    cut(parts, text, start, stop, reason, detail);
    match table.filter(|(from, to)| stop <= *from && *to <= end) {
        Some((from, to)) => {
            cut(parts, text, stop, from, FRONT, detail);
            cut(parts, text, from, to, CONTENTS, detail);
            cut(parts, text, to, end, FRONT, detail);
        }
        None => cut(parts, text, stop, end, FRONT, detail),
    }
}

/// Returns the end of a table of contents (before prose) or of a note (at its closing bracket, or after three blank
/// lines).
fn block_end(text: &str, start: usize, end: usize, reason: RejectReason) -> usize {
    if reason == TRANSCRIBER {
        let block = &text[start..end];
        if block.trim_start().starts_with('[') {
            return block.find(']').map_or(end, |at| start + at + 1);
        }
        let mut blanks = 0;
        let mut at = start;
        for line in block.split_inclusive('\n') {
            if line.trim().is_empty() {
                blanks += 1;
            } else {
                if blanks >= 3 && at > start {
                    return at;
                }
                blanks = 0;
            }
            at += line.len();
        }
        return end;
    }
    for (at, paragraph) in paragraphs(text, start, end) {
        if at > start && is_prose(paragraph) {
            return at;
        }
    }
    end
}

/// Returns the runs of lines between blank lines, with their offsets.
pub(crate) fn paragraphs(text: &str, start: usize, end: usize) -> impl Iterator<Item = (usize, &str)> {
    let mut at = start;
    let mut lines = text[start..end].split_inclusive('\n').map(move |line| {
        let begun = at;
        at += line.len();
        (begun, line)
    });
    std::iter::from_fn(move || {
        let (first, line) = lines.by_ref().find(|(_, line)| !line.trim().is_empty())?;
        let mut stop = first + line.len();
        for (at, line) in lines.by_ref() {
            if line.trim().is_empty() {
                break;
            }
            stop = at + line.len();
        }
        Some((first, &text[first..stop]))
    })
}

/// Whether a paragraph is prose rather than lines of a table.
pub(crate) fn is_prose(paragraph: &str) -> bool {
    let words = paragraph.trim();
    let ends = words.ends_with(['.', '!', '?', '”', '"', '’', '。', '！', '？', '」', '．', '…']);
    let numbers = words.lines().filter(|line| line.trim_end().ends_with(|c: char| c.is_ascii_digit())).count();
    let long =
        words.chars().count() > if words.is_ascii() || !words.chars().any(crate::text::is_han) { 240 } else { 60 };
    let listed = words.lines().filter(|line| headings::candidate(line).is_some()).count();
    ends && long && numbers * 3 < words.lines().count() && listed * 2 < words.lines().count()
}

/// Returns where a story without headings starts: after the boilerplate at the front.
fn leading(text: &str, start: usize, end: usize) -> usize {
    let reach = start + (end - start).min((end - start) / 5).max((end - start).min(6000));
    let reach = (start..=reach.min(end)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(start);
    let mut story = start;
    // YAML front matter of a Markdown file.
    let opening = text[start..end].trim_start();
    if opening.starts_with("---\n") || opening.starts_with("---\r\n") {
        let at = end - opening.len();
        let close = opening[4..].find("\n---");
        story = close.map_or(story, |close| {
            let rest = at + 4 + close + 1;
            text[rest..end].find('\n').map_or(end, |line| rest + line + 1)
        });
    }
    // Lines that a web site puts above the text.
    let mut at = story;
    for line in text[story..reach.max(story)].split_inclusive('\n') {
        at += line.len();
        if is_notice(line.trim()) {
            story = at;
        } else if !line.trim().is_empty() && !crate::stages::chunk::chunks::is_border(line.trim()) {
            break;
        }
    }
    for (at, words) in heads(text, start, reach) {
        let Some(kind) = head_kind(words).filter(|_| at >= story) else { continue };
        story = match kind {
            FRONT => story,
            kind => block_end(text, at, end, kind),
        };
    }
    story.min(end)
}

/// Returns where the story ends before the lines that a web site puts below it.
fn before_notices(text: &str, last: usize, end: usize) -> usize {
    let mut story = end;
    let mut at = end;
    for line in text[last..end].split_inclusive('\n').rev() {
        at -= line.len();
        let words = line.trim();
        if is_notice(words) {
            story = at;
        } else if !words.is_empty() && !crate::stages::chunk::chunks::is_border(words) {
            break;
        }
    }
    story.max(last)
}

/// Whether a line only says where the file comes from: a web site and what it offers.
fn is_notice(line: &str) -> bool {
    const SITES: &[&str] = &["www.", "http:", "https:", ".com", ".net", ".org", ".cn"];
    const GOODS: &[&str] = &[
        "小说",
        "小說",
        "电子书",
        "電子書",
        "下载",
        "下載",
        "本书",
        "本書",
        "更多",
        "访问",
        "訪問",
        "阅读",
        "閱讀",
        "书库",
    ];
    const OPENINGS: &[&str] =
        &["更多精彩", "更多小说", "更多小說", "更多电子书", "本书来自", "本書來自", "本书下载", "本书由"];
    if line.is_empty() || line.len() > 240 || line.starts_with(['“', '「', '‘', '"']) {
        return false;
    }
    let opens =
        OPENINGS.iter().any(|opening| line.trim_start_matches(['【', '（', '(', '=', '-', '*']).starts_with(opening));
    let site = || {
        let lower = line.to_ascii_lowercase();
        SITES.iter().any(|site| lower.contains(site))
    };
    let goods = || GOODS.iter().any(|word| line.contains(word));
    (opens && (line.len() <= 120 || site())) || (goods() && site())
}

/// Returns where the story ends before a closing note or list that is not a chapter.
fn trailing(text: &str, last: usize, end: usize, start: usize) -> usize {
    // Only a note in the last part of the book can end it.
    let length = end - start;
    let from = (end - (length / 5).max(length.min(6000))).max(last).max(start);
    let from = (from..=end).find(|at| text.is_char_boundary(*at)).unwrap_or(end);
    let mut heads = Heads { text, at: from, end, blank: from == start };
    let found = heads.find(|(at, words)| {
        *at > start && *at > last && matches!(head_kind(words), Some(TRANSCRIBER | LICENCE | ILLUSTRATIONS))
    });
    found.map_or(end, |(at, _)| at)
}

/// Finds tables of contents inside the story, such as that of a second volume.
fn tables(text: &str, borders: &[usize], start: usize, end: usize) -> Vec<Part> {
    let mut found = Vec::new();
    // The end of the last table examined; headings inside it start no other table.
    let mut seen = start;
    for (at, words) in heads(text, start, end) {
        if at < seen || words.len() > 60 {
            continue;
        }
        let Some(reason) = head_kind(words).filter(|kind| matches!(*kind, CONTENTS | ILLUSTRATIONS)) else { continue };
        let next = borders.get(borders.partition_point(|border| *border <= at)).copied().unwrap_or(end);
        let stop = block_end(text, at, next, reason);
        seen = stop;
        let lines: Vec<&str> = text[at..stop].lines().map(str::trim).filter(|line| !line.is_empty()).skip(1).collect();
        let entry = |line: &&&str| line.ends_with(|c: char| c.is_ascii_digit()) || headings::candidate(line).is_some();
        // The word alone may occur in the story; a table of contents has entries.
        if lines.len() >= 3 && lines.iter().filter(entry).count() * 2 > lines.len() {
            found.push(Part { start: at, end: stop, reason, detail: "inside the story".to_owned() });
        }
    }
    found
}

/// Splits the text after the story at its headings.
fn back(parts: &mut Vec<Part>, text: &str, start: usize, end: usize, chapters: &[usize]) {
    let detail = "after the story";
    let (mut from, mut reason) = (start, BACK);
    for (at, words) in heads(text, start, end) {
        let kind = head_kind(words).filter(|kind| *kind != FRONT);
        let Some(kind) = kind.or_else(|| chapters.binary_search(&at).is_ok().then_some(BACK)) else { continue };
        cut(parts, text, from, at, reason, detail);
        (from, reason) = (at, kind);
    }
    cut(parts, text, from, end, reason, detail);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::books::read;
    use crate::stages::chunk::chunks::chunk;
    use crate::stages::chunk::{Params, chapters};

    const PROSE: &str = "It rained on the weir all that night, and nobody in the mill slept.\n\n";

    fn left_out(path: &str, text: &str) -> (String, Vec<(RejectReason, String)>) {
        let book = read(path, text.as_bytes(), None).expect("reads");
        let chapters = chapters(&book);
        let mut chars = book.text.char_indices().map(|(at, _)| at).collect::<Vec<_>>();
        chars.push(book.text.len());
        let starts: Vec<usize> = chapters.iter().map(|chapter| chars[chapter.start as usize]).collect();
        let story = Story::of(&book, &chapters, &starts);
        let parts = story.parts.iter().map(|part| (part.reason, book.text[part.start..part.end].trim().to_owned()));
        let held: String = chunk(&book, &chapters, &Params::default()).0.into_iter().map(|chunk| chunk.text).collect();
        (held, parts.collect())
    }

    fn reasons_of(parts: &[(RejectReason, String)]) -> Vec<RejectReason> {
        parts.iter().map(|(reason, _)| *reason).collect()
    }

    #[test]
    fn what_is_said_is_no_head() {
        for (words, is_head) in
            [("“版权？”", false), ("“插图”", false), ("Contents?", false), ("Contents", true), ("目录", true)]
        {
            assert_eq!(head_kind(words).is_some(), is_head, "{words}");
        }
    }

    #[test]
    fn markers_of_distributors_are_found() {
        for (head, foot) in [
            ("*** START OF THE PROJECT GUTENBERG EBOOK RAIN ***", "*** END OF THE PROJECT GUTENBERG EBOOK RAIN ***"),
            ("***START OF THE PROJECT GUTENBERG EBOOK RAIN***", "End of Project Gutenberg's Rain, by Nobody"),
            (
                "*** START OF THIS PROJECT GUTENBERG EBOOK RAIN: A\nTALE OF WATER ***",
                "End of the Project Gutenberg EBook of Rain",
            ),
            (
                "*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*",
                "End of The Project Gutenberg Etext of Rain",
            ),
            (
                "*END THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.03.10.01*END*",
                "***END OF THE PROJECT GUTENBERG EBOOK RAIN***",
            ),
            ("*** START OF THE PROJECT GUTENBERG EBOOK 河灯 ***", "THE FULL PROJECT GUTENBERG LICENSE"),
        ] {
            let text = format!("Title: Rain\n\nnotice\n\n{head}\n\nBODY\n\n{foot}\n\nlicence\n");
            let body = body(&text);
            assert_eq!(text[body.start..body.end].trim(), "BODY", "{head}");
        }
        let text = "He spoke of the end.\n\nEnd of the road.\n\n*** a rule ***\n";
        assert_eq!(body(text), Body { start: 0, end: text.len(), holes: Vec::new() });
    }

    #[test]
    fn a_second_book_of_a_file_is_read_behind_its_own_head() {
        let book = |name: &str, text: &str| {
            format!(
                "The Project Gutenberg eBook of {name}\n\n*** START OF THE PROJECT GUTENBERG EBOOK {name} ***\n\n{text}\
                 End of Project Gutenberg’s {name}\n\n*** END OF THE PROJECT GUTENBERG EBOOK {name} ***\n\n\
                 START: FULL LICENSE\n\nChapter 9. Terms\n\n"
            )
        };
        let en = format!("CHAPTER I\n\n{0}CHAPTER II\n\n{0}", PROSE.repeat(30));
        let zh = ["第一回　看灯\n", "第二回　听雨\n"]
            .map(|head| format!("{head}{}", "河上无风，水车不动。\n".repeat(60)))
            .concat();
        for told in [en.as_str(), zh.as_str()] {
            let text = [book("MUD", told), book("SUN", told), book("ASH", told)].concat();
            let (held, parts) = left_out("rain.txt", &text);
            assert_eq!(held.matches(told.trim()).count(), 3, "{parts:?}");
            assert_eq!(reasons_of(&parts), [LICENCE; 4]);
            let book = read("rain.txt", text.as_bytes(), None).expect("reads");
            let chapters = chapters(&book);
            assert_eq!(chapters.iter().filter(|chapter| chapter.number == Some(1)).count(), 3);
            let told = |at: usize| {
                let chapter = &chapters[at];
                let length = (chapter.end - chapter.start) as usize;
                book.text.chars().skip(chapter.start as usize).take(length).collect::<String>()
            };
            // The last chapter of a book ends where the book ends.
            assert!(!told(1).contains("GUTENBERG") && !told(1).contains("Terms"), "{}", told(1));
        }
    }

    #[test]
    fn each_kind_of_matter_has_its_reason() {
        let text = format!(
            "The Project Gutenberg EBook of Rain\n\n*** START OF THE PROJECT GUTENBERG EBOOK RAIN ***\n\n\
             RAIN\n\nby Nobody\n\n[Transcriber's Note: two spellings\n\nwere kept.]\n\nCONTENTS\n\nCHAPTER I. Mud  1\n\nCHAPTER II. Sun  9\n\n\
             LIST OF ILLUSTRATIONS\n\nThe weir  3\nThe mill  8\n\nPREFACE\n\nI wrote it.\n\n\
             CHAPTER I. Mud\n\n{0}CHAPTER II. Sun\n\n{0}THE END\n\nTranscriber’s Notes\n\nA comma was mended.\n\n\
             *** END OF THE PROJECT GUTENBERG EBOOK RAIN ***\n\nlicence\n",
            PROSE.repeat(40)
        );
        let (held, parts) = left_out("rain.txt", &text);
        assert_eq!(
            reasons_of(&parts),
            [LICENCE, FRONT, TRANSCRIBER, CONTENTS, ILLUSTRATIONS, FRONT, TRANSCRIBER, LICENCE]
        );
        assert!(held.starts_with("CHAPTER I. Mud") && held.trim_end().ends_with("THE END"), "{parts:?}");
        // A note below a heading of its own.
        let text = text.replace("[Transcriber's Note: two", "TRANSCRIBER'S NOTE\n\nTwo").replace("kept.]", "kept.");
        assert_eq!(reasons_of(&left_out("rain.txt", &text).1), reasons_of(&parts));
    }

    #[test]
    fn chinese_matter_has_its_reason() {
        let story = "河上无风，水车不动。守夜的人都睡了。\n".repeat(40);
        let text = format!(
            "河灯\n目录\n第一回　看灯\n第二回　听雨\n第三回　过河\n第一回　看灯\n{story}第二回　听雨\n{story}第三回　过河\n{story}"
        );
        let (held, parts) = left_out("灯.txt", &text);
        assert_eq!(reasons_of(&parts), [FRONT, CONTENTS]);
        assert!(held.starts_with("第一回　看灯\n河上"));
        // The same without a heading over the table of contents.
        let (_, parts) = left_out("灯.txt", &text.replace("目录\n", ""));
        assert_eq!(reasons_of(&parts), [FRONT, CONTENTS]);
    }

    #[test]
    fn notices_of_web_sites_are_left_out() {
        let story = "　　河上无风，水车不动。守夜的人都睡了。\n".repeat(60);
        let above = "更多精彩小说请访问 www.example.com\n";
        let below = "　　本书来自 www.example.com 小说下载\n=====\n更多精彩，更多好书，尽在某某书库\n";
        let (held, parts) = left_out("灯.txt", &format!("{above}第一章 看灯\n{story}第二章 听雨\n{story}{below}"));
        assert_eq!(reasons_of(&parts), [FRONT, BACK]);
        assert!(held.starts_with("第一章 看灯") && held.ends_with("都睡了。\n"), "{parts:?}");
        let (held, parts) = left_out("灯.txt", &format!("{above}{story}{below}"));
        assert_eq!(reasons_of(&parts), [FRONT, BACK]);
        assert!(held.starts_with("　　河上") && held.ends_with("都睡了。\n"), "{parts:?}");
        // A story may end with a web address if the address belongs to it.
        let (held, _) = left_out("灯.txt", &format!("{story}　　他在纸上写下 www.example.com，然后走了。\n"));
        assert!(held.ends_with("走了。\n"));
    }

    #[test]
    fn a_preface_below_a_volumes_heading_is_left_out_and_a_prologue_is_not() {
        let prose = PROSE.repeat(30);
        let text = format!(
            "VOLUME I\n\nPREFACE\n\n{prose}PROLOGUE\n\nIt was dry.\n\n{prose}CHAPTER I. Mud\n\n{prose}CHAPTER II. Sun\n\n{prose}"
        );
        let (held, parts) = left_out("rain.txt", &text);
        assert_eq!(reasons_of(&parts), [FRONT], "{parts:?}");
        assert!(held.starts_with("VOLUME I") && held.contains("It was dry.") && !held.contains("PREFACE"));
    }

    #[test]
    fn a_story_without_headings_still_has_its_matter_cut() {
        let text = format!(
            "CONTENTS\n\nMud  1\nSun  9\nMoon  12\n\n{}Transcriber’s Note: one comma was mended.\n",
            format!("{}\n\n", PROSE.trim().repeat(6)).repeat(20)
        );
        let (held, parts) = left_out("rain.txt", &text);
        assert_eq!(reasons_of(&parts), [CONTENTS, TRANSCRIBER]);
        assert!(held.starts_with("It rained"));
        let yaml = format!("---\ntitle: Rain\nauthor: Nobody\n---\n\n{PROSE}{PROSE}");
        let (held, parts) = left_out("rain.md", &yaml);
        assert!(held.trim_start().starts_with("It rained"), "{held}");
        assert_eq!(reasons_of(&parts), [FRONT]);
    }

    #[test]
    fn a_second_volumes_table_is_a_hole_in_the_story() {
        let prose = PROSE.repeat(30);
        let text = format!(
            "VOLUME I\n\nCHAPTER I. Mud\n\n{prose}CHAPTER II. Sun\n\n{prose}CONTENTS OF VOLUME II\n\nI. Moon  1\n\nII. Stars  9\n\nIII. Night  12\n\n\
             VOLUME II\n\nCHAPTER I. Moon\n\n{prose}CHAPTER II. Stars\n\n{prose}"
        );
        let (held, parts) = left_out("rain.txt", &text);
        assert_eq!(reasons_of(&parts), [CONTENTS], "{parts:?}");
        assert!(!held.contains("III. Night") && held.contains("CHAPTER I. Moon") && held.starts_with("VOLUME I"));
    }

    #[test]
    fn words_of_a_story_are_no_heads() {
        for line in [
            "He looked at the contents of the box.",
            "Covered wagons",
            "the cover of night",
            "目录学是一门学问。",
            "Copyrighted lies",
        ] {
            assert_eq!(kind(line), None, "{line}");
        }
        for (line, expected) in [
            ("CONTENTS.", CONTENTS),
            ("Contents of Volume the Second", CONTENTS),
            ("目　录", CONTENTS),
            ("List of Illustrations", ILLUSTRATIONS),
            ("TRANSCRIBER'S NOTES:", TRANSCRIBER),
            ("Title Page", FRONT),
            ("版权信息", LICENCE),
        ] {
            assert_eq!(kind(line), Some(expected), "{line}");
        }
    }
}
