//! Reads a file as one or more books: detects the format from the bytes, and calls its reader.
//!
//! Memory and time are bounded: a file larger than [`MAX_BYTES`] is rejected before it is read. Opens no files itself.

use std::collections::BTreeSet;
use std::io::{BufRead, Read as _, Seek, SeekFrom};

use super::error::ReadError;
use super::format_detection::{Markup, markup, unsupported_format};
use super::limits::{MAX_ARCHIVE, MAX_BYTES};
use super::path::stem_and_extension;
use super::raw_book::{RawBoilerplate, RawBook};
use super::{decode, epub, html, jsonl, markdown};
use crate::schema::Format;

/// Iterator over the books of a file. An error in one book does not end the iteration.
#[derive(Debug)]
pub struct RawBooks<R> {
    path: String,
    encoding: Option<String>,
    source: R,
    state: State,
}

#[derive(Debug)]
enum State {
    Unread,
    Lines(jsonl::Lines),
    Read,
}

/// Returns an iterator over the books of a file, read lazily: one book, or one per line of a `.jsonl` file.
///
/// `encoding` is a WHATWG label that overrides detection. It is ignored for EPUB and JSON, which define their own
/// encoding.
pub fn raw_books<R: BufRead + Seek>(path: &str, source: R, encoding: Option<&str>) -> RawBooks<R> {
    RawBooks { path: path.to_owned(), encoding: encoding.map(str::to_owned), source, state: State::Unread }
}

impl<R: BufRead + Seek> Iterator for RawBooks<R> {
    type Item = Result<RawBook, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let State::Lines(lines) = &mut self.state {
            return lines.next(&self.path, &mut self.source);
        }
        if matches!(self.state, State::Read) {
            return None;
        }
        self.state = State::Read;
        let start = match read_start(&mut self.source) {
            Ok(start) => start,
            Err(error) => return Some(Err(self.unreadable(&error))),
        };
        let (_, extension) = stem_and_extension(&self.path);
        if let Some(layout) = jsonl::layout(&start.head, &extension) {
            self.state = State::Lines(jsonl::Lines::new(layout));
            return self.next();
        }
        Some(self.read_single_book(&start))
    }
}

/// A file's size in bytes and its first 8 KiB.
struct FileStart {
    size: u64,
    head: Vec<u8>,
}

fn read_start(source: &mut (impl BufRead + Seek)) -> std::io::Result<FileStart> {
    let size = source.seek(SeekFrom::End(0))?;
    source.rewind()?;
    let mut head = Vec::new();
    source.by_ref().take(8192).read_to_end(&mut head)?;
    source.rewind()?;
    Ok(FileStart { size, head })
}

impl<R: BufRead + Seek> RawBooks<R> {
    fn unreadable(&self, error: &std::io::Error) -> ReadError {
        ReadError::Unreadable { path: self.path.clone(), cause: error.to_string() }
    }

    /// Reads a file that holds a single book.
    fn read_single_book(&mut self, start: &FileStart) -> Result<RawBook, ReadError> {
        let archive = start.head.starts_with(b"PK\x03\x04") || start.head.starts_with(b"PK\x05\x06");
        let bound = if archive { MAX_ARCHIVE } else { MAX_BYTES };
        let too_large = |bytes: u64| ReadError::TooLarge {
            path: self.path.clone(),
            megabytes: bytes / 1_000_000,
            bound: bound / 1_000_000,
        };
        if start.size > bound {
            return Err(too_large(start.size));
        }
        if archive {
            let mut hasher = blake3::Hasher::new();
            std::io::copy(&mut self.source, &mut hasher).map_err(|error| self.unreadable(&error))?;
            let hash = hasher.finalize().to_hex().to_string();
            return epub::read(&self.path, &mut self.source, hash);
        }
        if let Some(format) = unsupported_format(&start.head) {
            return Err(ReadError::Format { path: self.path.clone(), format });
        }
        let mut bytes = Vec::with_capacity(usize::try_from(start.size).unwrap_or_default());
        // The file may have grown since its size was read.
        self.source.by_ref().take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| self.unreadable(&error))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(too_large(bytes.len() as u64));
        }
        text(&self.path, bytes, self.encoding.as_deref())
    }
}

/// Reads plain text, Markdown or HTML.
fn text(path: &str, bytes: Vec<u8>, encoding: Option<&str>) -> Result<RawBook, ReadError> {
    let hash = blake3::hash(&bytes).to_hex().to_string();
    let (text, encoding) = decode::decode(path, bytes, encoding)?;
    if text.trim().is_empty() {
        return Err(ReadError::Empty { path: path.to_owned() });
    }
    if let Some(offset) = text.find('\0') {
        return Err(ReadError::Binary { path: path.to_owned(), offset });
    }
    let (_, extension) = stem_and_extension(path);
    let encoding = encoding.name();
    if jsonl::is_json(&extension) {
        return Err(ReadError::Format { path: path.to_owned(), format: "JSON without books, or not in UTF-8" });
    }
    match markup(&text, &extension) {
        Markup::None if markdown::is_markdown(&extension) => {
            let headings = markdown::headings(&text);
            Ok(RawBook { headings, ..RawBook::new(path, Format::Markdown, text, encoding, hash) })
        }
        Markup::None => Ok(RawBook::new(path, Format::Text, text, encoding, hash)),
        Markup::Xml => Err(ReadError::Format { path: path.to_owned(), format: "an XML document other than XHTML" }),
        Markup::Html(syntax) => {
            let page = html::page(&text, syntax, &BTreeSet::new());
            drop(text);
            if page.text.is_empty() {
                return Err(ReadError::Empty { path: path.to_owned() });
            }
            let boilerplate = page.boilerplate.into_iter().map(|(start, end, kind)| {
                let detail = "marked in the page's HTML".to_owned();
                RawBoilerplate { start, end, kind, detail }
            });
            Ok(RawBook {
                title: Some(page.title).filter(|title| !title.is_empty()),
                author: page.author,
                headings: page.headings,
                boilerplate: boilerplate.collect(),
                ..RawBook::new(path, Format::Html, page.text, encoding, hash)
            })
        }
    }
}
