//! Validates the scenes of a pool, and custom scenes before they are added: schema and consistency, with the position
//! of each problem in its file.

pub(crate) mod scene_checks;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use self::scene_checks::{SceneFault, faults, names};
use super::text_checks::{in_comments, of_text, text_faults};
use crate::config::document::Finding;
use crate::config::document::problems::nearest;
use crate::config::document::{Document, dotted, schema_check};
use crate::config::environment::expand;
use crate::config::{Check, Environment, Problem, paths};
use crate::schema::{Scene, SceneId};
use crate::stages::extract;
use crate::store::{CustomScene, LocatedScene, Pool, PoolFile, SceneKind, SceneReadError, StoreError};

/// Maximum number of findings listed in full.
const MOST: usize = 1_000;

/// Returns the remedy for findings of a check.
fn remedy(check: Check) -> &'static str {
    match check {
        Check::File => "save it as UTF-8 with one complete scene per line, or remove it from the pool",
        Check::Schema => {
            "correct the scene; see `schemas/scene.schema.json` for its format and docs/scene-pool.md for an example"
        }
        Check::Id => "give this scene another id, or remove one of the two",
        Check::Secret => "remove it from the scene and from the book or prompt that it comes from, and revoke the key",
        Check::Text => {
            "set the book's encoding (`dramaturg chunk BOOK --encoding`) and extract it again, or correct the text"
        }
        Check::Private => "all participants see this text: remove the value, or make the attribute public",
        _ => "correct the line, or add a corrected scene in `edits/`",
    }
}

/// The result of validating a pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PoolCheck {
    /// Number of scenes in its files.
    pub scenes: usize,
    /// The findings, by file and position.
    pub findings: Vec<Finding>,
    /// Number of further findings that are not listed.
    pub more: usize,
}

/// Why a scene file cannot be added to a pool.
#[derive(Debug, thiserror::Error)]
pub enum AdditionError {
    /// The file cannot be read.
    #[error("{message}")]
    NoMatch {
        /// The message.
        message: String,
        /// The most similar path.
        nearest: Option<String>,
    },
    /// The file is invalid.
    #[error("{} in `{}`; nothing was added", if findings.len() == 1 { "1 problem".to_owned() } else { format!("{} problems", findings.len()) }, path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The problems.
        findings: Vec<Finding>,
    },
}

/// What the first pass keeps of a scene.
struct ScannedScene {
    id: Option<SceneId>,
    /// Number of problems in the scene itself.
    faults: usize,
    fault: Option<SceneReadError>,
}

/// The id, read from scenes that are otherwise invalid.
#[derive(Deserialize)]
struct SceneHeader {
    id: SceneId,
}

/// Validates every file of a pool.
pub fn check_pool(pool: &Pool) -> Result<PoolCheck, StoreError> {
    let mut found = check(&pool.files()?);
    for path in pool.alias_files()? {
        found.findings.extend(check_aliases(&path));
    }
    Ok(found)
}

/// Checks an aliases file for secrets and encoding damage.
fn check_aliases(path: &Path) -> Vec<Finding> {
    let finding = |check, line: usize, message: String| Finding {
        check,
        path: path.to_owned(),
        line: u32::try_from(line).ok().filter(|line| *line > 0),
        column: None,
        scene: None,
        field: None,
        message,
        expected: None,
        nearest: None,
        remedy: remedy(check),
    };
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) => return vec![finding(Check::File, 0, error.to_string())],
    };
    let text = match str::from_utf8(&bytes) {
        Ok(text) => text,
        Err(error) => {
            let before = memchr::memchr_iter(b'\n', &bytes[..error.valid_up_to()]).count();
            return vec![finding(Check::File, before + 1, "the file is not valid UTF-8".to_owned())];
        }
    };
    let lines = text.lines().enumerate();
    lines.flat_map(|(at, line)| of_text(line).map(move |(check, message)| finding(check, at + 1, message))).collect()
}

/// Reads custom scenes to add: one scene in TOML or JSON, a JSON list, or JSON Lines. A single scene keeps its text
/// unchanged; several are written as separate texts.
pub fn read_custom_scenes(path: &Path) -> Result<Vec<CustomScene>, AdditionError> {
    if !path.is_file() {
        let paths::NoMatch { message, nearest } = paths::absent(path);
        return Err(AdditionError::NoMatch { message, nearest });
    }
    if !path.extension().is_some_and(|ending| ending == "toml" || ending == "json" || ending == "jsonl") {
        let message = format!("`{}` is not a `.toml`, `.json` or `.jsonl` file", path.display());
        return Err(AdditionError::NoMatch { message, nearest: None });
    }
    let files = [PoolFile { path: path.to_owned(), kind: SceneKind::Custom, unwritten: None }];
    let findings = check(&files).findings;
    if !findings.is_empty() {
        return Err(AdditionError::Invalid { path: path.to_owned(), findings });
    }
    let read = Pool::scan(&files, |file, text| {
        let text = text.ok()?;
        Some((parse(file, text)?.id, text.to_owned()))
    });
    let read: Option<Vec<(SceneId, String)>> = read.into_iter().map(|located| located.value).collect();
    let Some(read) = read.filter(|read| !read.is_empty()) else {
        let message = format!("`{}` contains no scenes", path.display());
        return Err(AdditionError::NoMatch { message, nearest: None });
    };
    let is_toml = files[0].is_toml();
    let terminated = |text: String| if text.ends_with('\n') { text } else { text + "\n" };
    Ok(read.into_iter().map(|(id, text)| CustomScene { id, text: terminated(text), is_toml }).collect())
}

/// Returns the pool folder of a pipeline file, even if the file has other problems.
pub fn pool_path(pipeline: &Path, environment: &Environment) -> std::io::Result<PathBuf> {
    let text = std::fs::read_to_string(pipeline)?;
    let document = Document::toml(0, &text, &mut Vec::new());
    let named = document.value.pointer("/extract/pool").and_then(serde_json::Value::as_str);
    let default = extract::Params::default().pool;
    let named = named.unwrap_or(&default);
    expand(named, environment)
        .map(PathBuf::from)
        .map_err(|unset| std::io::Error::other(format!("{unset}, which `extract.pool` needs")))
}

fn check(files: &[PoolFile]) -> PoolCheck {
    let scanned = Pool::scan(files, |file, text| match text {
        Err(fault) => ScannedScene { id: None, faults: 1, fault: Some(fault) },
        Ok(text) => {
            if let Some(scene) = parse(file, text) {
                let faults = faults(&scene).len() + book_faults(file, &scene).len() + text_faults(&scene).len();
                let faults = faults + if file.is_toml() { in_comments(text, &scene).len() } else { 0 };
                return ScannedScene { id: Some(scene.id), faults, fault: None };
            }
            let named: Option<SceneHeader> =
                if file.is_toml() { toml::from_str(text).ok() } else { serde_json::from_str(text).ok() };
            ScannedScene { id: named.map(|named| named.id), faults: 1 + of_text(text).count(), fault: None }
        }
    });
    let cross_scene_faults = cross_scene_faults(files, &scanned);
    let (mut findings, mut more) = (Vec::new(), 0);
    for (index, located) in scanned.iter().enumerate() {
        let cross_scene_faults = cross_scene_faults.get(&index).map_or(&[][..], Vec::as_slice);
        if located.value.faults + cross_scene_faults.len() == 0 {
            continue;
        }
        if findings.len() >= MOST {
            more += located.value.faults + cross_scene_faults.len();
            continue;
        }
        findings.extend(findings_of(&files[located.position.file], located, cross_scene_faults));
    }
    PoolCheck { scenes: scanned.iter().filter(|located| located.value.fault.is_none()).count(), findings, more }
}

/// Checks scenes against each other; returns the problems by index of the scene.
fn cross_scene_faults(files: &[PoolFile], scanned: &[LocatedScene<ScannedScene>]) -> BTreeMap<usize, Vec<SceneFault>> {
    let mut of_books: BTreeSet<&str> = BTreeSet::new();
    let mut firsts: BTreeMap<(SceneKind, &str), usize> = BTreeMap::new();
    let mut cross_scene_faults: BTreeMap<usize, Vec<SceneFault>> = BTreeMap::new();
    for (at, located) in scanned.iter().enumerate() {
        let Some(id) = located.value.id.as_deref() else { continue };
        let kind = files[located.position.file].kind;
        if kind == SceneKind::Book {
            of_books.insert(id);
        }
        let mut add_fault = |message: String, expected: &str| {
            let fault = SceneFault { check: Check::Id, ..SceneFault::new("/id", message, expected) };
            cross_scene_faults.entry(at).or_default().push(fault);
        };
        match firsts.get(&(kind, id)) {
            None => {
                firsts.insert((kind, id), at);
                // Book files come first, so all their ids are known here.
                if kind == SceneKind::Edit && !of_books.contains(id) {
                    add_fault(format!("there is no scene `{id}` to edit"), "the id of a scene from a book");
                }
            }
            Some(first) => {
                let first = &scanned[*first].position;
                let path = files[first.file].path.display();
                add_fault(format!("the id `{id}` is already used in `{path}`, line {}", first.line), "a unique id");
            }
        }
    }
    cross_scene_faults
}

/// Checks that a scene in a book's file belongs to the book.
fn book_faults(file: &PoolFile, scene: &Scene) -> Vec<SceneFault> {
    let mut faults = Vec::new();
    let Some(slug) = file.path.file_stem().filter(|_| file.kind == SceneKind::Book) else { return faults };
    let slug = slug.to_string_lossy();
    if scene.book != slug {
        let message = format!("the scene belongs to the book `{}`, but the file to `{slug}`", scene.book);
        faults.push(SceneFault::new("/book", message, format!("`{slug}`")));
    }
    let id = scene.start.map(|start| SceneId::at(&slug, start));
    if let Some(id) = id.filter(|id| *id != scene.id) {
        faults.push(SceneFault::new(
            "/id",
            format!("the id `{}` does not match the scene's position", scene.id),
            format!("`{id}`"),
        ));
    }
    faults
}

fn parse(file: &PoolFile, text: &str) -> Option<Scene> {
    if file.is_toml() { toml::from_str(text).ok() } else { serde_json::from_str(text).ok() }
}

/// Parses a scene again and returns all problems.
fn findings_of(
    file: &PoolFile,
    located: &LocatedScene<ScannedScene>,
    cross_scene_faults: &[SceneFault],
) -> Vec<Finding> {
    let LocatedScene { position, value } = located;
    let finding = |check, line: u32, column: u32, message: String| Finding {
        check,
        path: file.path.clone(),
        line: Some(line).filter(|line| *line > 0),
        column: Some(column).filter(|column| *column > 0),
        scene: value.id.clone().map(String::from),
        field: None,
        message,
        expected: None,
        nearest: None,
        remedy: remedy(check),
    };
    match &value.fault {
        None => {}
        Some(fault @ (SceneReadError::Encoding { line, column } | SceneReadError::Json { line, column, .. })) => {
            return vec![finding(Check::File, position.line + line, column + 1, fault.to_string())];
        }
        Some(fault) => return vec![finding(Check::File, position.line, 0, fault.to_string())],
    }
    let text = match Pool::text(file, position) {
        Ok(text) => text,
        Err(fault) => return vec![finding(Check::File, position.line, 0, fault.to_string())],
    };
    let mut listed = problems(file, &text, cross_scene_faults);
    listed.sort_by_key(|(_, problem, _)| problem.span.start);
    listed
        .into_iter()
        .map(|(check, problem, field)| {
            let before = &text[..text.floor_char_boundary(problem.span.start)];
            let line = u32::try_from(memchr::memchr_iter(b'\n', before.as_bytes()).count()).unwrap_or(u32::MAX);
            let last = before.rsplit('\n').next().unwrap_or_default().chars().count();
            let column = if line == 0 { last + position.column as usize } else { last };
            let column = u32::try_from(column + 1).unwrap_or(u32::MAX);
            let Problem { message, expected, nearest, .. } = problem;
            Finding { field, expected, nearest, ..finding(check, position.line + line, column, message) }
        })
        .collect()
}

/// A problem with its check and, if known, its field.
type LocatedProblem = (Check, Problem, Option<String>);

/// Returns all problems in a scene's text.
fn problems(file: &PoolFile, text: &str, cross_scene_faults: &[SceneFault]) -> Vec<LocatedProblem> {
    let mut problems = Vec::new();
    let document =
        if file.is_toml() { Document::toml(0, text, &mut problems) } else { Document::json(0, text, &mut problems) };
    if document.complete {
        schema_check::check::<Scene>(&document, "the scene", &mut problems);
    }
    let scene = serde_json::from_value::<Scene>(document.value.clone());
    let mut scene_faults = Vec::new();
    match (&scene, parse(file, text)) {
        _ if !problems.is_empty() => {}
        (Ok(scene), Some(_)) => scene_faults = faults(scene),
        // JSON Schema does not detect duplicate keys.
        (_, None) => problems.push(Problem::new(document.at(""), unread(file, text))),
        (Err(error), _) => problems.push(Problem::new(document.at(""), error.to_string())),
    }
    if let Ok(scene) = &scene
        && problems.is_empty()
    {
        scene_faults.extend(book_faults(file, scene));
    }
    match &scene {
        Ok(scene) => {
            scene_faults.extend(text_faults(scene));
            if file.is_toml() {
                scene_faults.extend(in_comments(text, scene));
            }
        }
        // An invalid scene has no fields, only a text.
        Err(_) => scene_faults.extend(of_text(text).map(|(check, message)| SceneFault::found(check, "", message))),
    }
    // Truncated text, and text that is not JSON or TOML, is a problem of the file.
    let check = if document.complete { Check::Schema } else { Check::File };
    let mut listed: Vec<LocatedProblem> = problems.into_iter().map(|problem| (check, problem, None)).collect();
    for fault in scene_faults.iter().chain(cross_scene_faults) {
        let mut problem = Problem::new(document.at(&fault.pointer), &fault.message);
        problem.expected.clone_from(&fault.expected);
        if let (Some(unknown), Ok(scene)) = (&fault.unknown, &scene) {
            problem.nearest = nearest(unknown, names(scene));
        }
        listed.push((fault.check, problem, Some(dotted(&fault.pointer)).filter(|field| !field.is_empty())));
    }
    listed
}

/// Returns why a text cannot be parsed as a scene, in the parser's words.
fn unread(file: &PoolFile, text: &str) -> String {
    if file.is_toml() {
        let error = toml::from_str::<Scene>(text).err();
        return error.map_or_else(String::new, |error| error.message().to_owned());
    }
    serde_json::from_str::<Scene>(text).err().map_or_else(String::new, |error| error.to_string())
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::schema::Language;

    fn pool() -> (TempDir, Pool) {
        let folder = tempfile::tempdir().unwrap();
        let pool = Pool::open(&folder.path().join("scene_pool")).unwrap();
        for below in ["custom", "edits"] {
            std::fs::create_dir(pool.path().join(below)).unwrap();
        }
        (folder, pool)
    }

    fn line(id: &str, language: Language) -> String {
        let (book, start) = id.split_once('@').unwrap_or((id, "null"));
        let (name, text) = match language {
            Language::En => ("Old Zhou", "Is the boat coming, or is it not?"),
            Language::Zh => ("老周", "船到底还来不来？天都要亮了。"),
        };
        let end = start.parse::<u32>().map_or("null".to_owned(), |start| (start + 50).to_string());
        format!(
            r#"{{"id":"{id}","book":"{book}","language":"{language}","start":{start},"end":{end},"situation":"{text}","characters":[{{"name":"{name}"}}],"dialogue":[{{"speaker":"{name}","speech":"{text}"}}]}}"#
        )
    }

    /// Writes files and returns `name:line:column message` for each finding.
    fn listed(files: &[(&str, String)]) -> Vec<String> {
        let (_folder, pool) = pool();
        for (name, text) in files {
            std::fs::write(pool.path().join(name), text).unwrap();
        }
        let found = check_pool(&pool).unwrap();
        let number = |number: Option<u32>| number.map_or("-".to_owned(), |number| number.to_string());
        let listed = found.findings.iter().map(|finding| {
            let name = finding.path.strip_prefix(pool.path()).unwrap().display().to_string();
            format!("{name}:{}:{} {}", number(finding.line), number(finding.column), finding.message)
        });
        listed.collect()
    }

    #[test]
    fn a_valid_pool_has_no_findings() {
        for language in Language::ALL {
            let one = line("b@3", language);
            let files = [
                ("b.jsonl", format!("\u{feff}{one}\r\n\r\n{}\n", line("b@4", language))),
                ("edits/e.jsonl", one.clone()),
                ("custom/c.json", format!("[{one},\n{}]", line("own", language))),
            ];
            assert_eq!(listed(&files), Vec::<String>::new());
        }
    }

    #[test]
    fn every_finding_has_its_position() {
        for language in Language::ALL {
            let (one, other) = (line("b@3", language), line("b@9", language));
            let name = if language == Language::En { "Old Zhou" } else { "老周" };
            let toml = "id = \"x\"\nbook = \"b\"\nlanguage = \"en\"\nsituation = \"s\"\n[[characters]]\nname = \"A\"\n";
            for (files, expected) in [
                (
                    vec![("b.jsonl", format!("{one}\n{}\n", other.replace("\"situation\"", "\"sitation\"")))],
                    vec!["unknown key `sitation`", "is missing the key `situation`"],
                ),
                (vec![("b.jsonl", format!("{one}\n{one}\n"))], vec!["b.jsonl:2:7 the id `b@3` is already used in `"]),
                (
                    vec![("b.jsonl", one.replace("\"id\":\"b@3\"", "\"id\":\"b@4\""))],
                    vec!["b.jsonl:1:7 the id `b@4` does not match the scene's position"],
                ),
                (
                    vec![("other.jsonl", one.clone())],
                    vec!["the id `b@3` does not match", "the scene belongs to the book `b`, but the file to `other`"],
                ),
                (
                    vec![("b.jsonl", one.replace(&format!("\"speaker\":\"{name}\""), "\"speaker\":\"Old Zhuo\""))],
                    vec!["`Old Zhuo` speaks but is not in the cast"],
                ),
                (
                    vec![("b.jsonl", one.clone()), ("edits/e.jsonl", other.clone())],
                    vec!["edits/e.jsonl:1:7 there is no scene `b@9` to edit"],
                ),
                (vec![("b.jsonl", format!("{one}\n{{\"id\":\n"))], vec!["b.jsonl:2:7 invalid JSON: EOF"]),
                (vec![("b.jsonl", one.replacen("\"id\"", "\"id\":\"b@3\",\"id\"", 1))], vec!["duplicate field `id`"]),
                (
                    vec![("custom/c.json", format!("[{one}, {}]", other.replace("\"b@9\"", "9")))],
                    vec!["`id` is a number"],
                ),
                (vec![("custom/c.json", format!("[{one}, []]"))], vec!["the scene is a list"]),
                (vec![("b.jsonl", "\"b@3\"\n".to_owned())], vec!["b.jsonl:1:1 the scene is a string"]),
                (vec![("custom/c.json", "[{},\n{]".to_owned())], vec!["custom/c.json:2:2 invalid JSON: "]),
                (
                    vec![("custom/c.toml", toml.replace("\"A\"", "\" \""))],
                    vec!["custom/c.toml:6:8 a character has no name"],
                ),
                (vec![("custom/c.toml", toml.replace("book = ", "book "))], vec!["custom/c.toml:2:"]),
            ] {
                let listed = listed(&files);
                for expected in &expected {
                    assert!(listed.iter().any(|listed| listed.contains(expected)), "{expected}: {listed:?}");
                }
                assert_eq!(listed.len(), expected.len(), "{expected:?}: {listed:?}");
            }
        }
    }

    #[test]
    fn unreadable_files_are_reported_and_the_rest_is_checked() {
        let (_folder, pool) = pool();
        std::fs::create_dir(pool.path().join("a.jsonl")).unwrap();
        std::fs::write(pool.path().join("b.jsonl"), b"\xff\xfe{\n").unwrap();
        let long = format!(
            "{}\n{}\n",
            line("c@1", Language::Zh),
            line("c@2", Language::Zh).replace("天都", &"天都".repeat(2_000_000))
        );
        std::fs::write(pool.path().join("c.jsonl"), long + "[[[[\n").unwrap();
        std::fs::write(pool.path().join("d.jsonl"), "[".repeat(1_000_000)).unwrap();
        let found = check_pool(&pool).unwrap();
        let positions: Vec<(String, Option<u32>)> = found
            .findings
            .iter()
            .map(|finding| (finding.path.file_name().unwrap().to_string_lossy().into_owned(), finding.line))
            .collect();
        let expected = [("a.jsonl", None), ("b.jsonl", Some(1)), ("c.jsonl", Some(3)), ("d.jsonl", Some(1))];
        assert_eq!(positions, expected.map(|(name, line)| (name.to_owned(), line)), "{:?}", found.findings);
        assert_eq!(pool.index_all().unwrap().0.len(), 2, "valid scenes are listed");
    }

    #[test]
    fn only_the_first_findings_are_listed_and_all_are_counted() {
        let (_folder, pool) = pool();
        let lines: Vec<String> = (0..3 * MOST).map(|n| format!(r#"{{"id":"b@{n}"}}"#)).collect();
        let text = lines.join("\n");
        std::fs::write(pool.path().join("b.jsonl"), text).unwrap();
        let found = check_pool(&pool).unwrap();
        assert!((MOST..MOST + 10).contains(&found.findings.len()), "{}", found.findings.len());
        let last = found.findings.last().and_then(|finding| finding.line).expect("a line");
        assert_eq!(found.more, 3 * MOST - last as usize, "every other scene counts at least once");
    }

    #[test]
    fn similar_names_are_suggested() {
        let (_folder, pool) = pool();
        let text = line("b@3", Language::En).replace("\"speaker\":\"Old Zhou\"", "\"speaker\":\"Old Zuo\"");
        std::fs::write(pool.path().join("b.jsonl"), &text).unwrap();
        let finding = check_pool(&pool).unwrap().findings.remove(0);
        assert_eq!(finding.nearest.as_deref(), Some("Old Zhou"));
        assert_eq!(finding.expected.as_deref(), Some("`Old Zhou` or `Environment`"));
        assert_eq!((finding.field.as_deref(), finding.scene.as_deref()), (Some("dialogue[0].speaker"), Some("b@3")));
        let column = finding.column.expect("a column") as usize;
        assert!(text[column - 1..].starts_with("\"Old Zuo\""), "{column}");
    }

    #[test]
    fn only_valid_scenes_can_be_added() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let (one, other) = (line("b@3", Language::En), line("渡口", Language::Zh));
        let read = read_custom_scenes(&write("list.json", &format!("[{one},\n {other}]"))).unwrap();
        assert_eq!(read.iter().map(|scene| scene.id.as_str()).collect::<Vec<_>>(), ["b@3", "渡口"]);
        assert_eq!((read[1].text.as_str(), read[1].is_toml), (format!("{other}\n").as_str(), false));
        assert_eq!(read_custom_scenes(&write("lines.jsonl", &format!("{one}\n{other}\n"))).unwrap().len(), 2);
        let error = read_custom_scenes(&write("twice.json", &format!("[{one},{one}]"))).expect_err("one id");
        assert!(matches!(&error, AdditionError::Invalid { findings, .. } if findings.len() == 1), "{error}");
        for (name, text) in [("none.json", "[]"), ("scene.txt", &one)] {
            assert!(matches!(read_custom_scenes(&write(name, text)), Err(AdditionError::NoMatch { .. })), "{name}");
        }
        let error = read_custom_scenes(&folder.path().join("lst.json")).expect_err("missing");
        assert!(matches!(error, AdditionError::NoMatch { nearest: Some(_), .. }), "{error}");
    }

    #[test]
    fn a_pipeline_file_names_its_pool() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.toml");
        let environment: Environment = [("HOMES".to_owned(), "/pools".to_owned())].into_iter().collect();
        for (text, expected) in [
            ("name = \"x\"\n", "scene_pool"),
            ("[extract]\npool = \"共享/池\"\n", "共享/池"),
            ("[extract]\npool = \"$HOMES/x\"\n", "/pools/x"),
        ] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(pool_path(&path, &environment).unwrap(), Path::new(expected));
        }
        std::fs::write(&path, "[extract]\npool = \"$NOWHERE/x\"\n").unwrap();
        assert!(pool_path(&path, &environment).is_err());
    }
}
