//! Regroups the rows of a data set whose splits changed.

use polars::prelude::DataFrame;

use super::ExportError;
use super::arrow_bytes::ArrowBytes;
use super::groups::{GROUP_BYTES, GROUP_ROWS};

/// Collects the rows of one split into row groups.
#[derive(Debug, Default)]
pub struct RowGroups {
    rows: usize,
    bytes: ArrowBytes,
    group: Option<(DataFrame, usize)>,
}

/// The facts about one split of a config for the card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitRows {
    /// The split.
    pub name: String,
    /// The number of rows.
    pub rows: usize,
    /// The size as Arrow in bytes.
    pub bytes: usize,
}

impl RowGroups {
    /// Adds rows. Returns a group when it is full.
    pub fn add(&mut self, config: &'static str, frame: DataFrame) -> Result<Option<DataFrame>, ExportError> {
        let before = self.bytes.total();
        self.rows += frame.height();
        self.bytes.add(&frame);
        let bytes = self.bytes.total() - before;
        let (mut rows, mut size) = (frame, bytes);
        if let Some((mut group, earlier)) = self.group.take() {
            group.vstack_mut_owned(rows).map_err(|source| ExportError::Frame { config, source })?;
            (rows, size) = (group, size + earlier);
        }
        if rows.height() >= GROUP_ROWS || size >= GROUP_BYTES {
            return Ok(Some(rows));
        }
        self.group = Some((rows, size));
        Ok(None)
    }

    /// Returns the last group, if any, and the facts for the card.
    #[must_use]
    pub fn end(self, name: &str) -> (Option<DataFrame>, SplitRows) {
        let written = SplitRows { name: name.to_owned(), rows: self.rows, bytes: self.bytes.total() };
        (self.group.map(|(rest, _)| rest), written)
    }
}
