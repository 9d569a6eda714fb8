//! What a format reader returns: decoded text with the headings, pages and boilerplate that its format marks.

use crate::schema::{BoilerplateKind, Format};

/// The maximum number of headings. No book has more; a text with more is something else and is cut by length alone.
/// Readers stop soon after it.
pub const MAX_HEADINGS: usize = 1 << 17;

/// A book as its format reader returns it, before its story and chapters are found. All offsets are in bytes of `text`.
#[derive(Debug)]
pub struct RawBook {
    /// Path as given by the user.
    pub path: String,
    /// The title if nothing else gives one: the file's stem, followed by the line for JSON.
    pub name: String,
    /// File format.
    pub format: Format,
    /// Whether the format is for scripts only, as Fountain is.
    pub script: bool,
    /// Decoded text.
    pub text: String,
    /// Encoding of the bytes as a WHATWG label.
    pub encoding: &'static str,
    /// blake3 hash of the file's bytes, or of the JSON object, in hexadecimal.
    pub hash: String,
    /// Title, if given in the metadata.
    pub title: Option<String>,
    /// Author, if given in the metadata.
    pub author: Option<String>,
    /// Headings marked by the format, in order. For an EPUB they are in `pages`.
    pub headings: Vec<RawHeading>,
    /// Passages marked as boilerplate by the format, in order.
    pub boilerplate: Vec<RawBoilerplate>,
    /// The pages of an EPUB in the order of its spine; empty for other formats.
    pub pages: Vec<Page>,
    /// The table of contents of an EPUB, sorted by position; empty for other formats.
    pub contents: Vec<ContentsEntry>,
}

impl RawBook {
    /// Creates a book without marks and metadata.
    pub(super) fn new(path: &str, format: Format, text: String, encoding: &'static str, hash: String) -> Self {
        let (stem, extension) = super::path::stem_and_extension(path);
        Self {
            path: path.to_owned(),
            name: stem.to_owned(),
            format,
            script: super::fountain::is_fountain(&extension),
            text,
            encoding,
            hash,
            title: None,
            author: None,
            headings: Vec::new(),
            boilerplate: Vec::new(),
            pages: Vec::new(),
            contents: Vec::new(),
        }
    }
}

/// A heading marked by a format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawHeading {
    /// Start of its text, in bytes.
    pub start: usize,
    /// Depth, from 1 for the outermost.
    pub depth: u8,
    /// Heading text, in one line.
    pub title: String,
}

/// A passage marked as boilerplate by a format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawBoilerplate {
    /// Start, in bytes.
    pub start: usize,
    /// End, in bytes (exclusive); equal to `start` if the passage is missing from the text.
    pub end: usize,
    /// Kind of boilerplate.
    pub kind: BoilerplateKind,
    /// What marks it as boilerplate, in a few words.
    pub detail: String,
}

/// A page of an EPUB.
#[derive(Debug)]
pub struct Page {
    /// Path in the archive.
    pub path: String,
    /// Start of its text, in bytes.
    pub start: usize,
    /// End of its text, in bytes (exclusive).
    pub end: usize,
    /// Title from the head of the page; often empty.
    pub title: String,
    /// What the package or the page's body marks the whole page as.
    pub kind: Option<BoilerplateKind>,
    /// For a page outside the linear reading order: its kind if it is not part of the story.
    pub nonlinear: Option<BoilerplateKind>,
    /// Headings marked in the page.
    pub headings: Vec<RawHeading>,
    /// Parts of the page that are marked as boilerplate.
    pub boilerplate: Vec<RawBoilerplate>,
}

/// An entry of an EPUB's table of contents.
#[derive(Debug, PartialEq, Eq)]
pub struct ContentsEntry {
    /// Position that it links to, in bytes.
    pub start: usize,
    /// Depth, from 1 for the outermost.
    pub depth: u8,
    /// Title, in one line.
    pub title: String,
    /// Path of the page that it links to.
    pub page: String,
}
