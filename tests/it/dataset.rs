//! Operations on a finished data set: `split`, `export --format`, and the findings of `check` after changes.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::OnceLock;

use dramaturg::cells::Cells;
use polars::prelude::*;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{TestRun, program};

/// Copies a run that is built once for all tests of this file.
fn copied() -> TempDir {
    static BUILT: OnceLock<TestRun> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let run = TestRun::new();
        run.change("tau = 1", "tau = 3");
        run.change("max_conversations = 3", "max_conversations = 12");
        run.build(&[], 0);
        run
    });
    let folder = tempfile::tempdir().expect("a temporary folder");
    copy(&built.path().join("outputs/small"), &folder.path().join("run"));
    folder
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

fn dramaturg(folder: &TempDir, arguments: &[&str]) -> Output {
    program(folder.path(), arguments).output().expect("the program starts")
}

/// Splits and returns the `--json` output.
fn split(folder: &TempDir, arguments: &[&str]) -> Value {
    let output = dramaturg(folder, &[&["split", "run", "--json"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Checks and returns the findings.
fn check(folder: &TempDir, path: &str) -> Vec<Value> {
    let output = dramaturg(folder, &["check", path, "--json"]);
    let printed: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("JSON, not {}", String::from_utf8_lossy(&output.stderr)));
    let findings = printed["findings"].as_array().expect("findings").clone();
    assert_eq!(output.status.code(), Some(if findings.is_empty() { 0 } else { 3 }));
    for finding in &findings {
        assert!(finding["remedy"].as_str().is_some_and(|remedy| !remedy.is_empty()), "{finding}");
    }
    findings
}

/// Returns the checks that have findings.
fn checks(findings: &[Value]) -> BTreeSet<&str> {
    findings.iter().map(|finding| finding["check"].as_str().unwrap()).collect()
}

fn table(folder: &TempDir, config: &str, split: &str) -> PathBuf {
    folder.path().join(format!("run/dataset/{config}/{split}-00000-of-00001.parquet"))
}

fn table_in(dataset: &Path, config: &str, split: &str) -> PathBuf {
    dataset.join(format!("{config}/{split}-00000-of-00001.parquet"))
}

fn read(path: &Path) -> DataFrame {
    ParquetReader::new(File::open(path).unwrap()).finish().unwrap()
}

fn write(path: &Path, mut frame: DataFrame) {
    ParquetWriter::new(File::create(path).unwrap()).finish(&mut frame).unwrap();
}

/// Changes one value of a text column, in the first row for which `of` returns a new value.
fn change(path: &Path, column: &str, of: impl Fn(&DataFrame, usize) -> Option<String>) -> usize {
    let mut frame = read(path);
    let mut values: Vec<Option<String>> =
        frame.column(column).unwrap().str().unwrap().iter().map(|value| value.map(str::to_owned)).collect();
    let row = (0..frame.height()).find(|row| of(&frame, *row).is_some()).expect("a row to change");
    values[row] = of(&frame, row);
    frame.with_column(Column::new(column.into(), values)).unwrap();
    write(path, frame);
    row
}

fn text(frame: &DataFrame, column: &str, row: usize) -> String {
    frame.column(column).unwrap().str().unwrap().get(row).unwrap_or_default().to_owned()
}

/// Moves the data set out of its run, without the manifest.
fn without_manifest(folder: &TempDir) {
    fs::rename(folder.path().join("run/dataset"), folder.path().join("alone")).unwrap();
}

fn files(dataset: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dataset).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push((path.clone(), fs::read(path).unwrap()));
        }
    }
    found.sort();
    found
}

#[test]
fn splitting_again_writes_the_same_bytes() {
    let folder = copied();
    let dataset = folder.path().join("run/dataset");
    assert_eq!(check(&folder, "run"), Vec::<Value>::new(), "a built data set is valid");
    let before = read(&table(&folder, "samples", "test"));
    let printed = split(&folder, &["--test", "0.3", "--dev", "0.2"]);
    assert_eq!(printed["written"], true);
    let first = files(&dataset);
    let names: Vec<String> = fs::read_dir(dataset.join("samples"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    assert_eq!(names, ["dev", "test", "train"].map(|split| format!("{split}-00000-of-00001.parquet")));
    assert_eq!(check(&folder, "run"), Vec::<Value>::new());
    // Every row is in one of the splits, unchanged.
    let mut all = read(&table(&folder, "samples", "dev"));
    for split in ["test", "train"] {
        all.vstack_mut(&read(&table(&folder, "samples", split))).unwrap();
    }
    let sorted = all.sort(["id"], SortMultipleOptions::default()).unwrap();
    assert!(sorted.equals_missing(&before), "{} of {}", sorted.height(), before.height());
    // Another split and back again, once on a single thread.
    split(&folder, &["--test", "0.5", "--by", "book", "--seed", "3"]);
    assert_ne!(files(&dataset), first);
    assert_eq!(check(&folder, "run"), Vec::<Value>::new(), "unused rows leak nothing");
    split(&folder, &["--test", "0.3", "--dev", "0.2"]);
    assert!(files(&dataset) == first, "the same seed, the same bytes");
    let one = ["split", "run", "--test", "0.3", "--dev", "0.2", "--out", "beside", "--quiet"];
    let output = program(folder.path(), &one).env("POLARS_MAX_THREADS", "1").output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
    let beside = folder.path().join("beside");
    let strip = |root: &Path, files: Vec<(PathBuf, Vec<u8>)>| -> Vec<(PathBuf, Vec<u8>)> {
        files.into_iter().map(|(path, bytes)| (path.strip_prefix(root).unwrap().to_owned(), bytes)).collect()
    };
    assert!(strip(&beside, files(&beside)) == strip(&dataset, first), "the other copy is the same");
    let card = fs::read_to_string(dataset.join("README.md")).unwrap();
    for split in ["dev", "test", "train"] {
        assert!(card.contains(&format!("  - split: {split}\n    path: samples/{split}-*.parquet\n")), "{split}");
    }
    assert!(card.contains("## Splits\n") && !card.contains("Samples of split"));
}

#[test]
fn held_out_rows_share_nothing_with_other_splits() {
    let folder = copied();
    let samples = read(&table(&folder, "samples", "test"));
    let character = text(&samples, "test_character", 0);
    let printed = split(&folder, &["--hold-out", &format!("character={character}")]);
    let test = read(&table(&folder, "samples", "test"));
    assert_eq!(printed["rows"]["test"], test.height());
    assert!(test.height() > 0 && (0..test.height()).all(|row| text(&test, "test_character", row) == character));
    let total: u64 = printed["rows"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(total, samples.height() as u64, "nothing is lost");
    let scenes = |frame: &DataFrame| -> BTreeSet<String> {
        (0..frame.height()).map(|row| text(frame, "scene_id", row)).collect()
    };
    assert!(scenes(&test).is_disjoint(&scenes(&read(&table(&folder, "samples", "train")))));
    let split_file: Value =
        serde_json::from_slice(&fs::read(folder.path().join("run/dataset/splits.json")).unwrap()).unwrap();
    let moved = split_file["configs"]["samples"]["moved"].as_array().unwrap();
    assert_eq!(moved.len() as u64, printed["rows"]["unused"].as_u64().unwrap_or(0));
}

#[test]
fn other_files_are_kept_and_a_modified_data_set_is_not_split() {
    let folder = copied();
    fs::rename(folder.path().join("run/dataset"), folder.path().join("mine")).unwrap();
    let mine = folder.path().join("mine");
    for own in
        ["mine.old/.git/HEAD", "mine.new/a", "mine/samples/notes.md", "mine/samples/deep/b", "mine/samples/.keep"]
    {
        let path = folder.path().join(own);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, own).unwrap();
    }
    let within = ["split", "mine", "--test", "0.2", "--out", "mine/samples/new/a"];
    assert_eq!(dramaturg(&folder, &within).status.code(), Some(2));
    let output = program(&mine, &["split", ".", "--test", "0.2"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(table_in(&mine, "samples", "train").is_file());
    for own in
        ["mine.old/.git/HEAD", "mine.new/a", "mine/samples/notes.md", "mine/samples/deep/b", "mine/samples/.keep"]
    {
        assert_eq!(fs::read_to_string(folder.path().join(own)).ok().as_deref(), Some(own));
    }

    for config in ["samples", "scenes"] {
        let folder = copied();
        let path = table(&folder, config, if config == "samples" { "test" } else { "train" });
        let frame = read(&path);
        write(&path, frame.slice(0, frame.height() - 1));
        let dataset = folder.path().join("run/dataset");
        let manifest = || fs::read(folder.path().join("run/manifest.json")).unwrap();
        let before = (files(&dataset), manifest());
        let output = dramaturg(&folder, &["split", "run", "--test", "0.2"]);
        let printed = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{printed}");
        assert!(printed.contains("has changed since the run wrote it") && printed.contains("--replay"), "{printed}");
        assert!((files(&dataset), manifest()) == before, "nothing was written");
    }
}

#[test]
fn invalid_arguments_are_rejected_before_anything_is_written() {
    let folder = copied();
    let before = files(&folder.path().join("run/dataset"));
    for (arguments, expected) in [
        (&["split", "run"][..], "no split is defined"),
        (&["split", "nowhere", "--test", "0.2"], "is neither a run folder nor a data set"),
        (&["split", "run", "--test", "0.7", "--dev", "0.5"], "which is more than 1"),
        (&["split", "run", "--test", "0.2", "--by", "boook"], "did you mean `book`"),
        (&["split", "run", "--hold-out", "character=Nobody"], "no row of `samples` has `Nobody`"),
        (&["split", "run", "--test", "0.2", "--split", "test=0.1"], "two splits are named `test`"),
        (&["split", "run", "--test", "0.2", "--config", "scenes"], "no config `scenes`"),
        (&["split", "run", "--test", "0.2", "--out", "run"], "is not empty"),
        (&["split", "run", "--test", "0.2", "--group-by", "colour"], "is not a relation between rows"),
        (&["check", "."], "is not a data set"),
        (&["check", "run", "--probe"], "apply only to pipeline files"),
    ] {
        let output = dramaturg(&folder, arguments);
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {printed}");
        assert!(printed.contains(expected), "{arguments:?}: {printed}");
    }
    split(&folder, &["--test", "0.2", "--dry-run"]);
    assert!(files(&folder.path().join("run/dataset")) == before, "nothing was written");
}

#[test]
fn changed_bytes_are_found() {
    let folder = copied();
    let path = table(&folder, "samples", "test");
    let whole = fs::read(&path).unwrap();
    // In the middle, in the footer, and a truncated file.
    for damaged in [
        [&whole[..whole.len() / 2], &[!whole[whole.len() / 2]], &whole[whole.len() / 2 + 1..]].concat(),
        [&whole[..whole.len() - 20], &[0xff; 12], &whole[whole.len() - 8..]].concat(),
        whole[..whole.len() / 3].to_vec(),
        Vec::new(),
    ] {
        fs::write(&path, damaged).unwrap();
        let findings = check(&folder, "run");
        assert!(checks(&findings).contains("hash"), "{findings:?}");
        assert_eq!(findings[0]["file"], "samples/test-00000-of-00001.parquet");
    }
    without_manifest(&folder);
    let findings = check(&folder, "alone");
    assert!(findings.iter().any(|found| found["message"].as_str().unwrap().contains("failed to read")), "{findings:?}");
}

#[test]
fn a_changed_value_is_found_with_and_without_a_manifest() {
    let folder = copied();
    let path = table(&folder, "samples", "test");
    let row = change(&path, "dimension", |frame, row| {
        let old = text(frame, "dimension", row);
        Some(if old == "CR" { "FR".to_owned() } else { "CR".to_owned() })
    });
    let findings = check(&folder, "run");
    assert!(checks(&findings).is_superset(&BTreeSet::from(["hash", "reference"])), "{findings:?}");
    without_manifest(&folder);
    let findings = check(&folder, "alone");
    let found = findings.iter().find(|found| found["check"] == "reference").expect("the conversation says otherwise");
    assert_eq!((found["row"].as_u64(), found["column"].as_str()), (Some(row as u64), Some("turn")));
}

#[test]
fn planted_faults_are_found_at_their_position() {
    for language in ["en", "zh"] {
        let folder = copied();
        let path = table(&folder, "samples", "test");
        let scenes = read(&table(&folder, "scenes", "train"));
        let cast = Cells::of(&scenes, "characters").unwrap();
        let profiles = cast.field("profile").unwrap();
        let [values, visible] = ["value", "visibility"].map(|name| profiles.field(name).unwrap());
        let names = cast.field("name").unwrap();
        let private = |scene: &str, own: &str| {
            let row = (0..scenes.height()).find(|row| text(&scenes, "id", *row) == scene)?;
            let others = cast.list(row).filter(|member| names.text(*member) != Some(own));
            let mut items = others.flat_map(|member| profiles.list(member));
            let item = items.find(|item| {
                visible.text(*item) == Some("private") && values.text(*item).unwrap().chars().count() > 10
            })?;
            values.text(item).map(str::to_owned)
        };
        let of_language = |frame: &DataFrame, row: usize| text(frame, "language", row) == language;
        let hidden = change(&path, "situation", |frame, row| {
            let (scene, own) = (text(frame, "scene_id", row), text(frame, "test_character", row));
            let value = of_language(frame, row).then(|| private(&scene, &own)).flatten()?;
            Some(format!("{} {value}", text(frame, "situation", row)))
        });
        let key = format!("sk-{}", "aB3dE5fG7hJ9kL1mN2pQ4rS6");
        let secret = change(&path, "rationale", |frame, row| {
            of_language(frame, row).then(|| format!("{}{key}。", text(frame, "rationale", row)))
        });
        let broken =
            change(&path, "baseline", |frame, row| of_language(frame, row).then(|| "so \u{fffd}\u{fffd}".to_owned()));
        // Without its scene it is unknown what is private in a row.
        let lost = change(&path, "scene_id", |frame, row| {
            (of_language(frame, row) && row != hidden).then(|| "nowhere@1".to_owned())
        });
        let twice = change(&path, "id", |frame, row| (row > 0).then(|| text(frame, "id", row - 1)));
        without_manifest(&folder);
        let findings = check(&folder, "alone");
        for (check, row, column) in [
            ("private", hidden, "situation"),
            ("secret", secret, "rationale"),
            ("text", broken, "baseline"),
            ("reference", lost, "scene_id"),
            ("id", twice, "id"),
        ] {
            let of = |found: &&Value| found["check"] == check && found["row"] == row && found["column"] == column;
            assert!(findings.iter().any(|found| of(&found)), "{check} {language}: {findings:#?}");
        }
        let printed = serde_json::to_string(&findings).unwrap();
        assert!(!printed.contains(&key), "a secret is not printed");
    }
}

/// Adds an item to a row's list of structs with text fields.
fn plant(path: &Path, column: &str, row: usize, item: &[(&str, &str)]) {
    let mut frame = read(path);
    let cells = Cells::of(&frame, column).unwrap();
    let rows: Vec<Series> = (0..frame.height())
        .map(|at| {
            let fields = item.iter().map(|(name, value)| {
                let of = cells.field(name).expect("a field of texts");
                let mut texts: Vec<Option<&str>> = cells.list(at).map(|place| of.text(place)).collect();
                texts.extend((at == row).then_some(Some(*value)));
                Series::new((*name).into(), texts)
            });
            let fields: Vec<Series> = fields.collect();
            StructChunked::from_series("item".into(), fields[0].len(), fields.iter()).unwrap().into_series()
        })
        .collect();
    frame.with_column(Column::from(Series::new(column.into(), rows))).unwrap();
    write(path, frame);
}

#[test]
fn a_sample_that_contradicts_its_references_is_found() {
    let folder = copied();
    let path = table(&folder, "samples", "test");
    let before = read(&path);
    let mut expected = Vec::new();
    for language in ["en", "zh"] {
        for (column, value) in [
            ("reference", "(nods) 好。"),
            ("baseline", "(nods) 好。"),
            ("rationale", "so be it"),
            ("book", "no-such-book"),
            ("situation", "elsewhere"),
            ("character_type", "weird"),
            ("source_model", "nobody"),
        ] {
            let of = |frame: &DataFrame, row| (text(frame, "language", row) == language).then(|| value.to_owned());
            expected.push((change(&path, column, of), column));
        }
    }
    // A corrected reference is no finding, and a missing required value is one.
    let taken: Vec<usize> = expected.iter().map(|(row, _)| *row).collect();
    let free: Vec<usize> = (0..before.height()).filter(|row| !taken.contains(row)).collect();
    for (column, value) in [("reference", "It is as it is."), ("edit_reason", "a slip")] {
        change(&path, column, |_, row| (row == free[0]).then(|| value.to_owned()));
    }
    let mut frame = read(&path);
    let books = frame.column("book").unwrap().str().unwrap().clone();
    let books: Vec<Option<&str>> = (0..books.len()).map(|row| books.get(row).filter(|_| row != free[1])).collect();
    frame.with_column(Column::new("book".into(), books)).unwrap();
    write(&path, frame);
    plant(&path, "profile", free[2], &[("key", "k"), ("value", "v"), ("visibility", "hidden")]);
    without_manifest(&folder);
    let findings = check(&folder, "alone");
    let printed: BTreeSet<(&str, u64, &str)> = findings
        .iter()
        .map(|found| {
            let column = found["column"].as_str().unwrap();
            (found["check"].as_str().unwrap(), found["row"].as_u64().unwrap(), column)
        })
        .collect();
    let mut all: BTreeSet<(&str, u64, &str)> =
        expected.iter().map(|(row, column)| ("reference", *row as u64, *column)).collect();
    all.extend(taken.iter().map(|row| ("schema", *row as u64, "character_type")));
    all.extend([("schema", free[1] as u64, "book"), ("reference", free[1] as u64, "book")]);
    let profile = free[2] as u64;
    all.extend([("schema", profile, "profile[].visibility"), ("reference", profile, "profile")]);
    assert_eq!(printed, all, "{findings:#?}");
}

#[test]
fn a_private_value_is_found_in_every_shared_column() {
    for language in ["en", "zh"] {
        let folder = copied();
        let (path, of_scenes) = (table(&folder, "samples", "test"), table(&folder, "scenes", "train"));
        let (samples, scenes) = (read(&path), read(&of_scenes));
        let cast = Cells::of(&scenes, "characters").unwrap();
        let profiles = cast.field("profile").unwrap();
        let [values, visible] = ["value", "visibility"].map(|name| profiles.field(name).unwrap());
        let secret = |row: usize| {
            let scene = (0..scenes.height()).find(|at| text(&scenes, "id", *at) == text(&samples, "scene_id", row))?;
            let own = text(&samples, "test_character", row);
            let others =
                cast.list(scene).filter(|member| cast.field("name").unwrap().text(*member) != Some(own.as_str()));
            let mut items = others.flat_map(|member| profiles.list(member));
            let item = items.find(|item| {
                visible.text(*item) == Some("private") && values.text(*item).unwrap().chars().count() > 10
            })?;
            (text(&samples, "language", row) == language).then(|| (scene, values.text(item).unwrap().to_owned()))
        };
        let (row, (scene, value)) = (0..samples.height()).find_map(|row| Some((row, secret(row)?))).expect("a secret");
        let planted = |path: &Path, column: &str, at: usize| {
            change(path, column, |frame, row| (row == at).then(|| format!("{} {value}", text(frame, column, row))));
        };
        let private = |folder: &TempDir| -> Vec<(String, u64, String)> {
            let printed = check(folder, "run");
            let printed = printed.iter().filter(|found| found["check"] == "private");
            let of = |found: &Value| {
                let file = found["file"].as_str().unwrap().split('/').next().unwrap().to_owned();
                (file, found["row"].as_u64().unwrap(), found["column"].as_str().unwrap().to_owned())
            };
            printed.map(of).collect()
        };
        let at = row as u64;
        for column in ["criteria", "rationale", "strategy"] {
            fs::copy(&path, folder.path().join("kept")).unwrap();
            planted(&path, column, row);
            assert_eq!(private(&folder), [("samples".to_owned(), at, column.to_owned())], "{language}");
            fs::copy(folder.path().join("kept"), &path).unwrap();
        }
        fs::copy(&path, folder.path().join("kept")).unwrap();
        plant(&path, "profile", row, &[("key", "k"), ("value", &value), ("visibility", "public")]);
        assert_eq!(private(&folder), [("samples".to_owned(), at, "profile[].value".to_owned())], "{language}");
        fs::copy(folder.path().join("kept"), &path).unwrap();
        // Dialogue is only a note, because characters may reveal their own attributes.
        planted(&path, "reference", row);
        assert_eq!(private(&folder), []);
        let printed: Value = serde_json::from_slice(&dramaturg(&folder, &["check", "run", "--json"]).stdout).unwrap();
        let said = format!(
            "are mentioned by other speakers once, first in samples/test-00000-of-00001.parquet, row {row}, `reference`"
        );
        assert!(printed["notes"].to_string().contains(&said), "{}", printed["notes"]);
        fs::copy(folder.path().join("kept"), &path).unwrap();
        planted(&of_scenes, "situation", scene);
        assert_eq!(private(&folder), [("scenes".to_owned(), scene as u64, "situation".to_owned())], "{language}");
    }
}

#[test]
fn related_rows_in_different_splits_are_found() {
    let folder = copied();
    without_manifest(&folder);
    let path = folder.path().join("alone/samples/test-00000-of-00001.parquet");
    let all = read(&path);
    // Every other row goes to `train`, so that scenes and conversations are in both splits.
    let rows = |odd: u32| {
        IdxCa::from_vec("".into(), (0..u32::try_from(all.height()).unwrap()).filter(|row| row % 2 == odd).collect())
    };
    write(&path, all.take(&rows(0)).unwrap());
    let train = path.with_file_name("train-00000-of-00001.parquet");
    write(&train, all.take(&rows(1)).unwrap());
    let findings = check(&folder, "alone");
    assert!(checks(&findings).contains("leak") && checks(&findings).contains("card"), "{findings:?}");
    let leak = findings.iter().find(|found| found["check"] == "leak").unwrap();
    assert_eq!(
        (leak["file"].as_str(), leak["column"].as_str()),
        (Some("samples/train-00000-of-00001.parquet"), Some("scene_id"))
    );
    // A near-duplicate in each language, in separate scenes.
    for language in ["en", "zh"] {
        let of: Vec<u32> = (0..u32::try_from(all.height()).unwrap())
            .filter(|row| text(&all, "language", *row as usize) == language)
            .take(1)
            .collect();
        let one = all.take(&IdxCa::from_vec("".into(), of)).unwrap();
        let mut other = one.clone();
        let reply = text(&one, "reference", 0) + if language == "zh" { "好了。" } else { " Indeed so." };
        for (column, value) in [
            ("id", "other#1"),
            ("scene_id", "other@1"),
            ("conversation_id", "other"),
            ("situation", "-"),
            ("reference", reply.as_str()),
        ] {
            other.with_column(Column::new(column.into(), [value])).unwrap();
        }
        write(&path, one);
        write(&train, other);
        let findings = check(&folder, "alone");
        let leaks: Vec<&Value> = findings.iter().filter(|found| found["check"] == "leak").collect();
        assert_eq!(leaks.len(), 1, "{language}: {leaks:?}");
        assert!(leaks[0]["message"].as_str().unwrap().starts_with("it shares nearly the same text with"), "{leaks:?}");
    }
}

#[test]
fn missing_files_are_found_and_an_empty_data_set_is_valid() {
    let folder = copied();
    fs::remove_file(table(&folder, "scenes", "train")).unwrap();
    let findings = check(&folder, "run");
    let found = &findings[0];
    assert_eq!(
        (found["check"].as_str(), found["file"].as_str()),
        (Some("file"), Some("scenes/train-00000-of-00001.parquet"))
    );
    assert!(
        !checks(&findings).contains("reference"),
        "a reference that cannot be checked is not reported for every row: {findings:?}"
    );
    fs::write(folder.path().join("run/dataset/samples/note.txt"), "x").unwrap();
    assert!(check(&folder, "run").iter().any(|found| found["file"] == "samples/note.txt"));

    let folder = copied();
    let path = table(&folder, "samples", "test");
    let frame = read(&path);
    write(&path, frame.drop("criteria").unwrap());
    without_manifest(&folder);
    let findings = check(&folder, "alone");
    assert_eq!(checks(&findings), BTreeSet::from(["card", "schema"]), "{findings:?}");
    assert!(findings.iter().any(|found| found["column"] == "criteria"));
    let alone = table_in(&folder.path().join("alone"), "samples", "test");
    change(&alone, "id", |frame, row| (row > 0).then(|| text(frame, "id", row - 1)));
    change(&alone, "scene_id", |frame, row| text(frame, "language", row).eq("zh").then(|| "nowhere@1".to_owned()));
    let findings = check(&folder, "alone");
    let expected = BTreeSet::from(["card", "id", "reference", "schema"]);
    assert_eq!(checks(&findings), expected, "the rest is checked: {findings:?}");
    write(&folder.path().join("alone/samples/test-00000-of-00001.parquet"), frame.clear());
    let findings = check(&folder, "alone");
    assert!(!checks(&findings).contains("schema"), "{findings:?}");

    let empty = tempfile::tempdir().unwrap();
    fs::create_dir_all(empty.path().join("run/dataset")).unwrap();
    let output = dramaturg(&empty, &["check", "run"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stdout).contains("no rows"), "{output:?}");
    let output = dramaturg(&empty, &["split", "run", "--test", "0.2"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn every_export_format_has_the_expected_rows() {
    let folder = copied();
    let exported = |arguments: &[&str]| {
        let output = dramaturg(&folder, &[&["export", "run", "--json"], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")
    };
    let lines = |path: &str| -> Vec<Value> {
        let text = fs::read_to_string(folder.path().join(path)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
    };
    let samples = read(&table(&folder, "samples", "test"));
    exported(&["--format", "jsonl"]);
    let rows = lines("run/jsonl/samples/test.jsonl");
    assert_eq!(rows.len(), samples.height());
    assert_eq!(rows[0].as_object().unwrap().len(), samples.width());
    assert_eq!(rows[3]["id"], text(&samples, "id", 3));
    assert!(folder.path().join("run/jsonl/scenes/train.jsonl").is_file());
    let printed = exported(&["--format", "jsonl", "--config", "samples", "--shard-size", "100KB", "--out", "parts"]);
    let files = printed["files"].as_array().unwrap();
    assert!(
        files.len() > 1 && files.iter().all(|file| file.as_str().unwrap().starts_with("samples/test-000")),
        "{printed}"
    );
    let whole: usize = files.iter().map(|file| lines(&format!("parts/{}", file.as_str().unwrap())).len()).sum();
    assert_eq!((whole, printed["lines"].as_u64()), (samples.height(), Some(samples.height() as u64)));

    exported(&["--format", "csv", "--config", "samples"]);
    let csv = fs::read_to_string(folder.path().join("run/csv/samples/test.csv")).unwrap();
    assert!(csv.starts_with("id,language,dimension,"));
    assert!(!folder.path().join("run/csv/scenes").exists());

    exported(&["--format", "batch", "--model", "m-1"]);
    let requests = lines("run/batch/test.jsonl");
    assert_eq!(requests.len(), samples.height());
    assert!(requests.iter().all(|request| request["body"]["model"] == "m-1"));
    let ids: BTreeSet<&str> = requests.iter().map(|request| request["custom_id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), samples.height(), "ids are unique");
    assert_eq!(requests[0]["body"]["messages"], rows[0]["messages"]);

    exported(&["--format", "messages", "--config", "samples"]);
    assert_eq!(lines("run/messages/test.jsonl")[0]["messages"], rows[0]["messages"]);

    exported(&["--format", "coser"]);
    let set: Value =
        serde_json::from_slice(&fs::read(folder.path().join("run/coser/test_set.json")).unwrap()).expect("one list");
    let scenes = read(&table(&folder, "scenes", "train"));
    assert_eq!(set.as_array().unwrap().len(), scenes.height());
    assert_eq!(
        (set[1]["id"].as_str(), set[1]["plot"]["i_p"].as_u64()),
        (Some(text(&scenes, "id", 1).as_str()), Some(1))
    );

    for (arguments, expected) in [
        (&["--format", "batch"][..], "needs a model"),
        (&["--format", "jsonl", "--model", "m"], "applies only to `--format batch`"),
        (&["--format", "jsonl", "--config", "roles"], "has no config `roles`"),
        (&["--format", "csv", "--out", "parts"], "is not empty"),
        (&["--format", "alpaca", "--config", "roles"], "do not apply to this format"),
    ] {
        let output = dramaturg(&folder, &[&["export", "run"], arguments].concat());
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {printed}");
        assert!(printed.contains(expected), "{arguments:?}: {printed}");
    }
}

#[test]
fn a_private_value_in_a_message_is_found_unless_it_was_said_aloud() {
    for said in [false, true] {
        let folder = copied();
        let path = table(&folder, "samples", "test");
        let scenes = read(&table(&folder, "scenes", "train"));
        let mut frame = read(&path);
        let cast = Cells::of(&scenes, "characters").unwrap();
        let profiles = cast.field("profile").unwrap();
        let scene = (0..scenes.height()).find(|row| text(&scenes, "id", *row) == text(&frame, "scene_id", 0)).unwrap();
        let [values, visible] = ["value", "visibility"].map(|name| profiles.field(name).unwrap());
        let own = text(&frame, "test_character", 0);
        let private = cast
            .list(scene)
            .filter(|member| cast.field("name").unwrap().text(*member) != Some(own.as_str()))
            .flat_map(|member| profiles.list(member))
            .find(|item| visible.text(*item) == Some("private") && values.text(*item).unwrap().chars().count() > 10);
        let value = values.text(private.expect("the scene has one")).unwrap();
        let lists = |name: &str, first: &str, content: &dyn Fn(&str) -> String| {
            let cells = Cells::of(&frame, name).unwrap();
            let field = |of: &str, item: usize| cells.field(of).unwrap().text(item).unwrap_or_default().to_owned();
            let rows: Vec<Series> = (0..frame.height())
                .map(|row| {
                    let items: Vec<usize> = cells.list(row).collect();
                    let firsts: Vec<String> = items.iter().map(|item| field(first, *item)).collect();
                    let mut contents: Vec<String> = items.iter().map(|item| field("content", *item)).collect();
                    if let Some(last) = contents.last_mut().filter(|_| row == 0) {
                        *last = content(last);
                    }
                    let mut fields = vec![Series::new(first.into(), firsts), Series::new("content".into(), contents)];
                    if name == "history" {
                        fields.push(Series::new("is_test".into(), vec![false; items.len()]));
                    }
                    StructChunked::from_series("item".into(), items.len(), fields.iter()).unwrap().into_series()
                })
                .collect();
            Column::from(Series::new(name.into(), rows))
        };
        let messages = lists("messages", "role", &|content| format!("{content}\nHe: {value}"));
        let history = lists("history", "speaker", &|content| if said { value.to_owned() } else { content.to_owned() });
        frame.with_column(messages).unwrap();
        frame.with_column(history).unwrap();
        write(&path, frame);
        without_manifest(&folder);
        let findings = check(&folder, "alone");
        let found: Vec<&Value> = findings.iter().filter(|found| found["check"] == "private").collect();
        if said {
            assert!(found.is_empty(), "{found:?}");
            let changed = |found: &&Value| found["check"] == "reference" && found["column"] == "history";
            assert_eq!(
                findings.iter().filter(changed).map(|found| found["row"].as_u64()).collect::<Vec<_>>(),
                [Some(0)]
            );
        } else {
            assert_eq!(found.len(), 1, "{found:?}");
            assert_eq!((found[0]["row"].as_u64(), found[0]["column"].as_str()), (Some(0), Some("messages[].content")));
        }
    }
}

#[test]
fn conversations_follow_their_samples_and_check_finds_exceptions() {
    let folder = copied();
    let before = read(&table(&folder, "conversations", "test"));
    let printed = split(&folder, &["--test", "0.3", "--dev", "0.2"]);
    let dataset = folder.path().join("run/dataset");
    let of = |config: &str, column: &str| -> Vec<(String, String, String)> {
        let mut found = Vec::new();
        for split in ["test", "dev", "train", "unused"] {
            let path = table_in(&dataset, config, split);
            if path.is_file() {
                let frame = read(&path);
                let row = |row| (text(&frame, column, row), split.to_owned(), text(&frame, "language", row));
                found.extend((0..frame.height()).map(row));
            }
        }
        found
    };
    let conversations = of("conversations", "id");
    assert_eq!(conversations.len(), before.height(), "none is lost");
    assert_eq!(printed["carried"]["test"], conversations.iter().filter(|(_, split, _)| split == "test").count());
    let samples = of("samples", "conversation_id");
    for language in ["en", "zh"] {
        let mut placed = 0;
        for (id, split, _) in conversations.iter().filter(|(.., own)| own == language) {
            for (_, own, _) in samples.iter().filter(|(of, ..)| of == id) {
                assert_eq!(own, split, "{id}");
                placed += 1;
            }
        }
        assert!(placed > 0, "{language}");
    }
    assert_eq!(check(&folder, "run"), Vec::<Value>::new());
    let card = fs::read_to_string(dataset.join("README.md")).unwrap();
    assert!(card.contains("path: conversations/train-*.parquet") && card.contains("Each conversation is in"), "{card}");

    // A complete conversation in `train` would reveal tested turns.
    without_manifest(&folder);
    let alone = folder.path().join("alone/conversations");
    for entry in fs::read_dir(&alone).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    write(&alone.join("train-00000-of-00001.parquet"), before);
    let findings = check(&folder, "alone");
    let leaks: Vec<&Value> = findings.iter().filter(|found| found["check"] == "leak").collect();
    let tested: BTreeSet<&String> =
        samples.iter().filter(|(_, split, _)| split != "train").map(|(id, ..)| id).collect();
    assert!(!tested.is_empty());
    assert_eq!(leaks.len(), tested.len().min(20), "{leaks:?}");
    assert!(leaks.iter().all(|leak| leak["file"] == "conversations/train-00000-of-00001.parquet"), "{leaks:?}");
    let output = dramaturg(&folder, &["check", "alone"]);
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("was not split"),
        "a note says that the data set was not split"
    );
}

#[test]
fn a_data_set_can_be_split_by_external_columns_of_any_type() {
    let folder = copied();
    let path = table(&folder, "samples", "test");
    let mut frame = read(&path);
    let numbers: Vec<i64> = (0..).take(frame.height()).map(|row| row % 5).collect();
    let made = |name: &str, kind: DataType| Column::new(name.into(), &numbers).cast(&kind).unwrap();
    let texts: Vec<&str> =
        numbers.iter().map(|number| ["渡口", "ferry", "a", "b", "c"][usize::try_from(*number).unwrap()]).collect();
    let moments: Int64Chunked = numbers.iter().map(|number| Some(number * 86_400_000 + 500)).collect();
    let moments = moments.into_datetime(TimeUnit::Milliseconds, Some(TimeZone::UTC)).into_series();
    let kinds = [
        made("small", DataType::UInt8),
        made("short", DataType::Int16),
        made("part", DataType::Float32),
        made("flag", DataType::Boolean),
        made("day", DataType::Date),
        made("price", DataType::Decimal(10, 2)),
        made("took", DataType::Duration(TimeUnit::Microseconds)),
        Column::from(moments.with_name("at".into())),
        Column::new("kind".into(), &texts).cast(&DataType::from_categories(Categories::global())).unwrap(),
        Column::new("bytes".into(), texts.iter().map(|text| text.as_bytes()).collect::<Vec<_>>()),
    ];
    for column in &kinds {
        frame.with_column(column.clone()).unwrap();
    }
    write(&path, frame.clone());
    without_manifest(&folder);
    for (number, (column, value)) in [
        ("small", "3"),
        ("short", "4"),
        ("flag", "false"),
        ("day", "1970-01-03"),
        ("price", "2.00"),
        ("kind", "渡口"),
        ("at", "1970-01-02T00:00:00.5Z"),
    ]
    .into_iter()
    .enumerate()
    {
        let out = format!("by{number}");
        let held = format!("{column}={value}");
        let arguments = [
            "split",
            "alone",
            "--hold-out",
            &held,
            "--group-by",
            "none",
            "--stratify",
            column,
            "--out",
            &out,
            "--quiet",
        ];
        let output = dramaturg(&folder, &arguments);
        assert_eq!(output.status.code(), Some(0), "{column}: {}", String::from_utf8_lossy(&output.stderr));
        let (mut test, train) = (
            read(&table_in(&folder.path().join(&out), "samples", "test")),
            read(&table_in(&folder.path().join(&out), "samples", "train")),
        );
        let words = |frame: &DataFrame| -> BTreeSet<String> {
            let cells = Cells::of(frame, column).unwrap();
            (0..frame.height()).filter_map(|row| cells.value_text(row).map(String::from)).collect()
        };
        assert_eq!(words(&test), BTreeSet::from([value.to_owned()]), "{column}");
        assert!(!words(&train).contains(value), "{column}");
        test.vstack_mut(&train).unwrap();
        for own in &kinds {
            let kept = test.column(own.name()).unwrap();
            assert_eq!(kept.dtype(), own.dtype(), "{}", own.name());
        }
        let sorted = test.sort(["id"], SortMultipleOptions::default()).unwrap();
        assert!(sorted.equals_missing(&frame), "{column}: every value as it was");
    }
    for (arguments, expected) in [
        (vec!["split", "alone", "--test", "0.3", "--by", "history"], "lists or structs"),
        (
            vec!["split", "alone", "--test", "0.3", "--stratify", "bytes"],
            "contains bytes and cannot be used for a split",
        ),
    ] {
        let output = dramaturg(&folder, &arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && error.contains(expected), "{error}");
    }
    let export = ["export", "alone", "--format", "csv", "--config", "samples", "--out", "csv"];
    let output = dramaturg(&folder, &export);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() != Some(0) && error.contains("`bytes` has values of the type binary"), "{error}");
    write(&folder.path().join("alone/samples/test-00000-of-00001.parquet"), frame.drop("bytes").unwrap());
    for (form, wanted) in [
        (
            "jsonl",
            "\"day\":\"1970-01-02\",\"price\":1.00,\"took\":\"PT0.000001S\",\"at\":\"1970-01-02T00:00:00.5Z\",\"kind\":\"ferry\"",
        ),
        ("csv", ",1,1,1.0,true,1970-01-02,1.00,PT0.000001S,1970-01-02T00:00:00.5Z,ferry\n"),
    ] {
        let export = ["export", "alone", "--format", form, "--config", "samples", "--out", form];
        let output = dramaturg(&folder, &export);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let text = fs::read_to_string(folder.path().join(form).join(format!("samples/test.{form}"))).unwrap();
        assert!(text.contains(wanted), "{form}");
    }
    assert!(!check(&folder, "alone").iter().any(|found| found["check"] == "file"), "check reads them");
}

/// Returns the messages of a check's findings.
fn messages(findings: &[Value], check: &str) -> Vec<String> {
    let of = findings.iter().filter(|found| found["check"] == check);
    of.map(|found| found["message"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_dimension_of_the_manifest_without_samples_is_found() {
    let folder = copied();
    let path = folder.path().join("run/manifest.json");
    let mut manifest: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert!(manifest["dimension_codes"].as_array().is_some_and(|codes| codes.len() > 2));
    manifest["dimension_codes"].as_array_mut().unwrap().push("雅".into());
    fs::write(&path, manifest.to_string()).unwrap();
    assert_eq!(messages(&check(&folder, "run"), "balance"), ["no sample has the dimension `雅`"]);
}

#[test]
fn a_column_missing_from_the_card_is_found_and_added_by_the_next_split() {
    let folder = copied();
    without_manifest(&folder);
    let path = table_in(&folder.path().join("alone"), "samples", "test");
    let mut frame = read(&path);
    frame.with_column(Column::new("mine 我的".into(), vec![1_i64; frame.height()])).unwrap();
    write(&path, frame);
    let expected = ["`dataset_info` does not list the column `mine 我的` of `samples`"];
    assert_eq!(messages(&check(&folder, "alone"), "card"), expected);
    let output = dramaturg(&folder, &["split", "alone", "--test", "0.4", "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(check(&folder, "alone"), Vec::<Value>::new());
}

#[test]
fn an_incomplete_card_is_completed_and_an_unparsable_one_is_kept() {
    let folder = copied();
    without_manifest(&folder);
    let card = folder.path().join("alone/README.md");
    let own = fs::read_to_string(&card).unwrap();
    let split = |share: &str| dramaturg(&folder, &["split", "alone", "--test", share, "--quiet"]);
    let scenes = "- config_name: scenes\n  data_files:\n  - split: train\n    path: scenes/train-*.parquet\n";
    let without = own.replacen(scenes, "", 1);
    assert_ne!(without, own);
    for (text, expected) in [
        (without.clone(), "it does not list the split `train` of `scenes`"),
        (format!("\u{feff}{own}"), "line 1: the card starts with a byte order mark"),
    ] {
        fs::write(&card, text).unwrap();
        let printed = messages(&check(&folder, "alone"), "card");
        assert!(printed.len() == 1 && printed[0].starts_with(expected), "{printed:?}");
    }
    for text in [
        None,
        Some(without),
        Some(String::new()),
        Some("# Mine\n\n我的。\n".to_owned()),
        Some("---\nlicense: mit\n---\nText.\n".to_owned()),
        Some(format!("\u{feff}{own}")),
        Some(own.replace('\n', "\r\n")),
    ] {
        match &text {
            Some(text) => fs::write(&card, text).unwrap(),
            None => fs::remove_file(&card).unwrap(),
        }
        let output = split("0.4");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(check(&folder, "alone"), Vec::<Value>::new(), "{text:?}");
        let written = fs::read_to_string(&card).unwrap();
        assert_eq!(written.matches("config_name: scenes").count(), written.matches("config_name: samples").count());
        assert!(text.is_none_or(|text| !text.contains("我的") || written.contains("我的。")));
    }
    for (text, line) in [
        (own.replace("configs:\n", "configs: &all\n"), "line "),
        ("---\nconfigs:\n- config_name: samples\n\nNo end.\n".to_owned(), "line 1: "),
        (own.replace("<!-- /dramaturg:splits -->", ""), "line "),
    ] {
        fs::write(&card, &text).unwrap();
        let before = files(&folder.path().join("alone"));
        let output = split("0.3");
        let printed = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{printed}");
        assert!(
            printed.contains("README.md") && printed.contains(line) && printed.contains("nothing was written"),
            "{printed}"
        );
        assert!(files(&folder.path().join("alone")) == before, "nothing was written");
        let found = check(&folder, "alone");
        assert!(messages(&found, "card").iter().any(|message| message.starts_with(line)), "{found:?}");
    }
}

#[test]
fn unreadable_files_cause_no_follow_up_findings() {
    // A file that cannot be read has an unknown number of rows, not none.
    let folder = copied();
    fs::write(table(&folder, "samples", "test"), "no Parquet").unwrap();
    let found = check(&folder, "run");
    assert_eq!(checks(&found), BTreeSet::from(["file", "hash"]), "{found:?}");

    let folder = copied();
    fs::write(folder.path().join("run/manifest.json"), "{\"rows\": ").unwrap();
    let output = dramaturg(&folder, &["check", "run"]);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        printed.contains("the run's manifest is not valid JSON: EOF") && printed.contains("hashes were not checked"),
        "{printed}"
    );
    assert!(!printed.contains("there is no run manifest"), "{printed}");

    // For an unknown config only row counts are checked, and an external data set has no run to rebuild it.
    let folder = copied();
    without_manifest(&folder);
    let alone = folder.path().join("alone");
    fs::rename(alone.join("samples"), alone.join("mine")).unwrap();
    let path = table_in(&alone, "mine", "test");
    let rows = read(&path).height();
    let output = dramaturg(&folder, &["check", "alone", "--json"]);
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed["rows"]["mine"]["test"], rows as u64);
    assert!(!printed["notes"].to_string().contains("no rows"), "{printed}");
    let found = printed["findings"].as_array().unwrap();
    assert!(messages(found, "card").contains(&"it does not list the split `test` of `mine`".to_owned()), "{found:?}");
    fs::write(table_in(&alone, "scenes", "train"), "no Parquet").unwrap();
    for finding in check(&folder, "alone") {
        assert!(!finding["remedy"].as_str().unwrap().contains("--replay"), "{finding}");
    }
}

#[test]
fn the_report_of_a_data_set_outside_its_run_shows_its_splits() {
    let folder = copied();
    let run = folder.path().join("run");
    fs::remove_file(run.join("manifest.json")).unwrap();
    for entry in fs::read_dir(&run).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.starts_with("journal") || name.starts_with('.') || name == "status.json" {
            if path.is_dir() { fs::remove_dir_all(&path).unwrap() } else { fs::remove_file(&path).unwrap() }
        }
    }
    fs::copy(run.join("report.html"), run.join("dataset/report.html")).unwrap();
    let output = dramaturg(&folder, &["split", "run", "--test", "0.4", "--remainder", "pool", "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    for path in ["report.html", "dataset/report.html"] {
        let report = fs::read_to_string(run.join(path)).unwrap();
        assert!(report.contains("<td>samples</td><td dir=\"auto\">pool</td>"), "{path}");
    }
    assert_eq!(check(&folder, "run/dataset"), Vec::<Value>::new());
    let stale = fs::read_to_string(run.join("report.html")).unwrap();
    let stale = stale.replace("<td dir=\"auto\">pool</td>", "<td dir=\"auto\">train</td>");
    fs::write(run.join("dataset/report.html"), stale).unwrap();
    let found = check(&folder, "run/dataset");
    // Conversations followed.
    let stale = ["conversations", "samples"].map(|config| format!("the row counts of `{config}` are wrong"));
    assert_eq!(messages(&found, "card"), stale, "{found:?}");
}

#[test]
fn external_columns_and_tables_are_added_to_the_card() {
    let folder = copied();
    without_manifest(&folder);
    let path = table_in(&folder.path().join("alone"), "samples", "test");
    let mut frame = read(&path);
    let numbers = Column::new("day 日".into(), vec![1_i32; frame.height()]);
    frame.with_column(numbers.cast(&DataType::Date).unwrap()).unwrap();
    write(&path, frame);
    let extra = folder.path().join("alone/extra");
    fs::create_dir(&extra).unwrap();
    write(&extra.join("train.parquet"), DataFrame::new(1, vec![Column::new("id".into(), ["渡口"])]).unwrap());
    assert_eq!(messages(&check(&folder, "alone"), "card").len(), 2);
    let output = dramaturg(&folder, &["split", "alone", "--test", "0.4", "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(messages(&check(&folder, "alone"), "card"), Vec::<String>::new());
    let card = fs::read_to_string(folder.path().join("alone/README.md")).unwrap();
    assert!(card.contains("  - name: \"day 日\"\n    dtype: date32\n"), "{card}");
    assert!(card.contains("- config_name: extra\n  data_files:\n  - split: train\n    path: extra/train.parquet\n"));

    // The card names only the folder, and readers do not know `pool`.
    let named = "- config_name: extra\n  data_files:\n  - split: train\n    path: extra/train.parquet\n";
    let card = card.replace(named, "- config_name: extra\n  data_dir: extra\n");
    fs::write(folder.path().join("alone/README.md"), card).unwrap();
    assert_eq!(messages(&check(&folder, "alone"), "card"), Vec::<String>::new());
    fs::rename(extra.join("train.parquet"), extra.join("pool.parquet")).unwrap();
    assert_eq!(
        messages(&check(&folder, "alone"), "card"),
        ["it lists only the folder of `extra`, and readers cannot infer the split `pool` from file names"]
    );
}

#[test]
fn a_replaced_report_is_kept_under_a_free_name_and_is_in_the_manifest() {
    let folder = copied();
    let dataset = folder.path().join("run/dataset");
    let report = fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    let bare: String = report.split_inclusive('\n').filter(|line| !line.contains("<!-- ")).collect();
    assert!(bare.contains("<tr class=\"split\">"));
    fs::write(dataset.join("report.html"), &bare).unwrap();
    fs::write(dataset.join("report.old.html"), "旧").unwrap();
    let printed = split(&folder, &["--test", "0.3"]);
    assert!(printed["rows"]["test"].as_u64() > Some(0), "{printed}");
    assert_eq!(fs::read_to_string(dataset.join("report.old.html")).unwrap(), "旧");
    assert_eq!(fs::read_to_string(dataset.join("report.old.2.html")).unwrap(), bare);
    assert!(!dataset.join("report.html").exists());
    assert!(!checks(&check(&folder, "run")).contains("file"));
    assert!(!checks(&check(&folder, "run")).contains("hash"));
}

#[test]
fn replacing_a_separate_split_of_conversations_is_noted() {
    let folder = copied();
    let text = |arguments: &[&str]| {
        let output = dramaturg(&folder, &[&["split", "run"], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let note = "note: `conversations` had its own split";
    assert!(!text(&["--test", "0.3"]).contains(note));
    assert!(!text(&["--test", "0.4"]).contains(note), "they followed before");
    text(&["--config", "conversations", "--test", "0.5"]);
    assert!(text(&["--test", "0.3", "--dry-run"]).contains(note));
    assert!(text(&["--test", "0.3"]).contains(note));
    assert!(!text(&["--test", "0.3"]).contains(note));

    // A config that is on the card twice is an error before anything is read.
    let card = folder.path().join("run/dataset/README.md");
    let own = fs::read_to_string(&card).unwrap();
    fs::write(&card, own.replacen("configs:\n", "configs:\n- config_name: conversations\n", 1)).unwrap();
    let output = dramaturg(&folder, &["split", "run", "--test", "0.3", "--dry-run"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && error.contains("the config `conversations` twice"), "{error}");
}
