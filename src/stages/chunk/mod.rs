//! The stage `chunk`: a book's bytes become text, chapters, and chunks that fit a model's context.
//!
//! All but [`borders`] is a function of the bytes and the [`Params`]; it opens no file and asks no model, and its work is
//! linear in the length of the book.

mod books;
mod border;
mod candidates;
mod chapters;
mod chunks;
mod decode;
mod epub;
mod error;
mod headings;
mod html;
mod jsonl;
mod language;
#[cfg(test)]
mod layouts;
mod markdown;
mod matter;
mod numerals;
mod package;
mod sequence;
mod structure;
mod titles;

pub use books::{Books, MAX_BYTES, books, read};
pub use border::{Cut, FindBorder, FoundBorder, borders};
pub use chapters::chapters;
pub use chunks::chunk;
pub use error::ChunkError;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The stage's prompt templates: (name, source).
pub const PROMPTS: &[(&str, &str)] = &[
    ("chunk/border.en", include_str!("prompts/border.en.jinja")),
    ("chunk/border.zh", include_str!("prompts/border.zh.jinja")),
];

/// The table `[chunk]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// The most estimated tokens of a chunk. CoSER's figure, which FURINA's pool follows (Appendix B.2): 8,192.
    #[schemars(range(min = 256))]
    pub max_tokens: u32,
    /// Chapters are merged until a chunk holds this share of `max_tokens`. CoSER's figure: one half.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub min_share: f64,
    /// The books' encoding, as a WHATWG label such as `gb18030`; found from the bytes when silent.
    pub encoding: Option<String>,
    /// Whether the extractor is asked, at each border between two chunks, what the border cuts and where it should stand
    /// (FURINA 3.2: plots cut off at a border are carried over). One call for each border.
    pub plot_aware: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self { max_tokens: 8192, min_share: 0.5, encoding: None, plot_aware: true }
    }
}
