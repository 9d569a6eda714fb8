//! The command `split`: divides the rows of a data set anew and tells what came of it.

mod told;
mod words;

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::books::usage;
use super::{Exit, to_stdout};
use crate::pipeline::{Split, split};
use crate::schema::ByLanguage;
use crate::stages::split::{NEAR, Params, Part, Relation, Size, column_of};
use crate::store::{self, DatasetPlace};
pub(super) use words::bytes;
use words::{hold, part, size, split_name};

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
A division of `samples` takes `conversations` along; one that was made of these alone is made again by hand.
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
    /// Places the values of a column whole: `book`, `character`, `source_model`, `role`, `instruction` or any column of texts, numbers or dates.
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
                to_stdout(&told::text(arguments, &done));
            }
            Exit::Done
        }
        Err(error) => told::tell(&error),
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
