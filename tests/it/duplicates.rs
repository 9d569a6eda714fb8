//! `instruct dedup`: its output, and its recall and precision on planted near-duplicates.

#[path = "../../benches/questions/mod.rs"]
mod questions;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::process::Output;

use dramaturg::text::duplicates::{Keep, duplicates};
use questions::{Kind, Question};
use serde_json::Value;

use super::support::TestRun;

/// Runs `instruct dedup` on a file with this text.
fn dedup(text: &[u8], arguments: &[&str]) -> Output {
    let run = TestRun::new();
    std::fs::write(run.path().join("asked.jsonl"), text).unwrap();
    run.run(&[&["instruct", "dedup", "asked.jsonl", "--field", "question"], arguments].concat())
}

fn lines(output: &Output) -> Vec<Value> {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    assert!(errors.is_empty(), "{errors}");
    String::from_utf8(output.stdout.clone()).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const ASKED: &str = concat!(
    "\u{feff}{\"role\":\"Tess\",\"question\":\"Where did you bury the old lamp?\",\"n\":1.50}\r\n",
    "\n",
    "{ \"question\" : \"渡口夜里谁收船钱？\", \"role\" : \"老周\", \"x\" : {\"b\":1,\"a\":[ ]} }\r\n",
    "{\"question\":\"Where did you bury that old lamp?\",\"role\":\"Tess\"}\n",
    "{\"question\":\"Where did you bury the old lamp?\",\"role\":\"老周\",\"kept\":7}\n",
    "{\"nearest\":null,\"question\":\"渡口夜里是谁收船钱呢？\",\"role\":\"老周\",\"big\":12345678901234567890123}",
);

#[test]
fn each_line_is_printed_with_its_verdict() {
    let output = dedup(ASKED.as_bytes(), &["--threshold", "0.4", "--json", "--group", "role"]);
    let found = lines(&output);
    let kept: Vec<bool> = found.iter().map(|line| line["kept"].as_bool().unwrap()).collect();
    assert_eq!(kept, [true, true, false, true, false]);
    let nearest: Vec<Option<u64>> = found.iter().map(|line| line["nearest"].as_u64()).collect();
    // Lines are counted from 1, including blank ones; a kept question that shares no word with another kept one has no nearest.
    assert_eq!(nearest, [None, None, Some(1), None, Some(3)]);
    assert!(found.iter().all(|line| (0.0..=1.0).contains(&line["similarity"].as_f64().unwrap())));
    let text = String::from_utf8(output.stdout).unwrap();
    for written in [
        "{\"role\":\"Tess\",\"question\":\"Where did you bury the old lamp?\",\"n\":1.50,\"kept\":true,\"similarity\":0.0,\"nearest\":null}\n",
        "{ \"question\" : \"渡口夜里谁收船钱？\", \"role\" : \"老周\", \"x\" : {\"b\":1,\"a\":[ ]},\"kept\":true",
        "{\"question\":\"Where did you bury the old lamp?\",\"role\":\"老周\",\"kept\":true",
        "\"big\":12345678901234567890123,\"kept\":false",
    ] {
        assert!(text.contains(written), "{written} in {text}");
    }
    // All roles together ask about the lamp three times.
    let across = lines(&dedup(ASKED.as_bytes(), &["--threshold", "0.4", "--json"]));
    let kept: Vec<bool> = across.iter().map(|line| line["kept"].as_bool().unwrap()).collect();
    assert_eq!(kept, [true, true, false, false, false]);
    assert_eq!((across[3]["similarity"].as_f64(), across[3]["nearest"].as_u64()), (Some(1.0), Some(1)));
}

#[test]
fn the_text_output_is_a_table_or_a_list() {
    let output = dedup(ASKED.as_bytes(), &["--threshold", "0.4", "--group", "role"]);
    insta::assert_snapshot!(String::from_utf8(output.stdout).unwrap(), @r"
    group         questions  kept  removed   share  threshold
    Tess                  2     1        1  50.0 %      0.400
    老周                  3     2        1  66.7 %      0.400
    all 2 groups          5     3        2  60.0 %
    Use `--json` to print every line with its verdict, `--scores` to list the verdicts.
    ");
    let output = dedup(ASKED.as_bytes(), &["--threshold", "0.4", "--scores"]);
    let list = String::from_utf8(output.stdout).unwrap();
    assert!(list.starts_with("1\tkept\t0.000\t-\tWhere did you bury the old lamp?\n"), "{list}");
    assert!(list.contains("\n5\tremoved\t1.000\t1\tWhere did you bury the old lamp?\n"), "{list}");
}

#[test]
fn groups_of_different_json_types_are_separate() {
    let line = |role: &str| format!("{{\"question\":\"Where did you bury the old lamp?\",\"role\":{role}}}\n");
    let text: String =
        ["1", "\"1\"", "1", "\"1\"", "null", "\"null\"", "true", "\"a\"", "\"\\u0061\""].map(line).concat();
    let found = lines(&dedup(text.as_bytes(), &["--threshold", "0.5", "--json", "--group", "role"]));
    let kept: Vec<bool> = found.iter().map(|line| line["kept"].as_bool().unwrap()).collect();
    assert_eq!(kept, [true, true, false, false, true, true, true, true, false]);
    assert_eq!((found[2]["nearest"].as_u64(), found[3]["nearest"].as_u64()), (Some(1), Some(2)));
    let output = dedup(text.as_bytes(), &["--threshold", "0.5", "--group", "role"]);
    let table = String::from_utf8(output.stdout).unwrap();
    for name in ["\n1  ", "\n\"1\"  ", "\nnull  ", "\n\"null\"  ", "\na  "] {
        assert!(table.contains(name), "{name} in {table}");
    }
}

#[test]
fn every_key_of_a_line_is_kept() {
    let text = concat!(
        "{\"kept\":1,\"question\":\"🌊?\",\"kept\":2,\"similarity\":\"x\",\"nearest\":[1],\"a\":\"\\ud83d\"}\r\n",
        "\r\n",
        "{\"question\":\"🔥?\",\"kept\":{\"kept\":true},\"b\":\"\\u0000\\/\"}\r\n",
        "{\"question\":\"\\ud83c\\udf0a?\"}\r\n",
        "{\"question\":\"\",\"n\":-0.0}\r\n",
        "{\"question\":\"first\",\"question\":\"The last of two counts, as it does for most.\"}",
    );
    let output = dedup(text.as_bytes(), &["--threshold", "0.5", "--json"]);
    let lines: Vec<&str> = std::str::from_utf8(&output.stdout).unwrap().lines().collect();
    assert_eq!(
        lines,
        [
            "{\"question\":\"🌊?\",\"a\":\"\\ud83d\",\"kept\":true,\"similarity\":0.0,\"nearest\":null}",
            "{\"question\":\"🔥?\",\"b\":\"\\u0000\\/\",\"kept\":true,\"similarity\":0.0,\"nearest\":null}",
            "{\"question\":\"\\ud83c\\udf0a?\",\"kept\":false,\"similarity\":1.0,\"nearest\":1}",
            "{\"question\":\"\",\"n\":-0.0,\"kept\":true,\"similarity\":0.0,\"nearest\":null}",
            "{\"question\":\"first\",\"question\":\"The last of two counts, as it does for most.\",\"kept\":true,\"similarity\":0.0,\"nearest\":null}",
        ]
    );
    // A second run over the output gives the same verdicts.
    assert_eq!(dedup(&output.stdout, &["--threshold", "0.5", "--json"]).stdout.len(), output.stdout.len());
}

#[test]
fn an_invalid_line_is_an_error_and_stdout_stays_empty() {
    let text = "{\"question\":\"Why?\"}\n{\"question\":7}\nno\n[1]\n{\"q\":\"Why?\"}\n{\"question\":\"Who?\"";
    let output = dedup(text.as_bytes(), &["--json"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let errors = String::from_utf8(output.stderr).unwrap();
    for part in [
        "asked.jsonl:2: `question` is not a string\n",
        "asked.jsonl:3: invalid JSON: ",
        "asked.jsonl:4: not a JSON object\n",
        "asked.jsonl:5: missing key `question`\n",
        "asked.jsonl:6: invalid JSON: ",
        "error: 5 invalid lines in `asked.jsonl`",
    ] {
        assert!(errors.contains(part), "{part} in {errors}");
    }
    let output =
        dedup(b"{\"question\":\"Why?\",\"role\":[]}\n{\"question\":\"\xff\"}\n", &["--json", "--group", "role"]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        errors.contains("asked.jsonl:1: `role` is neither a string nor a number") && errors.contains("asked.jsonl:2: "),
        "{errors}"
    );
}

#[test]
fn an_invalid_command_line_is_rejected() {
    let run = TestRun::new();
    std::fs::write(run.path().join("asked.jsonl"), "").unwrap();
    for arguments in [
        &["instruct"][..],
        &["instruct", "dedup", "asked.jsonl"],
        &["instruct", "dedup", "none.jsonl", "--field", "question"],
        &["instruct", "dedup", ".", "--field", "question"],
        &["instruct", "dedup", "asked.jsonl", "--field", "question", "--threshold", "0"],
        &["instruct", "dedup", "asked.jsonl", "--field", "question", "--keep", "1.5"],
        &["instruct", "dedup", "asked.jsonl", "--field", "question", "--keep", "0.5", "--threshold", "0.5"],
    ] {
        let output = run.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{arguments:?}");
    }
    let output = run.run(&["instruct", "dedup", "asked.jsonl", "--field", "question", "--json"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
}

#[cfg(unix)]
#[test]
fn standard_input_is_rejected() {
    let run = TestRun::new();
    let mut command = run.command(&["instruct", "dedup", "/dev/stdin", "--field", "question"]);
    let child = command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("not a regular file"));
}

#[test]
fn groups_do_not_depend_on_each_other() {
    let texts = |zh: bool| questions::questions(zh, 120, 1, 3).into_iter().map(|question| question.text);
    let line = |role: &str, text: String| format!("{}\n", serde_json::json!({"question": text, "role": role}));
    let (en, zh): (Vec<_>, Vec<_>) =
        (texts(false).map(|text| line("a", text)).collect(), texts(true).map(|text| line("b", text)).collect());
    let verdicts = |text: String, role: &str| {
        let found = lines(&dedup(text.as_bytes(), &["--json", "--group", "role"]));
        let of_role = found.into_iter().filter(|line| line["role"] == role);
        of_role
            .map(|line| (line["question"].to_string(), line["kept"].clone(), line["similarity"].clone()))
            .collect::<Vec<_>>()
    };
    let mixed: String = en.iter().zip(&zh).flat_map(|(one, other)| [one.as_str(), other.as_str()]).collect();
    for (role, own) in [("a", &en), ("b", &zh)] {
        let alone = verdicts(own.concat(), role);
        assert!(alone.iter().any(|(_, kept, _)| kept == false));
        assert_eq!(alone, verdicts(mixed.clone(), role));
        assert_eq!(alone, verdicts(zh.concat() + &en.concat(), role));
    }
}

/// Adds the number of removed questions and of all questions to the counts of each kind. A planted near-duplicate also counts
/// as removed if the question it was made from was removed instead.
fn count(questions: &[Question], threshold: f64, counts: &mut BTreeMap<Kind, (u32, u32)>) {
    assert!(questions.iter().all(|question| question.group == 0), "one group is judged");
    let texts: Vec<&str> = questions.iter().map(|question| question.text.as_str()).collect();
    let verdicts = duplicates(&texts, Keep::Threshold(threshold), NonZeroUsize::MIN).verdicts;
    for (question, verdict) in questions.iter().zip(&verdicts) {
        let removed = !verdict.kept || question.base.is_some_and(|base| !verdicts[base].kept);
        let count = counts.entry(question.kind).or_default();
        count.0 += u32::from(removed);
        count.1 += 1;
    }
}

#[test]
fn planted_near_duplicates_are_removed_and_other_questions_kept() {
    for (zh, threshold) in [(false, 0.5), (true, 0.4)] {
        let mut counts = BTreeMap::new();
        for seed in 5..8 {
            count(&questions::questions(zh, 5_000, 1, seed), threshold, &mut counts);
        }
        let share = |kinds: &[Kind]| {
            let (removed, all) =
                kinds.iter().fold((0, 0), |sum, kind| (sum.0 + counts[kind].0, sum.1 + counts[kind].1));
            f64::from(removed) / f64::from(all)
        };
        let planted = share(&[Kind::One, Kind::Two, Kind::Three, Kind::Reordered, Kind::Extended]);
        assert!(planted >= 0.98, "{counts:?}");
        assert!(share(&[Kind::Lonely]) <= 0.01, "{counts:?}");
    }
}
