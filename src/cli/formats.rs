//! `export RUN --format F`: the role data of a data set in the forms that others train on.

use std::path::Path;

use serde_json::json;

use super::arguments::{ExportArguments, RoleFormat};
use super::books::usage;
use super::{Exit, diagnostics, to_stderr, to_stdout};
use crate::stages::export::{CONFIGS, Format, format};
use crate::store;

/// Writes a form of a data set's role data to a folder.
pub(super) fn formats(arguments: &ExportArguments, wanted: RoleFormat) -> Exit {
    let path = &arguments.run.pipeline;
    let options = &arguments.run.options;
    if !options.sets.is_empty() || options.limit.is_some() {
        return usage(
            "`--set` and `--limit` are for runs; `--format` reads a data set that is there",
            "leave them out",
        );
    }
    if path.is_file() {
        return usage("`--format` reads a run's folder, not a pipeline file", "give `outputs/<name>`");
    }
    // A run's folder holds its data set.
    let dataset = if path.join("dataset").is_dir() { path.join("dataset") } else { path.clone() };
    let form = match wanted {
        RoleFormat::Rolebench => Format::Rolebench,
        RoleFormat::Alpaca => Format::Alpaca,
        RoleFormat::Sharegpt => Format::Sharegpt,
        RoleFormat::Messages => Format::Messages,
    };
    let tables = match store::tables(&dataset, &CONFIGS) {
        Ok(tables) => tables,
        Err(error) => return fault(&error),
    };
    if tables.is_empty() {
        return usage(
            &format!("`{}` holds no role data", dataset.display()),
            "give a run's folder, or its data set, whose pipeline file has `[instruct] roles`",
        );
    }
    // A data set is replaced whole by the next build: what is made of it stands beside it.
    let is_dataset = path.ends_with("dataset") && !path.join("dataset").is_dir();
    let run = if is_dataset { path.parent().unwrap_or(path) } else { path };
    let out = options.out.clone().unwrap_or_else(|| run.join(form.name()));
    if options.out.is_some() && std::fs::read_dir(&out).is_ok_and(|mut entries| entries.next().is_some()) {
        // Files of an earlier export would stand among the new ones, test rows beside training rows.
        return usage(&format!("`{}` holds something already", out.display()), "name another folder, or empty it");
    }
    if let Err(error) = store::clear(&out) {
        return fault(&error);
    }
    let files = format(form, &tables);
    let lines: usize = files.values().map(|text| text.lines().count()).sum();
    for (name, text) in &files {
        if let Err(error) = store::write(&out.join(name), text.as_bytes()) {
            return fault(&error);
        }
    }
    tell(&out, &files.keys().map(String::as_str).collect::<Vec<_>>(), lines, options.json, options.quiet);
    Exit::Done
}

fn tell(out: &Path, files: &[&str], lines: usize, as_json: bool, quiet: bool) {
    if as_json {
        to_stdout(&format!("{}\n", json!({"out": out, "files": files, "lines": lines})));
    } else if !quiet {
        to_stdout(&format!("{lines} lines in {} files below {}\n", files.len(), out.display()));
    }
}

fn fault(error: &store::StoreError) -> Exit {
    to_stderr(&diagnostics::chain(error, None, false));
    Exit::Fault
}
