//! An in-memory index over a set of texts.

use std::collections::BTreeMap;
use std::sync::Mutex;

use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, BoostQuery, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{PreTokenizedString, Token};
use tantivy::{Searcher, TantivyDocument, Term};

use super::terms::Terms;
use crate::text::float;

/// The memory budget of the index writer, in bytes. The texts here are short and few compared to it.
const MEMORY: usize = 64 << 20;

/// An index of texts by their terms.
///
/// A single thread writes a single segment, so that a text's index is its document number in tantivy, and equal scores
/// are in the order of the texts. Lengths above 40 terms are rounded to about one eighth, as tantivy stores them.
pub struct Index {
    searcher: Searcher,
    field: Field,
    terms: Mutex<Terms>,
}

impl Index {
    /// Indexes texts. A text is identified by its index in `texts`.
    #[must_use]
    pub fn new<T: AsRef<str>>(texts: &[T]) -> Self {
        let mut schema = Schema::builder();
        let indexing = TextFieldIndexing::default().set_index_option(IndexRecordOption::WithFreqs);
        let field = schema.add_text_field("text", TextOptions::default().set_indexing_options(indexing));
        let mut terms = Terms::default();
        let searcher = write(schema.build(), field, texts, &mut terms).expect("an in-memory index accepts any text");
        Self { searcher, field, terms: Mutex::new(terms) }
    }

    /// Returns the indexes and scores of at most `n` texts that share a term with the query: highest score first, ties
    /// in the order of the texts.
    #[must_use]
    pub fn nearest(&self, query: &str, n: usize) -> Vec<(usize, f32)> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let mut terms = self.terms.lock().expect("no thread panics while it holds the lock");
        terms.each(query, |term| *counts.entry(term.to_owned()).or_default() += 1);
        drop(terms);
        if n == 0 || counts.is_empty() {
            return Vec::new();
        }
        let clause = |(term, count): (String, usize)| {
            let query = TermQuery::new(Term::from_field_text(self.field, &term), IndexRecordOption::WithFreqs);
            #[expect(clippy::cast_possible_truncation, reason = "a term's count is small")]
            let query: Box<dyn Query> = match count {
                1 => Box::new(query),
                count => Box::new(BoostQuery::new(Box::new(query), float(count) as f32)),
            };
            (Occur::Should, query)
        };
        let query = BooleanQuery::new(counts.into_iter().map(clause).collect());
        let found = self.searcher.search(&query, &TopDocs::with_limit(n).order_by_score());
        let found = found.expect("an in-memory index can always be searched");
        found.into_iter().map(|(score, address)| (address.doc_id as usize, score)).collect()
    }
}

fn write<T: AsRef<str>>(schema: Schema, field: Field, texts: &[T], terms: &mut Terms) -> tantivy::Result<Searcher> {
    let directory = tantivy::directory::RamDirectory::create();
    let mut writer =
        tantivy::Index::builder().schema(schema).single_segment_index_writer::<TantivyDocument>(directory, MEMORY)?;
    for text in texts {
        let mut tokens = Vec::new();
        terms.each(text.as_ref(), |term| {
            tokens.push(Token { position: tokens.len(), text: term.to_owned(), ..Token::default() });
        });
        let mut document = TantivyDocument::new();
        document.add_pre_tokenized_text(field, PreTokenizedString { text: String::new(), tokens });
        writer.add_document(document)?;
    }
    Ok(writer.finalize()?.reader()?.searcher())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::bm25::{B, K1, idf};

    const EN: [&str; 6] = [
        "Who pays the ferryman at night?",
        "The ferrymen were paid twice.",
        "Nothing at all.",
        "Who pays the ferryman at night?",
        "Who, who, who are you?",
        "",
    ];
    const ZH: [&str; 4] = ["渡口夜里谁收船钱？", "他夜里不收船钱。", "账簿在东家柜里。", "谁？"];

    fn indexes(found: &[(usize, f32)]) -> Vec<usize> {
        found.iter().map(|(index, _)| *index).collect()
    }

    #[test]
    fn results_are_sorted_by_score_then_position() {
        let index = Index::new(&EN);
        assert_eq!(indexes(&index.nearest("who paid the ferryman in the night", 5)), [0, 3, 1, 4]);
        assert_eq!(indexes(&index.nearest("who paid the ferryman in the night", 1)), [0]);
        assert!(index.nearest("cabbages", 5).is_empty());
        assert!(index.nearest("…", 5).is_empty() && index.nearest("who", 0).is_empty());
        let index = Index::new(&ZH);
        assert_eq!(indexes(&index.nearest("夜里收不收船钱", 5)), [1, 0]);
        assert_eq!(indexes(&index.nearest("谁", 5)), [3]);
    }

    #[test]
    fn an_empty_index_has_no_results() {
        assert!(Index::new::<&str>(&[]).nearest("who", 3).is_empty());
    }

    #[test]
    fn scores_follow_the_documented_formula() {
        for (texts, query) in [(&EN[..], "Who pays, who?"), (&ZH[..], "夜里，夜里谁")] {
            let bag = |text: &str| {
                let mut bag = Vec::new();
                Terms::default().each(text, |term| bag.push(term.to_owned()));
                bag
            };
            let bags: Vec<Vec<String>> = texts.iter().map(|text| bag(text)).collect();
            let average = float(bags.iter().map(Vec::len).sum()) / float(bags.len());
            let score = |text: usize| {
                let length = K1 * (1.0 - B + B * float(bags[text].len()) / average);
                let part = |term: &String| {
                    let count = float(bags[text].iter().filter(|other| *other == term).count());
                    let with_term = bags.iter().filter(|bag| bag.contains(term)).count();
                    idf(bags.len(), with_term) * count * (K1 + 1.0) / (count + length)
                };
                bag(query).iter().map(part).sum::<f64>()
            };
            let found = Index::new(texts).nearest(query, 10);
            assert!(found.len() > 1);
            for (text, scored) in found {
                assert!((score(text) - f64::from(scored)).abs() < 1e-4, "{text}: {} or {scored}", score(text));
            }
        }
    }

    #[test]
    fn a_large_set_is_one_ordered_segment() {
        let texts: Vec<String> = (0..3_000).map(|n| format!("the same words, {}", n % 3)).collect();
        let index = Index::new(&texts);
        assert_eq!(indexes(&index.nearest("words 2", 4)), [2, 5, 8, 11]);
    }
}
