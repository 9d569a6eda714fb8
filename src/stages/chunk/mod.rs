//! The `chunk` stage: turns a book's bytes into text, chapters, and chunks that fit a model's context.
//!
//! Everything except [`adjust_boundaries`] is a pure function of the bytes and the [`Params`]: it opens no file,
//! asks no model, and runs in time linear in the length of the book.

mod boundary;
mod breaks;
mod chapter_filter;
mod chapters;
mod chunks;
mod prepare;
mod units;

pub use boundary::{Cut, FindBoundary, FoundBoundary, adjust_boundaries};
pub(crate) use boundary::{Paragraph, window};
pub(crate) use breaks::{ends_in_quotation, is_scene_break};
pub use chapter_filter::{ChapterFilter, ChapterFilterError, chapter_numbers};
pub use chapters::chapters;
pub use chunks::chunk;
pub use prepare::{Books, books, read};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::llm::{Tokenizer, estimate_tokens};

/// The prompt templates of this stage: (name, source).
pub const PROMPTS: &[(&str, &str)] = &[
    ("chunk/border.en", include_str!("prompts/border.en.jinja")),
    ("chunk/border.zh", include_str!("prompts/border.zh.jinja")),
];

/// The `[chunk]` table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// The maximum number of tokens in a chunk. Default 8,192, from CoSER, which FURINA's scene pool follows (Appendix
    /// B.2).
    #[schemars(range(min = 256))]
    pub max_tokens: u32,
    /// Chapters are merged until a chunk holds at least this share of `max_tokens`, 0 to 1. Default 0.5, from CoSER.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub min_fill: f64,
    /// The tokenizer that counts tokens: `o200k_base` or `cl100k_base`. If unset, tokens are estimated from the script
    /// of each character, which is faster and about as close for any model whose tokenizer is unknown.
    pub tokenizer: Option<Tokenizer>,
    /// The encoding of the books, as a WHATWG label such as `gb18030`. If unset, it is detected from the bytes.
    pub encoding: Option<String>,
    /// Whether the extractor model is asked, at each boundary between two chunks, what the boundary cuts and where it
    /// should be (FURINA 3.2: plots cut off at a boundary are carried over). Costs one call per boundary.
    pub plot_aware: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self { max_tokens: 8192, min_fill: 0.5, tokenizer: None, encoding: None, plot_aware: true }
    }
}

impl Params {
    /// Returns the number of tokens in a text, counted or estimated.
    fn count_tokens(&self, text: &str) -> u32 {
        self.tokenizer.map_or_else(|| estimate_tokens(text), |tokenizer| tokenizer.count(text))
    }
}
