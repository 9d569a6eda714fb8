//! The whole road through the program: the same bytes twice, after any interruption, and from the journal alone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

/// A working directory with a small offline pipeline over the shipped books.
struct TestRun {
    folder: TempDir,
}

impl TestRun {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let path = |relative: &str| root.join(relative).display().to_string();
        let pipeline = format!(
            r#"
name = "small"
seed = 11
books = {{ paths = ["{}", "{}"] }}

[models.reader]
provider = "offline"
[models.vivid]
provider = "offline"
variant = "vivid"
breadth = 32
diligence = 0.9

[cast]
extractor = "reader"
synthesizers = ["reader"]
director = "reader"
scene = "reader"
sources = ["vivid"]
base = "reader"
judge = "reader"

[synthesize]
established = ["{}", "{}"]
count = {{ en = 1, zh = 1 }}

[simulate]
tau = 1
wave = 2
own_book = true
max_turns = 10
max_conversations = 3
"#,
            path("books/forty_kilos_short.fountain"),
            path("books/lian_wen_ji.txt"),
            path("pipelines/characters/keziah_marl.toml"),
            path("pipelines/characters/wen_zhong_chou.toml"),
        );
        std::fs::write(folder.path().join("small.toml"), pipeline).expect("the pipeline file");
        Self { folder }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::cargo_bin("dramaturg").expect("the program");
        command.current_dir(self.folder.path()).env_clear().args(arguments).output().expect("it runs")
    }

    /// Builds, expects an exit code, and returns what `--json` says.
    fn build(&self, arguments: &[&str], code: i32) -> Value {
        let output = self.run(&[&["build", "small.toml", "--json", "--quiet"], arguments].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{errors}");
        serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
    }

    fn journal(&self) -> PathBuf {
        self.folder.path().join("outputs/small/journal.jsonl")
    }

    /// Returns the bytes of every Parquet file by its path.
    fn tables(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let dataset = self.folder.path().join("outputs/small/dataset");
        let mut tables = BTreeMap::new();
        for config in std::fs::read_dir(&dataset).expect("a data set") {
            let config = config.expect("an entry").path();
            if config.is_dir() {
                for table in std::fs::read_dir(config).expect("a config") {
                    let table = table.expect("an entry").path();
                    let bytes = std::fs::read(&table).expect("a table");
                    tables.insert(table.strip_prefix(&dataset).expect("below the data set").to_owned(), bytes);
                }
            }
        }
        tables
    }
}

#[test]
fn a_second_build_asks_nothing_and_writes_the_same_bytes() {
    let run = TestRun::new();
    let first = run.build(&[], 0);
    let tables = run.tables();
    assert!(first["calls"]["made"].as_u64() > Some(100), "{first}");
    for config in ["samples", "conversations", "scenes", "characters"] {
        assert!(tables.keys().any(|path| path.starts_with(config)), "no {config} in {:?}", tables.keys());
        let rows: u64 = first["rows"][config].as_object().expect("splits").values().filter_map(Value::as_u64).sum();
        assert!(rows > 0, "{first}");
    }
    let second = run.build(&[], 0);
    assert_eq!(second["calls"]["made"], 0);
    assert_eq!(second["calls"]["journal"], first["calls"]["made"]);
    assert_eq!(run.tables(), tables);
    let replayed = run.build(&["--replay"], 0);
    assert_eq!(replayed["calls"]["made"], 0);
    assert_eq!(run.tables(), tables);
}

#[test]
fn a_run_goes_on_from_whatever_the_journal_holds() {
    let run = TestRun::new();
    run.build(&[], 0);
    let (tables, journal) = (run.tables(), std::fs::read(run.journal()).expect("a journal"));
    // A kill leaves any prefix, a torn line at its end among them.
    for tenth in [0, 1, 3, 5, 8, 9] {
        let cut = journal.len() * tenth / 10 + 7 * tenth;
        std::fs::write(run.journal(), &journal[..cut.min(journal.len())]).expect("a shorter journal");
        let again = run.build(&[], 0);
        assert!(again["calls"]["made"].as_u64() > Some(0), "{again}");
        assert_eq!(run.tables(), tables, "cut at {cut} of {}", journal.len());
    }
}

#[test]
fn a_replay_names_the_call_that_is_missing() {
    let run = TestRun::new();
    run.build(&["--limit", "1"], 0);
    let journal = std::fs::read_to_string(run.journal()).expect("a journal");
    let without: String =
        journal.lines().filter(|line| !line.contains("/rate\"")).map(|line| format!("{line}\n")).collect();
    assert_ne!(without.len(), journal.len());
    std::fs::write(run.journal(), without).expect("a journal with holes");
    let output = run.run(&["build", "small.toml", "--limit", "1", "--replay"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{errors}");
    assert!(errors.contains("simulate/rate") && errors.contains("/rate`"), "{errors}");
}

#[test]
fn a_budget_stops_a_run_and_what_is_done_is_kept() {
    let whole = TestRun::new();
    whole.build(&[], 0);
    let run = TestRun::new();
    for calls in ["40", "80", "120"] {
        let output = run.run(&["build", "small.toml", "--set", &format!("budget.max_calls={calls}")]);
        assert_eq!(output.status.code(), Some(5), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let rest = run.build(&[], 0);
    assert!(rest["calls"]["journal"].as_u64() >= Some(100), "{rest}");
    assert_eq!(run.tables(), whole.tables());
}

#[test]
fn a_further_source_leaves_the_other_lanes_as_they_were() {
    let run = TestRun::new();
    run.build(&[], 0);
    let rows = |run: &TestRun| -> Vec<String> {
        // The journal keeps every answer by its draw; the lanes of the first source must not have drawn anew.
        std::fs::read_to_string(run.journal()).expect("a journal").lines().map(str::to_owned).collect()
    };
    let before = rows(&run);
    let more = run.build(&["--set", "cast.sources=[\"vivid\", \"reader\"]"], 0);
    let after = rows(&run);
    assert_eq!(after[..before.len()], before[..]);
    assert_eq!(
        more["calls"]["journal"].as_u64(),
        Some(before.iter().filter(|line| line.contains("\"draw\"")).count() as u64)
    );
}
