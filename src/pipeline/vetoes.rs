//! `vetoes.toml`: what people take out of a data set by hand, and what they put right in it. It is read with the pipeline file;
//! that its ids are those of rows can only be known at the end of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::document::{Document, child};
use super::problems::{At, PipelineError, Problem};
use super::reader::Reader;
use super::records::Records;
use super::{RunError, Stage};
use crate::schema::{Conversation, Reject, Sample};
use crate::store::PoolIndex;

/// The file beside a pipeline file that is taken when `[export] vetoes` names none.
const BESIDE: &str = "vetoes.toml";
/// The reason of what somebody took out.
const VETOED: &str = "vetoed";

/// What people change in a data set by hand.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VetoFile {
    /// What is taken out.
    pub veto: Vec<Veto>,
    /// What is put right.
    pub edit: Vec<Edit>,
}

/// Something that is taken out: with a scene or a test character go its conversations, with a conversation its samples, with
/// a role its rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Veto {
    /// The id of a sample, a conversation, a scene, a test character, a role, or a row of `role_specific` or `role_general`.
    #[schemars(length(min = 1))]
    pub id: String,
    /// Why, for whoever reads `rejected`.
    #[schemars(length(min = 1))]
    pub reason: String,
}

/// A reference that is put right. `conversations` keeps what the model said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// The id of a sample.
    #[schemars(length(min = 1))]
    pub id: String,
    /// The text that takes the place of the source model's reply.
    #[schemars(length(min = 1))]
    pub reference: String,
    /// Why, for the column `edited`.
    #[schemars(length(min = 1))]
    pub reason: String,
}

/// A file of vetoes with the place of each id.
#[derive(Debug, Clone)]
pub struct Vetoes {
    /// Where it stands.
    pub path: PathBuf,
    text: String,
    file: VetoFile,
    vetoed: Vec<Range<usize>>,
    edited: Vec<Range<usize>>,
}

impl Vetoes {
    /// Returns the hash of the file, for the manifest.
    pub(super) fn hash(&self) -> String {
        blake3::hash(self.text.as_bytes()).to_hex().to_string()
    }
}

impl Reader {
    /// Reads the vetoes that `[export] vetoes` names, else those that stand beside the pipeline file.
    pub(super) fn vetoes(&mut self, document: &Document, pipeline: &Path) -> Option<Vetoes> {
        let pointer = "/export/vetoes";
        let named = document.value.pointer(pointer).and_then(serde_json::Value::as_str).map(PathBuf::from);
        let (path, (source, text)) = if let Some(path) = named {
            let read = self.read(document, pointer, &path)?;
            (path, read)
        } else {
            let path = pipeline.parent()?.join(BESIDE);
            match std::fs::read(&path) {
                Ok(bytes) => {
                    let taken = self.take(&path, bytes)?;
                    (path, taken)
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
                Err(error) => {
                    let message = format!("`{}` cannot be read: {error}", path.display());
                    let problem = Problem::new(At::whole(0), message);
                    self.problems.push(problem.expected("a file of vetoes in UTF-8, or none of that name"));
                    return None;
                }
            }
        };
        let before = self.problems.len();
        let own = Document::toml(source, &text, &mut self.problems);
        self.shape::<VetoFile>(&own, "the file of vetoes");
        let file: VetoFile =
            serde_json::from_value(own.value.clone()).ok().filter(|_| self.problems.len() == before)?;
        let place = |list: &str, at: usize| own.at(&child(&child(&child("", list), &at.to_string()), "id"));
        let mut seen = BTreeSet::new();
        let ids = file.veto.iter().enumerate().map(|(at, veto)| (&veto.id, place("veto", at)));
        let ids = ids.chain(file.edit.iter().enumerate().map(|(at, edit)| (&edit.id, place("edit", at))));
        for (id, at) in ids {
            if !seen.insert(id) {
                let problem = Problem::new(at, format!("`{id}` stands here twice"));
                self.problems.push(problem.expected("one entry for each id"));
            }
        }
        let vetoed = (0..file.veto.len()).map(|at| place("veto", at).span).collect();
        let edited = (0..file.edit.len()).map(|at| place("edit", at).span).collect();
        Some(Vetoes { path, text, file, vetoed, edited })
    }
}

/// What is taken out of the tables and put right in them, by id.
#[derive(Debug, Default)]
pub(super) struct Barred {
    scenes: BTreeMap<String, String>,
    conversations: BTreeMap<String, String>,
    samples: BTreeMap<String, String>,
    characters: BTreeMap<String, String>,
    roles: BTreeMap<String, String>,
    rows: BTreeMap<String, String>,
    edits: BTreeMap<String, Edit>,
}

impl Barred {
    /// Says whether a scene is a row.
    pub(super) fn has_scene(&self, id: &str) -> bool {
        !self.scenes.contains_key(id)
    }

    /// Says whether a conversation is a row.
    pub(super) fn has_conversation(&self, id: &str) -> bool {
        !self.conversations.contains_key(id)
    }

    /// Says whether a test character is a row.
    pub(super) fn has_character(&self, id: &str) -> bool {
        !self.characters.contains_key(id)
    }

    /// Says whether a role is a row.
    pub(super) fn has_role(&self, id: &str) -> bool {
        !self.roles.contains_key(id)
    }

    /// Says whether a row of a role stays.
    pub(super) fn has_row(&self, id: &str) -> bool {
        !self.rows.contains_key(id)
    }

    /// Returns an entry for each row that is taken out.
    fn rejects(&self) -> Vec<Reject> {
        let reject = |(id, reason): (&String, &String)| Reject::new(Stage::Export.verb(), id, VETOED, reason);
        let lists = [&self.scenes, &self.conversations, &self.samples, &self.characters, &self.rows];
        let roles = self.roles.iter().map(|(id, reason)| {
            // Two rows of one id are two entries.
            let is_twice = self.characters.contains_key(id);
            reject((id, &if is_twice { format!("{reason} (the role)") } else { reason.clone() }))
        });
        lists.into_iter().flatten().map(reject).chain(roles).collect()
    }

    /// Returns a sample as it is a row; none where it is none.
    pub(super) fn sample(&self, mut sample: Sample) -> Option<Sample> {
        if self.samples.contains_key(&sample.id) {
            return None;
        }
        if let Some(edit) = self.edits.get(&sample.id) {
            sample.reference.clone_from(&edit.reference);
            sample.edited = Some(edit.reason.clone());
        }
        Some(sample)
    }
}

impl Records {
    /// Finds out what vetoes take out of the tables, and enters it among the rejects. An id that no row has is an error,
    /// unless the run is a part of a whole one: there it may be a row of the rest.
    pub(super) fn veto(&mut self, vetoes: &Vetoes, scenes: &PoolIndex, is_part: bool) -> Result<(), RunError> {
        let (conversations, samples) = self.kept();
        let (conversation_ids, sample_ids) = (conversations.ids(), samples.ids());
        let character_ids: BTreeSet<&str> = self.characters.iter().map(|one| one.id.as_str()).collect();
        let role_ids = self.roles.ids();
        let is_played = |id: &String| {
            let is_talk = conversation_ids.contains(id) || sample_ids.contains(id);
            is_talk || character_ids.contains(id.as_str()) || scenes.find(id).is_some()
        };
        // The rows of roles are read only where something may be of them.
        let asks_rows = |veto: &Veto| role_ids.contains(&veto.id) || !is_played(&veto.id);
        let rows = if vetoes.file.veto.iter().any(asks_rows) { self.roles.row_ids()? } else { BTreeMap::new() };
        let rejected: BTreeSet<&str> = self.rejects.iter().map(|reject| reject.id.as_str()).collect();
        // What a filter left out, and what would have come of it, is gone already.
        let is_gone =
            |id: &str| rejected.contains(id) || id.rsplit_once('#').is_some_and(|(talk, _)| rejected.contains(talk));
        let heads = || scenes.heads().map(|head| head.id.as_str());
        let all = || {
            let ids = sample_ids.iter().chain(&conversation_ids).chain(&role_ids).chain(rows.keys());
            ids.map(String::as_str).chain(character_ids.iter().copied()).chain(heads())
        };
        let (mut barred, mut problems) = (Barred::default(), Vec::new());
        for (Veto { id, reason }, span) in vetoes.file.veto.iter().zip(&vetoes.vetoed) {
            let mut is_found = false;
            // A test character may be a role too, under one id.
            for (list, is_row) in [
                (&mut barred.scenes, scenes.find(id).is_some()),
                (&mut barred.conversations, conversation_ids.contains(id)),
                (&mut barred.samples, sample_ids.contains(id)),
                (&mut barred.characters, character_ids.contains(id.as_str())),
                (&mut barred.roles, role_ids.contains(id)),
                (&mut barred.rows, rows.contains_key(id)),
            ] {
                if is_row {
                    list.insert(id.clone(), reason.clone());
                    is_found = true;
                }
            }
            if !is_found && !is_part && !is_gone(id) {
                let problem = Problem::new(At { source: 0, span: span.clone() }, format!("no row has the id `{id}`"));
                let expected = "the id of a sample, a conversation, a scene, a character, a role or a row of role data";
                problems.push(problem.expected(expected).nearest(id, all()));
            }
        }
        for (edit, span) in vetoes.file.edit.iter().zip(&vetoes.edited) {
            let id = &edit.id;
            if sample_ids.contains(id) {
                barred.edits.insert(id.clone(), edit.clone());
            } else if !is_part && !is_gone(id) {
                let problem =
                    Problem::new(At { source: 0, span: span.clone() }, format!("no sample has the id `{id}`"));
                let samples = sample_ids.iter().map(String::as_str);
                problems.push(problem.expected("the id of a sample, whose reference is edited").nearest(id, samples));
            }
        }
        if !problems.is_empty() {
            problems.sort_by_key(|problem| problem.span.start);
            let sources = vec![(vetoes.path.display().to_string(), vetoes.text.clone())];
            return Err(RunError::Vetoes(PipelineError::Invalid { sources, problems }));
        }
        let with = |list: &BTreeMap<String, String>, what: &str, id: &str| {
            list.get(id).map(|reason| format!("{reason} (the {what} `{id}`)"))
        };
        if !barred.scenes.is_empty() || !barred.characters.is_empty() {
            for conversation in conversations.records::<Conversation>() {
                let Conversation { id, scene_id, character_id, .. } = conversation?;
                let reason = with(&barred.scenes, "scene", &scene_id);
                if let Some(reason) = reason.or_else(|| with(&barred.characters, "character", &character_id)) {
                    barred.conversations.entry(id).or_insert(reason);
                }
            }
        }
        for id in sample_ids {
            let talk = id.rsplit_once('#').map_or("", |(talk, _)| talk);
            if let Some(reason) = with(&barred.conversations, "conversation", talk) {
                barred.samples.entry(id).or_insert(reason);
            }
        }
        for (id, role) in rows {
            if let Some(reason) = with(&barred.roles, "role", &role) {
                barred.rows.entry(id).or_insert(reason);
            }
        }
        self.rejects.extend(barred.rejects());
        self.barred = barred;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Option<Vetoes>, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(BESIDE), text).unwrap();
        let mut reader = Reader { sources: vec![("mine.toml".to_owned(), String::new())], problems: Vec::new() };
        let document = Document::toml(0, "", &mut reader.problems);
        let vetoes = reader.vetoes(&document, &folder.path().join("mine.toml"));
        let told = |problem: Problem| {
            let (_, text) = &reader.sources[problem.source];
            format!("{} at {}", problem.message, &text[problem.span])
        };
        (vetoes, std::mem::take(&mut reader.problems).into_iter().map(told).collect())
    }

    #[test]
    fn a_file_beside_the_pipeline_file_is_read() {
        let text = "[[veto]]\nid = '红线/vivid/0#3'\nreason = '答非所问'\n\n[[edit]]\nid = 'mara/a/1#2'\n\
                    reference = '(nods) So it is.'\nreason = 'a slip'\n";
        let (vetoes, problems) = read(text);
        let vetoes = vetoes.expect("it is sound");
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!(
            (&text[vetoes.vetoed[0].clone()], &text[vetoes.edited[0].clone()]),
            ("'红线/vivid/0#3'", "'mara/a/1#2'")
        );
        assert_eq!(vetoes.file.edit[0].reference, "(nods) So it is.");
        let nowhere = Reader { sources: vec![], problems: vec![] }
            .vetoes(&Document::toml(0, "", &mut Vec::new()), Path::new("no/such/mine.toml"));
        assert!(nowhere.is_none(), "a run without vetoes has none");
    }

    #[test]
    fn a_file_that_cannot_be_read_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let problems = || {
            let mut reader = Reader { sources: vec![("mine.toml".to_owned(), String::new())], problems: Vec::new() };
            let document = Document::toml(0, "", &mut reader.problems);
            assert!(reader.vetoes(&document, &folder.path().join("mine.toml")).is_none());
            reader.problems.into_iter().map(|problem| problem.message).collect::<Vec<_>>()
        };
        assert_eq!(problems(), Vec::<String>::new(), "none is there");
        let path = folder.path().join(BESIDE);
        std::fs::write(&path, b"[[veto]]\nid = '\xba\xec'\n").unwrap();
        let told = problems();
        assert!(told.len() == 1 && told[0].contains("no UTF-8: the byte 0xba"), "{told:?}");
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert_eq!(problems().len(), 1, "a folder of that name is no file");
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        for (text, expected) in [
            ("[[veto]]\nid = 'a'\n", "lacks the key `reason`"),
            ("[[veto]]\nid = 'a'\nreson = 'r'\nreason = 'r'\n", "unknown key `reson`"),
            ("[[edit]]\nid = 'a'\nreference = ''\nreason = 'r'\n", "`edit[0].reference` is empty"),
            (
                "[[veto]]\nid = '雨'\nreason = 'r'\n[[edit]]\nid = '雨'\nreference = 'x'\nreason = 'r'\n",
                "`雨` stands here twice at '雨'",
            ),
            ("[[veto]\n", "no TOML"),
        ] {
            let (_, problems) = read(text);
            assert!(problems.iter().any(|problem| problem.contains(expected)), "{text}: {problems:?}");
        }
    }
}
