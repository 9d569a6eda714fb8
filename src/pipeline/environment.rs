//! The environment variables that a pipeline file may refer to, as `cli` found them.

use std::collections::BTreeMap;

/// Variables by name. Their values may be secrets: they show themselves nowhere.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// Returns a variable; an empty one counts as unset.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Returns the names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        Self(variables.into_iter().collect())
    }
}

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Replaces `$NAME` and `${NAME}` in a text; `$$` is a dollar sign. Returns the name of a variable that is not set.
pub(super) fn expand(text: &str, environment: &Environment) -> Result<String, String> {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        expanded.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            expanded.push('$');
            rest = after;
            continue;
        }
        let braced = rest.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let bare = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_').len();
        let (name, after) = braced.unwrap_or_else(|| rest.split_at(bare));
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            expanded.push('$');
            continue;
        }
        expanded.push_str(environment.get(name).ok_or_else(|| name.to_owned())?);
        rest = after;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_expand() {
        let set = [("BOOKS".to_owned(), "/书".to_owned()), ("EMPTY".to_owned(), String::new())];
        let environment: Environment = set.into_iter().collect();
        for (text, expected) in [
            ("$BOOKS/红楼梦.txt", Ok("/书/红楼梦.txt")),
            ("a${BOOKS}b", Ok("a/书b")),
            ("$$BOOKS costs $5 or $", Ok("$BOOKS costs $5 or $")),
            ("$EMPTY", Err("EMPTY")),
            ("${NOWHERE}/x", Err("NOWHERE")),
        ] {
            assert_eq!(expand(text, &environment).as_deref().map_err(String::as_str), expected, "{text}");
        }
        assert_eq!(format!("{environment:?}"), r#"{"BOOKS", "EMPTY"}"#);
    }
}
