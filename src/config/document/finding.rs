//! Problems in a form that lists of findings share.

use std::path::PathBuf;

use serde::Serialize;

/// A problem in a scene file, or in a pipeline file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Finding {
    /// The check that found it: `file`, `schema`, `sense`, `id`, `secret`, `text` or `private` for a pool; `pipeline`,
    /// `book` or `model` for a pipeline file.
    pub check: &'static str,
    /// The file.
    pub path: PathBuf,
    /// The line, from 1; null for the file as a whole.
    pub line: Option<u32>,
    /// The column in characters, from 1.
    pub column: Option<u32>,
    /// The scene's id, if readable.
    pub scene: Option<String>,
    /// The field, such as `dialogue[3].speaker`; null if the message names it.
    pub field: Option<String>,
    /// The message.
    pub message: String,
    /// What is expected instead.
    pub expected: Option<String>,
    /// The most similar known name.
    pub nearest: Option<String>,
    /// What to do about it.
    pub remedy: &'static str,
}
