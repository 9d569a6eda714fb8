//! Reads the files named in a pipeline file and collects their problems.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::document::problems::SourceSpan;
use super::document::{Document, PipelineError, Problem, child, dotted, schema_check};
use super::environment::{Environment, expand};
use super::paths;
use super::redact::redact;
use super::referenced::BookPath;
use crate::prompt::{PromptError, Prompts};
use crate::schema::{Dimension, slug};
use crate::stages::{self, chunk, select};
use crate::text::{Secret, secrets};

/// The sources read so far and their problems.
pub(crate) struct Reader {
    pub(crate) sources: Vec<(String, String)>,
    pub(crate) problems: Vec<Problem>,
}

impl Reader {
    /// Expands variables in every string. Returns the original strings, by pointer.
    pub(crate) fn expand(
        &mut self,
        document: &mut Document,
        environment: &Environment,
        is_unused: impl Fn(&str) -> bool,
    ) -> BTreeMap<String, String> {
        let mut strings = Vec::new();
        collect_strings("", &document.value, &mut strings);
        let mut unexpanded = BTreeMap::new();
        for (pointer, text) in strings {
            let problem = match expand(&text, environment) {
                Ok(expanded) if expanded == text => continue,
                // The request body is stored in the journal, which must not contain secrets.
                Ok(_) if pointer.contains("/extra_body/") => {
                    let problem = Problem::new(
                        document.at(&pointer),
                        "a variable in `extra_body` would be stored in the journal",
                    );
                    problem.expected("the value itself, or `$$` for a dollar sign")
                }
                Ok(expanded) => {
                    if let Some(slot) = document.value.pointer_mut(&pointer) {
                        *slot = Value::String(expanded);
                    }
                    unexpanded.insert(pointer, text);
                    continue;
                }
                // Stays unexpanded, since it is not used.
                Err(_) if is_unused(&pointer) => {
                    unexpanded.insert(pointer, text);
                    continue;
                }
                Err(unset) if unset.file.is_some() => Problem::new(document.at(&pointer), unset.to_string())
                    .expected("a file with the value as its only line"),
                Err(unset) => {
                    let problem = Problem::new(document.at(&pointer), unset.to_string());
                    let problem = problem.nearest(&unset.name, environment.names());
                    problem.expected("a variable that is set, or `$$` for a dollar sign")
                }
            };
            self.problems.push(problem);
        }
        unexpanded
    }

    /// Validates a document against its type's schema. Problems caused by syntax errors are left out.
    pub(crate) fn check_schema<T: schemars::JsonSchema>(&mut self, document: &Document, subject: &str) {
        let broken: Vec<SourceSpan> = self
            .problems
            .iter()
            .filter(|_| !document.complete)
            .map(|problem| SourceSpan { source: problem.source, span: problem.span.clone() })
            .collect();
        let mut found = Vec::new();
        schema_check::check::<T>(document, subject, &mut found);
        schema_check::forgive_broken_lines(&self.sources, &broken, &mut found);
        found.retain(|problem| !self.is_reported(&SourceSpan { source: problem.source, span: problem.span.clone() }));
        self.problems.extend(found);
    }

    /// Returns whether a problem is already reported at a position, so that problems caused by it need no report.
    fn is_reported(&self, at: &SourceSpan) -> bool {
        !at.span.is_empty()
            && self.problems.iter().any(|problem| problem.source == at.source && problem.span == at.span)
    }

    /// Returns the files that match some patterns, each with the pointer of its pattern.
    pub(crate) fn files(
        &mut self,
        document: &Document,
        patterns: &[(String, &str)],
        endings: &[&str],
    ) -> Vec<(String, PathBuf)> {
        let mut files: Vec<(String, PathBuf)> = Vec::new();
        for (pointer, pattern) in patterns {
            if self.is_reported(&document.at(pointer)) {
                continue;
            }
            match paths::expand(pattern, endings) {
                Ok(found) => files.extend(found.into_iter().map(|path| (pointer.clone(), path))),
                Err(nothing) => {
                    let problem = Problem::new(document.at(pointer), nothing.message);
                    self.problems.push(Problem { nearest: nothing.nearest, ..problem });
                }
            }
        }
        // A file that matches two patterns is listed once.
        let mut seen = BTreeSet::new();
        files.retain(|(_, path)| seen.insert(canonical(path)));
        files
    }

    pub(crate) fn books(&mut self, document: &Document) -> Vec<BookPath> {
        let from_paths = self.files(document, &document.strings("/books/paths"), paths::BOOKS);
        let from_entries = self.book_entries(document);
        let entry_paths: BTreeSet<PathBuf> = from_entries.iter().map(|(_, book)| canonical(&book.path)).collect();
        let from_paths = from_paths.into_iter().filter(|(_, path)| !entry_paths.contains(&canonical(path)));
        let from_paths: Vec<_> =
            from_paths.map(|(pointer, path)| (pointer, BookPath { path, ..BookPath::default() })).collect();

        let mut slugs: BTreeMap<String, PathBuf> = BTreeMap::new();
        let mut books = Vec::new();
        for (pointer, book) in from_paths.into_iter().chain(from_entries) {
            let path = &book.path;
            let id = slug(&path.file_stem().unwrap_or_default().to_string_lossy());
            // Books of JSON Lines files are named by their titles.
            let lines =
                path.extension().is_some_and(|ending| ending == "json" || ending == "jsonl" || ending == "ndjson");
            if !lines && let Some(first) = slugs.insert(id.clone(), path.clone()) {
                let message =
                    format!("`{}` and `{}` would both have the book slug `{id}`", first.display(), path.display());
                self.problems.push(
                    Problem::new(document.at(&pointer), message)
                        .expected("file names that differ in their letters or digits"),
                );
            }
            books.push(book);
        }
        books.sort_by(|a, b| a.path.cmp(&b.path));
        books
    }

    /// Returns the books of entries that are tables, each with the pointer of its entry.
    fn book_entries(&mut self, document: &Document) -> Vec<(String, BookPath)> {
        let count = document.value.pointer("/books/paths").and_then(Value::as_array).map_or(0, Vec::len);
        let (mut from_entries, mut seen) = (Vec::new(), BTreeSet::new());
        for entry in (0..count).map(|index| child("/books/paths", &index.to_string())) {
            let patterns = document.strings(&child(&entry, "path"));
            let text = |key: &str| document.value.pointer(&child(&entry, key)).and_then(Value::as_str);
            let chapters = match text("chapters").map(str::parse::<chunk::ChapterFilter>).transpose() {
                Ok(choice) => choice,
                Err(error) => {
                    let problem = Problem::new(document.at(&child(&entry, "chapters")), error.to_string());
                    self.problems.push(problem.expected("positions of chapters, such as `1-12` or `1-3, 7, 20-`"));
                    None
                }
            };
            let (license, source) = (text("license").map(str::to_owned), text("source").map(str::to_owned));
            for (_, path) in self.files(document, &patterns, paths::BOOKS) {
                if !seen.insert(canonical(&path)) {
                    let message = format!("two entries match `{}`", path.display());
                    let problem = Problem::new(document.at(&entry), message);
                    self.problems.push(problem.expected("one entry per file, such as `chapters = \"1-3, 7\"`"));
                    continue;
                }
                let (chapters, license, source) = (chapters.clone(), license.clone(), source.clone());
                from_entries.push((entry.clone(), BookPath { path, chapters, license, source }));
            }
        }
        from_entries
    }

    pub(crate) fn prompts(&mut self, document: &Document) -> BTreeMap<String, String> {
        let known: Vec<&str> = stages::prompts().map(|(name, _)| name).collect();
        let mut prompts = BTreeMap::new();
        for name in document.keys("/prompts") {
            let pointer = child("/prompts", name);
            if !known.contains(&name) {
                let problem = Problem::new(document.key(&pointer), format!("there is no prompt template `{name}`"));
                self.problems.push(problem.expected("the name of a template").nearest(name, known.iter().copied()));
                continue;
            }
            let path = document.value.pointer(&pointer).and_then(Value::as_str).map(PathBuf::from);
            let Some((_, text)) = path.and_then(|path| self.read(document, &pointer, &path)) else { continue };
            let replacement = BTreeMap::from([(name.to_owned(), text.clone())]);
            if let Err(PromptError::Syntax { source, .. }) = Prompts::new(stages::prompts(), &replacement) {
                let message = format!("the template of `{}` does not parse: {source}", dotted(&pointer));
                self.problems.push(Problem::new(document.at(&pointer), message));
            }
            prompts.insert(name.to_owned(), text);
        }
        prompts
    }

    /// Returns the dimensions of the file in `[select] dimensions`, else FURINA's.
    pub(crate) fn dimensions(&mut self, document: &Document) -> Vec<Dimension> {
        let pointer = "/select/dimensions";
        let path = document.value.pointer(pointer).and_then(Value::as_str).map(PathBuf::from);
        let Some(path) = path else {
            return select::dimensions(None).expect("the built-in table is covered by tests");
        };
        let Some((source, text)) = self.read(document, pointer, &path) else { return Vec::new() };
        select::dimensions(Some(&text)).unwrap_or_else(|error| {
            let at = SourceSpan { source, span: error.span().unwrap_or(0..0) };
            self.problems.push(Problem::new(at, error.message()));
            Vec::new()
        })
    }

    /// Reads a file that a key names. Returns its text and its index in the sources.
    pub(crate) fn read(&mut self, document: &Document, pointer: &str, path: &Path) -> Option<(usize, String)> {
        match std::fs::read(path) {
            Ok(bytes) => self.take(path, bytes),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let paths::NoMatch { message, nearest } = paths::absent(path);
                self.problems.push(Problem { nearest, ..Problem::new(document.at(pointer), message) });
                None
            }
            Err(error) => {
                let message = format!("failed to read `{}`: {error}", path.display());
                self.problems.push(Problem::new(document.at(pointer), message));
                None
            }
        }
    }

    /// Adds a file to the sources; reports a problem if it is not valid UTF-8.
    pub(crate) fn take(&mut self, path: &Path, bytes: Vec<u8>) -> Option<(usize, String)> {
        let source = self.sources.len();
        let (text, broken) = text(source, bytes);
        self.sources.push((path.display().to_string(), text.clone()));
        let is_whole = broken.is_none();
        self.problems.extend(broken);
        is_whole.then_some((source, text))
    }

    /// Reports everything in the sources that looks like a key or password, comments included: the pipeline file is
    /// printed on the data card, and files that it names end up in rows and manifest. Overlapping problems are not
    /// reported twice.
    pub(crate) fn secrets(&mut self) {
        let mut found = Vec::new();
        for (source, (_, text)) in self.sources.iter().enumerate() {
            for Secret { kind, range } in secrets(text) {
                let is_reported = |problem: &Problem| {
                    problem.source == source && problem.span.start < range.end && range.start < problem.span.end
                };
                if self.problems.iter().any(is_reported) {
                    continue;
                }
                let problem = Problem::new(SourceSpan { source, span: range }, format!("this looks like {kind}"));
                found.push(problem.expected("a variable such as `$MY_KEY`, set in the environment or in `.env`; this file is published with the data set"));
            }
        }
        self.problems.extend(found);
    }

    /// Returns all problems in order, with anything that looks like a key masked in the texts that will be shown.
    pub(crate) fn invalid(mut self) -> PipelineError {
        self.problems.sort_by_key(|problem| (problem.source, problem.span.start, problem.span.end));
        self.problems.dedup();
        for (_, text) in &mut self.sources {
            *text = redact(text);
        }
        for problem in &mut self.problems {
            problem.message = redact(&problem.message);
            problem.expected = problem.expected.take().map(|expected| redact(&expected));
        }
        PipelineError::Invalid { sources: self.sources, problems: self.problems }
    }
}

/// Decodes UTF-8, with replacement characters and a problem if it is invalid.
pub(crate) fn text(source: usize, bytes: Vec<u8>) -> (String, Option<Problem>) {
    String::from_utf8(bytes).map_or_else(
        |error| {
            let start = error.utf8_error().valid_up_to();
            let byte = error.as_bytes()[start];
            let at = SourceSpan { source, span: start..start + char::REPLACEMENT_CHARACTER.len_utf8() };
            let problem = Problem::new(at, format!("the file is not valid UTF-8: unexpected byte 0x{byte:02x}"));
            (String::from_utf8_lossy(error.as_bytes()).into_owned(), Some(problem.expected("a file saved as UTF-8")))
        },
        |text| (text, None),
    )
}

/// Returns the canonical path of a file, so that the same file has one name.
pub(crate) fn canonical(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn collect_strings(pointer: &str, value: &Value, strings: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) => strings.push((pointer.to_owned(), text.clone())),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(index, item)| collect_strings(&child(pointer, &index.to_string()), item, strings)),
        Value::Object(object) => {
            object.iter().for_each(|(key, value)| collect_strings(&child(pointer, key), value, strings));
        }
        _ => {}
    }
}
