//! `export RUN --format F`: converts a data set to other formats, and its role data to training formats.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::chunk::usage;
use crate::cli::args::{ExportArguments, OtherFormat};
use crate::cli::exit::Exit;
use crate::cli::output::diagnostics;
use crate::cli::{to_stderr, to_stdout};
use crate::dataset;
use crate::dataset::{ROLE_CONFIGS, RoleConversion, RoleFormat, TableConversion, TableFormat};
use crate::store::{self, Dataset, LineLimits, SHARD_BYTES, Table};

/// `OpenAI`'s limits for a batch input file.
const BATCH: LineLimits = LineLimits { bytes: 200_000_000, lines: 50_000 };

/// Converts a data set.
pub(crate) fn convert(arguments: &ExportArguments, other_format: OtherFormat) -> Exit {
    let path = &arguments.run.pipeline;
    let options = &arguments.run.options;
    if !options.sets.is_empty() || options.limit.is_some() {
        return usage("`--set` and `--limit` apply to runs; `--format` converts an existing data set", "remove them");
    }
    if path.is_file() {
        return usage("`--format` takes a run folder, not a pipeline file", "give `outputs/<name>`");
    }
    // A run folder contains the data set.
    let dataset = if path.join("dataset").is_dir() { path.join("dataset") } else { path.clone() };
    let of_samples = arguments.configs.iter().any(|config| config == "samples");
    match other_format {
        OtherFormat::Jsonl => tables(arguments, dataset, TableFormat::Jsonl),
        OtherFormat::Csv => tables(arguments, dataset, TableFormat::Csv),
        OtherFormat::Batch => tables(arguments, dataset, TableFormat::Batch),
        OtherFormat::Coser => tables(arguments, dataset, TableFormat::Coser),
        OtherFormat::Messages if of_samples => tables(arguments, dataset, TableFormat::Messages),
        OtherFormat::Messages => roles(arguments, &dataset, RoleFormat::Messages),
        OtherFormat::Rolebench => roles(arguments, &dataset, RoleFormat::Rolebench),
        OtherFormat::Alpaca => roles(arguments, &dataset, RoleFormat::Alpaca),
        OtherFormat::Sharegpt => roles(arguments, &dataset, RoleFormat::Sharegpt),
    }
}

/// Returns the output folder of a format after checking that it can be written.
fn output_folder(arguments: &ExportArguments, name: &str) -> Result<PathBuf, Exit> {
    let (path, options) = (&arguments.run.pipeline, &arguments.run.options);
    // The next build replaces the data set folder as a whole, so conversions are stored next to it.
    let is_dataset = path.ends_with("dataset") && !path.join("dataset").is_dir();
    let run = if is_dataset { path.parent().unwrap_or(path) } else { path };
    let out = options.out.clone().unwrap_or_else(|| run.join(name));
    // The default folder inside a run belongs to an earlier export; any other folder may be the user's.
    let is_own = options.out.is_none() && store::is_run(run);
    if !is_own && std::fs::read_dir(&out).is_ok_and(|mut entries| entries.next().is_some()) {
        // Files of an earlier export would mix with the new ones, for example test rows with training rows.
        return Err(usage(&format!("`{}` is not empty", out.display()), "choose another folder, or empty this one"));
    }
    Ok(out)
}

/// Converts tables row by row.
fn tables(arguments: &ExportArguments, dataset: PathBuf, format: TableFormat) -> Exit {
    let model = arguments.model.clone().unwrap_or_default();
    if (format == TableFormat::Batch) != arguments.model.is_some() {
        let (message, hint) = match format {
            TableFormat::Batch => ("`--format batch` needs a model", "add `--model MODEL`"),
            _ => ("`--model` applies only to `--format batch`", "remove it"),
        };
        return usage(message, hint);
    }
    let existing: Vec<String> = match store::Dataset::open(&dataset) {
        Ok(dataset) => dataset.tables.into_iter().map(|table| table.config).collect(),
        Err(_) => Vec::new(),
    };
    let mut needed = arguments.configs.iter().map(String::as_str).chain(format.config());
    if let Some(config) = needed.find(|config| !existing.iter().any(|known| known == config)) {
        return usage(
            &format!("`{}` has no config `{config}`", dataset.display()),
            "give a run folder or a data set; `dramaturg check` lists its configs",
        );
    }
    if existing.is_empty() {
        return usage(&format!("`{}` is not a data set", dataset.display()), "give a run folder or a data set");
    }
    let own = if format == TableFormat::Batch { BATCH } else { LineLimits { bytes: SHARD_BYTES, lines: u64::MAX } };
    let limits = LineLimits { bytes: arguments.shard_size.unwrap_or(own.bytes), ..own };
    let out = match output_folder(arguments, format.name()) {
        Ok(out) => out,
        Err(exit) => return exit,
    };
    let conversion =
        TableConversion { dataset, format, configs: arguments.configs.clone(), model, out: out.clone(), limits };
    match dataset::convert_tables(&conversion) {
        Ok(files) => {
            let options = &arguments.run.options;
            let names: Vec<String> = files.keys().cloned().collect();
            print_result(&out, &names, files.values().sum(), options.json, options.quiet);
            Exit::Done
        }
        Err(error) => fault(&error),
    }
}

/// Converts role data to a training format.
fn roles(arguments: &ExportArguments, dataset: &Path, format: RoleFormat) -> Exit {
    if arguments.model.is_some() || arguments.shard_size.is_some() || !arguments.configs.is_empty() {
        return usage("`--config`, `--model` and `--shard-size` do not apply to this format", "remove them");
    }
    let opened = match dataset.is_dir().then(|| Dataset::open(dataset)).transpose() {
        Ok(opened) => opened,
        Err(error) => return fault(&error),
    };
    let has_roles = |dataset: &Dataset| ROLE_CONFIGS.iter().any(|config| dataset.of(config).next().is_some());
    let Some(dataset) = opened.filter(has_roles) else {
        return usage(
            &format!("`{}` has no role data", dataset.display()),
            "give a run or data set whose pipeline file has `[instruct] roles`",
        );
    };
    let out = match output_folder(arguments, format.name()) {
        Ok(out) => out,
        Err(exit) => return exit,
    };
    match write(format, &dataset, &out) {
        Ok((files, lines)) => {
            print_result(&out, &files, lines, arguments.run.options.json, arguments.run.options.quiet);
            Exit::Done
        }
        Err(error) => fault(&error),
    }
}

/// Writes the files of a format table by table; returns the file names and the number of lines.
fn write(format: RoleFormat, dataset: &Dataset, out: &Path) -> Result<(Vec<String>, usize), store::StoreError> {
    let mut folder = store::NewFolder::new(out)?;
    let mut lines = 0;
    let mut add = |path: &str, text: &str| {
        lines += text.lines().count();
        folder.add(path, text)
    };
    let parts = |table: &Table| -> Result<Vec<_>, store::StoreError> {
        table.files.iter().map(|file| store::groups(file, None)).collect()
    };
    let [roles, others @ ..] = ROLE_CONFIGS;
    let mut profiles = Vec::new();
    for table in dataset.of(roles) {
        for part in parts(table)?.into_iter().flatten() {
            profiles.push(part?.1);
        }
    }
    let conversion = RoleConversion::new(format, &profiles, &mut add)?;
    drop(profiles);
    for table in others.into_iter().flat_map(|config| dataset.of(config)) {
        for part in parts(table)?.into_iter().flatten() {
            conversion.table(&(table.config.clone(), table.split.clone(), part?.1), &mut add)?;
        }
    }
    let files = folder.files().map(str::to_owned).collect();
    folder.finish()?;
    Ok((files, lines))
}

fn print_result(out: &Path, files: &[String], lines: usize, as_json: bool, quiet: bool) {
    if as_json {
        to_stdout(&format!("{}\n", json!({"out": out, "files": files, "lines": lines})));
    } else if !quiet {
        to_stdout(&format!("{lines} lines in {} files in {}\n", files.len(), out.display()));
    }
}

fn fault(error: &store::StoreError) -> Exit {
    to_stderr(&diagnostics::chain(error, None, false));
    Exit::Fault
}
