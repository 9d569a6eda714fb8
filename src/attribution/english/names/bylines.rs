//! The author named on a book's title page, who is not a character unless the story shows otherwise.

use crate::attribution::words::english::ENGLISH;
use std::collections::BTreeSet;

use super::detection::name_at;
use super::vocatives::is_vocative;
use crate::attribution::english::tokens::{NONE, Tokens};
use crate::attribution::words::english::{PARTICLE, SPEECH};

/// Maximum number of paragraphs before a byline, and of tokens in its own paragraph.
const MAX_PARAGRAPHS_BEFORE: usize = 60;

const MAX_TOKENS: usize = 40;

/// Returns the names of the book's authors, translators and the like, as words: full names, and surnames that no one in
/// the story shares. Names of people who speak in the story are left out.
pub(super) fn authors(book: &Tokens, chars: &[char]) -> BTreeSet<Vec<u32>> {
    let mut authors: BTreeSet<Vec<u32>> = BTreeSet::new();
    let mut end = 0;
    for pair in book.starts.windows(2).take(MAX_PARAGRAPHS_BEFORE) {
        let (from, to) = (pair[0], pair[1]);
        if to - from > MAX_TOKENS || book.list[from..to].iter().any(|token| token.quote != NONE) {
            continue;
        }
        for at in from..to {
            if opens_byline(book, chars, from, at)
                && let Some((words, stop)) = capitalised_words(book, chars, at, to)
            {
                authors.insert(words);
                end = stop;
            }
        }
    }
    if authors.is_empty() {
        return authors;
    }
    let lasts: Vec<Vec<u32>> = authors.iter().filter_map(|words| Some(vec![*words.last()?])).collect();
    authors.extend(lasts);
    // Anyone who speaks or is addressed, and anyone with a relative in the story, belongs to the story.
    let mut at = end;
    while at < book.list.len() {
        let Some((title, words, first, stop)) = name_at(book, at) else {
            at += 1;
            continue;
        };
        let speaks = first.checked_sub(1).is_some_and(|before| book.class(before) & SPEECH != 0)
            || book.class(stop) & SPEECH != 0
            || is_vocative(book, first, stop);
        let family = words.len() > 1 && !authors.contains(&words);
        if speaks && authors.contains(&words) {
            authors.remove(&words);
            if title.is_none() || words.len() == 1 {
                let last = words.last().copied();
                authors.retain(|author| author.last().copied() != last);
            }
        } else if family && let Some(&last) = words.last() {
            authors.remove(&vec![last]);
        }
        at = stop.max(at + 1);
    }
    authors
}

/// Whether the text before a token, at the start of its line, introduces an author: `by`, `Translated by`, `Author:`.
fn opens_byline(book: &Tokens, chars: &[char], from: usize, at: usize) -> bool {
    let Some(before) = at.checked_sub(1).filter(|&before| before >= from) else { return false };
    let word =
        if book.list[before].mark() == ':' { before.checked_sub(1).filter(|&word| word >= from) } else { Some(before) };
    let Some(word) = word else { return false };
    let head = |at: usize| {
        let start = book.list[at].start();
        chars[..start].iter().rev().take_while(|&&c| c != '\n').all(|c| !c.is_alphanumeric())
    };
    match book.text(word) {
        "by" => {
            let made = |at: usize| ENGLISH.byline_works.contains(book.text(at));
            head(word) || word.checked_sub(1).is_some_and(|made_at| made_at >= from && made(made_at))
        }
        "author" | "authors" | "translator" | "illustrator" | "editor" => word < before && head(word),
        _ => false,
    }
}

/// Returns the capitalised words from a token to the end of its line (two to four), and where they end. The usual name
/// detection ignores the capitalisation of headings.
fn capitalised_words(book: &Tokens, chars: &[char], at: usize, to: usize) -> Option<(Vec<u32>, usize)> {
    let mut words = Vec::new();
    let mut stop = at;
    while stop < to && (stop == at || !chars[book.end(stop - 1)..book.list[stop].start()].contains(&'\n')) {
        let token = book.list[stop];
        if token.word() != NONE {
            let particle = book.class(stop) & PARTICLE != 0;
            if !chars[token.start()].is_uppercase() && !particle {
                return None;
            }
            words.push(token.word());
        } else if token.mark() != '.' {
            return None;
        }
        stop += 1;
    }
    (2..5).contains(&words.len()).then_some((words, stop))
}
