//! The command `pool`: what stands in the scene pool, and its people as cards.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::arguments::{CardArguments, PoolCommand};
use super::controls::visible;
use super::{Exit, Terminal, diagnostics, scenes, to_stderr};
use crate::pipeline::{self, BookError, CharactersError, PipelineError};
use crate::schema::{Character, Scene};
use crate::stages::synthesize::Params;
use crate::stages::synthesize::established::{card, card_of, named, pick};
use crate::store::{self, Pool, StoreError};

/// Why nothing is shown or written.
#[derive(Debug, thiserror::Error)]
enum Fault {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Open(#[from] BookError),
    #[error(transparent)]
    Invalid(#[from] PipelineError),
    #[error("read the folder `{}`", path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error("the pool `{}` has no book `{book}`", path.display())]
    NoBook { path: PathBuf, book: String },
    #[error("nobody in the pool `{}` is called `{name}`", path.display())]
    Nobody { path: PathBuf, name: String },
    #[error("`{name}` is somebody of several books: {books}")]
    Several { name: String, books: String },
    #[error("two of the characters would be `{id}.json`")]
    Twice { id: String },
    #[error("`{}` holds something else", path.display())]
    Taken { path: PathBuf },
    #[error("write to stdout")]
    Write(#[from] io::Error),
}

/// Does what a command about the pool says.
pub(super) fn pool(command: &PoolCommand) -> Exit {
    let done = match command {
        PoolCommand::Card(arguments) => cards(arguments),
        PoolCommand::List { pool, filter, kind } => return scenes::list(pool, filter, *kind),
        PoolCommand::Show { id, pool } => return scenes::show(id, pool),
        PoolCommand::Check { pool } => return scenes::check(pool),
        PoolCommand::Add { file, pool, replace } => return scenes::add(file, pool, *replace),
        PoolCommand::Stats { pool, filter } => return scenes::stats(pool, filter),
    };
    match done {
        Ok(exit) => exit,
        // Who reads no further, as `head` does, has what they wanted.
        Err(Fault::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Done,
        Err(fault) => tell(&fault),
    }
}

fn tell(fault: &Fault) -> Exit {
    let color = Terminal::new().color;
    let hint = match fault {
        Fault::Invalid(PipelineError::Invalid { sources, problems }) => {
            to_stderr(&diagnostics::problems(sources, problems, color));
            return Exit::Usage;
        }
        Fault::Folder { .. } => Some("`extract` fills a pool; `--pool DIR` names its folder"),
        Fault::NoBook { .. } => Some("a book is called as its file in the pool, without `.jsonl`"),
        Fault::Nobody { .. } => Some("`scene_pool/aliases/` has the names of a book's people"),
        Fault::Several { .. } => Some("say which with `--book`"),
        Fault::Twice { .. } => Some("write them one after the other, into folders of their own"),
        Fault::Taken { .. } => Some("name another folder, or write over it with `--force`"),
        _ => None,
    };
    to_stderr(&diagnostics::chain(fault, hint, color));
    if matches!(fault, Fault::Write(_)) { Exit::Fault } else { Exit::Usage }
}

/// Writes cards of the people of the pool and of files, in the order in which they are asked for.
fn cards(arguments: &CardArguments) -> Result<Exit, Fault> {
    let mut cards: Vec<(String, Value)> = Vec::new();
    let mut exit = Exit::Done;
    if arguments.characters.is_empty() {
        each(arguments, |slug, scenes| {
            let picked = pick(slug, scenes, Params::default().established_per_book as usize, &[]);
            for reject in &picked.rejects {
                to_stderr(&format!("note: {}: {}\n", visible(&reject.id), visible(&reject.detail)));
                exit = Exit::Failures;
            }
            cards.extend(picked.characters.iter().map(|one| (one.id.clone(), card(one))));
        })?;
    }
    let people: Vec<&String> = arguments.characters.iter().filter(|name| !is_file(name)).collect();
    let mut found: BTreeMap<&String, Vec<Character>> = BTreeMap::new();
    if !people.is_empty() {
        each(arguments, |slug, scenes| {
            for &name in &people {
                found.entry(name).or_default().extend(named(slug, scenes, name));
            }
        })?;
    }
    for name in &arguments.characters {
        if is_file(name) {
            let given = pipeline::characters(Path::new(name)).map_err(|error| match error {
                CharactersError::Open(error) => Fault::Open(error),
                CharactersError::Invalid(error) => Fault::Invalid(error),
            })?;
            cards.extend(given.iter().map(|given| (Character::from(given.file.clone()).id, card_of(given))));
            continue;
        }
        match found.get(name).map_or(&[][..], Vec::as_slice) {
            [] => return Err(Fault::Nobody { path: arguments.pool.clone(), name: name.clone() }),
            [one] => cards.push((one.id.clone(), card(one))),
            several => {
                let books: Vec<&str> = several.iter().filter_map(|one| one.book.as_deref()).collect();
                return Err(Fault::Several { name: name.clone(), books: books.join(", ") });
            }
        }
    }
    write(&cards, arguments)?;
    Ok(exit)
}

/// Calls a function with each book of the pool that is asked for and its scenes, one book in memory at a time.
fn each(arguments: &CardArguments, mut then: impl FnMut(&str, &[Scene])) -> Result<(), Fault> {
    let path = &arguments.pool;
    let fault = |source| Fault::Folder { path: path.clone(), source };
    let mut slugs = Vec::new();
    for entry in std::fs::read_dir(path).map_err(fault)? {
        let file = entry.map_err(fault)?.path();
        if file.extension().is_some_and(|ending| ending == "jsonl") {
            slugs.extend(file.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
        }
    }
    slugs.sort();
    if let Some(book) = arguments.books.iter().find(|book| !slugs.contains(book)) {
        return Err(Fault::NoBook { path: path.clone(), book: book.clone() });
    }
    slugs.retain(|slug| arguments.books.is_empty() || arguments.books.contains(slug));
    let pool = Pool::open(path)?;
    for slug in slugs {
        then(&slug, &pool.scenes(std::slice::from_ref(&slug))?);
    }
    Ok(())
}

/// Says whether an argument is meant for a file.
fn is_file(argument: &str) -> bool {
    let path = Path::new(argument);
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default();
    path.is_file() || matches!(ending.as_str(), "toml" | "json" | "png" | "charx")
}

fn write(cards: &[(String, Value)], arguments: &CardArguments) -> Result<(), Fault> {
    let Some(folder) = &arguments.out else {
        let mut out = io::stdout().lock();
        for (_, card) in cards {
            writeln!(out, "{card}")?;
        }
        return Ok(());
    };
    let files: Vec<(PathBuf, String)> = cards
        .iter()
        .map(|(id, card)| {
            let text = serde_json::to_string_pretty(card).expect("a card is JSON") + "\n";
            (folder.join(format!("{id}.json")), text)
        })
        .collect();
    let mut ids = BTreeSet::new();
    if let Some((id, _)) = cards.iter().find(|(id, _)| !ids.insert(id)) {
        return Err(Fault::Twice { id: id.clone() });
    }
    if !arguments.force {
        let differs = |path: &Path, text: &str| std::fs::read(path).is_ok_and(|old| old != text.as_bytes());
        if let Some((path, _)) = files.iter().find(|(path, text)| differs(path, text)) {
            return Err(Fault::Taken { path: path.clone() });
        }
    }
    for (path, text) in &files {
        store::write(path, text.as_bytes())?;
        to_stderr(&format!("{}\n", visible(&path.display().to_string())));
    }
    Ok(())
}
