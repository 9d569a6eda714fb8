//! Finds the mentions of English names, and counts the evidence for each name.

use std::collections::HashMap;

use super::bylines::authors;
use super::detection::{known_name_at, name_at, printed_form};
use super::name_starts::NameStarts;
use super::self_naming::{is_told_own_name, states_own_name};
use super::vocatives::is_vocative;
use super::{Mention, Name, Names};
use crate::attribution::english::sentence_position::sentence_position;
use crate::attribution::english::tokens::{NONE, Tokens};
use crate::attribution::known_characters::{KnownCharacters, KnownPhrases};
use crate::attribution::words::english::{ACTION, DETERMINER, GIVEN_FEMALE, GIVEN_MALE, HE, SHE, SPEECH, TITLE_GIVEN};

/// Minimum weight of a gendered given name, in pronouns.
const GIVEN_NAME_WEIGHT: u32 = 6;

impl Names {
    /// Finds the names of a book and counts the evidence for each.
    pub(in crate::attribution::english) fn read(
        book: &Tokens,
        chars: &[char],
        known_characters: &KnownCharacters,
    ) -> Self {
        let mut names =
            Self { list: Vec::new(), mentions: Vec::new(), name_starts: NameStarts::default(), people: Vec::new() };
        names.find_mentions(book, chars, &KnownPhrases::new(known_characters));
        names.count_uses(book);
        names.count_genders(book);
        names
    }

    fn find_mentions(&mut self, book: &Tokens, chars: &[char], phrases: &KnownPhrases) {
        let mut index: HashMap<(Option<u32>, Vec<u32>), usize> = HashMap::new();
        let authors = authors(book, chars);
        let mut i = 0;
        while i < book.list.len() {
            let Some((title, words, first, end)) = known_name_at(book, phrases, i).or_else(|| name_at(book, i)) else {
                i += 1;
                continue;
            };
            if authors.contains(&words) {
                i = end;
                continue;
            }
            let name = *index.entry((title, words.clone())).or_insert_with(|| {
                let form = printed_form(chars, book, first, end);
                self.list.push(Name { form, title, words, first: self.mentions.len(), ..Name::default() });
                self.list.len() - 1
            });
            let possessive = book.list[end - 1].possessive();
            let vocative = !possessive && is_vocative(book, first, end);
            let last = self.mentions.last().map(|last| (last.end, last.position));
            let position = sentence_position(book, first, book.sentence_start(first), last);
            self.mentions.push(Mention { first, end, name, possessive, vocative, position, person: None });
            i = end;
        }
        self.name_starts = NameStarts::new(self.mentions.iter().map(|mention| mention.first));
    }

    fn count_uses(&mut self, book: &Tokens) {
        for mention in &self.mentions {
            let name = &mut self.list[mention.name];
            name.count += 1;
            name.inner += u32::from(!book.list[mention.first].initial());
            if mention.vocative {
                name.vocative += 1;
            }
            // A name that someone states as their own is a person's.
            name.actions += if states_own_name(book, mention) || name.words.len() > 1 && is_told_own_name(book, mention)
            {
                2
            } else {
                0
            };
            if book.list[mention.first].quote != NONE {
                continue;
            }
            name.narrated += 1;
            let preceding = mention.first.checked_sub(1).map_or("", |at| book.text(at));
            name.local +=
                u32::from(matches!(preceding, "in" | "at" | "from" | "near" | "into" | "through" | "towards"));
            if mention.possessive {
                continue;
            }
            let after = book.class(mention.end);
            let mut head = mention.first;
            head -= usize::from(head > 0 && book.class(head - 1) & DETERMINER != 0);
            let before = head.checked_sub(1).map_or(0, |at| book.class(at));
            name.speech += u32::from((after | before) & SPEECH != 0);
            name.actions += u32::from(after & ACTION != 0);
        }
    }

    /// Counts the pronouns that follow a name in its sentence if no other name does, and adds the evidence of given
    /// names.
    fn count_genders(&mut self, book: &Tokens) {
        for name in &mut self.list {
            let takes_given_name = name.words.len() > 1
                || name.title.is_none_or(|title| book.words[title as usize].class & TITLE_GIVEN != 0);
            let class = name.words.first().map_or(0, |&word| book.words[word as usize].class);
            // The pronouns near a name often refer to someone else, so only many of them outweigh a given name.
            let weight = GIVEN_NAME_WEIGHT.max(name.count / 2);
            if takes_given_name && class & GIVEN_FEMALE != 0 {
                name.female += weight;
            } else if takes_given_name && class & GIVEN_MALE != 0 {
                name.male += weight;
            }
        }
        for pair in book.starts.windows(2) {
            let mut alone: Option<usize> = None;
            let mut several = false;
            let mut age = 0;
            let mut i = pair[0];
            while i < pair[1] {
                let token = book.list[i];
                if token.quote != NONE {
                    i += 1;
                    continue;
                }
                if matches!(token.mark(), '.' | '!' | '?') {
                    age += 1;
                    if age > 1 {
                        alone = None;
                        several = false;
                        age = 0;
                    }
                }
                if let Some(mention) = self.mention(i) {
                    if alone.is_some_and(|name| name != mention.name) {
                        several = true;
                    }
                    alone = Some(mention.name);
                    age = 0;
                    i = mention.end;
                    continue;
                }
                if let Some(name) = alone.filter(|_| !several) {
                    let class = book.class(i);
                    self.list[name].female += u32::from(class & SHE != 0);
                    self.list[name].male += u32::from(class & HE != 0);
                }
                i += 1;
            }
        }
    }
}
