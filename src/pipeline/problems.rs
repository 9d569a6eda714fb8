//! What is wrong with a pipeline file or a file that it names: all of it, each with its place. `cli` draws the carets.

use std::ops::Range;
use std::path::PathBuf;

/// Where something stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct At {
    /// Index into the sources.
    pub(super) source: usize,
    /// Bytes of the source; empty for the source as a whole.
    pub(super) span: Range<usize>,
}

impl At {
    /// Returns the place of a source as a whole.
    pub(super) const fn whole(source: usize) -> Self {
        Self { source, span: 0..0 }
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Index into the sources of [`PipelineError::Invalid`].
    pub source: usize,
    /// Bytes of the source that it is about; empty when it is about the source as a whole.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub expected: Option<String>,
    /// The known name that is most like the one given.
    pub nearest: Option<String>,
}

impl Problem {
    pub(super) fn new(at: At, message: impl Into<String>) -> Self {
        Self { source: at.source, span: at.span, message: message.into(), expected: None, nearest: None }
    }

    pub(super) fn expected(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self
    }

    /// Names the candidate that is most like `name`, if any is like it.
    pub(super) fn nearest<'a>(mut self, name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Self {
        self.nearest = nearest(name, candidates);
        self
    }
}

/// Why a pipeline file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// The file cannot be read.
    #[error("read the pipeline file `{}`", path.display())]
    Open {
        /// The path as given.
        path: PathBuf,
        /// The file of that folder whose name is most like it.
        nearest: Option<String>,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Something in it, in a `--set` or in a file that it names is wrong.
    #[error("{}; nothing was run", found(sources, problems))]
    Invalid {
        /// Names and texts of what was read; the pipeline file is the first.
        sources: Vec<(String, String)>,
        /// What is wrong, by source and place.
        problems: Vec<Problem>,
    },
}

impl PipelineError {
    /// Says what is wrong, and not what that kept from being done.
    pub(super) fn told(&self) -> String {
        match self {
            Self::Invalid { sources, problems } => found(sources, problems),
            Self::Open { .. } => self.to_string(),
        }
    }
}

fn found(sources: &[(String, String)], problems: &[Problem]) -> String {
    let name = sources.first().map_or("", |(name, _)| name);
    let count = if problems.len() == 1 { "1 problem".to_owned() } else { format!("{} problems", problems.len()) };
    format!("{count} in `{name}`")
}

/// Returns the candidate that is most like a name, when it is like enough to be meant; ties go to the first in order.
pub(super) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let likeness = |candidate: &str| {
        // In a short name one slip is a large share of it.
        if name.chars().count() > 2 && strsim::damerau_levenshtein(name, candidate) == 1 {
            return 1.0;
        }
        strsim::jaro_winkler(&name.to_lowercase(), &candidate.to_lowercase())
            .max(strsim::normalized_damerau_levenshtein(name, candidate))
    };
    candidates
        .into_iter()
        .map(|candidate| (likeness(candidate), candidate))
        .filter(|(likeness, _)| *likeness >= 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)))
        .map(|(_, candidate)| candidate.to_owned())
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn only_a_name_that_is_like_it_is_nearest() {
        let models = ["writer", "strong", "offline"];
        for (name, expected) in [
            ("writter", Some("writer")),
            ("Strong", Some("strong")),
            ("zebra", None),
            ("", None),
            ("wirter", Some("writer")),
        ] {
            assert_eq!(nearest(name, models).as_deref(), expected, "{name}");
        }
        assert_eq!(nearest("tua", ["wave", "tau"]).as_deref(), Some("tau"));
        assert_eq!(nearest("红楼夢.txt", ["红楼梦.txt", "三国.txt"]).as_deref(), Some("红楼梦.txt"));
    }
}
