//! The command `split`: splits a data set again and prints the result.

mod report;

use serde_json::json;

use super::chunk::usage;
use crate::cli::args::{SplitArguments, parse_hold_out};
use crate::cli::exit::Exit;
use crate::cli::to_stdout;
use crate::dataset::split::{DEFAULT_SIMILARITY, Params, Part, Relation, Size, column_of};
use crate::dataset::{self, SplitOptions};
use crate::schema::ByLanguage;
use crate::store::{self, DatasetLocation};

/// Runs the command.
pub(crate) fn split_dataset(arguments: &SplitArguments) -> Exit {
    let path = &arguments.path;
    let Some(location) = DatasetLocation::find(path) else {
        return usage(
            &format!("`{}` is neither a run folder nor a data set", path.display()),
            "give `outputs/<name>`, or a folder with a dataset card and one folder of Parquet files per config",
        );
    };
    let mut params = match params(arguments) {
        Ok(params) => params,
        Err((message, hint)) => return usage(&message, hint),
    };
    if arguments.stratify.is_none() {
        // Default columns are optional: the data set may not have all of them.
        let has = columns(&location, &arguments.config);
        params.stratify.retain(|column| has.as_ref().is_none_or(|has| has.contains(column)));
    }
    let options = SplitOptions {
        location,
        config: arguments.config.clone(),
        params,
        out: arguments.out.clone(),
        shard_bytes: arguments.shard_size,
        dry_run: arguments.dry_run,
    };
    match dataset::split_dataset(&options) {
        Ok(done) => {
            if arguments.json {
                let mut output =
                    json!({"dataset": done.dataset, "config": arguments.config, "written": !arguments.dry_run});
                if let Ok(serde_json::Value::Object(report)) = serde_json::to_value(&done.report) {
                    output.as_object_mut().expect("`json!` built an object").extend(report);
                }
                to_stdout(&format!("{output}\n"));
            } else if !arguments.quiet {
                to_stdout(&report::text(arguments, &done));
            }
            Exit::Done
        }
        Err(error) => report::print_error(&error),
    }
}

/// Returns the columns of a config, or `None` if they cannot be read; reading the rows reports the error.
fn columns(location: &DatasetLocation, config: &str) -> Option<Vec<String>> {
    let dataset = store::Dataset::open(&location.dataset).ok()?;
    let file = dataset.of(config).next()?.files.first()?.clone();
    store::columns(&file).ok()
}

fn params(arguments: &SplitArguments) -> Result<Params, (String, &'static str)> {
    let of = |name: &str, size: Option<Size>| size.map(|size| Part { name: name.to_owned(), size });
    let mut splits: Vec<Part> = of("test", arguments.test).into_iter().chain(of("dev", arguments.dev)).collect();
    splits.extend(arguments.splits.iter().cloned());
    let mut hold_out = Vec::new();
    for text in &arguments.hold_out {
        let Some(held) = parse_hold_out(text, &arguments.remainder) else {
            return Err((
                format!("`--hold-out {text}` does not have the form [SPLIT:]COLUMN=VALUE"),
                "write `character=NAME`, or `dev:book=SLUG`; the split cannot be the one named by `--remainder`",
            ));
        };
        if !splits.iter().any(|part| part.name == held.split) {
            splits.push(Part { name: held.split.clone(), size: Size::Rows(0) });
        }
        hold_out.push(held);
    }
    if splits.is_empty() {
        return Err((
            "no split is defined".to_owned(),
            "give a size, such as `--test 0.2`, or a value, such as `--hold-out character=NAME`",
        ));
    }
    // `test` has the highest priority, whichever option created it.
    splits.sort_by_key(|part| match part.name.as_str() {
        "test" => 0,
        "dev" => 1,
        _ => 2,
    });
    let mut names: Vec<&str> =
        splits.iter().map(|part| part.name.as_str()).chain([arguments.remainder.as_str()]).collect();
    names.sort_unstable();
    if let Some([twice, _]) = names.array_windows().find(|[one, other]| one == other) {
        return Err((
            format!("two splits are named `{twice}`"),
            "split names must be unique; `--remainder` names the last split",
        ));
    }
    let shares: f64 = splits.iter().map(|part| if let Size::Share(share) = part.size { share } else { 0.0 }).sum();
    if shares > 1.0 + 1e-9 {
        return Err((
            format!("the fractions add up to {shares}, which is more than 1"),
            "reduce them to at most 1 in total",
        ));
    }
    let of_roles = arguments.config.starts_with("role_");
    let by = arguments.by.iter().flat_map(|by| column_of(&arguments.config, by)).collect::<Vec<String>>();
    let stratify: Vec<String> = match &arguments.stratify {
        Some(columns) => columns.iter().filter(|column| *column != "none").cloned().collect(),
        None if arguments.config == "samples" => vec!["dimension".into(), "language".into(), "character_type".into()],
        None if of_roles => vec!["role_id".into()],
        None => vec!["language".into()],
    };
    // A column that is assigned as a unit cannot be stratified.
    let stratify = stratify.into_iter().filter(|column| arguments.stratify.is_some() || !by.contains(column)).collect();
    let mut group_by = Vec::new();
    for word in arguments.group_by.iter().flatten().filter(|word| *word != "none") {
        let Some(relation) = Relation::ALL.into_iter().find(|relation| relation.name() == word) else {
            return Err((
                format!("`{word}` is not a relation between rows"),
                "choose from scene, conversation, instruction and similarity",
            ));
        };
        group_by.push(relation);
    }
    if arguments.group_by.is_none() {
        let of_config =
            |relation: &Relation| *relation == Relation::Similarity || relation.column(&arguments.config).is_some();
        group_by.extend(Relation::ALL.iter().filter(|relation| of_config(relation)));
    }
    group_by.sort_unstable();
    group_by.dedup();
    let similarity =
        arguments.similarity.map_or(DEFAULT_SIMILARITY, |similarity| ByLanguage { en: similarity, zh: similarity });
    let (remainder, by, seed) = (arguments.remainder.clone(), arguments.by.clone(), arguments.seed);
    Ok(Params { splits, remainder, by, hold_out, stratify, group_by, similarity, seed })
}
