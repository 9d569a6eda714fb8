//! The draft list of characters that both languages fill, and its conversion into the final list.

use std::collections::BTreeMap;

use super::{Attribution, Gender, Paragraph, Person, Quotation};

/// A character during attribution.
#[derive(Debug, Clone, Default)]
pub(super) struct CharacterDraft {
    /// Name forms with their counts in the book.
    pub(super) forms: BTreeMap<String, u32>,
    /// The main name if decided; else [`CharacterDraft::main_name`] chooses it.
    pub(super) name: Option<String>,
    /// Count of feminine evidence.
    pub(super) female: u32,
    /// Count of masculine evidence.
    pub(super) male: u32,
    /// Gender from a title or kinship noun; pronoun counts do not overrule it.
    pub(super) known_gender: Option<Gender>,
    /// Whether the character is known only by a role noun.
    pub(super) role: bool,
    /// Index into the known characters, if it is one of them.
    pub(super) known_character: Option<usize>,
    /// Whether its names differ from what the rules find, so that a role noun among them refers to no other character.
    pub(super) exclusive: bool,
}

/// Score for a character to whom a role noun certainly refers.
pub(super) const CERTAIN_SCORE: f32 = 12.0;

impl CharacterDraft {
    /// Returns the gender, where the evidence is clear.
    pub(super) fn gender(&self) -> Gender {
        if let Some(gender) = self.known_gender {
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

    /// Adds to the count of a name form.
    pub(super) fn add(&mut self, form: &str, times: u32) {
        if let Some(count) = self.forms.get_mut(form) {
            *count += times;
        } else {
            self.forms.insert(form.to_owned(), times);
        }
    }

    pub(super) fn mentions(&self) -> u32 {
        self.forms.values().sum()
    }

    /// Returns the form with the most words among those used at least a tenth as often as the most frequent one. Among
    /// forms of equally many words, the most frequent one wins in Latin script, the longest in others.
    pub(super) fn main_name(&self) -> String {
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

/// The speaker of a quotation, as found by the rules.
#[derive(Debug, Clone, Default)]
pub(super) struct SpeakerAssignment {
    /// Index into the drafts.
    pub(super) speaker: Option<usize>,
    pub(super) kind: Option<super::QuotationKind>,
    pub(super) confidence: f32,
    pub(super) action: Option<String>,
}

/// Builds the result: drops characters that neither speak nor are named, sorts the rest by quotations, mentions and
/// name, and renumbers the speakers.
pub(super) fn finish(
    cast: Vec<CharacterDraft>,
    mut quotations: Vec<Quotation>,
    paragraphs: Vec<Paragraph>,
) -> Attribution {
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
            let name = draft.main_name();
            let mut forms: Vec<(&String, &u32)> = draft.forms.iter().filter(|(form, _)| **form != name).collect();
            forms.sort_by_key(|&(form, count)| (std::cmp::Reverse(*count), form));
            let aliases = forms.into_iter().map(|(form, _)| form.clone()).collect();
            let person = Person { name, aliases, gender: draft.gender(), mentions: draft.mentions(), lines: lines[id] };
            (id, person)
        })
        .collect();
    people.sort_by(|(_, a), (_, b)| compare_people(a, b));
    let positions: BTreeMap<usize, usize> =
        people.iter().enumerate().map(|(position, &(id, _))| (id, position)).collect();
    for quotation in &mut quotations {
        quotation.speaker = quotation.speaker.map(|id| positions[&id]);
    }
    let people = people.into_iter().map(|(_, person)| person).collect();
    Attribution { people, quotations, letters: Vec::new(), paragraphs }
}

/// Compares by quotations, then mentions (both descending), then name.
pub(super) fn compare_people(a: &Person, b: &Person) -> std::cmp::Ordering {
    (b.lines, b.mentions).cmp(&(a.lines, a.mentions)).then_with(|| a.name.cmp(&b.name))
}
