//! Rule-based checks of the names in an answer.

use crate::schema::{Language, slug};
use crate::text::{ComparableName, is_han};

/// Maximum length of a name in characters.
const MAX_NAME_LENGTH: usize = 60;

/// Checks the names of new characters. Returns an error if one is empty, too long, in the wrong script, or clashes with
/// another one or with one of `avoid`.
pub(super) fn check_names(names: &[&str], avoid: &[String], language: Language) -> Result<(), String> {
    for (index, name) in names.iter().enumerate() {
        if slug(name) == "-" || name.chars().count() > MAX_NAME_LENGTH {
            return Err(format!("`{name}` is no name"));
        }
        if name.chars().any(is_han) != (language == Language::Zh) {
            return Err(format!("the name `{name}` must be in the language of the world"));
        }
        if names[..index].iter().any(|other| clash(name, other)) {
            return Err(format!("the name `{name}` is too like another character's; give each its own"));
        }
        if let Some(avoided) = avoid.iter().find(|avoided| clash(name, avoided)) {
            return Err(format!("the name `{name}` is too like `{avoided}`, which must not be used; choose another"));
        }
    }
    Ok(())
}

/// Returns whether two names could be mistaken for each other.
pub(crate) fn clash(one: &str, other: &str) -> bool {
    ComparableName::new(one).clashes(&ComparableName::new(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked() {
        let avoid = ["贾宝玉".to_owned(), "Jim Hawkins".to_owned()];
        let check = |names: &[&str], language| check_names(names, &avoid, language).is_ok();
        assert!(check(&["Orrie Dace", "Hob Wragg"], Language::En));
        assert!(!check(&["Orrie Dace", "orrie dace"], Language::En));
        assert!(!check(&["JIM HAWKINS"], Language::En));
        assert!(!check(&[" "], Language::En));
        assert!(!check(&["沐知微"], Language::En));
        assert!(check(&["沐知微"], Language::Zh));
        assert!(!check(&["宝玉"], Language::Zh));
        assert!(!check(&[&"a".repeat(61)], Language::En));
    }
}
