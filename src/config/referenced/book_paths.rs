//! Resolves patterns to book files and opens them; `chunk` parses their contents.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use crate::config::error::BookError;
use crate::config::paths;
use crate::stages::chunk;

/// A book file of a pipeline.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BookPath {
    /// The file.
    pub path: PathBuf,
    /// The chapters to use; all if unset.
    pub chapters: Option<chunk::ChapterFilter>,
    /// The licence of its books, as stated in the pipeline file.
    pub license: Option<String>,
    /// The source of its books, as stated in the pipeline file.
    pub source: Option<String>,
}

/// Returns the files that some patterns match, each once, in the order of the patterns. Files are taken as they are,
/// folders and globs are filtered by extension. The error names the pattern that matches nothing, and the most similar
/// path.
pub fn book_paths(patterns: &[PathBuf]) -> Result<Vec<PathBuf>, BookError> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for pattern in patterns {
        let pattern = pattern.display().to_string();
        let files = paths::expand(&pattern, paths::BOOKS)
            .map_err(|nothing| BookError::NoMatch { message: nothing.message, nearest: nothing.nearest })?;
        found.extend(
            files.into_iter().filter(|path| seen.insert(std::fs::canonicalize(path).unwrap_or_else(|_| path.clone()))),
        );
    }
    Ok(found)
}

/// Opens a file of books, which are read lazily, one at a time.
pub fn open_books(path: &Path, encoding: Option<&str>) -> Result<chunk::Books<BufReader<File>>, BookError> {
    let open = |source| BookError::Open { path: path.to_owned(), source };
    // A device or pipe may have no end, and opening a pipe blocks until it has a writer.
    if !std::fs::metadata(path).map_err(open)?.is_file() {
        return Err(open(std::io::Error::new(std::io::ErrorKind::InvalidInput, "not a regular file")));
    }
    let file = File::open(path).map_err(open)?;
    Ok(chunk::books(&path.display().to_string(), BufReader::new(file), encoding))
}
