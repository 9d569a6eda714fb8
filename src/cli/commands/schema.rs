//! The command `schema`.

use std::collections::BTreeSet;
use std::path::Path;

use crate::cli::exit::Exit;
use crate::cli::output::diagnostics;
use crate::cli::{to_stderr, to_stdout};
use crate::config;
use crate::store;

/// Writes the schemas to a folder, or with `check` reports which files there are out of date.
pub(crate) fn schema(dir: &Path, check: bool) -> Exit {
    let schemas = config::schemas();
    if check {
        return compare(dir, &schemas);
    }
    for (name, text) in &schemas {
        let path = dir.join(name);
        if let Err(error) = store::write(&path, text.as_bytes()) {
            to_stderr(&diagnostics::chain(&error, None, false));
            return Exit::Fault;
        }
    }
    to_stdout(&format!("{} schemas in {}\n", schemas.len(), dir.display()));
    Exit::Done
}

fn compare(dir: &Path, schemas: &[(String, String)]) -> Exit {
    let mut findings = Vec::new();
    for (name, text) in schemas {
        match std::fs::read_to_string(dir.join(name)) {
            Ok(found) if found == *text => {}
            Ok(_) => findings.push(format!("`{name}` differs")),
            Err(_) => findings.push(format!("`{name}` is missing")),
        }
    }
    let known: BTreeSet<&str> = schemas.iter().map(|(name, _)| name.as_str()).collect();
    for name in found(dir) {
        if !known.contains(name.as_str()) {
            findings.push(format!("`{name}` has no matching type"));
        }
    }
    if findings.is_empty() {
        to_stdout(&format!("{} schemas in {} are up to date\n", schemas.len(), dir.display()));
        return Exit::Done;
    }
    let folder = dir.display();
    let findings = findings.join("\n  ");
    to_stderr(&format!("error: the schemas in `{folder}` are not up to date\n  {findings}\n"));
    to_stderr(&format!(
        "hint: run `dramaturg schema {folder}` to update them; files without a matching type are not removed\n"
    ));
    Exit::Failures
}

/// Returns the schema files of a folder and of its subfolder `asks/`, sorted.
fn found(dir: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for below in ["", "asks/"] {
        for entry in std::fs::read_dir(dir.join(below)).into_iter().flatten().filter_map(Result::ok) {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.ends_with(".schema.json") {
                names.push(format!("{below}{name}"));
            }
        }
    }
    names.sort();
    names
}
