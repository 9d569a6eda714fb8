//! The pipeline file and the files that it refers to: reading, validation, source positions and defaults.

mod checks;
pub(crate) mod document;
pub(crate) mod environment;
pub(crate) mod error;
mod init;
pub(crate) mod load;
pub(crate) mod paths;
mod pipeline_file;
mod reader;
pub(crate) mod redact;
mod reference;
pub(crate) mod referenced;
pub(crate) mod schemas;

pub use document::{Check, Finding, PipelineError, Problem};
pub use environment::Environment;
pub use error::{BookError, PoolAliasesError};
pub use init::init;
pub use load::{Endpoints, Loaded, load};
pub use pipeline_file::{BookEntry, BookPaths, Books, Cast, Member, Members, ModelEntry, PipelineFile};
pub use reference::reference_pages;
pub use referenced::{
    AliasesError, BookPath, CharactersError, Edit, Veto, VetoFile, Vetoes, book_paths, characters, open_books, people,
    read_book,
};
pub use schemas::schemas;
