//! A row group of a table, as columns.

use polars::prelude::{DataFrame, PolarsError};

use super::findings::Location;
use crate::cells::Cells;
use crate::config::Check;
use crate::dataset::error::DatasetError;
use crate::store::StoreError;

/// A row group: its columns and its position.
pub(super) struct Group<'a> {
    pub(super) config: &'a str,
    pub(super) file: &'a str,
    pub(super) split: &'a str,
    /// Index of its first row in the file.
    pub(super) first: usize,
    pub(super) height: usize,
    pub(super) columns: Vec<(String, Cells)>,
}

impl<'a> Group<'a> {
    pub(super) fn new(
        config: &'a str,
        file: &'a str,
        split: &'a str,
        first: usize,
        frame: &DataFrame,
    ) -> Result<Self, DatasetError> {
        let columns = frame.columns().iter();
        let columns = columns.map(|column| Ok((column.name().to_string(), Cells::new(column)?)));
        let columns: Result<Vec<_>, PolarsError> = columns.collect();
        let path = || file.into();
        let columns = columns.map_err(|source| StoreError::Rows { path: path(), source })?;
        Ok(Self { config, file, split, first, height: frame.height(), columns })
    }

    pub(super) fn cells(&self, column: &str) -> Option<&Cells> {
        self.columns.iter().find(|(name, _)| name == column).map(|(_, cells)| cells)
    }

    /// Returns a column if its type is string.
    pub(super) fn texts(&self, column: &str) -> Option<&Cells> {
        self.cells(column).filter(|cells| matches!(cells, Cells::Text(_)))
    }

    pub(super) fn text(&self, column: &str, row: usize) -> Option<&str> {
        self.cells(column).and_then(|cells| cells.text(row))
    }

    /// Returns the position of a row's column.
    pub(super) fn location(&self, check: Check, row: usize, column: &str) -> Location {
        Location {
            check,
            file: Some(self.file.to_owned()),
            row: Some(self.first + row),
            column: Some(column.to_owned()),
            id: self.text("id", row).map(str::to_owned),
        }
    }
}
