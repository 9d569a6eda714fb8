//! `vetoes.toml`: manual edits to a data set, rows to remove and references to correct. It is read with the pipeline
//! file, but its ids can only be checked at the end of a run.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::document::problems::SourceSpan;
use crate::config::document::{Document, Problem, child};
use crate::config::reader::Reader;

/// The default file beside the pipeline file, used if `[export] vetoes` is unset.
const DEFAULT_NAME: &str = "vetoes.toml";

/// Manual edits to a data set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VetoFile {
    /// Rows to remove.
    pub veto: Vec<Veto>,
    /// References to correct.
    pub edit: Vec<Edit>,
}

/// A row to remove. Removing a scene or a test character removes its conversations, removing a conversation removes its
/// samples, and removing a role removes its rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Veto {
    /// The id of a sample, a conversation, a scene, a test character, a role, or a row of `role_specific` or
    /// `role_general`.
    #[schemars(length(min = 1))]
    pub id: String,
    /// The reason, for the detail in `rejected`.
    #[schemars(length(min = 1))]
    pub reason: String,
}

/// A reference to correct. `conversations` keeps the model's original reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// The id of a sample.
    #[schemars(length(min = 1))]
    pub id: String,
    /// The text that replaces the source model's reply.
    #[schemars(length(min = 1))]
    pub reference: String,
    /// The reason, for the column `edit_reason`.
    #[schemars(length(min = 1))]
    pub reason: String,
}

/// A vetoes file with the source span of each id.
#[derive(Debug, Clone)]
pub struct Vetoes {
    /// The file's path.
    pub path: PathBuf,
    pub(crate) text: String,
    pub(crate) file: VetoFile,
    pub(crate) vetoed: Vec<Range<usize>>,
    pub(crate) edited: Vec<Range<usize>>,
}

impl Vetoes {
    /// Returns the file's hash, for the manifest.
    pub(crate) fn hash(&self) -> String {
        blake3::hash(self.text.as_bytes()).to_hex().to_string()
    }
}

impl Reader {
    /// Reads the file in `[export] vetoes`, else the default file beside the pipeline file.
    pub(crate) fn vetoes(&mut self, document: &Document, pipeline: &Path) -> Option<Vetoes> {
        let pointer = "/export/vetoes";
        let named = document.value.pointer(pointer).and_then(serde_json::Value::as_str).map(PathBuf::from);
        let (path, (source, text)) = if let Some(path) = named {
            let read = self.read(document, pointer, &path)?;
            (path, read)
        } else {
            let path = pipeline.parent()?.join(DEFAULT_NAME);
            match std::fs::read(&path) {
                Ok(bytes) => {
                    let source_and_text = self.take(&path, bytes)?;
                    (path, source_and_text)
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
                Err(error) => {
                    let message = format!("failed to read `{}`: {error}", path.display());
                    let problem = Problem::new(SourceSpan::whole_source(0), message);
                    self.problems.push(problem.expected("a vetoes file in UTF-8, or no file of that name"));
                    return None;
                }
            }
        };
        let before = self.problems.len();
        let own = Document::toml(source, &text, &mut self.problems);
        self.check_schema::<VetoFile>(&own, "the vetoes file");
        let file: VetoFile =
            serde_json::from_value(own.value.clone()).ok().filter(|_| self.problems.len() == before)?;
        let id_span = |list: &str, at: usize| own.at(&child(&child(&child("", list), &at.to_string()), "id"));
        let mut seen = BTreeSet::new();
        let ids = file.veto.iter().enumerate().map(|(at, veto)| (&veto.id, id_span("veto", at)));
        let ids = ids.chain(file.edit.iter().enumerate().map(|(at, edit)| (&edit.id, id_span("edit", at))));
        for (id, at) in ids {
            if !seen.insert(id) {
                let problem = Problem::new(at, format!("`{id}` is listed twice"));
                self.problems.push(problem.expected("one entry for each id"));
            }
        }
        let vetoed = (0..file.veto.len()).map(|at| id_span("veto", at).span).collect();
        let edited = (0..file.edit.len()).map(|at| id_span("edit", at).span).collect();
        Some(Vetoes { path, text, file, vetoed, edited })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Option<Vetoes>, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(DEFAULT_NAME), text).unwrap();
        let mut reader = Reader { sources: vec![("mine.toml".to_owned(), String::new())], problems: Vec::new() };
        let document = Document::toml(0, "", &mut reader.problems);
        let vetoes = reader.vetoes(&document, &folder.path().join("mine.toml"));
        let messages = |problem: Problem| {
            let (_, text) = &reader.sources[problem.source];
            format!("{} at {}", problem.message, &text[problem.span])
        };
        (vetoes, std::mem::take(&mut reader.problems).into_iter().map(messages).collect())
    }

    #[test]
    fn the_vetoes_file_next_to_the_pipeline_file_is_read() {
        let text = "[[veto]]\nid = '红线/vivid/0#3'\nreason = '答非所问'\n\n[[edit]]\nid = 'mara/a/1#2'\n\
                    reference = '(nods) So it is.'\nreason = 'a slip'\n";
        let (vetoes, problems) = read(text);
        let vetoes = vetoes.expect("the file is valid");
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!(
            (&text[vetoes.vetoed[0].clone()], &text[vetoes.edited[0].clone()]),
            ("'红线/vivid/0#3'", "'mara/a/1#2'")
        );
        assert_eq!(vetoes.file.edit[0].reference, "(nods) So it is.");
        let nowhere = Reader { sources: vec![], problems: vec![] }
            .vetoes(&Document::toml(0, "", &mut Vec::new()), Path::new("no/such/mine.toml"));
        assert!(nowhere.is_none(), "no file beside the pipeline file means no vetoes");
    }

    #[test]
    fn an_unreadable_vetoes_file_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let problems = || {
            let mut reader = Reader { sources: vec![("mine.toml".to_owned(), String::new())], problems: Vec::new() };
            let document = Document::toml(0, "", &mut reader.problems);
            assert!(reader.vetoes(&document, &folder.path().join("mine.toml")).is_none());
            reader.problems.into_iter().map(|problem| problem.message).collect::<Vec<_>>()
        };
        assert_eq!(problems(), Vec::<String>::new(), "there is no file");
        let path = folder.path().join(DEFAULT_NAME);
        std::fs::write(&path, b"[[veto]]\nid = '\xba\xec'\n").unwrap();
        let messages = problems();
        assert!(messages.len() == 1 && messages[0].contains("not valid UTF-8: unexpected byte 0xba"), "{messages:?}");
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert_eq!(problems().len(), 1, "a folder of that name cannot be read");
    }

    #[test]
    fn errors_in_a_vetoes_file_have_their_position() {
        for (text, expected) in [
            ("[[veto]]\nid = 'a'\n", "is missing the key `reason`"),
            ("[[veto]]\nid = 'a'\nreson = 'r'\nreason = 'r'\n", "unknown key `reson`"),
            ("[[edit]]\nid = 'a'\nreference = ''\nreason = 'r'\n", "`edit[0].reference` is empty"),
            (
                "[[veto]]\nid = '雨'\nreason = 'r'\n[[edit]]\nid = '雨'\nreference = 'x'\nreason = 'r'\n",
                "`雨` is listed twice at '雨'",
            ),
            ("[[veto]\n", "invalid TOML"),
        ] {
            let (_, problems) = read(text);
            assert!(problems.iter().any(|problem| problem.contains(expected)), "{text}: {problems:?}");
        }
    }
}
