//! Decides whether an utterance says the same as a passage: aligns the two word by word and judges the differences.
//!
//! Another name, another number, or a negation more or less changes the meaning, however similar the rest is; a typo, a
//! missing `oh` or a contraction does not. Does not search: the passage is given.

use super::edit_steps::{Step, denies, steps};
use super::token::{Begins, Token, TokenKind};
use super::tokens::is_common;
use crate::schema::Language;

/// An utterance aligned with the most similar passage.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Alignment {
    /// The share of letters that the utterance and its range of the passage have in common, 0 to 1.
    pub(crate) similarity: f64,
    /// The share of the utterance's letters that the passage has, 0 to 1.
    pub(crate) covered: f64,
    /// The range of words of the passage that it matches.
    pub(crate) words: (usize, usize),
    /// The first difference that changes the meaning.
    pub(crate) alteration: Option<Alteration>,
}

/// A difference that changes the meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Alteration {
    /// The words of the utterance; empty if they are missing.
    pub(crate) line: String,
    /// The words of the book; empty if they are missing.
    pub(crate) book: String,
}

impl Alteration {
    fn of(line: &[&Token], book: &[&Token]) -> Self {
        let text = |words: &[&Token]| {
            let blank = if words.iter().any(|word| word.is_han()) { "" } else { " " };
            words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(blank)
        };
        Self { line: text(line), book: text(book) }
    }
}

/// Utterances of at most this many words are short.
const MAX_SHORT_WORDS: usize = 5;

/// Whether a word that is capitalized at the beginning of a sentence also occurs in lower case.
pub(crate) type IsUsed<'a> = &'a dyn Fn(&str) -> bool;

/// Aligns an utterance with a passage. `None` if they have nothing in common.
pub(crate) fn align(line: &[Token], passage: &[Token], language: Language, is_used: IsUsed<'_>) -> Option<Alignment> {
    let steps = steps(line, passage);
    let common = |step: &Step| matches!(step, Step::Same(..) | Step::Slip(..));
    let first = steps.iter().find(|step| common(step)).and_then(|step| step.book())?;
    let last = steps.iter().rfind(|step| common(step)).and_then(|step| step.book())?;
    let (mut alike, mut all, mut covered, mut line_weight) = (0.0, 0.0, 0.0, 0.0);
    for step in &steps {
        let own = step.line().map_or(0.0, |at| line[at].weight());
        let other = step.book().map_or(0.0, |at| passage[at].weight());
        all += own + other;
        line_weight += own;
        covered += if common(step) { own } else { 0.0 };
        alike += match step {
            Step::Same(..) => own + other,
            Step::Slip(..) => 0.9 * (own + other),
            _ => 0.0,
        };
    }
    let judge = Judge { line, passage, is_used };
    let alteration = judge.altered(&steps, language).or_else(|| find_cut_off(passage, first, last, is_used));
    let similarity = if all > 0.0 { alike / all } else { 0.0 };
    let covered = if line_weight > 0.0 { covered / line_weight } else { 0.0 };
    Some(Alignment { similarity, covered, words: (first, last + 1), alteration })
}

/// Judges the differences of an alignment.
struct Judge<'a> {
    line: &'a [Token],
    passage: &'a [Token],
    is_used: IsUsed<'a>,
}

impl Judge<'_> {
    fn altered(&self, steps: &[Step], language: Language) -> Option<Alteration> {
        for (at, step) in steps.iter().enumerate() {
            let own = step.line().map(|at| &self.line[at]);
            let other = step.book().map(|at| &self.passage[at]);
            let altered = match step {
                Step::Same(..) | Step::Slip(..) => false,
                Step::Other(line, book) => {
                    let (a, b) = (&self.line[*line], &self.passage[*book]);
                    let is_discriminator = |word: &Token| word.kind == TokenKind::Discriminator;
                    counts(a, self.is_used)
                        || counts(b, self.is_used)
                        || is_discriminator(a)
                        || is_discriminator(b)
                        || denies(&a.text, &b.text)
                        || denies(&b.text, &a.text)
                }
                // A double negation is not a negation.
                Step::Added(line) => {
                    let word = &self.line[*line];
                    counts(word, self.is_used) && (word.kind == TokenKind::Negation || !stutters(self.line, *line))
                }
                // Words missing before its start and after its end are judged by `find_cut_off`.
                Step::Missing(book) => counts(&self.passage[*book], self.is_used) && !stutters(self.passage, *book),
            };
            if altered {
                return Some(self.difference(steps, at, own, other));
            }
        }
        if language == Language::Zh {
            return self.other_words(steps);
        }
        // In a short utterance no word may differ.
        let is_other = |step: &Step| match step {
            Step::Other(..) => true,
            Step::Added(line) => self.line[*line].kind != TokenKind::Filler && !stutters(self.line, *line),
            _ => false,
        };
        let at = steps.iter().position(is_other).filter(|_| self.line.len() <= MAX_SHORT_WORDS)?;
        Some(self.difference(steps, at, None, None))
    }

    /// Returns a difference together with adjacent ones.
    fn difference(&self, steps: &[Step], at: usize, own: Option<&Token>, other: Option<&Token>) -> Alteration {
        if own.is_some() && other.is_some() {
            return Alteration::of(own.as_slice(), other.as_slice());
        }
        let differs = |step: &&Step| !matches!(step, Step::Same(..) | Step::Slip(..));
        let from = at - steps[..at].iter().rev().take_while(differs).count();
        let to = at + steps[at..].iter().take_while(differs).count();
        let line: Vec<&Token> =
            steps[from..to].iter().filter_map(|step| step.line()).map(|at| &self.line[at]).collect();
        let book: Vec<&Token> =
            steps[from..to].iter().filter_map(|step| step.book()).map(|at| &self.passage[at]).collect();
        Alteration::of(&line, &book)
    }

    /// Finds Chinese words that the book does not have: up to one character in eight may be a typo, two adjacent ones
    /// are a word.
    fn other_words(&self, steps: &[Step]) -> Option<Alteration> {
        let own = |step: &Step| match step {
            Step::Other(line, _) | Step::Added(line) => Some(&self.line[*line])
                .filter(|word| matches!(word.kind, TokenKind::Ordinary | TokenKind::Discriminator)),
            _ => None,
        };
        let (mut run, mut slips): (Vec<&Token>, usize) = (Vec::new(), 0);
        for (at, step) in steps.iter().enumerate() {
            let Some(word) = own(step) else {
                if !matches!(step, Step::Missing(_)) {
                    run.clear();
                }
                continue;
            };
            let repeats = matches!(step, Step::Added(line) if stutters(self.line, *line));
            if repeats {
                continue;
            }
            run.push(word);
            slips += 1;
            if run.len() > 1 || slips > 1 + self.line.len() / 8 {
                return Some(self.difference(steps, at, None, None));
            }
        }
        None
    }
}

/// Whether the presence of a word matters.
fn counts(word: &Token, is_used: IsUsed<'_>) -> bool {
    match word.kind {
        TokenKind::Name | TokenKind::Number | TokenKind::Negation => true,
        TokenKind::Capital => !is_common(&word.text) && !is_used(&word.text),
        TokenKind::Ordinary | TokenKind::Discriminator | TokenKind::Filler => false,
    }
}

/// Whether a word repeats an adjacent one.
fn stutters(words: &[Token], at: usize) -> bool {
    let same = |other: Option<&Token>| other.is_some_and(|other| other.text == words[at].text);
    words[at].kind != TokenKind::Number && (same(at.checked_sub(1).map(|at| &words[at])) || same(words.get(at + 1)))
}

/// Finds significant words in the rest of the clauses at both ends of an utterance. A `no` of its own just before it
/// belongs to it.
pub(crate) fn find_cut_off(passage: &[Token], first: usize, last: usize, is_used: IsUsed<'_>) -> Option<Alteration> {
    let begins = |at: usize, least: Begins| passage[at].begins >= least;
    let begun = (0..=first).rev().find(|at| begins(*at, Begins::Clause)).unwrap_or(0);
    let mut before = &passage[begun..first];
    if before.is_empty() && first > 0 && passage[first].begins == Begins::Clause {
        let begun = (0..first).rev().find(|at| begins(*at, Begins::Clause)).unwrap_or(0);
        let clause = &passage[begun..first];
        let is_short = clause.iter().filter(|word| word.kind != TokenKind::Filler).count() <= 2;
        let denied = clause
            .iter()
            .filter(|word| word.kind != TokenKind::Filler)
            .take(1)
            .all(|word| word.kind == TokenKind::Negation);
        if is_short && denied {
            before = clause;
        }
    }
    let ended = (last + 1..passage.len()).find(|at| begins(*at, Begins::Clause)).unwrap_or(passage.len());
    let after = &passage[last + 1..ended];
    let misses = |words: &[Token], neighbor: &Token| {
        words.iter().any(|word| counts(word, is_used) && word.text != neighbor.text)
    };
    let sides = [(before, &passage[first]), (after, &passage[last])];
    sides
        .into_iter()
        .find(|(words, neighbor)| misses(words, neighbor))
        .map(|(words, _)| Alteration::of(&[], &words.iter().collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use super::super::edit_steps::MAX_PAIRS;
    use super::*;
    use crate::stages::extract::book_index::names::Names;
    use crate::stages::extract::grounding::tokens::words;

    fn check(language: Language, book: &str, cases: &[(&str, Option<(&str, &str)>)]) {
        let names = Names::new(&[]);
        let passage = words(book, 0, &names, false);
        for (line, expected) in cases {
            let found =
                align(&words(line, 0, &names, false), &passage, language, &|_| false).expect("something in common");
            let alteration = found.alteration.as_ref().map(|found| (found.line.as_str(), found.book.as_str()));
            assert_eq!(alteration, *expected, "{line}: {found:?}");
            assert!(found.similarity > 0.6, "{line}: {found:?}");
        }
    }

    #[test]
    fn english_alterations_differ_from_typos() {
        check(
            Language::En,
            "Well, I never paid Mr. Lunt more than nine pounds, and he wasn’t happy about it. Splendid weather we have.",
            &[
                ("I never paid Mr. Lunt more than nine pounds, and he was not happy about it", None),
                ("I never payed Mr. Lunt more then nine pounds and he wasn't hapy about it", None),
                ("I never paid Mr. Lnut more than nine pounds", None),
                ("I paid Mr. Lunt more than nine pounds", Some(("", "never"))),
                ("I never paid Mr. Stott more than nine pounds", Some(("stott", "lunt"))),
                ("I never paid Mr. Lunt more than ninety pounds", Some(("90", "9"))),
                ("and he was happy about it", Some(("", "not"))),
                ("and he wasn’t unhappy about it", Some(("unhappy", "happy"))),
                ("paid Mr. Lunt more than nine pounds", Some(("", "i never"))),
                ("Splended weather we have", None),
                ("Splendid we have", None),
            ],
        );
    }

    #[test]
    fn chinese_alterations_differ_from_typos() {
        check(
            Language::Zh,
            "船还来么，一百二十两银子，我不敢收。不，我明日再走到潮州去。",
            &[
                ("船還來，一百二十兩銀子，我不敢收", None),
                ("船还来么，120两银子，我不感收", None),
                ("一百三十两银子，我不敢收", Some(("130", "120"))),
                ("一百二十两银子，我敢收", Some(("", "不"))),
                ("我明日再走到潮州去", Some(("", "不"))),
                ("不，我明日再走到青州去", Some(("青", "潮"))),
                ("不，我明日在走到潮州去", None),
                ("不，我明日再走到青阳去", Some(("青", "潮"))),
            ],
        );
    }

    #[test]
    fn a_difference_that_distinguishes_names_is_an_alteration() {
        check(
            Language::Zh,
            "闸上的洪老爹说，庚申年府城涨过水，聂家的阿宁也记得，那时小可在山脚住。",
            &[
                ("闸上的洪老爹说，庚申年府城涨过水，聂家的阿宁也记的", None),
                ("闸上的王老爹说，庚申年府城涨过水", Some(("王", "洪"))),
                ("庚午年府城涨过水，聂家的阿宁也记得", Some(("午", "申"))),
                ("庚申年京城涨过水，聂家的阿宁也记得", Some(("京", "府"))),
                ("庚申年府城涨过水，鲍家的阿宁也记得", Some(("鲍", "聂"))),
                ("庚申年府城涨过水，聂家的阿贵也记得", Some(("贵", "宁"))),
                ("那时小可再山脚住", None),
            ],
        );
        check(
            Language::En,
            "Great Tarrow has prepared a statement. The old Captain walked up to Upper Wend with a great lamp.",
            &[
                ("Little Tarrow has prepared a statement", Some(("little", "great"))),
                ("The young Captain walked up to Upper Wend with a great lamp", Some(("young", "old"))),
                ("The old Captain walked up to Lower Wend with a great lamp", Some(("lower", "upper"))),
                ("The old Captain walked up to Upper Wend with a big lamp", None),
            ],
        );
    }

    /// Long texts are aligned in parts, with the same result as short ones.
    #[test]
    fn long_lines_are_split_at_common_words() {
        let names = Names::new(&[]);
        for (language, sentence, from, to) in [
            (
                Language::En,
                "on day N the ferry left the weir with oil for the lamp and came back late. ",
                "late",
                "empty",
            ),
            (Language::Zh, "第N日渡船载着桐油离了坝口，到晚上又折回来。", "晚上", "清早"),
        ] {
            let text: String = (100..200).map(|n| sentence.replace('N', &n.to_string())).collect();
            let passage = words(&text, 0, &names, false);
            assert!(passage.len() * passage.len() > MAX_PAIRS, "{language}");
            let align = |line: &str| {
                let found = align(&words(line, 0, &names, false), &passage, language, &|_| false);
                found.expect("something in common")
            };
            let same = align(&text);
            assert_eq!((same.similarity, same.alteration, same.words), (1.0, None, (0, passage.len())));
            // A part of it, with a different word in the middle.
            let part: String = (110..190).map(|n| sentence.replace('N', &n.to_string())).collect();
            let found = align(&part.replace("150", "151"));
            let expected = Some(Alteration { line: "151".to_owned(), book: "150".to_owned() });
            assert_eq!(found.alteration, expected, "{language}");
            let found = align(&part.replacen(from, to, 1));
            assert!(found.similarity > 0.98 && found.covered > 0.98, "{language}: {found:?}");
            let per = passage.len() / 100;
            assert!(found.words.0 == 10 * per && found.words.1 == 90 * per, "{language}: {:?}", found.words);
        }
    }

    #[test]
    fn long_dissimilar_texts_are_not_aligned() {
        let names = Names::new(&[]);
        let line: String = "a1a a2a a3a ".repeat(200);
        let book: String = "bob bib bub ".repeat(200);
        let (line, book) = (words(&line, 0, &names, false), words(&book, 0, &names, false));
        assert!(line.len() * book.len() > MAX_PAIRS);
        assert_eq!(align(&line, &book, Language::En, &|_| false), None);
    }
}
