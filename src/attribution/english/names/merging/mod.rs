//! Merges English names that belong to one person: on evidence, never by a surname alone.

mod full_names;
pub(in crate::attribution::english) mod short_forms;
mod surnames;

use std::collections::HashMap;
use std::collections::HashSet;

use super::groups::Groups;
use super::titles::{canonical, title_bits};
use super::{Mention, Name};
use crate::attribution::english::tokens::{NONE, Tokens};
use crate::attribution::words::english::TITLE_GIVEN;

/// State of the merge.
pub(super) struct Merger<'a> {
    pub(in crate::attribution::english) book: &'a Tokens,
    pub(in crate::attribution::english) names: &'a [Name],
    pub(in crate::attribution::english) mentions: &'a [Mention],
    /// By name: whether the book shows that it is a person's.
    pub(in crate::attribution::english) person: &'a [bool],
    groups: Groups,
    /// Pairs of names that occur in one sentence of narration, and so belong to different people.
    companions: HashSet<(usize, usize)>,
    /// Names of two or more words, by last word.
    by_last: HashMap<u32, Vec<usize>>,
    /// Number of mentions of each last word, in names that also have a title or a first name.
    surname_mentions: HashMap<u32, u32>,
    /// By name: whether it is a first name that was merged with a full name.
    pub(in crate::attribution::english) is_first_name: Vec<bool>,
}

impl<'a> Merger<'a> {
    /// Merges the names. Also returns the names that several people share, each with their groups.
    pub(super) fn merge(
        book: &'a Tokens,
        names: &'a [Name],
        mentions: &'a [Mention],
        person: &'a [bool],
    ) -> (Groups, Vec<(usize, Vec<usize>)>) {
        let titles = names.iter().map(|name| title_bits(book, name)).collect();
        let counts = names.iter().map(|name| (name.female, name.male)).collect();
        let mut merger = Self {
            book,
            names,
            mentions,
            person,
            groups: Groups::new(titles, counts),
            companions: names_in_one_sentence(book, mentions),
            by_last: HashMap::new(),
            surname_mentions: HashMap::new(),
            is_first_name: vec![false; names.len()],
        };
        for name in names {
            let Some(&last) = name.words.last().filter(|_| name.words.len() > 1 || name.title.is_some()) else {
                continue;
            };
            *merger.surname_mentions.entry(last).or_default() += name.count;
        }
        let mut fulls: Vec<usize> = (0..names.len()).filter(|&i| names[i].words.len() > 1).collect();
        fulls.sort_by_key(|&i| (std::cmp::Reverse(names[i].count), i));
        merger.merge_full_names(&fulls);
        merger.merge_initials(&fulls);
        merger.merge_first_names(&fulls);
        merger.merge_surnames();
        let shared = merger.merge_daughters();
        merger.merge_short_forms();
        merger.merge_spoken_short_forms();
        (merger.groups, shared)
    }

    pub(in crate::attribution::english) fn text(&self, word: u32) -> &'a str {
        &self.book.words[word as usize].text
    }

    pub(in crate::attribution::english) fn title(&self, name: usize) -> &'a str {
        self.names[name].title.map_or("", |title| canonical(self.text(title)))
    }

    /// Whether a name has no title, or one that a first name may follow.
    fn may_take_first_name(&self, name: usize) -> bool {
        self.names[name].title.is_none_or(|title| self.book.words[title as usize].class & TITLE_GIVEN != 0)
    }

    fn occur_together(&self, a: usize, b: usize) -> bool {
        self.companions.contains(&(a.min(b), a.max(b)))
    }

    /// Returns those of `others` that are compatible with a name, one per group.
    fn compatible(&mut self, name: usize, others: &[usize]) -> Vec<usize> {
        let mut fit: Vec<usize> = Vec::new();
        for &other in others {
            let root = self.groups.root(other);
            if self.groups.agree(name, other) && !fit.iter().any(|&known| self.groups.root(known) == root) {
                fit.push(other);
            }
        }
        fit
    }
}

/// Returns the pairs of names that occur in one sentence of narration, and so belong to different people.
pub(in crate::attribution::english) fn names_in_one_sentence(
    book: &Tokens,
    mentions: &[Mention],
) -> HashSet<(usize, usize)> {
    let mut pairs = HashSet::new();
    for window in mentions.windows(4) {
        let first = window[0];
        for second in &window[1..] {
            let between = &book.list[first.end..second.first];
            let near = between.len() > 1
                && between.len() < 12
                && book.list[first.first].quote == NONE
                && !between.iter().any(|token| token.initial() || token.quote != NONE);
            if near && first.name != second.name {
                pairs.insert((first.name.min(second.name), first.name.max(second.name)));
            }
        }
    }
    pairs
}
