//! Reads the character files that a pipeline file names, in any supported format, and collects their problems.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::config::document::problems::SourceSpan;
use crate::config::document::{Document, PipelineError, Problem};
use crate::config::error::BookError;
use crate::config::paths;
use crate::config::reader::{Reader, canonical};
use crate::schema::{Character, CharacterFile, slug};
use crate::stages::synthesize::established::{self, CharacterFormat, ContainerError, ImportedCharacter, MOST_BYTES};
use crate::stages::synthesize::{self, Established};

/// Why a character file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CharactersError {
    /// The file cannot be opened, or does not exist.
    #[error(transparent)]
    Open(#[from] BookError),
    /// Its contents are invalid.
    #[error(transparent)]
    Invalid(#[from] PipelineError),
}

/// Reads the characters of a file: the program's own format in TOML or JSON, a Tavern card in JSON, PNG or `.charx`, a
/// CoSER file (all of its characters), or a `PingPong` file.
pub fn characters(path: &Path) -> Result<Vec<ImportedCharacter>, CharactersError> {
    if !path.exists() {
        let paths::NoMatch { message, nearest } = paths::absent(path);
        return Err(BookError::NoMatch { message, nearest }.into());
    }
    let bytes = bytes(path).map_err(|source| BookError::Open { path: path.to_owned(), source })?;
    let mut reader = Reader { sources: Vec::new(), problems: Vec::new() };
    let is_wrapped = established::is_wrapped(&bytes);
    let characters = match established::text(bytes) {
        Ok(text) => reader.character_file(path, text, is_wrapped, usize::MAX).0,
        Err(fault) => {
            reader.no_character_file(path, &fault);
            Vec::new()
        }
    };
    if reader.problems.is_empty() { Ok(characters) } else { Err(reader.invalid().into()) }
}

/// The characters of the files in a pipeline file.
#[derive(Debug, Default)]
pub(crate) struct CharactersOfFiles {
    /// The characters, in the order of their files.
    pub(crate) all: Vec<Character>,
    /// The file of each, by id.
    pub(crate) paths: BTreeMap<String, PathBuf>,
    /// Notes about contents that were skipped without being wrong.
    pub(crate) notes: Vec<String>,
}

impl Reader {
    /// Returns the characters of the files in `[synthesize] established`.
    pub(crate) fn characters(&mut self, document: &Document) -> CharactersOfFiles {
        self.characters_of(document, "/synthesize/established", &[Established::POOL])
    }

    /// Returns the characters of the files that a key names, with the file of each by id. `words` are values that are
    /// not files. Pictures without a card in a folder or glob are skipped with a note, if the pattern matches other
    /// files.
    pub(crate) fn characters_of(&mut self, document: &Document, key: &str, words: &[&str]) -> CharactersOfFiles {
        let CharactersOfFiles { all: mut characters, paths: mut by_id, mut notes } = CharactersOfFiles::default();
        let mut pictures: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        let mut read: BTreeSet<String> = BTreeSet::new();
        let patterns = document.strings(key);
        let patterns: Vec<_> = patterns.into_iter().filter(|(_, pattern)| !words.contains(pattern)).collect();
        let most = document.value.pointer("/synthesize/established_per_book").and_then(Value::as_u64);
        let most = most.unwrap_or_else(|| synthesize::Params::default().established_per_book.into());
        let direct: BTreeSet<PathBuf> = patterns.iter().map(|(_, pattern)| canonical(Path::new(pattern))).collect();
        for (pointer, path) in self.files(document, &patterns, paths::CHARACTERS) {
            let bytes = match bytes(&path) {
                Ok(bytes) => bytes,
                Err(error) => {
                    let at = document.at(&pointer);
                    let mut nothing = paths::absent(&path);
                    if error.kind() != std::io::ErrorKind::NotFound {
                        let message = format!("failed to read `{}`: {error}", path.display());
                        nothing = paths::NoMatch { message, nearest: None };
                    }
                    let paths::NoMatch { message, nearest } = nothing;
                    self.problems.push(Problem { nearest, ..Problem::new(at, message) });
                    continue;
                }
            };
            let is_wrapped = established::is_wrapped(&bytes);
            let text = match established::text(bytes) {
                Ok(text) => text,
                Err(ContainerError::NoCard) if !direct.contains(&canonical(&path)) => {
                    pictures.entry(pointer).or_default().push(path);
                    continue;
                }
                Err(fault) => {
                    self.no_character_file(&path, &fault);
                    read.insert(pointer);
                    continue;
                }
            };
            let most = usize::try_from(most).unwrap_or(usize::MAX);
            let (imported, names) = self.character_file(&path, text, is_wrapped, most);
            read.insert(pointer);
            for (at, name) in names {
                let id = slug(&name);
                if id == "-" {
                    let problem = Problem::new(at, "this name has no letters, so no id can be derived from it");
                    self.problems.push(problem.expected("a name with a letter"));
                } else if let Some(first) = by_id.insert(id.clone(), path.clone()) {
                    let message = format!("the character `{id}` is also defined in `{}`", first.display());
                    self.problems.push(Problem::new(at, message).expected("each character once"));
                }
            }
            characters.extend(imported.into_iter().map(|character| Character::from(character.file)));
        }
        for (pointer, paths) in pictures {
            // If a pattern matches only pictures, they were meant to be cards.
            if !read.contains(&pointer) {
                for path in &paths {
                    self.no_character_file(path, &ContainerError::NoCard);
                }
                continue;
            }
            let names = paths.iter().map(|path| format!("`{}`", path.display())).collect::<Vec<_>>().join(", ");
            notes.push(format!("no character card in {names}; skipped as pictures"));
        }
        CharactersOfFiles { all: characters, paths: by_id, notes }
    }

    /// Reports why a file contains no character.
    fn no_character_file(&mut self, path: &Path, fault: &ContainerError) {
        let at = SourceSpan::whole_source(self.sources.len());
        self.sources.push((path.display().to_string(), String::new()));
        self.problems.push(Problem::new(at, fault.to_string()).expected(fault.expected()));
    }

    /// Reads the characters of a file's text, with the positions of their names. At most `most` characters are taken
    /// from a CoSER file.
    fn character_file(
        &mut self,
        path: &Path,
        text: String,
        is_wrapped: bool,
        most: usize,
    ) -> (Vec<ImportedCharacter>, Vec<(SourceSpan, String)>) {
        let before = self.problems.len();
        let source = self.sources.len();
        let name = format!("{}{}", path.display(), if is_wrapped { " (embedded card)" } else { "" });
        let is_json = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
        let is_json = is_json || is_wrapped || text.trim_start().starts_with('{');
        self.sources.push((name, text));
        let text = &self.sources[source].1;
        let file = if is_json { Document::json } else { Document::toml }(source, text, &mut self.problems);
        let form = if file.complete && is_json { CharacterFormat::detect(&file.value) } else { CharacterFormat::Own };
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let characters = if form == CharacterFormat::Own {
            self.check_schema::<CharacterFile>(&file, "the character file");
            self.own(&file, source, before)
        } else {
            established::import(form, &file.value, &stem, most).unwrap_or_else(|error| {
                let problem = Problem::new(file.at(&error.pointer), error.message).expected(error.expected);
                self.problems.push(problem);
                Vec::new()
            })
        };
        let pointer = match (form, file.value.pointer("/data/name")) {
            (CharacterFormat::Tavern, Some(_)) => "/data/name",
            (CharacterFormat::PingPong, _) => "/char_name",
            _ => "/name",
        };
        let mut names: Vec<_> =
            characters.iter().map(|character| (file.at(pointer), character.file.name.clone())).collect();
        if form == CharacterFormat::Own && names.is_empty() {
            // Even if the file has other problems, its name is checked for duplicates.
            names.extend(file.strings("/name").into_iter().map(|(pointer, name)| (file.at(&pointer), name.to_owned())));
        }
        (characters, names)
    }

    /// Returns the character of a file in the program's own format, unless it has problems.
    fn own(&mut self, file: &Document, source: usize, before: usize) -> Vec<ImportedCharacter> {
        if self.problems.len() > before {
            return Vec::new();
        }
        match serde_json::from_value::<CharacterFile>(file.value.clone()) {
            Ok(file) => vec![ImportedCharacter { file, format: CharacterFormat::Own, original: Value::Null }],
            Err(error) => {
                self.problems.push(Problem::new(SourceSpan::whole_source(source), error.to_string()));
                Vec::new()
            }
        }
    }
}

/// Reads a file, unless it is larger than any valid character file.
fn bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    let length = std::fs::metadata(path)?.len();
    if length > MOST_BYTES as u64 {
        return Err(std::io::Error::other(ContainerError::TooLarge { bytes: length }));
    }
    std::fs::read(path)
}
