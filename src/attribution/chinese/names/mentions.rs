//! Finds the names of a Chinese book, completes them and records their mentions.
//!
//! `candidates` decides which character sequences are names, and `merging` which names belong to one person.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::collections::HashSet;

use super::address_patterns::{address_forms, foreign_names, short_forms};
use super::candidates::find_forms;
use super::statements::{confirmed_names, name_statements};
use super::surnames::surname_length;
use super::{Mention, Names};
use crate::attribution::chinese::clauses::clause_end;
use crate::attribution::chinese::role_nouns::{is_role_noun, role_noun_before_name, title_gender};
use crate::attribution::known_characters::KnownCharacters;
use crate::attribution::quotations::span::Span;
use crate::attribution::words::chinese::CHINESE;

impl Names {
    /// Finds the names of a book.
    pub(in crate::attribution::chinese) fn read(
        text: &[char],
        chars: &[char],
        spans: &[Span],
        known_characters: &KnownCharacters,
    ) -> Self {
        let mut forms = find_forms(text, spans);
        for (form, count) in address_forms(text) {
            forms.entry(form).or_insert(count);
        }
        let mut statements = name_statements(text, chars, &Self::from_forms(forms.clone()));
        let stated_names = confirmed_names(text, &mut statements, &forms);
        // A name given by a statement, followed by text that is not a title, is that name plus another word.
        let mut ranks: HashMap<&[char], usize> = HashMap::new();
        for (rank, name) in stated_names.iter().enumerate() {
            ranks.entry(name).or_insert(rank);
        }
        forms.retain(|form, _| {
            let name_starts = (1..form.len()).filter_map(|end| Some((*ranks.get(&form[..end])?, end)));
            let first = name_starts.min().map(|(_, end)| &form[end..]);
            first.is_none_or(|rest| title_gender(rest).is_some() || *rest == ['儿'])
        });
        for form in &stated_names {
            forms.entry(form.clone()).or_default();
        }
        let mut names = Self::from_forms(forms);
        names.find_mentions(text, chars);
        let mut forms = names.complete_forms(text);
        names.remove_prefixed(&mut forms);
        for form in stated_names {
            forms.entry(form).or_default();
        }
        let foreign = foreign_names(text);
        // A form found inside a part of a foreign name is not a name by itself.
        let parts = foreign.keys().flat_map(|form| form.split(|&c| c == '·')).filter(|part| part.len() > 2);
        let pieces: HashSet<&[char]> =
            parts.flat_map(|part| (2..part.len()).flat_map(|length| part.windows(length))).collect();
        forms.retain(|form, _| !pieces.contains(form.as_slice()));
        for (form, &count) in &foreign {
            forms.entry(form.clone()).or_insert(count);
        }
        for (form, count) in short_forms(text, &forms) {
            if count > 1 {
                forms.entry(form).or_default();
            }
        }
        forms.retain(|form, _| !known_characters.ignores(&form.iter().collect::<String>()));
        for form in known_characters.names_to_find() {
            let form: Vec<char> = form.chars().map(|c| CHINESE.fold(c)).collect();
            if !form.is_empty() && !is_role_noun(&form) {
                forms.entry(form).or_default();
            }
        }
        let mut names = Self::from_forms(forms);
        names.find_mentions(text, chars);
        names.count_genders(text, spans);
        names.statements = statements;
        names
    }

    /// Returns the forms, with parts extended to whole names, and with surnames and following titles added.
    fn complete_forms(&self, text: &[char]) -> BTreeMap<Vec<char>, u32> {
        let mut forms: BTreeMap<Vec<char>, u32> = BTreeMap::new();
        for name in &self.list {
            if name.count == 0 {
                continue;
            }
            let mut form = name.form.clone();
            // A form that is nearly always followed by the same character is part of a longer name.
            let most = name.followers.iter().max_by_key(|&(c, count)| (*count, *c));
            if let Some((&c, &count)) = most
                && !clause_end(c)
                && c.is_alphabetic()
                && form.len() < 4
                && name.count > 2
                && count * 20 >= name.count * 19
                && CHINESE.actions.head(&[c]) == 0
                && CHINESE.manner.head(&[c]) == 0
                && CHINESE.speech.head(&[c]) == 0
            {
                form.push(c);
            }
            *forms.entry(form.clone()).or_default() += name.speaker_count;
            for (surname, &count) in &name.before {
                let is_likely_surname = !CHINESE.objects.has(surname)
                    && !CHINESE.not_in_names.has(surname)
                    && !CHINESE.manner.has(surname)
                    && !CHINESE.opening.has(surname);
                let total: u32 = name.before.values().sum();
                let enough =
                    if is_likely_surname { count > 1 || name.count < 8 } else { count > 2 && count * 2 > name.count };
                if form.len() == 2 && count * 2 > total && enough {
                    let mut full = surname.clone();
                    full.extend(&form);
                    forms.entry(full).or_default();
                }
            }
        }
        let mut extended: BTreeMap<Vec<char>, u32> = BTreeMap::new();
        for mention in &self.mentions {
            let rest = &text[mention.end..text.len().min(mention.end + 3)];
            let word = CHINESE.titles_female.head(rest).max(CHINESE.titles_male.head(rest));
            if word > 0 && rest[..word] != ['家', '的'] {
                *extended.entry(text[mention.start..mention.end + word].to_vec()).or_default() += 1;
            }
        }
        for (form, count) in extended {
            if count > 3 {
                forms.entry(form).or_default();
            }
        }
        forms
    }

    /// Removes forms that consist of a role noun and a name that also occurs alone: `女警方晴`.
    fn remove_prefixed(&self, forms: &mut BTreeMap<Vec<char>, u32>) {
        let counts: HashMap<&[char], u32> =
            self.list.iter().map(|name| (name.form.as_slice(), name.count + name.speaker_count)).collect();
        let longer = |form: &Vec<char>| {
            (1..form.len().saturating_sub(1)).any(|at| {
                let (noun, rest) = form.split_at(at);
                let count_alone = counts.get(rest).copied().unwrap_or(0);
                is_role_noun(noun) && surname_length(rest).is_some() && count_alone > 1
            })
        };
        forms.retain(|form, _| !longer(form));
    }

    fn find_mentions(&mut self, text: &[char], chars: &[char]) {
        let mut i = 0;
        while i < text.len() {
            let Some(name) = self.at(&text[i..]) else {
                i += 1;
                continue;
            };
            let end = i + self.list[name].form.len();
            let entry = &mut self.list[name];
            if entry.count == 0 {
                entry.printed = chars[i..end].iter().collect();
                entry.first = i;
            }
            entry.count += 1;
            if let Some(&c) = text.get(end) {
                *entry.followers.entry(c).or_default() += 1;
            }
            for length in [2, 1] {
                // In `伙计阿福`, the end of the role noun is not a surname.
                if i >= length
                    && CHINESE.surnames.has(&text[i - length..i])
                    && role_noun_before_name(&text[i.saturating_sub(4)..i]) == 0
                {
                    *entry.before.entry(text[i - length..i].to_vec()).or_default() += 1;
                    break;
                }
            }
            self.mentions.push(Mention { start: i, end, name });
            i = end;
        }
    }

    /// Counts the pronouns that follow a mention up to the next one, in books that distinguish 她 from 他; also counts
    /// gendered words next to names.
    fn count_genders(&mut self, text: &[char], spans: &[Span]) {
        // `他女儿X`, `X姑娘`.
        for mention in &self.mentions {
            let before = &text[mention.start.saturating_sub(3)..mention.start];
            let rest = &text[mention.end..text.len().min(mention.end + 3)];
            let name = &mut self.list[mention.name];
            let (female, male) = (CHINESE.generic_female.tail(before), CHINESE.generic_male.tail(before));
            if female > 1 && female > male || CHINESE.titles_female.head(rest) > 1 && !rest.starts_with(&['家', '的'])
            {
                name.female += 2;
            } else if male > 1 || CHINESE.titles_male.head(rest) > 1 {
                name.male += 2;
            }
        }
        if !distinguishes_she(text) {
            return;
        }
        let mut quote = 0;
        for i in 0..self.mentions.len() {
            let mention = self.mentions[i];
            while quote < spans.len() && spans[quote].outer_end <= mention.start {
                quote += 1;
            }
            if spans.get(quote).is_some_and(|span| span.outer_start <= mention.start) {
                continue;
            }
            let limit = self.mentions.get(i + 1).map_or(text.len(), |next| next.start).min(mention.end + 60);
            // Only a pronoun at the start of a clause certainly refers to the last name.
            for i in mention.end + 1..limit {
                if matches!(text[i], '\n' | '“' | '"' | '「') {
                    break;
                }
                match (text[i], clause_end(text[i - 1])) {
                    ('她' | '伊', true) => self.list[mention.name].female += 1,
                    ('他', true) => self.list[mention.name].male += 1,
                    _ => continue,
                }
                break;
            }
        }
    }
}

/// Whether a book distinguishes 她 from 他, so that 他 is masculine.
pub(in crate::attribution::chinese) fn distinguishes_she(text: &[char]) -> bool {
    let (she, he) = text.iter().fold((0_usize, 0_usize), |(she, he), c| match c {
        '她' | '伊' => (she + 1, he),
        '他' => (she, he + 1),
        _ => (she, he),
    });
    she > 4 && she * 25 > he
}
