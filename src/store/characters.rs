//! The test characters of a run: `characters.jsonl` beside its data set, one character per line, sorted by id.

use std::fs;
use std::path::{Path, PathBuf};

use super::atomic;
use super::error::StoreError;
use super::json::json_lines;
use crate::schema::Character;

/// Returns the path of a run's characters. The file does not exist before the stage `synthesize` has ended.
#[must_use]
pub fn characters_path(run: &Path) -> PathBuf {
    run.join("characters.jsonl")
}

/// Returns whether a folder is a run folder, as opposed to a scene pool.
#[must_use]
pub fn is_run(folder: &Path) -> bool {
    // `journal.jsonl` and `characters.jsonl` are no evidence: a pool has them if a book is called Journal or
    // Characters.
    [".lock", "manifest.json", "status.json"].iter().any(|name| folder.join(name).is_file())
}

/// Replaces the characters of a run.
pub fn write_characters(run: &Path, characters: &[Character]) -> Result<(), StoreError> {
    let path = characters_path(run);
    atomic::write(&path, &json_lines(&path, characters)?)
}

/// Reads the characters of a run.
pub fn characters(run: &Path) -> Result<Vec<Character>, StoreError> {
    let path = characters_path(run);
    let text = fs::read_to_string(&path).map_err(StoreError::io("read", &path))?;
    let read = |(line, text): (usize, &str)| {
        let fault = |source| StoreError::Character { path: path.clone(), line: line + 1, source };
        serde_json::from_str(text).map_err(fault)
    };
    text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()).map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Attribute, CharacterType, Language, Visibility};

    #[test]
    fn characters_round_trip() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_run(folder.path()));
        let character = |language: Language, name: &str| Character {
            id: crate::schema::slug(name).into(),
            name: name.to_owned(),
            aliases: vec![format!("{name}\u{2028}2")],
            language,
            kind: CharacterType::Synthesized,
            book: None,
            worldview: Some("“w”\n".to_owned()),
            profile: vec![Attribute { key: "k".to_owned(), value: "v".to_owned(), visibility: Visibility::Private }],
            lines: vec!["a".to_owned(), "乙".to_owned()],
            model: Some("m".to_owned()),
        };
        let all = [character(Language::En, "Mara"), character(Language::Zh, "阿满")];
        write_characters(folder.path(), &all).unwrap();
        assert!(!is_run(folder.path()), "a pool may contain a book called Characters");
        let run = crate::store::run::RunFolder::open(folder.path()).unwrap();
        assert!(is_run(run.path()));
        assert_eq!(characters(folder.path()).unwrap(), all);
        let path = characters_path(folder.path());
        fs::write(&path, fs::read_to_string(&path).unwrap() + "{\"id\": 1}\n").unwrap();
        let error = characters(folder.path()).expect_err("the id is not a string").to_string();
        assert!(error.ends_with("characters.jsonl`, line 3"), "{error}");
    }
}
