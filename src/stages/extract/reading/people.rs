//! Who there is: the register that both languages fill, and how it becomes the reading's list of people.

use std::collections::BTreeMap;

use super::{Gender, Paragraph, Person, Quotation, Reading};

/// Somebody while the book is being read.
#[derive(Debug, Clone, Default)]
pub(super) struct Draft {
    /// Forms of the name with how often the book has them.
    pub(super) forms: BTreeMap<String, u32>,
    /// The form to be called by, where it is settled; else the fullest frequent one.
    pub(super) name: Option<String>,
    /// Signs for a woman.
    pub(super) female: u32,
    /// Signs for a man.
    pub(super) male: u32,
    /// What a title or kinship word says, which no count of pronouns overrules.
    pub(super) fixed: Option<Gender>,
    /// Whether it is known by a role noun only.
    pub(super) role: bool,
    /// Index into the people who were given beforehand, where it is one of them.
    pub(super) given: Option<usize>,
    /// Whether its names were given anew, so that a role noun among them means nobody else.
    pub(super) sure: bool,
}

/// What speaks for somebody whom a role noun means for sure.
pub(super) const SURE: f32 = 12.0;

impl Draft {
    /// Returns the gender, where the signs are clear.
    pub(super) fn gender(&self) -> Gender {
        if let Some(gender) = self.fixed {
            return gender;
        }
        if self.female > self.male * 2 && self.female > 1 {
            Gender::Female
        } else if self.male > self.female * 2 && self.male > 1 {
            Gender::Male
        } else {
            Gender::Unknown
        }
    }

    /// Counts one more use of a form.
    pub(super) fn add(&mut self, form: &str, times: u32) {
        if let Some(count) = self.forms.get_mut(form) {
            *count += times;
        } else {
            self.forms.insert(form.to_owned(), times);
        }
    }

    fn mentions(&self) -> u32 {
        self.forms.values().sum()
    }

    /// Returns the form of the most words among those used at least a tenth as often as the most frequent; of one word, the commonest
    /// in Latin letters and the longest in others.
    pub(super) fn fullest(&self) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        let most = self.forms.values().copied().max().unwrap_or(0);
        self.forms
            .iter()
            .filter(|&(_, &count)| count * 10 >= most)
            .max_by_key(|&(form, &count)| {
                let latin = if form.is_ascii() { count } else { 0 };
                (!form.starts_with("the "), form.split(' ').count(), latin, form.chars().count(), count)
            })
            .map(|(form, _)| form.clone())
            .unwrap_or_default()
    }
}

/// Who speaks a quotation, as the rules found it.
#[derive(Debug, Clone, Default)]
pub(super) struct Found {
    /// Index into the drafts.
    pub(super) speaker: Option<usize>,
    pub(super) kind: Option<super::Kind>,
    pub(super) confidence: f32,
    pub(super) action: Option<String>,
}

/// Makes the reading: people who are named or speak, sorted by lines, mentions and name, and speakers pointing at them.
pub(super) fn settle(cast: Vec<Draft>, mut quotations: Vec<Quotation>, paragraphs: Vec<Paragraph>) -> Reading {
    let mut lines = vec![0_u32; cast.len()];
    for quotation in &quotations {
        if let Some(speaker) = quotation.speaker {
            lines[speaker] += 1;
        }
    }
    let mut people: Vec<(usize, Person)> = cast
        .into_iter()
        .enumerate()
        .filter(|(id, draft)| lines[*id] > 0 || (!draft.role && draft.mentions() > 0))
        .map(|(id, draft)| {
            let name = draft.fullest();
            let mut forms: Vec<(&String, &u32)> = draft.forms.iter().filter(|(form, _)| **form != name).collect();
            forms.sort_by_key(|&(form, count)| (std::cmp::Reverse(*count), form));
            let aliases = forms.into_iter().map(|(form, _)| form.clone()).collect();
            let person = Person { name, aliases, gender: draft.gender(), mentions: draft.mentions(), lines: lines[id] };
            (id, person)
        })
        .collect();
    people.sort_by(|(_, a), (_, b)| order(a, b));
    let places: BTreeMap<usize, usize> = people.iter().enumerate().map(|(place, &(id, _))| (id, place)).collect();
    for quotation in &mut quotations {
        quotation.speaker = quotation.speaker.map(|id| places[&id]);
    }
    let people = people.into_iter().map(|(_, person)| person).collect();
    Reading { people, quotations, letters: Vec::new(), paragraphs }
}

/// Puts people in order: by lines, then mentions, then name.
pub(super) fn order(a: &Person, b: &Person) -> std::cmp::Ordering {
    (b.lines, b.mentions).cmp(&(a.lines, a.mentions)).then_with(|| a.name.cmp(&b.name))
}
