//! Reads books: turns bytes into text with what the format marks (headings, pages, boilerplate, titles).
//!
//! Finding the story and its chapters is left to `stages::chunk`.

mod decode;
mod epub;
mod error;
mod format_detection;
mod fountain;
mod html;
mod jsonl;
mod limits;
mod markdown;
mod path;
mod raw_book;
mod reader;

pub use error::ReadError;
pub use fountain::is_scene_heading;
pub use limits::MAX_BYTES;
pub use raw_book::{ContentsEntry, MAX_HEADINGS, Page, RawBoilerplate, RawBook, RawHeading};
pub use reader::{RawBooks, raw_books};
