//! The facts about a run that its card shows.

use std::collections::BTreeMap;

use crate::schema::{Dimension, Language, RoleTally};
use crate::stages::export::report::AskCost;

/// The facts about a run that the card shows in addition to its tables.
#[derive(Debug, Clone, Default)]
pub struct CardMetadata {
    /// The run's name in the pipeline file.
    pub name: String,
    /// The version of dramaturg.
    pub version: String,
    /// The run's seed.
    pub seed: u64,
    /// The text of the pipeline file. The card omits values of `base_url`.
    pub pipeline: String,
    /// The changes to it from the command line, each as `KEY=VALUE`. Only include those that can affect rows.
    pub overrides: Vec<String>,
    /// The books, in the order of the run.
    pub books: Vec<BookMetadata>,
    /// The models of the cast, in the order of the cast.
    pub parts: Vec<CastMetadata>,
    /// The dimensions, in order.
    pub dimensions: Vec<Dimension>,
    /// τ: how many times a lane counts each dimension before it ends.
    pub tau: u32,
    /// The probability that the turns before a test turn target a dimension, 0 to 1.
    pub target_probability: f64,
    /// The number of conversations of a lane that are played at the same time.
    pub batch_size: u32,
    /// The maximum σ at which the source model's reply stays in the history.
    pub keep_source: u8,
    /// The maximum σ at which a turn becomes a sample.
    pub sample_threshold: u8,
    /// The BLAKE3 hash of each prompt template, by name.
    pub prompts: BTreeMap<String, String>,
    /// The usage by ask and model.
    pub charges: Vec<AskCost>,
    /// The counts of roles and questions by language; empty if no roles were made.
    pub roles: BTreeMap<Language, RoleTally>,
}

/// A book of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BookMetadata {
    /// Its slug, the value of the column `book`.
    pub slug: String,
    /// Its title.
    pub title: String,
    /// Its language.
    pub language: Language,
    /// Its licence as stated in the pipeline file.
    pub license: Option<String>,
    /// Its source as stated in the pipeline file.
    pub source: Option<String>,
}

/// A part of the cast and the model that fills it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CastMetadata {
    /// The part, such as `judge` or `extractor (zh)`.
    pub part: String,
    /// The model's name in the pipeline file, the value of columns such as `judge_model`.
    pub name: String,
    /// The model's full id, such as `offline:plain`.
    pub model: String,
}

impl CastMetadata {
    /// Returns whether the offline engine fills this part.
    pub(crate) fn is_offline(&self) -> bool {
        self.model.starts_with("offline:")
    }
}
