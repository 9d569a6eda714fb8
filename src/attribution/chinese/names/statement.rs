//! A statement of a Chinese book that gives names to one person.

use super::statement_clauses::{NameKind, StatedName};

/// A name given by a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::attribution::chinese) struct Alias {
    /// The name in simplified characters.
    pub(in crate::attribution::chinese) form: Vec<char>,
    /// The name as printed.
    pub(in crate::attribution::chinese) printed: String,
    /// Offset of its last part.
    pub(in crate::attribution::chinese) at: usize,
    /// Whether it is the main name of the person.
    pub(in crate::attribution::chinese) is_main: bool,
    /// Whether it is only how people address someone; it counts only if it occurs as a name elsewhere.
    pub(super) is_address_only: bool,
}

/// The names that a statement gives to one person.
#[derive(Debug, Clone, Default)]
pub(in crate::attribution::chinese) struct NameStatement {
    /// The names, in order.
    pub(in crate::attribution::chinese) forms: Vec<Alias>,
    /// The name by which the person is already known, if the statement is tied to one.
    pub(super) bearer: Option<Vec<char>>,
    /// Whether a role noun precedes it.
    pub(in crate::attribution::chinese) noun: bool,
    pub(super) surname: Option<(usize, usize)>,
    /// End of its last clause.
    pub(in crate::attribution::chinese) end: usize,
}

/// Maximum number of names from one statement.
const MAX_NAMES: usize = 16;

impl NameStatement {
    /// Returns the main name, or the first one given.
    pub(in crate::attribution::chinese) fn main_name(&self) -> &Alias {
        self.forms.iter().find(|form| form.is_main).unwrap_or(&self.forms[0])
    }

    /// Returns the name by which the person is already known, else the main name.
    pub(in crate::attribution::chinese) fn primary_name(&self) -> &[char] {
        self.bearer.as_deref().unwrap_or(&self.main_name().form)
    }

    pub(in crate::attribution::chinese) fn add_name(&mut self, text: &[char], chars: &[char], stated: StatedName) {
        if stated.kind == NameKind::Surname {
            self.surname = Some((stated.start, stated.end));
            return;
        }
        let is_main = matches!(stated.kind, NameKind::Given | NameKind::Main);
        let (mut form, mut printed) = (text[stated.start..stated.end].to_vec(), String::new());
        if let Some((from, to)) = self.surname.filter(|_| is_main)
            && !form.starts_with(&text[from..to])
            && form.len() < 3
        {
            form.splice(0..0, text[from..to].iter().copied());
            printed.extend(&chars[from..to]);
        }
        printed.extend(&chars[stated.start..stated.end]);
        if form.len() > 1 && self.forms.len() < MAX_NAMES && self.forms.iter().all(|other| other.form != form) {
            self.forms.push(Alias {
                form,
                printed,
                at: stated.start,
                is_main,
                is_address_only: stated.kind == NameKind::Address,
            });
        }
    }
}
