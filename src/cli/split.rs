//! The command `split`: divides the rows of a data set anew and tells what came of it.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::books::usage;
use super::controls::visible;
use super::summary::thousands;
use super::{Exit, Terminal, diagnostics, table, to_stderr, to_stdout};
use crate::pipeline::{Split, SplitDone, SplitError, split};
use crate::schema::ByLanguage;
use crate::stages::split::{CONFIGS, HoldOut, NEAR, Params, Part, Relation, Report, Size, UNUSED, column_of};
use crate::store::{self, DatasetPlace, StoreError};

/// What stands below the help.
pub(super) const EXAMPLES: &str = "\
Examples:
  dramaturg split outputs/mine --test 0.2 --dev 0.1             shares of the rows, the rest is `train`
  dramaturg split outputs/mine --test 500 --seed 11             so many rows, another draw
  dramaturg split outputs/mine --test 0.2 --by book             whole books; also character, source_model
  dramaturg split outputs/mine --hold-out 'character=Keziah Marl' --dev 0.1
  dramaturg split outputs/mine --test 0.2 --out splits/a        beside it, the run stays as it is
  dramaturg split outputs/mine --config role_general --test 0.2 --by role
  dramaturg split outputs/mine --split hard=0.1 --split easy=0.1 --rest other
  dramaturg split outputs/mine --test 0.2 --dry-run --json | jq .rows

SIZE is a share (0.2, 20%) or a number of rows (500). What shares a scene or a conversation, or is much alike, is
a family, and families are placed whole, in an order that the seed gives each: a further row moves few others.
With --by and --hold-out the values decide; what shares something with a row of a better guarded split (`test`
before `dev` before the rest) is set aside in the split `unused`, and comes back with the next `split`.
splits.json beside the card names each row that had to move. The data set is replaced whole, the run's manifest is
told of it, and the same command gives the same bytes. docs/splits.md tells more.
";

/// What `split` takes.
#[derive(Debug, Clone, Args)]
pub(super) struct SplitArguments {
    /// The run's folder, or that of a data set.
    #[arg(value_name = "RUN|DATASET")]
    path: PathBuf,
    /// The config: samples, conversations, `role_specific` or `role_general`.
    #[arg(long, default_value = "samples")]
    config: String,
    /// How much of the rows `test` takes.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    test: Option<Size>,
    /// How much of the rows `dev` takes.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    dev: Option<Size>,
    /// A further split; can be given again. Those that come first are better guarded.
    #[arg(long = "split", value_name = "NAME=SIZE", value_parser = part)]
    splits: Vec<Part>,
    /// The split of all other rows.
    #[arg(long, value_name = "NAME", default_value = "train", value_parser = split_name)]
    rest: String,
    /// Places the values of a column whole: `book`, `character`, `source_model`, `role`, `instruction` or any column of text.
    #[arg(long, value_name = "COLUMN")]
    by: Option<String>,
    /// Keeps the rows with a value for one split, `test` when silent; can be given again.
    #[arg(long, value_name = "[SPLIT:]COLUMN=VALUE")]
    hold_out: Vec<String>,
    /// Columns whose values have the same shares in all splits, or `none`. When silent dimension, language and
    /// `character_type`; the role where rows are of roles.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    stratify: Option<Vec<String>>,
    /// What never stands in two splits: of `scene`, `conversation`, `instruction` and `near`, or `none`; all when silent.
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    together: Option<Vec<String>>,
    /// How alike two texts are that count as `near`, above 0 to 1; 0.6 in English and 0.5 in Chinese when silent.
    #[arg(long, value_name = "T", value_parser = super::arguments::positive_share)]
    near: Option<f64>,
    /// Which draw.
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// Writes the data set to another folder, and leaves this one as it is.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How large a file may grow before another follows it.
    #[arg(long, value_name = "SIZE", value_parser = bytes, default_value = "500MB")]
    shard_size: u64,
    /// Writes nothing, and tells what would come of it.
    #[arg(long)]
    dry_run: bool,
    /// Prints one JSON object.
    #[arg(long)]
    json: bool,
    /// Prints errors and nothing else.
    #[arg(long, short)]
    quiet: bool,
}

/// Divides a data set.
pub(super) fn divide(arguments: &SplitArguments) -> Exit {
    let path = &arguments.path;
    let Some(place) = DatasetPlace::find(path) else {
        return usage(
            &format!("`{}` is no run's folder and no data set's", path.display()),
            "give `outputs/<name>`, or a folder with a card and a folder of Parquet files for each config",
        );
    };
    let mut params = match params(arguments) {
        Ok(params) => params,
        Err((message, hint)) => return usage(&message, hint),
    };
    if arguments.stratify.is_none() {
        // What nobody has named may be missing.
        let has = columns(&place, &arguments.config);
        params.stratify.retain(|column| has.as_ref().is_none_or(|has| has.contains(column)));
    }
    let wanted = Split {
        place,
        config: arguments.config.clone(),
        params,
        out: arguments.out.clone(),
        shard_bytes: arguments.shard_size,
        dry_run: arguments.dry_run,
    };
    match split(&wanted) {
        Ok(done) => {
            if arguments.json {
                let mut told =
                    json!({"dataset": done.dataset, "config": arguments.config, "written": !arguments.dry_run});
                if let Ok(serde_json::Value::Object(report)) = serde_json::to_value(&done.report) {
                    told.as_object_mut().expect("it was made as one").extend(report);
                }
                to_stdout(&format!("{told}\n"));
            } else if !arguments.quiet {
                to_stdout(&text(arguments, &done));
            }
            Exit::Done
        }
        Err(error) => tell(&error),
    }
}

/// Returns the columns of a config; none where they cannot be read, which is told when the rows are.
fn columns(place: &DatasetPlace, config: &str) -> Option<Vec<String>> {
    let dataset = store::Dataset::open(&place.dataset).ok()?;
    let file = dataset.of(config).next()?.files.first()?.clone();
    store::columns(&file).ok()
}

fn params(arguments: &SplitArguments) -> Result<Params, (String, &'static str)> {
    let of = |name: &str, size: Option<Size>| size.map(|size| Part { name: name.to_owned(), size });
    let mut splits: Vec<Part> = of("test", arguments.test).into_iter().chain(of("dev", arguments.dev)).collect();
    splits.extend(arguments.splits.iter().cloned());
    let mut hold_out = Vec::new();
    for text in &arguments.hold_out {
        let Some(held) = hold(text, &arguments.rest) else {
            return Err((
                format!("`{text}` names no column and value"),
                "write it as `character=NAME`, or `dev:book=SLUG`",
            ));
        };
        if !splits.iter().any(|part| part.name == held.split) {
            splits.push(Part { name: held.split.clone(), size: Size::Rows(0) });
        }
        hold_out.push(held);
    }
    if splits.is_empty() {
        return Err((
            "nothing says what the splits are".to_owned(),
            "say how much is held out, as `--test 0.2`, or who, as `--hold-out character=NAME`",
        ));
    }
    // `test` is the best guarded, whichever option made it.
    splits.sort_by_key(|part| match part.name.as_str() {
        "test" => 0,
        "dev" => 1,
        _ => 2,
    });
    let mut names: Vec<&str> = splits.iter().map(|part| part.name.as_str()).chain([arguments.rest.as_str()]).collect();
    names.sort_unstable();
    if let Some([twice, _]) = names.array_windows().find(|[one, other]| one == other) {
        return Err((format!("two splits are called `{twice}`"), "name each split once; `--rest` names the last"));
    }
    let shares: f64 = splits.iter().map(|part| if let Size::Share(share) = part.size { share } else { 0.0 }).sum();
    if shares > 1.0 + 1e-9 {
        return Err((format!("the shares come to {shares}, more than all rows"), "they come to 1 at most"));
    }
    let of_roles = arguments.config.starts_with("role_");
    let by = arguments.by.iter().flat_map(|by| column_of(&arguments.config, by)).collect::<Vec<String>>();
    let stratify: Vec<String> = match &arguments.stratify {
        Some(columns) => columns.iter().filter(|column| *column != "none").cloned().collect(),
        None if arguments.config == "samples" => vec!["dimension".into(), "language".into(), "character_type".into()],
        None if of_roles => vec!["role_id".into()],
        None => vec!["language".into()],
    };
    // What is placed whole cannot have its share everywhere.
    let stratify = stratify.into_iter().filter(|column| arguments.stratify.is_some() || !by.contains(column)).collect();
    let mut together = Vec::new();
    for word in arguments.together.iter().flatten().filter(|word| *word != "none") {
        let Some(relation) = Relation::ALL.into_iter().find(|relation| relation.name() == word) else {
            return Err((
                format!("`{word}` is nothing that rows share"),
                "they share scene, conversation, instruction or near",
            ));
        };
        together.push(relation);
    }
    if arguments.together.is_none() {
        let of_config =
            |relation: &Relation| *relation == Relation::Near || relation.column(&arguments.config).is_some();
        together.extend(Relation::ALL.iter().filter(|relation| of_config(relation)));
    }
    together.sort_unstable();
    together.dedup();
    let near = arguments.near.map_or(NEAR, |near| ByLanguage { en: near, zh: near });
    let (rest, by, seed) = (arguments.rest.clone(), arguments.by.clone(), arguments.seed);
    Ok(Params { splits, rest, by, hold_out, stratify, apart: together, near, seed })
}

/// Reads `[SPLIT:]COLUMN=VALUE`.
fn hold(text: &str, rest: &str) -> Option<HoldOut> {
    let (column, value) = text.split_once('=')?;
    let (split, column) = column.split_once(':').unwrap_or(("test", column));
    let is_sound = !column.is_empty() && !value.is_empty() && split_name(split).is_ok() && split != rest;
    is_sound.then(|| HoldOut { column: column.to_owned(), value: value.to_owned(), split: split.to_owned() })
}

/// Reads a share or a number of rows.
fn size(text: &str) -> Result<Size, String> {
    let share = |share: f64| {
        if share > 0.0 && share <= 1.0 {
            Ok(Size::Share(share))
        } else {
            Err("a share lies above 0 and up to 1".to_owned())
        }
    };
    let wrong = || "it is no share as 0.2 or 20%, and no number of rows".to_owned();
    if let Some(percent) = text.strip_suffix('%') {
        return percent.trim().parse::<f64>().map_err(|_| wrong()).and_then(|percent| share(percent / 100.0));
    }
    match text.parse::<usize>() {
        Ok(0) => Err("a split has a row at least".to_owned()),
        Ok(rows) => Ok(Size::Rows(rows)),
        Err(_) => text.parse::<f64>().map_err(|_| wrong()).and_then(share),
    }
}

fn part(text: &str) -> Result<Part, String> {
    let (name, of) = text.split_once('=').ok_or_else(|| "it is no NAME=SIZE".to_owned())?;
    Ok(Part { name: split_name(name)?, size: size(of)? })
}

/// Reads a split's name: what the hub and the `datasets` library take for one.
fn split_name(name: &str) -> Result<String, String> {
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !name.split('.').all(is_word) {
        return Err("a split's name has letters, digits and `_` alone".to_owned());
    }
    if name == "all" || name == UNUSED {
        return Err(format!("`{name}` means something else"));
    }
    Ok(name.to_owned())
}

/// Reads a number of bytes, as `500MB`.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 1,
        "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => return Err("the unit is KB, MB or GB".to_owned()),
    };
    let count = digits.trim().parse::<u64>().ok().filter(|count| *count > 0);
    count.and_then(|count| count.checked_mul(unit)).ok_or_else(|| "it is no number of bytes".to_owned())
}

fn text(arguments: &SplitArguments, done: &SplitDone) -> String {
    let Report { params, rows, strata, families, largest_family, moved_by, moved } = &done.report;
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

fn tell(error: &SplitError) -> Exit {
    let hint = match error {
        SplitError::NoConfig { has, .. } if has.is_empty() => {
            Some(format!("those that can be divided are {}", list(&CONFIGS)))
        }
        SplitError::NoConfig { has, .. } => Some(format!("it has {}", list(has))),
        SplitError::NoColumn { has, column, .. } => Some(match nearest(column, has) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("it has {}", list(has)),
        }),
        SplitError::NoValue { .. } => Some("a value is compared whole, as the rows have it".to_owned()),
        SplitError::Taken { .. } => Some("name another folder, or empty it".to_owned()),
        SplitError::Within { .. } => Some("name a folder beside it".to_owned()),
        SplitError::Altered { .. } => Some(
            "nothing was written; `dramaturg check RUN` tells all that was changed, `dramaturg build PIPELINE --replay` makes it again"
                .to_owned(),
        ),
        SplitError::Card { .. } => {
            Some("nothing was written; mend the card there, or move it away to have a new one".to_owned())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_shares_or_rows() {
        assert_eq!(size("0.2"), Ok(Size::Share(0.2)));
        assert_eq!(size("1.0"), Ok(Size::Share(1.0)));
        assert_eq!(size("25%"), Ok(Size::Share(0.25)));
        assert_eq!((size("1"), size("500")), (Ok(Size::Rows(1)), Ok(Size::Rows(500))));
        for wrong in ["0", "1.5", "-0.1", "120%", "some", "", "nan"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn values_are_held_out_of_one_split() {
        let held = |text: &str| hold(text, "train").map(|held| (held.split, held.column, held.value));
        let found = |split: &str, column: &str, value: &str| Some((split.into(), column.into(), value.into()));
        assert_eq!(held("character=Keziah: a ferry=woman"), found("test", "character", "Keziah: a ferry=woman"));
        assert_eq!(held("dev:book=渡口"), found("dev", "book", "渡口"));
        for wrong in ["book", "=x", "book=", "a b:book=x", "train:book=x"] {
            assert_eq!(held(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn names_are_those_that_the_hub_takes() {
        for name in ["test", "dev_2", "a.b"] {
            assert!(split_name(name).is_ok(), "{name}");
        }
        for name in ["", "a-b", "a b", "测试", "all", "unused", "a.", "a/b"] {
            assert!(split_name(name).is_err(), "{name}");
        }
        assert_eq!((bytes("500MB"), bytes("2gb"), bytes("1000")), (Ok(500_000_000), Ok(2_000_000_000), Ok(1000)));
        assert!(bytes("0").is_err() && bytes("5 XB").is_err() && bytes("99999999999GB").is_err());
    }
}
