//! Files that a pipeline file refers to: books, characters, roles, aliases and overrides.

pub(crate) mod aliases;
mod book_paths;
pub(crate) mod characters;
pub(crate) mod overrides;
mod roles;

pub use aliases::{AliasesError, people, read_book};
pub use book_paths::{BookPath, book_paths, open_books};
pub use characters::{CharactersError, characters};
pub use overrides::{Edit, Veto, VetoFile, Vetoes};
