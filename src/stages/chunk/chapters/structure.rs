//! Turns the headings marked by a book's format into chapters. The level of each is decided by its words first, then by
//! its depth.
//!
//! Does not search for headings. `chapters` handles books whose format marks none.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::Deserialize;

use super::boilerplate::{body, boilerplate_kind_of_title};
use super::headings::{self, Strength};
use crate::schema::{Book, Chapter, Level, MarkedHeading};
use crate::text::{CodePoints, letters_and_digits, single_spaced};

/// Titles of headings that close a book, in lower case.
static CLOSING_TITLES: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let table: Table = embedded_toml!("structure.toml");
    table.closing_titles
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    closing_titles: BTreeSet<String>,
}

/// A marked heading that may become a chapter.
#[derive(Debug, Clone)]
struct TitledMark<'a> {
    mark: &'a MarkedHeading,
    title: String,
    /// The level, number and section flag that its words give.
    words: Option<(Level, Option<u32>, bool)>,
    /// The number of characters between its title and the next mark.
    length: u32,
}

/// Returns the chapters that the book's format marks. `None` if it marks fewer than two.
pub(crate) fn chapters(book: &Book) -> Option<Vec<Chapter>> {
    if book.marked_headings.is_empty() {
        return None;
    }
    let body = body(&book.text);
    let mut points = CodePoints::new(&book.text);
    let (body_start, body_end) = (points.at(body.start), points.at(body.end));
    let within =
        |mark: &&MarkedHeading| (body_start..body_end).contains(&mark.start) && !in_boilerplate(book, mark.start);
    let marks: Vec<MarkedHeading> = book.marked_headings.iter().filter(within).cloned().collect();
    let leveled = levels(&marks, body_end, &book.title);
    if leveled.iter().filter(|(level, ..)| is_chapter(*level)).count() < 2 {
        return None;
    }
    let lines = lines(&book.text, leveled.iter().map(|(.., mark)| mark.start));
    let mut chapters: Vec<Chapter> = Vec::with_capacity(leveled.len());
    for (at, (level, number, title, mark)) in leveled.iter().enumerate() {
        chapters.push(Chapter {
            book: book.slug.clone(),
            index: u32::try_from(at).unwrap_or(u32::MAX),
            level: *level,
            number: *number,
            title: title.clone(),
            line: Some(lines[at]),
            start: mark.start,
            end: end_of(book, mark.start, leveled.get(at + 1).map_or(body_end, |(.., next)| next.start)),
        });
    }
    Some(chapters)
}

/// Returns the number of chapters that some marks would make.
pub(crate) fn count(text: &str, marks: &[MarkedHeading], title: &str) -> usize {
    let end = CodePoints::new(text).at(text.len());
    levels(marks, end, title).iter().filter(|(level, ..)| is_chapter(*level)).count()
}

const fn is_chapter(level: Level) -> bool {
    matches!(level, Level::Chapter | Level::Letter | Level::Act | Level::Scene)
}

/// Ends a chapter before the boilerplate between it and the next one. Boilerplate ranges are sorted and do not overlap.
fn end_of(book: &Book, start: u32, next: u32) -> u32 {
    let after = book.boilerplate.get(book.boilerplate.partition_point(|passage| passage.end < next));
    after.map(|passage| passage.start).filter(|end| *end > start && *end < next).unwrap_or(next)
}

fn in_boilerplate(book: &Book, start: u32) -> bool {
    let after = book.boilerplate.get(book.boilerplate.partition_point(|passage| passage.end <= start));
    after.is_some_and(|passage| passage.start <= start)
}

/// Returns the line, from 1, of each of some ascending offsets.
fn lines(text: &str, offsets: impl Iterator<Item = u32>) -> Vec<u32> {
    let (mut line, mut point, mut chars) = (1, 0, text.chars());
    offsets
        .map(|offset| {
            while point < offset {
                let Some(c) = chars.next() else { break };
                point += 1;
                line += u32::from(c == '\n');
            }
            line
        })
        .collect()
}

/// Returns the level of each mark, without marks that open nothing.
fn levels<'a>(
    marks: &'a [MarkedHeading],
    end: u32,
    title: &str,
) -> Vec<(Level, Option<u32>, String, &'a MarkedHeading)> {
    let marks = joined(marks, end);
    let marks: Vec<TitledMark> = without_title(marks, title);
    let chapter_depth = chapter_depth(&marks);
    let numbered =
        |titled: &TitledMark| titled.words.is_some_and(|(level, number, _)| is_chapter(level) && number.is_some());
    let (first, last) = (marks.iter().position(numbered), marks.iter().rposition(numbered));
    let chapter_words =
        marks.iter().filter(|titled| titled.words.is_some_and(|(level, ..)| is_chapter(level))).count() >= 2;
    let sections_only =
        !marks.iter().any(|titled| titled.words.is_some_and(|(level, _, section)| is_chapter(level) && !section));
    let mut leveled = Vec::new();
    for (at, titled) in marks.iter().enumerate() {
        let depth = titled.mark.depth;
        let below = marks.get(at + 1).is_some_and(|next| next.mark.depth > depth);
        let level = match titled.words {
            Some((_, _, true)) if !sections_only => None,
            Some((level, ..)) => Some(level),
            // A name without a number next to numbered chapters: a preface, an afterword, or an empty page.
            None if chapter_words && depth <= chapter_depth && !below => match (first, last) {
                _ if titled.length < 200 => None,
                (Some(first), _) if at < first => Some(Level::Front),
                (_, Some(last)) if at > last => Some(Level::Back),
                _ => Some(Level::Chapter),
            },
            None if depth == chapter_depth => Some(Level::Chapter),
            None if depth < chapter_depth && below => Some(Level::Part),
            None if depth < chapter_depth && titled.length >= 200 => Some(Level::Chapter),
            None => None,
        };
        if let Some(level) = level {
            leveled.push((level, titled.words.and_then(|(_, number, _)| number), titled.title.clone(), titled.mark));
        }
    }
    leveled
}

/// Interprets the words of each mark, and joins a bare number with the title marked directly below it.
fn joined(marks: &[MarkedHeading], end: u32) -> Vec<TitledMark<'_>> {
    let mut titled: Vec<TitledMark> = Vec::with_capacity(marks.len());
    for (at, mark) in marks.iter().enumerate() {
        let next = marks.get(at + 1).map_or(end, |next| next.start);
        let own = u32::try_from(mark.title.chars().count()).unwrap_or(u32::MAX);
        let length = next.saturating_sub(mark.start).saturating_sub(own);
        let words = words(&mark.title);
        if boilerplate_kind_of_title(&mark.title).is_some() {
            continue;
        }
        if let Some(before) = titled.last_mut()
            && words.is_none()
            && before.length <= 4
            && before.mark.depth <= mark.depth
            && before.words.is_some_and(|(level, number, _)| number.is_some() && level != Level::Volume)
            && std::ptr::eq(before.mark, &raw const marks[at - 1])
        {
            before.title = single_spaced(&format!("{} {}", before.title, mark.title));
            before.length = length;
            continue;
        }
        titled.push(TitledMark { mark, title: mark.title.clone(), words, length });
    }
    titled
}

/// Returns what a title's words open: level, number, and whether it is a 节 (section).
fn words(title: &str) -> Option<(Level, Option<u32>, bool)> {
    if let Some(candidate) = headings::candidate(title) {
        // A marked heading needs no confirmation from its neighbours.
        let is_reliable = candidate.strength != Strength::Next || candidate.number.is_some();
        return is_reliable.then_some((candidate.level, candidate.number, candidate.section));
    }
    let lower = title.trim().trim_end_matches(['.', ':']).to_lowercase();
    CLOSING_TITLES.contains(&lower).then_some((Level::Back, None, false))
}

/// Drops the book's own title and the author's name from the front of the marks.
fn without_title<'a>(mut marks: Vec<TitledMark<'a>>, title: &str) -> Vec<TitledMark<'a>> {
    let title = letters_and_digits(title);
    let mut first = true;
    marks.retain(|titled| {
        if titled.words.is_some() {
            first = false;
            return true;
        }
        let words = letters_and_digits(&titled.title);
        let named = words == title || (first && !words.is_empty() && title.starts_with(&words));
        let byline = first && titled.title.to_lowercase().starts_with("by ");
        let own = named || byline;
        first &= own;
        !own
    });
    // A single mark above all others is the title of the book.
    let top = marks.iter().map(|titled| titled.mark.depth).min().unwrap_or_default();
    let mut tops = marks.iter().enumerate().filter(|(_, titled)| titled.mark.depth == top);
    if let (Some((0, lone)), None) = (tops.next(), tops.next())
        && lone.words.is_none()
        && marks.len() > 2
    {
        marks.remove(0);
    }
    marks
}

/// Returns the depth of chapters: the one where most headings are chapters by their words; otherwise the outermost
/// depth with more than one heading, or the one below it if that contains others.
fn chapter_depth(marks: &[TitledMark]) -> u8 {
    let mut chapter_words = [0_usize; 256];
    let mut used = [0_usize; 256];
    for titled in marks {
        used[usize::from(titled.mark.depth)] += 1;
        let opens = titled.words.is_some_and(|(level, ..)| is_chapter(level));
        chapter_words[usize::from(titled.mark.depth)] += usize::from(opens);
    }
    let depth_of = |at: usize| u8::try_from(at).unwrap_or(u8::MAX);
    // On equal counts, the outermost.
    let most = (0..256).rev().max_by_key(|at| chapter_words[*at]).unwrap_or_default();
    if chapter_words[most] >= 2 {
        return depth_of(most);
    }
    let mut depths = (0..256).filter(|at| used[*at] > 0);
    let Some(top) = depths.next() else { return 0 };
    match depths.next() {
        // Parts contain at least two chapters each on average; otherwise the headings below are sections.
        Some(next) if used[next] >= 2 * used[top] || marks.iter().any(|titled| is_part(titled, depth_of(top))) => {
            depth_of(next)
        }
        _ => depth_of(top),
    }
}

fn is_part(titled: &TitledMark, depth: u8) -> bool {
    titled.mark.depth == depth && titled.words.is_some_and(|(level, ..)| matches!(level, Level::Part | Level::Volume))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Format;

    /// Builds a book from (depth, title, characters of prose after it).
    fn book(title: &str, headings: &[(u8, &str, usize)]) -> Book {
        let mut text = String::new();
        let mut marks = Vec::new();
        for (depth, title, prose) in headings {
            marks.push(MarkedHeading {
                start: u32::try_from(text.chars().count()).expect("short"),
                depth: *depth,
                title: (*title).to_owned(),
            });
            text.push_str(title);
            text.push_str("\n\n");
            text.push_str(&"It rained. ".repeat(prose / 11));
            text.push_str("\n\n");
        }
        Book { title: title.to_owned(), format: Format::Html, text, marked_headings: marks, ..Book::default() }
    }

    fn leveled(title: &str, headings: &[(u8, &str, usize)]) -> Vec<(Level, Option<u32>, String)> {
        let chapters = chapters(&book(title, headings)).unwrap_or_default();
        chapters.into_iter().map(|chapter| (chapter.level, chapter.number, chapter.title)).collect()
    }

    fn owned(expected: &[(Level, Option<u32>, &str)]) -> Vec<(Level, Option<u32>, String)> {
        expected.iter().map(|(level, number, title)| (*level, *number, (*title).to_owned())).collect()
    }

    #[test]
    fn heading_words_take_precedence_over_depth() {
        use Level::{Back, Chapter, Front, Part};
        let headings = [
            (1, "The Rain", 30),
            (2, "by A. B.", 5),
            (2, "CONTENTS", 300),
            (2, "To the patient reader", 900),
            (2, "PART ONE", 0),
            (3, "CHAPTER I.", 0),
            (4, "Mud", 900),
            (3, "CHAPTER II.", 0),
            (3, "More Mud", 900),
            (4, "A note", 300),
            (2, "PART TWO", 0),
            (3, "CHAPTER III. Sun", 900),
            (3, "The Letter", 900),
            (3, "CHAPTER IV. Moon", 900),
            (3, "THE END", 0),
            (2, "Conclusion", 900),
            (2, "Transcriber’s Notes", 90),
        ];
        let expected = [
            (Front, None, "To the patient reader"),
            (Part, Some(1), "PART ONE"),
            (Chapter, Some(1), "CHAPTER I. Mud"),
            (Chapter, Some(2), "CHAPTER II. More Mud"),
            (Part, Some(2), "PART TWO"),
            (Chapter, Some(3), "CHAPTER III. Sun"),
            (Chapter, None, "The Letter"),
            (Chapter, Some(4), "CHAPTER IV. Moon"),
            (Back, None, "Conclusion"),
        ];
        assert_eq!(leveled("The Rain: a tale", &headings), owned(&expected));
    }

    #[test]
    fn heading_depth_is_used_without_heading_words() {
        use Level::{Chapter, Part};
        let flat = [(1, "Rain", 10), (2, "Mud", 900), (2, "Sun", 900), (3, "A note", 300)];
        assert_eq!(leveled("Rain", &flat), owned(&[(Chapter, None, "Mud"), (Chapter, None, "Sun")]));
        let parts =
            [(1, "Water", 0), (2, "Mud", 900), (2, "Sun", 900), (1, "Fire", 0), (2, "Ash", 900), (2, "Oak", 900)];
        let expected = [
            (Part, None, "Water"),
            (Chapter, None, "Mud"),
            (Chapter, None, "Sun"),
            (Part, None, "Fire"),
            (Chapter, None, "Ash"),
            (Chapter, None, "Oak"),
        ];
        assert_eq!(leveled("Rain", &parts), owned(&expected));
        let zh = [
            (1, "河灯", 0),
            (1, "目录", 99),
            (1, "楔子", 300),
            (1, "第一回 看灯", 900),
            (1, "第二回 听雨", 900),
            (1, "尾声", 300),
        ];
        let expected = [
            (Level::Front, None, "楔子"),
            (Chapter, Some(1), "第一回 看灯"),
            (Chapter, Some(2), "第二回 听雨"),
            (Level::Back, None, "尾声"),
        ];
        assert_eq!(leveled("河灯", &zh), owned(&expected));
    }

    #[test]
    fn a_single_heading_is_not_a_structure() {
        assert!(chapters(&book("Rain", &[(1, "Rain", 900)])).is_none());
        assert!(chapters(&book("Rain", &[(1, "Rain", 10), (2, "Contents", 10), (2, "Footnotes", 900)])).is_none());
    }
}
