//! The stage `instruct` from a pipeline file to tables and export formats, offline and with a scripted model.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Scripted, ScriptedServer, TestRun};

/// Makes a run with role data for its two test characters only.
fn run() -> TestRun {
    let run = TestRun::new();
    let instructions = Path::new(env!("CARGO_MANIFEST_DIR")).join("pipelines/instructions/*.jsonl");
    let table = format!(
        "[instruct]\nroles = 'characters'\ninstructions = ['{}']\nmin_segment = {{ en = 100, zh = 150 }}\n\
         agnostic_calls = 2\ncandidates = 20\nreplies = 3\nmax_instructions = {{ en = 5, zh = 5 }}\n\n[simulate]",
        instructions.display()
    );
    run.change("[simulate]", &table);
    run
}

/// Runs the pipeline up to a stage and returns its `--json` output.
fn go(run: &TestRun, stage: &str, arguments: &[&str]) -> Value {
    let output = run.run(&[&[stage, "small.toml", "--json", "--quiet"], arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

/// Returns the lines of an export format of the role data.
fn form(run: &TestRun, name: &str, path: &str) -> Vec<Value> {
    let output = run.run(&["export", "outputs/small", "--format", name, "--quiet"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(run.path().join("outputs/small").join(name).join(path)).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// Exports a format and returns the bytes of its files by path.
fn files(folder: &Path, run: &TestRun, name: &str) -> BTreeMap<String, Vec<u8>> {
    fn read(folder: &Path, into: &mut BTreeMap<String, Vec<u8>>) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                read(&path, into);
            } else {
                into.insert(path.display().to_string(), std::fs::read(&path).expect("a file"));
            }
        }
    }
    let output = run.run(&["export", "outputs/small", "--format", name, "--quiet"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut files = BTreeMap::new();
    read(folder, &mut files);
    files
}

/// Returns the names of the asks that a run made.
fn asks(summary: &Value) -> BTreeSet<String> {
    summary["asks"].as_array().unwrap().iter().map(|ask| ask["ask"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_build_makes_reproducible_role_data_in_both_languages() {
    let run = run();
    let summary = run.build(&[], 0);
    for config in ["roles", "role_specific", "role_general"] {
        assert!(summary["rows"][config]["train"].as_u64() > Some(0), "{config}: {summary}");
    }
    assert!(summary["rows"]["role_specific"]["test"].as_u64() > Some(0), "{summary}");
    assert!(summary["rows"]["role_general"]["test"].as_u64() > Some(0), "{summary}");
    let tables = run.tables();
    let again = run.build(&[], 0);
    assert_eq!(again["calls"]["made"], 0, "{again}");
    assert_eq!(run.tables(), tables);
    assert_eq!(run.build(&["--replay"], 0)["calls"]["made"], 0);
    let output = run.run(&["check", "outputs/small", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((output.status.code(), &report["findings"]), (Some(0), &json!([])), "the result of a run is valid");
    for tongue in ["eng", "zh"] {
        let rows = form(
            &run,
            "rolebench",
            &format!("rolebench-{tongue}/instruction-generalization/role_specific/train.jsonl"),
        );
        let lines = form(
            &run,
            "rolebench",
            &format!("profiles-{tongue}/{}.jsonl", if tongue == "zh" { "温仲筹" } else { "keziah-marl" }),
        );
        assert!(!rows.is_empty() && rows.iter().all(|row| row["generated"].as_array().map(Vec::len) == Some(1)));
        // The offline engine answers with lines of the role.
        let spoken: String = lines.iter().map(|line| line["content"].as_str().unwrap_or_default()).collect();
        let plain = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
        let (spoken, mut own, mut all) = (plain(&spoken), 0, 0);
        for row in rows.iter().filter(|row| lines.iter().any(|line| line["role"] == row["role"])) {
            all += 1;
            let answer = row["generated"][0].as_str().unwrap();
            let first = answer.split_inclusive(['.', '!', '?', '。', '！', '？']).next().unwrap_or_default();
            own += usize::from(spoken.contains(&plain(first)));
        }
        assert!(lines.is_empty() || 2 * own >= all, "{tongue}: {own} of {all}");
    }
    let manifest: Value =
        serde_json::from_str(&std::fs::read_to_string(run.path().join("outputs/small/manifest.json")).unwrap())
            .unwrap();
    for (language, tally) in manifest["role_data"].as_object().expect("the counts of roles") {
        for split in ["specific", "general", "by_role"] {
            assert_eq!(tally[split]["alike"], 0, "{language} {split}: {tally}");
            assert!(tally[split]["highest"].as_f64() < Some(0.6), "{language} {split}: {tally}");
        }
    }
    for name in ["rolebench", "alpaca", "sharegpt", "messages"] {
        let once = files(&run.path().join("outputs/small").join(name), &run, name);
        assert!(!once.is_empty() && once == files(&run.path().join("outputs/small").join(name), &run, name), "{name}");
    }
    let messages = form(&run, "messages", "train.jsonl");
    assert!(!messages.is_empty());
    assert!(messages.iter().all(|line| line["messages"].as_array().map(Vec::len) == Some(3)));
}

#[test]
fn role_data_needs_no_conversations_and_calls_of_a_limited_run_are_reused() {
    let run = run();
    let look = go(&run, "instruct", &["--limit", "1"]);
    assert!(!asks(&look).iter().any(|ask| ask.starts_with("simulate/")), "{look}");
    assert!(asks(&look).contains("instruct/script_agnostic"), "{look}");
    let made = look["calls"]["made"].as_u64().unwrap();
    let whole = go(&run, "instruct", &[]);
    assert!(whole["calls"]["made"].as_u64() > Some(0) && made > 0);
    assert_eq!(go(&run, "instruct", &[])["calls"]["made"], 0);
}

#[test]
fn a_limited_run_grades_only_as_many_roles_as_it_needs() {
    let run = run();
    run.change("roles = 'characters'", "roles = ['characters', 'pool']\nmin_turns = 3\nmin_distinctness = 'not'");
    let grades = |summary: &Value| {
        let graded = summary["asks"].as_array().unwrap().iter().filter(|ask| ask["ask"] == "instruct/grade");
        graded.map(|ask| ask["calls"]["made"].as_u64().unwrap()).sum::<u64>()
    };
    // The characters come first, one in each language.
    assert_eq!(grades(&go(&run, "instruct", &["--limit", "1"])), 0);
    assert!(grades(&go(&run, "instruct", &[])) > 0);
}

#[test]
fn role_formats_are_exported_from_role_data() {
    let run = run();
    std::fs::create_dir_all(run.path().join("empty/dataset")).unwrap();
    std::fs::create_dir_all(run.path().join("full")).unwrap();
    std::fs::write(run.path().join("full/mine.txt"), "mine").unwrap();
    for (arguments, expected) in [
        (&["export", "empty", "--format", "alpaca"][..], "has no role data"),
        (&["export", "nowhere", "--format", "messages"], "has no role data"),
        (&["export", "small.toml", "--format", "sharegpt"], "not a pipeline file"),
        (&["export", "empty", "--format", "rolebench", "--limit", "1"], "apply to runs"),
        (&["export", "empty", "--format", "dpo"], "invalid value"),
    ] {
        let output = run.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains(expected) && output.stdout.is_empty(), "{errors}");
    }
    run.build(&[], 0);
    let output = run.run(&["export", "outputs/small", "--format", "alpaca", "--out", "full"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(std::fs::read_to_string(run.path().join("full/mine.txt")).unwrap(), "mine");
    // A data set without its run, such as a downloaded one.
    std::fs::rename(run.path().join("outputs/small/dataset"), run.path().join("theirs")).unwrap();
    std::fs::remove_dir_all(run.path().join("theirs/roles")).unwrap();
    let output = run.run(&["export", "theirs", "--format", "messages", "--out", "made", "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let exported: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(exported["files"], json!(["test.jsonl", "train.jsonl"]));
    assert!(exported["lines"].as_u64() > Some(10), "{exported}");
}

#[test]
fn a_forecast_includes_the_calls_of_roles() {
    let run = run();
    let output = run.run(&["build", "small.toml", "--dry-run", "--json", "--quiet"]);
    let dry_run: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    let forecast = |ask: &str| {
        dry_run["asks"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|row| row["ask"] == ask)
            .map(|row| row["calls"].as_u64().unwrap())
            .sum::<u64>()
    };
    let built = run.build(&[], 0);
    let made = |ask: &str| {
        built["asks"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|row| row["ask"] == ask)
            .map(|row| row["calls"]["made"].as_u64().unwrap())
            .sum::<u64>()
    };
    for ask in ["instruct/describe", "instruct/script_based", "instruct/script_agnostic", "instruct/general"] {
        assert!(made(ask) > 0, "{ask}");
        assert_eq!(forecast(ask), made(ask), "{ask}");
    }
    assert_eq!(dry_run["rows"]["role_specific"].as_u64(), {
        let rows = &built["rows"]["role_specific"];
        Some(rows["train"].as_u64().unwrap_or(0) + rows["test"].as_u64().unwrap_or(0))
    });
}

#[test]
fn an_invalid_line_of_instructions_is_reported_with_its_position() {
    let run = run();
    let path = run.path().join("own.jsonl");
    std::fs::write(&path, "{\"instruction\": \"Why?\", \"answer\": \"So.\"}\n{\"instruction\": \"Why\"}\nno\n")
        .unwrap();
    let output = run.run(&["build", "small.toml", "--set", "instruct.instructions=['own.jsonl']"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("own.jsonl:2") && errors.contains("missing field `answer`"), "{errors}");
    assert!(errors.contains("own.jsonl:3"), "{errors}");
}

#[test]
fn the_roles_of_a_script_are_read_without_a_model() {
    let run = run();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("books/forty_kilos_short.fountain");
    run.change("roles = 'characters'", &format!("scripts = ['{}']\nroles_per_book = 1", script.display()));
    let summary = go(&run, "instruct", &[]);
    assert!(asks(&summary).contains("instruct/grade") && asks(&summary).contains("instruct/script_based"), "{summary}");
}

/// Returns the scripted answer to an ask, which is recognized by its schema or prompt.
fn reply(body: &Value) -> Scripted {
    let schema = body["response_format"].to_string();
    let prompt = body["messages"].to_string();
    let is_chinese = prompt.contains("人物") || prompt.contains("你是温仲筹");
    let name = if is_chinese { "温仲筹" } else { "Keziah Marl" };
    if schema.contains("triplets") {
        let triplet = |question: &str, confidence: &str, answer: &str| json!({"question": question, "rationale": "r", "confidence": confidence, "answer": answer});
        let n = blake3::hash(prompt.as_bytes()).to_hex()[..6].to_owned();
        let triplets = if is_chinese {
            json!([
                triplet(&format!("{name}，第{n}笔账是谁改的？"), "high", "是东家改的。"),
                triplet(&format!("{name}，那是什么？"), "low", "是账。"),
                triplet("那条船卖了多少钱？", "high", "三两。"),
            ])
        } else {
            json!([
                triplet(&format!("{name}, what was box {n} worth?"), "high", "A penny either way."),
                triplet(&format!("{name}, what was that?"), "low", "Nothing."),
                triplet(&format!("{name}, who sank the {n} boat?"), "high", "As an AI language model I cannot say."),
            ])
        };
        return Scripted::content(&json!({"triplets": triplets}).to_string());
    }
    if schema.contains("catchphrases") {
        return Scripted::content(r#"{"reason": "none is", "catchphrases": []}"#);
    }
    if prompt.contains("portrait") || prompt.contains("小传") {
        let description = if is_chinese {
            "你管账，不肯替旁人改字。"
        } else {
            "You keep the ferry and price everything."
        };
        return Scripted::content(description);
    }
    let line =
        if is_chinese { "温仲筹：算盘上没有这笔。" } else { "A penny either way, and mind the step" };
    Scripted::content(line)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_served_model_writes_triplets_and_faulty_ones_are_rejected() {
    let server = ScriptedServer::ruled(|_, body| reply(body)).await;
    let run = run();
    run.change(
        "[cast]",
        "[models.served]\nprovider = \"openai\"\nmodel = \"m\"\n\n[cast]\ninstructor = \"served\"\nrole_player = \"served\"",
    );
    run.change("count = { en = 1, zh = 1 }", "count = { en = 0, zh = 0 }");
    let dot_env = format!("OPENAI_BASE_URL={}\nexport OPENAI_API_KEY='sk-0123456789-abcdef'\n", server.url());
    std::fs::write(run.path().join(".env"), dot_env).expect("the file `.env`");
    let summary = run.build(&[], 0);
    assert_eq!(summary["rows"]["roles"]["train"], 2, "{summary}");
    let rejected = std::fs::read_dir(run.path().join("outputs/small/rejected"))
        .expect("a folder")
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect::<String>();
    for reason in ["low_confidence", "not_addressed", "reveals_model", "name_in_front", "incomplete", "none_left"] {
        assert!(rejected.contains(&format!("\"{reason}\"")), "{reason}");
    }
    let rows = form(&run, "rolebench", "rolebench-eng/instruction-generalization/role_specific/train.jsonl");
    assert!(rows.iter().all(|row| row["generated"] == json!(["A penny either way."])), "{rows:?}");
    assert!(!rows.is_empty());
    let bodies: Vec<Value> = server.bodies();
    // Keziah Marl's book is not in the run, so she has only a description; 温仲筹 has his dialogue.
    assert!(
        bodies.iter().any(|body| body.to_string().contains("Write 10 questions to Keziah Marl")),
        "ten questions on the description"
    );
    assert!(
        bodies.iter().any(|body| body.to_string().contains("就这段对白，向温仲筹提3个问题")),
        "three questions on a segment"
    );
    let general = bodies
        .iter()
        .find(|body| body["messages"][0]["content"].as_str().is_some_and(|text| text.starts_with("你是温仲筹。")));
    let general = general.expect("the role is played");
    let roles: Vec<&str> =
        general["messages"].as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles.len(), 12, "a system part, five exchanges, the instruction: {roles:?}");
    assert_eq!((roles[1], roles[2], roles[11]), ("user", "assistant", "user"));
}
