//! Line-based files for other tools, such as JSON Lines and CSV. Each is written under a temporary name, renamed when
//! it is complete, and followed by another file when it would exceed a limit.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use super::atomic;
use super::error::StoreError;

/// The limits of one file of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineLimits {
    /// The maximum size in bytes. A longer line gets a file of its own.
    pub bytes: u64,
    /// The maximum number of lines, not counting the header.
    pub lines: u64,
}

/// The files of one table, written line by line.
#[derive(Debug)]
pub struct LineFiles {
    folder: PathBuf,
    name: String,
    ending: &'static str,
    /// The first bytes of each file, such as a CSV header.
    head: Vec<u8>,
    limits: LineLimits,
    open: Option<Open>,
    /// The complete files that still have temporary names, with their numbers of lines.
    ended: Vec<(PathBuf, u64)>,
}

#[derive(Debug)]
struct Open {
    path: PathBuf,
    file: BufWriter<File>,
    bytes: u64,
    lines: u64,
}

impl LineFiles {
    /// Creates a writer for files in a folder. A file is created with its first line, so a table without lines leaves
    /// no file.
    #[must_use]
    pub fn new(folder: &Path, name: &str, ending: &'static str, head: Vec<u8>, limits: LineLimits) -> Self {
        Self { folder: folder.to_owned(), name: name.to_owned(), ending, head, limits, open: None, ended: Vec::new() }
    }

    /// Writes a line, which includes its line break.
    pub fn write(&mut self, line: &[u8]) -> Result<(), StoreError> {
        let bytes = line.len() as u64;
        let is_full = |open: &Open| open.bytes + bytes > self.limits.bytes || open.lines >= self.limits.lines;
        if self.open.as_ref().is_some_and(|open| open.lines > 0 && is_full(open)) {
            self.end_file()?;
        }
        let open = match &mut self.open {
            Some(open) => open,
            none => none.insert(Open::new(&self.folder, &self.name, self.ended.len(), &self.head)?),
        };
        open.file.write_all(line).map_err(StoreError::io("write", &open.path))?;
        open.bytes += bytes;
        open.lines += 1;
        Ok(())
    }

    /// Finishes the files. Returns the name of each and its number of lines without the header. A single file has no
    /// shard number in its name.
    pub fn end(mut self) -> Result<Vec<(String, u64)>, StoreError> {
        self.end_file()?;
        let count = self.ended.len();
        let mut names = Vec::with_capacity(count);
        for (number, (path, lines)) in self.ended.iter().enumerate() {
            let number = if count == 1 { String::new() } else { format!("-{number:05}-of-{count:05}") };
            let name = format!("{}{number}.{}", self.name, self.ending);
            fs::rename(path, self.folder.join(&name)).map_err(StoreError::io("rename", path))?;
            names.push((name, *lines));
        }
        if count > 0 {
            atomic::sync_folder(&self.folder)?;
        }
        Ok(names)
    }

    fn end_file(&mut self) -> Result<(), StoreError> {
        let Some(Open { path, file, lines, .. }) = self.open.take() else { return Ok(()) };
        let synced = file.into_inner().map_err(std::io::IntoInnerError::into_error).and_then(|file| file.sync_all());
        synced.map_err(StoreError::io("write", &path))?;
        self.ended.push((path, lines));
        Ok(())
    }
}

impl Open {
    fn new(folder: &Path, name: &str, number: usize, head: &[u8]) -> Result<Self, StoreError> {
        fs::create_dir_all(folder).map_err(StoreError::io("create the folder", folder))?;
        let path = folder.join(format!("{name}-{number:05}.new"));
        let mut file = BufWriter::new(File::create(&path).map_err(StoreError::io("create", &path))?);
        file.write_all(head).map_err(StoreError::io("write", &path))?;
        Ok(Self { path, file, bytes: head.len() as u64, lines: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_file_is_followed_by_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let limits = LineLimits { bytes: 12, lines: 3 };
        let mut files = LineFiles::new(folder.path(), "test", "csv", b"id\n".to_vec(), limits);
        for line in ["a\n", "b\n", "c\n", "d\n", "longer than all\n", "e\n"] {
            files.write(line.as_bytes()).unwrap();
        }
        let names = files.end().unwrap();
        let read: Vec<String> =
            names.iter().map(|(name, _)| fs::read_to_string(folder.path().join(name)).unwrap()).collect();
        assert_eq!(read, ["id\na\nb\nc\n", "id\nd\n", "id\nlonger than all\n", "id\ne\n"]);
        assert_eq!(names.iter().map(|(_, lines)| *lines).collect::<Vec<_>>(), [3, 1, 1, 1]);
        assert_eq!(names[3].0, "test-00003-of-00004.csv");
        let mut one = LineFiles::new(folder.path(), "one", "jsonl", Vec::new(), limits);
        one.write(b"{}\n").unwrap();
        assert_eq!(one.end().unwrap(), [("one.jsonl".to_owned(), 1)]);
        assert!(LineFiles::new(folder.path(), "none", "jsonl", Vec::new(), limits).end().unwrap().is_empty());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 5);
    }
}
