//! Checks that a schema cannot express: names that must exist, and numbers that depend on each other.
//!
//! The checks read the document instead of the typed file, so that they also run when there are other problems.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::document::problems::SourceSpan;
use super::document::schema_check::one_of;
use super::document::{Document, Problem, child, dotted};
use super::environment::Environment;
use super::redact::{has_key, is_variable};
use crate::llm::ServedOptions;
use crate::schema::slug;
use crate::stages::{extract, select, simulate, synthesize};

/// Checks names and numbers. Returns the names of the models in the cast.
pub(crate) fn check(document: &Document, problems: &mut Vec<Problem>) -> BTreeSet<String> {
    name(document, problems);
    model_names(document, problems);
    let used = cast(document, problems);
    counts_and_limits(document, problems);
    targets(document, problems);
    drawn_books(document, problems);
    characters(document, problems);
    priced(document, &used, problems);
    encoding(document, problems);
    canary(document, problems);
    used
}

/// The name must be usable as a folder name below `outputs/`.
fn name(document: &Document, problems: &mut Vec<Problem>) {
    for (pointer, name) in document.strings("/name") {
        let begins = name.starts_with(['.', ' ']) || name.ends_with(' ');
        if begins || name.contains(|c: char| matches!(c, '/' | '\\' | ':') || c.is_control()) {
            let problem =
                Problem::new(document.at(&pointer), format!("`name` is {name:?}, which is not a valid folder name"));
            problems.push(problem.expected("a name without `/`, `\\`, `:` or a leading dot, such as `my-benchmark`"));
        }
    }
}

/// Model names are parts of ids, `<character>/<source model>/<n>#<turn>`, and of draws.
fn model_names(document: &Document, problems: &mut Vec<Problem>) {
    for model in document.keys("/models") {
        if model.is_empty() || model.contains(|c: char| matches!(c, '/' | '#') || c.is_whitespace()) {
            let at = document.key(&child("/models", model));
            let problem = Problem::new(at, format!("{model:?} cannot be part of an id"));
            problems.push(problem.expected("a name without `/`, `#` or whitespace; the server's id goes into `model`"));
        }
    }
}

/// Every member of the cast must be a model, and no model may play the same part twice.
fn cast(document: &Document, problems: &mut Vec<Problem>) -> BTreeSet<String> {
    let models = document.keys("/models");
    let mut used = BTreeSet::new();
    for part in document.keys("/cast") {
        let pointer = child("/cast", part);
        let mut lists = vec![pointer.clone()];
        lists.extend(document.keys(&pointer).iter().map(|language| child(&pointer, language)));
        let mut played = false;
        for list in lists {
            let mut firsts = BTreeMap::new();
            for (pointer, name) in document.strings(&list) {
                played = true;
                used.insert(name.to_owned());
                if !models.is_empty() && !models.contains(&name) {
                    let known = one_of(models.iter().map(|model| format!("`{model}`")));
                    let problem =
                        Problem::new(document.at(&pointer), format!("`{}` names an unknown model", dotted(&pointer)));
                    problems.push(problem.expected(known).nearest(name, models.iter().copied()));
                } else if let Some(first) = firsts.insert(name, dotted(&pointer)) {
                    let message = format!("`{}` is the same model as `{first}`", dotted(&pointer));
                    problems.push(Problem::new(document.at(&pointer), message).expected("each model once"));
                }
            }
        }
        // One language may have no models, but not all of them.
        if played || !document.has(&pointer) {
            continue;
        }
        let expected = match part {
            "sources" => "at least one model; its replies become the benchmark's references",
            "synthesizers" if count(document) > 0 => "at least one model, or `synthesize.count = { en = 0, zh = 0 }`",
            _ => continue,
        };
        problems.push(Problem::new(document.at(&pointer), format!("`cast.{part}` names no model")).expected(expected));
    }
    used
}

/// The data card shows the canary as inline code, which must match the rows exactly so that a search finds it.
fn canary(document: &Document, problems: &mut Vec<Problem>) {
    for (pointer, canary) in document.strings("/export/canary") {
        if canary.trim() != canary
            || canary.contains(|c: char| c == '`' || c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'))
        {
            let problem = Problem::new(document.at(&pointer), "the canary cannot be shown unchanged on the data card");
            problems
                .push(problem.expected("a single line without backticks or surrounding whitespace, such as a GUID"));
        }
    }
}

/// Lower bounds must not be above their upper bounds.
fn counts_and_limits(document: &Document, problems: &mut Vec<Problem>) {
    let simulate = simulate::Params::default();
    let extract = extract::Params::default();
    let select = select::Params::default();
    let bounds = [
        ("/simulate/min_turns", simulate.min_turns, "/simulate/max_turns", simulate.max_turns),
        ("/simulate/test_every", simulate.test_every, "/simulate/max_turns", simulate.max_turns),
        ("/extract/min_utterances", extract.min_utterances, "/extract/max_utterances", extract.max_utterances),
        ("/select/sample_threshold", select.sample_threshold.into(), "/select/keep_source", select.keep_source.into()),
    ];
    for (low, low_default, high, high_default) in bounds {
        let number = |pointer: &str, default: u32| {
            document.value.pointer(pointer).map_or(Some(u64::from(default)), Value::as_u64)
        };
        let (Some(low_number), Some(high_number)) = (number(low, low_default), number(high, high_default)) else {
            continue;
        };
        if low_number <= high_number {
            continue;
        }
        // Point at the number that the file sets; the other may be a default.
        let (key, bound, other) = if document.has(low) {
            (low, format!("at most {high_number}"), format!("`{}`, which is {high_number}", dotted(high)))
        } else {
            (high, format!("at least {low_number}"), format!("`{}`, which is {low_number}", dotted(low)))
        };
        let word = if key == low { "above" } else { "below" };
        let message = format!("`{}` is {word} {other}", dotted(key));
        problems.push(Problem::new(document.at(key), message).expected(bound));
    }
}

/// If targeted turns are counted, some turns must be targeted.
fn targets(document: &Document, problems: &mut Vec<Problem>) {
    let pointer = "/simulate/target_probability";
    let is_targeted = document.value.pointer("/simulate/balance_on").is_none_or(|count| count == "targeted");
    if is_targeted && document.value.pointer(pointer).and_then(Value::as_f64) == Some(0.0) {
        let message = "`simulate.target_probability` is 0, so no turn is targeted, but `simulate.balance_on` counts only targeted turns";
        let problem = Problem::new(document.at(pointer), message);
        problems.push(problem.expected("more than 0, or `simulate.balance_on = \"judged\"`"));
    }
}

/// `simulate.books` must contain slugs or patterns.
fn drawn_books(document: &Document, problems: &mut Vec<Problem>) {
    for (pointer, entry) in document.strings("/simulate/books") {
        let fault = match glob::Pattern::new(entry) {
            Err(error) => format!("invalid pattern `{entry}`: {}", error.msg),
            Ok(_) if slug(entry) == "-" && !entry.contains(['*', '?', '[']) => format!("{entry:?} names no book"),
            Ok(_) => continue,
        };
        let problem = Problem::new(document.at(&pointer), fault);
        problems.push(problem.expected("a book's slug such as `emma`, or a pattern such as `red-*`"));
    }
}

/// Returns a lower bound of the number of synthesized characters; the default counts as one language's.
fn count(document: &Document) -> u64 {
    let count = |language| document.value.pointer(&format!("/synthesize/count/{language}")).and_then(Value::as_u64);
    if document.has("/synthesize/count") {
        count("en").unwrap_or(0) + count("zh").unwrap_or(0)
    } else {
        u64::from(synthesize::Params::default().count.en)
    }
}

/// There must be at least one test character.
fn characters(document: &Document, problems: &mut Vec<Problem>) {
    if count(document) == 0 && document.strings("/synthesize/established").is_empty() {
        let problem = Problem::new(document.key("/synthesize"), "there are no test characters");
        problems.push(
            problem.expected(
                "`synthesize.established` with `\"pool\"` or character files, or a `synthesize.count` above 0",
            ),
        );
    }
}

/// A budget in USD needs a price for every served model.
fn priced(document: &Document, used: &BTreeSet<String>, problems: &mut Vec<Problem>) {
    if !document.has("/budget/max_usd") {
        return;
    }
    let unpriced: Vec<&str> = document
        .keys("/models")
        .into_iter()
        .filter(|name| used.contains(*name) && is_served(document, name))
        .filter(|name| !document.has(&format!("{}/price", child("/models", name))))
        .collect();
    if !unpriced.is_empty() {
        let message = format!("`budget.max_usd` needs a known cost, but `{}` has no price", unpriced.join("`, `"));
        problems
            .push(Problem::new(document.at("/budget/max_usd"), message).expected("a `price` for every served model"));
    }
}

fn encoding(document: &Document, problems: &mut Vec<Problem>) {
    for (pointer, label) in document.strings("/chunk/encoding") {
        if encoding_rs::Encoding::for_label(label.as_bytes()).is_none() {
            let known =
                ["utf-8", "gb18030", "gbk", "big5", "utf-16le", "windows-1252", "iso-8859-1", "shift_jis", "euc-kr"];
            let problem = Problem::new(document.at(&pointer), format!("unknown encoding `{label}`"));
            problems.push(problem.expected("a WHATWG label such as `gb18030`").nearest(label, known));
        }
    }
}

/// URLs must not contain keys, since they are written to the manifest. `variables` are the strings with variables,
/// which stay unexpanded there.
pub(crate) fn keys_in_addresses(
    document: &Document,
    variables: &BTreeMap<String, String>,
    problems: &mut Vec<Problem>,
) {
    for model in document.keys("/models") {
        let pointer = format!("{}/base_url", child("/models", model));
        for (pointer, url) in document.strings(&pointer) {
            if has_key(variables.get(&pointer).map_or(url, String::as_str)) {
                let message = format!("`{}` contains a key, which would be written to the manifest", dotted(&pointer));
                let problem = Problem::new(document.at(&pointer), message);
                problems.push(
                    problem.expected("the key in the variable named by `api_key_env`, or the whole URL in a variable"),
                );
            }
        }
    }
}

/// Header values must come from the environment, since the file is written to the manifest.
pub(crate) fn values_of_headers(
    document: &Document,
    variables: &BTreeMap<String, String>,
    problems: &mut Vec<Problem>,
) {
    for model in document.keys("/models") {
        let pointer = format!("{}/headers", child("/models", model));
        for header in document.keys(&pointer) {
            let pointer = child(&pointer, header);
            // A variable that is not set has been reported already.
            let names_none = document.strings(&pointer).first().is_some_and(|(_, text)| !text.contains('$'));
            if names_none && !variables.contains_key(&pointer) {
                let problem =
                    Problem::new(document.key(&pointer), format!("`{}` contains a literal value", dotted(&pointer)));
                problems.push(problem.expected("a variable, such as `$TEAM_TOKEN`"));
            }
        }
    }
}

/// Returns whether a model of the file is on a server.
pub(crate) fn is_served(document: &Document, model: &str) -> bool {
    let provider = document.value.pointer(&format!("{}/provider", child("/models", model)));
    provider.and_then(Value::as_str) == Some("openai")
}

/// The endpoint of a served model, as far as file and environment define it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct EndpointSettings {
    /// The URLs up to and including `/v1`.
    pub(crate) base_urls: Vec<String>,
    /// The model's id.
    pub(crate) model: Option<String>,
    /// The API key.
    pub(crate) api_key: Option<String>,
}

/// Resolves the endpoint of a served model; required values that are neither in the file nor in the environment are
/// problems.
pub(crate) fn endpoint_settings(
    document: &Document,
    model: &str,
    needs_endpoint: bool,
    environment: &Environment,
    problems: &mut Vec<Problem>,
) -> EndpointSettings {
    let entry = child("/models", model);
    let setting = |key: &str| document.strings(&format!("{entry}/{key}")).first().map(|(_, text)| (*text).to_owned());
    let from = |key: &str, variable: &str| setting(key).or_else(|| environment.get(variable).map(str::to_owned));
    let lacking = |key: &str, variable: &str| {
        Problem::new(document.key(&entry), format!("`{}` has no `{key}`", dotted(&entry)))
            .expected(format!("`{key}` here, or {variable} in the environment"))
    };
    let url_pointer = format!("{entry}/base_url");
    let mut urls: Vec<(SourceSpan, String)> = document
        .strings(&url_pointer)
        .into_iter()
        .map(|(pointer, url)| (document.at(&pointer), url.to_owned()))
        .collect();
    if urls.is_empty() {
        urls.extend(environment.get(ServedOptions::BASE_URL_ENV).map(|url| (document.key(&entry), url.to_owned())));
    }
    let mut settings = EndpointSettings {
        base_urls: urls.iter().map(|(_, url)| url.clone()).collect(),
        model: from("model", ServedOptions::MODEL_ENV),
        api_key: None,
    };
    if settings.model.is_none() {
        problems.push(lacking("model", ServedOptions::MODEL_ENV));
    }
    if !needs_endpoint {
        return settings;
    }
    if urls.is_empty() {
        problems.push(lacking("base_url", ServedOptions::BASE_URL_ENV));
    }
    let origin = if document.has(&url_pointer) { "`base_url`" } else { ServedOptions::BASE_URL_ENV };
    for (at, url) in urls {
        if !(url.starts_with("http://") || url.starts_with("https://")) {
            let problem = Problem::new(at, format!("{origin} is not an HTTP URL"));
            problems.push(problem.expected("a URL such as `http://localhost:8000/v1`"));
        }
    }
    let pointer = format!("{entry}/api_key_env");
    let key = environment.find(&setting("api_key_env").unwrap_or_else(|| ServedOptions::API_KEY_ENV.to_owned()));
    settings.api_key = key.as_deref().ok().map(str::to_owned);
    if let Err(unset) = key
        && (document.has(&pointer) || unset.file.is_some())
    {
        let at = document.key(if document.has(&pointer) { &pointer } else { &entry });
        let (message, expected) = match &unset.file {
            Some(_) => (unset.to_string(), "a file with the key as its only line"),
            None if is_variable(&unset.name) => (unset.to_string(), "the name of a variable that holds the key"),
            // If a key was entered instead of its variable's name, it must not be shown.
            None => (
                "`api_key_env` is not the name of a set environment variable".to_owned(),
                "the name of a variable that holds the key",
            ),
        };
        problems.push(Problem::new(at, message).expected(expected));
    }
    settings
}
