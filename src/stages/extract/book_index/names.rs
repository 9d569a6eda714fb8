//! Finds the people of a book by name in a text.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use crate::attribution::Person;
use crate::text::is_han;

/// Finds people by name; the time does not depend on how many there are.
#[derive(Debug)]
pub(crate) struct Names {
    /// Sorted: case-folded names, each with its person.
    pub(super) owners: Vec<(Vec<char>, usize)>,
    /// By first character: the range of such names in `owners` and their lengths in characters, longest first.
    pub(super) by_first: HashMap<char, (Range<usize>, Vec<usize>)>,
    /// A bit per first character, shared by several; most characters of a book do not begin a name.
    pub(super) first_bits: [u64; 64],
}

impl Names {
    pub(crate) fn new(people: &[Person]) -> Self {
        let mut owners: BTreeMap<Vec<char>, usize> = BTreeMap::new();
        for (index, person) in people.iter().enumerate() {
            for name in std::iter::once(&person.name).chain(&person.aliases) {
                // `I` and 我 refer to the current speaker.
                if name.trim().chars().count() > usize::from(name.is_ascii()) && name != "我" {
                    // An ambiguous name belongs to the first person: people are sorted by number of lines.
                    owners.entry(key(name)).or_insert(index);
                }
            }
        }
        let mut names = Self { owners: owners.into_iter().collect(), by_first: HashMap::new(), first_bits: [0; 64] };
        for (at, (name, _)) in names.owners.iter().enumerate() {
            let (range, lengths) = names.by_first.entry(name[0]).or_insert_with(|| (at..at, Vec::new()));
            range.end = at + 1;
            if let Err(index) = lengths.binary_search_by(|length| name.len().cmp(length)) {
                lengths.insert(index, name.len());
            }
            let (word, bit) = bucket(name[0]);
            names.first_bits[word] |= bit;
        }
        names
    }

    /// Returns the person with a name.
    pub(crate) fn owner(&self, name: &str) -> Option<usize> {
        Self::among(&self.owners, &key(name))
    }

    pub(super) fn among(owners: &[(Vec<char>, usize)], name: &[char]) -> Option<usize> {
        let at = owners.binary_search_by(|(other, _)| other.as_slice().cmp(name)).ok()?;
        Some(owners[at].1)
    }

    /// Returns the people a text names as (byte offset, person), in order.
    pub(crate) fn find(&self, text: &str) -> Vec<(usize, usize)> {
        self.spans(text).into_iter().map(|(start, _, person)| (start, person)).collect()
    }

    /// Returns the names in a text as (start, end, person) in bytes, in order. The longest name wins if several begin
    /// at the same offset.
    pub(crate) fn spans(&self, text: &str) -> Vec<(usize, usize, usize)> {
        let letter = |c: char| !is_han(c) && c.is_alphanumeric();
        let mut folded: Vec<char> = Vec::new();
        let mut bytes = text.char_indices();
        let (mut found, mut before) = (Vec::new(), None::<char>);
        while let Some((byte, c)) = bytes.next() {
            let last = before.replace(c);
            let (word, bit) = bucket(fold(c));
            if self.first_bits[word] & bit == 0 || letter(c) && last.is_some_and(letter) {
                continue;
            }
            let cased = !letter(c) || c.is_uppercase() || c == 't';
            let Some((range, lengths)) = self.by_first.get(&fold(c)).filter(|_| cased) else { continue };
            folded.clear();
            // One extra character shows whether the word continues.
            folded.extend(text[byte..].chars().take(lengths[0] + 1).map(fold));
            // `Will` is a name, `will` a word; in a script names are in capitals.
            let capital =
                |name: &[char]| !letter(c) || c.is_uppercase() || text[byte..].starts_with("the ") && name.len() > 4;
            let ends_at_word_boundary =
                |end: usize| !(letter(folded[end - 1]) && folded.get(end).is_some_and(|&next| letter(next)));
            let fit = lengths.iter().find_map(|&length| {
                let name = folded.get(..length).filter(|name| ends_at_word_boundary(length) && capital(name))?;
                Some((length, Self::among(&self.owners[range.clone()], name)?))
            });
            let Some((length, person)) = fit else { continue };
            let mut end = byte + c.len_utf8();
            for (byte, c) in bytes.by_ref().take(length - 1) {
                (end, before) = (byte + c.len_utf8(), Some(c));
            }
            found.push((byte, end, person));
        }
        found
    }
}

/// Maps the variants of a character to one.
pub(super) fn fold(c: char) -> char {
    match c {
        '\'' => '’',
        // Ideographs have no case.
        c if is_han(c) => c,
        c => c.to_lowercase().next().unwrap_or(c),
    }
}

/// Returns the position of a character's bit in [`Names::first_bits`].
pub(super) const fn bucket(c: char) -> (usize, u64) {
    ((c as usize >> 6) % 64, 1 << (c as usize % 64))
}

pub(super) fn key(name: &str) -> Vec<char> {
    name.trim().chars().map(fold).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribution::Gender;

    #[test]
    fn characters_are_found_by_their_longest_name() {
        let person = |name: &str, aliases: &[&str]| Person {
            name: name.to_owned(),
            aliases: aliases.iter().map(|&alias| alias.to_owned()).collect(),
            gender: Gender::Unknown,
            mentions: 1,
            lines: 1,
        };
        let people = [
            person("Mrs. Marl", &["Marl", "I"]),
            person("Will O’Dea", &["Will", "the ferryman"]),
            person("沈阿牛", &["阿牛", "我"]),
        ];
        let names = Names::new(&people);
        for (text, expected) in [
            ("Mrs. Marl will go, and Will O'Dea too.", &[("Mrs. Marl", 0), ("Will O'Dea", 1)][..]),
            ("Marlow saw MARL and the ferryman; I did not.", &[("MARL", 0), ("the ferryman", 1)]),
            ("我见沈阿牛和阿牛嫂。", &[("沈阿牛", 2), ("阿牛", 2)]),
        ] {
            let found: Vec<(&str, usize)> =
                names.spans(text).into_iter().map(|(start, end, person)| (&text[start..end], person)).collect();
            assert_eq!(found, expected, "{text}");
        }
        assert_eq!(names.owner("will o'dea"), Some(1));
        assert_eq!(names.owner("I"), None);
    }

    #[test]
    fn names_match_whole_words_only() {
        let person = |name: &str, aliases: &[&str]| Person {
            name: name.to_owned(),
            aliases: aliases.iter().map(|alias| (*alias).to_owned()).collect(),
            gender: Gender::Unknown,
            mentions: 1,
            lines: 1,
        };
        let names = Names::new(&[person("Mrs. Marl", &["Kez"]), person("Will", &[]), person("陆三更", &["三更"])]);
        let found = |text| names.find(text).into_iter().map(|(_, person)| person).collect::<Vec<_>>();
        assert_eq!(found("Kezzie saw Mrs. Marl, and Will will go with Kez."), [0, 1, 0]);
        assert_eq!(found("陆三更说，三更天了。"), [2, 2]);
        assert_eq!((names.owner("mrs. marl"), names.owner("Anna")), (Some(0), None));
    }
}
