//! A book, its chapters, and the chunks that models read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Language;

/// What a book came as.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Plain text, scripts and Fountain too: the decoded text is the file's.
    #[default]
    Text,
    /// Markdown: the decoded text is the file's, marks and all.
    Markdown,
    /// HTML: the decoded text is the words, one line for each paragraph and a blank line between.
    Html,
    /// EPUB: the same, the documents of its spine one after the other.
    Epub,
    /// One line of a `.jsonl` file: the decoded text is its `content`.
    Jsonl,
}

/// A heading that a book's format marks as one, so that no rule has to find it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Where its text begins, in code points of the decoded text.
    pub start: u32,
    /// How deep in the book's structure it stands, from 1 for the outermost.
    pub depth: u8,
    /// Its words, in one line.
    pub title: String,
}

/// A stretch that a book's format marks as no part of its story, such as an EPUB's copyright page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matter {
    /// Where it begins, in code points of the decoded text.
    pub start: u32,
    /// Where it ends; where it begins, when the book lacks it.
    pub end: u32,
    /// What it is, as a reason among the rejects: `contents`, `licence` and the like.
    pub reason: &'static str,
    /// What marks it, in a few words.
    pub detail: String,
}

/// A book as decoded text.
#[derive(Debug, Clone, Default)]
pub struct Book {
    /// The file's stem as a slug, of a `.jsonl` line its title's; part of every scene id.
    pub slug: String,
    /// The title, from the book's metadata, first line or front matter, else from the file name.
    pub title: String,
    /// Who wrote it, where the book says so in its metadata.
    pub author: Option<String>,
    /// What it came as.
    pub format: Format,
    /// The language of most of its text.
    pub language: Language,
    /// The language that it seems to be in when that is neither English nor Chinese, in English; `language` is then only
    /// the nearer of the two.
    pub other_language: Option<&'static str>,
    /// The encoding that the bytes were read in, as the WHATWG label, such as `UTF-8` or `gb18030`.
    pub encoding: String,
    /// The path as given.
    pub path: String,
    /// The decoded text: BOM removed, line ends as in the file. Offsets everywhere are code points into it.
    pub text: String,
    /// blake3 of the file's bytes, of a `.jsonl` line that line's, hexadecimal; stands in the manifest.
    pub hash: String,
    /// Whether it is a script (a play or screenplay), where names stand before speeches.
    pub script: bool,
    /// The headings that its format marks, in order; empty for plain text.
    pub marks: Vec<Mark>,
    /// What its format marks as no part of the story, in order.
    pub matter: Vec<Matter>,
}

/// What kind of division a heading opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// A volume of several parts.
    Volume,
    /// A part or book of several chapters.
    Part,
    /// A chapter, also 章 or 回.
    Chapter,
    /// An act of a play.
    Act,
    /// A scene of a play.
    Scene,
    /// A letter that stands as a chapter.
    Letter,
    /// Matter before the first chapter.
    Front,
    /// Matter after the last.
    Back,
}

/// A heading and the text up to the next one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Chapter {
    /// The slug of its book.
    pub book: String,
    /// Its place among the book's headings, from 0.
    pub index: u32,
    /// What it opens.
    pub level: Level,
    /// Its number, where it has one.
    pub number: Option<u32>,
    /// The heading as printed, in one line.
    pub title: String,
    /// The line of the heading, from 1; null where the format has no lines.
    pub line: Option<u32>,
    /// Where the heading begins, in code points of the decoded text.
    pub start: u32,
    /// Where the next heading begins, or the text ends.
    pub end: u32,
}

/// A stretch of a book that fits a model's context: whole chapters where they fit.
#[derive(Debug, Clone)]
pub struct Chunk {
    /// The slug of its book.
    pub book: String,
    /// The book's title.
    pub title: String,
    /// Its place in the book, from 0.
    pub index: u32,
    /// The language of its text.
    pub language: Language,
    /// The heading of the chapter that it begins in; empty before the first.
    pub chapter: String,
    /// Where it begins, in code points of the decoded text.
    pub start: u32,
    /// Where it ends.
    pub end: u32,
    /// Its text.
    pub text: String,
    /// Its length in tokens, estimated.
    pub tokens: u32,
    /// Headings within it: (offset in code points of the decoded text, title).
    pub headings: Vec<(u32, String)>,
    /// Whether a scene runs on across its end into the next chunk.
    pub continues: bool,
}

impl Chunk {
    /// Returns `<book slug>/<index>`, its id in draws and rejects.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}/{}", self.book, self.index)
    }
}
