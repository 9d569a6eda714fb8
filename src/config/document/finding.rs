//! Problems in a form that lists of findings share.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

/// A check that finds problems in a pipeline file, a scene pool or a data set. Variants are in the order of their names,
/// in which counts are listed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Check {
    /// The dimensions of a data set are balanced.
    Balance,
    /// The books of a pipeline file can be read.
    Book,
    /// The card, report and manifest of a data set agree with its rows.
    Card,
    /// Files exist and can be read.
    #[default]
    File,
    /// Files have the hashes that the manifest lists.
    Hash,
    /// Ids exist and are unique.
    Id,
    /// Splits of a data set have nothing in common.
    Leak,
    /// The models of a pipeline file answer.
    Model,
    /// The pipeline file and the files that it names are valid.
    Pipeline,
    /// Private attributes do not appear where other characters read them.
    Private,
    /// Rows that are referred to exist.
    Reference,
    /// Scenes and rows agree with their schema.
    Schema,
    /// Texts contain no keys or passwords.
    Secret,
    /// Scenes are consistent beyond what their schema expresses.
    Sense,
    /// Texts have no signs of a wrong encoding.
    Text,
}

impl Check {
    /// Returns the check's name in lists of findings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Balance => "balance",
            Self::Book => "book",
            Self::Card => "card",
            Self::File => "file",
            Self::Hash => "hash",
            Self::Id => "id",
            Self::Leak => "leak",
            Self::Model => "model",
            Self::Pipeline => "pipeline",
            Self::Private => "private",
            Self::Reference => "reference",
            Self::Schema => "schema",
            Self::Secret => "secret",
            Self::Sense => "sense",
            Self::Text => "text",
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A problem in a scene file, or in a pipeline file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Finding {
    /// The check that found it: `file`, `schema`, `sense`, `id`, `secret`, `text` or `private` for a pool; `pipeline`,
    /// `book` or `model` for a pipeline file.
    pub check: Check,
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
