//! Formats the result of a split, and the errors with their hints.

use std::fmt::Write as _;

use crate::cli::args::SplitArguments;
use crate::cli::exit::Exit;
use crate::cli::output::control_chars::visible;
use crate::cli::output::{diagnostics, table};
use crate::cli::{Terminal, to_stderr};
use crate::dataset::split::SPLITTABLE_CONFIGS;
use crate::dataset::split::{Relation, Report, UNUSED};
use crate::dataset::{SplitError, SplitOutcome};
use crate::stages::export::thousands;
use crate::store::StoreError;

/// Formats the result of a split.
pub(super) fn text(arguments: &SplitArguments, done: &SplitOutcome) -> String {
    let Report { params, rows, strata, families, largest_family, moved_by, moved, carried } = &done.report;
    let all: usize = rows.values().sum();
    let unit = if params.by.is_some() { "groups" } else { "groups of related rows" };
    let mut text = format!(
        "{}: {} rows in {} {unit} (largest: {} rows)\n",
        arguments.config,
        thousands(all as u64),
        thousands(*families as u64),
        thousands(*largest_family as u64)
    );
    let mut lines = vec![vec!["split".to_owned(), "rows".to_owned(), "share".to_owned(), "strata".to_owned()]];
    let names = params.splits.iter().map(|part| part.name.as_str()).chain([params.remainder.as_str(), UNUSED]);
    for (name, count) in names.filter_map(|name| Some((name, *rows.get(name)?))) {
        let share = crate::text::float(count) / crate::text::float(all.max(1)) * 100.0;
        let present = strata.values().filter(|counts| counts.contains_key(name)).count();
        lines.push(vec![
            name.to_owned(),
            thousands(count as u64),
            format!("{share:.1} %"),
            format!("{present} of {}", strata.len()),
        ]);
    }
    text.push_str(&table::table(&lines, 1));
    for (relation, count) in moved_by {
        let set_aside = moved.iter().filter(|moved| moved.because == *relation && moved.to == UNUSED).count();
        let why = match relation {
            Relation::Similarity => "are similar to rows of another split",
            Relation::Scene => "share a scene with another split",
            Relation::Conversation => "share a conversation with another split",
            Relation::Instruction => "share an instruction with another split",
        };
        let _ = match set_aside {
            0 => writeln!(text, "{} rows moved because they {why}", thousands(*count as u64)),
            _ => writeln!(text, "{} rows moved to `{UNUSED}` because they {why}", thousands(*count as u64)),
        };
    }
    if !carried.is_empty() {
        let counts: Vec<String> =
            carried.iter().map(|(split, count)| format!("{} in `{split}`", thousands(*count as u64))).collect();
        let _ = writeln!(text, "conversations moved along with their samples: {}", counts.join(", "));
    }
    let empty = params.splits.iter().find(|part| !rows.contains_key(&part.name));
    if let Some(part) = empty {
        let _ = writeln!(text, "note: `{}` is empty because all rows are in one group", part.name);
    }
    if params.by.is_none() && *largest_family * 2 > all && all > 1 {
        text.push_str(
            "note: one group contains more than half of the rows; a higher `--similarity` or fewer `--group-by` make groups smaller\n",
        );
    }
    for note in &done.notes {
        let _ = writeln!(text, "note: {}", visible(note));
    }
    let path = visible(&done.dataset.display().to_string()).into_owned();
    let _ = if arguments.dry_run {
        writeln!(text, "dry run: nothing was written")
    } else {
        writeln!(text, "written to {path}, details in {path}/splits.json")
    };
    text
}

/// Prints why a data set was not split, with a hint, and returns the exit code.
pub(super) fn print_error(error: &SplitError) -> Exit {
    let hint = match error {
        SplitError::NoConfig { has, .. } if has.is_empty() => {
            Some(format!("configs that can be split: {}", list(&SPLITTABLE_CONFIGS)))
        }
        SplitError::NoConfig { has, .. } => Some(format!("available configs: {}", list(has))),
        SplitError::NoColumn { has, column, .. } => Some(match nearest(column, has) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("available columns: {}", list(has)),
        }),
        SplitError::NoValues { .. } => {
            Some("use a column of strings, numbers, booleans or dates; copy a struct field to a column of its own".to_owned())
        }
        SplitError::NoValue { .. } => Some("values must match exactly, in the form `true`, `7` or `2024-01-31`".to_owned()),
        SplitError::FolderNotEmpty { .. } => Some("choose another folder, or empty this one".to_owned()),
        SplitError::Within { .. } => Some("choose a folder outside of it".to_owned()),
        SplitError::Altered { .. } => Some(
            "nothing was written; `dramaturg check RUN` lists all changes, `dramaturg build PIPELINE --replay` restores the data set"
                .to_owned(),
        ),
        SplitError::Card { .. } => {
            Some("nothing was written; rewrite that line (docs/splits.md lists the supported forms), or remove the card to have it generated".to_owned())
        }
        SplitError::Store(StoreError::InUse { .. }) => Some("wait for the run to end".to_owned()),
        SplitError::Store(StoreError::Rows { .. }) => Some(
            "`dramaturg check` lists the damaged files; `dramaturg build --replay` restores them".to_owned(),
        ),
        _ => None,
    };
    to_stderr(&diagnostics::chain(error, hint.as_deref(), Terminal::new().color));
    match error {
        SplitError::Store(StoreError::InUse { .. })
        | SplitError::NoConfig { .. }
        | SplitError::NoColumn { .. }
        | SplitError::NoValues { .. }
        | SplitError::NoValue { .. }
        | SplitError::FolderNotEmpty { .. }
        | SplitError::Within { .. }
        | SplitError::Card { .. }
        | SplitError::Altered { .. } => Exit::Usage,
        _ => Exit::Fault,
    }
}

fn list<T: AsRef<str>>(names: &[T]) -> String {
    names.iter().map(|name| format!("`{}`", name.as_ref())).collect::<Vec<_>>().join(", ")
}

fn nearest<'a>(word: &str, names: &'a [String]) -> Option<&'a String> {
    let similarity = |name: &str| strsim::jaro_winkler(word, name);
    let best = names.iter().max_by(|a, b| similarity(a).total_cmp(&similarity(b)));
    best.filter(|name| similarity(name) > 0.8)
}
