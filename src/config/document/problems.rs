//! Problems in a pipeline file or a file that it names, each with its source span. `cli` renders them.

use std::ops::Range;
use std::path::PathBuf;

use super::finding::{Check, Finding};

/// A position in one of the sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceSpan {
    /// Index into the sources.
    pub(crate) source: usize,
    /// Byte range in the source; empty for the source as a whole.
    pub(crate) span: Range<usize>,
}

impl SourceSpan {
    /// Returns the position of a source as a whole.
    pub(crate) const fn whole_source(source: usize) -> Self {
        Self { source, span: 0..0 }
    }
}

/// One problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Index into the sources of [`PipelineError::Invalid`].
    pub source: usize,
    /// Byte range in the source; empty if the problem concerns the source as a whole.
    pub span: Range<usize>,
    /// The message.
    pub message: String,
    /// What is expected instead.
    pub expected: Option<String>,
    /// The most similar known name.
    pub nearest: Option<String>,
}

impl Problem {
    pub(crate) fn new(at: SourceSpan, message: impl Into<String>) -> Self {
        Self { source: at.source, span: at.span, message: message.into(), expected: None, nearest: None }
    }

    pub(crate) fn expected(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self
    }

    /// Sets the candidate that is most similar to `name`, if any is similar enough.
    pub(crate) fn nearest<'a>(mut self, name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Self {
        self.nearest = nearest(name, candidates);
        self
    }
}

/// Why a pipeline file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// The file cannot be read.
    #[error("failed to read the pipeline file `{}`", path.display())]
    Open {
        /// The path as given.
        path: PathBuf,
        /// The most similar file name in its folder.
        nearest: Option<String>,
        /// The I/O error.
        #[source]
        source: std::io::Error,
    },
    /// The file, a `--set` or a file that it names is invalid.
    #[error("{}; nothing was run", found(sources, problems))]
    Invalid {
        /// Names and texts of all sources; the first is the pipeline file.
        sources: Vec<(String, String)>,
        /// The problems, by source and position.
        problems: Vec<Problem>,
    },
}

/// Remedy of findings in a pipeline file or a file that it names.
const REMEDY: &str =
    "correct the file; `schemas/pipeline.schema.json` describes every key (`dramaturg schema` writes it)";

/// The name of a source that is a `--set` assignment.
pub(crate) const SET: &str = "--set";

impl PipelineError {
    /// Returns the problems as findings; none if the file cannot be read.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        let Self::Invalid { sources, problems } = self else { return Vec::new() };
        let finding = |problem: &Problem| {
            let (name, text) = &sources[problem.source];
            let is_whole = problem.span.is_empty() && problem.span.start == 0;
            let before = &text[..text.floor_char_boundary(problem.span.start)];
            let number = |count: usize| Some(u32::try_from(count + 1).unwrap_or(u32::MAX)).filter(|_| !is_whole);
            Finding {
                check: Check::Pipeline,
                remedy: REMEDY,
                path: name.into(),
                line: number(before.matches('\n').count()),
                column: number(before.rsplit('\n').next().unwrap_or_default().chars().count()),
                message: problem.message.clone(),
                expected: problem.expected.clone(),
                nearest: problem.nearest.clone(),
                ..Finding::default()
            }
        };
        problems.iter().map(finding).collect()
    }

    /// Returns the message without the consequence.
    pub(crate) fn summary(&self) -> String {
        match self {
            Self::Invalid { sources, problems } => found(sources, problems),
            Self::Open { .. } => self.to_string(),
        }
    }
}

fn found(sources: &[(String, String)], problems: &[Problem]) -> String {
    // If all problems are in one file, that file is named.
    let mut of = problems.iter().map(|problem| problem.source);
    let first = of.next().filter(|first| of.all(|other| other == *first)).unwrap_or(0);
    let is_file = sources.get(first).is_some_and(|(name, _)| name != SET);
    let name = sources.get(if is_file { first } else { 0 }).map_or("", |(name, _)| name);
    let count = if problems.len() == 1 { "1 problem".to_owned() } else { format!("{} problems", problems.len()) };
    format!("{count} in `{name}`")
}

/// Returns the candidate most similar to a name, if it is similar enough; ties go to the first candidate.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let similarity = |candidate: &str| {
        // In a short name a single typo is a large part of it.
        if name.chars().count() > 2 && strsim::damerau_levenshtein(name, candidate) == 1 {
            return 1.0;
        }
        strsim::jaro_winkler(&name.to_lowercase(), &candidate.to_lowercase())
            .max(strsim::normalized_damerau_levenshtein(name, candidate))
    };
    candidates
        .into_iter()
        .map(|candidate| (similarity(candidate), candidate))
        .filter(|(similarity, _)| *similarity >= 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)))
        .map(|(_, candidate)| candidate.to_owned())
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn only_similar_names_are_suggested() {
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
