//! The pipeline file as types: what a run is made of. The tables of the stages are the stages' own `Params`.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::llm::{Budget, OfflineOptions, Price, Sampling};
use crate::schema::{ByLanguage, Language};
use crate::stages::{chunk, export, extract, instruct, select, simulate, synthesize};

/// The seed of a run whose file names none.
const SEED: u64 = 7;

/// A pipeline file: books, models, who plays which part, and each stage's numbers. Unknown keys are errors.
/// `$NAME` in a string stands for an environment variable, `$$` for a dollar sign; paths are resolved from the working
/// directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PipelineFile {
    /// The run's name: its folder is `outputs/<name>`.
    #[schemars(length(min = 1))]
    pub name: String,
    /// What all randomness is drawn from: the same seed, books and answers give the same data set. 7 when silent.
    #[serde(default = "seed")]
    pub seed: u64,
    /// What is read.
    pub books: Books,
    /// The models by the names that `[cast]` uses.
    #[schemars(extend("minProperties" = 1))]
    pub models: BTreeMap<String, ModelEntry>,
    /// Which model plays which part.
    pub cast: Cast,
    /// Prompt templates of your own: the template's name, such as `simulate/direct.en`, to the path of the file that
    /// takes its place.
    #[serde(default)]
    pub prompts: BTreeMap<String, String>,
    /// Books become chunks.
    #[serde(default)]
    pub chunk: chunk::Params,
    /// Chunks become scenes.
    #[serde(default)]
    pub extract: extract::Params,
    /// Where test characters come from.
    #[serde(default)]
    pub synthesize: synthesize::Params,
    /// Test characters meet scenes.
    #[serde(default)]
    pub simulate: simulate::Params,
    /// Which of two replies is better, and on which dimension.
    #[serde(default)]
    pub select: select::Params,
    /// Role data for training.
    #[serde(default)]
    pub instruct: instruct::Params,
    /// The data set and its card.
    #[serde(default)]
    pub export: export::Params,
    /// What the run may cost.
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
    /// Files, folders and globs, resolved from the working directory. Of folders and globs the files with a known ending
    /// are taken, those called `README` left out.
    #[schemars(length(min = 1))]
    pub paths: Vec<BookPaths>,
}

/// An entry of `[books] paths`: a path, or a table such as `{ path = "long.txt", chapters = "1-12", license = "cc0-1.0" }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum BookPaths {
    /// A file, folder or glob, whose books are taken whole.
    Whole(String),
    /// One of which more is said. It goes before an entry that names the same file by its path alone.
    Told(ToldBooks),
}

/// Books of which more is said than where they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToldBooks {
    /// A file, folder or glob.
    pub path: String,
    /// Places of chapters from 1, such as `1-12` or `1-3, 7, 20-`, as `dramaturg chunk BOOK --chapters` counts them. All are
    /// taken when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chapters: Option<String>,
    /// The licence of these books, as the card shows it: `cc0-1.0`, `public domain in the EU`, `in copyright, with permission`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// Where they come from, as the card shows it: an address, or an edition in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// The table `[models.<name>]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "provider", rename_all = "lowercase")]
pub enum ModelEntry {
    /// The offline engine: answers in this process, from the text itself, with no network and no weights.
    Offline(OfflineOptions),
    /// An OpenAI-compatible chat completions endpoint.
    OpenAi(Box<Served>),
}

impl ModelEntry {
    /// Returns what its tokens cost; none where that is unknown.
    #[must_use]
    pub fn price(&self) -> Option<Price> {
        match self {
            Self::Offline(_) => Some(Price::FREE),
            Self::OpenAi(served) => served.price,
        }
    }
}

/// A model that a server plays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Served {
    /// The URL up to and with `/v1`, or a list of several that serve the same model, of which the least busy one is asked;
    /// `OPENAI_BASE_URL` of the environment when silent.
    pub base_url: Option<BaseUrl>,
    /// The model's id on the server; `OPENAI_MODEL` of the environment when silent.
    pub model: Option<String>,
    /// The environment variable that holds the key; when it is not set, `<variable>_FILE` may name a file whose only line is
    /// the key. The key itself never stands in a pipeline file.
    pub api_key_env: String,
    /// Sampling temperature; the server's own when silent.
    #[schemars(range(min = 0.0, max = 2.0))]
    pub temperature: Option<f64>,
    /// Nucleus sampling: the share of probability that is drawn from; the server's own when silent.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub top_p: Option<f64>,
    /// The most tokens of a reply, reasoning included; the server's own when silent.
    #[schemars(range(min = 1))]
    pub max_tokens: Option<u32>,
    /// The most requests in flight, over all addresses; one that waits for its next try, as after a 429, is none. It
    /// falls by itself when a server refuses more. 32 when silent.
    #[schemars(range(min = 1, max = 65_536))]
    pub concurrency: u32,
    /// The most requests a minute at each address; what a server allows is found out when silent.
    #[schemars(range(min = 1))]
    pub requests_per_minute: Option<u32>,
    /// The most tokens a minute at each address, prompts and replies together; found out when silent.
    #[schemars(range(min = 1))]
    pub tokens_per_minute: Option<u32>,
    /// How many tokens the model takes, prompt and reply together: what is surely longer is rejected before it is sent.
    #[schemars(range(min = 1))]
    pub context_window: Option<u32>,
    /// How long a whole request may take, in seconds. 300 when silent, since reasoning models think long.
    #[schemars(range(min = 1))]
    pub timeout_s: u32,
    /// How long a connection may take to come about, in seconds. 10 when silent.
    #[schemars(range(min = 1))]
    pub connect_timeout_s: u32,
    /// How often a request is sent before its call fails. One that is refused for its number (429) is not counted as long
    /// as others are let in. Where no address has ever answered, ten minutes and two tries end the run earlier. 6 when silent.
    #[schemars(range(min = 1, max = 100))]
    pub max_tries: u32,
    /// How often a reply that breaks its schema is asked again. 2 when silent.
    #[schemars(range(max = 20))]
    pub max_reasks: u32,
    /// USD per million tokens; without it the run's cost is unknown.
    pub price: Option<Price>,
    /// Further headers of each request. Their values come from the environment, as in `{ X-Team = "$TEAM_TOKEN" }`: they
    /// are kept as secret as the key.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Further keys of the request's body, as the server knows them. They stand in the journal: no secrets here.
    pub extra_body: Map<String, Value>,
}

/// Where a served model is reached: one URL, or several that serve the same model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum BaseUrl {
    /// One.
    One(String),
    /// Several.
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
            max_reasks: 2,
            price: None,
            headers: BTreeMap::new(),
            extra_body: Map::new(),
        }
    }
}

impl Served {
    /// The variable that holds the key when the file names none.
    pub(super) const API_KEY_ENV: &'static str = "OPENAI_API_KEY";
    /// The variable that holds the endpoint when the file names none.
    pub(super) const BASE_URL_ENV: &'static str = "OPENAI_BASE_URL";
    /// The variable that holds the model's id when the file names none.
    pub(super) const MODEL_ENV: &'static str = "OPENAI_MODEL";

    /// Returns the sampling parameters.
    #[must_use]
    pub const fn sampling(&self) -> Sampling {
        Sampling { temperature: self.temperature, top_p: self.top_p, max_tokens: self.max_tokens }
    }

    /// Returns how long a whole request may take.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(u64::from(self.timeout_s))
    }

    /// Returns how long a connection may take to come about.
    #[must_use]
    pub fn connect_timeout(&self) -> Duration {
        Duration::from_secs(u64::from(self.connect_timeout_s))
    }
}

/// The table `[cast]`: which model plays which part. A part takes a model's name, or a table by language such as
/// `{ en = "a", zh = "b" }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cast {
    /// Makes scenes of chunks.
    pub extractor: Member,
    /// Make up test characters, in turn.
    pub synthesizers: Members,
    /// Decides who speaks next.
    pub director: Member,
    /// Plays the characters of the scenes.
    pub scene: Member,
    /// Play the test characters: one lane for each character and source.
    pub sources: Members,
    /// Answers beside the source at each test turn; models under test are compared with it.
    pub base: Member,
    /// Says which of two replies is better, on which dimension, and rates whole conversations.
    pub judge: Member,
    /// Further judges, who are shown the same pairs of replies and change nothing in what is played: what they say stands in
    /// the column `verdicts`. `dramaturg select RUN --judge MODEL` adds one to a run.
    #[serde(default, skip_serializing_if = "Members::is_empty")]
    pub judges: Members,
    /// Describes the roles of `instruct`, and makes questions and answers about them; the extractor when silent.
    #[serde(default)]
    pub instructor: Option<Member>,
    /// Plays the roles of `instruct` where they carry out general instructions; the base when silent.
    #[serde(default)]
    pub player: Option<Member>,
}

impl Cast {
    /// Returns who describes roles and asks about them.
    #[must_use]
    pub fn instructor(&self) -> &Member {
        self.instructor.as_ref().unwrap_or(&self.extractor)
    }

    /// Returns who plays roles.
    #[must_use]
    pub fn player(&self) -> &Member {
        self.player.as_ref().unwrap_or(&self.base)
    }
}

/// The model that plays a part: one name, or one for each language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Member {
    /// For both languages.
    Same(String),
    /// For each language.
    ByLanguage(ByLanguage<String>),
}

impl Member {
    /// Returns the name of the model that plays the part in a language.
    #[must_use]
    pub fn get(&self, language: Language) -> &str {
        match self {
            Self::Same(name) => name,
            Self::ByLanguage(names) => names.get(language),
        }
    }
}

/// The models that play a part: a list of names, or one for each language.
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
    /// Says whether nobody plays the part.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        Language::ALL.into_iter().all(|language| self.get(language).is_empty())
    }

    /// Returns the names of the models that play the part in a language.
    #[must_use]
    pub fn get(&self, language: Language) -> &[String] {
        match self {
            Self::Same(names) => names,
            Self::ByLanguage(names) => names.get(language),
        }
    }
}
