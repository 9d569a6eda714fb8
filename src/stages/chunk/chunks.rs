//! Splits chapters into chunks: contiguous passages within a token budget, cut where they interrupt the plot least.
//!
//! The chunks of a book follow each other without gaps and together hold the whole story. Text around the story is
//! returned as rejects.

use super::Params;
use super::chapters::boilerplate::Story;
use super::chapters::levels::rank;
use super::units::{Unit, Weight, units};
use crate::llm::{Estimate, estimate_tokens};
use crate::schema::{Book, Chapter, Chunk, Reject};
use crate::text::{CodePoints, main_language};

/// The maximum number of bytes of a chapter that are cut at once, which bounds the memory for its paragraphs. Larger
/// than any real chapter and most books.
const BLOCK: usize = 1 << 22;

/// How many bytes before the end of such a block a better cut is searched for.
const NEAR: usize = 1 << 16;

/// A run of whole units.
#[derive(Debug, Clone, Copy)]
struct Piece {
    start: usize,
    end: usize,
    weight: Weight,
}

/// Splits a book into chunks of at most `max_tokens`, and returns them with the rejects.
///
/// Whole chapters are merged while a chunk holds less than `min_fill` of the maximum. A longer chapter is cut into
/// even pieces, at paragraph ends and outside open quotations where possible. The concatenated chunks are the story;
/// the text before and after it, including prefaces, is returned as rejects. Runs in time linear in the length of the
/// book.
#[must_use]
pub fn chunk(book: &Book, chapters: &[Chapter], params: &Params) -> (Vec<Chunk>, Vec<Reject>) {
    let text = book.text.as_str();
    let starts = bytes_of(text, chapters);
    let story = Story::of(book, chapters, &starts);
    let max = params.max_tokens.max(1);
    let (mut bound, mut step) = (max, 1);
    loop {
        let chunks = records(book, chapters, &starts, &plan(text, &story, bound, params), params);
        let over = chunks.iter().map(|chunk| chunk.tokens.saturating_sub(max)).max().unwrap_or(0);
        if over == 0 || bound == 1 {
            return (chunks, story.rejects(book));
        }
        // A tokenizer can count more tokens for two joined paragraphs than for the two apart. This is rare.
        bound = bound.saturating_sub(over.max(step)).max(1);
        step *= 2;
    }
}

/// Splits the story into pieces whose units sum to at most `max` tokens.
fn plan(text: &str, story: &Story, max: u32, params: &Params) -> Vec<Piece> {
    let mut chunks: Vec<Piece> = Vec::new();
    for &range in &story.ranges {
        let mut pieces: Vec<Piece> = Vec::new();
        for (start, end) in sections(text, range, &story.chapter_starts, max) {
            for (start, end) in blocks(text, start, end) {
                let units = units(&text[start..end], start, max, params);
                split(&units, max, &mut pieces);
            }
        }
        chunks.extend(merge(&pieces, max, params.min_fill));
    }
    chunks
}

/// Converts the start of each chapter from code points to bytes.
fn bytes_of(text: &str, chapters: &[Chapter]) -> Vec<usize> {
    let mut rest = text.chars();
    let mut passed = 0;
    chapters
        .iter()
        .map(|chapter| {
            let skip = (chapter.start as usize).saturating_sub(passed);
            passed += skip;
            if let Some(before) = skip.checked_sub(1) {
                rest.nth(before);
            }
            text.len() - rest.as_str().len()
        })
        .collect()
}

/// Returns the chapters in a range of the story. Chapters that are little more than a heading are joined with the next.
fn sections(text: &str, range: (usize, usize), chapter_starts: &[usize], max: u32) -> Vec<(usize, usize)> {
    let first = chapter_starts.partition_point(|at| *at <= range.0);
    let last = chapter_starts.partition_point(|at| *at < range.1);
    let mut chapter_starts = chapter_starts[first..last.max(first)].to_vec();
    chapter_starts.push(range.1);
    let small = max.min(400) / 5;
    let mut sections: Vec<(usize, usize)> = Vec::new();
    let mut start = range.0;
    for (at, &end) in chapter_starts.iter().enumerate() {
        // Only short texts are worth counting.
        let tiny = end - start < 1600 && estimate_tokens(&text[start..end]) < small;
        if tiny && at + 1 < chapter_starts.len() {
            continue;
        }
        if end > start {
            sections.push((start, end));
        }
        start = end;
    }
    sections
}

/// Cuts a range longer than [`BLOCK`] into blocks, between two paragraphs where possible.
fn blocks(text: &str, start: usize, end: usize) -> impl Iterator<Item = (usize, usize)> {
    let mut start = start;
    std::iter::from_fn(move || {
        let begun = start;
        start = if end - begun <= BLOCK {
            end
        } else {
            let most = text.floor_char_boundary(begun + BLOCK);
            let near = text.ceil_char_boundary(most - NEAR);
            let after = |mark: &&str| text[near..most].rfind(*mark).map(|at| near + at + mark.len());
            ["\n\n", "\n\r\n", "\n", "。", " "].iter().find_map(after).unwrap_or(most)
        };
        (begun < start).then_some((begun, start))
    })
}

/// Splits a section's units into even pieces of at most `max` tokens.
fn split(units: &[Unit], max: u32, pieces: &mut Vec<Piece>) {
    let mut remaining_tokens = units.iter().fold(0_u32, |sum, unit| sum.saturating_add(unit.weight.tokens));
    let mut rest = units;
    while let Some(first) = rest.first() {
        let target = f64::from(remaining_tokens) / f64::from(remaining_tokens.div_ceil(max).max(1));
        let (mut best, mut sum) = (0, 0_u32);
        let mut best_cost = f64::INFINITY;
        for (at, unit) in rest.iter().enumerate() {
            sum = sum.saturating_add(unit.weight.tokens);
            if sum > max && at > 0 {
                break;
            }
            let last = at + 1 == rest.len();
            let cost = if last && remaining_tokens <= max {
                f64::NEG_INFINITY
            } else {
                (f64::from(sum) - target).abs() / f64::from(max) + unit.cost
            };
            if cost < best_cost {
                (best, best_cost) = (at, cost);
            }
        }
        let weight = rest[1..=best].iter().fold(first.weight, |weight, unit| weight.joined(unit.weight));
        pieces.push(Piece { start: first.start, end: rest[best].end, weight });
        remaining_tokens = remaining_tokens.saturating_sub(weight.tokens);
        rest = &rest[best + 1..];
    }
}

/// Merges pieces while a chunk holds less than `min_fill` of `max`, and never beyond `max`.
fn merge(pieces: &[Piece], max: u32, min_fill: f64) -> Vec<Piece> {
    let enough = f64::from(max) * min_fill;
    let is_short = |piece: &Piece| f64::from(piece.weight.tokens) < enough;
    let joined = |before: &Piece, next: &Piece| {
        let weight = before.weight.joined(next.weight);
        (weight.tokens <= max).then_some(Piece { start: before.start, end: next.end, weight })
    };
    let mut chunks: Vec<Piece> = Vec::new();
    for piece in pieces {
        match chunks.last_mut() {
            Some(chunk)
                if is_short(chunk)
                    && let Some(both) = joined(chunk, piece) =>
            {
                *chunk = both;
            }
            _ => chunks.push(*piece),
        }
    }
    // A short remainder at the end joins the chunk before it.
    if let [.., before, last] = &chunks[..]
        && is_short(last)
        && let Some(both) = joined(before, last)
    {
        chunks.truncate(chunks.len() - 2);
        chunks.push(both);
    }
    chunks
}

fn records(book: &Book, chapters: &[Chapter], starts: &[usize], pieces: &[Piece], params: &Params) -> Vec<Chunk> {
    let mut points = CodePoints::new(&book.text);
    let mut chunks = Vec::with_capacity(pieces.len());
    for (index, piece) in pieces.iter().enumerate() {
        let text = &book.text[piece.start..piece.end];
        if text.is_empty() {
            continue;
        }
        let (start, end) = (points.at(piece.start), points.at(piece.end));
        let within = |at: &usize| (piece.start..piece.end).contains(at);
        let first = starts.partition_point(|at| *at < piece.start);
        let headings: Vec<(u32, String)> = starts[first..]
            .iter()
            .zip(&chapters[first..])
            .take_while(|(at, _)| within(at))
            .map(|(_, chapter)| (chapter.start, chapter.title.clone()))
            .collect();
        chunks.push(Chunk {
            book: book.slug.clone(),
            title: book.title.clone(),
            index: u32::try_from(index).unwrap_or(u32::MAX),
            language: main_language(text),
            chapter: chapter_title_at(&book.text, chapters, starts, piece.start),
            start,
            end,
            text: text.to_owned(),
            tokens: piece.weight.estimate.map_or_else(|| params.count_tokens(text), Estimate::tokens),
            headings,
            continues: false,
        });
    }
    chunks
}

/// Returns the title of the chapter at a byte offset. For a part directly followed by a chapter heading, returns the
/// chapter's title.
fn chapter_title_at(text: &str, chapters: &[Chapter], starts: &[usize], offset: usize) -> String {
    let Some(mut at) = starts.partition_point(|start| *start <= offset).checked_sub(1) else { return String::new() };
    if starts[at] == offset || text[starts[at]..offset].trim().is_empty() {
        // No book nests headings deeper.
        let deepest = at + 8;
        while let Some(&next) = starts.get(at + 1)
            && at < deepest
            && rank(chapters[at].level) < rank(chapters[at + 1].level)
            && next - starts[at] < 400
            && text[starts[at]..next].split_whitespace().map(str::len).sum::<usize>() <= chapters[at].title.len() + 8
        {
            at += 1;
        }
    }
    chapters[at].title.clone()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::llm::Tokenizer;
    use crate::stages::chunk::breaks::ends_in_quotation;
    use crate::stages::chunk::{chapters, read};
    use crate::text::count_code_points;

    fn book(text: &str) -> Book {
        read("a_book.txt", text.as_bytes(), None).expect("reads")
    }

    fn params(max_tokens: u32) -> Params {
        Params { max_tokens, ..Params::default() }
    }

    fn cut(text: &str, max_tokens: u32) -> (Vec<Chunk>, Vec<Reject>) {
        let book = book(text);
        chunk(&book, &chapters(&book), &params(max_tokens))
    }

    /// A chapter of about `tokens` tokens in short paragraphs.
    fn prose(tokens: u32) -> String {
        "The mill stood still and the river went by.\n\n".repeat(tokens as usize / 10)
    }

    #[test]
    fn small_chapters_merge_and_long_ones_are_cut_evenly() {
        let text = format!("Chapter 1\n\n{}Chapter 2\n\n{}Chapter 3\n\n{}", prose(100), prose(100), prose(2000));
        let (chunks, rejects) = cut(&text, 600);
        assert!(rejects.is_empty(), "{rejects:?}");
        assert_eq!(chunks[0].headings.len(), 2);
        assert_eq!(chunks[0].chapter, "Chapter 1");
        let long: Vec<u32> = chunks[1..].iter().map(|chunk| chunk.tokens).collect();
        assert!(long.len() == 4 && long.iter().all(|tokens| (450..=600).contains(tokens)), "{long:?}");
        assert!(chunks[1..].iter().all(|chunk| chunk.chapter == "Chapter 3"));
        assert_eq!(chunks.iter().map(|chunk| chunk.index).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_chunk_is_named_after_its_first_chapter() {
        for (text, name) in [
            (format!("Chapter 1\n\nOh.\n\nChapter 2\n\n{}", prose(300)), "Chapter 1"),
            (format!("PART ONE\n\nChapter 1\n\nOh.\n\nChapter 2\n\n{}", prose(300)), "Chapter 1"),
            (format!("第一章 看灯\n无风。\n第二章 听雨\n{}", "河上无风，水车不动。\n".repeat(60)), "第一章 看灯"),
            (
                format!("第一卷\n第一章 看灯\n无风。\n第二章 听雨\n{}", "河上无风，水车不动。\n".repeat(60)),
                "第一章 看灯",
            ),
        ] {
            assert_eq!(cut(&text, 2000).0[0].chapter, name, "{text}");
        }
    }

    #[test]
    fn a_cut_avoids_open_quotations_and_prefers_scene_breaks() {
        let speech = "“It went on.\n\n“And on.\n\n“And on again and again,” he said.\n\n";
        let text = format!("{}{}{}", prose(500), speech.repeat(3), prose(500));
        for chunk in cut(&text, 600).0 {
            assert!(
                !ends_in_quotation(chunk.text.trim_end().rsplit("\n\n").next().expect("a paragraph")),
                "{}",
                chunk.text
            );
        }
        let text = format!("{}* * *\n\n{}", prose(460), prose(540));
        assert!(cut(&text, 600).0[0].text.ends_with("* * *\n\n") || cut(&text, 600).0[1].text.starts_with("* * *"));
    }

    #[test]
    fn very_long_text_is_cut_into_blocks() {
        for (part, ending) in
            [("The mill stood still.\n\n", "\n\n"), ("水车不动。", "。"), ("water ", " "), ("water", "")]
        {
            let text = part.repeat(BLOCK * 5 / 2 / part.len());
            let blocks: Vec<&str> = blocks(&text, 0, text.len()).map(|(from, to)| &text[from..to]).collect();
            assert_eq!(blocks.len(), 3);
            assert!(blocks.iter().all(|block| block.ends_with(ending) && block.len() <= BLOCK));
            assert_eq!(blocks.concat(), text);
        }
    }

    #[test]
    fn paragraphs_over_the_limit_are_cut_at_sentence_ends() {
        let zh =
            format!("第一回　看灯\n{}\n第二回　听雨\n雨停了。\n", "河上无风，水车不动。守夜的人都睡了！".repeat(80));
        let (chunks, _) = cut(&zh, 300);
        assert!(chunks.len() >= 4);
        assert!(chunks[..3].iter().all(|chunk| chunk.text.ends_with(['。', '！'])), "{}", chunks[0].text);
        let (chunks, _) = cut(&"water".repeat(4000), 300);
        assert!(chunks.iter().all(|chunk| chunk.tokens <= 300));
    }

    #[test]
    fn text_around_the_story_is_rejected_with_its_offsets() {
        let text = format!(
            "Rain\n\nby nobody\n\nPREFACE\n\nI wrote it.\n\nChapter 1\n\n{0}Chapter 2\n\n{0}APPENDIX\n\nA map.\n\n*** END OF THE PROJECT GUTENBERG EBOOK RAIN ***\nlicence\n",
            prose(300)
        );
        let (chunks, rejects) = cut(&text, 8000);
        assert_eq!(chunks.len(), 1);
        let reasons: Vec<&str> = rejects.iter().map(|reject| reject.reason.name()).collect();
        assert_eq!(reasons, ["front_matter", "front_matter", "back_matter", "licence"]);
        assert_eq!(rejects[1].id, format!("a-book@{}", text.find("PREFACE").expect("there")));
        assert!(chunks[0].text.starts_with("Chapter 1") && chunks[0].text.ends_with("by.\n\n"));
    }

    #[test]
    fn a_story_without_headings_is_kept_completely() {
        let (chunks, rejects) = cut(&prose(300), 8000);
        assert_eq!((chunks.len(), rejects.len(), chunks[0].chapter.as_str()), (1, 0, ""));
        let (chunks, rejects) = cut(&format!("{}EPILOGUE\n\n{}", prose(3000), prose(100)), 8000);
        assert!(rejects.is_empty() && chunks[0].text.starts_with("The mill"), "{rejects:?}");
    }

    #[test]
    fn a_part_starts_with_its_first_chapter() {
        let text = format!("PART ONE\n\nChapter 1\n\n{0}PART TWO\n\nChapter 2\n\n{0}", prose(900));
        let (chunks, _) = cut(&text, 1000);
        assert_eq!(chunks.iter().map(|chunk| chunk.chapter.as_str()).collect::<Vec<_>>(), ["Chapter 1", "Chapter 2"]);
        assert!(chunks[1].text.starts_with("PART TWO"));
    }

    fn paragraphs() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            Just("Chapter 3\n\n".to_owned()),
            Just("第五回　过河\n".to_owned()),
            Just("* * *\r\n\r\n".to_owned()),
            Just("\n\n  \n".to_owned()),
            "[“”\"a-zA-Z ,.?!\n]{0,400}",
            "[“”「」河上无风水车不动，。！？\n　]{0,200}",
            "[a-z]{200,900}\n\n",
            "\\PC{0,80}\r\n",
        ];
        proptest::collection::vec(part, 1..24).prop_map(|parts| parts.concat())
    }

    #[test]
    fn counted_and_estimated_tokens_stay_within_the_limit() {
        let en =
            "“Who is there?” said the miller.\n/ Nobody answered; nobody ever did, on such a night.\n\n".repeat(90);
        let zh = "　　“谁在外头？”老周问。\n　　“我。”他没有再说话，只把信放在炉子旁边。\n".repeat(90);
        for text in [en, zh, "water".repeat(4000), "\u{1f40e}\u{20bb7}".repeat(900)] {
            let book = book(&text);
            for tokenizer in [Tokenizer::O200kBase, Tokenizer::Cl100kBase] {
                let params = Params { tokenizer: Some(tokenizer), ..params(300) };
                let (chunks, _) = chunk(&book, &chapters(&book), &params);
                assert_eq!(chunks.iter().map(|chunk| chunk.text.as_str()).collect::<String>(), text);
                for chunk in &chunks {
                    assert_eq!(chunk.tokens, tokenizer.count(&chunk.text));
                    assert!(chunk.tokens <= 300, "{tokenizer:?}: {} of {:?}", chunk.tokens, chunk.text);
                }
                let tokens: Vec<u32> = chunks.iter().map(|chunk| chunk.tokens).collect();
                assert!(tokens.len() > 5 && tokens.iter().all(|tokens| *tokens > 99), "{tokens:?}");
            }
        }
    }

    fn tokenizers() -> impl Strategy<Value = Option<Tokenizer>> {
        prop_oneof![Just(None), Just(Some(Tokenizer::O200kBase)), Just(Some(Tokenizer::Cl100kBase))]
    }

    #[test]
    fn a_cut_avoids_quotations_of_all_marks() {
        let en = "The mill stood still and the river went by it all that day and the next.";
        let zh = "河上没有风，水车停了三天，守夜的人都睡不着，只听见水从闸下过去。";
        for (prose, opening, middle, closing) in [
            (en, "“It went on—", "“And on, and on again.", "“And then it ended.”"),
            (en, "\"It went on.", "And on, and on again.", "And then it ended.\""),
            (zh, "“水一直走，", "走了又走。", "后来就停了。”"),
            (zh, "「水一直走，", "走了又走。", "後來就停了。」"),
        ] {
            let speech = format!("{opening}\n\n{middle}\n\n{closing}\n\n");
            let text = format!("{}{speech}", format!("{prose}\n\n").repeat(3)).repeat(40);
            let chunks = cut(&text, 500).0;
            assert!(chunks.len() > 4);
            for chunk in &chunks[..chunks.len() - 1] {
                let last = chunk.text.trim_end().rsplit("\n\n").next().expect("a paragraph");
                assert!(last == closing || last == prose, "{last}");
            }
        }
    }

    /// A page with chapters, tables of contents, notes and navigation.
    fn page() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            (1_u32..40).prop_map(|number| format!("<h2>Chapter {number}</h2>")),
            Just("<h2>第三回 过河</h2>".to_owned()),
            Just("<h2>PREFACE</h2>".to_owned()),
            Just("<nav>Up Down</nav>".to_owned()),
            Just("<section epub:type=\"toc\"><p>Chapter 1</p><p>Chapter 2</p></section>".to_owned()),
            Just("<p>CONTENTS</p><p>Mud 1</p><p>Sun 9</p><p>Moon 12</p>".to_owned()),
            "<p>[“”a-zA-Z ,.]{1,300}</p>",
            "<p>[“”「」河上无风水车不动，。]{1,120}</p>",
        ];
        proptest::collection::vec(part, 1..30).prop_map(|parts| format!("<html><body>{}</body></html>", parts.concat()))
    }

    proptest! {
        #[test]
        fn text_outside_chunks_is_in_rejects(text in page(), max in 40_u32..400) {
            let Ok(book) = read("a.html", text.as_bytes(), None) else { return Ok(()) };
            let chapters = chapters(&book);
            let (chunks, rejects) = chunk(&book, &chapters, &params(max));
            let chars: Vec<char> = book.text.chars().collect();
            let (mut at, mut holes) = (0, 0);
            for chunk in &chunks {
                let own: String = chars[chunk.start as usize..chunk.end as usize].iter().collect();
                prop_assert_eq!(&own, &chunk.text);
                prop_assert!(chunk.start >= at && chunk.tokens <= max);
                let between = &chars[at as usize..chunk.start as usize];
                holes += usize::from(between.iter().any(|c| !c.is_whitespace()));
                at = chunk.end;
            }
            holes += usize::from(chars[at as usize..].iter().any(|c| !c.is_whitespace()));
            prop_assert!(holes <= rejects.len(), "{holes} holes, {rejects:?}");
        }

        #[test]
        fn chunks_cover_the_story_within_the_limit(text in paragraphs(), max in 40_u32..400, share in 0.0..1.0_f64, tokenizer in tokenizers()) {
            let Ok(book) = read("a.txt", text.as_bytes(), None) else { return Ok(()) };
            let chapters = chapters(&book);
            let params = Params { max_tokens: max, min_fill: share, tokenizer, ..Params::default() };
            let (chunks, rejects) = chunk(&book, &chapters, &params);
            let joined: String = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
            let start = chunks.first().map_or(0, |chunk| chunk.start as usize);
            let expected: String = book.text.chars().skip(start).take(joined.chars().count()).collect();
            prop_assert_eq!(&joined, &expected);
            prop_assert!(chunks.windows(2).all(|pair| pair[0].end == pair[1].start));
            for chunk in &chunks {
                prop_assert_eq!(chunk.tokens, params.count_tokens(&chunk.text));
                prop_assert!(chunk.tokens <= max, "{} > {max}: {:?}", chunk.tokens, chunk.text);
                prop_assert_eq!(chunk.end - chunk.start, count_code_points(&chunk.text));
            }
            // No text is lost: what no chunk holds is blank or listed in a reject.
            let end = chunks.last().map_or(0, |chunk| chunk.end as usize);
            let outside: String = book.text.chars().take(start).chain(book.text.chars().skip(end)).collect();
            prop_assert!(outside.trim().is_empty() || !rejects.is_empty());
        }
    }
}
