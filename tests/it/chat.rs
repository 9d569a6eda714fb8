//! Group chats end to end: the same rows at any concurrency and with more lanes, custom dimensions, a biased judge, a director
//! that misspells names, and the cost of a sample.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use polars::prelude::{DataFrame, ParquetReader, SerReader as _};
use serde_json::{Value, json};

use crate::support::{Scripted, ScriptedServer, TestRun};

/// Makes a run with a server for director, scene characters, base and judge; the rest is offline.
pub(crate) fn served(url: &str) -> TestRun {
    let run = TestRun::new();
    run.change("[cast]", "[models.served]\nprovider = \"openai\"\nmodel = \"m\"\nmax_tries = 1\n\n[cast]");
    for part in ["director", "scene", "base", "judge"] {
        run.change(&format!("{part} = \"reader\""), &format!("{part} = \"served\""));
    }
    let dot_env = format!("OPENAI_BASE_URL={url}\nOPENAI_API_KEY=none\n");
    std::fs::write(run.path().join(".env"), dot_env).expect("the file `.env`");
    run
}

/// Returns a number below `sides` that depends only on the request.
pub(crate) fn lot(body: &Value, sides: usize) -> usize {
    let hash = blake3::hash(body.to_string().as_bytes());
    let (bytes, _) = hash.as_bytes().split_first_chunk::<4>().expect("it has 32 bytes");
    u32::from_le_bytes(*bytes) as usize % sides
}

/// Returns the values that a key of the answer's schema allows, if the schema has the key.
pub(crate) fn asked(body: &Value, key: &str) -> Option<Vec<Value>> {
    let schema = &body["response_format"]["json_schema"]["schema"]["properties"];
    let property = schema.get(key)?;
    Some(property["enum"].as_array().cloned().unwrap_or_default())
}

/// Answers a request according to its schema; `judge` returns the dimension and σ, given the codes of the dimensions.
pub(crate) fn answer(body: &Value, judge: impl Fn(&Value, &[Value]) -> (Value, u8)) -> Scripted {
    let zh = body["messages"].to_string().matches('。').count() > 3;
    let answer = if let Some(next) = asked(body, "next") {
        let names: Vec<&Value> = next.iter().filter(|name| *name != "END").collect();
        json!({"reason": "so", "next": names[lot(body, names.len())]})
    } else if let Some(codes) = asked(body, "dimension") {
        let (dimension, score) = judge(body, &codes);
        json!({"dimension_reason": "so", "dimension": dimension, "comparison": "so", "score": score})
    } else if asked(body, "quality").is_some() {
        json!({"interaction": "so", "coherence": "so", "progression": "so", "quality": "high"})
    } else {
        let number = lot(body, 1000);
        let line = if zh {
            format!("(点头) 这件事我想了{number}遍。")
        } else {
            format!("(nods) I thought of it {number} times.")
        };
        return Scripted::content(&line);
    };
    Scripted::content(&answer.to_string())
}

/// Reads a table of a run's data set.
pub(crate) fn table(run: &TestRun, config: &str, split: &str) -> DataFrame {
    let path = run.path().join(format!("outputs/small/dataset/{config}/{split}-00000-of-00001.parquet"));
    ParquetReader::new(std::fs::File::open(path).expect("a table")).finish().expect("it can be read")
}

pub(crate) fn texts(frame: &DataFrame, column: &str) -> Vec<Option<String>> {
    let texts = frame.column(column).expect("a column").str().expect("strings");
    texts.iter().map(|text| text.map(str::to_owned)).collect()
}

/// Panics unless every row of a table is in another one unchanged.
pub(crate) fn expect_rows(before: &DataFrame, after: &DataFrame) {
    let ids = texts(after, "id");
    for (row, id) in texts(before, "id").into_iter().enumerate() {
        let position = ids.iter().position(|other| *other == id).unwrap_or_else(|| panic!("{id:?} is gone"));
        let (one, other) =
            (before.slice(i64::try_from(row).unwrap(), 1), after.slice(i64::try_from(position).unwrap(), 1));
        assert!(one.equals_missing(&other), "{one} {other}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrency_does_not_change_a_byte() {
    let judge = |body: &Value, codes: &[Value]| {
        (codes[lot(body, codes.len())].clone(), u8::try_from(lot(&json!([body]), 5) + 1).expect("up to 5"))
    };
    let server = ScriptedServer::ruled(move |_, body| answer(body, judge)).await;
    let mut tables = Vec::new();
    for concurrency in [1, 8, 512] {
        let run = served(&server.url());
        let summary = run.build(&["--set", &format!("models.served.concurrency={concurrency}")], 0);
        assert!(summary["rows"]["samples"]["test"].as_u64() > Some(0), "{summary}");
        tables.push(run.tables());
    }
    assert!(tables.windows(2).all(|pair| pair[0] == pair[1]), "the same bytes");
}

#[test]
fn added_books_and_characters_do_not_change_other_lanes() {
    let run = TestRun::new();
    let (en, zh) = ("books/forty_kilos_short.fountain", "books/lian_wen_ji.txt");
    let path = |relative: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join(relative).display().to_string();
    let books = |books: &[&str]| format!("books.paths={:?}", books.iter().map(|book| path(book)).collect::<Vec<_>>());
    let given = |names: &[&str]| {
        let paths: Vec<String> = names.iter().map(|name| path(&format!("pipelines/characters/{name}.toml"))).collect();
        format!("synthesize.established={paths:?}")
    };
    let (one, both) = (given(&["keziah_marl"]), given(&["keziah_marl", "wen_zhong_chou"]));
    let made_up = "synthesize.count={ en = 1, zh = 0 }";
    run.build(&["--set", &books(&[en]), "--set", &one, "--set", made_up], 0);
    let tables = |run: &TestRun| ["conversations", "samples"].map(|config| table(run, config, "test"));
    let mut before = tables(&run);
    assert!(before[0].height() > 2 && before[1].height() > 0);
    for sets in [
        // A book of the other language and a character for it, then a source.
        &["--set", &books(&[en, zh]), "--set", &both, "--set", made_up][..],
        &["--set", &books(&[en, zh]), "--set", &both, "--set", made_up, "--set", "cast.sources=['vivid', 'reader']"],
    ] {
        run.build(sets, 0);
        let after = tables(&run);
        for (before, after) in before.iter().zip(&after) {
            assert!(after.height() > before.height(), "{sets:?}");
            expect_rows(before, after);
        }
        before = after;
    }
}

/// With `balance_scope = "character"` the sources of a character share τ and take turns.
#[test]
fn sources_of_a_character_can_share_counts() {
    let run = TestRun::new();
    run.build(
        &[
            "--set",
            "simulate.balance_scope='character'",
            "--set",
            "cast.sources=['vivid', 'reader']",
            "--set",
            "simulate.tau=6",
            "--set",
            "simulate.max_conversations=12",
            "--set",
            "simulate.target_probability=1.0",
            "--set",
            "synthesize.count={ en = 0, zh = 0 }",
        ],
        0,
    );
    let conversations = table(&run, "conversations", "test");
    let turns = conversations.column("turns").unwrap().list().unwrap();
    let mut counts: BTreeMap<(String, String), BTreeMap<String, u32>> = BTreeMap::new();
    let (characters, sources) = (texts(&conversations, "test_character"), texts(&conversations, "source_model"));
    for (row, (character, source)) in characters.into_iter().zip(sources).enumerate() {
        let turns = turns.get_as_series(row).unwrap();
        let field = |name: &str| turns.struct_().unwrap().field_by_name(name).unwrap();
        let (kinds, targets) = (field("kind"), field("target"));
        let lane = counts.entry((character.unwrap(), source.unwrap())).or_default();
        for (kind, target) in kinds.str().unwrap().iter().zip(targets.str().unwrap().iter()) {
            if let (Some("test"), Some(target)) = (kind, target) {
                *lane.entry(target.to_owned()).or_default() += 1;
            }
        }
    }
    assert_eq!(counts.len(), 4, "two characters with two sources: {counts:?}");
    let played = |character: &str, source: &str| {
        let of = |row: &(Option<String>, Option<String>)| {
            row.0.as_deref() == Some(character) && row.1.as_deref() == Some(source)
        };
        texts(&conversations, "test_character")
            .into_iter()
            .zip(texts(&conversations, "source_model"))
            .filter(of)
            .count()
    };
    for ((character, source), lane) in &counts {
        let other = if source == "vivid" { "reader" } else { "vivid" };
        assert!(played(character, source).abs_diff(played(character, other)) <= 1, "they take turns: {counts:?}");
        let together: u32 =
            counts.iter().filter(|((other, _), _)| other == character).flat_map(|(_, lane)| lane.values()).sum();
        assert!(together >= 30, "τ for each of five dimensions: {counts:?}");
        let own: u32 = lane.values().sum();
        assert!(own >= 1 && own < together, "{source} has a share: {counts:?}");
    }
}

/// A rejected character is listed and replaced by one from another world; the others do not change.
#[test]
fn a_rejected_synthesized_character_is_replaced() {
    let run = TestRun::new();
    let made_up = |given: &[String]| -> Vec<Value> {
        let given = format!("synthesize.established={given:?}");
        let sets = ["--set", "synthesize.count={ en = 3, zh = 2 }", "--set", &given];
        let output = run.run(&[&["synthesize", "small.toml", "--quiet"][..], &sets].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let text = std::fs::read_to_string(run.path().join("outputs/small/characters.jsonl")).expect("characters");
        let all = text.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        all.filter(|character: &Value| character["type"] == "synthesized").collect()
    };
    let before = made_up(&[]);
    assert_eq!(before.len(), 5);
    let names = ["en", "zh"].map(|language| {
        let character = before.iter().find(|character| character["language"] == language).expect("one of each");
        character["name"].as_str().expect("a name").to_owned()
    });
    let given: Vec<String> = names
        .iter()
        .enumerate()
        .map(|(number, name)| {
            let language = ["en", "zh"][number];
            let profile = format!("[[profile]]\nkey = \"x\"\nvalue = \"{name}\"\nvisibility = \"public\"\n");
            let character =
                format!("name = \"{name}\"\nlanguage = \"{language}\"\ntype = \"established\"\n\n{profile}");
            std::fs::write(run.path().join(format!("{number}.toml")), character).expect("a file");
            format!("{number}.toml")
        })
        .collect();
    let after = made_up(&given);
    assert_eq!(after.len(), 5, "the requested number");
    assert!(after.iter().all(|character| names.iter().all(|name| character["name"] != name.as_str())), "{after:?}");
    let stay = before.iter().filter(|character| after.contains(character)).count();
    assert_eq!(stay, 3, "the others are unchanged");
    let rejects = std::fs::read_to_string(run.path().join("outputs/small/rejected/synthesize.jsonl")).expect("rejects");
    for name in &names {
        assert!(
            rejects.lines().any(|line| line.contains("\"resembles\"") && line.contains(name.as_str())),
            "{rejects}"
        );
    }
}

const SIXTH: &str = r#"
[[dimension]]
code = "HU"
name = { en = "Humour", zh = "幽默" }
definition = { en = "Is the joke in the character's own vein?", zh = "玩笑是否合乎人物的脾性？" }
eliciting = { en = "Give {name} an opening for a joke.", zh = "给{name}留一个打趣的机会。" }
strategy = { en = "Answer with a joke of your own vein.", zh = "用你自己的脾性打趣一句。" }
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sixth_dimension_can_be_defined_in_a_file() {
    let judge = |_: &Value, codes: &[Value]| (codes.last().expect("six of them").clone(), 1);
    let server = ScriptedServer::ruled(move |_, body| answer(body, judge)).await;
    let run = served(&server.url());
    let shipped = include_str!("../../src/stages/select/dimensions.toml");
    std::fs::write(run.path().join("six.toml"), format!("{shipped}\n{SIXTH}")).expect("a table");
    let summary = run.build(&["--set", "select.dimensions='six.toml'"], 0);
    let targets: Vec<String> = {
        let conversations = table(&run, "conversations", "test");
        let turns = conversations.column("turns").unwrap().list().unwrap().get_inner();
        let targets = turns.struct_().unwrap().field_by_name("target").unwrap();
        targets.str().unwrap().iter().flatten().map(str::to_owned).collect()
    };
    assert!(targets.iter().any(|target| target == "HU"), "{summary}");
    let samples = table(&run, "samples", "test");
    let dimensions = texts(&samples, "dimension");
    assert!(!dimensions.is_empty() && dimensions.iter().all(|code| code.as_deref() == Some("HU")), "{summary}");
    for (language, strategy, criteria) in [
        ("en", "Answer with a joke of your own vein.", "Is the joke in the character's own vein?"),
        ("zh", "用你自己的脾性打趣一句。", "玩笑是否合乎人物的脾性？"),
    ] {
        let row = texts(&samples, "language").iter().position(|code| code.as_deref() == Some(language));
        let row = row.expect("a sample in each language");
        assert_eq!(texts(&samples, "strategy")[row].as_deref(), Some(strategy));
        assert_eq!(texts(&samples, "criteria")[row].as_deref(), Some(criteria));
    }
    let seen: String = server.bodies().iter().map(Value::to_string).collect();
    for eliciting in ["an opening for a joke.", "留一个打趣的机会。"] {
        assert!(seen.contains(eliciting), "{eliciting}");
    }
    let card = std::fs::read_to_string(run.path().join("outputs/small/dataset/README.md")).expect("a card");
    assert!(card.contains("| HU | Humour | 幽默 |"), "{card}");
}

/// The judge always prefers the base in the dimension CR.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lanes_with_a_biased_judge_end_and_report_missing_samples() {
    let judge = |body: &Value, codes: &[Value]| {
        let code = codes[lot(body, codes.len())].clone();
        let shown = body["messages"].to_string();
        let base_is_first =
            ["Reply 1: (nods) I thought of it", "回复一：(点头) 这件事我想了"].iter().any(|base| shown.contains(base));
        let of_base = if base_is_first { 1 } else { 5 };
        let score = if code == "CR" { of_base } else { 6 - of_base };
        (code, score)
    };
    let server = ScriptedServer::ruled(move |_, body| answer(body, judge)).await;
    let run = served(&server.url());
    // Half a book has too few scenes for sixteen conversations of a lane.
    for book in ["forty_kilos_short", "lian_wen_ji"] {
        run.change(&format!("tests/fixtures/books/{book}"), &format!("books/{book}"));
    }
    let sets = [
        "--set",
        "simulate.balance_on='accepted'",
        "--set",
        "simulate.tau=2",
        "--set",
        "simulate.max_conversations=16",
    ];
    let only_english = ["--set", "synthesize.count={ en = 0, zh = 0 }"];
    let summary = run.build(&[&sets[..], &only_english[..]].concat(), 0);
    let rejects = std::fs::read_to_string(run.path().join("outputs/small/rejected/simulate.jsonl")).expect("rejects");
    let lane = rejects.lines().find(|line| line.contains("\"keziah-marl/vivid\"")).expect("the lane fell short");
    assert!(lane.contains("_exhausted") && lane.contains("CR has 0 of 2"), "{lane}");
    assert_eq!(lane.matches(" of 2").count(), 1, "no other dimension fell short: {lane}");
    assert!(summary["dimensions_below_target"]["CR"].as_u64() >= Some(1), "{summary}");
    let output = run.run(&[
        "build",
        "small.toml",
        "--replay",
        sets[0],
        sets[1],
        sets[2],
        sets[3],
        sets[4],
        sets[5],
        only_english[0],
        only_english[1],
    ]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("lanes that ended before τ, by dimension: 2 CR\n"), "{text}");

    // If targets are counted, every lane ends, and reports the dimensions without samples.
    let sets = ["--set", "simulate.tau=3", "--set", "simulate.max_conversations=16"];
    let summary = run.build(&[&sets[..], &only_english[..]].concat(), 0);
    assert_eq!(
        (&summary["dimensions_below_target"], &summary["dimensions_without_samples"]),
        (&json!({}), &json!({"CR": 2})),
        "{summary}"
    );
    let rejects = std::fs::read_to_string(run.path().join("outputs/small/rejected/simulate.jsonl")).expect("rejects");
    let lanes: Vec<&str> = rejects.lines().filter(|line| line.contains("\"no_sample\"")).collect();
    assert_eq!(lanes.len(), 2, "{rejects}");
    assert!(lanes.iter().all(|lane| lane.contains("CR was judged ") && !lane.contains("judged 0 times")), "{lanes:?}");
    let manifest = std::fs::read_to_string(run.path().join("outputs/small/manifest.json")).expect("a manifest");
    let manifest: Value = serde_json::from_str(&manifest).expect("JSON");
    assert_eq!(manifest["dimensions_without_samples"], json!({"CR": 2}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn misspelt_speaker_names_do_not_stop_a_conversation() {
    let director = |body: &Value| {
        let next = asked(body, "next")?;
        let names: Vec<&str> = next.iter().filter_map(Value::as_str).filter(|name| *name != "END").collect();
        let name = names[lot(body, names.len())];
        let next_up = match lot(&json!([body]), 4) {
            0 => format!("**{}**.", name.to_uppercase()),
            // An unknown name, on every request.
            1 => "the one over there".to_owned(),
            // An end that is not allowed yet.
            2 if names.len() == next.len() => "END".to_owned(),
            _ => name.to_owned(),
        };
        Some(Scripted::content(&json!({"reason": "so", "next": next_up}).to_string()))
    };
    let judge = |body: &Value, codes: &[Value]| (codes[lot(body, codes.len())].clone(), 2);
    // Some replies also speak for others.
    let speaker = |body: &Value| {
        (body.get("response_format").is_none() && lot(&json!([body]), 5) == 0)
            .then(|| Scripted::content("(nods) I thought of it.\nNarrator: It rained all night."))
    };
    let rule =
        Arc::new(move |body: &Value| director(body).or_else(|| speaker(body)).unwrap_or_else(|| answer(body, judge)));
    let server = ScriptedServer::ruled(move |_, body| rule(body)).await;
    let run = served(&server.url());
    // Calls without a usable answer are reported; nothing is missing.
    let summary = run.build(&[], 0);
    assert!(summary["calls"]["failed"].as_u64() > Some(0), "{summary}");
    let conversations = table(&run, "conversations", "test");
    let turns = conversations.column("turns").unwrap().list().unwrap().get_inner();
    let faults = turns.struct_().unwrap().field_by_name("faults").unwrap().list().unwrap().get_inner();
    let faults: Vec<&str> = faults.str().unwrap().iter().flatten().collect();
    for fault in ["director:matched", "director:by_lot", "speaks_for_others:mended"] {
        assert!(faults.contains(&fault), "no {fault}");
    }
    let mut counted: BTreeMap<&str, u64> = BTreeMap::new();
    for fault in &faults {
        *counted.entry(fault).or_default() += 1;
    }
    assert_eq!(summary["turn_faults"], json!(counted));
    assert!(
        server.bodies().iter().all(|body| !body.to_string().contains("It rained")),
        "no prompt contains text that was cut"
    );
    let rejects = std::fs::read_to_string(run.path().join("outputs/small/rejected/simulate.jsonl")).expect("rejects");
    assert!(rejects.contains("/director\"") && rejects.contains("drawn at random"), "{rejects}");
    assert!(table(&run, "samples", "test").height() > 0, "conversations continue and are kept");
    let tables = run.tables();
    run.build(&["--replay"], 0);
    assert_eq!(run.tables(), tables, "random choices are reproducible");
}

#[test]
fn most_prompt_tokens_of_a_long_conversation_are_cacheable() {
    let run = TestRun::new();
    let summary = run.build(&["--set", "simulate.min_turns=20", "--set", "simulate.max_turns=20"], 0);
    let asks: Vec<&Value> = summary["asks"].as_array().expect("a list").iter().collect();
    let plays = |ask: &&&Value| {
        ask["ask"].as_str().is_some_and(|ask| ask.starts_with("simulate/") || ask.starts_with("select/"))
    };
    let sum =
        |key: &str| -> u64 { asks.iter().filter(plays).map(|ask| ask["tokens"][key].as_u64().expect("a count")).sum() };
    let (prompt, cacheable) = (sum("prompt"), sum("cacheable"));
    assert!(cacheable * 4 >= prompt * 3, "{cacheable} of {prompt}");
    for ask in asks.iter().filter(plays).filter(|ask| ask["ask"] != "simulate/rate") {
        let tokens = |key: &str| ask["tokens"][key].as_u64().expect("a count");
        assert!(tokens("cacheable") * 10 >= tokens("prompt") * 7, "{ask}");
    }
    // The cost per sample is in the summary and in the manifest.
    let samples = summary["rows"]["samples"]["test"].as_u64().expect("samples");
    let calls: u64 = asks.iter().filter(plays).map(|ask| ask["calls"]["made"].as_u64().expect("a count")).sum();
    let each = |sum: u64| {
        json!(
            (f64::from(u32::try_from(sum).unwrap()) * 100.0 / f64::from(u32::try_from(samples).unwrap())).round()
                / 100.0
        )
    };
    let expected =
        json!({"calls": each(calls), "billed": each(prompt + sum("completion")), "cacheable": each(cacheable)});
    assert_eq!(summary["per_sample"], expected);
    let manifest = std::fs::read_to_string(run.path().join("outputs/small/manifest.json")).expect("a manifest");
    let manifest: Value = serde_json::from_str(&manifest).expect("JSON");
    assert_eq!(manifest["per_sample"], expected);
    assert!(std::fs::read_dir(run.path().join("outputs/small")).unwrap().all(|entry| {
        let path = entry.unwrap().path();
        path.extension().is_none_or(|ending| ending != "spool")
    }));
}

#[test]
fn a_template_that_accesses_private_attributes_is_rejected() {
    for (name, template) in [
        ("simulate/test_reply.en", "{% for motivation in motivations %}{{ motivation.character }}{% endfor %}"),
        ("simulate/test_reply.zh", "{{ dialogue }}"),
        ("simulate/test_reply.en", "{{ others[0].motivation }}"),
        ("simulate/direct.en", "{{ motivations }}"),
    ] {
        let run = TestRun::new();
        let parts = ["system", "opening", "silence", "turn", "user"];
        let template: String = parts.iter().map(|part| format!("=== {part} ===\n{template}\n")).collect();
        std::fs::write(run.path().join("own.jinja"), template).expect("a template");
        let set = format!("prompts.\"{name}\"='own.jinja'");
        let output = run.run(&["build", "small.toml", "--quiet", "--set", &set]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{name}: {errors}");
        assert!(errors.contains(name) && errors.contains("undefined"), "{errors}");
    }
}
