//! Links Chinese characters who were introduced by a noun to the names they are given later.

use super::Referents;
use super::bindings::introducing_noun;
use crate::attribution::chinese::clauses::sentence_end;

/// Maximum distance in characters to a name that the noun was used with.
pub(super) const BOUND: usize = 900;

/// Maximum distance in characters between `自称X` and its subject.
const CLOSE: usize = 120;

impl Referents<'_> {
    /// Links characters to the names they are given in a passage: `这女子叫X` after `一个撑篙的女子`.
    pub(in crate::attribution::chinese) fn link_names(&mut self, at: usize, end: usize) {
        let mentions = self.names.between(at, end).iter().map(|mention| (mention.start, mention.name, false));
        let from = self.names.namings.partition_point(|naming| naming.forms[0].at < at);
        let told = self.names.namings[from..].iter().map_while(|naming| {
            let first = naming.own();
            (naming.forms[0].at < end).then(|| Some((first.at, self.names.index_of(&first.form)?, true)))
        });
        let given: Vec<(usize, usize, bool)> = mentions.chain(told.flatten()).collect();
        for (place, name, told) in given {
            let person = self.names.people[name];
            let brought = match introducing_noun(self.text, place, told) {
                Some(noun) => self
                    .introduced
                    .iter()
                    .rev()
                    .take(6)
                    .find(|other| other.noun.ends_with(&noun) && other.at < place && place < other.at + BOUND),
                // `自称X`, `他姓沈，名叫X`: the name of the previous subject.
                None if self.names_previous_subject(place, told) => {
                    let last = self.focus.iter().rev().find(|&&(before, _)| before < place);
                    let last = last.filter(|&&(before, _)| place < before + CLOSE).map(|&(_, person)| person);
                    self.introduced.iter().rev().take(6).find(|other| Some(other.person) == last)
                }
                None => None,
            };
            if let Some(other) = brought.map(|other| other.person)
                && other != person
                && self.cast[other].role
                && !self.cast[person].role
                && self.cast[other].forms.keys().all(|form| self.given.allows(form, &self.cast[person]))
            {
                self.merged.insert(other, person);
            }
        }
    }

    /// Whether a name is given to the person mentioned last: its sentence begins with the statement or with a pronoun.
    fn names_previous_subject(&self, place: usize, told: bool) -> bool {
        let start =
            (place.saturating_sub(40)..place).rev().find(|&i| sentence_end(self.text[i]) || self.text[i] == '\n');
        let opening = &self.text[start.map_or(0, |i| i + 1)..place];
        let opening = &opening[opening.iter().take_while(|c| c.is_whitespace()).count()..];
        match opening {
            ['自', '称'] => true,
            [first, ..] => told && matches!(first, '他' | '她' | '此' | '姓' | '名'),
            [] => false,
        }
    }
}
