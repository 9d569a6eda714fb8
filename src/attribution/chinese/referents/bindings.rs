//! Chinese nouns that a book links to names: `弓兵X`, `这女子叫X`, and the titles that names end in.

use std::collections::BTreeMap;

use crate::attribution::chinese::clauses::{clause_end, sentence_end};
use crate::attribution::chinese::names::surnames::surname_length;
use crate::attribution::chinese::names::{Mention, Names};
use crate::attribution::chinese::role_nouns::{is_role_noun, is_title};
use crate::attribution::words::chinese::CHINESE;

/// By noun: the offsets where it refers to a character, and the character.
pub(super) type NounOffsets = BTreeMap<Vec<char>, Vec<(usize, usize)>>;

/// Returns the nouns that directly precede names, or to which names are given.
pub(super) fn nouns_of_names(text: &[char], names: &Names) -> NounOffsets {
    let mut bound: NounOffsets = BTreeMap::new();
    let mut last = 0;
    for mention in &names.mentions {
        // `江太守孟秋云`: the noun is the end of another name.
        let another = last == mention.start;
        let form = &names.list[mention.name].form;
        let person = names.people[mention.name];
        if is_role_noun(form) {
            continue;
        }
        last = mention.end;
        if let Some(noun) = introducing_noun(text, mention.start, false) {
            bound.entry(noun).or_default().push((mention.start, person));
        }
        let before = &text[mention.start.saturating_sub(4)..mention.start];
        let length = CHINESE.roles.tail(before);
        // `弓兵X`. A noun such as `丫鬟`, of which there are many, is filtered later, unless it is used for one character
        // only.
        let surname = CHINESE.surnames.head(form);
        if length > 1 && !another && ((1..form.len()).contains(&surname) || matches!(form[0], '老' | '小' | '阿')) {
            bound.entry(before[before.len() - length..].to_vec()).or_default().push((mention.start, person));
        }
    }
    bound
}

/// Returns, by character, the most frequent phrase of a noun and a name: `伙计阿福`.
pub(super) fn noun_name_phrases(
    text: &[char],
    chars: &[char],
    names: &Names,
    bound: &NounOffsets,
) -> BTreeMap<usize, (String, u32)> {
    let mut counts: BTreeMap<(usize, String), u32> = BTreeMap::new();
    for (noun, offsets) in bound {
        for &(offset, person) in offsets.iter().filter(|(offset, _)| text[..*offset].ends_with(noun)) {
            let from = offset - noun.len();
            let begins = from == 0 || clause_end(text[from - 1]) || "\n\r 　“「的那这".contains(text[from - 1]);
            let mention =
                names.between(offset, offset + 1).first().filter(|_| begins && CHINESE.plural.tail(noun) == 0);
            let is_personal = |mention: &&Mention| {
                let form = &names.list[mention.name].form;
                surname_length(form).is_some() || form.len() == 2 || is_title(&form[CHINESE.surnames.head(form)..])
            };
            if let Some(mention) = mention.filter(is_personal) {
                *counts.entry((person, chars[from..mention.end].iter().collect())).or_default() += 1;
            }
        }
    }
    let mut most: BTreeMap<usize, (String, u32)> = BTreeMap::new();
    for ((person, phrase), count) in counts {
        if most.get(&person).is_none_or(|&(_, other)| other < count) {
            most.insert(person, (phrase, count));
        }
    }
    most
}

/// Returns the nouns that names end in, with the mentions of those names.
pub(super) fn titles_in_names(names: &Names) -> NounOffsets {
    let mut titled: NounOffsets = BTreeMap::new();
    let ends: Vec<Option<usize>> = names
        .list
        .iter()
        .map(|name| {
            let surname = CHINESE.surnames.head(&name.form);
            let tail = &name.form[surname..];
            let title = is_title(tail) || CHINESE.roles.has(tail);
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

/// Returns the noun that a name is given to: `那女子叫X`, `一个老汉……便是X`. `stated` says that a statement ends in the
/// name here.
pub(super) fn introducing_noun(text: &[char], at: usize, stated: bool) -> Option<Vec<char>> {
    let named = stated || CHINESE.naming_verbs.tail(&text[..at]) > 0;
    let clause = (at.saturating_sub(40)..at).rev().find(|&i| clause_end(text[i])).map_or(0, |i| i + 1);
    let equals = CHINESE.identity_verbs.head(&text[clause..at]) > 0;
    if !named && !equals {
        return None;
    }
    let start = (at.saturating_sub(40)..at).rev().find(|&i| sentence_end(text[i]))? + 1;
    let scope = if named { at } else { clause };
    for i in (start..scope).rev() {
        for length in (2..=4.min(scope - i)).rev() {
            if is_role_noun(&text[i..i + length]) && CHINESE.plural.tail(&text[i..i + length]) == 0 {
                return Some(text[i..i + length].to_vec());
            }
        }
    }
    None
}
