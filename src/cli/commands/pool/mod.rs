//! The command `pool`: lists, shows, validates and adds scenes.

mod scene_text;
mod stats;

use std::cmp::Reverse;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::json;

use crate::cli::args::{KindFilter, PoolArguments, PoolCommand, SceneFilter, Sort};
use crate::cli::commands::chunk::{is_pipeline, usage};
use crate::cli::exit::Exit;
use crate::cli::output::control_chars::visible;
use crate::cli::output::diagnostics;
use crate::cli::{dotenv, to_stderr, to_stdout};
use crate::config::Finding;
use crate::dataset;
use crate::dataset::AdditionError;
use crate::schema::SceneHead;
use crate::stages::export::thousands;
use crate::store::{AddedScene, Pool, PoolIndex, SceneKind, StoreError};
use scene_text::write_scene;

/// Errors of the scene commands.
#[derive(Debug, thiserror::Error)]
enum Fault {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("failed to write to stdout")]
    Write(#[from] io::Error),
}

/// Runs a `pool` command.
pub(crate) fn pool(command: &PoolCommand) -> Exit {
    match command {
        PoolCommand::List { pool, filter, kind, sort } => list(pool, filter, *kind, *sort),
        PoolCommand::Show { id, pool } => show(id, pool),
        PoolCommand::Check { pool } => check(pool),
        PoolCommand::Add { file, pool, replace } => add(file, pool, *replace),
        PoolCommand::Stats { pool, filter } => stats::stats(pool, filter),
    }
}

/// Lists scenes, one per line.
fn list(arguments: &PoolArguments, filter: &SceneFilter, kind: Option<KindFilter>, sort: Sort) -> Exit {
    with_index(arguments, |index| {
        let mut out = out();
        let is_kind = |position: &usize| kind.is_none_or(|kind| scene_kind(kind) == index.origin(*position).1);
        let mut positions: Vec<usize> = chosen(index, filter).filter(is_kind).collect();
        sorted(&mut positions, index, sort);
        for position in positions {
            let (path, of, line) = index.origin(position);
            let head = index.head(position);
            if arguments.json {
                let listed = Listed { head, kind: of, path, line };
                serde_json::to_writer(&mut out, &listed).map_err(io::Error::from)?;
                writeln!(out)?;
            } else {
                let grounding = head.grounding.map_or_else(|| "-".to_owned(), |share| format!("{share:.2}"));
                let salience = head.salience.map_or_else(|| "-".to_owned(), |salience| salience.to_string());
                let cast = visible(&head.cast.join(", ")).into_owned();
                let (id, chapter, language) = (visible(&head.id), visible(&head.chapter), head.language);
                let (kind, lines) = (of.name(), thousands(head.lines.into()));
                writeln!(out, "{id}\t{language}\t{kind}\t{lines} lines\t{grounding}\t{salience}\t{cast}\t{chapter}")?;
            }
        }
        Ok(out.flush()?)
    })
}

/// Shows one scene.
fn show(id: &str, arguments: &PoolArguments) -> Exit {
    let mut exit = Exit::Done;
    let result = with_index(arguments, |index| {
        let Some(position) = index.find(id) else {
            let nearest = nearest(id, index);
            let hint = nearest.map_or_else(
                || "`dramaturg pool list` shows the ids".to_owned(),
                |nearest| format!("did you mean `{nearest}`?"),
            );
            exit = usage(
                &format!("the pool `{}` has no scene `{}`", arguments.pool.display(), visible(id)),
                &visible(&hint),
            );
            return Ok(());
        };
        let scene = index.scene(position)?;
        let mut out = out();
        if arguments.json {
            serde_json::to_writer(&mut out, &scene).map_err(io::Error::from)?;
            writeln!(out)?;
        } else {
            let (path, kind, line) = index.origin(position);
            write_scene(&mut out, &scene, &format!("{}, line {line} ({})", path.display(), kind.name()))?;
        }
        Ok(out.flush()?)
    });
    // Problems elsewhere in the pool do not affect this command.
    if exit == Exit::Usage || result == Exit::Failures { exit } else { result }
}

/// Validates a pool.
pub(crate) fn check(arguments: &PoolArguments) -> Exit {
    let pool = match find(arguments) {
        Ok(pool) => pool,
        Err(exit) => return exit,
    };
    let found = match dataset::check_pool(&pool) {
        Ok(found) => found,
        Err(error) => return fault(&error.into()),
    };
    if arguments.json {
        to_stdout(&format!("{}\n", serde_json::to_string(&found).expect("findings serialize to JSON")));
    } else {
        let mut text: String = found.findings.iter().map(format_finding).collect();
        let scenes = thousands(found.scenes as u64);
        let count = found.findings.len() + found.more;
        let sum = match (count, found.more) {
            (0, _) => format!("{scenes} scenes in {}, no problems\n", visible(&pool.path().display().to_string())),
            (1, _) => format!("1 problem in {scenes} scenes\n"),
            (_, 0) => format!("{} problems in {scenes} scenes\n", thousands(count as u64)),
            (_, more) => {
                let (count, more) = (thousands(count as u64), thousands(more as u64));
                format!("at least {count} problems in {scenes} scenes; {more} not shown\n")
            }
        };
        text.push_str(&sum);
        to_stdout(&text);
    }
    if found.findings.is_empty() { Exit::Done } else { Exit::Failures }
}

/// Adds custom scenes.
fn add(file: &Path, arguments: &PoolArguments, replace: bool) -> Exit {
    let scenes = match dataset::read_custom_scenes(file) {
        Ok(scenes) => scenes,
        Err(error) => {
            let hint = match &error {
                AdditionError::NoMatch { nearest: Some(nearest), .. } => format!("did you mean `{nearest}`?"),
                AdditionError::NoMatch { nearest: None, .. } | AdditionError::Invalid { .. } => {
                    "`schemas/scene.schema.json` describes a scene; docs/scene-pool.md has an example".to_owned()
                }
            };
            if let AdditionError::Invalid { findings, .. } = &error {
                if arguments.json {
                    to_stdout(&format!("{}\n", json!({"findings": findings})));
                }
                to_stderr(&findings.iter().map(format_finding).collect::<String>());
            }
            to_stderr(&diagnostics::chain(&error, Some(&hint), false));
            return if matches!(error, AdditionError::Invalid { .. }) { Exit::Failures } else { Exit::Usage };
        }
    };
    let added = folder(arguments).and_then(|folder| {
        let pool = Pool::open(&folder).map_err(|error| fault(&error.into()))?;
        pool.add(&scenes, replace).map_err(|error| {
            let hint = match &error {
                StoreError::SceneExists { .. } => "replace it with `--replace`, or choose another id",
                StoreError::SharedFile { .. } => "edit the scene in that file, or remove it there",
                _ => return fault(&error.into()),
            };
            to_stderr(&diagnostics::chain(&error, Some(hint), false));
            Exit::Usage
        })
    });
    let added = match added {
        Ok(added) => added,
        Err(exit) => return exit,
    };
    let outcomes = scenes.iter().zip(&added).map(|(scene, added)| {
        let (word, path) = match added {
            AddedScene::New(path) => ("added", path),
            AddedScene::Replaced(path) => ("replaced", path),
            AddedScene::Same(path) => ("unchanged", path),
        };
        (&scene.id, word, path)
    });
    if arguments.json {
        let outcomes: Vec<_> =
            outcomes.map(|(id, outcome, path)| json!({"id": id, "outcome": outcome, "path": path})).collect();
        to_stdout(&format!("{}\n", json!({"scenes": outcomes})));
    } else {
        let lines = outcomes.map(|(id, word, path)| format!("{word}  {}  {}\n", visible(id), path.display()));
        to_stdout(&lines.collect::<String>());
    }
    Exit::Done
}

/// A scene in the output of `list --json`.
#[derive(Serialize)]
struct Listed<'a> {
    #[serde(flatten)]
    head: &'a SceneHead,
    kind: SceneKind,
    path: &'a Path,
    line: u32,
}

/// Indexes a pool, calls a function with the index, and reports scenes that cannot be read.
fn with_index(arguments: &PoolArguments, visit: impl FnOnce(&PoolIndex) -> Result<(), Fault>) -> Exit {
    let pool = match find(arguments) {
        Ok(pool) => pool,
        Err(exit) => return exit,
    };
    let (index, faults) = match pool.index_all() {
        Ok(found) => found,
        Err(error) => return fault(&error.into()),
    };
    match visit(&index) {
        Ok(()) => {}
        // A closed pipe (`| head`) is not an error.
        Err(Fault::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => {}
        Err(error) => return fault(&error),
    }
    let Some(first) = faults.first() else { return Exit::Done };
    let left_out = match faults.len() {
        1 => "1 scene was skipped".to_owned(),
        count => format!("{} scenes were skipped", thousands(count as u64)),
    };
    to_stderr(&format!("note: {left_out}, first: {}\n", visible(&first.to_string())));
    to_stderr("hint: `dramaturg pool check` lists all problems\n");
    Exit::Failures
}

/// Returns the positions of the scenes that match a filter.
fn chosen(index: &PoolIndex, filter: &SceneFilter) -> impl Iterator<Item = usize> {
    let takes = |head: &SceneHead| {
        filter.language.is_none_or(|language| head.language == language)
            && (filter.books.is_empty() || filter.books.contains(&head.book))
    };
    index.heads().enumerate().filter(move |(_, head)| takes(head)).map(|(position, _)| position)
}

/// Sorts positions, which are initially ordered by id.
fn sorted(positions: &mut [usize], index: &PoolIndex, sort: Sort) {
    let head = |position: &usize| index.head(*position);
    match sort {
        Sort::Id => {}
        Sort::Salience => positions.sort_by_key(|position| Reverse(head(position).salience)),
        Sort::Lines => positions.sort_by_key(|position| Reverse(head(position).lines)),
        Sort::Grounding => {
            let share = |position: &usize| head(position).grounding.unwrap_or(f64::INFINITY);
            positions.sort_by(|one, other| share(one).total_cmp(&share(other)));
        }
    }
}

/// Opens the pool, or prints that there is none.
fn find(arguments: &PoolArguments) -> Result<Pool, Exit> {
    let folder = folder(arguments)?;
    Pool::find(&folder).ok_or_else(|| {
        let path = folder.display().to_string();
        usage(
            &format!("no pool `{}`", visible(&path)),
            "run `dramaturg extract PIPELINE` to fill one, or `dramaturg pool add` to create one",
        )
    })
}

/// Returns the pool folder, which may be named by a pipeline file.
fn folder(arguments: &PoolArguments) -> Result<PathBuf, Exit> {
    if !is_pipeline(&arguments.pool) {
        return Ok(arguments.pool.clone());
    }
    let environment = dotenv::environment().map_err(|error| {
        to_stderr(&diagnostics::chain(&error, Some("fix or remove `.env`"), false));
        Exit::Usage
    })?;
    dataset::pool_path(&arguments.pool, &environment).map_err(|error| {
        usage(
            &format!("failed to read `{}`: {error}", arguments.pool.display()),
            "give a pool folder or a pipeline file",
        )
    })
}

fn fault(fault: &Fault) -> Exit {
    to_stderr(&diagnostics::chain(fault, None, false));
    Exit::Fault
}

/// Formats a finding like a compiler message, so that editors can jump to it.
fn format_finding(finding: &Finding) -> String {
    use std::fmt::Write as _;

    let mut text = visible(&finding.path.display().to_string()).into_owned();
    for number in [finding.line, finding.column].into_iter().flatten() {
        let _ = write!(text, ":{number}");
    }
    text += ": ";
    if let Some(field) = &finding.field {
        let _ = write!(text, "{field}: ");
    }
    text += &finding.message;
    if let Some(expected) = &finding.expected {
        let _ = write!(text, "; expected {expected}");
    }
    if let Some(nearest) = &finding.nearest {
        let _ = write!(text, "; did you mean `{nearest}`?");
    }
    text = visible(&text).into_owned() + "\n";
    if finding.expected.is_none() && finding.nearest.is_none() {
        let _ = writeln!(text, "  {}", finding.remedy);
    }
    text
}

/// Returns the scene id most similar to `id`, if it is similar enough to suggest.
fn nearest<'a>(id: &str, index: &'a PoolIndex) -> Option<&'a str> {
    let similarity = |head: &&SceneHead| strsim::jaro_winkler(id, &head.id);
    let best = index
        .heads()
        .max_by(|one, other| similarity(one).total_cmp(&similarity(other)).then_with(|| other.id.cmp(&one.id)))?;
    (similarity(&best) >= 0.75).then_some(best.id.as_str())
}

const fn scene_kind(kind: KindFilter) -> SceneKind {
    match kind {
        KindFilter::Book => SceneKind::Book,
        KindFilter::Edit => SceneKind::Edit,
        KindFilter::Custom => SceneKind::Custom,
    }
}

fn out() -> BufWriter<io::StdoutLock<'static>> {
    BufWriter::with_capacity(1 << 16, io::stdout().lock())
}
