//! Loads a pipeline file and everything it names, and validates all of it before any work starts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::document::problems::{SET, SourceSpan};
use super::document::{Document, PipelineError, Problem};
use super::environment::Environment;
use super::pipeline_file::{ModelEntry, PipelineFile};
use super::reader::{self, Reader};
use super::referenced::characters::CharactersOfFiles;
use super::referenced::{BookPath, Vetoes};
use super::{checks, paths};
use crate::llm::{AskError, Endpoint, Model, Secret, Session};
use crate::schema::{Character, Dimension, Instruction, Language};

/// Which models must be reachable. A replay opens no connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endpoints<'a> {
    /// Every served model of the cast must be reachable.
    Needed,
    /// Only these models must be reachable; no other model is asked.
    NeededBy(&'a [String]),
    /// All answers come from the journal: URLs and keys may be missing.
    Unneeded,
}

impl Endpoints<'_> {
    /// Returns whether a model must be reachable.
    fn are_needed_by(self, model: &str) -> bool {
        match self {
            Self::Needed => true,
            Self::NeededBy(models) => models.iter().any(|one| one == model),
            Self::Unneeded => false,
        }
    }

    /// Returns whether a key only concerns how to reach a model that is not asked.
    fn is_unused(self, pointer: &str) -> bool {
        let mut parts = pointer.strip_prefix("/models/").unwrap_or_default().split('/');
        let (model, key) = (parts.next().unwrap_or_default(), parts.next());
        let model = model.replace("~1", "/").replace("~0", "~");
        matches!(key, Some("headers" | "base_url" | "api_key_env")) && !self.are_needed_by(&model)
    }
}

/// A pipeline file with everything that it names.
#[derive(Debug)]
pub struct Loaded {
    /// The pipeline file's path, as given.
    pub path: PathBuf,
    /// The file with `--set` applied, variables expanded and defaults filled in.
    pub file: PipelineFile,
    /// The books' files, sorted by path.
    pub book_paths: Vec<BookPath>,
    /// The established test characters, in the order of the files in `[synthesize] established`.
    pub characters: Vec<Character>,
    /// The file of each established character, by id.
    pub character_paths: BTreeMap<String, PathBuf>,
    /// Messages about contents of the named files that a run does not use.
    pub notes: Vec<String>,
    /// The roles from the files in `[instruct] roles`.
    pub roles: Vec<Character>,
    /// Paths of the scripts whose roles are used.
    pub scripts: Vec<PathBuf>,
    /// The general instructions.
    pub instructions: Vec<Instruction>,
    /// Texts of the prompt templates that replace built-in ones, by name.
    pub prompts: BTreeMap<String, String>,
    /// The dimensions: those of the file in `[select] dimensions`, else FURINA's.
    pub dimensions: Vec<Dimension>,
    /// Manual edits to the data set: rows to remove and texts to correct.
    pub vetoes: Option<Vetoes>,
    /// Endpoints of the served models of the cast. Keys are never printed.
    pub endpoints: BTreeMap<String, Endpoint>,
    /// The text of the pipeline file.
    pub source: String,
    /// The `--set` assignments, as given, that can change a row.
    pub overrides: Vec<String>,
    /// The effective configuration as TOML, for the manifest: `--set` and defaults applied, variables not expanded.
    pub effective: String,
}

impl Loaded {
    /// Returns the names of all models that play a part.
    pub(crate) fn cast(&self) -> BTreeSet<&str> {
        let cast = &self.file.cast;
        let mut names = BTreeSet::new();
        for language in Language::ALL {
            let one = [&cast.extractor, &cast.director, &cast.scene, &cast.base, &cast.judge];
            names.extend(one.map(|member| member.get(language)));
            if self.file.instruct.is_on() {
                names.extend([cast.instructor().get(language), cast.role_player().get(language)]);
            }
            let several = [&cast.synthesizers, &cast.sources, &cast.judges];
            names.extend(several.iter().flat_map(|members| members.get(language)).map(String::as_str));
        }
        names
    }

    /// Creates a model of the file. `name` must be used in the cast.
    pub fn model(&self, name: &str, session: &Arc<Session>) -> Result<Model, AskError> {
        let entry = self.file.models.get(name).expect("validation checks that every name in the cast is a model");
        let session = Arc::clone(session);
        match entry {
            ModelEntry::Offline(options) => Ok(Model::offline(name, options.clone(), session)),
            ModelEntry::OpenAi(served) => {
                let endpoint = self
                    .endpoints
                    .get(name)
                    .expect("validation resolves an endpoint for every served model in the cast")
                    .clone();
                let extra_body = Value::Object(served.extra_body.clone());
                Model::served(
                    name,
                    endpoint,
                    &served.sampling(),
                    extra_body,
                    served.price,
                    served.max_schema_retries,
                    session,
                )
            }
        }
    }
}

/// Reads and validates a pipeline file with `--set` assignments applied. All problems are reported at once, including
/// those of the character files and prompt templates that it names. Relative paths are resolved from the working
/// directory.
pub fn load(
    path: &Path,
    sets: &[String],
    environment: &Environment,
    endpoints: Endpoints<'_>,
) -> Result<Loaded, PipelineError> {
    let bytes = std::fs::read(path).map_err(|source| {
        let nearest = (source.kind() == std::io::ErrorKind::NotFound).then(|| paths::nearest_path(path)).flatten();
        PipelineError::Open { path: path.to_owned(), nearest, source }
    })?;
    let (source, broken) = reader::text(0, bytes);
    if let Some(problem) = broken {
        let sources = vec![(path.display().to_string(), source)];
        return Err(Reader { sources, problems: vec![problem] }.invalid());
    }
    load_text(path, source, sets, environment, endpoints)
}

/// Like [`load`], with the text given; `path` is used in messages.
pub(crate) fn load_text(
    path: &Path,
    source: String,
    sets: &[String],
    environment: &Environment,
    endpoints: Endpoints<'_>,
) -> Result<Loaded, PipelineError> {
    let mut reader = Reader { sources: vec![(path.display().to_string(), source)], problems: Vec::new() };
    let mut document = Document::toml(0, &reader.sources[0].1, &mut reader.problems);
    // If the file is something else altogether, the first syntax error is enough.
    if !document.complete && !["books", "models", "cast"].iter().any(|table| document.keys("").contains(table)) {
        reader.problems.truncate(1);
        for problem in &mut reader.problems {
            problem.message = format!("not a pipeline file: {}", problem.message);
            problem.expected =
                Some("TOML with `[books]`, `[models]` and `[cast]`, as `dramaturg init` writes it".to_owned());
        }
        return Err(reader.invalid());
    }
    for set in sets {
        reader.sources.push((SET.to_owned(), set.clone()));
        document.overlay(reader.sources.len() - 1, set, &mut reader.problems);
    }
    let unexpanded = reader.expand(&mut document, environment, |pointer| endpoints.is_unused(pointer));
    reader.check_schema::<PipelineFile>(&document, "the pipeline file");

    let used = if document.complete { checks::check(&document, &mut reader.problems) } else { BTreeSet::new() };
    checks::keys_in_addresses(&document, &unexpanded, &mut reader.problems);
    checks::values_of_headers(&document, &unexpanded, &mut reader.problems);
    let mut settings = BTreeMap::new();
    for name in used.iter().filter(|name| checks::is_served(&document, name)) {
        let needed = endpoints.are_needed_by(name);
        settings.insert(
            name.clone(),
            checks::endpoint_settings(&document, name, needed, environment, &mut reader.problems),
        );
    }
    let book_paths = reader.books(&document);
    let CharactersOfFiles { all: characters, paths: character_paths, mut notes } = reader.characters(&document);
    let CharactersOfFiles { all: roles, notes: of_roles, .. } = reader.roles(&document);
    notes.extend(of_roles);
    let scripts = reader.scripts(&document);
    let instructions = reader.instructions(&document);
    let prompts = reader.prompts(&document);
    let dimensions = reader.dimensions(&document);
    let vetoes = reader.vetoes(&document, path);
    reader.secrets();

    let mut typed: Option<PipelineFile> = None;
    if reader.problems.is_empty() {
        match serde_json::from_value(document.value.clone()) {
            Ok(file) => typed = Some(file),
            Err(error) => reader.problems.push(Problem::new(SourceSpan::whole_source(0), error.to_string())),
        }
    }
    let Some(mut file) = typed else { return Err(reader.invalid()) };
    let endpoints = resolve(&mut file, settings);
    // The manifest records the overrides that the data set was made with.
    file.export.vetoes = vetoes.as_ref().map(|vetoes| vetoes.path.display().to_string());
    let effective = effective(&file, unexpanded);
    let source = reader.sources.swap_remove(0).1;
    let path = path.to_owned();
    Ok(Loaded {
        path,
        file,
        book_paths,
        characters,
        character_paths,
        notes,
        roles,
        scripts,
        instructions,
        prompts,
        dimensions,
        vetoes,
        endpoints,
        source,
        overrides: sets.iter().filter(|set| !only_pace(set)).cloned().collect(),
        effective,
    })
}

/// Keys of models, and `extract.pool`, that do not change the data set.
const PACE: [&str; 12] = [
    "concurrency",
    "requests_per_minute",
    "tokens_per_minute",
    "timeout_s",
    "connect_timeout_s",
    "max_tries",
    "base_url",
    "api_key_env",
    "headers",
    "price",
    "pool",
    "context_window",
];

/// Returns whether a `--set` changes only rates, cost or locations.
pub(crate) fn only_pace(set: &str) -> bool {
    let key = set.split_once('=').map_or(set, |(key, _)| key).trim();
    let last = key.rsplit('.').next().unwrap_or(key).trim();
    key.starts_with("budget") || PACE.contains(&last) || key.contains(".headers.")
}

/// Writes the models' ids into the file, since the data set depends on them. Addresses and keys stay in the endpoints.
fn resolve(
    file: &mut PipelineFile,
    settings: BTreeMap<String, checks::EndpointSettings>,
) -> BTreeMap<String, Endpoint> {
    let mut endpoints = BTreeMap::new();
    for (name, settings) in settings {
        let Some(ModelEntry::OpenAi(served)) = file.models.get_mut(&name) else { continue };
        let model = settings.model.unwrap_or_default();
        served.model = Some(model.clone());
        // A replay opens no connection. The reserved `.invalid` domain makes sure that one would fail.
        let mut endpoint = Endpoint::new("http://replay.invalid/v1", model);
        if !settings.base_urls.is_empty() {
            endpoint.base_urls = settings.base_urls;
        }
        endpoint.api_key = settings.api_key.map(Secret::new);
        // From here on header values are secrets. The file keeps the names, so that it can be written out again.
        let headers = served.headers.iter_mut();
        endpoint.headers = headers.map(|(name, value)| (name.clone(), Secret::new(std::mem::take(value)))).collect();
        endpoint.options = (**served).clone();
        endpoints.insert(name, endpoint);
    }
    endpoints
}

/// Formats the whole configuration as TOML, with variables not expanded.
fn effective(file: &PipelineFile, unexpanded: BTreeMap<String, String>) -> String {
    let mut value = serde_json::to_value(file).expect("a pipeline file serializes to JSON");
    for (pointer, text) in unexpanded {
        if let Some(slot) = value.pointer_mut(&pointer) {
            *slot = Value::String(text);
        }
    }
    drop_nulls(&mut value);
    toml::to_string_pretty(&value).expect("a pipeline file serializes to TOML")
}

fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.retain(|_, value| !value.is_null());
            object.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with a book in each language, a character and a pipeline file that uses them.
    struct Project(tempfile::TempDir);

    const MODELS: &str = "[models.reader]\nprovider = 'offline'\n[models.'作者']\nprovider = 'openai'\nmodel = 'm'\n";
    const CAST: &str = "[cast]\nextractor = 'reader'\nsynthesizers = ['reader']\ndirector = 'reader'\nscene = 'reader'\n\
                        sources = ['作者']\nbase = { en = 'reader', zh = '作者' }\njudge = 'reader'\n";

    impl Project {
        fn new() -> Self {
            let project = Self(tempfile::tempdir().unwrap());
            project.write("books/红楼梦.txt", "话说");
            project.write("books/plain.txt", "Once");
            project.write("books/README.md", "no book");
            let profile = "[[profile]]\nkey = '性格'\nvalue = '倔'\nvisibility = 'public'\n";
            project.write("who/xue.toml", &format!("name = '薛嵩'\nlanguage = 'zh'\nbook = 'wan_shou_si'\n{profile}"));
            project
        }

        fn write(&self, name: &str, text: &str) {
            let path = self.0.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }

        fn load(&self, text: &str, sets: &[&str], endpoints: Endpoints<'_>) -> Result<Loaded, PipelineError> {
            let pipeline = self.0.path().join("mine.toml");
            std::fs::write(&pipeline, text).unwrap();
            let team = self.0.path().join("team.key");
            let variables = [
                ("HERE", self.0.path().to_str().unwrap()),
                ("OPENAI_BASE_URL", "http://localhost:1/v1"),
                ("OPENAI_API_KEY", "sk-very-secret"),
                ("TEAM_KEY_FILE", team.to_str().unwrap()),
            ];
            let environment = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter().collect();
            let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
            load(&pipeline, &sets, &environment, endpoints)
        }

        /// Returns each problem as `source|text at the span|message|expected|nearest`.
        fn problems(&self, text: &str, sets: &[&str]) -> Vec<String> {
            match self.load(text, sets, Endpoints::Needed) {
                Ok(_) => Vec::new(),
                Err(PipelineError::Invalid { sources, problems }) => problems
                    .into_iter()
                    .map(|problem| {
                        let (source, part) = (problem.source, &sources[problem.source].1[problem.span]);
                        let (expected, nearest) = (problem.expected, problem.nearest);
                        let line = format!("{source}|{part}|{}|{expected:?}|{nearest:?}", problem.message);
                        line.replace(self.0.path().to_str().unwrap(), "$HERE")
                    })
                    .collect(),
                Err(other) => panic!("{other}"),
            }
        }
    }

    fn pipeline_text() -> String {
        format!(
            "name = 'mine'\n[books]\npaths = ['$HERE/books', '$HERE/books/*.txt']\n{MODELS}{CAST}\
             [synthesize]\nestablished = ['${{HERE}}/who/*']\n"
        )
    }

    #[test]
    fn a_complete_file_is_loaded() {
        let project = Project::new();
        let loaded = project.load(&pipeline_text(), &["simulate.tau=3", "seed=9"], Endpoints::Needed).unwrap();
        let names: Vec<_> =
            loaded.book_paths.iter().map(|book| book.path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["plain.txt", "红楼梦.txt"]);
        assert_eq!((loaded.file.simulate.tau, loaded.file.seed, loaded.file.simulate.max_turns), (3, 9, 20));
        assert_eq!(loaded.file.cast.base.get(Language::Zh), "作者");
        assert_eq!(loaded.file.cast.sources.get(Language::En), ["作者"]);
        assert_eq!(
            (loaded.characters[0].id.as_str(), loaded.characters[0].book.as_deref()),
            ("薛嵩", Some("wan-shou-si"))
        );
        assert_eq!(loaded.endpoints["作者"].base_urls, ["http://localhost:1/v1"]);
        assert_eq!(loaded.endpoints["作者"].options.concurrency, 32);
    }

    #[test]
    fn the_effective_file_is_a_valid_pipeline_file_without_secrets() {
        let project = Project::new();
        let loaded = project.load(&pipeline_text(), &["simulate.tau=3"], Endpoints::Needed).unwrap();
        let printed = format!("{loaded:?}");
        assert!(!printed.contains("sk-very-secret"), "{printed}");
        let effective = &loaded.effective;
        assert!(!effective.contains("sk-very-secret") && !effective.contains("localhost"), "{effective}");
        assert!(effective.contains("$HERE/books/*.txt"), "{effective}");
        assert!(!effective.contains(project.0.path().to_str().unwrap()), "{effective}");
        let again = project.load(effective, &[], Endpoints::Needed).unwrap();
        assert_eq!(again.file, loaded.file);
        assert_eq!(&again.effective, effective);
    }

    #[test]
    fn addresses_limits_and_headers_reach_the_endpoint_and_values_stay_out_of_the_file() {
        let project = Project::new();
        let entry = "model = 'm'\nbase_url = ['http://a/v1', 'http://b/v1']\nrequests_per_minute = 60\ntokens_per_minute = 9000\n\
                     context_window = 8192\nconnect_timeout_s = 3\nheaders = { X-Team = '$OPENAI_API_KEY' }";
        let loaded = project.load(&pipeline_text().replace("model = 'm'", entry), &[], Endpoints::Needed).unwrap();
        let endpoint = &loaded.endpoints["作者"];
        assert_eq!(endpoint.base_urls, ["http://a/v1", "http://b/v1"]);
        let options = &endpoint.options;
        let limits = (options.requests_per_minute, options.tokens_per_minute, options.context_window);
        assert_eq!(limits, (Some(60), Some(9000), Some(8192)));
        assert_eq!(options.connect_timeout_s, 3);
        assert_eq!(endpoint.headers.len(), 1);
        let printed = format!("{loaded:?}{}", loaded.effective);
        assert!(!printed.contains("sk-very-secret"), "{printed}");
        assert!(loaded.effective.contains("X-Team = \"$OPENAI_API_KEY\""), "{}", loaded.effective);
        let again = project.load(&loaded.effective, &[], Endpoints::Needed).unwrap();
        assert_eq!((&again.endpoints["作者"].headers, &again.effective), (&endpoint.headers, &loaded.effective));
        let literal = entry.replace("$OPENAI_API_KEY", "sesame-7");
        let problems = project.problems(&pipeline_text().replace("model = 'm'", &literal), &[]);
        assert!(problems.len() == 1 && problems[0].contains("contains a literal value"), "{problems:?}");
        let ftp = entry.replace("http://b/v1", "ftp://b/v1");
        let problems = project.problems(&pipeline_text().replace("model = 'm'", &ftp), &[]);
        assert!(problems.len() == 1 && problems[0].contains("not an HTTP URL"), "{problems:?}");
    }

    #[test]
    fn a_key_is_read_from_the_file_that_a_variable_names() {
        let project = Project::new();
        let text = pipeline_text()
            .replace("model = 'm'", "model = 'm'\napi_key_env = 'TEAM_KEY'\nheaders = { X-T = '$TEAM_KEY' }");
        let problems = project.problems(&text, &[]);
        assert!(problems.iter().all(|problem| problem.contains("the file that TEAM_KEY_FILE names cannot be read")));
        assert_eq!(problems.len(), 2, "the key and the header: {problems:?}");
        project.write("team.key", "sk-very-secret\n");
        let loaded = project.load(&text, &[], Endpoints::Needed).unwrap();
        let secret = Secret::new("sk-very-secret");
        let endpoint = &loaded.endpoints["作者"];
        assert_eq!((endpoint.api_key.as_ref(), &endpoint.headers[0].1), (Some(&secret), &secret));
        let printed = format!("{loaded:?}{}", loaded.effective);
        assert!(!printed.contains("sk-very-secret"), "{printed}");
    }

    #[test]
    fn a_language_may_have_no_sources() {
        let text = pipeline_text().replace("sources = ['作者']", "sources = { en = ['作者'], zh = [] }");
        let loaded = Project::new().load(&text, &[], Endpoints::Needed).unwrap();
        assert!(loaded.file.cast.sources.get(Language::Zh).is_empty());
        assert_eq!(loaded.file.cast.sources.get(Language::En), ["作者"]);
    }

    #[test]
    fn a_replay_needs_no_endpoint() {
        let project = Project::new();
        let text = pipeline_text().replace("model = 'm'", "model = 'm'\napi_key_env = 'NOT_SET'");
        assert!(project.load(&text, &[], Endpoints::Needed).is_err());
        let loaded = project.load(&text, &[], Endpoints::Unneeded).unwrap();
        assert_eq!(loaded.endpoints["作者"].model, "m");
    }

    #[test]
    fn unused_models_need_no_key_or_header() {
        let project = Project::new();
        let unset =
            "model = 'm'\napi_key_env = 'NOT_SET'\nbase_url = 'http://$NOWHERE/v1'\nheaders = { X-T = '$NOT_SET' }";
        let text = pipeline_text().replace("model = 'm'", unset);
        let text =
            text.replace("[cast]", "[models.'法官']\nprovider = 'openai'\nmodel = 'j'\n[cast]\njudges = ['法官']");
        let asked = ["法官".to_owned()];
        let loaded = project.load(&text, &[], Endpoints::NeededBy(&asked)).unwrap();
        assert!(loaded.endpoints["法官"].api_key.is_some() && loaded.endpoints["作者"].api_key.is_none());
        assert!(loaded.effective.contains("$NOWHERE") && loaded.effective.contains("$NOT_SET"), "{}", loaded.effective);
        let asked = ["作者".to_owned()];
        let count = match project.load(&text, &[], Endpoints::NeededBy(&asked)) {
            Err(PipelineError::Invalid { problems, .. }) => problems.len(),
            other => panic!("{other:?}"),
        };
        assert_eq!(count, 3, "the address, the header and the key");
    }

    #[test]
    fn a_key_in_the_file_is_an_error_that_does_not_show_it() {
        let project = Project::new();
        for (entry, sets, expected) in [
            ("model = 'm'\nbase_url = 'http://me:sesame-7@h/v1'", "", "contains a key"),
            ("model = 'm'\nbase_url = 'http://h/v1?key=sesame-7'", "", "contains a key"),
            ("model = 'm'\napi_key = 'sesame-7'", "", "unknown key `api_key`"),
            ("model = 'm'\napi_key = sesame-7", "", "invalid TOML"),
            ("model = 'm'\napi_key_env = 'sesame-7'", "", "not the name of a set environment variable"),
            ("model = 'm'", "models.'作者'.api_key=sesame-7", "the value is not valid TOML"),
            ("model = 'm'", "models.'作者'.api_key='sesame-7'", "unknown key `api_key`"),
        ] {
            let sets: &[&str] = if sets.is_empty() { &[] } else { &[sets] };
            let error =
                project.load(&pipeline_text().replace("model = 'm'", entry), sets, Endpoints::Needed).unwrap_err();
            let printed = format!("{error:?}");
            assert!(printed.contains(expected) && !printed.contains("sesame"), "{entry}: {printed}");
        }
        let text = pipeline_text().replace("model = 'm'", "model = 'm'\nbase_url = '$OPENAI_BASE_URL'");
        assert!(project.load(&text, &[], Endpoints::Needed).is_ok());
    }

    #[test]
    fn api_keys_are_found_in_every_file() {
        let key = format!("sk-proj-{}", "aB3dE5fG7hJ9kL1mN2pQ4rS6");
        let title = format!("export.pretty_name='{key}'");
        let profile = "[[profile]]\nkey = 'k'\nvalue = 'v'\nvisibility = 'public'\n";
        for (file, text, source) in [
            ("mine.toml", format!("{}[export]\npretty_name = '{key}'\n", pipeline_text()), 0),
            ("mine.toml", format!("{}# api_key = \"{key}\" 名\n", pipeline_text()), 0),
            ("mine.toml", format!("{}# 密码：{key}\n", pipeline_text()), 0),
            ("--set", pipeline_text(), 1),
            ("who/mara.toml", format!("name = 'Mara'\nlanguage = 'en'\nbook = 'plain' # {key}\n{profile}"), 1),
            ("vetoes.toml", format!("[[veto]]\nid = 'a/b/0#1' # {key}\nreason = '答非所问'\n"), 2),
        ] {
            let project = Project::new();
            let (text, sets) = match file {
                "mine.toml" => (text, vec![]),
                "--set" => (text, vec![title.as_str()]),
                _ => {
                    project.write(file, &text);
                    (pipeline_text(), vec![])
                }
            };
            let problems = project.problems(&text, &sets);
            assert_eq!(problems.len(), 1, "{file}: {problems:?}");
            assert!(
                problems[0].starts_with(&format!("{source}|"))
                    && problems[0].contains("***")
                    && problems[0].contains("a variable such as"),
                "{problems:?}"
            );
            let printed = format!("{:?}", project.load(&text, &sets, Endpoints::Needed).unwrap_err());
            assert!(!printed.contains(&key), "{file}: {printed}");
        }
    }

    #[test]
    fn a_file_of_another_kind_is_one_error() {
        let project = Project::new();
        let problems = project.problems("# A title\n\nSome *prose*, and [a link](of.md).\n\n| a | b |\n", &[]);
        assert!(problems.len() == 1 && problems[0].contains("not a pipeline file"), "{problems:?}");
        let path = project.0.path().join("gbk.toml");
        std::fs::write(&path, b"name = 'mine'\n# \xba\xec\n").unwrap();
        let error = load(&path, &[], &Environment::default(), Endpoints::Needed).unwrap_err();
        let found = error.findings();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].line, found[0].column, found[0].path.as_path()), (Some(2), Some(3), path.as_path()));
        assert!(found[0].message.contains("0xba"), "{found:?}");
    }

    #[test]
    fn a_canary_is_one_that_the_card_can_show() {
        let project = Project::new();
        for canary in ["a`b-0000-1111", "two\\nlines-0000", " 金丝雀-0000-1111"] {
            let problems = project.problems(&format!("{}[export]\ncanary = \"{canary}\"\n", pipeline_text()), &[]);
            assert!(
                problems.len() == 1 && problems[0].contains("single line without backticks"),
                "{canary}: {problems:?}"
            );
        }
        assert_eq!(
            project.problems(&format!("{}[export]\ncanary = '金丝雀-0000-1111'\n", pipeline_text()), &[]),
            [""; 0]
        );
    }

    #[test]
    fn the_included_pipelines_are_valid() {
        // Tests run in the package's root, from which the paths in the files are resolved.
        let variables = [("OPENAI_BASE_URL", "http://localhost:1/v1")];
        let environment = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter().collect();
        let demo = load(Path::new("pipelines/demo.toml"), &[], &environment, Endpoints::Needed).unwrap();
        assert!(demo.endpoints.is_empty(), "the demo is offline");
        assert_eq!(demo.book_paths.len(), 3);
        assert_eq!(demo.characters.len(), 4);
        let sets = ["cast.extractor=\"offline\"".to_owned()];
        let served = load(Path::new("pipelines/served.toml"), &sets, &environment, Endpoints::Needed).unwrap();
        assert_eq!(served.endpoints.keys().collect::<Vec<_>>(), ["strong", "writer"]);
    }

    #[test]
    fn every_problem_has_its_position() {
        let project = Project::new();
        let check = |change: (&str, &str), expected: &[&str]| {
            let text = pipeline_text().replacen(change.0, change.1, 1);
            assert_ne!(text, pipeline_text(), "{change:?}");
            assert_eq!(project.problems(&text, &[]), expected, "{change:?}");
        };
        check(("[books]", "sed = 7\n[books]"), &[r#"0|sed|unknown key `sed` in the pipeline file|None|Some("seed")"#]);
        check(
            ("[books]", "tau = 7\n[books]"),
            &[r#"0|tau|unknown key `tau` in the pipeline file|Some("it in `[simulate]`")|None"#],
        );
        check(("name = 'mine'\n", ""), &[r#"0||the pipeline file is missing the key `name`|Some("a string")|None"#]);
        check(
            ("judge = 'reader'\n", ""),
            &[
                r#"0|cast|`cast` is missing the key `judge`|Some("a string or a table by language `{ en = …, zh = … }`")|None"#,
            ],
        );
        check(
            ("extractor = 'reader'", "extractor = 3"),
            &[r#"0|3|`cast.extractor` is a number|Some("a string or a table by language `{ en = …, zh = … }`")|None"#],
        );
        check(
            ("extractor = 'reader'", "extractor = { en = 'reader' }"),
            &[r#"0|extractor|`cast.extractor` is missing the key `zh`|Some("a string")|None"#],
        );
        check(
            ("extractor = 'reader'", "extractor = { en = 'reader', zh = '作家' }"),
            &[r#"0|'作家'|`cast.extractor.zh` names an unknown model|Some("`reader` or `作者`")|None"#],
        );
        check(
            ("director = 'reader'", "director = 'raeder'"),
            &[r#"0|'raeder'|`cast.director` names an unknown model|Some("`reader` or `作者`")|Some("reader")"#],
        );
        check(
            ("sources = ['作者']", "sources = ['作者', 'reader', '作者']"),
            &[r#"0|'作者'|`cast.sources[2]` is the same model as `cast.sources[0]`|Some("each model once")|None"#],
        );
        check(
            ("sources = ['作者']", "sources = []"),
            &[
                r#"0|[]|`cast.sources` names no model|Some("at least one model; its replies become the benchmark's references")|None"#,
            ],
        );
        check(
            ("base = { en = 'reader'", "base = { en = 99999999999999999999"),
            &["0|99999999999999999999|this integer is out of range|None|None"],
        );
        check(
            ("[models.reader]", "[models.'Qwen/Qwen3']\nprovider = 'offline'\n[models.reader]"),
            &[
                r#"0|'Qwen/Qwen3'|"Qwen/Qwen3" cannot be part of an id|Some("a name without `/`, `#` or whitespace; the server's id goes into `model`")|None"#,
            ],
        );
        check(
            ("provider = 'openai'", "provider = 'opnai'"),
            &[r#"0|'opnai'|`models."作者".provider` is "opnai"|Some("`\"offline\"` or `\"openai\"`")|Some("openai")"#],
        );
        check(
            ("provider = 'offline'", "variant = 'x'"),
            &[r#"0|reader|`models.reader` is missing the key `provider`|Some("`\"offline\"` or `\"openai\"`")|None"#],
        );
        check(
            ("provider = 'offline'", "provider = 'offline'\ncandidates = 65\nacton_rate = 0.5"),
            &[
                r#"0|65|`models.reader.candidates` is 65|Some("an integer from 1 to 64")|None"#,
                r#"0|acton_rate|unknown key `acton_rate` in `models.reader`|None|Some("action_rate")"#,
            ],
        );
        check(
            ("model = 'm'", "price = { input = 1, outptu = 2 }\nmodel = 'm'"),
            &[
                r#"0|price|`models."作者".price` is missing the key `output`|Some("a number of at least 0")|None"#,
                r#"0|outptu|unknown key `outptu` in `models."作者".price`|None|Some("output")"#,
            ],
        );
        check(
            ("model = 'm'\n", ""),
            &[
                r#"0|'作者'|`models."作者"` has no `model`|Some("`model` here, or OPENAI_MODEL in the environment")|None"#,
            ],
        );
        check(
            ("model = 'm'", "model = 'm'\nbase_url = 'localhost:8000'"),
            &[
                r#"0|'localhost:8000'|`base_url` is not an HTTP URL|Some("a URL such as `http://localhost:8000/v1`")|None"#,
            ],
        );
        check(
            ("model = 'm'", "model = 'm'\nextra_body = { a = ['$HERE'] }"),
            &[
                r#"0|'$HERE'|a variable in `extra_body` would be stored in the journal|Some("the value itself, or `$$` for a dollar sign")|None"#,
            ],
        );
        check(
            ("'$HERE/books', ", "'$HREE/books', "),
            &[
                r#"0|'$HREE/books'|the environment variable HREE is not set|Some("a variable that is set, or `$$` for a dollar sign")|Some("HERE")"#,
            ],
        );
        check(
            ("'$HERE/books', ", "'$HERE/books/红楼夢.txt', "),
            &[r#"0|'$HERE/books/红楼夢.txt'|no file `$HERE/books/红楼夢.txt`|None|Some("$HERE/books/红楼梦.txt")"#],
        );
        check(
            ("who/*", "whom/*"),
            &[
                r"0|'${HERE}/whom/*'|`$HERE/whom/*` matches no file that ends in `.toml`, `.json`, `.png`, `.charx`|None|None",
            ],
        );
        check(
            ("[synthesize]", "[simulate]\nmin_turns = 21\ntau = 3.0\nbalance_on = 'targetd'\n[synthesize]"),
            &[
                r#"0|21|`simulate.min_turns` is above `simulate.max_turns`, which is 20|Some("at most 20")|None"#,
                r#"0|3.0|`simulate.tau` is 3.0|Some("an integer of at least 1")|None"#,
                r#"0|'targetd'|`simulate.balance_on` is "targetd"|Some("`\"targeted\"`, `\"judged\"` or `\"accepted\"`")|Some("targeted")"#,
            ],
        );
        check(
            ("[synthesize]", "[simulate]\nmax_turns = 5\n[synthesize]"),
            &[r#"0|5|`simulate.max_turns` is below `simulate.min_turns`, which is 8|Some("at least 8")|None"#],
        );
        for probability in ["0", "0.0"] {
            let replaced =
                format!("[simulate]\ntarget_probability = {probability}\nbooks = ['红*', '[a', ' ']\n[synthesize]");
            check(
                ("[synthesize]", &replaced),
                &[
                    &format!(
                        r#"0|{probability}|`simulate.target_probability` is 0, so no turn is targeted, but `simulate.balance_on` counts only targeted turns|Some("more than 0, or `simulate.balance_on = \"judged\"`")|None"#
                    ),
                    r#"0|'[a'|invalid pattern `[a`: invalid range pattern|Some("a book's slug such as `emma`, or a pattern such as `red-*`")|None"#,
                    r#"0|' '|" " names no book|Some("a book's slug such as `emma`, or a pattern such as `red-*`")|None"#,
                ],
            );
        }
        check(("[synthesize]", "[simulate]\ntarget_probability = 0\nbalance_on = 'judged'\n[synthesize]"), &[]);
        check(
            ("[synthesize]", "[budget]\nmax_usd = 3\n[chunk]\nencoding = 'gb18003'\nmax_tokens = true\n[synthesize]"),
            &[
                r#"0|3|`budget.max_usd` needs a known cost, but `作者` has no price|Some("a `price` for every served model")|None"#,
                r#"0|'gb18003'|unknown encoding `gb18003`|Some("a WHATWG label such as `gb18030`")|Some("gb18030")"#,
                r#"0|true|`chunk.max_tokens` is a boolean|Some("an integer of at least 256")|None"#,
            ],
        );
        check(
            ("name = 'mine'", "name = '../mine'"),
            &[
                r#"0|'../mine'|`name` is "../mine", which is not a valid folder name|Some("a name without `/`, `\\`, `:` or a leading dot, such as `my-benchmark`")|None"#,
            ],
        );
    }

    #[test]
    fn problems_of_a_set_point_into_it() {
        let project = Project::new();
        let problems = project.problems(
            &pipeline_text(),
            &["cast.judge='raeder'", "simulate.tua=3", "cast.base=reader", "simulate.tau=0"],
        );
        let expected = [
            r#"1|'raeder'|`cast.judge` names an unknown model|Some("`reader` or `作者`")|Some("reader")"#,
            r#"2|tua|unknown key `tua` in `simulate`|None|Some("tau")"#,
            r#"3|reader|the value is not valid TOML|Some("quotes around a string: --set 'cast.base=\"reader\"'")|None"#,
            r#"4|0|`simulate.tau` is 0|Some("an integer of at least 1")|None"#,
        ];
        assert_eq!(problems, expected);
    }

    #[test]
    fn a_syntax_error_neither_hides_nor_causes_other_problems() {
        let project = Project::new();
        let text = pipeline_text().replacen("judge = 'reader'", "judge = \nseed = 1", 1).replacen(
            "established",
            "establish",
            1,
        );
        let problems = project.problems(&text, &[]);
        let messages: Vec<&str> = problems.iter().filter_map(|line| line.split('|').nth(2)).collect();
        let (unknown, establish) = ("unknown key `seed` in `cast`", "unknown key `establish` in `synthesize`");
        assert_eq!(messages.len(), 3, "{problems:?}");
        assert!(messages[0].starts_with("invalid TOML"), "{problems:?}");
        assert_eq!(messages[1..], [unknown, establish]);
    }

    #[test]
    fn character_files_are_checked_like_the_pipeline_file() {
        let project = Project::new();
        let attribute = r#"{"key": "k", "value": "v", "visibility": "publik"}"#;
        let json = format!(r#"{{"name": "薛嵩", "langauge": "zh", "profile": [{attribute}]}}"#);
        project.write("who/zz.json", &json);
        let problems = project.problems(&pipeline_text(), &[]);
        let expected = [
            format!(r#"2|{json}|the character file is missing the key `language`|Some("`\"en\"` or `\"zh\"`")|None"#)
                .replace(&format!("2|{json}|"), "2||"),
            r#"2|"薛嵩"|the character `薛嵩` is also defined in `$HERE/who/xue.toml`|Some("each character once")|None"#
                .to_owned(),
            r#"2|"langauge"|unknown key `langauge` in the character file|None|Some("language")"#.to_owned(),
            r#"2|"publik"|`profile[0].visibility` is "publik"|Some("`\"public\"` or `\"private\"`")|Some("public")"#
                .to_owned(),
        ];
        assert_eq!(problems, expected);
    }

    #[test]
    fn an_entry_with_chapters_takes_precedence() {
        let project = Project::new();
        let entry =
            "{ path = '$HERE/books/红楼梦.txt', chapters = '1-3, 7', license = 'public domain', source = '甲戌本' }, ";
        let text = pipeline_text().replace("paths = [", &format!("paths = [{entry}"));
        let loaded = project.load(&text, &[], Endpoints::Needed).unwrap();
        let chosen: Vec<Option<String>> =
            loaded.book_paths.iter().map(|book| book.chapters.as_ref().map(ToString::to_string)).collect();
        assert_eq!(chosen, [None, Some("1-3, 7".to_owned())]);
        let licenses = loaded.book_paths.iter().map(|book| (book.license.as_deref(), book.source.as_deref()));
        assert_eq!(licenses.collect::<Vec<_>>(), [(None, None), (Some("public domain"), Some("甲戌本"))]);
        assert!(loaded.effective.contains("chapters = \"1-3, 7\""), "{}", loaded.effective);
        let again = project.load(&loaded.effective, &[], Endpoints::Needed).unwrap();
        assert_eq!(again.book_paths, loaded.book_paths);
    }

    #[test]
    fn an_invalid_chapter_selection_is_reported_at_its_position() {
        let project = Project::new();
        let problems =
            |entry: &str| project.problems(&pipeline_text().replace("paths = [", &format!("paths = [{entry}, ")), &[]);
        let expected = "Some(\"positions of chapters, such as `1-12` or `1-3, 7, 20-`\")";
        assert_eq!(
            problems("{ path = '$HERE/books/plain.txt', chapters = '9-3' }"),
            [format!("0|'9-3'|the range `9-3` ends before it starts|{expected}|None")]
        );
        let nowhere = problems("{ path = '$HERE/books/plian.txt', chapters = '一' }");
        assert_eq!(
            nowhere,
            [
                r#"0|'$HERE/books/plian.txt'|no file `$HERE/books/plian.txt`|None|Some("$HERE/books/plain.txt")"#
                    .to_owned(),
                format!("0|'一'|`一` is not a chapter number or a range such as `3-7`|{expected}|None"),
            ]
        );
        assert_eq!(
            problems("{ path = '$HERE/books', chaptres = '1' }"),
            [r#"0|chaptres|unknown key `chaptres` in `books.paths[0]`|None|Some("chapters")"#,]
        );
        let one = "{ path = '$HERE/books/plain.txt', chapters = '1' }";
        let twice = problems(&format!("{one}, {{ path = '$HERE/books/*.txt', chapters = '2' }}"));
        assert_eq!(twice.len(), 1, "{twice:?}");
        assert!(twice[0].contains("two entries match"), "{twice:?}");
    }

    #[test]
    fn two_files_with_the_same_slug_are_an_error() {
        let project = Project::new();
        project.write("books/plain.md", "Twice");
        let problems = project.problems(&pipeline_text(), &[]);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains("would both have the book slug `plain`"), "{problems:?}");
    }
}
