//! What the card tells of a table, counted while its rows go by: no row is held for it.

use std::collections::{BTreeMap, BTreeSet};

use polars::frame::DataFrame;

use super::features::ArrowBytes;
use crate::schema::{CharacterType, Language};

/// One table of the data set, in one split: what it holds, without its rows.
#[derive(Debug, Clone)]
pub struct Table {
    /// The config: the folder below `dataset/` and the name that `load_dataset` takes.
    pub config: &'static str,
    /// The split.
    pub split: &'static str,
    /// How many rows it has.
    pub rows: usize,
    /// Its columns, without rows.
    pub(super) columns: DataFrame,
    /// How much memory the rows take.
    pub(super) bytes: ArrowBytes,
    /// What was counted in its rows.
    pub(super) tally: Tally,
}

impl Table {
    /// Makes a table with the columns of a frame, and no rows yet.
    pub(super) fn new(config: &'static str, split: &'static str, frame: &DataFrame) -> Self {
        let columns = frame.clear();
        Self { config, split, rows: 0, columns, bytes: ArrowBytes::default(), tally: Tally::default() }
    }

    /// Adds rows, and returns how many bytes they take.
    pub(super) fn add(&mut self, frame: &DataFrame) -> usize {
        let before = self.bytes.total();
        self.rows += frame.height();
        self.bytes.add(frame);
        self.bytes.total() - before
    }
}

/// Counts over the rows of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// The languages of the rows.
    pub(super) languages: BTreeSet<&'static str>,
    /// Samples by dimension, then by language and type of character.
    pub(super) samples: BTreeMap<String, BTreeMap<(&'static str, &'static str), usize>>,
    /// Samples whose reference was edited by hand.
    pub(super) edited: usize,
    /// Judged turns by σ.
    pub(super) scores: BTreeMap<u8, usize>,
    /// Rejects by stage and reason.
    pub(super) rejects: BTreeMap<(String, String), usize>,
}

impl Tally {
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
