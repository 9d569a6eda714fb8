//! Types of the pipeline file. The tables of the stages are the stages' own `Params`.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::llm::{Budget, OfflineOptions, Price, Sampling};
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
    Whole(String),
    /// A table with further settings. It takes precedence over an entry that names the same file by its path alone.
    Told(BookEntry),
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
    OpenAi(Box<Served>),
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

/// A model on a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Served {
    /// The URL up to and including `/v1`, or a list of URLs that serve the same model; each request goes to the least
    /// busy one. `OPENAI_BASE_URL` of the environment if unset.
    pub base_url: Option<BaseUrl>,
    /// The model's id on the server. `OPENAI_MODEL` of the environment if unset.
    pub model: Option<String>,
    /// The environment variable with the API key. If it is not set, `<variable>_FILE` may name a file whose only line
    /// is the key. The key itself must not be in a pipeline file.
    pub api_key_env: String,
    /// Sampling temperature. The server's default if unset.
    #[schemars(range(min = 0.0, max = 2.0))]
    pub temperature: Option<f64>,
    /// Nucleus sampling: the probability mass to sample from. The server's default if unset.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub top_p: Option<f64>,
    /// Maximum tokens of a reply, reasoning included. The server's default if unset.
    #[schemars(range(min = 1))]
    pub max_tokens: Option<u32>,
    /// Maximum number of requests in flight over all URLs. A request that waits for a retry, as after a 429, does not
    /// count. The limit is lowered automatically when a server refuses requests. Default 32.
    #[schemars(range(min = 1, max = 65_536))]
    pub concurrency: u32,
    /// Maximum requests per minute at each URL. If unset, the server's limit is estimated from its responses.
    #[schemars(range(min = 1))]
    pub requests_per_minute: Option<u32>,
    /// Maximum tokens per minute at each URL, prompts and replies together. If unset, the server's limit is estimated
    /// from its responses.
    #[schemars(range(min = 1))]
    pub tokens_per_minute: Option<u32>,
    /// The model's context window in tokens, prompt and reply together. Prompts that are certainly longer are rejected
    /// before they are sent.
    #[schemars(range(min = 1))]
    pub context_window: Option<u32>,
    /// Timeout of a whole request, in seconds. Default 300, since reasoning models can take long.
    #[schemars(range(min = 1))]
    pub timeout_s: u32,
    /// Timeout for opening a connection, in seconds. Default 10.
    #[schemars(range(min = 1))]
    pub connect_timeout_s: u32,
    /// How many times a request is sent before its call fails. A rate-limited request (429) does not count as long as
    /// other requests succeed. If no URL has ever answered, the run ends after ten minutes and two tries. Default 6.
    #[schemars(range(min = 1, max = 100))]
    pub max_tries: u32,
    /// How many times a reply that does not match its schema is asked for again. Default 2.
    #[schemars(range(max = 20))]
    pub max_schema_retries: u32,
    /// USD per million tokens. If unset, the run's cost is unknown.
    pub price: Option<Price>,
    /// Additional headers of each request. Their values come from the environment, as in `{ X-Team = "$TEAM_TOKEN" }`,
    /// and are kept as secret as the key.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Additional keys of the request body, as defined by the server. They are stored in the journal and must not
    /// contain secrets.
    pub extra_body: Map<String, Value>,
}

/// The address of a served model: one URL, or several that serve the same model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum BaseUrl {
    /// One URL.
    One(String),
    /// Several URLs.
    Several(#[schemars(length(min = 1))] Vec<String>),
}

impl Default for Served {
    fn default() -> Self {
        Self {
            base_url: None,
            model: None,
            api_key_env: Self::API_KEY_ENV.to_owned(),
            temperature: None,
            top_p: None,
            max_tokens: None,
            concurrency: 32,
            requests_per_minute: None,
            tokens_per_minute: None,
            context_window: None,
            timeout_s: 300,
            connect_timeout_s: 10,
            max_tries: 6,
            max_schema_retries: 2,
            price: None,
            headers: BTreeMap::new(),
            extra_body: Map::new(),
        }
    }
}

impl Served {
    /// Default environment variable of the API key.
    pub(crate) const API_KEY_ENV: &'static str = "OPENAI_API_KEY";
    /// Default environment variable of the base URL.
    pub(crate) const BASE_URL_ENV: &'static str = "OPENAI_BASE_URL";
    /// Default environment variable of the model's id.
    pub(crate) const MODEL_ENV: &'static str = "OPENAI_MODEL";

    /// Returns the sampling parameters.
    #[must_use]
    pub const fn sampling(&self) -> Sampling {
        Sampling { temperature: self.temperature, top_p: self.top_p, max_tokens: self.max_tokens }
    }

    /// Returns the timeout of a whole request.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(u64::from(self.timeout_s))
    }

    /// Returns the timeout for opening a connection.
    #[must_use]
    pub fn connect_timeout(&self) -> Duration {
        Duration::from_secs(u64::from(self.connect_timeout_s))
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
    pub player: Option<Member>,
}

impl Cast {
    /// Returns the model that describes roles and asks about them.
    #[must_use]
    pub fn instructor(&self) -> &Member {
        self.instructor.as_ref().unwrap_or(&self.extractor)
    }

    /// Returns the model that plays roles.
    #[must_use]
    pub fn player(&self) -> &Member {
        self.player.as_ref().unwrap_or(&self.base)
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
