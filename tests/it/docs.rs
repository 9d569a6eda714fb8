//! The documentation agrees with the program.
//!
//! `UPDATE_DOCS=1 cargo test docs` rewrites the outputs of commands in the pages.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use assert_cmd::cargo::cargo_bin;
use regex::Regex;
use serde_json::Value;

/// Maximum number of lines of a page that is not generated.
const MAX_LINES: usize = 150;
/// The tutorial may be longer, because it shows the output of every step.
const TUTORIAL: &str = "docs/tutorial.md";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(relative: &str) -> String {
    fs::read_to_string(root().join(relative)).unwrap_or_else(|error| panic!("failed to read `{relative}`: {error}"))
}

/// Returns the text of each Markdown page by its path relative to the repository.
fn pages() -> BTreeMap<String, String> {
    let mut pages = BTreeMap::new();
    for folder in ["", "books", "docs", "docs/reference"] {
        for entry in fs::read_dir(root().join(folder)).expect("the folder exists") {
            let path = entry.expect("the folder is readable").path();
            if path.extension().is_some_and(|extension| extension == "md") {
                let relative = path.strip_prefix(root()).expect("the path is below the root").display().to_string();
                let text = read(&relative);
                pages.insert(relative, text);
            }
        }
    }
    pages
}

fn pattern(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is valid")
}

/// Collects the names of all properties of a schema, nested ones included.
fn property_names(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            let properties = map.get("properties").and_then(Value::as_object).into_iter().flatten();
            names.extend(properties.map(|(name, _)| name.clone()));
            for (_, inner) in map.iter().filter(|(key, _)| *key != "default") {
                property_names(inner, names);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| property_names(item, names)),
        _ => {}
    }
}

#[test]
fn the_reference_of_the_pipeline_file_has_every_key() {
    let page = read("docs/reference/pipeline.md");
    let schema: Value = serde_json::from_str(&read("schemas/pipeline.schema.json")).expect("the schema is JSON");
    let mut names = BTreeSet::new();
    property_names(&schema, &mut names);
    for language in ["en", "zh"] {
        names.remove(language);
    }
    let has = |name: &str| ["`{}`", ".{}`", "## {}\n"].iter().any(|form| page.contains(&form.replace("{}", name)));
    names.retain(|name| !has(name));
    assert!(names.is_empty(), "{names:?}");
}

#[test]
fn pages_name_only_keys_and_columns_that_exist() {
    let reference = read("docs/reference/pipeline.md") + &read("docs/reference/dataset.md");
    let schema: Value = serde_json::from_str(&read("schemas/pipeline.schema.json")).expect("the schema is JSON");
    let key = pattern(r"`([a-z]+)\.([a-z_]+)( = [^`]*)?`");
    let files = ["md", "toml", "json", "jsonl", "html", "txt", "sh", "py", "rs"];
    let mut unknown = Vec::new();
    for (path, page) in pages() {
        for found in key.captures_iter(&page) {
            let (table, name) = (&found[1], &found[2]);
            let is_table = schema["properties"][table].is_object();
            if is_table && !files.contains(&name) && !reference.contains(&format!("`{table}.{name}`")) {
                unknown.push(format!("{path}: {table}.{name}"));
            }
        }
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
}

#[test]
fn pages_name_only_commands_and_options_that_exist() {
    let call = pattern(r"(?m)(?:^|^\$ )dramaturg ([a-z]+)(?: ([a-z]+)\b)?([^\n#|>]*)");
    let option = pattern(r"--[a-z][a-z-]*");
    let mut helps: BTreeMap<Vec<String>, Option<String>> = BTreeMap::new();
    let mut help = |words: &[&str]| {
        let key: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let run = || {
            let output = Command::new(cargo_bin("dramaturg")).args(words).arg("--help").output().expect("it starts");
            output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
        };
        helps.entry(key).or_insert_with(run).clone()
    };
    let mut unknown = Vec::new();
    for (path, page) in pages() {
        for found in code(&page).flat_map(|code| call.captures_iter(code)) {
            let command = &found[1];
            let Some(text) = help(&[command]) else {
                unknown.push(format!("{path}: dramaturg {command}"));
                continue;
            };
            // A subcommand of its own, or else an argument.
            let word = found.get(2).map(|word| word.as_str()).filter(|word| text.contains(&format!("\n  {word} ")));
            let text = word.and_then(|word| help(&[command, word])).unwrap_or(text);
            for name in option.find_iter(&found[3]).map(|name| name.as_str()).filter(|name| !text.contains(name)) {
                unknown.push(format!("{path}: dramaturg {command} {} {name}", word.unwrap_or_default()));
            }
        }
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
}

/// Returns the code blocks and the code spans of a page.
fn code(page: &str) -> impl Iterator<Item = &str> {
    page.split("```").enumerate().flat_map(|(at, part)| match at % 2 {
        1 => vec![part],
        _ => part.split('`').skip(1).step_by(2).collect(),
    })
}

#[test]
fn links_point_to_existing_files_and_headings() {
    let link = pattern(r"\]\(([^)\s]+)\)");
    let pages = pages();
    let mut broken = Vec::new();
    for (path, page) in &pages {
        let folder = Path::new(path).parent().expect("a page is in a folder");
        for link in link.captures_iter(page).map(|found| found.get(1).expect("the group is not optional").as_str()) {
            if link.contains("://") {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { PathBuf::from(path) } else { without_parents(&folder.join(file)) };
            let text = pages.get(&target.display().to_string());
            let has_heading = heading.is_empty() || text.is_some_and(|text| anchors(text).contains(heading));
            if !root().join(&target).exists() || !has_heading {
                broken.push(format!("{path}: {link}"));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

fn without_parents(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts
}

/// Returns the anchors of a page's headings, as GitHub generates them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    headings
        .map(|heading| {
            let kept = heading.to_lowercase().replace(' ', "-");
            kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
        })
        .collect()
}

#[test]
fn sources_refer_to_pages_that_exist() {
    let reference = pattern(r"docs/[a-z/-]+\.md");
    let mut folders = vec![root().join("src"), root().join("pipelines")];
    let mut missing = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the folder exists") {
            let path = entry.expect("the folder is readable").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap_or_default();
            let named = reference.find_iter(&text).map(|page| page.as_str());
            missing.extend(
                named.filter(|page| !root().join(page).exists()).map(|page| format!("{}: {page}", path.display())),
            );
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn pages_are_short_and_in_the_index() {
    let index = read("docs/README.md");
    for (path, page) in pages() {
        let Some(name) = path.strip_prefix("docs/") else { continue };
        assert!(name == "README.md" || index.contains(&format!("({name})")), "docs/README.md does not link to {path}");
        let lines = page.lines().count();
        assert!(name.starts_with("reference/") || path == TUTORIAL || lines <= MAX_LINES, "{path} has {lines} lines");
    }
    assert!(read("README.md").lines().count() <= MAX_LINES);
}

#[test]
fn the_readme_names_the_first_commands() {
    let readme = read("README.md");
    for command in ["cargo run -- build pipelines/demo.toml", "cargo test"] {
        assert!(readme.contains(command), "{command}");
    }
}

#[test]
fn toml_in_pages_is_valid() {
    for (path, page) in pages() {
        for block in page.split("```toml\n").skip(1) {
            let block = block.split("```").next().unwrap_or_default();
            let parsed = toml::from_str::<toml::Table>(block);
            assert!(parsed.is_ok(), "{path}: {:?} in\n{block}", parsed.err());
        }
    }
}

/// Runs the commands of all `console` blocks and compares their outputs with the pages. The tutorial comes first: it creates
/// a project and builds it, and the commands of the other pages run in this project.
#[test]
fn pages_show_what_the_program_prints() {
    let folder = tempfile::tempdir().expect("the temporary folder is writable");
    let mut project = folder.path().to_owned();
    let mut pages = pages();
    let tutorial = pages.remove(TUTORIAL).expect("the tutorial exists");
    let (mut commands, mut outdated) = (0, Vec::new());
    for (path, page) in std::iter::once((TUTORIAL.to_owned(), tutorial)).chain(pages) {
        write_files(&page, &project);
        let (mut updated, mut rest) = (String::new(), page.as_str());
        while let Some((before, after)) = rest.split_once("```console\n$ dramaturg ") {
            let (block, behind) = after.split_once("```").expect("a block ends");
            let (command, expected) = block.split_once('\n').expect("a block has a command");
            let actual = abridged(&printed(command, expected, &project), expected);
            if let Some(folder) = command.strip_prefix("init ") {
                project.push(folder);
            }
            if without_times(&actual) != without_times(expected) {
                outdated.push(format!("{path}: `dramaturg {command}` prints\n{actual}\nthe page shows\n{expected}"));
            }
            let _ = write!(updated, "{before}```console\n$ dramaturg {command}\n{actual}```");
            commands += 1;
            rest = behind;
        }
        if std::env::var_os("UPDATE_DOCS").is_some_and(|value| value == "1") {
            fs::write(root().join(path), updated + rest).expect("the page is writable");
            outdated.clear();
        }
    }
    assert!(commands > 10, "{commands} commands were found");
    assert!(outdated.is_empty(), "{}\nUPDATE_DOCS=1 updates the pages", outdated.join("\n"));
}

/// Writes the TOML blocks of a page that start with a file name, as in `# ferry.toml`, to the project.
fn write_files(page: &str, project: &Path) {
    let is_file = |name: &str| Path::new(name).extension() == Some("toml".as_ref());
    for block in page.split("```toml\n# ").skip(1) {
        let block = block.split("```").next().unwrap_or_default();
        if let Some((name, text)) = block.split_once('\n').filter(|(name, _)| is_file(name)) {
            fs::write(project.join(name), text).expect("the project is writable");
        }
    }
}

/// Returns what a command prints on stdout, or on stderr if it fails as the page says.
fn printed(command: &str, expected: &str, project: &Path) -> String {
    // Single quotes group words, as in a shell.
    let quoted = command.split('\'').enumerate().flat_map(|(part, text)| match part % 2 {
        1 => vec![(text, true)],
        _ => text.split_inclusive(' ').map(|word| (word, false)).collect(),
    });
    let mut arguments = vec![String::new()];
    for (text, is_quoted) in quoted {
        let last = arguments.last_mut().expect("there is always a last argument");
        last.push_str(if is_quoted { text } else { text.trim_end_matches(' ') });
        if !is_quoted && text.ends_with(' ') {
            arguments.push(String::new());
        }
    }
    let program = Command::new(cargo_bin("dramaturg")).args(arguments).current_dir(project).output();
    let output = program.expect("the program starts");
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("the program prints UTF-8"));
    assert_eq!(output.status.success(), !expected.starts_with("error:"), "dramaturg {command}: {stderr}");
    if output.status.success() { stdout } else { stderr }
}

/// Replaces durations, which differ between runs.
fn without_times(text: &str) -> String {
    static DURATION: LazyLock<Regex> = LazyLock::new(|| pattern(r"\d+(\.\d+)? (s|min|ms)\b"));
    DURATION.replace_all(text, "0 s").into_owned()
}

/// Abridges an output like the expected one, in which a line `…` replaces any number of lines. The start and the end keep as
/// many lines as expected; a part in the middle starts at the first line with the same first word.
fn abridged(printed: &str, expected: &str) -> String {
    let lines: Vec<&str> = printed.trim_end().lines().collect();
    let parts: Vec<&str> = expected.split("…\n").collect();
    let last = parts.len() - 1;
    if last == 0 {
        return lines.join("\n") + "\n";
    }
    let first_word = |line: &str| line.split_whitespace().next().map(str::to_owned);
    let mut kept = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let count = part.lines().count().min(lines.len());
        let begin = match at {
            0 => 0,
            _ if at == last => lines.len() - count,
            _ => lines.iter().position(|line| first_word(line) == first_word(part)).unwrap_or(0),
        };
        let lines = lines[begin..(begin + count).min(lines.len())].iter();
        kept.push(lines.map(|line| format!("{line}\n")).collect::<String>());
    }
    kept.join("…\n")
}
