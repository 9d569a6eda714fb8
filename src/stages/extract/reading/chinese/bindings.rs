//! Chinese nouns that a book ties to names: `弓兵X`, `这女子叫X`, and the titles that names end in.

use std::collections::BTreeMap;

use super::super::tables::CHINESE;
use super::clauses::{clause_end, sentence_end};
use super::names::Names;
use super::words::{rank, role};

/// By noun: where it stands for somebody, and for whom.
pub(super) type Places = BTreeMap<Vec<char>, Vec<(usize, usize)>>;

/// Returns the nouns that the book sets right before names, or gives names to.
pub(super) fn bound(text: &[char], names: &Names) -> Places {
    let mut bound: Places = BTreeMap::new();
    for mention in &names.mentions {
        let form = &names.list[mention.name].form;
        let person = names.people[mention.name];
        if role(form) {
            continue;
        }
        if let Some(noun) = introduced(text, mention.start) {
            bound.entry(noun).or_default().push((mention.start, person));
        }
        let before = &text[mention.start.saturating_sub(4)..mention.start];
        let length = CHINESE.roles.tail(before);
        // `弓兵X`; not `丫鬟X`, of whom there are many, unless that noun is said of one alone.
        if length > 1 && CHINESE.surnames.head(form) > 0 {
            bound.entry(before[before.len() - length..].to_vec()).or_default().push((mention.start, person));
        }
    }
    bound
}

/// Returns the nouns that are the ends of names, with where those names stand.
pub(super) fn titled(names: &Names) -> Places {
    let mut titled: Places = BTreeMap::new();
    let ends: Vec<Option<usize>> = names
        .list
        .iter()
        .map(|name| {
            let surname = CHINESE.surnames.head(&name.form);
            let tail = &name.form[surname..];
            let title = rank(tail) || CHINESE.roles.has(tail);
            (surname > 0 && tail.len() > 1 && title).then_some(surname)
        })
        .collect();
    for mention in &names.mentions {
        if let Some(surname) = ends[mention.name] {
            let tail = names.list[mention.name].form[surname..].to_vec();
            titled.entry(tail).or_default().push((mention.start, names.people[mention.name]));
        }
    }
    titled
}

/// Returns the noun that a name is given to: `那女子叫X`, `一个老汉……便是X`.
pub(super) fn introduced(text: &[char], at: usize) -> Option<Vec<char>> {
    const NAMED: [&[char]; 5] = [&['名', '叫'], &['名', '唤'], &['叫', '做'], &['唤', '作'], &['叫']];
    const EQUALS: [&[char]; 5] = [&['便', '是'], &['正', '是'], &['乃', '是'], &['就', '是'], &['是']];
    let named = NAMED.iter().any(|verb| text[..at].ends_with(verb));
    let clause = (at.saturating_sub(40)..at).rev().find(|&i| clause_end(text[i])).map_or(0, |i| i + 1);
    let equals = EQUALS.iter().any(|verb| text[clause..at].starts_with(verb));
    if !named && !equals {
        return None;
    }
    let start = (at.saturating_sub(40)..at).rev().find(|&i| sentence_end(text[i]))? + 1;
    let scope = if named { at } else { clause };
    for i in (start..scope).rev() {
        for length in (2..=4.min(scope - i)).rev() {
            if role(&text[i..i + length]) {
                return Some(text[i..i + length].to_vec());
            }
        }
    }
    None
}
