//! Chinese names: the index of a book's names and their mentions.

mod address_patterns;
mod candidates;
mod characters;
mod evidence;
mod groups;
pub(super) mod mentions;
mod merging;
mod statement;
mod statement_clauses;
mod statement_subjects;
mod statements;
pub(super) mod surnames;

use std::collections::BTreeMap;
use std::collections::HashMap;

use self::statement::NameStatement;
use self::surnames::surname_length;
use crate::attribution::words::chinese::CHINESE;
use crate::attribution::words::word_set::CharSet;

/// A name form.
#[derive(Debug, Clone, Default)]
pub(super) struct Name {
    /// The form in simplified characters.
    pub(super) form: Vec<char>,
    /// The form as first printed in the book.
    pub(super) printed: String,
    /// Number of times that it is the subject of a speech verb.
    speaker_count: u32,
    pub(super) count: u32,
    female: u32,
    male: u32,
    /// Offset of the first mention.
    pub(super) first: usize,
    /// The characters that follow it with their counts, to tell a name from a part of one.
    followers: HashMap<char, u32>,
    /// The surnames that precede it, with their counts.
    pub(super) before: BTreeMap<Vec<char>, u32>,
}

/// An occurrence of a name in the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mention {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) name: usize,
}

/// The names with one first character: a range of the name list, which is sorted by form.
#[derive(Debug, Default)]
struct NameRange {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Their lengths in characters, longest first.
    lengths: Vec<usize>,
}

/// All names of a book.
pub(super) struct Names {
    pub(super) list: Vec<Name>,
    pub(super) mentions: Vec<Mention>,
    index: HashMap<char, NameRange>,
    first_characters: CharSet,
    /// Last characters of full names, which stand for the whole name in old novels.
    last_characters: CharSet,
    /// The character of each name.
    pub(super) people: Vec<usize>,
    /// The statements of the book that give names to characters.
    pub(super) statements: Vec<NameStatement>,
}

impl Names {
    /// Builds the index of some forms, without mentions.
    fn from_forms(forms: BTreeMap<Vec<char>, u32>) -> Self {
        let mut names = Self {
            list: Vec::new(),
            mentions: Vec::new(),
            index: HashMap::new(),
            first_characters: CharSet::default(),
            last_characters: CharSet::default(),
            people: Vec::new(),
            statements: Vec::new(),
        };
        for (form, speaker_count) in forms {
            if surname_length(&form).is_some() && CHINESE.surnames.head(&form) + 1 == form.len() {
                names.last_characters.add(form[form.len() - 1]);
            }
            names.first_characters.add(form[0]);
            let range = names.index.entry(form[0]).or_default();
            if range.end == 0 {
                range.start = names.list.len();
            }
            range.end = names.list.len() + 1;
            if let Err(position) = range.lengths.binary_search_by(|length| form.len().cmp(length)) {
                range.lengths.insert(position, form.len());
            }
            names.list.push(Name { form, speaker_count, ..Name::default() });
        }
        names
    }

    /// Returns the longest name at the start of the text.
    pub(super) fn at(&self, text: &[char]) -> Option<usize> {
        let first = *text.first()?;
        if !self.first_characters.has(first) {
            return None;
        }
        let range = self.index.get(&first)?;
        range.lengths.iter().find_map(|&length| self.find_in(range, text.get(..length)?))
    }

    /// Returns the name with exactly this form.
    pub(super) fn index_of(&self, form: &[char]) -> Option<usize> {
        self.find_in(self.index.get(form.first()?)?, form)
    }

    /// Returns the name with this form among those with its first character.
    fn find_in(&self, range: &NameRange, form: &[char]) -> Option<usize> {
        let found = self.list[range.start..range.end].binary_search_by(|name| name.form.as_slice().cmp(form));
        Some(range.start + found.ok()?)
    }

    /// Whether a character can stand for a full name that ends in it.
    pub(super) fn ends_full_name(&self, c: char) -> bool {
        self.last_characters.has(c)
    }

    /// Returns the longest name at the end of the text.
    pub(super) fn ending(&self, text: &[char]) -> Option<usize> {
        (2..=text.len().min(6)).rev().find_map(|length| {
            let tail = &text[text.len() - length..];
            self.at(tail).filter(|&name| self.list[name].form.len() == length)
        })
    }

    /// Returns the mentions that begin between two offsets.
    pub(super) fn between(&self, start: usize, end: usize) -> &[Mention] {
        let from = self.mentions.partition_point(|mention| mention.start < start);
        let to = from + self.mentions[from..].partition_point(|mention| mention.start < end);
        &self.mentions[from..to]
    }
}
