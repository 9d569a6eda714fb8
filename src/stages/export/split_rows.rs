//! Regroups the rows of a data set whose splits changed.

use polars::prelude::DataFrame;

use super::ExportError;
use super::features::ArrowBytes;
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

    /// Returns the last group, if any, and the facts for the card.
    #[must_use]
    pub fn end(self, name: &str) -> (Option<DataFrame>, SplitRows) {
        let written = SplitRows { name: name.to_owned(), rows: self.rows, bytes: self.bytes.total() };
        (self.group.map(|(rest, _)| rest), written)
    }
}
