//! Selects chapters of a book, if the pipeline file does not take all of them.
//!
//! What is not selected is treated as boilerplate marked by the format: it stays out of the chunks and is listed as a
//! reject. Does not look for chapters itself.

use std::fmt;
use std::str::FromStr;

use crate::schema::{Boilerplate, BoilerplateKind, Book, Chapter, Level};

/// Chapter numbers such as `1-12` or `1-3, 7, 20-`, counted from 1 in the order of the book.
///
/// Chapters and letters are counted; in a play acts, or else scenes. Volumes, parts, prefaces and afterwords are not
/// counted. A chapter extends to the next one: text before the first chapter belongs to the first, text after the last
/// to the last, and the heading of a part to the chapter that it opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChapterFilter {
    /// The first and last number of each range, sorted and disjoint. The last of an open range is `u32::MAX`.
    ranges: Vec<(u32, u32)>,
}

/// The reason why a chapter selection is invalid, or does not fit a book.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChapterFilterError {
    /// A number or range is missing.
    #[error("expected a chapter number or a range in `{0}`")]
    Empty(String),
    /// A part is neither a number nor a range.
    #[error("`{0}` is not a chapter number or a range such as `3-7`")]
    NoRange(String),
    /// Numbers start at 1.
    #[error("there is no chapter 0 as in `{0}`; the first chapter is 1")]
    Zero(String),
    /// A range ends before it starts.
    #[error("the range `{0}` ends before it starts")]
    Backwards(String),
    /// The selection names chapters that the book does not have.
    #[error(
        "failed to select chapters {filter} of `{path}`: {}; list them with `dramaturg chunk BOOK --chapters`",
        if *.count == 0 { "no chapters were found in it".to_owned() } else { format!("it has {count}") }
    )]
    Missing {
        /// Path of the book as given.
        path: String,
        /// The selection.
        filter: String,
        /// Number of chapters in the book.
        count: u32,
    },
}

impl FromStr for ChapterFilter {
    type Err = ChapterFilterError;

    fn from_str(text: &str) -> Result<Self, ChapterFilterError> {
        let mut ranges = Vec::new();
        for part in text.split([',', '，', '、']).map(str::trim) {
            if part.is_empty() {
                return Err(ChapterFilterError::Empty(text.to_owned()));
            }
            let (first, last) = match part.split_once(['-', '–', '—']) {
                Some((first, last)) => (first.trim(), Some(last.trim())),
                None => (part, None),
            };
            let number = |digits: &str| digits.parse::<u32>().map_err(|_| ChapterFilterError::NoRange(part.to_owned()));
            let first = number(first)?;
            let last = match last {
                None => first,
                Some("") => u32::MAX,
                Some(last) => number(last)?,
            };
            if first == 0 {
                return Err(ChapterFilterError::Zero(part.to_owned()));
            }
            if last < first {
                return Err(ChapterFilterError::Backwards(part.to_owned()));
            }
            ranges.push((first, last));
        }
        ranges.sort_unstable();
        let mut joined: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for (first, last) in ranges {
            match joined.last_mut() {
                Some(before) if first <= before.1.saturating_add(1) => before.1 = before.1.max(last),
                _ => joined.push((first, last)),
            }
        }
        Ok(Self { ranges: joined })
    }
}

impl fmt::Display for ChapterFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (first, last)) in self.ranges.iter().enumerate() {
            f.write_str(if at == 0 { "" } else { ", " })?;
            match *last {
                last if last == *first => write!(f, "{first}")?,
                u32::MAX => write!(f, "{first}-")?,
                last => write!(f, "{first}-{last}")?,
            }
        }
        Ok(())
    }
}

impl ChapterFilter {
    /// Marks the chapters that are not selected as boilerplate in the book. Chapters and offsets do not change.
    ///
    /// Returns an error if a range starts after the last chapter. A range that only ends after it takes what there is.
    pub fn apply(&self, book: &mut Book, chapters: &[Chapter]) -> Result<(), ChapterFilterError> {
        let starts = starts(chapters);
        let count = u32::try_from(starts.len()).unwrap_or(u32::MAX);
        if self.ranges.iter().any(|(first, _)| *first > count) {
            return Err(ChapterFilterError::Missing { path: book.path.clone(), filter: self.to_string(), count });
        }
        let end = u32::try_from(book.text.chars().count()).unwrap_or(u32::MAX);
        // The start of a chapter number. The first chapter starts with the book; a number after the last is the end of
        // the book.
        let begin = |number: u32| match number {
            0 | 1 => 0,
            number => starts.get(number as usize - 1).copied().unwrap_or(end),
        };
        let mut next = 1;
        for &(first, last) in &self.ranges {
            mark_not_chosen(book, begin(next), begin(first), next, first - 1);
            next = last.saturating_add(1);
        }
        if next <= count {
            mark_not_chosen(book, begin(next), end, next, count);
        }
        Ok(())
    }
}

/// Returns the number of each heading, from 1, as used in a selection, or `None` for headings that are not counted.
#[must_use]
pub fn chapter_numbers(chapters: &[Chapter]) -> Vec<Option<u32>> {
    let any = |levels: &[Level]| chapters.iter().any(|chapter| levels.contains(&chapter.level));
    // The innermost level that holds text; the scenes of an act are selected with it.
    let counted: &[Level] = if any(&[Level::Chapter, Level::Letter]) {
        &[Level::Chapter, Level::Letter]
    } else if any(&[Level::Act]) {
        &[Level::Act]
    } else {
        &[Level::Scene]
    };
    let mut number = 0;
    let count = |chapter: &Chapter| {
        counted.contains(&chapter.level).then(|| {
            number += 1;
            number
        })
    };
    chapters.iter().map(count).collect()
}

/// Returns the starts of the counted chapters, including a part heading or preface directly above.
fn starts(chapters: &[Chapter]) -> Vec<u32> {
    let mut above = None;
    let mut starts = Vec::new();
    for (chapter, number) in chapters.iter().zip(chapter_numbers(chapters)) {
        match chapter.level {
            _ if number.is_some() => starts.push(above.take().unwrap_or(chapter.start)),
            Level::Volume | Level::Part | Level::Act | Level::Front => {
                above.get_or_insert(chapter.start);
            }
            _ => above = None,
        }
    }
    starts
}

/// Marks the range of the chapters `first` to `last` as not selected.
fn mark_not_chosen(book: &mut Book, start: u32, end: u32, first: u32, last: u32) {
    if start >= end {
        return;
    }
    let detail = if first == last {
        format!("chapter {first} was not chosen")
    } else {
        format!("chapters {first} to {last} were not chosen")
    };
    let mut boilerplate = vec![Boilerplate { start, end, kind: BoilerplateKind::NotChosen, detail }];
    for known in book.boilerplate.drain(..) {
        if known.start == known.end {
            boilerplate.push(known);
            continue;
        }
        // Existing marks inside the range are replaced by it; of marks across its edges, the outer part is kept.
        if known.start < start {
            boilerplate.push(Boilerplate { end: known.end.min(start), ..known.clone() });
        }
        if known.end > end {
            boilerplate.push(Boilerplate { start: known.start.max(end), ..known });
        }
    }
    boilerplate.sort_by_key(|boilerplate| (boilerplate.start, boilerplate.end));
    book.boilerplate = boilerplate;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stages::chunk::{Params, chapters, chunk, read};

    const PROSE: &str = "It rained on the weir all that night, and nobody slept.\n\n";

    #[test]
    fn chapter_selections_are_parsed() {
        for (text, normalized) in [
            ("1-12", "1-12"),
            (" 7 ", "7"),
            ("20-, 1-3,7, 4", "1-4, 7, 20-"),
            ("3–5，5—9、10", "3-10"),
            ("1-4294967295, 9", "1-"),
        ] {
            assert_eq!(
                text.parse::<ChapterFilter>().map(|filter| filter.to_string()).as_deref(),
                Ok(normalized),
                "{text}"
            );
        }
        use ChapterFilterError::{Backwards, Empty, NoRange, Zero};
        for (text, expected) in [
            ("", Empty("".to_owned())),
            ("1,,3", Empty("1,,3".to_owned())),
            ("one", NoRange("one".to_owned())),
            ("-5", NoRange("-5".to_owned())),
            ("0-3", Zero("0-3".to_owned())),
            ("9-3", Backwards("9-3".to_owned())),
            ("4294967296", NoRange("4294967296".to_owned())),
        ] {
            assert_eq!(text.parse::<ChapterFilter>(), Err(expected));
        }
    }

    /// Returns the remaining text, and the rejects as (reason, detail up to its position).
    fn chosen(path: &str, text: &str, filter: &str) -> Result<(String, Vec<(String, String)>), ChapterFilterError> {
        let mut book = read(path, text.as_bytes(), None).expect("reads");
        let chapters = chapters(&book);
        filter.parse::<ChapterFilter>().expect("a filter").apply(&mut book, &chapters)?;
        let (chunks, rejects) = chunk(&book, &chapters, &Params::default());
        let detail = |reject: &crate::schema::Reject| reject.detail.split(',').next().unwrap_or_default().to_owned();
        let rejects = rejects.iter().map(|reject| (reject.reason.to_string(), detail(reject)));
        let text = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
        Ok((text, rejects.collect()))
    }

    #[test]
    fn unselected_chapters_are_rejected() {
        let text = format!(
            "Rain\n\nPART ONE\n\nChapter 1\n\nMud. {PROSE}Chapter 2\n\nSun. {PROSE}PART TWO\n\nChapter 1\n\nAsh. {PROSE}EPILOGUE\n\nOak. {PROSE}"
        );
        let selected = |filter: &str| {
            let (text, rejects) = chosen("rain.txt", &text, filter).expect("chosen");
            let kept: Vec<&str> = ["Mud", "Sun", "Ash", "Oak"].into_iter().filter(|word| text.contains(word)).collect();
            let dropped: Vec<String> =
                rejects.into_iter().filter(|(reason, _)| reason == "not_chosen").map(|(_, detail)| detail).collect();
            (kept.join(" "), dropped.join("; "), text)
        };
        let (all, dropped, full_text) = selected("1-");
        assert_eq!((all.as_str(), dropped.as_str()), ("Mud Sun Ash Oak", ""));
        assert_eq!(selected("1-3").2, full_text);
        let (first, dropped, _) = selected("1");
        assert_eq!((first.as_str(), dropped.as_str()), ("Mud", "chapters 2 to 3 were not chosen"));
        let (ends, dropped, text) = selected("1, 3-99");
        assert_eq!((ends.as_str(), dropped.as_str()), ("Mud Ash Oak", "chapter 2 was not chosen"));
        assert!(text.contains("PART TWO") && text.starts_with("PART ONE"), "{text}");
        let (last, dropped, text) = selected("3");
        assert_eq!((last.as_str(), dropped.as_str()), ("Ash Oak", "chapters 1 to 2 were not chosen"));
        assert!(text.starts_with("PART TWO"), "{text}");
    }

    #[test]
    fn chinese_chapters_are_selected_the_same_way() {
        let prose = "河上无风，水车不动，守夜的人都睡了。\n";
        let text =
            format!("河灯\n楔子\n{prose}第一回　看灯\n{prose}第二回　听雨\n{prose}第三回　过河\n{prose}尾声\n{prose}");
        let (kept, rejects) = chosen("灯.txt", &text, "2").expect("chosen");
        assert!(kept.starts_with("第二回　听雨") && !kept.contains("第三回"), "{kept}");
        let dropped: Vec<&str> = rejects.iter().map(|(_, detail)| detail.as_str()).collect();
        assert_eq!(dropped, ["chapter 1 was not chosen", "chapter 3 was not chosen"]);
        let (kept, _) = chosen("灯.txt", &text, "1").expect("chosen");
        assert!(kept.contains("楔子") && !kept.contains("听雨"), "{kept}");
    }

    #[test]
    fn chunks_do_not_span_unselected_chapters() {
        let text = (1..=9).map(|n| format!("Chapter {n}\n\n{}", PROSE.repeat(9))).collect::<Vec<_>>().concat();
        let mut book = read("rain.txt", text.as_bytes(), None).expect("reads");
        let chapters = chapters(&book);
        "2-3, 7".parse::<ChapterFilter>().expect("a filter").apply(&mut book, &chapters).expect("there");
        let (chunks, _) = chunk(&book, &chapters, &Params::default());
        let ends: Vec<(u32, u32)> = chunks.iter().map(|chunk| (chunk.start, chunk.end)).collect();
        assert_eq!(ends, [(chapters[1].start, chapters[3].start), (chapters[6].start, chapters[7].start)]);
    }

    #[test]
    fn a_range_beyond_the_last_chapter_is_an_error_with_the_count() {
        let text = format!("Chapter 1\n\n{PROSE}Chapter 2\n\n{PROSE}");
        let missing = |filter: &str, count| {
            let (path, filter) = ("rain.txt".to_owned(), filter.to_owned());
            Err(ChapterFilterError::Missing { path, filter, count })
        };
        assert_eq!(chosen("rain.txt", &text, "1, 3-5"), missing("1, 3-5", 2));
        assert_eq!(chosen("rain.txt", PROSE, "1"), missing("1", 0));
    }

    #[test]
    fn boilerplate_is_clipped_to_the_selected_range() {
        let mark = |start, end| Boilerplate { start, end, kind: BoilerplateKind::Contents, detail: String::new() };
        let mut book = Book { boilerplate: vec![mark(0, 4), mark(5, 30), mark(12, 12)], ..Book::default() };
        mark_not_chosen(&mut book, 10, 20, 2, 2);
        let ranges: Vec<(u32, u32, &str)> =
            book.boilerplate.iter().map(|m| (m.start, m.end, m.kind.reason().name())).collect();
        assert_eq!(
            ranges,
            [
                (0, 4, "contents"),
                (5, 10, "contents"),
                (10, 20, "not_chosen"),
                (12, 12, "contents"),
                (20, 30, "contents")
            ]
        );
    }
}
