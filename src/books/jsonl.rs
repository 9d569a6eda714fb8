//! Reads books from JSON: each object with `title`, `author` and `content` is a book, whether objects are one per line,
//! in an array, or pretty-printed. Only one object is in memory at a time.

use std::io::{BufRead, Read as _};

use serde::Deserialize;
use serde_json::Value;

use super::error::ReadError;
use super::limits::MAX_BYTES;
use super::raw_book::RawBook;
use crate::schema::Format;
use crate::text::single_spaced;

/// The keys read from an object; other keys are ignored.
#[derive(Debug, Deserialize)]
struct Line {
    #[serde(default)]
    title: Option<String>,
    /// A name, or a list of names.
    #[serde(default)]
    author: Option<Value>,
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    text: Option<String>,
}

/// How the objects of a file are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// One object per line.
    Lines,
    /// Objects span lines, perhaps inside an array.
    Objects,
}

/// How many consecutive errors are reported one by one.
const MAX_REPORTED: usize = 20;

/// Whether the extension is one of JSON.
pub(super) fn is_json(extension: &str) -> bool {
    matches!(extension, "json" | "jsonl" | "ndjson")
}

/// Returns the layout of a JSON file with books, from its extension, or from a first object with a book's keys. `None`
/// if it is not JSON.
pub(super) fn layout(head: &[u8], extension: &str) -> Option<Layout> {
    let head = String::from_utf8_lossy(head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head));
    let head = head.trim_start();
    let inner = head.strip_prefix('[').map_or(head, str::trim_start);
    let keyed = || ["\"content\":", "\"content\" :"].iter().any(|key| head.contains(key));
    if !((inner.starts_with('{') || (head.starts_with('[') && extension == "json")) && (is_json(extension) || keyed()))
    {
        // A bad first line must not hide the lines after it.
        let lines = matches!(extension, "jsonl" | "ndjson") && !head.is_empty() && !head.contains('\0');
        return lines.then_some(Layout::Lines);
    }
    let is_complete =
        |line: &str| !serde_json::from_str::<serde::de::IgnoredAny>(line).is_err_and(|error| error.is_eof());
    match head.split_once('\n') {
        _ if head.starts_with('[') => Some(Layout::Objects),
        Some((line, _)) if !is_complete(line) => Some(Layout::Objects),
        _ => Some(Layout::Lines),
    }
}

/// The state of reading objects from a file.
#[derive(Debug)]
pub(super) struct Lines {
    layout: Layout,
    /// The number of lines started.
    line: usize,
    /// The number of objects started, if they do not have lines of their own.
    entry: usize,
    ended: bool,
    /// A book held back until the error about the objects before it is returned.
    kept: Option<Box<RawBook>>,
    /// Whether anything was returned, a book or an error.
    any: bool,
    /// The number of consecutive invalid objects.
    bad: usize,
    unreported: Option<UnreportedRun>,
}

/// The position of an object: its line, and its index in the file if objects do not have lines of their own.
type ObjectPosition = (usize, Option<usize>);

/// A run of invalid objects, after the first ones were reported one by one.
#[derive(Debug)]
struct UnreportedRun {
    count: usize,
    first: ObjectPosition,
    last: ObjectPosition,
    /// What is wrong with the first one.
    cause: String,
}

impl Lines {
    pub(super) const fn new(layout: Layout) -> Self {
        Self { layout, line: 0, entry: 0, ended: false, kept: None, any: false, bad: 0, unreported: None }
    }

    /// Returns the next book, or an error for an invalid object; the next call continues after it. In a run of invalid
    /// objects, those after the first [`MAX_REPORTED`] are reported in one error.
    pub(super) fn next(&mut self, path: &str, source: &mut impl BufRead) -> Option<Result<RawBook, ReadError>> {
        if let Some(book) = self.kept.take() {
            return Some(Ok(*book));
        }
        while !self.ended {
            let read = match self.layout {
                Layout::Lines => self.read_line(source),
                Layout::Objects => self.read_object(source),
            };
            let result = match read {
                Ok(None) => break,
                Ok(Some((bytes, line))) => self.book(path, bytes).map_err(|cause| (line, cause)),
                Err(Failure::Object(line, cause)) => Err((line, cause)),
                Err(Failure::File(cause)) => {
                    // Nothing after this can be read either.
                    self.ended = true;
                    return Some(Err(ReadError::Unreadable { path: path.to_owned(), cause }));
                }
            };
            self.any = true;
            match result {
                Ok(book) => {
                    self.bad = 0;
                    let Some(error) = self.unreported(path) else { return Some(Ok(book)) };
                    self.kept = Some(Box::new(book));
                    return Some(Err(error));
                }
                Err((line, cause)) => {
                    self.bad += 1;
                    let entry = (self.layout == Layout::Objects).then_some(self.entry);
                    if self.bad <= MAX_REPORTED {
                        return Some(Err(ReadError::Line { path: path.to_owned(), line, entry, cause }));
                    }
                    let at = (line, entry);
                    let unreported =
                        self.unreported.get_or_insert(UnreportedRun { count: 0, first: at, last: at, cause });
                    unreported.count += 1;
                    unreported.last = at;
                }
            }
        }
        self.ended = true;
        if !std::mem::replace(&mut self.any, true) {
            return Some(Err(ReadError::Empty { path: path.to_owned() }));
        }
        self.unreported(path).map(Err)
    }

    fn unreported(&mut self, path: &str) -> Option<ReadError> {
        let UnreportedRun { count, first, last, cause } = self.unreported.take()?;
        let entries = first.1.zip(last.1);
        Some(ReadError::Lines { path: path.to_owned(), count, first: first.0, last: last.0, entries, cause })
    }

    /// Reads the next line that is not blank.
    fn read_line(&mut self, source: &mut impl BufRead) -> Read {
        loop {
            self.line += 1;
            let mut bytes = Vec::new();
            if (&mut *source).take(MAX_BYTES + 1).read_until(b'\n', &mut bytes)? == 0 {
                return Ok(None);
            }
            if bytes.len() as u64 > MAX_BYTES {
                source.skip_until(b'\n')?;
                return Err(Failure::Object(self.line, too_long()));
            }
            if self.line == 1 && bytes.starts_with(BYTE_ORDER_MARK) {
                bytes.drain(..BYTE_ORDER_MARK.len());
            }
            if !bytes.iter().all(u8::is_ascii_whitespace) {
                return Ok(Some((bytes, self.line)));
            }
        }
    }

    /// Reads an object from its opening to its closing brace, and skips brackets and commas before it. Any other value
    /// between objects is an error, which ends before the next object.
    fn read_object(&mut self, source: &mut impl BufRead) -> Read {
        self.line = self.line.max(1);
        let (mut bytes, mut depth, mut size) = (Vec::new(), 0_usize, 0_u64);
        let (mut in_string, mut escaped, mut begun) = (false, false, self.line);
        // Whether a value other than an object, such as a number, is being read.
        let mut in_stray_value = false;
        loop {
            let buffer = source.fill_buf()?;
            if buffer.is_empty() {
                return match depth {
                    0 if in_stray_value => Err(Failure::Object(begun, NO_OBJECT.to_owned())),
                    0 => Ok(None),
                    _ => Err(Failure::Object(begun, "the file ends inside the object".to_owned())),
                };
            }
            let (mut from, mut used, mut done) = (0, buffer.len(), false);
            for (at, byte) in buffer.iter().enumerate() {
                self.line += usize::from(*byte == b'\n');
                match byte {
                    _ if escaped => escaped = false,
                    b'\\' if in_string => escaped = true,
                    // It ends with its line at the latest, so that an unclosed quotation mark affects no more than
                    // that.
                    b'\n' if in_stray_value => {
                        (used, done) = (at + 1, true);
                        break;
                    }
                    b'"' if depth > 0 || in_stray_value => in_string = !in_string,
                    _ if in_string => {}
                    b',' | b'{' | b'[' | b']' if in_stray_value => {
                        (used, done) = (at, true);
                        break;
                    }
                    b'{' => {
                        if depth == 0 {
                            (from, begun) = (at, self.line);
                            self.entry += 1;
                        }
                        depth += 1;
                    }
                    b'}' if depth > 0 => {
                        depth -= 1;
                        if depth == 0 {
                            (used, done) = (at + 1, true);
                            break;
                        }
                    }
                    _ if depth > 0 || byte.is_ascii_whitespace() || b"[],\xef\xbb\xbf".contains(byte) => {}
                    _ if in_stray_value => {}
                    _ => {
                        (in_stray_value, in_string, begun) = (true, *byte == b'"', self.line);
                        self.entry += 1;
                    }
                }
            }
            if !in_stray_value && (depth > 0 || done) {
                size += (used - from) as u64;
                if size <= MAX_BYTES {
                    bytes.extend_from_slice(&buffer[from..used]);
                } else {
                    bytes = Vec::new();
                }
            }
            source.consume(used);
            if done && in_stray_value {
                return Err(Failure::Object(begun, NO_OBJECT.to_owned()));
            }
            if done && size > MAX_BYTES {
                return Err(Failure::Object(begun, too_long()));
            }
            if done {
                return Ok(Some((bytes, begun)));
            }
        }
    }

    /// Parses an object's bytes as a book. Returns what is wrong with it otherwise.
    fn book(&self, path: &str, bytes: Vec<u8>) -> Result<RawBook, String> {
        let hash = blake3::hash(bytes.trim_ascii()).to_hex().to_string();
        let line: Line = match serde_json::from_slice(&bytes) {
            Ok(line) => line,
            Err(_) if std::str::from_utf8(&bytes).is_err() => return Err("it is not UTF-8".to_owned()),
            Err(error) => {
                let error = error.to_string();
                // The position is relative to the object, and would be mistaken for one in the file.
                let cause = error.split(" at line ").next().unwrap_or(&error);
                return Err(format!("invalid book object: {cause}"));
            }
        };
        drop(bytes);
        let Some(content) = line.content.or(line.text) else { return Err("it has no `content`".to_owned()) };
        if content.trim().is_empty() {
            return Err("its `content` is empty".to_owned());
        }
        if content.contains('\0') {
            return Err("its `content` contains NUL".to_owned());
        }
        let title = Some(name(&line.title.unwrap_or_default())).filter(|title| !title.is_empty());
        let author = match line.author {
            Some(Value::String(author)) => name(&author),
            Some(Value::Array(authors)) => {
                authors.iter().filter_map(Value::as_str).map(name).collect::<Vec<_>>().join(", ")
            }
            _ => String::new(),
        };
        let author = Some(author).filter(|author| !author.is_empty());
        let raw = RawBook::new(path, Format::Jsonl, content, "UTF-8", hash);
        Ok(RawBook { name: format!("{}-{}", raw.name, self.line), title, author, ..raw })
    }
}

/// Puts a name on one line. Other control characters are left to the code that displays it.
fn name(text: &str) -> String {
    single_spaced(&text.replace('\0', " "))
}

/// The UTF-8 byte order mark.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// An object's bytes and the line on which it starts.
type Read = Result<Option<(Vec<u8>, usize)>, Failure>;

/// The reason why no object was returned.
#[derive(Debug)]
enum Failure {
    /// The object on this line is invalid; others may follow.
    Object(usize, String),
    File(String),
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::File(error.to_string())
    }
}

/// The error for a value that is not an object.
const NO_OBJECT: &str = "expected an object";

fn too_long() -> String {
    format!("it exceeds the limit of {} MB for a book", MAX_BYTES / 1_000_000)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use crate::books::{RawBook, ReadError, raw_books};

    /// Reads books as `title: text`, and errors as their messages.
    fn results(path: &str, text: &str) -> Vec<String> {
        let result = |book: Result<RawBook, ReadError>| match book {
            Ok(book) => format!("{}: {}", book.title.unwrap_or_else(|| book.text.clone()), book.text),
            Err(error) => error.to_string(),
        };
        // A reader with a buffer of a few bytes.
        raw_books(path, std::io::BufReader::with_capacity(7, Cursor::new(text)), None).map(result).collect()
    }

    #[test]
    fn an_indented_file_is_read() {
        let one = "{\n  \"title\": \"Low \\\"Tide}\",\n  \"author\": [\"A.\", \"B.\"],\n  \"content\": \"Mud \\u2014 and {\"\n}\n";
        let two = "{\"title\": \"河灯\",\n\"chapters\": [{}, {\"n\": [1]}], \"content\": \"河上无风。\"}";
        for (path, text) in [
            ("a.json", format!("\u{feff}[\n{one},\n{two}]\n")),
            ("a.jsonl", format!("{one}{two}")),
            ("a.txt", format!("[{two},{one}]")),
            ("a.json", format!("[{two}\r\n, {one}")),
        ] {
            let mut found = results(path, &text);
            found.sort();
            assert_eq!(found, ["Low \"Tide}: Mud — and {", "河灯: 河上无风。"], "{text}");
        }
        let book = raw_books("a.json", Cursor::new(one), None).next().expect("one").expect("a book");
        assert_eq!(book.author.as_deref(), Some("A., B."));
        for (text, errors) in [
            ("{\n \"name\": \"x\"\n}", &["line 1 of `a.json` as a book: it has no `content`"][..]),
            ("[\n{\"content\": \"a\"}, 3, {\"content\": \"b\"}]", &["a: a", "read entry 2 on line 2 of", "b: b"]),
            // Various stray values: strings with braces, literals, an unclosed string, and the end of the file.
            (
                "[\"{河\\\"}\", {\"content\": \"a\"}, null, true\n, [1.5], {\"content\": \"灯\"}} , \"x\n {\"content\": \"c\"}, \"y",
                &[
                    "read entry 1 on line 1 of",
                    "a: a",
                    "read entry 3 on line 1 of",
                    "read entry 4 on line 1 of",
                    "read entry 5 on line 2 of",
                    "灯: 灯",
                    "read entry 7 on line 2 of",
                    "read entry 8 on line 2 of",
                    "c: c",
                    "read entry 10 on line 3 of `a.json` as a book: expected an object",
                ],
            ),
            (
                "[{}, {\n\"content\": ",
                &[
                    "read entry 1 on line 1 of",
                    "read entry 2 on line 1 of `a.json` as a book: the file ends inside the object",
                ],
            ),
            (
                "[{\"content\": \"河\"}, {\"title\": \"灯\"}, {\"content\": \"b\"}, {\"content\": \" \"}]",
                &["河: 河", "read entry 2 on line 1 of `a.json`", "b: b", "read entry 4 on line 1 of `a.json`"],
            ),
            ("[{\"content\": \"a\\u0000\"}]", &["NUL"]),
            ("[\n]", &["is empty"]),
            ("\n", &["is empty"]),
        ] {
            let found = results("a.json", text);
            assert_eq!(found.len(), errors.len(), "{found:?}");
            assert!(found.iter().zip(errors).all(|(found, part)| found.contains(part)), "{found:?}");
        }
    }

    #[test]
    fn many_invalid_lines_are_summarized_in_one_error() {
        let bad = "{\"title\": \"河灯\"}\n".repeat(100_000);
        let found = results("a.jsonl", &bad);
        assert_eq!(found.len(), 21);
        assert!(found[19].contains("line 20 of") && found[20].contains("lines 21 to 100000 of `a.jsonl`"), "{found:?}");
        assert!(found[20].contains("99980") && found[20].contains("no `content`"), "{found:?}");
        let found = results("a.json", &format!("[{}]", "{},".repeat(100)));
        assert!(
            found[20].starts_with("failed to read entries 21 to 100 on line 1 of `a.json` as books: 80 more"),
            "{found:?}"
        );
        // Reported errors do not hold back the books after them.
        let found = results("a.jsonl", &format!("{}{{\"content\": \"x\"}}\nno\n", "no\n".repeat(30)));
        assert_eq!(found.len(), 20 + 3);
        assert!(found[20].contains("lines 21 to 30"), "{found:?}");
        assert_eq!(found[21], "x: x");
        assert!(found[22].contains("line 32"), "{found:?}");
    }

    #[test]
    fn an_unclosed_array_takes_linear_time() {
        let many = format!("[{}", "{\"title\": \"a\", \"content\": \"x\"},\n".repeat(20_000));
        assert_eq!(raw_books("a.json", Cursor::new(many), None).flatten().count(), 20_000);
        let deep = "[{\"a\":".repeat(200_000);
        assert_eq!(results("a.json", &deep).len(), 1);
    }
}
