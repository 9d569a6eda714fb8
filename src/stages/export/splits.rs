//! A data set whose rows stand in other splits: its rows gathered into groups again. [`revision`](super::revision) tells its card.

use polars::prelude::DataFrame;

use super::ExportError;
use super::features::ArrowBytes;
use super::groups::{GROUP_BYTES, GROUP_ROWS};

/// Gathers the rows of one split into the groups of its files.
#[derive(Debug, Default)]
pub struct Groups {
    rows: usize,
    bytes: ArrowBytes,
    group: Option<(DataFrame, usize)>,
}

/// One split of a config, as its card tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitRows {
    /// The split.
    pub name: String,
    /// How many rows it has.
    pub rows: usize,
    /// How many bytes they take as Arrow.
    pub bytes: usize,
}

impl Groups {
    /// Adds rows, and returns a group once it is full.
    pub fn add(&mut self, config: &'static str, frame: DataFrame) -> Result<Option<DataFrame>, ExportError> {
        let before = self.bytes.total();
        self.rows += frame.height();
        self.bytes.add(&frame);
        let bytes = self.bytes.total() - before;
        let (mut whole, mut held) = (frame, bytes);
        if let Some((mut group, so_far)) = self.group.take() {
            group.vstack_mut_owned(whole).map_err(|source| ExportError::Frame { config, source })?;
            (whole, held) = (group, held + so_far);
        }
        if whole.height() >= GROUP_ROWS || held >= GROUP_BYTES {
            return Ok(Some(whole));
        }
        self.group = Some((whole, held));
        Ok(None)
    }

    /// Returns the last group, if there is one, and what the card tells.
    #[must_use]
    pub fn end(self, name: &str) -> (Option<DataFrame>, SplitRows) {
        let told = SplitRows { name: name.to_owned(), rows: self.rows, bytes: self.bytes.total() };
        (self.group.map(|(rest, _)| rest), told)
    }
}
