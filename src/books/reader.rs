//! Reads a file as one or more books: detects the format from the bytes, then finds text, title and language.
//!
//! Memory and time are bounded: a file larger than [`MAX_BYTES`] is rejected before it is read. Opens no files itself.

use std::io::{BufRead, Cursor, Read as _, Seek, SeekFrom};

use super::error::ChunkError;
use super::html::markup::Syntax;
use super::{decode, epub, html, jsonl, language, markdown};
use crate::schema::{Book, Format, Mark, Matter, slug};
use crate::stages::chunk::chapters::headings;

/// The maximum size of a book's text, in bytes after unpacking. The longest novels have 20 MB.
pub const MAX_BYTES: u64 = 256_000_000;
/// The maximum size of a packed EPUB, in bytes. Larger than for text, since pictures are not read.
pub(crate) const MAX_ARCHIVE: u64 = 4_000_000_000;

/// Iterator over the books of a file. An error in one book does not end the iteration.
#[derive(Debug)]
pub struct Books<R> {
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
pub fn books<R: BufRead + Seek>(path: &str, source: R, encoding: Option<&str>) -> Books<R> {
    Books { path: path.to_owned(), encoding: encoding.map(str::to_owned), source, state: State::Unread }
}

/// Reads the first book from a file's bytes.
pub fn read(path: &str, bytes: &[u8], encoding: Option<&str>) -> Result<Book, ChunkError> {
    let first = books(path, Cursor::new(bytes), encoding).next();
    first.unwrap_or_else(|| Err(ChunkError::Empty { path: path.to_owned() }))
}

impl<R: BufRead + Seek> Iterator for Books<R> {
    type Item = Result<Book, ChunkError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let State::Lines(lines) = &mut self.state {
            return lines.next(&self.path, &mut self.source);
        }
        if matches!(self.state, State::Read) {
            return None;
        }
        self.state = State::Read;
        let begun = match begin(&mut self.source) {
            Ok(begun) => begun,
            Err(error) => return Some(Err(self.unreadable(&error))),
        };
        let (_, extension) = stem_and_extension(&self.path);
        if let Some(layout) = jsonl::layout(&begun.head, &extension) {
            self.state = State::Lines(jsonl::Lines::new(layout));
            return self.next();
        }
        Some(self.whole(&begun))
    }
}

/// A file's size in bytes and its first 8 KiB.
struct Begun {
    size: u64,
    head: Vec<u8>,
}

fn begin(source: &mut (impl BufRead + Seek)) -> std::io::Result<Begun> {
    let size = source.seek(SeekFrom::End(0))?;
    source.rewind()?;
    let mut head = Vec::new();
    source.by_ref().take(8192).read_to_end(&mut head)?;
    source.rewind()?;
    Ok(Begun { size, head })
}

impl<R: BufRead + Seek> Books<R> {
    fn unreadable(&self, error: &std::io::Error) -> ChunkError {
        ChunkError::Unreadable { path: self.path.clone(), cause: error.to_string() }
    }

    /// Reads a file that holds a single book.
    fn whole(&mut self, begun: &Begun) -> Result<Book, ChunkError> {
        let archive = begun.head.starts_with(b"PK\x03\x04") || begun.head.starts_with(b"PK\x05\x06");
        let bound = if archive { MAX_ARCHIVE } else { MAX_BYTES };
        let too_large = |bytes: u64| ChunkError::TooLarge {
            path: self.path.clone(),
            megabytes: bytes / 1_000_000,
            bound: bound / 1_000_000,
        };
        if begun.size > bound {
            return Err(too_large(begun.size));
        }
        if archive {
            let mut hasher = blake3::Hasher::new();
            std::io::copy(&mut self.source, &mut hasher).map_err(|error| self.unreadable(&error))?;
            let hash = hasher.finalize().to_hex().to_string();
            return Ok(epub::read(&self.path, &mut self.source, hash)?.book(&self.path));
        }
        if let Some(format) = format_of(&begun.head) {
            return Err(ChunkError::Format { path: self.path.clone(), format });
        }
        let mut bytes = Vec::with_capacity(usize::try_from(begun.size).unwrap_or_default());
        // The file may have grown since its size was read.
        self.source.by_ref().take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| self.unreadable(&error))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(too_large(bytes.len() as u64));
        }
        Ok(text(&self.path, bytes, self.encoding.as_deref())?.book(&self.path))
    }
}

/// Magic numbers of unsupported formats: (offset, bytes, name with article).
const FORMATS: &[(usize, &[u8], &str)] = &[
    (0, b"%PDF", "a PDF"),
    (0, b"{\\rtf", "an RTF document"),
    (0, b"\xd0\xcf\x11\xe0", "a Word document in the old binary format"),
    (0, b"\x1f\x8b", "a gzip archive"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (0, b"Rar!", "a RAR archive"),
    (0, b"\xfd7zXZ\0", "an xz archive"),
    (0, b"(\xb5\x2f\xfd", "a zstd archive"),
    (257, b"ustar", "a tar archive"),
    (60, b"BOOKMOBI", "a Kindle book (MOBI)"),
    (60, b"TEXtREAd", "a PalmDOC book"),
    (0, b"AT&TFORM", "a DjVu scan"),
    (0, b"\x89PNG", "a picture"),
    (0, b"\xff\xd8\xff", "a picture"),
    (0, b"GIF8", "a picture"),
    (0, b"SQLite format 3", "a database"),
    (0, b"PAR1", "a Parquet file"),
];

/// Returns the name of the unsupported format that these bytes start with, if any.
fn format_of(head: &[u8]) -> Option<&'static str> {
    let found = FORMATS.iter().find(|(at, magic, _)| head.get(*at..).is_some_and(|head| head.starts_with(magic)));
    found.map(|(.., format)| *format)
}

/// Reads plain text, Markdown or HTML.
fn text(path: &str, bytes: Vec<u8>, encoding: Option<&str>) -> Result<Parts, ChunkError> {
    let hash = blake3::hash(&bytes).to_hex().to_string();
    let (text, encoding) = decode::decode(path, bytes, encoding)?;
    if text.trim().is_empty() {
        return Err(ChunkError::Empty { path: path.to_owned() });
    }
    if let Some(offset) = text.find('\0') {
        return Err(ChunkError::Binary { path: path.to_owned(), offset });
    }
    let (_, extension) = stem_and_extension(path);
    let encoding = encoding.name();
    if jsonl::is_named(&extension) {
        return Err(ChunkError::Format { path: path.to_owned(), format: "JSON without books, or not in UTF-8" });
    }
    match markup(&text, &extension) {
        Markup::None if matches!(extension.as_str(), "md" | "markdown") => {
            let marks = markdown::marks(&text);
            Ok(Parts { marks, ..Parts::new(Format::Markdown, text, encoding, hash) })
        }
        Markup::None => Ok(Parts::new(Format::Text, text, encoding, hash)),
        Markup::Xml => Err(ChunkError::Format { path: path.to_owned(), format: "an XML document other than XHTML" }),
        Markup::Html(syntax) => {
            let page = html::page(&text, syntax, &std::collections::BTreeSet::new());
            drop(text);
            if page.text.is_empty() {
                return Err(ChunkError::Empty { path: path.to_owned() });
            }
            let mut points = Points::new(&page.text);
            let marks = page.headings.into_iter().map(|heading| Mark {
                start: points.at(heading.start),
                depth: heading.depth,
                title: heading.title,
            });
            let marks = marks.collect();
            let mut points = Points::new(&page.text);
            let matter = page.matter.into_iter().map(|(start, end, reason)| {
                let (start, end) = (points.at(start), points.at(end));
                Matter { start, end, reason, detail: "marked in the page's HTML".to_owned() }
            });
            let matter = matter.collect();
            let title = Some(page.title).filter(|title| !title.is_empty());
            let author = page.author;
            Ok(Parts { title, author, marks, matter, ..Parts::new(Format::Html, page.text, encoding, hash) })
        }
    }
}

/// The markup language of a text.
enum Markup {
    None,
    Html(Syntax),
    Xml,
}

/// Detects the markup of a text from its first 2,000 characters. The extension decides only for fragments of a page.
fn markup(text: &str, extension: &str) -> Markup {
    let text = text.trim_start();
    if !text.starts_with('<') {
        return Markup::None;
    }
    let head: String = text.chars().take(2000).collect::<String>().to_ascii_lowercase();
    let xml = head.starts_with("<?xml");
    let named = matches!(extension, "html" | "htm" | "xhtml" | "xht");
    let page = ["<html", "<!doctype html", "<head", "<body"].iter().any(|tag| head.contains(tag));
    match (xml, page || (named && head.contains('>'))) {
        (true, true) => Markup::Html(Syntax::Xhtml),
        (false, true) => Markup::Html(Syntax::Html),
        (true, false) => Markup::Xml,
        (false, false) => Markup::None,
    }
}

/// The result of a format reader, before title, language and slug are filled in.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) format: Format,
    pub(crate) text: String,
    pub(crate) encoding: &'static str,
    pub(crate) hash: String,
    pub(crate) title: Option<String>,
    pub(crate) author: Option<String>,
    pub(crate) marks: Vec<Mark>,
    pub(crate) matter: Vec<Matter>,
}

impl Parts {
    pub(crate) const fn new(format: Format, text: String, encoding: &'static str, hash: String) -> Self {
        Self { format, text, encoding, hash, title: None, author: None, marks: Vec::new(), matter: Vec::new() }
    }

    /// Builds the book, and fills in what can be found from the text.
    pub(crate) fn book(mut self, path: &str) -> Book {
        if !has_story(&self.text, &self.matter) {
            // A format that marks the whole book as boilerplate must be wrong.
            self.matter.retain(|matter| matter.start == matter.end);
        }
        if self.marks.len() > headings::MOST {
            self.marks = Vec::new();
        }
        let (stem, extension) = stem_and_extension(path);
        let marked_up = !matches!(self.format, Format::Text | Format::Jsonl);
        let script = extension == "fountain" || (!marked_up && language::is_script(&self.text));
        Book {
            slug: slug(stem),
            title: self.title.unwrap_or_else(|| language::title(&self.text, stem, headings::is_heading)),
            author: self.author.or_else(|| author(&self.text)),
            format: self.format,
            language: language::language(&self.text),
            other_language: language::other_language(&self.text),
            encoding: self.encoding.to_owned(),
            path: path.to_owned(),
            text: self.text,
            hash: self.hash,
            script,
            marks: self.marks,
            matter: self.matter,
        }
    }
}

/// Whether any visible character lies outside the boilerplate. `matter` is in order.
fn has_story(text: &str, matter: &[Matter]) -> bool {
    let mut matter = matter.iter().peekable();
    (0_u32..).zip(text.chars()).filter(|(_, c)| !c.is_whitespace()).any(|(at, _)| {
        while matter.next_if(|matter| matter.end <= at).is_some() {}
        matter.peek().is_none_or(|matter| at < matter.start)
    })
}

/// Returns the author from a named field such as `Author:` in the first 40 lines.
fn author(text: &str) -> Option<String> {
    text.lines().take(40).filter(|line| line.len() < 200).find_map(|line| {
        let line = line.trim();
        let field = ["Author:", "author:", "作者:", "作者："].into_iter().find(|field| line.starts_with(field))?;
        let value = line[field.len()..].trim().trim_matches(['"', '\'', '*', '_', '“', '”']);
        (!value.is_empty()).then(|| value.to_owned())
    })
}

/// Converts byte offsets of a text to code points. Offsets must be asked for in ascending order.
pub(crate) struct Points<'a> {
    text: &'a str,
    byte: usize,
    point: u32,
}

impl<'a> Points<'a> {
    pub(crate) const fn new(text: &'a str) -> Self {
        Self { text, byte: 0, point: 0 }
    }

    /// Returns the number of code points before a byte offset. An offset below the previous one gives the same result
    /// as that.
    pub(crate) fn at(&mut self, byte: usize) -> u32 {
        if byte > self.byte {
            let count = self.text[self.byte..byte].chars().count();
            self.point += u32::try_from(count).expect("a book has fewer than 2³² characters");
            self.byte = byte;
        }
        self.point
    }
}

/// Splits the last component of a path into stem and lower-case extension.
pub(crate) fn stem_and_extension(path: &str) -> (&str, String) {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => (stem, extension.to_ascii_lowercase()),
        _ => (name, String::new()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::schema::Language;
    use crate::stages::chunk::{Params, chapters, chunk};

    #[test]
    fn a_book_knows_itself() {
        let text = "陆三更\n作者：无名\n\n河边有一座旧水车，三十年没有转过。\n";
        let book = read("some/Lu_San.GENG.txt", text.as_bytes(), None).expect("reads");
        assert_eq!((book.slug.as_str(), book.title.as_str(), book.language), ("lu-san-geng", "陆三更", Language::Zh));
        assert_eq!((book.author.as_deref(), book.format, book.script), (Some("无名"), Format::Text, false));
        let play = read("a.fountain", b"Title: Rain\n\nINT. SHED\n", None).expect("reads");
        assert_eq!((play.title.as_str(), play.script), ("Rain", true));
    }

    #[test]
    fn formats_are_found_from_bytes() {
        let page = "<!DOCTYPE html><html><head><title>Rain</title></head><body><h1>Rain</h1><h2>Chapter 1</h2><p>Mud.</p><h2>Chapter 2</h2><p>Sun.</p></body></html>";
        for (path, bytes, format, title, text) in [
            ("a.txt", page.as_bytes(), Format::Html, "Rain", "Rain\n\nChapter 1\n\nMud.\n\nChapter 2\n\nSun."),
            ("a.html", b"<p>Mud. &amp; Sun.", Format::Html, "a", "Mud. & Sun."),
            ("a.txt", b"<Anna comes in.> No page.", Format::Text, "a", "<Anna comes in.> No page."),
            ("a.md", b"# Rain\n\n## Mud\n", Format::Markdown, "Rain", "# Rain\n\n## Mud\n"),
            ("a.txt", b"{\"title\": \"Rain\", \"content\": \"Mud.\"}\n", Format::Jsonl, "Rain", "Mud."),
        ] {
            let book = read(path, bytes, None).expect(path);
            assert_eq!((book.format, book.title.as_str(), book.text.as_str()), (format, title, text));
        }
        let utf_16: Vec<u8> = page.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let book = read("a.bin", &utf_16, None).expect("reads");
        assert_eq!((book.format, book.encoding.as_str()), (Format::Html, "UTF-16LE"));
        let lines: Vec<Option<u32>> = chapters(&book).iter().map(|chapter| chapter.line).collect();
        assert_eq!(lines, [Some(3), Some(7)]);
    }

    #[test]
    fn what_is_no_text_is_refused_with_advice() {
        for (bytes, part) in [
            (&b""[..], "empty"),
            (b" \r\n \n", "empty"),
            (b"\xef\xbb\xbf", "empty"),
            (b"<html><script>1</script></html>", "empty"),
            (b"%PDF-1.7", "PDF"),
            (b"<?xml version=\"1.0\"?><FictionBook/>", "XML"),
            (b"abc\0\x01\x02def\0\0\0", "NUL"),
            (b"PK\x03\x04rest", "broken EPUB"),
            (b"\x89PNG\r\n\x1a\n", "picture"),
        ] {
            let error = read("some/x.txt", bytes, None).expect_err(part).to_string();
            assert!(error.contains(part) && error.contains("some/x.txt"), "{error}");
        }
    }

    #[test]
    fn what_only_looks_like_json_is_refused() {
        let utf_16: Vec<u8> = "\u{feff}{\"content\": \"河灯\"}".encode_utf16().flat_map(u16::to_le_bytes).collect();
        for (path, bytes) in [("a.jsonl", utf_16.as_slice()), ("a.json", b"\"Chapter 1\"")] {
            let error = read(path, bytes, None).expect_err("no book").to_string();
            assert!(error.contains("it is JSON without books"), "{error}");
        }
    }

    /// A file of a given size that panics when it is read beyond its first bytes.
    struct Huge {
        size: u64,
        at: u64,
        head: &'static [u8],
    }

    impl std::io::Read for Huge {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            assert!(self.at < 16_384, "read before its size was checked");
            let length = buffer.len().min(4096);
            buffer[..length].fill(b'a');
            for (at, byte) in (self.at..).zip(&mut buffer[..length]) {
                *byte = usize::try_from(at).ok().and_then(|at| self.head.get(at)).copied().unwrap_or(b'a');
            }
            self.at += length as u64;
            Ok(length)
        }
    }

    impl Seek for Huge {
        fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
            self.at = match to {
                SeekFrom::Start(at) => at,
                SeekFrom::End(_) => self.size,
                SeekFrom::Current(_) => self.at,
            };
            Ok(self.at)
        }
    }

    #[test]
    fn a_huge_file_is_refused_before_it_is_read() {
        for (size, head) in [(2 << 30, &b""[..]), (MAX_BYTES + 1, b"Chapter 1\n"), (8 << 30, b"PK\x03\x04")] {
            let huge = std::io::BufReader::new(Huge { size, at: 0, head });
            let found: Vec<_> = books("some/huge.txt", huge, None).collect();
            let [Err(error @ ChunkError::TooLarge { .. })] = &found[..] else { panic!("{found:?}") };
            assert!(error.to_string().contains("split it"), "{error}");
        }
    }

    #[test]
    fn one_long_line_is_a_book() {
        let line = "The mill stood still and the river went by. ".repeat(50_000);
        let book = read("a.txt", line.as_bytes(), None).expect("reads");
        let (chunks, rejects) = chunk(&book, &chapters(&book), &Params::default());
        assert!(rejects.is_empty() && chunks.len() > 40, "{}", chunks.len());
        assert_eq!(chunks.iter().map(|chunk| chunk.text.as_str()).collect::<String>(), line);
    }

    #[test]
    fn line_ends_and_wraps_make_no_difference_to_paragraphs() {
        let paragraphs = [
            "It rained on the weir all that night, and nobody in the mill slept; the wheel stood still and the river went by.",
            "“Who is there?” said Anna. “Nobody comes at this hour but the miller, and he has a key of his own to the door.”",
            "Nobody answered. She took the lamp and went down to see, one step and then another, with her hand on the wall.",
        ];
        let wrapped: Vec<String> = paragraphs
            .iter()
            .map(|paragraph| {
                let words: Vec<&str> = paragraph.split(' ').collect();
                words.chunks(9).map(|line| line.join(" ")).collect::<Vec<_>>().join("\n")
            })
            .collect();
        let lines = paragraphs.join("\n\n");
        let forms = [
            lines.clone(),
            lines.replace('\n', "\r\n"),
            paragraphs.join("\n"),
            wrapped.join("\n\n"),
            wrapped.join("\n\n").replace('\n', "\r\n"),
        ];
        for form in forms {
            let book = read("a.txt", form.as_bytes(), None).expect("reads");
            let params = Params { max_tokens: 40, min_share: 0.0, ..Params::default() };
            let (chunks, _) = chunk(&book, &chapters(&book), &params);
            let read: Vec<String> =
                chunks.iter().map(|chunk| chunk.text.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
            assert_eq!(read, paragraphs, "{form:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..600), name in "[a-z]{1,3}(\\.(txt|md|html|epub|jsonl|fountain))?") {
            for book in books(&name, Cursor::new(&bytes), None).flatten() {
                let chapters = chapters(&book);
                let (chunks, _) = chunk(&book, &chapters, &Params::default());
                prop_assert!(chunks.iter().all(|chunk| chunk.start <= chunk.end));
            }
        }

        #[test]
        fn any_text_is_read_with_its_places(text in "(<h[12]>|</h[12]>|<p>|Chapter [0-9]\n|# |CONTENTS\n\n|第[一二三]回 |\n\n|[a-z 。“”]{0,30}|===\n|\\*\\*\\* (START|END) OF THE PROJECT GUTENBERG EBOOK X \\*\\*\\*\n){0,30}", ending in "txt|md|html") {
            let Ok(book) = read(&format!("a.{ending}"), text.as_bytes(), None) else { return Ok(()) };
            let length = u32::try_from(book.text.chars().count()).expect("short");
            let chapters = chapters(&book);
            for pair in chapters.windows(2) {
                prop_assert!(pair[0].start <= pair[1].start && pair[0].end <= pair[1].start);
            }
            prop_assert!(chapters.iter().all(|chapter| chapter.end <= length));
            let (chunks, rejects) = chunk(&book, &chapters, &Params { max_tokens: 64, ..Params::default() });
            let mut at = 0;
            for chunk in &chunks {
                prop_assert!(chunk.start >= at && chunk.end > chunk.start && chunk.end <= length);
                let own: String = book.text.chars().skip(chunk.start as usize).take((chunk.end - chunk.start) as usize).collect();
                prop_assert_eq!(&own, &chunk.text);
                at = chunk.end;
            }
            // Text outside all chunks is blank or listed in a reject.
            let held: usize = chunks.iter().map(|chunk| chunk.text.split_whitespace().map(str::len).sum::<usize>()).sum();
            let all: usize = book.text.split_whitespace().map(str::len).sum();
            prop_assert!(held == all || !rejects.is_empty());
        }
    }
}
