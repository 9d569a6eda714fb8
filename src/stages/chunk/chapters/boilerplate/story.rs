//! Finds the story of a book between its boilerplate: text added by a distributor, printer or transcriber.
//!
//! Boilerplate is recognised by its headings and by marks of the book's format. It is left out of the chunks and listed
//! with a reason. Does not depend on how chapters are found.

use std::collections::BTreeSet;

use super::distributor::{Body, body};
use super::excluded::{ExcludedPassage, marked, push_unless_blank, split_around};
use super::front_back::{split_back, split_front, tables};
use super::story_bounds::{before_notices, leading, trailing};
use super::story_start;
use super::titles::boilerplate_kind_of_title;
use crate::schema::{BoilerplateKind, Book, Chapter, Level, Reject, Stage};
use crate::stages::chunk::chapters::headings;
use crate::text::{CodePoints, letters_and_digits};

/// The location of a book's story and what is left out, in bytes of the text.
#[derive(Debug)]
pub(crate) struct Story {
    /// The ranges of the story, in order; everything between them is left out.
    pub(crate) ranges: Vec<(usize, usize)>,
    /// The starts of its chapters.
    pub(crate) chapter_starts: Vec<usize>,
    parts: Vec<ExcludedPassage>,
}

impl Story {
    /// Finds the story. `starts` are the chapter starts in bytes.
    pub(crate) fn of(book: &Book, chapters: &[Chapter], starts: &[usize]) -> Self {
        let text = book.text.as_str();
        let Body { start: body_start, end: body_end, holes: between } = body(text);
        let outside: Vec<bool> = chapters
            .iter()
            .map(|chapter| {
                headings::opens_boilerplate(&chapter.title) || boilerplate_kind_of_title(&chapter.title).is_some()
            })
            .collect();
        let first = outside.iter().position(|outside| !outside);
        let last = outside.iter().rposition(|outside| !outside);
        let (start, end, chapter_starts) = if let (Some(first), Some(last)) = (first, last) {
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
        let end = trailing(text, chapter_starts.last().copied().unwrap_or(start), end, start);
        let end = before_notices(text, chapter_starts.last().copied().unwrap_or(start), end);
        let mut parts = Vec::new();
        push_unless_blank(&mut parts, text, 0, body_start, BoilerplateKind::Licence, "before the book");
        let marked = marked(book);
        let titles: BTreeSet<String> = chapters.iter().map(|chapter| letters_and_digits(&chapter.title)).collect();
        split_around(&mut parts, text, (body_start, start), &marked, |parts, from, to| {
            split_front(parts, text, from, to, starts, &titles);
        });
        let mut holes: Vec<ExcludedPassage> = marked
            .iter()
            .filter(|part| part.start < end && part.end > start && part.start < part.end)
            .cloned()
            .collect();
        holes.extend(between.into_iter().map(|(start, end)| {
            let detail = "between two books".to_owned();
            ExcludedPassage { start, end, kind: BoilerplateKind::Licence, detail }
        }));
        holes.extend(tables(text, &chapter_starts, start, end));
        // A preface below a volume's heading, or one of a second volume.
        for at in first.unwrap_or(0)..last.unwrap_or(0) {
            if outside[at] && chapters[at].level == Level::Front {
                let detail = "inside the story".to_owned();
                holes.push(ExcludedPassage {
                    start: starts[at],
                    end: starts[at + 1],
                    kind: BoilerplateKind::FrontMatter,
                    detail,
                });
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
            parts.push(ExcludedPassage { start: begin, end: stop, ..hole });
            from = stop;
        }
        if from < end || ranges.is_empty() {
            ranges.push((from, end));
        }
        split_around(&mut parts, text, (end, body_end), &marked, |parts, from, to| {
            split_back(parts, text, from, to, starts);
        });
        push_unless_blank(&mut parts, text, body_end, text.len(), BoilerplateKind::Licence, "after the book");
        parts.extend(marked.into_iter().filter(|part| part.start == part.end));
        parts.sort_by_key(|part| (part.start, part.end));
        // A range that was not chosen may reach from the front of the story into it.
        parts.dedup_by(|next, part| {
            let one = next.kind == BoilerplateKind::NotChosen && part.end == next.start && part.detail == next.detail;
            part.end = if one { next.end } else { part.end };
            one
        });
        Self { ranges, chapter_starts, parts }
    }

    /// Returns a reject for each range left out, with its position.
    pub(crate) fn rejects(&self, book: &Book) -> Vec<Reject> {
        let text = book.text.as_str();
        let mut points = CodePoints::new(text);
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
            rejects.push(Reject::new(Stage::Chunk, format!("{}@{begin}", book.slug), part.kind.reason(), detail));
        }
        rejects
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::BoilerplateKind::{BackMatter, Contents, FrontMatter, Illustrations, Licence, TranscriberNote};
    use crate::stages::chunk::chapters::boilerplate::titles::boilerplate_kind_of_heading;
    use crate::stages::chunk::{Params, chapters, chunk, read};

    const PROSE: &str = "It rained on the weir all that night, and nobody in the mill slept.\n\n";

    fn story_and_excluded(path: &str, text: &str) -> (String, Vec<(BoilerplateKind, String)>) {
        let book = read(path, text.as_bytes(), None).expect("reads");
        let chapters = chapters(&book);
        let mut chars = book.text.char_indices().map(|(at, _)| at).collect::<Vec<_>>();
        chars.push(book.text.len());
        let starts: Vec<usize> = chapters.iter().map(|chapter| chars[chapter.start as usize]).collect();
        let story = Story::of(&book, &chapters, &starts);
        let parts = story.parts.iter().map(|part| (part.kind, book.text[part.start..part.end].trim().to_owned()));
        let story_text: String =
            chunk(&book, &chapters, &Params::default()).0.into_iter().map(|chunk| chunk.text).collect();
        (story_text, parts.collect())
    }

    fn kinds_of(parts: &[(BoilerplateKind, String)]) -> Vec<BoilerplateKind> {
        parts.iter().map(|(kind, _)| *kind).collect()
    }

    #[test]
    fn quoted_text_is_not_a_heading() {
        for (words, is_head) in
            [("“版权？”", false), ("“插图”", false), ("Contents?", false), ("Contents", true), ("目录", true)]
        {
            assert_eq!(boilerplate_kind_of_heading(words).is_some(), is_head, "{words}");
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
    fn a_second_book_in_a_file_is_read_after_its_own_header() {
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
        for story in [en.as_str(), zh.as_str()] {
            let text = [book("MUD", story), book("SUN", story), book("ASH", story)].concat();
            let (story_text, parts) = story_and_excluded("rain.txt", &text);
            assert_eq!(story_text.matches(story.trim()).count(), 3, "{parts:?}");
            assert_eq!(kinds_of(&parts), [Licence; 4]);
            let book = read("rain.txt", text.as_bytes(), None).expect("reads");
            let chapters = chapters(&book);
            assert_eq!(chapters.iter().filter(|chapter| chapter.number == Some(1)).count(), 3);
            let chapter_text = |at: usize| {
                let chapter = &chapters[at];
                let length = (chapter.end - chapter.start) as usize;
                book.text.chars().skip(chapter.start as usize).take(length).collect::<String>()
            };
            // The last chapter of a book ends where the book ends.
            assert!(
                !chapter_text(1).contains("GUTENBERG") && !chapter_text(1).contains("Terms"),
                "{}",
                chapter_text(1)
            );
        }
    }

    #[test]
    fn each_kind_of_boilerplate_has_its_reason() {
        let text = format!(
            "The Project Gutenberg EBook of Rain\n\n*** START OF THE PROJECT GUTENBERG EBOOK RAIN ***\n\n\
             RAIN\n\nby Nobody\n\n[Transcriber's Note: two spellings\n\nwere kept.]\n\nCONTENTS\n\nCHAPTER I. Mud  1\n\nCHAPTER II. Sun  9\n\n\
             LIST OF ILLUSTRATIONS\n\nThe weir  3\nThe mill  8\n\nPREFACE\n\nI wrote it.\n\n\
             CHAPTER I. Mud\n\n{0}CHAPTER II. Sun\n\n{0}THE END\n\nTranscriber’s Notes\n\nA comma was mended.\n\n\
             *** END OF THE PROJECT GUTENBERG EBOOK RAIN ***\n\nlicence\n",
            PROSE.repeat(40)
        );
        let (story_text, parts) = story_and_excluded("rain.txt", &text);
        assert_eq!(
            kinds_of(&parts),
            [Licence, FrontMatter, TranscriberNote, Contents, Illustrations, FrontMatter, TranscriberNote, Licence]
        );
        assert!(story_text.starts_with("CHAPTER I. Mud") && story_text.trim_end().ends_with("THE END"), "{parts:?}");
        // A note below a heading of its own.
        let text = text.replace("[Transcriber's Note: two", "TRANSCRIBER'S NOTE\n\nTwo").replace("kept.]", "kept.");
        assert_eq!(kinds_of(&story_and_excluded("rain.txt", &text).1), kinds_of(&parts));
    }

    #[test]
    fn each_kind_of_chinese_boilerplate_has_its_reason() {
        let story = "河上无风，水车不动。守夜的人都睡了。\n".repeat(40);
        let text = format!(
            "河灯\n目录\n第一回　看灯\n第二回　听雨\n第三回　过河\n第一回　看灯\n{story}第二回　听雨\n{story}第三回　过河\n{story}"
        );
        let (story_text, parts) = story_and_excluded("灯.txt", &text);
        assert_eq!(kinds_of(&parts), [FrontMatter, Contents]);
        assert!(story_text.starts_with("第一回　看灯\n河上"));
        // The same without a heading over the table of contents.
        let (_, parts) = story_and_excluded("灯.txt", &text.replace("目录\n", ""));
        assert_eq!(kinds_of(&parts), [FrontMatter, Contents]);
    }

    #[test]
    fn website_notices_are_left_out() {
        let story = "　　河上无风，水车不动。守夜的人都睡了。\n".repeat(60);
        let above = "更多精彩小说请访问 www.example.com\n";
        let below = "　　本书来自 www.example.com 小说下载\n=====\n更多精彩，更多好书，尽在某某书库\n";
        let (story_text, parts) =
            story_and_excluded("灯.txt", &format!("{above}第一章 看灯\n{story}第二章 听雨\n{story}{below}"));
        assert_eq!(kinds_of(&parts), [FrontMatter, BackMatter]);
        assert!(story_text.starts_with("第一章 看灯") && story_text.ends_with("都睡了。\n"), "{parts:?}");
        let (story_text, parts) = story_and_excluded("灯.txt", &format!("{above}{story}{below}"));
        assert_eq!(kinds_of(&parts), [FrontMatter, BackMatter]);
        assert!(story_text.starts_with("　　河上") && story_text.ends_with("都睡了。\n"), "{parts:?}");
        // A story may end with a web address if the address belongs to it.
        let (story_text, _) =
            story_and_excluded("灯.txt", &format!("{story}　　他在纸上写下 www.example.com，然后走了。\n"));
        assert!(story_text.ends_with("走了。\n"));
    }

    #[test]
    fn a_preface_in_a_volume_is_left_out_and_a_prologue_is_kept() {
        let prose = PROSE.repeat(30);
        let text = format!(
            "VOLUME I\n\nPREFACE\n\n{prose}PROLOGUE\n\nIt was dry.\n\n{prose}CHAPTER I. Mud\n\n{prose}CHAPTER II. Sun\n\n{prose}"
        );
        let (story_text, parts) = story_and_excluded("rain.txt", &text);
        assert_eq!(kinds_of(&parts), [FrontMatter], "{parts:?}");
        assert!(
            story_text.starts_with("VOLUME I") && story_text.contains("It was dry.") && !story_text.contains("PREFACE")
        );
    }

    #[test]
    fn boilerplate_is_removed_from_a_story_without_headings() {
        let text = format!(
            "CONTENTS\n\nMud  1\nSun  9\nMoon  12\n\n{}Transcriber’s Note: one comma was mended.\n",
            format!("{}\n\n", PROSE.trim().repeat(6)).repeat(20)
        );
        let (story_text, parts) = story_and_excluded("rain.txt", &text);
        assert_eq!(kinds_of(&parts), [Contents, TranscriberNote]);
        assert!(story_text.starts_with("It rained"));
        let yaml = format!("---\ntitle: Rain\nauthor: Nobody\n---\n\n{PROSE}{PROSE}");
        let (story_text, parts) = story_and_excluded("rain.md", &yaml);
        assert!(story_text.trim_start().starts_with("It rained"), "{story_text}");
        assert_eq!(kinds_of(&parts), [FrontMatter]);
    }

    #[test]
    fn the_contents_of_a_second_volume_are_left_out() {
        let prose = PROSE.repeat(30);
        let text = format!(
            "VOLUME I\n\nCHAPTER I. Mud\n\n{prose}CHAPTER II. Sun\n\n{prose}CONTENTS OF VOLUME II\n\nI. Moon  1\n\nII. Stars  9\n\nIII. Night  12\n\n\
             VOLUME II\n\nCHAPTER I. Moon\n\n{prose}CHAPTER II. Stars\n\n{prose}"
        );
        let (story_text, parts) = story_and_excluded("rain.txt", &text);
        assert_eq!(kinds_of(&parts), [Contents], "{parts:?}");
        assert!(
            !story_text.contains("III. Night")
                && story_text.contains("CHAPTER I. Moon")
                && story_text.starts_with("VOLUME I")
        );
    }

    #[test]
    fn prose_is_not_a_boilerplate_heading() {
        for line in [
            "He looked at the contents of the box.",
            "Covered wagons",
            "the cover of night",
            "目录学是一门学问。",
            "Copyrighted lies",
        ] {
            assert_eq!(boilerplate_kind_of_title(line), None, "{line}");
        }
        for (line, expected) in [
            ("CONTENTS.", Contents),
            ("Contents of Volume the Second", Contents),
            ("目　录", Contents),
            ("List of Illustrations", Illustrations),
            ("TRANSCRIBER'S NOTES:", TranscriberNote),
            ("Title Page", FrontMatter),
            ("版权信息", Licence),
        ] {
            assert_eq!(boilerplate_kind_of_title(line), Some(expected), "{line}");
        }
    }
}
