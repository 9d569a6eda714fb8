//! The stage `chunk`: a book's bytes become text, chapters, and chunks that fit a model's context.
//!
//! All but [`borders`] is a function of the bytes and the [`Params`]; it opens no file and asks no model, and its work is
//! linear in the length of the book.

mod archive;
mod asides;
mod books;
mod border;
mod candidates;
mod chapters;
mod choice;
mod chunks;
mod decode;
mod epub;
mod error;
mod forms;
mod headings;
mod headless;
mod html;
mod jsonl;
mod language;
#[cfg(test)]
mod layouts;
mod markdown;
mod markup;
mod matter;
mod numerals;
mod package;
mod references;
mod sequence;
mod skipped;
mod structure;
mod tags;
mod titles;

pub use books::{Books, MAX_BYTES, books, read};
pub use border::{Cut, FindBorder, FoundBorder, borders};
pub use chapters::chapters;
pub use choice::{Choice, ChoiceError, places};
pub use chunks::chunk;
pub use error::ChunkError;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::llm::{Tokenizer, estimate_tokens};

/// The stage's prompt templates: (name, source).
pub const PROMPTS: &[(&str, &str)] = &[
    ("chunk/border.en", include_str!("prompts/border.en.jinja")),
    ("chunk/border.zh", include_str!("prompts/border.zh.jinja")),
];

/// The table `[chunk]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// The most tokens of a chunk. CoSER's figure, which FURINA's pool follows (Appendix B.2): 8,192.
    #[schemars(range(min = 256))]
    pub max_tokens: u32,
    /// Chapters are merged until a chunk holds this share of `max_tokens`. CoSER's figure: one half.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub min_share: f64,
    /// The tokenizer that counts them, `o200k_base` or `cl100k_base`; estimated by script when silent, which is faster and as
    /// near to any model whose tokenizer is not known.
    pub tokenizer: Option<Tokenizer>,
    /// The books' encoding, as a WHATWG label such as `gb18030`; found from the bytes when silent.
    pub encoding: Option<String>,
    /// Whether the extractor is asked, at each border between two chunks, what the border cuts and where it should stand
    /// (FURINA 3.2: plots cut off at a border are carried over). One call for each border.
    pub plot_aware: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self { max_tokens: 8192, min_share: 0.5, tokenizer: None, encoding: None, plot_aware: true }
    }
}

impl Params {
    /// Returns the tokens of a text, counted or estimated.
    fn weigh(&self, text: &str) -> u32 {
        self.tokenizer.map_or_else(|| estimate_tokens(text), |tokenizer| tokenizer.count(text))
    }
}
