//! The texts by which rows are compared, and groups of similar rows.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use crate::dataset::split::Params;
use crate::dataset::split::relation::Relation;
use crate::dataset::split::rows::ComparedText;
use crate::dataset::split::rows::Rows;
use crate::schema::Language;
use crate::text::OMITTED_TEXT;
use crate::text::duplicates::families;

/// Returns groups of similar rows, directly or through other rows. There is one list per compared text, with the first
/// row of each row's group, or `None` if no other row is similar. Empty unless the relation `similarity` is requested.
#[must_use]
pub fn similar_rows(rows: &Rows, params: &Params, threads: NonZeroUsize) -> Vec<Vec<Option<u32>>> {
    if !params.group_by.contains(&Relation::Similarity) {
        return Vec::new();
    }
    rows.texts().iter().map(|(compared_text, texts)| of_text(rows, params, *compared_text, texts, threads)).collect()
}

/// Returns the number of questions that were cut so much that they are not compared.
#[must_use]
pub fn uncompared_questions(rows: &Rows) -> usize {
    let questions = rows.texts().iter().filter(|(compared_text, _)| *compared_text == ComparedText::Question);
    let numbers = questions.flat_map(|(_, texts)| texts.iter().enumerate());
    let is_uncomparable = |(row, text): &(usize, &u32)| {
        let text = rows.word(**text);
        text.contains(OMITTED_TEXT) && !ComparedText::Question.is_comparable(text, rows.language(*row))
    };
    numbers.filter(is_uncomparable).count()
}

fn of_text(
    rows: &Rows,
    params: &Params,
    compared_text: ComparedText,
    texts: &[u32],
    threads: NonZeroUsize,
) -> Vec<Option<u32>> {
    let mut found = vec![None; rows.len()];
    for language in Language::ALL {
        // Equal texts are compared once.
        let mut rows_by_text: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for (row, text) in (0_u32..).zip(texts) {
            let text = rows.word(*text);
            if rows.language(row as usize) == language && compared_text.is_comparable(text, language) {
                rows_by_text.entry(text).or_default().push(row);
            }
        }
        let distinct: Vec<&str> = rows_by_text.keys().copied().collect();
        let of_text = families(&distinct, *params.similarity.get(language), threads);
        let mut members: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for (family, rows) in of_text.into_iter().zip(rows_by_text.into_values()) {
            members.entry(family).or_default().extend(rows);
        }
        for family in members.into_values().filter(|family| family.len() > 1) {
            let first = *family.iter().min().expect("the family has at least two members");
            for row in family {
                found[row as usize] = Some(first);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use polars::prelude::df;

    use super::*;
    use crate::schema::ByLanguage;

    #[test]
    fn a_shortened_question_is_matched_if_enough_text_remains() {
        for (uncut, cut, long, language) in [
            (
                "Hannah, what do you say to “The weir is up”?",
                "Hannah,[…] say to “The we[…]?",
                "Hannah, when the miller came down to the weir that night, what did you say of “[…]”?",
                Language::En,
            ),
            (
                "陆三更，听见“今夜涨水”，你怎么答？",
                "陆三更，[…]你怎么答？",
                "陆三更，那天夜里渡口的人都散了以后，你对“[…]”怎么看？",
                Language::Zh,
            ),
        ] {
            assert!(
                ComparedText::Question.is_comparable(uncut, language)
                    && !ComparedText::Question.is_comparable(cut, language)
            );
            assert!(ComparedText::Question.is_comparable(long, language), "{long}");
            let params = params();
            let of = |questions: &[&str]| {
                let ids: Vec<String> = (0..questions.len()).map(|row| row.to_string()).collect();
                let languages = vec![language.code(); questions.len()];
                let frame = df!("id" => ids, "language" => languages, "question" => questions).unwrap();
                let mut rows = Rows::new("role_specific", &params);
                rows.add("role_specific", &params, &frame).unwrap();
                rows
            };
            let rows = of(&[cut, long, uncut, cut, long, uncut]);
            let similar_rows = similar_rows(&rows, &params, NonZeroUsize::MIN);
            assert_eq!(similar_rows, [[None, Some(1), Some(2), None, Some(1), Some(2)]], "{language:?}");
            assert_eq!(uncompared_questions(&rows), 2, "{language:?}");
        }
        let talk = "The weir is up[…] and nobody in the mill has slept, said Hannah.";
        assert!(ComparedText::Exchange.is_comparable(talk, Language::En), "the rest of a cut exchange is long enough");
    }

    fn params() -> Params {
        Params {
            splits: Vec::new(),
            remainder: String::new(),
            by: None,
            hold_out: Vec::new(),
            stratify: Vec::new(),
            group_by: vec![Relation::Similarity],
            similarity: ByLanguage { en: 0.9, zh: 0.9 },
            seed: 7,
        }
    }
}
