//! Books, chapters and chunks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::language::Language;
use super::reject::RejectReason;

/// File format of a book.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Plain text, including scripts and Fountain: the decoded text is the file's text.
    #[default]
    Text,
    /// Markdown: the decoded text is the file's text, including markup.
    Markdown,
    /// HTML: the decoded text has one line per paragraph, with blank lines between.
    Html,
    /// EPUB: like HTML, with the documents of the spine in order.
    Epub,
    /// One line of a `.jsonl` file: the decoded text is its `content`.
    Jsonl,
}

/// A heading marked as such by the book's format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkedHeading {
    /// Start of its text in code points of the decoded text.
    pub start: u32,
    /// Depth in the structure of the book, from 1 for the outermost.
    pub depth: u8,
    /// Heading text, in one line.
    pub title: String,
}

/// Kind of text that belongs to a book but not to its story. Its name is the reject reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BoilerplateKind {
    /// Title pages, prefaces and other text before the story.
    FrontMatter,
    /// Notes, advertisements and other text after the story.
    BackMatter,
    /// Copyright pages, and a distributor's licence and header.
    Licence,
    /// A table of contents.
    Contents,
    /// A list of illustrations.
    Illustrations,
    /// A note of the transcriber.
    TranscriberNote,
    /// A part of the story that the pipeline file does not select.
    NotChosen,
    /// A page whose text is in ignored elements only.
    EmptyPage,
    /// A page that is listed but cannot be read.
    MissingPage,
}

impl BoilerplateKind {
    /// Returns the reject reason.
    #[must_use]
    pub const fn reason(self) -> RejectReason {
        match self {
            Self::FrontMatter => RejectReason::FrontMatter,
            Self::BackMatter => RejectReason::BackMatter,
            Self::Licence => RejectReason::Licence,
            Self::Contents => RejectReason::Contents,
            Self::Illustrations => RejectReason::Illustrations,
            Self::TranscriberNote => RejectReason::TranscriberNote,
            Self::NotChosen => RejectReason::NotChosen,
            Self::EmptyPage => RejectReason::EmptyPage,
            Self::MissingPage => RejectReason::MissingPage,
        }
    }
}

/// A passage that the book's format marks as boilerplate, such as the copyright page of an EPUB.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Boilerplate {
    /// Start in code points of the decoded text.
    pub start: u32,
    /// End in code points of the decoded text (exclusive); equal to `start` if the passage is missing from the text.
    pub end: u32,
    /// Kind of boilerplate, which is also the reject reason.
    pub kind: BoilerplateKind,
    /// What marks it as boilerplate, in a few words.
    pub detail: String,
}

/// A book as decoded text.
#[derive(Debug, Clone, Default)]
pub struct Book {
    /// Slug of the file stem, or of the title for a `.jsonl` line; part of every scene id.
    pub slug: String,
    /// Title from the metadata, first line or front matter, otherwise from the file name.
    pub title: String,
    /// Author, if given in the metadata.
    pub author: Option<String>,
    /// File format.
    pub format: Format,
    /// Main language of the text.
    pub language: Language,
    /// English name of the apparent language if it is neither English nor Chinese; `language` is then the closer of the
    /// two.
    pub other_language: Option<&'static str>,
    /// Encoding of the bytes as a WHATWG label, such as `UTF-8` or `gb18030`.
    pub encoding: String,
    /// Path as given by the user.
    pub path: String,
    /// Decoded text without BOM, with the line endings of the file. All offsets are code points in this text.
    pub text: String,
    /// blake3 hash of the file's bytes, or of the line for `.jsonl`, in hexadecimal; written to the manifest.
    pub hash: String,
    /// Whether it is a play or screenplay, in which names precede the speeches.
    pub script: bool,
    /// Headings marked by the format, in order; empty for plain text.
    pub marked_headings: Vec<MarkedHeading>,
    /// Boilerplate marked by the format, in order.
    pub boilerplate: Vec<Boilerplate>,
}

/// Kind of division that a heading opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Volume of several parts.
    Volume,
    /// Part or book of several chapters.
    Part,
    /// Chapter, including 章 and 回.
    Chapter,
    /// Act of a play.
    Act,
    /// Scene of a play.
    Scene,
    /// Letter that serves as a chapter.
    Letter,
    /// Front matter before the first chapter.
    Front,
    /// Back matter after the last chapter.
    Back,
}

/// A heading and the text up to the next one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Chapter {
    /// Slug of its book.
    pub book: String,
    /// Position among the headings of the book, from 0.
    pub index: u32,
    /// Kind of division.
    pub level: Level,
    /// Printed number, if any.
    pub number: Option<u32>,
    /// Heading as printed, in one line.
    pub title: String,
    /// Line number of the heading, from 1; null if the format has no lines.
    pub line: Option<u32>,
    /// Start of the heading in code points of the decoded text.
    pub start: u32,
    /// Start of the next heading, or the end of the text.
    pub end: u32,
}

/// A passage of a book that fits a model's context; whole chapters where possible.
#[derive(Debug, Clone)]
pub struct Chunk {
    /// Slug of its book.
    pub book: String,
    /// Title of the book.
    pub title: String,
    /// Position in the book, from 0.
    pub index: u32,
    /// Language of its text.
    pub language: Language,
    /// Heading of the chapter in which it starts; empty before the first heading.
    pub chapter: String,
    /// Start in code points of the decoded text.
    pub start: u32,
    /// End in code points of the decoded text (exclusive).
    pub end: u32,
    /// Text of the chunk.
    pub text: String,
    /// Length in tokens, estimated unless a tokenizer is configured.
    pub tokens: u32,
    /// Headings in the chunk, as (offset in code points of the decoded text, title).
    pub headings: Vec<(u32, String)>,
    /// Whether a scene continues from its end into the next chunk.
    pub continues: bool,
}

impl Chunk {
    /// Returns `<book slug>/<index>`, its id in draws and rejects.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}/{}", self.book, self.index)
    }
}
