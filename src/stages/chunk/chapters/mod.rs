//! Finds the chapters of a book. Does not split the text; `chunks` does.

pub(super) mod boilerplate;
mod candidates;
pub(super) mod headings;
#[cfg(test)]
mod layouts;
pub(super) mod levels;
mod lines;
mod prose;
mod sequence;
pub(super) mod structure;
mod title_patterns;
mod titles;

use self::candidates::found;
use self::lines::Lines;
use self::sequence::headings_in_sequence;
use self::titles::with_titles;
use crate::schema::{Book, Chapter, Format};
use crate::text::count_code_points;

/// Returns the book's headings in order, each with the text up to the next one. Excludes tables of contents and the
/// distributor's header and footer. Headings marked by the book's format take precedence over those found from its
/// lines.
#[must_use]
pub fn chapters(book: &Book) -> Vec<Chapter> {
    let mut chapters = structure::chapters(book).unwrap_or_else(|| by_lines(book));
    if book.format == Format::Epub {
        // An EPUB has pages; its lines are produced by this program.
        for chapter in &mut chapters {
            chapter.line = None;
        }
    }
    chapters
}

/// Finds headings from the lines of the text.
fn by_lines(book: &Book) -> Vec<Chapter> {
    let text = book.text.as_str();
    let body = boilerplate::body(text);
    let lines = Lines::of(text, &body);
    let line_before = text[..body.start].matches('\n').count();
    let number_of = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let (mut byte, mut point) = (0, 0_u32);
    let mut point_at = |at: usize| {
        point += count_code_points(&text[byte..at]);
        byte = at;
        point
    };
    let mut chapters: Vec<Chapter> = Vec::new();
    let mut holes = body.holes.iter().copied().peekable();
    let mut headings = headings_in_sequence(found(book, &lines), &lines);
    if !book.script {
        headings = with_titles(headings, &lines, &book.title);
    }
    for (index, heading) in headings.into_iter().enumerate() {
        let at = lines.start(heading.line);
        let hole = std::iter::from_fn(|| holes.next_if(|hole| hole.1 <= at)).last();
        let end = hole.map(|(end, _)| point_at(end));
        let start = point_at(at);
        if let Some(before) = chapters.last_mut() {
            before.end = end.unwrap_or(start);
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
    let body_end = point_at(body.end);
    if let Some(last) = chapters.last_mut() {
        last.end = body_end;
    }
    chapters
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Language, Level};
    use crate::stages::chunk::chapters::headings;
    use crate::stages::chunk::read;
    use crate::text::single_spaced;

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
    fn a_title_may_be_on_the_next_line() {
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
    fn a_table_of_contents_is_not_a_chapter() {
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
    fn sections_are_chapters_only_without_chapters() {
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
    fn a_distributors_header_and_licence_are_not_chapters() {
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
    fn prose(language: Language) -> String {
        match language {
            Language::En => PROSE.repeat(12),
            Language::Zh => "河上无风，水车不动，守夜的人都睡了。\n“谁在外头？”老周问。\n".repeat(9),
        }
    }

    #[test]
    fn headings_of_many_forms_start_chapters() {
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
            &["Chapter 999: Mud", "Chapter 1000: Rain", "Chapter 1001: Sun"],
            &["Chapter 1 (Part 1)", "Chapter 1 (Part 2)", "Chapter 2 (Part 1)"],
            &["Chapter 1 Mud", "Chapter 2 the rain comes", "Chapter 3 and goes"],
            &["[Chapter 1]", "[Chapter 2]", "[Chapter 3]"],
            &["Arc 1: Mud", "Chapter 1", "Side Story 1", "Arc 2: Rain", "Chapter 2", "Bonus Chapter: Sun"],
            &["1) The Weir", "2) The Mill", "3) I Go Home"],
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
            &["VIP卷 第九十九章 看灯", "VIP卷 第一百章 听雨"],
            &["第一章：看灯！", "第二章：听雨……", "第三章：谁在过河？"],
            &["壹", "贰", "叁"],
            &["①", "②", "③"],
            &["Ⅰ", "Ⅱ", "Ⅲ"],
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
            let prose = prose(language);
            for heads in books {
                let text = heads.iter().flat_map(|head| [*head, "\n\n", &prose, "\n"]).collect::<String>();
                assert_eq!(titles("a.txt", &text), heads.iter().map(|head| single_spaced(head)).collect::<Vec<_>>());
                if language == Language::Zh {
                    let dense = heads.iter().flat_map(|head| [*head, "\n", &prose]).collect::<String>();
                    assert_eq!(titles("a.txt", &dense).len(), heads.len(), "{heads:?}");
                }
            }
        }
        let alone: String =
            ["看灯", "听雨", "过河"].map(|head| format!("{head}\n\n{}\n", prose(Language::Zh))).concat();
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
    fn implausibly_many_headings_are_ignored() {
        for (path, line) in [("a.md", "# 河\n\n"), ("a.html", "<h2>河</h2>")] {
            let text = line.repeat(crate::books::MAX_HEADINGS + 2);
            let book = read(path, text.as_bytes(), None).expect("reads");
            assert!(book.marked_headings.is_empty() && chapters(&book).is_empty(), "{line}");
        }
    }

    #[test]
    fn a_continued_chapter_is_a_chapter_of_its_own() {
        let (en, zh) = (prose(Language::En), prose(Language::Zh));
        let heads = ["Chapter 1: Mud", "Chapter 1: Mud, Continued", "Chapter 2: Rain"];
        assert_eq!(titles("a.txt", &heads.map(|head| format!("{head}\n\n{en}\n")).concat()), heads);
        let heads = ["第一章 看灯", "第一章 看灯（续）", "第二章 听雨"];
        assert_eq!(titles("a.txt", &heads.map(|head| format!("{head}\n\n{zh}\n")).concat()), heads);
        // What runs over the pages is cut short.
        let heads = ["第一章 看灯听雨", "第一章 看灯", "第二章 过河"];
        let found = titles("a.txt", &heads.map(|head| format!("{head}\n\n{zh}\n")).concat());
        assert_eq!(found, [heads[0], heads[2]]);
    }

    #[test]
    fn two_sentences_are_not_a_title() {
        let zh = prose(Language::Zh).replace('\n', "\n\n");
        let text = format!("第1章\n\n雨停了。谁在外头？\n\n{zh}第2章\n\n谁在外头？\n\n{zh}");
        assert_eq!(titles("b.txt", &text), ["第1章", "第2章 谁在外头？"]);
    }

    #[test]
    fn a_mention_of_a_chapter_is_not_a_heading() {
        let mention = "Chapter 9\n\nwas the one that she liked best.\n\n";
        let text = format!("Chapter 1\n\n{PROSE}{mention}Chapter 2\n\n{PROSE}Chapter 3\n\n{PROSE}");
        assert_eq!(titles("a.txt", &text), ["Chapter 1", "Chapter 2", "Chapter 3"]);
        let zh = "第一章 看灯\n河上无风。\n第九章\n是他最爱的。\n第二章 听雨\n雨大。\n第三章 过河\n桥断了。\n";
        assert_eq!(titles("b.txt", zh), ["第一章 看灯", "第二章 听雨", "第三章 过河"]);
    }

    #[test]
    fn capitalized_lines_are_not_chapters_if_headings_exist() {
        let notice = format!("NO ENTRY\n\n{0}KEEP OUT\n\n{0}LAST WARNING\n\n{0}", prose(Language::En));
        assert_eq!(
            titles("a.txt", &format!("Chapter 1\n\n{PROSE}{notice}Chapter 2\n\n{PROSE}")),
            ["Chapter 1", "Chapter 2"]
        );
        // Nor what is said again and again, nor two alone.
        let cue = format!("ANNA\n\n{}", prose(Language::En)).repeat(6);
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
    fn the_included_play_has_its_scenes() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/books/forty_kilos_short.fountain");
        let book = read("forty_kilos_short.fountain", &std::fs::read(path).expect("shipped"), None).expect("reads");
        let levels: Vec<Level> = chapters(&book).iter().map(|chapter| chapter.level).collect();
        let act = [Level::Act, Level::Scene, Level::Scene, Level::Scene];
        assert_eq!((book.title.as_str(), book.script, levels), ("Forty Kilos Short", true, act.repeat(2)));
    }
}
