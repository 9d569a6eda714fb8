//! Reads the sources and fails when they leave the plan of `ARCHITECTURE.md`.

use std::path::{Path, PathBuf};

/// What each room may import from the crate. A room may always import itself.
const ROOMS: [(&str, &[&str]); 18] = [
    ("schema", &[]),
    ("cells", &[]),
    ("seed", &[]),
    ("text", &["schema"]),
    ("prompt", &["schema"]),
    ("event", &["schema"]),
    ("books", &["schema", "text"]),
    ("attribution", &["schema", "text"]),
    ("llm", &["schema", "prompt", "seed"]),
    ("stages", &["schema", "text", "cells", "seed", "prompt", "books", "attribution", "llm"]),
    ("offline", &["schema", "text", "seed", "attribution", "llm", "stages"]),
    ("store", &["schema", "llm"]),
    ("config", &["schema", "text", "prompt", "books", "attribution", "llm", "stages", "store"]),
    ("dataset", &["schema", "text", "cells", "seed", "attribution", "llm", "stages", "store", "config"]),
    (
        "pipeline",
        &[
            "schema",
            "text",
            "cells",
            "seed",
            "prompt",
            "event",
            "books",
            "attribution",
            "llm",
            "stages",
            "offline",
            "store",
            "config",
            "dataset",
        ],
    ),
    (
        "cli",
        &[
            "schema",
            "text",
            "cells",
            "seed",
            "prompt",
            "event",
            "books",
            "attribution",
            "llm",
            "stages",
            "offline",
            "store",
            "config",
            "dataset",
            "pipeline",
        ],
    ),
    ("lib", &[]),
    ("main", &[]),
];

fn sources() -> Vec<(PathBuf, String)> {
    fn walk(folder: &Path, files: &mut Vec<(PathBuf, String)>) {
        for entry in std::fs::read_dir(folder).expect("a folder of the sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                walk(&path, files);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("UTF-8");
                files.push((path, text));
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    walk(&root, &mut files);
    files.sort();
    // Modules of tests alone may know more than their room.
    let tests: Vec<PathBuf> = files
        .iter()
        .flat_map(|(path, text)| {
            let names = text.split("#[cfg(test)]\nmod ").skip(1).filter_map(|rest| rest.split_once(';'));
            let folder = path.parent().expect("a folder").to_owned();
            names.map(move |(name, _)| folder.join(format!("{name}.rs")))
        })
        .collect();
    files.retain(|(path, _)| !tests.contains(path));
    files.into_iter().map(|(path, text)| (path.strip_prefix(&root).expect("below src").to_owned(), text)).collect()
}

/// Returns the first and second part of every `crate::…` path in a source, test modules aside.
fn imports(text: &str) -> Vec<(String, String)> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let mut found = Vec::new();
    for (place, _) in code.match_indices("crate::") {
        let rest = &code[place + "crate::".len()..];
        if let Some((list, _)) = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
            let names = list.split(',').map(|item| item.trim().split("::").next().unwrap_or_default().to_owned());
            found.extend(names.filter(|name| !name.is_empty()).map(|name| (name, String::new())));
            continue;
        }
        let mut words =
            rest.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').next().unwrap_or("").split("::");
        let first = words.next().unwrap_or_default().to_owned();
        found.push((first, words.next().unwrap_or_default().to_owned()));
    }
    found
}

#[test]
fn rooms_import_what_they_may() {
    let mut faults = Vec::new();
    for (path, text) in sources() {
        let room = path.iter().next().and_then(|part| part.to_str()).unwrap_or_default().trim_end_matches(".rs");
        if matches!(room, "main" | "lib") {
            continue;
        }
        let (_, allowed) =
            ROOMS.iter().find(|(name, _)| *name == room).unwrap_or_else(|| panic!("no such room: {room}"));
        for (import, _) in imports(&text) {
            if import != room && !allowed.contains(&import.as_str()) {
                faults.push(format!("{} imports `{import}`", path.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn a_stage_imports_no_other() {
    let mut faults = Vec::new();
    for (path, text) in sources() {
        let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
        let ["stages", stage, ..] = parts[..] else { continue };
        if stage == "mod.rs" {
            continue;
        }
        for (room, other) in imports(&text) {
            let may = other == stage || other.is_empty() || (stage == "simulate" && other == "select");
            if room == "stages" && !may {
                faults.push(format!("{} imports `stages::{other}`", path.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn every_file_says_what_it_is_for() {
    let silent: Vec<_> =
        sources().into_iter().filter(|(_, text)| !text.starts_with("//!")).map(|(path, _)| path).collect();
    assert!(silent.is_empty(), "no `//!` at the top of {silent:?}");
}

#[test]
fn only_llm_opens_connections_and_only_store_writes() {
    let mut faults = Vec::new();
    for (path, text) in sources() {
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let room = path.iter().next().and_then(|part| part.to_str()).unwrap_or_default();
        for (word, owner) in [
            ("reqwest", "llm"),
            ("TcpStream", "llm"),
            ("fs::write", "store"),
            ("File::create", "store"),
            ("OpenOptions", "store"),
            ("remove_dir_all", "store"),
            ("env::var", "cli"),
            ("println!", "cli"),
            ("SystemTime", "cli"),
        ] {
            if room != owner && code.contains(word) {
                faults.push(format!("{}: `{word}` belongs to `{owner}`", path.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}
