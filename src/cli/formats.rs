//! `export RUN --format F`: the role data of a data set in the forms that others train on.

use std::path::Path;

use serde_json::json;

use super::arguments::{ExportArguments, RoleFormat};
use super::books::usage;
use super::{Exit, diagnostics, to_stderr, to_stdout};
use crate::stages::export::{CONFIGS, Format, Formed};
use crate::store::{self, StoredTable};

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
    match write(form, &tables, &out) {
        Ok((files, lines)) => {
            tell(&out, &files, lines, options.json, options.quiet);
            Exit::Done
        }
        Err(error) => fault(&error),
    }
}

/// Writes the files of a form, table by table, and returns them with how many lines they have.
fn write(form: Format, tables: &[StoredTable], out: &Path) -> Result<(Vec<String>, usize), store::StoreError> {
    let mut folder = store::NewFolder::new(out)?;
    let mut lines = 0;
    let mut add = |path: &str, text: &str| {
        lines += text.lines().count();
        folder.add(path, text)
    };
    let (roles, others): (Vec<&StoredTable>, Vec<&StoredTable>) =
        tables.iter().partition(|table| table.config == CONFIGS[0]);
    let roles = roles.into_iter().map(StoredTable::read).collect::<Result<Vec<_>, _>>()?;
    let formed = Formed::new(form, &roles, &mut add)?;
    drop(roles);
    for table in others {
        let frame = table.read()?;
        formed.table(&(table.config.clone(), table.split.clone(), frame), &mut add)?;
    }
    let files = folder.files().map(str::to_owned).collect();
    folder.finish()?;
    Ok((files, lines))
}

fn tell(out: &Path, files: &[String], lines: usize, as_json: bool, quiet: bool) {
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
