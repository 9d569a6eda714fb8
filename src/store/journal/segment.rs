//! The files of a journal: the open segment, the closed segments before it, and their names.
//!
//! The open segment is `journal.jsonl`. A closed one is `journal.000001.jsonl` until it is compressed, then
//! `journal.000001.jsonl.zst`. Each starts with a header line that contains its number.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::store::atomic;
use crate::store::error::StoreError;

/// The version of the format that this program writes. It also reads older versions.
///
/// Version 1 had a single file without a segment number.
const VERSION: u64 = 2;

/// The form of a closed segment's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SegmentForm {
    /// JSON Lines, not yet compressed.
    Uncompressed,
    /// Compressed with Zstandard.
    Compressed,
}

/// Returns the path of a closed segment, given the path of the open one.
pub(super) fn closed_path(open: &Path, number: u32, form: SegmentForm) -> PathBuf {
    let (stem, extension) = name_parts(open);
    let zst = if form == SegmentForm::Compressed { ".zst" } else { "" };
    open.with_file_name(format!("{stem}.{number:06}{extension}{zst}"))
}

/// Returns the temporary name of a file that is being written.
pub(super) fn temporary_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().expect("the path of a segment has a file name").to_owned();
    name.push(".new");
    path.with_file_name(name)
}

/// Lists the closed segments. One that exists in both forms after a crash counts as uncompressed, so that it is compressed
/// again.
pub(super) fn list_segments(open: &Path) -> Result<BTreeMap<u32, SegmentForm>, StoreError> {
    let (stem, extension) = name_parts(open);
    let mut segments = BTreeMap::new();
    let folder = folder(open);
    for entry in fs::read_dir(folder).map_err(StoreError::io("read the folder", folder))? {
        let name = entry.map_err(StoreError::io("read the folder", folder))?.file_name();
        let number = |name: &str| {
            let rest = name.strip_prefix(&stem)?.strip_prefix('.')?;
            let (name, form) = rest
                .strip_suffix(".zst")
                .map_or((rest, SegmentForm::Uncompressed), |name| (name, SegmentForm::Compressed));
            let digits = name.strip_suffix(&extension)?;
            let is_number = digits.len() >= 6 && digits.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| digits.parse().ok().map(|number: u32| (number, form)))?
        };
        if let Some((number, form)) = name.to_str().and_then(number) {
            segments.entry(number).and_modify(|form| *form = SegmentForm::Uncompressed).or_insert(form);
        }
    }
    Ok(segments)
}

/// Fails if a segment is missing, because its calls would otherwise be paid for again without notice.
pub(super) fn check_complete(open: &Path, segments: &BTreeMap<u32, SegmentForm>, last: u32) -> Result<(), StoreError> {
    match (1..last).find(|number| !segments.contains_key(number)) {
        Some(number) => Err(StoreError::MissingSegment { path: closed_path(open, number, SegmentForm::Compressed) }),
        None => Ok(()),
    }
}

/// Returns the folder of a path.
pub(super) fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns the file name without its extension, and the extension with its dot.
fn name_parts(open: &Path) -> (String, String) {
    let part = |part: Option<&std::ffi::OsStr>| part.map(|part| part.to_string_lossy().into_owned());
    let extension = part(open.extension()).map_or_else(String::new, |extension| format!(".{extension}"));
    (part(open.file_stem()).unwrap_or_default(), extension)
}

/// Returns the header line of a segment.
pub(super) fn header(number: u32) -> String {
    format!("{{\"dramaturg_journal\":{VERSION},\"segment\":{number}}}\n")
}

/// Parses the header line of a segment. Returns its number, if it has one.
pub(super) fn read_header(line: &[u8], path: &Path) -> Result<Option<u32>, StoreError> {
    let header: Value = serde_json::from_slice(line).unwrap_or_default();
    match header["dramaturg_journal"].as_u64().filter(|_| line.ends_with(b"\n")) {
        Some(..=VERSION) => Ok(header["segment"].as_u64().and_then(|number| u32::try_from(number).ok())),
        Some(version) => Err(StoreError::NewerFormat { path: path.to_owned(), version, known: VERSION }),
        None => Err(StoreError::NotAJournal { path: path.to_owned() }),
    }
}

/// Reads the number of a segment and rewinds the file.
pub(super) fn read_number(mut file: &File, path: &Path) -> Result<Option<u32>, StoreError> {
    let mut line = Vec::new();
    let mut read = || {
        // The limit avoids reading a whole file that is not a journal.
        BufReader::new(file.take(1 << 12)).read_until(b'\n', &mut line)?;
        file.rewind()
    };
    read().map_err(StoreError::io("read", path))?;
    read_header(&line, path)
}

/// Writes the header of the first segment if it is empty or a crash cut its header short.
pub(super) fn write_missing_header(file: &mut File, path: &Path, number: u32) -> Result<(), StoreError> {
    let header = header(number);
    let mut beginning = Vec::new();
    let mut write = || {
        (&*file).take(header.len() as u64).read_to_end(&mut beginning)?;
        let is_new = beginning.len() < header.len() && header.as_bytes().starts_with(&beginning);
        if is_new {
            file.set_len(0)?;
            file.write_all(header.as_bytes())?;
            file.sync_all()?;
        }
        file.rewind().map(|()| is_new)
    };
    if write().map_err(StoreError::io("write the header of", path))? {
        atomic::sync_folder(folder(path))
    } else {
        Ok(())
    }
}

/// Closes the open segment under its number and starts the next one, which is returned locked.
///
/// After a crash between any two steps, every line is in a file whose name the next open recognizes.
pub(super) fn rotate(open: &Path, number: u32) -> Result<File, StoreError> {
    let path = temporary_path(open);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(StoreError::io("remove", &path)(error)),
        _ => {}
    }
    let create = || {
        let mut file = File::options().read(true).append(true).create_new(true).open(&path)?;
        file.write_all(header(number + 1).as_bytes())?;
        file.sync_all()?;
        Ok(file)
    };
    let file = create().map_err(StoreError::io("create", &path))?;
    if !atomic::lock(&file, &path)? {
        return Err(StoreError::InUse { path, by: "another process".to_owned() });
    }
    let closed = closed_path(open, number, SegmentForm::Uncompressed);
    fs::rename(open, &closed).map_err(StoreError::io("rename the journal to", &closed))?;
    // Sync before the second rename: if only that one survived a crash, the closed segment would be lost.
    atomic::sync_folder(folder(open))?;
    fs::rename(&path, open).map_err(StoreError::io("create", open))?;
    atomic::sync_folder(folder(open))?;
    Ok(file)
}
