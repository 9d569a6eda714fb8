//! Reading books: bytes become text with the marks of their format (headings, page ends, titles). Knows nothing of chapters
//! beyond those marks.

mod decode;
mod epub;
mod error;
pub(crate) mod html;
mod jsonl;
pub(crate) mod language;
mod markdown;
pub(crate) mod reader;

pub use error::ChunkError;
pub use reader::{Books, MAX_BYTES, books, read};
