//! Quotation boundaries, for all common quotation marks.
//!
//! Speakers are not considered here. A nested quotation is part of the outer one; marked words that are not speech are
//! left out.

mod chinese_speech_filter;
mod dash_dialogue;
mod dash_tags;
mod english_speech_filter;
pub(super) mod letters;
mod quotation_marks;
pub(super) mod span;
mod speech_filter;
mod verse;

use self::dash_dialogue::{dash_quotations, uses_dashes};
use self::quotation_marks::{choose_marks, close_of, opens_at};
use self::span::Span;
use self::speech_filter::is_speech;
use self::verse::{continues_verse, verse_end};
use super::Paragraph;
use crate::schema::Language;

/// Returns the quotations of a book in order.
pub(super) fn quotations(chars: &[char], paragraphs: &[Paragraph], language: Language) -> Vec<Span> {
    let (marks, marked) = choose_marks(chars);
    if uses_dashes(chars, paragraphs, marked) {
        return dash_quotations(chars, paragraphs, language);
    }
    let mut spans: Vec<Span> = Vec::new();
    let mut open: Option<usize> = None;
    // Offset of the mark that opened a quotation still open at the end of a line of verse.
    let mut mark = 0;
    for (index, paragraph) in paragraphs.iter().enumerate() {
        let (start, end) = (paragraph.start as usize, paragraph.end as usize);
        let mut at = start;
        let mut still_open = None;
        if language == Language::En
            && open.is_some_and(|before| before + 1 == index && continues_verse(chars, &paragraphs[before], paragraph))
        {
            let (close, next, closed) = verse_end(chars, mark, paragraph);
            let (outer_start, outer_end) = (start, next);
            let (paragraph, continues, written) = (index, true, false);
            spans.push(Span { start, end: close, outer_start, outer_end, paragraph, continues, written });
            still_open = (!closed).then_some(index);
            at = next;
        }
        while at < end {
            if !opens_at(chars, at, start, end, marks) {
                at += 1;
                continue;
            }
            let (close, next, closed) = close_of(chars, at, end, marks);
            let (mut from, mut to) = (at + 1, close);
            while from < to && chars[from].is_whitespace() {
                from += 1;
            }
            while to > from && chars[to - 1].is_whitespace() {
                to -= 1;
            }
            let continues = at == start && open.is_some_and(|before| before + 1 == index);
            let (outer_start, outer_end, paragraph, written) = (at, next, index, false);
            let span = Span { start: from, end: to, outer_start, outer_end, paragraph, continues, written };
            if from < to && (continues || !closed || is_speech(chars, &span, start, end, language)) {
                spans.push(span);
                still_open = (!closed).then_some(index);
                mark = outer_start;
            }
            at = next.max(at + 1);
        }
        open = still_open;
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribution::paragraphs::paragraphs;

    fn check(text: &str, language: Language, expected: &[&str]) {
        let chars: Vec<char> = text.chars().collect();
        let found: Vec<String> = quotations(&chars, &paragraphs(&chars), language)
            .iter()
            .map(|span| chars[span.start..span.end].iter().collect())
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn english_quotation_marks_are_paired() {
        check("“Come in,” she said. “Sit.”", Language::En, &["Come in,", "Sit."]);
        check("\"Come in,\" she said. \"Sit.\"", Language::En, &["Come in,", "Sit."]);
        check("‘It isn’t Tom’s,’ said he. ‘’Tis mine.’", Language::En, &["It isn’t Tom’s,", "’Tis mine."]);
        check("'It isn't the dogs' dinner,' said he. 'Sit.'", Language::En, &["It isn't the dogs' dinner,", "Sit."]);
        check("“He said, ‘No,’ and left,” said she.", Language::En, &["He said, ‘No,’ and left,"]);
        check("“He said nothing more.", Language::En, &["He said nothing more."]);
    }

    #[test]
    fn punctuation_outside_quotation_marks_and_foreign_marks_are_supported() {
        check(
            "‘I’m goin’ home’, said Tom. ‘Are the dogs’ tails wet?’",
            Language::En,
            &["I’m goin’ home", "Are the dogs’ tails wet?"],
        );
        check("`It isn't Tom's,' said he. `'Tis mine.'", Language::En, &["It isn't Tom's,", "'Tis mine."]);
        check("« Come in », she said. « Sit. »", Language::En, &["Come in", "Sit."]);
        check("»Come in,« she said. »Sit.«", Language::En, &["Come in,", "Sit."]);
        check("„Come in,“ she said. „Sit.“", Language::En, &["Come in,", "Sit."]);
    }

    #[test]
    fn dialogue_after_dashes_is_quoted() {
        check(
            "—Is it deep? said Hale from the rail.\n\n—Deep enough, Captain Pell answered, and spat. Go in and see.\n\n—I will not.\n\n\
             Hale laughed—for the first time.\n\n—Row, he said, or swim.\n",
            Language::En,
            &["Is it deep?", "Deep enough,", "Go in and see.", "I will not.", "Row,", "or swim."],
        );
        check(
            "—Nobody asked you. Hale drank. —Is it deep?\n\n—It is. The captain sat down. —Very.\n\n—He is here, she told him.\n\n\
             —No. They know. I am sure.\n",
            Language::En,
            &["Nobody asked you.", "Is it deep?", "It is.", "Very.", "He is here,", "No. They know. I am sure."],
        );
        check("“Is it deep?” said Hale.\n\n—It was not.\n", Language::En, &["Is it deep?"]);
        check(
            "—水深么？罗守田问。\n\n—不深，沈阿牛说，下去罢。\n\n—你先下。\n",
            Language::Zh,
            &["水深么？", "不深，", "下去罢。", "你先下。"],
        );
    }

    #[test]
    fn quoted_words_that_are_not_speech_are_skipped() {
        check("The inn was called “The Anchor,” and it meant it.", Language::En, &[]);
        check("It is entered under “Paid” in the book.", Language::En, &[]);
        check("She only said “no” and went.", Language::En, &["no"]);
        check("“The Blue Boat”; “The Two Weirs”; these were all. “The Locks” had gone.", Language::En, &[]);
        check("She went home and had what she calls “a good cry.”", Language::En, &[]);
        check("“Tide” was all of it.", Language::En, &[]);
        check("He was heard to say “be quiet.”", Language::En, &["be quiet."]);
        check("门上写着“公账房”三个字。", Language::Zh, &[]);
        check("此人姓罗，江湖上人称“铁桨”；他说“不去”，也就罢了。", Language::Zh, &["不去"]);
        check("他问“是谁？”便走了。", Language::Zh, &["是谁？"]);
    }

    #[test]
    fn chinese_quotation_marks_are_paired() {
        check("他道：“去罢。”她道：「不去。」", Language::Zh, &["去罢。", "不去。"]);
        check("他道：“去罢！\"她道：“不去？\"", Language::Zh, &["去罢！", "不去？"]);
        check("他道：“去罢。她道：“不去。”", Language::Zh, &["去罢。", "不去。"]);
        check("他道：『你說「去」麼？』", Language::Zh, &["你說「去」麼？"]);
        check("他道：“又道：“去。”罢了。”", Language::Zh, &["又道：“去。”罢了。"]);
    }

    #[test]
    fn a_quoted_song_continues_over_its_lines() {
        let song = "He sang as he rowed, and nobody was there to hear it:\n\n    “The tide is out, the mud is brown,\n      And all the boats lie over;\n\n    \
                    “He asked me, ‘Which way to the town?’\n      I told him, ‘Ask the drover.’”\n\n“Again!” said Hale.\n\n  \
                    “I never closed this,\nsaid Tom.\n";
        check(
            song,
            Language::En,
            &[
                "The tide is out, the mud is brown,",
                "And all the boats lie over;",
                "He asked me, ‘Which way to the town?’",
                "I told him, ‘Ask the drover.’",
                "Again!",
                "I never closed this,",
            ],
        );
    }

    #[test]
    fn a_quotation_continues_over_paragraphs() {
        let text = "“One thing more.\n\n“And another,” he said.";
        let chars: Vec<char> = text.chars().collect();
        let spans = quotations(&chars, &paragraphs(&chars), Language::En);
        assert_eq!(spans.iter().map(|span| span.continues).collect::<Vec<_>>(), [false, true]);
    }
}
