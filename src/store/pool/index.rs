//! The index of a scene pool: the id, metadata and position of every scene. The text of a scene is read from its file
//! when it is needed.

use std::path::Path;

use super::pool_scan::{self, LocatedScene, PoolFile, SceneKind, ScenePosition, SceneReadError, json_message, scan};
use crate::schema::{Scene, SceneHead};
use crate::store::error::StoreError;

/// The valid scenes of a pool, sorted by id, without their texts.
#[derive(Debug)]
pub struct PoolIndex {
    files: Vec<PoolFile>,
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    head: SceneHead,
    position: ScenePosition,
}

impl PoolIndex {
    /// Reads files in order of increasing precedence. Also returns their errors, in order.
    ///
    /// Of two edits with the same id the later one wins. Any other duplicate id within one kind of file is an error,
    /// and the first scene wins.
    pub(super) fn read(
        files: Vec<PoolFile>,
        is_selected: impl Fn(SceneKind, &SceneHead) -> bool,
    ) -> (Self, Vec<StoreError>) {
        let read = |file: &PoolFile, text: Result<&str, SceneReadError>| match text {
            Ok(text) => {
                let is_custom = file.kind == SceneKind::Custom;
                scene(file, text).map(|scene| SceneHead { is_custom, ..scene.into() })
            }
            Err(fault) => Err(unreadable(file, fault)),
        };
        let (mut entries, mut faults) = (Vec::new(), Vec::new());
        for LocatedScene { position, value } in scan(&files, read) {
            match value {
                Ok(head) if is_selected(files[position.file].kind, &head) => entries.push(Entry { head, position }),
                Ok(_) => {}
                Err(fault) => faults.push(fault.below(position.line)),
            }
        }
        // The sort is stable, so the last of several equal ids is the one that wins.
        entries.sort_by(|one, other| one.head.id.cmp(&other.head.id));
        let mut winners: Vec<Entry> = Vec::with_capacity(entries.len());
        for entry in entries {
            let kind = files[entry.position.file].kind;
            match winners.last_mut().filter(|last| last.head.id == entry.head.id) {
                None => winners.push(entry),
                Some(last) if files[last.position.file].kind == kind && kind != SceneKind::Edit => {
                    let (path, other) = (&files[entry.position.file].path, &files[last.position.file].path);
                    faults.push(StoreError::DuplicateScene {
                        id: entry.head.id,
                        path: path.clone(),
                        other: other.clone(),
                    });
                }
                Some(last) => *last = entry,
            }
        }
        winners.shrink_to_fit();
        (Self { files, entries: winners }, faults)
    }

    /// Returns the number of scenes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there are no scenes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the metadata of every scene, sorted by id.
    #[must_use]
    pub fn heads(&self) -> impl ExactSizeIterator<Item = &SceneHead> + Clone {
        self.entries.iter().map(|entry| &entry.head)
    }

    /// Returns the metadata of a scene, by its index.
    #[must_use]
    pub fn head(&self, position: usize) -> &SceneHead {
        &self.entries[position].head
    }

    /// Returns the index of a scene.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<usize> {
        self.entries.binary_search_by(|entry| entry.head.id.as_str().cmp(id)).ok()
    }

    /// Returns the path and kind of the file that contains a scene, and its line, from 1.
    #[must_use]
    pub fn origin(&self, position: usize) -> (&Path, SceneKind, u32) {
        let ScenePosition { file, line, .. } = self.entries[position].position;
        (&self.files[file].path, self.files[file].kind, line)
    }

    /// Reads the scenes of a book, sorted by id.
    pub fn of_book(&self, slug: &str) -> Result<Vec<Scene>, StoreError> {
        let positions = self.heads().enumerate().filter(|(_, head)| head.book == slug);
        positions.map(|(position, _)| self.scene(position)).collect()
    }

    /// Reads a scene, by its index.
    pub fn scene(&self, position: usize) -> Result<Scene, StoreError> {
        let Entry { head, position } = &self.entries[position];
        let file = &self.files[position.file];
        let changed = || StoreError::FileChanged { path: file.path.clone() };
        let text = match pool_scan::text(file, position) {
            Ok(text) => text,
            Err(SceneReadError::Io(source)) => return Err(StoreError::io("read", &file.path)(source)),
            Err(_) => return Err(changed()),
        };
        // The file may have been modified since it was indexed.
        scene(file, &text).ok().filter(|scene| scene.id == head.id).ok_or_else(changed)
    }
}

/// Parses the text of a scene.
pub(super) fn scene(file: &PoolFile, text: &str) -> Result<Scene, StoreError> {
    let fault = |line, fault| StoreError::Scene { path: file.path.clone(), line, fault };
    if file.is_toml() {
        return toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(0, |span| text[..span.start].matches('\n').count());
            fault(Some(line), error.message().to_owned())
        });
    }
    serde_json::from_str(text).map_err(|error| fault(Some(error.line().saturating_sub(1)), json_message(&error)))
}

fn unreadable(file: &PoolFile, fault: SceneReadError) -> StoreError {
    let path = &file.path;
    match fault {
        SceneReadError::Io(source) => StoreError::io("read", path)(source),
        SceneReadError::Encoding { line, .. } | SceneReadError::Json { line, .. } => {
            StoreError::Scene { path: path.clone(), line: Some(line as usize), fault: fault.to_string() }
        }
        SceneReadError::NoFile | SceneReadError::TooLong => {
            StoreError::Scene { path: path.clone(), line: None, fault: fault.to_string() }
        }
    }
}

impl StoreError {
    /// Adds the number of lines before the scene, so that the line counts from the start of the file.
    fn below(self, lines: u32) -> Self {
        match self {
            Self::Scene { path, line: Some(line), fault } => {
                Self::Scene { path, line: Some(line + lines as usize), fault }
            }
            other => other,
        }
    }
}
