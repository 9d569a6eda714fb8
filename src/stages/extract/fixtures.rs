//! Small books with manual attribution, for the tests of this stage.

use super::book_index::BookIndex;
use crate::attribution::{Attribution, Gender, Paragraph, Person, Quotation, QuotationKind};
use crate::schema::{Book, Chunk, Language};

/// Builds an attribution: each line is a paragraph, `“…”` is speech, and `speakers` are in order of speech (out of
/// range: unknown). A line of stars or a heading is a scene break.
pub(crate) fn attribution(text: &str, people: &[(&str, &[&str], Gender)], speakers: &[usize]) -> Attribution {
    let mut attribution = Attribution::default();
    for (name, aliases, gender) in people {
        let aliases = aliases.iter().map(|alias| (*alias).to_owned()).collect();
        attribution.people.push(Person { name: (*name).to_owned(), aliases, gender: *gender, mentions: 1, lines: 0 });
    }
    let mut speakers = speakers.iter();
    let (mut at, mut open) = (0, None);
    for line in text.split_inclusive('\n') {
        let start = at;
        for c in line.chars() {
            match c {
                '“' => open = Some(at + 1),
                '”' => {
                    let begun = open.take().expect("an open quotation");
                    let words = text.chars().skip(begun as usize).take((at - begun) as usize).collect();
                    let speaker = speakers.next().copied().filter(|speaker| *speaker < people.len());
                    if let Some(speaker) = speaker {
                        attribution.people[speaker].lines += 1;
                    }
                    attribution.quotations.push(Quotation {
                        start: begun,
                        end: at,
                        text: words,
                        speaker,
                        kind: Some(QuotationKind::Explicit),
                        confidence: 1.0,
                        action: None,
                    });
                }
                _ => {}
            }
            at += 1;
        }
        let words = line.trim();
        if !words.is_empty() {
            let border = words.starts_with(['*', '＊']) || words.starts_with("Chapter") || words.starts_with('第');
            let end = start + u32::try_from(line.trim_end().chars().count()).expect("short");
            attribution.paragraphs.push(Paragraph { start, end, border });
        }
    }
    attribution
}

pub(crate) fn indexed_book(language: Language, text: &str, attribution: Attribution) -> BookIndex {
    let book = Book {
        slug: "a-book".to_owned(),
        title: "A Book".to_owned(),
        language,
        encoding: "UTF-8".to_owned(),
        path: "a_book.txt".to_owned(),
        text: text.to_owned(),
        ..Book::default()
    };
    BookIndex::new(&book, language, std::sync::Arc::from(text), attribution)
}

/// Cuts a chunk out of a text; offsets in code points.
pub(crate) fn chunk(language: Language, text: &str, index: u32, start: u32, end: u32) -> Chunk {
    Chunk {
        book: "a-book".to_owned(),
        title: "A Book".to_owned(),
        index,
        language,
        chapter: "Chapter 1".to_owned(),
        start,
        end,
        text: text.chars().skip(start as usize).take((end - start) as usize).collect(),
        tokens: 100,
        headings: Vec::new(),
        continues: false,
    }
}

pub(crate) fn length(text: &str) -> u32 {
    u32::try_from(text.chars().count()).expect("short")
}

pub(crate) const EN: &str = "Chapter 1
On the first of March the village of Quern lay under fog, and the mill by the river stood still.
Anna Reed, who had come from the coast, was a tall woman in a grey coat. Anna knocked at the mill.
“Is anybody there?” asked Anna, setting down her bag. “I must see the miller before dark.”
“There is nobody here but me,” said Boris.
“Then you are the miller.”
“I was. They took the stones away in January.”
Anna looked at the empty floor. Anna wanted the stones back more than she could say.
“Who took them?” she asked.
“Ask the mayor. He has a new doorstep.”
* * *
Boris went home alone that night, and nobody met him on the road.
“So it goes,” he said to the dog.
";

pub(crate) const EN_PEOPLE: &[(&str, &[&str], Gender)] =
    &[("Anna", &["Anna Reed"], Gender::Female), ("Boris", &[], Gender::Male)];

pub(crate) const EN_SPEAKERS: &[usize] = &[0, 0, 1, 0, 1, 0, 1, 1];

pub(crate) const ZH: &str = "第一回　看灯
三月初一，渠县城外起了大雾，河边的水车一动不动。
新任巡检陆平，三十岁，身材瘦长，站在磨坊门口。陆平敲了敲门。
“里头有人么？”陆平问，“天黑之前，我要见一见磨坊的主人。”
“只有我一个。”周老七说。
“那你便是主人了。”
“从前是。正月里，他们把磨盘抬走了。”
陆平看着空荡荡的地面。陆平打算把磨盘要回来。
“谁抬走的？”
“你去问知县。他门前新添了一级台阶。”
＊＊＊
周老七独自回了家，一路上没有遇见人。
“罢了。”他对狗说。
";

pub(crate) const ZH_PEOPLE: &[(&str, &[&str], Gender)] =
    &[("陆平", &["陆巡检"], Gender::Male), ("周老七", &["老七"], Gender::Unknown)];
