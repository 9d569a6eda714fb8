//! State passed from one chunk of a book to the next.

use std::collections::BTreeMap;

use super::scenes::Draft;
use crate::schema::Attribute;

/// State that is passed from one chunk of a book to the next.
#[derive(Debug, Clone, Default)]
pub struct Carry {
    /// The worldview of the book, once a scene description has provided it.
    pub(super) worldview: Option<String>,
    /// The current profile of each character, by name.
    pub(super) profiles: BTreeMap<String, Vec<Attribute>>,
    /// The scene that the end of the chunk cut off.
    pub(super) unfinished: Option<Draft>,
}

impl Carry {
    /// Whether a scene is still incomplete. If so, [`finish`](super::finish) must be called after the last chunk of the book.
    #[must_use]
    pub const fn holds_scene(&self) -> bool {
        self.unfinished.is_some()
    }
}
