//! What a schema cannot say of a pipeline file: names that must exist, figures that must fit each other.
//!
//! The checks read the document, not the typed file, so that they work beside other problems.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::conceal::{has_key, is_variable};
use super::document::{Document, child, dotted};
use super::environment::Environment;
use super::file::Served;
use super::problems::{At, Problem};
use super::shape::one_of;
use crate::schema::slug;
use crate::stages::{extract, select, simulate, synthesize};

/// Checks names and figures. Returns the models that play a part.
pub(super) fn check(document: &Document, problems: &mut Vec<Problem>) -> BTreeSet<String> {
    name(document, problems);
    model_names(document, problems);
    let used = cast(document, problems);
    figures(document, problems);
    aims(document, problems);
    drawn_books(document, problems);
    characters(document, problems);
    priced(document, &used, problems);
    encoding(document, problems);
    canary(document, problems);
    used
}

/// The name is a folder's name below `outputs/`.
fn name(document: &Document, problems: &mut Vec<Problem>) {
    for (pointer, name) in document.strings("/name") {
        let begins = name.starts_with(['.', ' ']) || name.ends_with(' ');
        if begins || name.contains(|c: char| matches!(c, '/' | '\\' | ':') || c.is_control()) {
            let problem = Problem::new(document.at(&pointer), format!("`name` is {name:?}, which names no folder"));
            problems.push(problem.expected("a name without `/`, `\\`, `:` and leading dot, such as `my-benchmark`"));
        }
    }
}

/// The names of models are parts of ids, `<character>/<source model>/<n>#<turn>`, and of draws.
fn model_names(document: &Document, problems: &mut Vec<Problem>) {
    for model in document.keys("/models") {
        if model.is_empty() || model.contains(|c: char| matches!(c, '/' | '#') || c.is_whitespace()) {
            let at = document.key(&child("/models", model));
            let problem = Problem::new(at, format!("{model:?} cannot be a part of an id"));
            problems
                .push(problem.expected("a name without `/`, `#` and white space; the server's id goes into `model`"));
        }
    }
}

/// Every member of the cast names a model; no model plays one part twice.
fn cast(document: &Document, problems: &mut Vec<Problem>) -> BTreeSet<String> {
    let models = document.keys("/models");
    let mut used = BTreeSet::new();
    for part in document.keys("/cast") {
        let pointer = child("/cast", part);
        let mut lists = vec![pointer.clone()];
        lists.extend(document.keys(&pointer).iter().map(|language| child(&pointer, language)));
        let mut played = false;
        for list in lists {
            let mut seen = BTreeMap::new();
            for (place, name) in document.strings(&list) {
                played = true;
                used.insert(name.to_owned());
                if !models.is_empty() && !models.contains(&name) {
                    let known = one_of(models.iter().map(|model| format!("`{model}`")));
                    let problem = Problem::new(document.at(&place), format!("`{}` names no model", dotted(&place)));
                    problems.push(problem.expected(known).nearest(name, models.iter().copied()));
                } else if let Some(first) = seen.insert(name, dotted(&place)) {
                    let message = format!("`{}` is the same model as `{first}`", dotted(&place));
                    problems.push(Problem::new(document.at(&place), message).expected("each model once"));
                }
            }
        }
        // A language may go without; all of them may not.
        if played || !document.has(&pointer) {
            continue;
        }
        let expected = match part {
            "sources" => "at least one model, whose replies the benchmark is made of",
            "synthesizers" if count(document) > 0 => "at least one model, or `synthesize.count = { en = 0, zh = 0 }`",
            _ => continue,
        };
        problems.push(Problem::new(document.at(&pointer), format!("`cast.{part}` names no model")).expected(expected));
    }
    used
}

/// The card shows the canary as code in one line: whoever looks for it has to find what the rows have.
fn canary(document: &Document, problems: &mut Vec<Problem>) {
    for (pointer, canary) in document.strings("/export/canary") {
        if canary.trim() != canary
            || canary.contains(|c: char| c == '`' || c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'))
        {
            let problem =
                Problem::new(document.at(&pointer), "the card would show this canary other than the rows have it");
            problems
                .push(problem.expected("one line without backticks and without white space around it, such as a GUID"));
        }
    }
}

/// Figures that bound each other do so the right way round.
fn figures(document: &Document, problems: &mut Vec<Problem>) {
    let simulate = simulate::Params::default();
    let extract = extract::Params::default();
    let select = select::Params::default();
    let bounds = [
        ("/simulate/min_turns", simulate.min_turns, "/simulate/max_turns", simulate.max_turns),
        ("/simulate/test_every", simulate.test_every, "/simulate/max_turns", simulate.max_turns),
        ("/extract/min_utterances", extract.min_utterances, "/extract/max_utterances", extract.max_utterances),
        ("/select/sample", select.sample.into(), "/select/keep_source", select.keep_source.into()),
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
        // The caret goes to the figure that the file gives; the other may be a default.
        let (given, bound, other) = if document.has(low) {
            (low, format!("at most {high_number}"), format!("`{}`, which is {high_number}", dotted(high)))
        } else {
            (high, format!("at least {low_number}"), format!("`{}`, which is {low_number}", dotted(low)))
        };
        let word = if given == low { "above" } else { "below" };
        let message = format!("`{}` is {word} {other}", dotted(given));
        problems.push(Problem::new(document.at(given), message).expected(bound));
    }
}

/// Where turns that aim at a dimension are counted, some do.
fn aims(document: &Document, problems: &mut Vec<Problem>) {
    let pointer = "/simulate/emphasis";
    let is_targeted = document.value.pointer("/simulate/count").is_none_or(|count| count == "targeted");
    if is_targeted && document.value.pointer(pointer).and_then(Value::as_f64) == Some(0.0) {
        let message = "`simulate.emphasis` is 0: no turn aims at a dimension, and `simulate.count` counts no others";
        let problem = Problem::new(document.at(pointer), message);
        problems.push(problem.expected("more than 0, or `simulate.count = \"judged\"`"));
    }
}

/// The books that lanes play are slugs or patterns.
fn drawn_books(document: &Document, problems: &mut Vec<Problem>) {
    for (pointer, entry) in document.strings("/simulate/books") {
        let fault = match glob::Pattern::new(entry) {
            Err(error) => format!("`{entry}` is no pattern: {}", error.msg),
            Ok(_) if slug(entry) == "-" && !entry.contains(['*', '?', '[']) => format!("{entry:?} names no book"),
            Ok(_) => continue,
        };
        let problem = Problem::new(document.at(&pointer), fault);
        problems.push(problem.expected("a book's slug such as `emma`, or a pattern such as `red-*`"));
    }
}

/// How many characters are made up, at least; 1 stands for the default.
fn count(document: &Document) -> u64 {
    let count = |language| document.value.pointer(&format!("/synthesize/count/{language}")).and_then(Value::as_u64);
    if document.has("/synthesize/count") {
        count("en").unwrap_or(0) + count("zh").unwrap_or(0)
    } else {
        u64::from(synthesize::Params::default().count.en)
    }
}

/// Somebody plays.
fn characters(document: &Document, problems: &mut Vec<Problem>) {
    if count(document) == 0 && document.strings("/synthesize/established").is_empty() {
        let problem = Problem::new(document.key("/synthesize"), "there is no test character");
        problems.push(
            problem.expected(
                "`synthesize.established = \"pool\"` or character files there, or a `synthesize.count` above 0",
            ),
        );
    }
}

/// A bound in USD needs a price for every model that costs.
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
        let message =
            format!("`budget.max_usd` bounds a cost that is unknown: `{}` has no price", unpriced.join("`, `"));
        problems
            .push(Problem::new(document.at("/budget/max_usd"), message).expected("a `price` for every served model"));
    }
}

fn encoding(document: &Document, problems: &mut Vec<Problem>) {
    for (pointer, label) in document.strings("/chunk/encoding") {
        if encoding_rs::Encoding::for_label(label.as_bytes()).is_none() {
            let known =
                ["utf-8", "gb18030", "gbk", "big5", "utf-16le", "windows-1252", "iso-8859-1", "shift_jis", "euc-kr"];
            let problem = Problem::new(document.at(&pointer), format!("`{label}` is no encoding"));
            problems.push(problem.expected("a WHATWG label such as `gb18030`").nearest(label, known));
        }
    }
}

/// No address brings a key into the manifest. `variables` holds the strings that refer to variables: these stay unexpanded there.
pub(super) fn keys_in_addresses(
    document: &Document,
    variables: &BTreeMap<String, String>,
    problems: &mut Vec<Problem>,
) {
    for model in document.keys("/models") {
        let place = format!("{}/base_url", child("/models", model));
        for (pointer, url) in document.strings(&place) {
            if has_key(variables.get(&pointer).map_or(url, String::as_str)) {
                let message = format!("`{}` holds a key, which would stand in the manifest", dotted(&pointer));
                let problem = Problem::new(document.at(&pointer), message);
                problems.push(problem.expected("the key in the variable that `api_key_env` names, or the URL in one"));
            }
        }
    }
}

/// The values of headers come from the environment: what stands in the file would stand in the manifest too.
pub(super) fn values_of_headers(
    document: &Document,
    variables: &BTreeMap<String, String>,
    problems: &mut Vec<Problem>,
) {
    for model in document.keys("/models") {
        let place = format!("{}/headers", child("/models", model));
        for header in document.keys(&place) {
            let pointer = child(&place, header);
            // One that names a variable which is not set has been told already.
            let names_none = document.strings(&pointer).first().is_some_and(|(_, text)| !text.contains('$'));
            if names_none && !variables.contains_key(&pointer) {
                let problem = Problem::new(document.key(&pointer), format!("`{}` holds a value", dotted(&pointer)));
                problems.push(problem.expected("the name of a variable that holds it, such as `$TEAM_TOKEN`"));
            }
        }
    }
}

/// Says whether a model of the file is played by a server.
pub(super) fn is_served(document: &Document, model: &str) -> bool {
    let provider = document.value.pointer(&format!("{}/provider", child("/models", model)));
    provider.and_then(Value::as_str) == Some("openai")
}

/// How a served model is reached, as far as file and environment say.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Reached {
    /// The URLs up to and with `/v1`.
    pub(super) base_urls: Vec<String>,
    /// The model's id.
    pub(super) model: Option<String>,
    /// The key.
    pub(super) api_key: Option<String>,
}

/// Finds how a served model is reached; what is needed and neither given nor in the environment is a problem.
pub(super) fn reach(
    document: &Document,
    model: &str,
    needs_endpoint: bool,
    environment: &Environment,
    problems: &mut Vec<Problem>,
) -> Reached {
    let entry = child("/models", model);
    let given = |key: &str| document.strings(&format!("{entry}/{key}")).first().map(|(_, text)| (*text).to_owned());
    let from = |key: &str, variable: &str| given(key).or_else(|| environment.get(variable).map(str::to_owned));
    let lacking = |key: &str, variable: &str| {
        Problem::new(document.key(&entry), format!("`{}` has no `{key}`", dotted(&entry)))
            .expected(format!("`{key}` here, or {variable} in the environment"))
    };
    let url_place = format!("{entry}/base_url");
    let mut urls: Vec<(At, String)> =
        document.strings(&url_place).into_iter().map(|(place, url)| (document.at(&place), url.to_owned())).collect();
    if urls.is_empty() {
        urls.extend(environment.get(Served::BASE_URL_ENV).map(|url| (document.key(&entry), url.to_owned())));
    }
    let mut reached = Reached {
        base_urls: urls.iter().map(|(_, url)| url.clone()).collect(),
        model: from("model", Served::MODEL_ENV),
        api_key: None,
    };
    if reached.model.is_none() {
        problems.push(lacking("model", Served::MODEL_ENV));
    }
    if !needs_endpoint {
        return reached;
    }
    if urls.is_empty() {
        problems.push(lacking("base_url", Served::BASE_URL_ENV));
    }
    let whence = if document.has(&url_place) { "`base_url`" } else { Served::BASE_URL_ENV };
    for (at, url) in urls {
        if !(url.starts_with("http://") || url.starts_with("https://")) {
            let problem = Problem::new(at, format!("{whence} is no HTTP address"));
            problems.push(problem.expected("a URL such as `http://localhost:8000/v1`"));
        }
    }
    let place = format!("{entry}/api_key_env");
    let key = environment.find(&given("api_key_env").unwrap_or_else(|| Served::API_KEY_ENV.to_owned()));
    reached.api_key = key.as_deref().ok().map(str::to_owned);
    if let Err(unset) = key
        && (document.has(&place) || unset.file.is_some())
    {
        let at = document.key(if document.has(&place) { &place } else { &entry });
        let (message, expected) = match &unset.file {
            Some(_) => (unset.to_string(), "a file with the key as its only line"),
            None if is_variable(&unset.name) => (unset.to_string(), "the name of a variable that holds the key"),
            // A key in place of its variable's name must not be shown.
            None => (
                "`api_key_env` names no environment variable that is set".to_owned(),
                "the name of a variable that holds the key",
            ),
        };
        problems.push(Problem::new(at, message).expected(expected));
    }
    reached
}
