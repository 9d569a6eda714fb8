//! The facts about a table for the card, counted while its rows are written.

use std::collections::{BTreeMap, BTreeSet};

use polars::frame::DataFrame;

use super::arrow_bytes::ArrowBytes;
use crate::schema::{CharacterType, Language};

/// One split of a config, without its rows.
#[derive(Debug, Clone)]
pub struct Table {
    /// The config: the name of the folder in `dataset/` and the argument of `load_dataset`.
    pub config: &'static str,
    /// The split.
    pub split: &'static str,
    /// The number of rows.
    pub rows: usize,
    /// A frame with the columns, without rows.
    pub(super) columns: DataFrame,
    /// The size of the rows in memory.
    pub(super) bytes: ArrowBytes,
    /// The counts over the rows.
    pub(super) tally: TableCounts,
}

impl Table {
    /// Creates an empty table with the columns of a frame.
    pub(super) fn new(config: &'static str, split: &'static str, frame: &DataFrame) -> Self {
        let columns = frame.clear();
        Self { config, split, rows: 0, columns, bytes: ArrowBytes::default(), tally: TableCounts::default() }
    }

    /// Adds rows. Returns their size in bytes.
    pub(super) fn add(&mut self, frame: &DataFrame) -> usize {
        let before = self.bytes.total();
        self.rows += frame.height();
        self.bytes.add(frame);
        self.bytes.total() - before
    }
}

/// Counts over the rows of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableCounts {
    /// The languages of the rows.
    pub(super) languages: BTreeSet<&'static str>,
    /// Samples by dimension, then by language and character type.
    pub(super) samples: BTreeMap<String, BTreeMap<(&'static str, &'static str), usize>>,
    /// Samples whose reference was edited by hand.
    pub(super) edited: usize,
    /// Judged turns by σ.
    pub(super) scores: BTreeMap<u8, usize>,
    /// Rejects by stage and reason.
    pub(super) rejects: BTreeMap<(String, String), usize>,
}

impl TableCounts {
    pub(super) fn language(&mut self, language: Language) {
        self.languages.insert(language.code());
    }

    pub(super) fn sample(&mut self, dimension: &str, language: Language, kind: CharacterType) {
        let groups = self.samples.entry(dimension.to_owned()).or_default();
        *groups.entry((language.code(), kind.name())).or_default() += 1;
    }

    pub(super) fn score(&mut self, score: u8) {
        *self.scores.entry(score).or_default() += 1;
    }

    pub(super) fn reject(&mut self, stage: &str, reason: &str) {
        *self.rejects.entry((stage.to_owned(), reason.to_owned())).or_default() += 1;
    }
}
