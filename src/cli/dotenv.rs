//! Environment variables, with defaults from a `.env` file in the working directory.

use std::collections::BTreeMap;

use crate::config::Environment;

/// Errors of reading `.env`. Never contains a value, which may be a secret.
#[derive(Debug, thiserror::Error)]
pub(super) enum DotEnvError {
    /// The file exists but cannot be read.
    #[error("failed to read `.env`")]
    Open(#[source] std::io::Error),
    /// A line is not an assignment.
    #[error("line {0} of `.env` is not of the form NAME=value")]
    Line(usize),
}

/// Returns the environment variables; those of `.env` apply only where the environment has none.
pub(super) fn environment() -> Result<Environment, DotEnvError> {
    let mut variables = match std::fs::read_to_string(".env") {
        Ok(text) => parse(&text)?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => BTreeMap::new(),
        Err(error) => return Err(DotEnvError::Open(error)),
    };
    for (name, value) in std::env::vars_os() {
        // URLs, keys and paths in a pipeline file are Unicode, so other variables are not needed.
        if let (Ok(name), Ok(value)) = (name.into_string(), value.into_string()) {
            variables.insert(name, value);
        }
    }
    Ok(variables.into_iter().collect())
}

/// Parses lines `NAME=value`, optionally with `export` and quotes; `#` starts a comment.
fn parse(text: &str) -> Result<BTreeMap<String, String>, DotEnvError> {
    let mut variables = BTreeMap::new();
    for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (name, value) = line.split_once('=').ok_or(DotEnvError::Line(index + 1))?;
        let name = name.trim();
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return Err(DotEnvError::Line(index + 1));
        }
        variables.insert(name.to_owned(), unquote(value.trim()).ok_or(DotEnvError::Line(index + 1))?);
    }
    Ok(variables)
}

/// Removes quotes or a trailing comment; `None` if a quote is not closed.
fn unquote(value: &str) -> Option<String> {
    for quote in ['"', '\''] {
        if let Some(inner) = value.strip_prefix(quote) {
            let (inner, after) = inner.split_once(quote)?;
            return (after.trim().is_empty() || after.trim_start().starts_with('#')).then(|| inner.to_owned());
        }
    }
    Some(value.split(" #").next().unwrap_or(value).trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_assignments() {
        let text = "# keys\nexport A=1\n\nB = \"two words\" # note\nC='x#y'\nD=a#b # c\nE=\nF=键\n";
        let expected = [("A", "1"), ("B", "two words"), ("C", "x#y"), ("D", "a#b"), ("E", ""), ("F", "键")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(parse(text).unwrap(), BTreeMap::from(expected));
    }

    #[test]
    fn the_error_names_the_line_without_its_content() {
        for (text, line) in [("A=1\nsk-secret\n", 2), ("a b=sk-secret", 1), ("A=\"sk-secret", 1)] {
            let message = parse(text).unwrap_err().to_string();
            assert_eq!(message, format!("line {line} of `.env` is not of the form NAME=value"));
        }
    }
}
