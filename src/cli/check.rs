//! The command `check`: whether a pipeline file can be run, and whether its endpoints answer as a run needs it.

use std::fmt::Write as _;
use std::path::Path;

use super::controls::{visible, visible_lines};
use super::summary::thousands;
use super::{Exit, Terminal, failed, table, to_stderr, to_stdout, variables};
use crate::pipeline::{self, Endpoints, Examined, ExaminedModel, PipelineError, ProbedAddress, RunError};

/// Checks a pipeline file, with `probe` its endpoints too.
pub(super) fn check(path: &Path, probe: bool, sets: &[String], json: bool) -> Exit {
    let terminal = Terminal::new();
    let environment = match variables(&terminal) {
        Ok(environment) => environment,
        Err(exit) => return exit,
    };
    if path.is_dir() {
        let place = path.display();
        to_stderr(&format!(
            "error: `{place}` is a folder\nhint: `dramaturg check` takes a pipeline file, such as `pipelines/demo.toml`\n"
        ));
        return Exit::Usage;
    }
    let found =
        pipeline::load(path, sets, &environment, Endpoints::Needed).map_err(RunError::Invalid).and_then(|loaded| {
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
                to_stdout(&format!("{}\n", serde_json::to_string(&examined).expect("what was found is JSON")));
            } else {
                to_stdout(&text(path, &examined, probe));
            }
            if findings(&examined).next().is_some() { Exit::Failures } else { Exit::Done }
        }
        // That the file is wrong is what the check was to find.
        Err(error @ RunError::Invalid(PipelineError::Invalid { .. })) => {
            failed(&error, &terminal);
            Exit::Failures
        }
        Err(error) => failed(&error, &terminal),
    }
}

/// Returns everything that keeps a run from being well, with the place that it is about.
fn findings(examined: &Examined) -> impl Iterator<Item = (String, &str)> {
    let books =
        examined.books.iter().filter_map(|book| Some((book.path.display().to_string(), book.fault.as_deref()?)));
    let addresses =
        examined.models.iter().flat_map(|model| model.addresses.iter().map(move |address| (model, address)));
    let addresses = addresses
        .flat_map(|(model, address)| address.findings.iter().map(|finding| (place(model, address), finding.as_str())));
    books.chain(addresses)
}

fn place(model: &ExaminedModel, address: &ProbedAddress) -> String {
    if address.address.is_empty() { model.name.clone() } else { format!("{} at {}", model.name, address.address) }
}

fn text(path: &Path, examined: &Examined, probed: bool) -> String {
    let readable = examined.books.iter().filter(|book| book.fault.is_none());
    let chunks: u64 = readable.clone().map(|book| book.chunks).sum();
    let path = visible(&path.display().to_string()).into_owned();
    let mut text = format!("{path}: {} books, {} chunks\n", readable.count(), thousands(chunks));
    let mut heads = vec!["model", "id", "price", "window"];
    if probed {
        heads.extend(["address", "answers", "key", "model known", "schema", "context", "time"]);
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
    for (place, finding) in findings(examined) {
        let _ = writeln!(text, "finding: {}: {}", visible(&place), visible_lines(finding));
    }
    for model in &examined.models {
        for address in &model.addresses {
            for note in &address.notes {
                let _ = writeln!(text, "note: {}: {}", visible(&place(model, address)), visible_lines(note));
            }
        }
    }
    for note in &examined.notes {
        let _ = writeln!(text, "note: {}", visible(note));
    }
    if findings(examined).next().is_none() {
        text.push_str(if probed {
            "nothing is in the way of a run\n"
        } else {
            "the file is sound; `--probe` asks its endpoints too\n"
        });
    }
    text
}

fn probe(address: &ProbedAddress) -> Vec<String> {
    let told = |known: Option<bool>| match known {
        Some(true) => "yes",
        Some(false) => "no",
        None => "-",
    };
    vec![
        visible(&address.address).into_owned(),
        told(Some(address.reachable)).to_owned(),
        match address.key {
            Some(true) => "taken",
            Some(false) => "refused",
            None => "-",
        }
        .to_owned(),
        told(address.model_known).to_owned(),
        address.schema.unwrap_or("-").to_owned(),
        address.context.map_or_else(|| "-".to_owned(), thousands),
        address.latency_ms.map_or_else(|| "-".to_owned(), |latency| format!("{} ms", thousands(latency))),
    ]
}
