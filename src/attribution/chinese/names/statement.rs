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
    pub(in crate::attribution::chinese) own: bool,
    /// Whether it is only how people address someone; it counts only if it occurs as a name elsewhere.
    pub(super) weak: bool,
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
const MOST: usize = 16;

impl NameStatement {
    /// Returns the main name, or the first one given.
    pub(in crate::attribution::chinese) fn own(&self) -> &Alias {
        self.forms.iter().find(|form| form.own).unwrap_or(&self.forms[0])
    }

    /// Returns the name by which the person is already known, else the main name.
    pub(in crate::attribution::chinese) fn first(&self) -> &[char] {
        self.bearer.as_deref().unwrap_or(&self.own().form)
    }

    pub(in crate::attribution::chinese) fn take(&mut self, text: &[char], chars: &[char], told: StatedName) {
        if told.kind == NameKind::Surname {
            self.surname = Some((told.start, told.end));
            return;
        }
        let own = matches!(told.kind, NameKind::Given | NameKind::Own);
        let (mut form, mut printed) = (text[told.start..told.end].to_vec(), String::new());
        if let Some((from, to)) = self.surname.filter(|_| own)
            && !form.starts_with(&text[from..to])
            && form.len() < 3
        {
            form.splice(0..0, text[from..to].iter().copied());
            printed.extend(&chars[from..to]);
        }
        printed.extend(&chars[told.start..told.end]);
        if form.len() > 1 && self.forms.len() < MOST && self.forms.iter().all(|other| other.form != form) {
            self.forms.push(Alias { form, printed, at: told.start, own, weak: told.kind == NameKind::Called });
        }
    }
}
