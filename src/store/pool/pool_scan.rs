//! Scanning the files of a pool on all cores. Each scene's text is passed on and dropped, so memory does not grow with
//! the pool. This module finds the scenes but does not parse them.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::value::RawValue;

/// The number of bytes of a line-based file that a thread processes at a time.
const SEGMENT: u64 = 4 << 20;
/// The maximum number of bytes of one scene, and of a file that is read whole. It bounds the memory for any input.
const LONGEST: u64 = 64 << 20;

/// The kind of file that contains a scene. Later kinds override earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SceneKind {
    /// Scenes that the program extracted.
    Book,
    /// Edited versions of extracted scenes.
    Edit,
    /// Custom scenes.
    Custom,
}

impl SceneKind {
    /// Returns the lower-case name of the kind.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Book => "book",
            Self::Edit => "edit",
            Self::Custom => "custom",
        }
    }
}

/// A file with scenes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolFile {
    /// Its path.
    pub path: PathBuf,
    /// The kind of its scenes.
    pub kind: SceneKind,
    /// Its content in a dry run.
    pub unwritten: Option<Arc<[u8]>>,
}

impl PoolFile {
    /// Returns whether it is TOML, which contains one scene.
    #[must_use]
    pub fn is_toml(&self) -> bool {
        self.path.extension().is_some_and(|extension| extension == "toml")
    }

    /// Opens the file. Anything but a regular file is refused without opening it, because a folder cannot be read and a
    /// pipe may block.
    fn open(&self) -> Result<Box<dyn Source>, SceneReadError> {
        if let Some(bytes) = &self.unwritten {
            return Ok(Box::new(io::Cursor::new(Arc::clone(bytes))));
        }
        if !fs::metadata(&self.path)?.is_file() {
            return Err(SceneReadError::NoFile);
        }
        Ok(Box::new(File::open(&self.path)?))
    }

    fn length(&self) -> u64 {
        let unwritten = self.unwritten.as_ref().map(|bytes| bytes.len() as u64);
        unwritten.unwrap_or_else(|| fs::metadata(&self.path).map_or(0, |metadata| metadata.len()))
    }

    fn is_lines(&self) -> bool {
        self.path.extension().is_some_and(|extension| extension == "jsonl")
    }
}

/// A readable and seekable source of bytes.
trait Source: io::Read + io::Seek {}

impl<T: io::Read + io::Seek> Source for T {}

/// The position of a scene's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScenePosition {
    /// The index of the file in the scanned list.
    pub file: usize,
    /// The line in which it starts, from 1; 0 if the file cannot be read at all.
    pub line: u32,
    /// The number of characters before it in that line.
    pub column: u32,
    /// The number of bytes before it in the file.
    pub offset: u64,
    /// Its length in bytes.
    pub length: u64,
}

/// The reason why the text of a scene cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SceneReadError {
    /// An I/O error.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The path is a folder or another special file.
    #[error("not a regular file")]
    NoFile,
    /// The text exceeds the size limit.
    #[error("it is longer than {} MB", LONGEST >> 20)]
    TooLong,
    /// The bytes are not UTF-8.
    #[error("not valid UTF-8")]
    Encoding {
        /// The number of lines before the error, within the scene's text.
        line: u32,
        /// The number of characters before the error in its line.
        column: u32,
    },
    /// The text is not a JSON list of scenes.
    #[error("invalid JSON: {message}")]
    Json {
        /// The number of lines before the error.
        line: u32,
        /// The number of characters before the error in its line.
        column: u32,
        /// The error message, without the position.
        message: String,
    },
}

/// The result for one scene.
#[derive(Debug)]
pub struct LocatedScene<T> {
    /// The position of the scene.
    pub position: ScenePosition,
    /// The value that the callback returned.
    pub value: T,
}

/// Calls `read` with each scene's text and returns the results in order of files and positions.
pub(super) fn scan<T: Send>(
    files: &[PoolFile],
    read: impl Fn(&PoolFile, Result<&str, SceneReadError>) -> T + Sync,
) -> Vec<LocatedScene<T>> {
    let segments: Vec<(usize, u64)> = files
        .iter()
        .enumerate()
        .flat_map(|(file, of)| {
            let length = if of.is_lines() { of.length() } else { 0 };
            (0..=length.saturating_sub(1) / SEGMENT).map(move |segment| (file, segment * SEGMENT))
        })
        .collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let segment = next.fetch_add(1, Ordering::Relaxed);
            let Some(&(file, begin)) = segments.get(segment) else { return done };
            let mut found = Found { file, lines: 0, located: Vec::new() };
            let read = |text: Result<&str, SceneReadError>| read(&files[file], text);
            let result = if files[file].is_lines() {
                found.segment(&files[file], begin, &read)
            } else {
                found.read_whole_file(&files[file], &read)
            };
            if let Err(fault) = result {
                found.push(0, 0, 0, read(Err(fault)));
            }
            done.push((segment, found));
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(segments.len().max(1));
    let mut found: Vec<(usize, Found<T>)> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..cores).map(|_| scope.spawn(work)).collect();
        let mut found = work();
        found.extend(others.into_iter().flat_map(|other| other.join().expect("the callback does not panic")));
        found
    });
    found.sort_by_key(|(segment, _)| *segment);
    // The line numbers of a segment are relative to its start.
    let (mut file, mut before) = (0, 0);
    let mut all = Vec::with_capacity(found.iter().map(|(_, found)| found.located.len()).sum());
    for (_, found) in found {
        if found.file != file {
            (file, before) = (found.file, 0);
        }
        all.extend(found.located.into_iter().map(|mut located| {
            if located.position.line > 0 {
                located.position.line += before;
            }
            located
        }));
        before += found.lines;
    }
    all
}

/// Reads the text of one scene.
pub(super) fn text(file: &PoolFile, position: &ScenePosition) -> Result<String, SceneReadError> {
    let mut open = file.open()?;
    open.seek(SeekFrom::Start(position.offset))?;
    let mut bytes = Vec::with_capacity(usize::try_from(position.length.min(LONGEST)).unwrap_or_default());
    open.take(position.length.min(LONGEST)).read_to_end(&mut bytes)?;
    decoded(&bytes).map(str::to_owned)
}

/// The scenes found in a segment of a file.
struct Found<T> {
    file: usize,
    /// The number of lines that start in the segment.
    lines: u32,
    located: Vec<LocatedScene<T>>,
}

impl<T> Found<T> {
    fn push(&mut self, line: u32, offset: u64, length: u64, value: T) {
        self.located
            .push(LocatedScene { position: ScenePosition { file: self.file, line, column: 0, offset, length }, value });
    }

    /// Reads the lines that start in a segment.
    fn segment(
        &mut self,
        file: &PoolFile,
        begin: u64,
        read: &impl Fn(Result<&str, SceneReadError>) -> T,
    ) -> Result<(), SceneReadError> {
        let mut lines = BufReader::with_capacity(1 << 18, file.open()?);
        // Start one byte early: it shows whether a line starts at the segment's first byte.
        let mut at = begin.saturating_sub(1);
        lines.seek(SeekFrom::Start(at))?;
        if begin > 0 {
            at += skip_line(&mut lines)?;
        }
        let mut line = Vec::new();
        while at < begin + SEGMENT {
            line.clear();
            let mut length = (&mut lines).take(LONGEST + 1).read_until(b'\n', &mut line)? as u64;
            if length == 0 {
                break;
            }
            self.lines += 1;
            let (number, offset) = (self.lines, at);
            if length > LONGEST && !line.ends_with(b"\n") {
                length += skip_line(&mut lines)?;
                self.push(number, offset, 0, read(Err(SceneReadError::TooLong)));
            } else if !line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0xef | 0xbb | 0xbf)) {
                self.push(number, offset, length, read(decoded(&line)));
            }
            at += length;
            if line.capacity() > 1 << 22 {
                line = Vec::new();
            }
        }
        Ok(())
    }

    /// Reads a file that contains one scene or a list of scenes.
    fn read_whole_file(
        &mut self,
        file: &PoolFile,
        read: &impl Fn(Result<&str, SceneReadError>) -> T,
    ) -> Result<(), SceneReadError> {
        let mut bytes = Vec::new();
        file.open()?.take(LONGEST + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > LONGEST {
            return Err(SceneReadError::TooLong);
        }
        let text = match decoded(&bytes) {
            Ok(text) => text,
            fault => {
                self.push(1, 0, bytes.len() as u64, read(fault));
                return Ok(());
            }
        };
        if file.is_toml() || !text.trim_start().starts_with('[') {
            self.push(1, 0, bytes.len() as u64, read(Ok(text)));
            return Ok(());
        }
        match serde_json::from_str::<Vec<&RawValue>>(text) {
            Ok(scenes) => {
                let (mut at, mut line, mut column) = (0, 1, 0);
                for scene in scenes.into_iter().map(RawValue::get) {
                    let offset = scene.as_ptr().addr() - text.as_ptr().addr();
                    let between = &text[at..offset];
                    line += breaks(between);
                    column = match between.rfind('\n') {
                        Some(end) => count(between[end + 1..].chars().count()),
                        None => column + count(between.chars().count()),
                    };
                    at = offset;
                    let mark = (bytes.len() - text.len()) as u64;
                    let (offset, length) = (mark + offset as u64, scene.len() as u64);
                    let position = ScenePosition { file: self.file, line, column, offset, length };
                    self.located.push(LocatedScene { position, value: read(Ok(scene)) });
                }
            }
            Err(error) => {
                let (line, column) = (count(error.line().saturating_sub(1)), count(error.column().saturating_sub(1)));
                let fault = SceneReadError::Json { line, column, message: json_message(&error) };
                self.push(1, 0, bytes.len() as u64, read(Err(fault)));
            }
        }
        Ok(())
    }
}

/// Skips the rest of a line and returns its length in bytes.
fn skip_line(lines: &mut impl io::BufRead) -> io::Result<u64> {
    let mut skipped = 0;
    loop {
        let buffer = lines.fill_buf()?;
        let end = memchr::memchr(b'\n', buffer).map(|end| end + 1);
        let length = end.unwrap_or(buffer.len());
        lines.consume(length);
        skipped += length as u64;
        if end.is_some() || length == 0 {
            return Ok(skipped);
        }
    }
}

/// Decodes UTF-8 and removes a byte order mark.
fn decoded(bytes: &[u8]) -> Result<&str, SceneReadError> {
    let text = std::str::from_utf8(bytes).map_err(|fault| {
        let valid = String::from_utf8_lossy(&bytes[..fault.valid_up_to()]);
        let last = valid.rsplit('\n').next().unwrap_or_default();
        SceneReadError::Encoding { line: breaks(&valid), column: count(last.chars().count()) }
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

fn breaks(text: &str) -> u32 {
    count(memchr::memchr_iter(b'\n', text.as_bytes()).count())
}

fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Returns the message of a JSON error without the position, which is reported separately.
pub(super) fn json_message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rfind(" at line ").map_or(text.clone(), |end| text[..end].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, bytes: &[u8]) -> Vec<(u32, u32, Result<String, String>)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let files = [PoolFile { path, kind: SceneKind::Custom, unwritten: None }];
        let located = scan(&files, |_, text| text.map(str::to_owned).map_err(|fault| fault.to_string()));
        for LocatedScene { position, value } in &located {
            if let Ok(value) = value {
                assert_eq!(text(&files[0], position).unwrap(), *value, "reading a scene again returns the same text");
            }
        }
        located.into_iter().map(|LocatedScene { position, value }| (position.line, position.column, value)).collect()
    }

    #[expect(clippy::unnecessary_wraps, reason = "it is compared with results")]
    fn ok(text: &str) -> Result<String, String> {
        Ok(text.to_owned())
    }

    #[test]
    fn lines_are_found_with_any_line_ending() {
        assert_eq!(read("a.jsonl", b""), []);
        assert_eq!(read("a.jsonl", b"\n \r\n\xef\xbb\xbf\n"), []);
        let text = "\u{feff}一\r\n\r\n\n{二}\u{2028}\n三";
        let found = read("a.jsonl", text.as_bytes());
        assert_eq!(found, [(1, 0, ok("一\r\n")), (4, 0, ok("{二}\u{2028}\n")), (5, 0, ok("三"))]);
        let found = read("a.jsonl", b"one\n\xe5\xad\x97b\xff\nthree\n");
        assert_eq!(found[1], (2, 0, Err("not valid UTF-8".to_owned())));
        assert_eq!(found[2], (3, 0, ok("three\n")), "later lines are read");
    }

    /// Tests lines of many lengths, some longer than a segment, that end at different offsets around segment
    /// boundaries.
    #[test]
    fn no_line_is_lost_between_segments() {
        let segment = usize::try_from(SEGMENT).unwrap();
        for lengths in [
            vec![segment - 1, 0, 3, segment, segment + 1, 5],
            vec![segment, 1, 10_000_000, 1, 1],
            vec![segment - 1, segment - 1, segment - 1],
            vec![segment - 2, 0, 0, 0, 0, 7],
        ] {
            let text: String =
                lengths.iter().map(|length| "字".repeat(length / 3) + &"x".repeat(length % 3) + "\n").collect();
            let found = read("a.jsonl", text.as_bytes());
            let expected: Vec<(u32, usize)> =
                (1..).zip(lengths.iter().map(|length| length + 1)).filter(|(_, length)| *length > 1).collect();
            let found: Vec<(u32, usize)> =
                found.into_iter().map(|(line, _, text)| (line, text.unwrap().len())).collect();
            assert_eq!(found, expected, "{lengths:?}");
        }
    }

    #[test]
    fn scenes_in_lists_have_their_positions() {
        let found = read("a.json", "\u{feff}[{\"名\":1}, {\"b\":\n2},\n  {\"c\":3}]".as_bytes());
        assert_eq!(found, [(1, 1, ok("{\"名\":1}")), (1, 10, ok("{\"b\":\n2}")), (3, 2, ok("{\"c\":3}"))]);
        assert_eq!(read("a.json", b"[]"), []);
        assert_eq!(read("a.json", b"{\n}"), [(1, 0, ok("{\n}"))]);
        assert_eq!(read("a.toml", b"[x]\n"), [(1, 0, ok("[x]\n"))]);
        let [(1, 0, Err(fault))] = &read("a.json", b"[{},\n{]")[..] else { panic!("one fault") };
        assert!(fault.starts_with("invalid JSON: "), "{fault}");
        assert_eq!(read("a.toml", b"a = 1\n\xff")[0].2, Err("not valid UTF-8".to_owned()));
    }

    #[test]
    fn an_unreadable_file_is_reported_and_the_rest_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["a.jsonl", "b.json"] {
            fs::create_dir(path(name)).unwrap();
        }
        fs::write(path("d.jsonl"), "x\n").unwrap();
        let files = ["a.jsonl", "b.json", "c.jsonl", "d.jsonl"].map(|name| PoolFile {
            path: path(name),
            kind: SceneKind::Book,
            unwritten: None,
        });
        let located = scan(&files, |_, text| text.map(str::to_owned).map_err(|fault| fault.to_string()));
        let found: Vec<_> =
            located.into_iter().map(|located| (located.position.file, located.position.line, located.value)).collect();
        assert_eq!(
            found[..2],
            [(0, 0, Err("not a regular file".to_owned())), (1, 0, Err("not a regular file".to_owned()))]
        );
        assert!(found[2].2.is_err() && found[2].1 == 0, "missing: {found:?}");
        assert_eq!(found[3], (3, 1, ok("x\n")));
    }
}
