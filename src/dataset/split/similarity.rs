//! The texts by which rows are compared, and groups of similar rows.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use super::Params;
use super::rows::{Relation, Rows};
use crate::cells::Cells;
use crate::schema::Language;
use crate::text::LEFT_OUT;
use crate::text::duplicates::families;

/// A text of a row that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A sample's reference and the last turns before it.
    Exchange,
    /// A scene's situation.
    Situation,
    /// A conversation's first turns.
    Opening,
    /// A question to a role, or a general instruction.
    Question,
}

/// The number of turns before a reference, and at the start of a conversation, that are compared.
const LINES: usize = 3;

/// The number of code points that are compared; longer texts are cut.
const MOST: usize = 240;

impl Kind {
    /// Returns the texts by which rows of a config are compared.
    pub(super) fn of(config: &str) -> &'static [Self] {
        match config {
            "samples" => &[Self::Exchange, Self::Situation],
            "conversations" => &[Self::Opening],
            _ => &[Self::Question],
        }
    }

    /// Returns the columns of the text.
    pub(super) const fn columns(self) -> &'static [&'static str] {
        match self {
            // The reference comes first, because long texts are cut at the end.
            Self::Exchange => &["reference", "history"],
            Self::Situation => &["situation"],
            Self::Opening => &["turns"],
            Self::Question => &["question"],
        }
    }

    /// Returns the text of a row, given its columns.
    pub(super) fn text(self, columns: &[Cells], row: usize) -> String {
        let mut text = String::new();
        for cells in columns {
            let Some(contents) = cells.field("content") else {
                text.push_str(cells.text(row).unwrap_or_default());
                text.push('\n');
                continue;
            };
            let lines = cells.list(row);
            let lines = match self {
                Self::Opening => lines.start..lines.end.min(lines.start + LINES),
                _ => lines.start.max(lines.end.saturating_sub(LINES))..lines.end,
            };
            for line in lines {
                text.push_str(contents.text(line).unwrap_or_default());
                text.push('\n');
            }
        }
        if let Some((end, _)) = text.char_indices().nth(MOST) {
            text.truncate(end);
        }
        text
    }

    /// Returns whether a text is distinctive enough to compare: `Yes.` or `Well?` can occur anywhere.
    fn tells(self, text: &str, language: Language) -> bool {
        // A question is identified by its quotation from the book. If that was cut, the rest must be long enough.
        let is_cut = text.contains(LEFT_OUT);
        let least = match (self, language) {
            (Self::Question, _) if !is_cut => 1,
            (_, Language::En) => 40,
            (_, Language::Zh) => 14,
        };
        text.chars().filter(|c| c.is_alphanumeric()).take(least).count() == least
    }
}

/// Returns groups of similar rows, directly or through other rows. There is one list per compared text, with the first
/// row of each row's group, or `None` if no other row is similar. Empty unless the relation `near` is requested.
#[must_use]
pub fn alike(rows: &Rows, params: &Params, threads: NonZeroUsize) -> Vec<Vec<Option<u32>>> {
    if !params.apart.contains(&Relation::Near) {
        return Vec::new();
    }
    rows.texts().iter().map(|(kind, texts)| of_kind(rows, params, *kind, texts, threads)).collect()
}

/// Returns the number of questions that were cut so much that they are not compared.
#[must_use]
pub fn untold(rows: &Rows) -> usize {
    let questions = rows.texts().iter().filter(|(kind, _)| *kind == Kind::Question);
    let numbers = questions.flat_map(|(_, texts)| texts.iter().enumerate());
    let is_untold = |(row, text): &(usize, &u32)| {
        let text = rows.word(**text);
        text.contains(LEFT_OUT) && !Kind::Question.tells(text, rows.language(*row))
    };
    numbers.filter(is_untold).count()
}

fn of_kind(rows: &Rows, params: &Params, kind: Kind, texts: &[u32], threads: NonZeroUsize) -> Vec<Option<u32>> {
    let mut found = vec![None; rows.len()];
    for language in Language::ALL {
        // Equal texts are compared once.
        let mut places: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for (row, text) in (0_u32..).zip(texts) {
            let text = rows.word(*text);
            if rows.language(row as usize) == language && kind.tells(text, language) {
                places.entry(text).or_default().push(row);
            }
        }
        let distinct: Vec<&str> = places.keys().copied().collect();
        let of_text = families(&distinct, *params.near.get(language), threads);
        let places: Vec<&Vec<u32>> = places.values().collect();
        let mut members: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for (family, places) in of_text.into_iter().zip(places) {
            members.entry(family).or_default().extend(places);
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
    fn a_question_that_was_cut_is_known_by_what_is_left_if_that_is_enough() {
        for (whole, cut, long, language) in [
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
            assert!(Kind::Question.tells(whole, language) && !Kind::Question.tells(cut, language));
            assert!(Kind::Question.tells(long, language), "{long}");
            let params = params();
            let of = |questions: &[&str]| {
                let ids: Vec<String> = (0..questions.len()).map(|row| row.to_string()).collect();
                let languages = vec![language.code(); questions.len()];
                let frame = df!("id" => ids, "language" => languages, "question" => questions).unwrap();
                let mut rows = Rows::new("role_specific", &params);
                rows.add("role_specific", &params, &frame).unwrap();
                rows
            };
            let rows = of(&[cut, long, whole, cut, long, whole]);
            let alike = alike(&rows, &params, NonZeroUsize::MIN);
            assert_eq!(alike, [[None, Some(1), Some(2), None, Some(1), Some(2)]], "{language:?}");
            assert_eq!(untold(&rows), 2, "{language:?}");
        }
        let talk = "The weir is up[…] and nobody in the mill has slept, said Hannah.";
        assert!(Kind::Exchange.tells(talk, Language::En), "the rest of a cut exchange is long enough");
    }

    fn params() -> Params {
        Params {
            splits: Vec::new(),
            rest: String::new(),
            by: None,
            hold_out: Vec::new(),
            stratify: Vec::new(),
            apart: vec![Relation::Near],
            near: ByLanguage { en: 0.9, zh: 0.9 },
            seed: 7,
        }
    }
}
