//! Links Chinese characters who were introduced by a noun to the names they are given later.

use super::Referents;
use super::bindings::introducing_noun;
use crate::attribution::chinese::clauses::sentence_end;

/// Maximum distance in characters to a name that the noun was used with.
pub(super) const MAX_BINDING_DISTANCE: usize = 900;

/// Maximum distance in characters between `自称X` and its subject.
const MAX_SELF_NAMING_DISTANCE: usize = 120;

impl Referents<'_> {
    /// Links characters to the names they are given in a passage: `这女子叫X` after `一个撑篙的女子`.
    pub(in crate::attribution::chinese) fn link_names(&mut self, at: usize, end: usize) {
        let mentions = self.names.between(at, end).iter().map(|mention| (mention.start, mention.name, false));
        let from = self.names.statements.partition_point(|statement| statement.forms[0].at < at);
        let stated = self.names.statements[from..].iter().map_while(|statement| {
            let first = statement.main_name();
            (statement.forms[0].at < end).then(|| Some((first.at, self.names.index_of(&first.form)?, true)))
        });
        let uses: Vec<(usize, usize, bool)> = mentions.chain(stated.flatten()).collect();
        for (offset, name, stated) in uses {
            let person = self.names.people[name];
            let introduced_person = match introducing_noun(self.text, offset, stated) {
                Some(noun) => self.introduced.iter().rev().take(6).find(|other| {
                    other.noun.ends_with(&noun) && other.at < offset && offset < other.at + MAX_BINDING_DISTANCE
                }),
                // `自称X`, `他姓沈，名叫X`: the name of the previous subject.
                None if self.names_previous_subject(offset, stated) => {
                    let last = self.subjects.iter().rev().find(|&&(before, _)| before < offset);
                    let last = last
                        .filter(|&&(before, _)| offset < before + MAX_SELF_NAMING_DISTANCE)
                        .map(|&(_, person)| person);
                    self.introduced.iter().rev().take(6).find(|other| Some(other.person) == last)
                }
                None => None,
            };
            if let Some(other) = introduced_person.map(|other| other.person)
                && other != person
                && self.cast[other].role
                && !self.cast[person].role
                && self.cast[other].forms.keys().all(|form| self.known_characters.allows(form, &self.cast[person]))
            {
                self.merged.insert(other, person);
            }
        }
    }

    /// Whether a name is given to the person mentioned last: its sentence begins with the statement or with a pronoun.
    fn names_previous_subject(&self, offset: usize, stated: bool) -> bool {
        let start =
            (offset.saturating_sub(40)..offset).rev().find(|&i| sentence_end(self.text[i]) || self.text[i] == '\n');
        let opening = &self.text[start.map_or(0, |i| i + 1)..offset];
        let opening = &opening[opening.iter().take_while(|c| c.is_whitespace()).count()..];
        match opening {
            ['自', '称'] => true,
            [first, ..] => stated && matches!(first, '他' | '她' | '此' | '姓' | '名'),
            [] => false,
        }
    }
}
