//! What came of a division, and why nothing did.

use std::fmt::Write as _;

use super::super::controls::visible;
use super::super::summary::thousands;
use super::super::{Exit, Terminal, diagnostics, table, to_stderr};
use super::SplitArguments;
use crate::pipeline::{SplitDone, SplitError};
use crate::stages::split::{CONFIGS, Relation, Report, UNUSED};
use crate::store::StoreError;

/// Returns what came of a division, in words.
pub(super) fn text(arguments: &SplitArguments, done: &SplitDone) -> String {
    let Report { params, rows, strata, families, largest_family, moved_by, moved, carried } = &done.report;
    let all: usize = rows.values().sum();
    let what = if params.by.is_some() { "groups" } else { "families" };
    let mut text = format!(
        "{}: {} rows in {} {what}, the largest of {}\n",
        arguments.config,
        thousands(all as u64),
        thousands(*families as u64),
        thousands(*largest_family as u64)
    );
    let mut lines = vec![vec!["split".to_owned(), "rows".to_owned(), "share".to_owned(), "strata".to_owned()]];
    let names = params.splits.iter().map(|part| part.name.as_str()).chain([params.rest.as_str(), UNUSED]);
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
            Relation::Near => "are much alike to rows of another split",
            Relation::Scene => "play in a scene of another split",
            Relation::Conversation => "are of a conversation of another split",
            Relation::Instruction => "answer an instruction of another split",
        };
        let _ = match set_aside {
            0 => writeln!(text, "{} rows moved, as they {why}", thousands(*count as u64)),
            _ => writeln!(text, "{} rows set aside in `{UNUSED}`, as they {why}", thousands(*count as u64)),
        };
    }
    if !carried.is_empty() {
        let counts: Vec<String> =
            carried.iter().map(|(split, count)| format!("{} in `{split}`", thousands(*count as u64))).collect();
        let _ = writeln!(text, "conversations went with their samples: {}", counts.join(", "));
    }
    let empty = params.splits.iter().find(|part| !rows.contains_key(&part.name));
    if let Some(part) = empty {
        let _ = writeln!(text, "note: `{}` has no row, as there is one family", part.name);
    }
    if params.by.is_none() && *largest_family * 2 > all && all > 1 {
        text.push_str(
            "note: more than half of the rows are one family; `--near` or `--together` makes families smaller\n",
        );
    }
    for note in &done.notes {
        let _ = writeln!(text, "note: {}", visible(note));
    }
    let place = visible(&done.dataset.display().to_string()).into_owned();
    let _ = if arguments.dry_run {
        writeln!(text, "nothing was written")
    } else {
        writeln!(text, "written to {place}, details in {place}/splits.json")
    };
    text
}

/// Tells why nothing was divided.
pub(super) fn tell(error: &SplitError) -> Exit {
    let hint = match error {
        SplitError::NoConfig { has, .. } if has.is_empty() => {
            Some(format!("those that can be divided are {}", list(&CONFIGS)))
        }
        SplitError::NoConfig { has, .. } => Some(format!("it has {}", list(has))),
        SplitError::NoColumn { has, column, .. } => Some(match nearest(column, has) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("it has {}", list(has)),
        }),
        SplitError::NoValues { .. } => {
            Some("name a column of texts, numbers, truth values or dates; of a struct, write the field to a column of its own".to_owned())
        }
        SplitError::NoValue { .. } => Some("a value is compared whole, as the rows have it: `true`, `7`, `2024-01-31`".to_owned()),
        SplitError::Taken { .. } => Some("name another folder, or empty it".to_owned()),
        SplitError::Within { .. } => Some("name a folder beside it".to_owned()),
        SplitError::Altered { .. } => Some(
            "nothing was written; `dramaturg check RUN` tells all that was changed, `dramaturg build PIPELINE --replay` makes it again"
                .to_owned(),
        ),
        SplitError::Card { .. } => {
            Some("nothing was written; write that line otherwise (docs/splits.md names the forms), or move the card away to have a new one".to_owned())
        }
        SplitError::Store(StoreError::InUse { .. }) => Some("wait for the run to end".to_owned()),
        SplitError::Store(StoreError::Rows { .. }) => Some(
            "`dramaturg check` says which files are damaged; `dramaturg build --replay` makes them again".to_owned(),
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
        | SplitError::Taken { .. }
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
    let likeness = |name: &str| strsim::jaro_winkler(word, name);
    let best = names.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    best.filter(|name| likeness(name) > 0.8)
}
