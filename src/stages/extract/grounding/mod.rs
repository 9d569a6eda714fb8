//! Finds an utterance in the book: an exact search first, then an approximate one. Makes no decision about scenes.
//!
//! A passage is indexed once. Each utterance is then searched for, and aligned with the few segments that share the
//! most n-grams with it. An utterance that differs by a name, a number or a negation is not found, however similar the
//! rest is.

mod alignment;
mod edit_steps;
mod exact_search;
mod matches;
mod name_discriminators;
mod ngrams;
mod normalized;
mod passage_search;
mod similar_search;
mod token;
pub(crate) mod tokens;

pub(crate) use matches::{Found, MatchedRanges};
pub(crate) use passage_search::PassageIndex;

use std::ops::Range;

use super::book_index::BookIndex;
use crate::schema::Grounded;

/// Searches for utterances in a passage (range in code points) and returns for each how it was found and its similarity
/// to the text. As in a scene, each one is searched for after the previous one first, and no range is used twice.
#[must_use]
pub fn ground(book: &BookIndex, text_range: Range<u32>, lines: &[String], min_similarity: f64) -> Vec<(Grounded, f64)> {
    let index = PassageIndex::new(book, text_range.start, text_range.end);
    let (mut matched, mut after) = (MatchedRanges::default(), text_range.start);
    let mut found = Vec::with_capacity(lines.len());
    for line in lines {
        let line = index.find(line, after, min_similarity, &matched);
        if let Some(range) = line.range {
            matched.add(range);
            after = range.1;
        }
        found.push((line.grounded, line.similarity));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Language;
    use crate::stages::extract::fixtures::{
        EN, EN_PEOPLE, EN_SPEAKERS, ZH, ZH_PEOPLE, attribution, indexed_book, length,
    };

    fn check(language: Language, cases: &[(&str, Grounded, &str)]) {
        let (text, people) = if language == Language::En { (EN, EN_PEOPLE) } else { (ZH, ZH_PEOPLE) };
        let book = indexed_book(language, text, attribution(text, people, EN_SPEAKERS));
        let index = PassageIndex::new(&book, 0, length(text));
        for (speech, grounded, begins) in cases {
            let found = index.find(speech, 0, 0.6, &MatchedRanges::default());
            assert_eq!(found.grounded, *grounded, "{speech}: {found:?}");
            assert_eq!(found.range.is_some(), *grounded != Grounded::Absent);
            if let Some((start, end)) = found.range {
                assert!(book.slice(start, end).starts_with(begins), "{speech}: {}", book.slice(start, end));
            }
        }
    }

    #[test]
    fn english_lines_are_found_exactly_or_approximately() {
        check(
            Language::En,
            &[
                ("There is nobody here but me.", Grounded::Exact, "There is"),
                ("“THERE  is nobody here, but me!”", Grounded::Exact, "There is"),
                ("Is anybody there? I must see the miller before dark.", Grounded::Exact, "Is anybody"),
                ("They took the stones away in January", Grounded::Exact, "They took"),
                ("They carried the stones away in January.", Grounded::Near, "They"),
                ("The king himself will hear of this before the week is out.", Grounded::Absent, ""),
                ("Boris, my dear, would you care for another cup of tea?", Grounded::Absent, ""),
                ("fog", Grounded::Absent, ""),
                ("…", Grounded::Absent, ""),
            ],
        );
    }

    #[test]
    fn chinese_lines_are_found_exactly_or_approximately() {
        check(
            Language::Zh,
            &[
                ("只有我一个", Grounded::Exact, "只有我"),
                ("里头有人么？天黑之前，我要见一见磨坊的主人。", Grounded::Exact, "里头"),
                ("「从前是．正月里他们把磨盘抬走了」", Grounded::Exact, "从前是"),
                ("从前是。正月里，他们便把那磨盘抬走了。", Grounded::Near, "从前是"),
                ("皇上若知道了，定要拿你是问。", Grounded::Absent, ""),
                ("大雾", Grounded::Absent, ""),
            ],
        );
    }

    #[test]
    fn of_equal_matches_the_next_one_is_used() {
        let text = "“Yes,” said Anna.\n“No.”\n“Yes.”\n";
        let book = indexed_book(Language::En, text, attribution(text, EN_PEOPLE, &[0, 1, 0]));
        let index = PassageIndex::new(&book, 0, length(text));
        let start =
            |after| index.find("Yes!", after, 0.6, &MatchedRanges::default()).range.expect("the text contains it").0;
        assert_eq!((start(0), start(10)), (1, 25));
        // Each occurrence is used once.
        let mut matched = MatchedRanges::default();
        for expected in [Some(25), Some(1), None] {
            let found = index.find("Yes!", 10, 0.6, &matched);
            assert_eq!(found.range.map(|range| range.0), expected);
            assert_eq!(found.repeated.is_some(), expected.is_none());
            found.range.into_iter().for_each(|range| matched.add(range));
        }
    }

    #[test]
    fn repeated_lines_are_matched_in_order() {
        for (language, speech, people) in [(Language::En, "Yes.", EN_PEOPLE), (Language::Zh, "是的。", ZH_PEOPLE)] {
            let text = format!("“{speech}”\n").repeat(1000);
            let book = indexed_book(language, &text, attribution(&text, people, &[]));
            let lines = vec![speech.to_owned(); 1001];
            let found = ground(&book, 0..length(&text), &lines, 0.6);
            assert!(found[..1000].iter().all(|(grounded, _)| *grounded == Grounded::Exact), "{language}");
            assert_eq!(found[1000].0, Grounded::Absent);
        }
    }

    #[test]
    fn a_book_without_paragraphs_is_searched_in_pieces() {
        for (language, sentence) in [
            (Language::En, "On day N the ferry left the weir with N + 1 sacks and came back for the lamp. "),
            (Language::Zh, "第N日，渡船载着货离了坝口，到N + 1更时分又折回来取那盏灯。"),
        ] {
            let numbered_sentence =
                |n: usize| sentence.replace("N + 1", &(n + 1).to_string()).replace('N', &n.to_string());
            let mut text: String = (100..900).map(numbered_sentence).collect();
            let (line, near) = match language {
                Language::En => ("Nobody ever asked me what the lamp was for, and I did not say.", "ever "),
                Language::Zh => ("从来没有人问过我这盏灯是做什么用的，我也就没有说。", "过"),
            };
            let middle = text.char_indices().nth(text.chars().count() / 2).expect("the text is not empty").0;
            text.insert_str(middle, &format!("“{line}”"));
            let people = if language == Language::En { EN_PEOPLE } else { ZH_PEOPLE };
            let book = indexed_book(language, &text, attribution(&text, people, &[0]));
            let index = PassageIndex::new(&book, 0, length(&text));
            assert!(index.segments.iter().any(|segment| segment.pieces.len() > 4), "{language}");
            let found = index.find(&line.replacen(near, "", 1), 0, 0.6, &MatchedRanges::default());
            assert_eq!(found.grounded, Grounded::Near, "{language}: {found:?}");
            let (start, end) = found.range.expect("a near match has a range");
            assert!(line.contains(book.slice(start, end)), "{language}: {}", book.slice(start, end));
        }
    }
}
