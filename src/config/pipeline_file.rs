//! Types of the pipeline file. The tables of the stages are the stages' own `Params`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::llm::{Budget, OfflineOptions, Price, ServedOptions};
use crate::schema::{ByLanguage, Language};
use crate::stages::{chunk, export, extract, instruct, select, simulate, synthesize};

/// The default seed.
const SEED: u64 = 7;

/// A pipeline file: books, models, which model plays which part, and the settings of each stage. Unknown keys are
/// errors. `$NAME` in a string is replaced with an environment variable, `$$` with a dollar sign. Relative paths are
/// resolved from the working directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PipelineFile {
    /// The run's name. Its folder is `outputs/<name>`.
    #[schemars(length(min = 1))]
    pub name: String,
    /// Seed of all randomness: the same seed, books and answers give the same data set. Default 7.
    #[serde(default = "seed")]
    pub seed: u64,
    /// The books to read.
    pub books: Books,
    /// The models, by the names used in `[cast]`.
    #[schemars(extend("minProperties" = 1))]
    pub models: BTreeMap<String, ModelEntry>,
    /// Which model plays which part.
    pub cast: Cast,
    /// Your own prompt templates: a template's name, such as `simulate/direct.en`, and the path of the file that
    /// replaces it.
    #[serde(default)]
    pub prompts: BTreeMap<String, String>,
    /// How books are split into chunks.
    #[serde(default)]
    pub chunk: chunk::Params,
    /// How scenes are extracted from chunks.
    #[serde(default)]
    pub extract: extract::Params,
    /// Where test characters come from.
    #[serde(default)]
    pub synthesize: synthesize::Params,
    /// How conversations between test characters and scene characters are simulated.
    #[serde(default)]
    pub simulate: simulate::Params,
    /// How the better of two replies is chosen, and on which dimension.
    #[serde(default)]
    pub select: select::Params,
    /// Role data for training.
    #[serde(default)]
    pub instruct: instruct::Params,
    /// The data set and its data card.
    #[serde(default)]
    pub export: export::Params,
    /// Limits on the run's cost.
    #[serde(default)]
    pub budget: Budget,
}

const fn seed() -> u64 {
    SEED
}

/// The table `[books]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Books {
    /// Files, folders and globs, resolved from the working directory. Folders and globs match only files with a known
    /// extension, and no file named `README`.
    #[schemars(length(min = 1))]
    pub paths: Vec<BookPaths>,
}

/// An entry of `[books] paths`: a path, or a table such as
/// `{ path = "long.txt", chapters = "1-12", license = "cc0-1.0" }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum BookPaths {
    /// A file, folder or glob; its books are used whole.
    Path(String),
    /// A table with further settings. It takes precedence over an entry that names the same file by its path alone.
    Entry(BookEntry),
}

/// Books with chapters, licence or source given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BookEntry {
    /// A file, folder or glob.
    pub path: String,
    /// Positions of chapters, from 1, such as `1-12` or `1-3, 7, 20-`, as listed by `dramaturg chunk BOOK --chapters`.
    /// All chapters if unset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chapters: Option<String>,
    /// The licence of these books, as shown on the data card: `cc0-1.0`, `public domain in the EU`, `in copyright, with
    /// permission`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// Where these books come from, as shown on the data card: a URL, or the edition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// The table `[models.<name>]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "provider", rename_all = "lowercase")]
pub enum ModelEntry {
    /// The offline engine: answers in-process from the text itself, without network or weights.
    Offline(OfflineOptions),
    /// An OpenAI-compatible chat completions endpoint.
    OpenAi(Box<ServedOptions>),
}

impl ModelEntry {
    /// Returns the price of tokens, or `None` if it is unknown.
    #[must_use]
    pub fn price(&self) -> Option<Price> {
        match self {
            Self::Offline(_) => Some(Price::FREE),
            Self::OpenAi(served) => served.price,
        }
    }
}

/// The table `[cast]`: which model plays which part. Each part is a model's name, or a table by language such as `{ en
/// = "a", zh = "b" }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cast {
    /// Extracts scenes from chunks.
    pub extractor: Member,
    /// Make up test characters, taking turns.
    pub synthesizers: Members,
    /// Decides which character speaks next.
    pub director: Member,
    /// Plays the scene characters.
    pub scene: Member,
    /// Play the test characters. Each pair of test character and source model is a lane.
    pub sources: Members,
    /// The baseline: answers beside the source at each test turn, and models under evaluation are compared with it.
    pub base: Member,
    /// Judges which of two replies is better, and on which dimension, and rates whole conversations.
    pub judge: Member,
    /// Additional judges. They judge the same pairs of replies without influence on the conversation; their verdicts
    /// are in the column `verdicts`. `dramaturg select RUN --judge MODEL` adds one to an existing run.
    #[serde(default, skip_serializing_if = "Members::is_empty")]
    pub judges: Members,
    /// Describes the roles of `instruct`, and writes questions and answers about them. The extractor if unset.
    #[serde(default)]
    pub instructor: Option<Member>,
    /// Plays the roles of `instruct` on general instructions. The base model if unset.
    #[serde(default)]
    pub role_player: Option<Member>,
}

impl Cast {
    /// Returns the model that describes roles and asks about them.
    #[must_use]
    pub fn instructor(&self) -> &Member {
        self.instructor.as_ref().unwrap_or(&self.extractor)
    }

    /// Returns the model that plays roles.
    #[must_use]
    pub fn role_player(&self) -> &Member {
        self.role_player.as_ref().unwrap_or(&self.base)
    }
}

/// The model of a part: one name, or one per language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Member {
    /// For both languages.
    Same(String),
    /// For each language.
    ByLanguage(ByLanguage<String>),
}

impl Member {
    /// Returns the name of the model for a language.
    #[must_use]
    pub fn get(&self, language: Language) -> &str {
        match self {
            Self::Same(name) => name,
            Self::ByLanguage(names) => names.get(language),
        }
    }
}

/// The models of a part: a list of names, or one list per language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Members {
    /// For both languages.
    Same(Vec<String>),
    /// For each language.
    ByLanguage(ByLanguage<Vec<String>>),
}

impl Default for Members {
    fn default() -> Self {
        Self::Same(Vec::new())
    }
}

impl Members {
    /// Returns whether no model plays the part.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        Language::ALL.into_iter().all(|language| self.get(language).is_empty())
    }

    /// Returns the names of the models for a language.
    #[must_use]
    pub fn get(&self, language: Language) -> &[String] {
        match self {
            Self::Same(names) => names,
            Self::ByLanguage(names) => names.get(language),
        }
    }
}
