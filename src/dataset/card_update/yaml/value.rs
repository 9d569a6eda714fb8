//! The values of YAML, each entry with its lines.

use std::ops::Range;

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Yaml {
    /// Null.
    Null,
    /// A scalar of any type, as text.
    Scalar(String),
    /// A list.
    List(Vec<Item>),
    /// A mapping.
    Map(Vec<Pair>),
}

/// An entry of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) value: Yaml,
    /// The lines of the entry.
    pub(crate) lines: Range<usize>,
    /// The column of its dash; `None` in flow style.
    pub(crate) column: Option<usize>,
}

/// An entry of a mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) key: String,
    pub(crate) value: Yaml,
    /// The lines of the entry.
    pub(crate) lines: Range<usize>,
    /// The column of its key; `None` in flow style.
    pub(crate) column: Option<usize>,
}

impl Yaml {
    /// Returns the value of a key in a mapping.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        self.pair(key).map(|pair| &pair.value)
    }

    /// Returns the entry of a key in a mapping.
    pub(crate) fn pair(&self, key: &str) -> Option<&Pair> {
        self.pairs().iter().find(|pair| pair.key == key)
    }

    /// Returns the entries of a mapping, or none if it is not a mapping.
    pub(crate) fn pairs(&self) -> &[Pair] {
        if let Self::Map(pairs) = self { pairs } else { &[] }
    }

    /// Returns the entries of a list, or none if it is not a list.
    pub(crate) fn items(&self) -> &[Item] {
        if let Self::List(items) = self { items } else { &[] }
    }

    /// Returns the text of a scalar.
    pub(crate) fn text(&self) -> Option<&str> {
        if let Self::Scalar(text) = self { Some(text) } else { None }
    }
}

/// A syntax error, or YAML that is not supported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct YamlFault {
    /// The line, from 0.
    pub(crate) line: usize,
    /// The problem.
    pub(crate) message: &'static str,
}

/// The result of a parser.
pub(super) type ParseResult<T> = Result<T, YamlFault>;
