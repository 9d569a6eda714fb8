//! Opening a journal: the header, then every line with its checksum.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, Write as _};
use std::path::Path;

use serde_json::Value;

use super::super::{StoreError, atomic};
use super::line::{Hash, Place, read_line};

/// The version of the format that this program writes; it reads this one and older ones.
const VERSION: u64 = 1;

/// Where every record and every text stands.
#[derive(Debug, Default)]
pub(super) struct Index {
    pub(super) records: HashMap<Hash, Place>,
    pub(super) texts: HashMap<Hash, Place>,
}

/// What reading a whole journal finds.
pub(super) struct Scan {
    pub(super) index: Index,
    /// The end of the last good line.
    pub(super) end: u64,
    /// The length of the file.
    pub(super) length: u64,
    /// Bad lines with good ones behind them.
    pub(super) damaged: u64,
}

/// Writes the header of a file that is empty or whose header a crash cut short.
pub(super) fn begin(file: &mut File, path: &Path) -> Result<(), StoreError> {
    let header = format!("{{\"dramaturg_journal\":{VERSION}}}\n");
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
    let is_new = write().map_err(StoreError::io("begin", path))?;
    match path.parent() {
        Some(folder) if is_new && !folder.as_os_str().is_empty() => atomic::sync_folder(folder),
        _ => Ok(()),
    }
}

/// Reads a whole journal and checks every line.
pub(super) fn scan(file: &File, path: &Path) -> Result<Scan, StoreError> {
    let mut lines = BufReader::with_capacity(1 << 20, file);
    let mut line = Vec::new();
    let mut next = |line: &mut Vec<u8>| {
        line.clear();
        lines.read_until(b'\n', line).map_err(StoreError::io("read", path))
    };
    next(&mut line)?;
    let header: Value = serde_json::from_slice(&line).unwrap_or_default();
    match header["dramaturg_journal"].as_u64().filter(|_| line.ends_with(b"\n")) {
        Some(..=VERSION) => {}
        Some(version) => return Err(StoreError::Newer { path: path.to_owned(), version, known: VERSION }),
        None => return Err(StoreError::NoJournal { path: path.to_owned() }),
    }
    let mut length = line.len() as u64;
    let mut scan = Scan { index: Index::default(), end: length, length, damaged: 0 };
    let mut bad = 0;
    while next(&mut line)? > 0 {
        if let Some((is_record, name, at, value)) = read_line(&line) {
            // The last record of a key counts: an earlier one may lack a text that was damaged.
            let index = if is_record { &mut scan.index.records } else { &mut scan.index.texts };
            index.insert(name, Place { offset: length + at, length: value });
            scan.end = length + line.len() as u64;
            scan.damaged += std::mem::take(&mut bad);
        } else {
            bad += 1;
        }
        length += line.len() as u64;
    }
    Ok(Scan { length, ..scan })
}
