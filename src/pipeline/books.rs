//! From what names books to the books: patterns, files, and what is in them. Opens files; what is in them, `chunk` reads.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use super::error::BookError;
use super::paths;
use crate::stages::chunk;

/// A file of books that a pipeline reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BookPath {
    /// The file.
    pub path: PathBuf,
    /// The chapters of its books that are taken; all when silent.
    pub chapters: Option<chunk::Choice>,
    /// The licence of its books, as the pipeline file states it.
    pub license: Option<String>,
    /// Where its books come from, as the pipeline file states it.
    pub source: Option<String>,
}

/// Returns the files that some patterns name, each once, in the order of the patterns: files as they are, of folders and
/// globs those with a book's ending. The error says what names nothing, and what is most like it.
pub fn book_paths(patterns: &[PathBuf]) -> Result<Vec<PathBuf>, BookError> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for pattern in patterns {
        let pattern = pattern.display().to_string();
        let files = paths::expand(&pattern, paths::BOOKS)
            .map_err(|nothing| BookError::Nothing { message: nothing.message, nearest: nothing.nearest })?;
        found.extend(
            files.into_iter().filter(|path| seen.insert(std::fs::canonicalize(path).unwrap_or_else(|_| path.clone()))),
        );
    }
    Ok(found)
}

/// Opens a file of books, which are read one at a time as they are asked for.
pub fn open_books(path: &Path, encoding: Option<&str>) -> Result<chunk::Books<BufReader<File>>, BookError> {
    let open = |source| BookError::Open { path: path.to_owned(), source };
    // A device or a pipe may have no end, and opening a pipe waits for its writer.
    if !std::fs::metadata(path).map_err(open)?.is_file() {
        return Err(open(std::io::Error::new(std::io::ErrorKind::InvalidInput, "it is no regular file")));
    }
    let file = File::open(path).map_err(open)?;
    Ok(chunk::books(&path.display().to_string(), BufReader::new(file), encoding))
}
