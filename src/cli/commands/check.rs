//! The command `check`: validates a pipeline file and optionally its endpoints, or a folder with a data set or a scene
//! pool.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::check_dataset;
use super::chunk::usage;
use super::pool;
use crate::cli::args::PoolArguments;
use crate::cli::exit::Exit;
use crate::cli::output::control_chars::{visible, visible_lines};
use crate::cli::output::diagnostics::FailedCommand;
use crate::cli::output::table;
use crate::cli::{Terminal, failed, to_stdout, variables};
use crate::config;
use crate::config::{Check, Finding};
use crate::config::{Endpoints, PipelineError};
use crate::pipeline::{self, Examined, ExaminedModel, ProbedAddress, RunError};
use crate::stages::export::thousands;
use crate::store::{self, DatasetLocation};

/// Validates a pipeline file (with `probe` its endpoints too) or a folder.
pub(crate) fn check(path: &Path, probe: bool, sets: &[String], json: bool) -> Exit {
    let terminal = Terminal::new();
    let environment = match variables(&terminal) {
        Ok(environment) => environment,
        Err(exit) => return exit,
    };
    if path.is_dir() {
        if probe || !sets.is_empty() {
            return usage("`--probe` and `--set` apply only to pipeline files", "remove them");
        }
        return folder(path, json);
    }
    let found =
        config::load(path, sets, &environment, Endpoints::Needed).map_err(RunError::Invalid).and_then(|loaded| {
            let mut examined = pipeline::examine(&loaded)?;
            if probe {
                let mut runtime = tokio::runtime::Builder::new_current_thread();
                let runtime = runtime.enable_all().build().map_err(RunError::Start)?;
                runtime.block_on(pipeline::probe(&loaded, &mut examined));
            }
            Ok(examined)
        });
    match found {
        Ok(examined) => {
            if json {
                let found: Vec<Finding> = findings(&examined).map(|found| found.finding(path)).collect();
                let mut output = json!({"findings": found});
                if let Ok(Value::Object(examined)) = serde_json::to_value(&examined) {
                    output.as_object_mut().expect("`json!` built an object").extend(examined);
                }
                to_stdout(&format!("{output}\n"));
            } else {
                to_stdout(&text(path, &examined, probe));
            }
            if findings(&examined).next().is_some() { Exit::Failures } else { Exit::Done }
        }
        // An invalid file is a finding, not a failed command.
        Err(RunError::Invalid(error @ PipelineError::Invalid { .. })) if json => {
            to_stdout(&format!("{}\n", json!({"findings": error.findings()})));
            Exit::Failures
        }
        Err(error @ RunError::Invalid(PipelineError::Invalid { .. })) => {
            failed(&error, &terminal, FailedCommand::Other);
            Exit::Failures
        }
        Err(error) => failed(&error, &terminal, FailedCommand::Other),
    }
}

/// Validates a folder: a data set, a run or a scene pool.
fn folder(path: &Path, json: bool) -> Exit {
    if let Some(location) = DatasetLocation::find(path) {
        return check_dataset::check(&location, json);
    }
    if store::is_run(path) {
        return usage(
            &format!("the run `{}` has no data set yet", path.display()),
            "run `dramaturg build` to write it",
        );
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_of_pool = |path: &Path| {
        let name = path.file_name().unwrap_or_default();
        path.extension().is_some_and(|ending| ending == "jsonl")
            || (path.is_dir() && ["custom", "edits", "aliases"].iter().any(|known| name == *known))
    };
    if entries.into_iter().any(|path| is_of_pool(&path)) {
        return pool::check(&PoolArguments { pool: path.to_owned(), json });
    }
    usage(
        &format!("`{}` is not a data set, run or scene pool", path.display()),
        "give a pipeline file (`pipelines/demo.toml`), a run (`outputs/demo`), a data set or a pool (`scene_pool`)",
    )
}

/// A finding about a book or a model.
struct Found<'a> {
    /// The book; `None` for a finding about a model.
    book: Option<&'a Path>,
    location: String,
    message: &'a str,
}

impl Found<'_> {
    /// Converts to the form shared with other checks.
    fn finding(&self, pipeline: &Path) -> Finding {
        let (check, remedy) = match self.book {
            Some(_) => (Check::Book, "fix the file, or remove it from `books.paths`"),
            None => (Check::Model, "fix this, and probe again with `--probe`"),
        };
        let message =
            if self.book.is_some() { self.message.to_owned() } else { format!("{}: {}", self.location, self.message) };
        Finding { check, remedy, path: self.book.unwrap_or(pipeline).to_owned(), message, ..Finding::default() }
    }
}

/// Returns all findings about books and models.
fn findings(examined: &Examined) -> impl Iterator<Item = Found<'_>> {
    let books = examined.books.iter().filter_map(|book| {
        let message = book.fault.as_deref()?;
        Some(Found { book: Some(&book.path), location: book.path.display().to_string(), message })
    });
    let addresses =
        examined.models.iter().flat_map(|model| model.addresses.iter().map(move |address| (model, address)));
    let addresses = addresses.flat_map(|(model, address)| {
        address.findings.iter().map(|message| Found { book: None, location: location(model, address), message })
    });
    books.chain(addresses)
}

fn location(model: &ExaminedModel, address: &ProbedAddress) -> String {
    if address.address.is_empty() { model.name.clone() } else { format!("{} at {}", model.name, address.address) }
}

fn text(path: &Path, examined: &Examined, probed: bool) -> String {
    let readable = examined.books.iter().filter(|book| book.fault.is_none());
    let chunks: u64 = readable.clone().map(|book| book.chunks).sum();
    let path = visible(&path.display().to_string()).into_owned();
    let mut text = format!("{path}: {} books, {} chunks\n", readable.count(), thousands(chunks));
    let mut heads = vec!["model", "id", "price", "window"];
    if probed {
        heads.extend(["address", "reachable", "key", "model known", "schema", "context", "time"]);
    }
    let mut rows = vec![heads.into_iter().map(str::to_owned).collect::<Vec<String>>()];
    for model in &examined.models {
        let price = match (model.served, model.priced) {
            (false, _) => "free",
            (true, true) => "known",
            (true, false) => "unknown",
        };
        let window = model.context_window.map_or_else(|| "-".to_owned(), |window| thousands(window.into()));
        let row = [visible(&model.name).into_owned(), visible(&model.id).into_owned(), price.to_owned(), window];
        if !probed || model.addresses.is_empty() {
            rows.push(row.to_vec());
            continue;
        }
        rows.extend(model.addresses.iter().map(|address| [row.to_vec(), probe(address)].concat()));
    }
    text.push_str(&table::table(&rows, if probed { 9 } else { 3 }));
    for Found { location, message, .. } in findings(examined) {
        let _ = writeln!(text, "finding: {}: {}", visible(&location), visible_lines(message));
    }
    for model in &examined.models {
        for address in &model.addresses {
            for note in &address.notes {
                let _ = writeln!(text, "note: {}: {}", visible(&location(model, address)), visible_lines(note));
            }
        }
    }
    for note in &examined.notes {
        let _ = writeln!(text, "note: {}", visible(note));
    }
    if findings(examined).next().is_none() {
        text.push_str(if probed {
            "no problems found\n"
        } else {
            "the file is valid; use `--probe` to check its endpoints too\n"
        });
    }
    text
}

fn probe(address: &ProbedAddress) -> Vec<String> {
    let yes_or_no = |known: Option<bool>| match known {
        Some(true) => "yes",
        Some(false) => "no",
        None => "-",
    };
    vec![
        visible(&address.address).into_owned(),
        yes_or_no(Some(address.reachable)).to_owned(),
        match address.key {
            Some(true) => "accepted",
            Some(false) => "refused",
            None => "-",
        }
        .to_owned(),
        yes_or_no(address.model_known).to_owned(),
        address.schema.unwrap_or("-").to_owned(),
        address.context.map_or_else(|| "-".to_owned(), thousands),
        address.latency_ms.map_or_else(|| "-".to_owned(), |latency| format!("{} ms", thousands(latency))),
    ]
}
