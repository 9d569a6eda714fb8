//! Writing JSON, JSON Lines and text files.

use std::fs;
use std::path::Path;

use serde::Serialize;

use super::atomic;
use super::error::StoreError;

/// Replaces a file by a value as indented JSON.
pub fn write_json(path: &Path, value: &impl Serialize) -> Result<(), StoreError> {
    let json = serde_json::to_string_pretty(value);
    let json = json.map_err(|source| StoreError::Json { path: path.to_owned(), source })?;
    atomic::write(path, (json + "\n").as_bytes())
}

/// Replaces a file by a text.
pub fn write_text(path: &Path, text: &str) -> Result<(), StoreError> {
    atomic::write(path, text.as_bytes())
}

/// Renames a file and replaces the target if it exists.
pub fn rename(from: &Path, to: &Path) -> Result<(), StoreError> {
    fs::rename(from, to).map_err(StoreError::io("rename", from))
}

/// Returns records as JSON Lines.
pub(super) fn json_lines<T: Serialize>(path: &Path, records: &[T]) -> Result<Vec<u8>, StoreError> {
    let mut lines = Vec::new();
    for record in records {
        serde_json::to_writer(&mut lines, record)
            .map_err(|source| StoreError::Json { path: path.to_owned(), source })?;
        lines.push(b'\n');
    }
    Ok(lines)
}
