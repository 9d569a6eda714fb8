//! The command `character`: exports characters as Tavern cards.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cli::args::{CharacterCommand, CharacterExportArguments};
use crate::cli::exit::Exit;
use crate::cli::output::control_chars::visible;
use crate::cli::output::diagnostics;
use crate::cli::{Terminal, to_stderr};
use crate::config;
use crate::config::BookError;
use crate::config::{CharactersError, PipelineError};
use crate::schema::{Character, CharacterId, Scene, slug};
use crate::stages::synthesize::Params;
use crate::stages::synthesize::established::{card, imported_card, named, pick};
use crate::store::{self, Pool, StoreError};

/// Errors of `character export`.
#[derive(Debug, thiserror::Error)]
enum Fault {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Open(#[from] BookError),
    #[error(transparent)]
    Invalid(#[from] PipelineError),
    #[error("failed to read the folder `{}`", path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error("the pool `{}` has no book `{book}`", path.display())]
    NoBook { path: PathBuf, book: String },
    #[error("the pool `{}` has no character named `{name}`", path.display())]
    Nobody { path: PathBuf, name: String },
    #[error("`{name}` is ambiguous, it occurs in: {books}")]
    Several { name: String, books: String },
    #[error("the run `{}` has no test character{}", path.display(), name.as_ref().map_or_else(String::new, |name| format!(" named `{name}`")))]
    NotInRun { path: PathBuf, name: Option<String>, nearest: Option<String> },
    #[error("the run `{}` has no test characters yet", path.display())]
    Unfinished { path: PathBuf },
    #[error("two characters have the same file name `{id}.json`")]
    Twice { id: CharacterId },
    #[error("`{}` exists with different content", path.display())]
    Exists { path: PathBuf },
    #[error("failed to write to stdout")]
    Write(#[from] io::Error),
}

/// Runs a `character` command.
pub(crate) fn character(command: &CharacterCommand) -> Exit {
    let CharacterCommand::Export(arguments) = command;
    match export(arguments) {
        Ok(exit) => exit,
        // A closed pipe (`| head`) is not an error.
        Err(Fault::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Done,
        Err(fault) => print_error(&fault),
    }
}

fn print_error(fault: &Fault) -> Exit {
    let color = Terminal::new().color;
    let suggestion;
    let hint = match fault {
        Fault::Invalid(PipelineError::Invalid { sources, problems }) => {
            to_stderr(&diagnostics::problems(sources, problems, color));
            return Exit::Usage;
        }
        Fault::Folder { .. } => Some("run `dramaturg extract` to fill a pool, or name its folder with `--pool DIR`"),
        Fault::NoBook { .. } => Some("a book has the name of its file in the pool, without `.jsonl`"),
        Fault::Nobody { .. } => Some("`scene_pool/aliases/` lists the character names of each book"),
        Fault::NotInRun { nearest: Some(nearest), .. } => {
            suggestion = format!("did you mean `{nearest}`?");
            Some(suggestion.as_str())
        }
        Fault::Unfinished { .. } => {
            Some("run `dramaturg synthesize` to create them; characters of its scenes are in the pool")
        }
        Fault::Several { .. } => Some("select one with `--book`, or give its id"),
        Fault::Twice { .. } => Some("write them one at a time, to separate folders"),
        Fault::Exists { .. } => Some("choose another folder, or overwrite it with `--force`"),
        _ => None,
    };
    to_stderr(&diagnostics::chain(fault, hint, color));
    if matches!(fault, Fault::Write(_)) { Exit::Fault } else { Exit::Usage }
}

/// Writes cards for the requested characters of the pool or run and for character files, in the requested order.
fn export(arguments: &CharacterExportArguments) -> Result<Exit, Fault> {
    let mut cards: Vec<(CharacterId, Value)> = Vec::new();
    let mut exit = Exit::Done;
    let people: Vec<&String> = arguments.characters.iter().filter(|name| !is_file(name)).collect();
    let wants_run = store::is_run(&arguments.pool) && (arguments.characters.is_empty() || !people.is_empty());
    let played = if wants_run { played(arguments)? } else { Vec::new() };
    if arguments.characters.is_empty() && wants_run {
        cards.extend(played.iter().map(|one| (one.id.clone(), card(one))));
    } else if arguments.characters.is_empty() {
        let most = if arguments.all { usize::MAX } else { Params::default().established_per_book as usize };
        each_book(arguments, |slug, scenes| {
            let mut picked = pick(slug, scenes, most, &[]);
            // With `--all`, some characters always have too little text; that is not reported.
            picked.rejects.retain(|reject| !arguments.all || reject.reason == crate::schema::RejectReason::NoCharacter);
            for reject in &picked.rejects {
                to_stderr(&format!("note: {}: {}\n", visible(&reject.id), visible(&reject.detail)));
                exit = Exit::Failures;
            }
            cards.extend(picked.characters.iter().map(|one| (one.id.clone(), card(one))));
        })?;
    }
    let mut found: BTreeMap<&String, Vec<Character>> = BTreeMap::new();
    if wants_run {
        for &name in &people {
            found.insert(name, called(&played, name));
        }
    } else if !people.is_empty() {
        each_book(arguments, |slug, scenes| {
            for &name in &people {
                found.entry(name).or_default().extend(named(slug, scenes, name));
            }
        })?;
    }
    for name in &arguments.characters {
        if is_file(name) {
            let cards_of_file = config::characters(Path::new(name)).map_err(|error| match error {
                CharactersError::Open(error) => Fault::Open(error),
                CharactersError::Invalid(error) => Fault::Invalid(error),
            })?;
            cards.extend(cards_of_file.iter().map(|card| (Character::from(card.file.clone()).id, imported_card(card))));
            continue;
        }
        match found.get(name).map_or(&[][..], Vec::as_slice) {
            [] if wants_run => return Err(not_in_run(arguments, Some(name), &played)),
            [] => return Err(Fault::Nobody { path: arguments.pool.clone(), name: name.clone() }),
            [one] => cards.push((one.id.clone(), card(one))),
            several => {
                let books: Vec<&str> = several.iter().map(|one| one.book.as_deref().unwrap_or(&one.id)).collect();
                return Err(Fault::Several { name: name.clone(), books: books.join(", ") });
            }
        }
    }
    write(&cards, arguments)?;
    Ok(exit)
}

/// Returns the test characters of the run, restricted to the requested books.
fn played(arguments: &CharacterExportArguments) -> Result<Vec<Character>, Fault> {
    let path = &arguments.pool;
    if !store::characters_path(path).exists() {
        return Err(Fault::Unfinished { path: path.clone() });
    }
    let mut played = store::characters(path)?;
    if let Some(book) = arguments.books.iter().find(|book| !played.iter().any(|one| one.book.as_ref() == Some(*book))) {
        return Err(Fault::NoBook { path: path.clone(), book: book.clone() });
    }
    played.retain(|one| {
        arguments.books.is_empty() || one.book.as_ref().is_some_and(|book| arguments.books.contains(book))
    });
    if played.is_empty() { Err(not_in_run(arguments, None, &played)) } else { Ok(played) }
}

/// Returns the characters that match a name: by id, otherwise by name, otherwise by alias.
fn called(played: &[Character], name: &str) -> Vec<Character> {
    let name_slug = slug(name);
    let ranks = |one: &Character| {
        [one.id == name, slug(&one.name) == name_slug, one.aliases.iter().any(|alias| slug(alias) == name_slug)]
    };
    let of_rank = |rank| played.iter().filter(|one| ranks(one)[rank]).cloned().collect::<Vec<Character>>();
    (0..3).map(of_rank).find(|found| !found.is_empty()).unwrap_or_default()
}

fn not_in_run(arguments: &CharacterExportArguments, name: Option<&String>, played: &[Character]) -> Fault {
    let similarity = |one: &&Character, name: &str| strsim::jaro_winkler(&slug(&one.name), &slug(name));
    let nearest = name.and_then(|name| {
        let best = played.iter().max_by(|one, other| similarity(one, name).total_cmp(&similarity(other, name)))?;
        (similarity(&best, name) >= 0.75).then(|| best.name.clone())
    });
    Fault::NotInRun { path: arguments.pool.clone(), name: name.cloned(), nearest }
}

/// Calls a function for each requested book of the pool with its scenes, keeping one book in memory at a time.
fn each_book(arguments: &CharacterExportArguments, mut visit: impl FnMut(&str, &[Scene])) -> Result<(), Fault> {
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
        visit(&slug, &pool.scenes(std::slice::from_ref(&slug))?);
    }
    Ok(())
}

/// Whether an argument is a path of a character file.
fn is_file(argument: &str) -> bool {
    let path = Path::new(argument);
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default();
    path.is_file() || matches!(ending.as_str(), "toml" | "json" | "png" | "charx")
}

fn write(cards: &[(CharacterId, Value)], arguments: &CharacterExportArguments) -> Result<(), Fault> {
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
            let text = serde_json::to_string_pretty(card).expect("a card serializes to JSON") + "\n";
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
            return Err(Fault::Exists { path: path.clone() });
        }
    }
    for (path, text) in &files {
        store::write(path, text.as_bytes())?;
        to_stderr(&format!("{}\n", visible(&path.display().to_string())));
    }
    Ok(())
}
