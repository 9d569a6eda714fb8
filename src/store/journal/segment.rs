//! The files of a journal: the open segment, the closed ones before it, and what they are called.
//!
//! The open segment is `journal.jsonl`. A closed one is `journal.000001.jsonl`, as long as it waits to be compressed, then
//! `journal.000001.jsonl.zst`. Each begins with a header that says its number.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::super::{StoreError, atomic};

/// The version of the format that this program writes; it reads this one and older ones.
///
/// Version 1 had one file, which had no number.
const VERSION: u64 = 2;

/// What a closed segment's file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// JSON Lines, to be compressed.
    Plain,
    /// Compressed.
    Packed,
}

/// Returns the path of a closed segment of the journal whose open segment has a path.
pub(super) fn closed(open: &Path, number: u32, form: Form) -> PathBuf {
    let (stem, extension) = parts(open);
    let zst = if form == Form::Packed { ".zst" } else { "" };
    open.with_file_name(format!("{stem}.{number:06}{extension}{zst}"))
}

/// Returns the name under which a file is made before it takes its place.
pub(super) fn new(path: &Path) -> PathBuf {
    let mut name = path.file_name().expect("a segment has a name").to_owned();
    name.push(".new");
    path.with_file_name(name)
}

/// Returns the closed segments. One that a crash left in both forms counts as plain: it was to be compressed.
pub(super) fn list(open: &Path) -> Result<BTreeMap<u32, Form>, StoreError> {
    let (stem, extension) = parts(open);
    let mut segments = BTreeMap::new();
    let folder = folder(open);
    for entry in fs::read_dir(folder).map_err(StoreError::io("read the folder", folder))? {
        let name = entry.map_err(StoreError::io("read the folder", folder))?.file_name();
        let number = |name: &str| {
            let rest = name.strip_prefix(&stem)?.strip_prefix('.')?;
            let (plain, form) = rest.strip_suffix(".zst").map_or((rest, Form::Plain), |plain| (plain, Form::Packed));
            let digits = plain.strip_suffix(&extension)?;
            let is_number = digits.len() >= 6 && digits.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| digits.parse().ok().map(|number: u32| (number, form)))?
        };
        if let Some((number, form)) = name.to_str().and_then(number) {
            segments.entry(number).and_modify(|form| *form = Form::Plain).or_insert(form);
        }
    }
    Ok(segments)
}

/// Fails when a segment is missing: its calls would be paid again without a word.
pub(super) fn whole(open: &Path, segments: &BTreeMap<u32, Form>, last: u32) -> Result<(), StoreError> {
    match (1..last).find(|number| !segments.contains_key(number)) {
        Some(number) => Err(StoreError::Missing { path: closed(open, number, Form::Packed) }),
        None => Ok(()),
    }
}

/// Returns the folder that a path stands in.
pub(super) fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns a name without its extension, and the extension with its dot.
fn parts(open: &Path) -> (String, String) {
    let part = |part: Option<&std::ffi::OsStr>| part.map(|part| part.to_string_lossy().into_owned());
    let extension = part(open.extension()).map_or_else(String::new, |extension| format!(".{extension}"));
    (part(open.file_stem()).unwrap_or_default(), extension)
}

/// Returns the first line of a segment.
pub(super) fn header(number: u32) -> String {
    format!("{{\"dramaturg_journal\":{VERSION},\"segment\":{number}}}\n")
}

/// Reads the first line of a segment: its number, where it says one.
pub(super) fn read_header(line: &[u8], path: &Path) -> Result<Option<u32>, StoreError> {
    let header: Value = serde_json::from_slice(line).unwrap_or_default();
    match header["dramaturg_journal"].as_u64().filter(|_| line.ends_with(b"\n")) {
        Some(..=VERSION) => Ok(header["segment"].as_u64().and_then(|number| u32::try_from(number).ok())),
        Some(version) => Err(StoreError::Newer { path: path.to_owned(), version, known: VERSION }),
        None => Err(StoreError::NoJournal { path: path.to_owned() }),
    }
}

/// Reads the number of a segment, and goes back to its beginning.
pub(super) fn read_number(mut file: &File, path: &Path) -> Result<Option<u32>, StoreError> {
    let mut line = Vec::new();
    let mut read = || {
        // Whatever else it may be, it need not be read whole.
        BufReader::new(file.take(1 << 12)).read_until(b'\n', &mut line)?;
        file.rewind()
    };
    read().map_err(StoreError::io("read", path))?;
    read_header(&line, path)
}

/// Writes the header of a first segment that is empty, or whose header a crash cut short.
pub(super) fn begin(file: &mut File, path: &Path, number: u32) -> Result<(), StoreError> {
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
    if write().map_err(StoreError::io("begin", path))? { atomic::sync_folder(folder(path)) } else { Ok(()) }
}

/// Closes the open segment under its number and begins the next one, which is returned locked.
///
/// After a crash between any two steps all lines stand under a name that the next opening knows.
pub(super) fn rotate(open: &Path, number: u32) -> Result<File, StoreError> {
    let path = new(open);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(StoreError::io("remove", &path)(error)),
        _ => {}
    }
    let begin = || {
        let mut file = File::options().read(true).append(true).create_new(true).open(&path)?;
        file.write_all(header(number + 1).as_bytes())?;
        file.sync_all()?;
        Ok(file)
    };
    let file = begin().map_err(StoreError::io("begin", &path))?;
    if !atomic::lock(&file, &path)? {
        return Err(StoreError::InUse { path, by: "another process".to_owned() });
    }
    let closed = closed(open, number, Form::Plain);
    fs::rename(open, &closed).map_err(StoreError::io("close a segment as", &closed))?;
    // If the second name outlived a crash and the first one did not, the segment would be gone.
    atomic::sync_folder(folder(open))?;
    fs::rename(&path, open).map_err(StoreError::io("begin", open))?;
    atomic::sync_folder(folder(open))?;
    Ok(file)
}
