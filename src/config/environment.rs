//! The environment variables that a pipeline file may use, as passed in by `cli`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum size of a file with a variable's value, in bytes.
const MOST_BYTES: u64 = 1 << 16;

/// Variables by name. Values may be secrets and are never printed.
#[derive(Clone, Default)]
pub struct Environment {
    variables: BTreeMap<String, String>,
    /// Cached contents of `_FILE` variables, since a pipe can be read only once.
    files: Arc<Mutex<BTreeMap<String, Result<String, String>>>>,
}

impl Environment {
    /// Returns a variable; an empty one counts as unset.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Returns a variable or, if it is not set, the contents of the file named by `<name>_FILE`, as container runtimes
    /// mount secrets.
    pub(crate) fn find(&self, name: &str) -> Result<Cow<'_, str>, Unset> {
        if let Some(value) = self.get(name) {
            return Ok(Cow::Borrowed(value));
        }
        let unset = |file| Unset { name: name.to_owned(), file };
        let path = self.get(&format!("{name}_FILE")).ok_or_else(|| unset(None))?;
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let read = files.entry(path.to_owned()).or_insert_with(|| read(path));
        read.clone().map(Cow::Owned).map_err(|fault| unset(Some(fault)))
    }

    /// Returns the names of all variables, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(String::as_str)
    }
}

/// A variable without a value. The message shows no path, since the secret itself may have been entered there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", match file {
    Some(fault) => format!("the file that {name}_FILE names {fault}"),
    None => format!("the environment variable {name} is not set"),
})]
pub(crate) struct Unset {
    /// The variable's name.
    pub(crate) name: String,
    /// Why the file named by `<name>_FILE` has no value, if there is one.
    pub(crate) file: Option<String>,
}

/// Reads the value of a variable from a file: its only line.
fn read(path: &str) -> Result<String, String> {
    use std::io::Read as _;
    let cannot = |error: std::io::Error| format!("cannot be read: {error}");
    let mut bytes = Vec::new();
    std::fs::File::open(path).map_err(cannot)?.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(cannot)?;
    let text = String::from_utf8(bytes).map_err(|_| "is not valid UTF-8".to_owned())?;
    match text.trim_start_matches('\u{feff}').trim() {
        "" => Err("is empty".to_owned()),
        value if value.contains(['\n', '\r']) => Err("has more than one line".to_owned()),
        value if value.len() as u64 >= MOST_BYTES => Err("is longer than 64 KB".to_owned()),
        value => Ok(value.to_owned()),
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        Self { variables: variables.into_iter().collect(), ..Self::default() }
    }
}

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish()
    }
}

/// Replaces `$NAME` and `${NAME}` in a text, and `$$` with a dollar sign. Fails on a variable without a value.
pub(crate) fn expand(text: &str, environment: &Environment) -> Result<String, Unset> {
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
        expanded.push_str(&environment.find(name)?);
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
            let expanded = expand(text, &environment);
            assert_eq!(expanded.as_deref().map_err(|unset| unset.name.as_str()), expected, "{text}");
        }
        assert_eq!(format!("{environment:?}"), r#"{"BOOKS", "EMPTY"}"#);
    }

    #[test]
    fn a_value_is_read_from_the_named_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("键");
        let file = path.to_str().unwrap().to_owned();
        let set = [("KEY_FILE".to_owned(), file), ("OTHER_FILE".to_owned(), "sesame-7".to_owned())];
        let set: Vec<(String, String)> = set.into();
        let environment = || set.iter().cloned().collect::<Environment>();
        for (text, expected) in [
            ("\u{feff}sesame-7\r\n", Ok("Bearer sesame-7")),
            (" \n", Err("the file that KEY_FILE names is empty")),
            ("sesame-7\nsesame-8\n", Err("the file that KEY_FILE names has more than one line")),
        ] {
            std::fs::write(&path, text).unwrap();
            let expanded = expand("Bearer $KEY", &environment()).map_err(|unset| unset.to_string());
            assert_eq!(expanded.as_deref().map_err(String::as_str), expected, "{text:?}");
        }
        std::fs::write(&path, [0xff, 0xfe]).unwrap();
        assert!(environment().find("KEY").unwrap_err().to_string().contains("not valid UTF-8"));
        std::fs::write(&path, "k".repeat(1 << 17)).unwrap();
        assert!(environment().find("KEY").unwrap_err().to_string().contains("longer"));
        // If the key itself is entered as the file's name, it is not printed.
        let error = environment().find("OTHER").unwrap_err().to_string();
        assert!(
            error.starts_with("the file that OTHER_FILE names cannot be read") && !error.contains("sesame"),
            "{error}"
        );
        std::fs::write(&path, "once\n").unwrap();
        let mut environment = environment();
        assert_eq!(environment.find("KEY").unwrap(), "once");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(environment.find("KEY").unwrap(), "once", "a pipe is read only once");
        environment.variables.insert("KEY".to_owned(), "own".to_owned());
        assert_eq!(environment.find("KEY").unwrap(), "own", "a variable takes precedence over its file");
        assert!(environment.find("NONE").unwrap_err().file.is_none());
    }
}
