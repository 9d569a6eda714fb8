//! `check` with a pipeline file: its books and its endpoints.

use serde_json::{Value, json};

use crate::support::{Scripted, ScriptedServer, TestRun};

/// Returns a server's answer to a call.
type Answer = fn(&Value) -> Scripted;

const KEY: &str = "sk-0123456789-abcdef";

fn run(url: &str) -> TestRun {
    let run = TestRun::new();
    run.change("[cast]", "[models.served]\nprovider = \"openai\"\nmodel = \"m\"\ncontext_window = 9000\n\n[cast]");
    run.change("base = \"reader\"", "base = \"served\"");
    let dot_env = format!("OPENAI_BASE_URL={url}\nOPENAI_API_KEY='{KEY}'\n");
    std::fs::write(run.path().join(".env"), dot_env).expect("the file `.env`");
    run
}

/// Returns what `check --probe --json` finds at the address, and its exit code.
fn probe(run: &TestRun) -> (Value, i32) {
    let output = run.run(&["check", "small.toml", "--probe", "--json"]);
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!stdout.contains(KEY) && !stderr.contains(KEY), "{stdout}{stderr}");
    let found: Value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"));
    let models = found["models"].as_array().unwrap().iter();
    let mut models = models.filter(|model| model["name"] == "served");
    let address = models.next().map(|model| model["addresses"][0].clone());
    (address.expect("a served model"), output.status.code().unwrap())
}

/// Starts a server that lists the model `m` with a context length and gives every call the same answer.
fn server(
    context: u64,
    answer: impl Fn(&Value) -> Scripted + Send + Sync + 'static,
) -> impl Fn(usize, &Value) -> Scripted {
    move |_, body| match body {
        Value::Null => Scripted::json(200, &json!({"data": [{"id": "m", "max_model_len": context}]})),
        body => answer(body),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_working_endpoint_has_no_findings() {
    let strict = |body: &Value| match body["response_format"]["type"].as_str() {
        Some("json_schema") => Scripted::content("{\"seal\": \"marl-0417\"}"),
        _ => Scripted::content("no schema, no seal"),
    };
    let server = ScriptedServer::ruled(server(9000, strict)).await;
    let run = run(&server.url());
    let (address, code) = probe(&run);
    assert_eq!(code, 0, "{address}");
    for (key, expected) in [
        ("reachable", json!(true)),
        ("key", json!(true)),
        ("model_known", json!(true)),
        ("schema", json!("json_schema")),
        ("context", json!(9000)),
    ] {
        assert_eq!(address[key], expected, "{key}: {address}");
    }
    assert!(address["notes"][0].as_str().unwrap().contains("models.served.price"), "{address}");
    assert_eq!(server.bodies().len(), 2, "one call and the list");
    let printed = String::from_utf8(run.run(&["check", "small.toml", "--probe"]).stdout).unwrap();
    assert!(printed.contains("json_schema") && printed.ends_with("no problems found\n"), "{printed}");
    assert!(!run.path().join("outputs").exists(), "nothing is written");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_finding_says_what_to_do() {
    let prose = |_: &Value| Scripted::content("Certainly! What form?");
    let objects = |body: &Value| match body["response_format"]["type"].as_str() {
        Some("json_schema") => Scripted::error(400, "response_format of type json_schema is not supported"),
        _ => Scripted::content("{\"seal\": \"marl-0417\"}"),
    };
    let cut = |_: &Value| Scripted::message(&json!({"content": "", "reasoning_content": "Let me see"}), "length");
    for (context, answer, code, schema, finding) in [
        (9000, prose as Answer, 3, json!("ignored"), "did not match the schema"),
        (9000, objects as Answer, 0, json!("json_object"), ""),
        (9000, cut as Answer, 3, Value::Null, "raise `models.served.max_tokens`"),
        (4096, objects as Answer, 3, json!("json_object"), "set it to 4096"),
    ] {
        let server = ScriptedServer::ruled(server(context, answer)).await;
        let (address, exit) = probe(&run(&server.url()));
        assert_eq!((exit, &address["schema"]), (code, &schema), "{address}");
        let findings = address["findings"].to_string();
        assert!(findings.contains(finding), "{address}");
    }
    for (status, message, finding) in [
        (401, format!("Incorrect API key provided: {KEY}"), "models.served.api_key_env"),
        (404, "no such model".to_owned(), "models.served.model"),
        (429, "insufficient_quota".to_owned(), "quota"),
        (500, "out of memory".to_owned(), "the server's log"),
    ] {
        let server = ScriptedServer::ruled(move |_, _| Scripted::error(status, &message)).await;
        let (address, code) = probe(&run(&server.url()));
        assert_eq!((code, &address["reachable"]), (3, &json!(true)), "{address}");
        assert!(address["findings"][0].as_str().unwrap().contains(finding), "{address}");
    }
    let (address, code) = probe(&run("http://127.0.0.1:1/v1"));
    assert_eq!((code, &address["reachable"]), (3, &json!(false)), "{address}");
    assert!(address["findings"][0].as_str().unwrap().contains("start the server"), "{address}");
}

#[test]
fn without_a_probe_the_file_and_its_books_are_checked() {
    let run = TestRun::new();
    let output = run.run(&["check", "small.toml", "--json"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{found}");
    assert_eq!(found["books"].as_array().map(Vec::len), Some(2));
    assert!(found["books"][0]["chunks"].as_u64() > Some(0), "{found}");
    std::fs::write(run.path().join("empty.txt"), "").unwrap();
    let output = run.run(&["check", "small.toml", "--set", "books.paths=['empty.txt']"]);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{printed}");
    assert!(printed.contains("finding: empty.txt: "), "{printed}");
    assert_eq!(run.run(&["check", "small.toml", "--set", "cast.base='nobody'"]).status.code(), Some(3));
    assert_eq!(found["findings"], json!([]));
    let findings_of = |arguments: &[&str]| {
        let output = run.run(&[&["check", "--json"], arguments].concat());
        assert_eq!((output.status.code(), output.stderr.len()), (Some(3), 0), "{arguments:?}");
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")["findings"].take()
    };
    let empty = findings_of(&["small.toml", "--set", "books.paths=['empty.txt']"]);
    assert_eq!((&empty[0]["path"], &empty[0]["check"]), (&json!("empty.txt"), &json!("book")));
    run.change("tau = 1", "tua = 1");
    let text = std::fs::read_to_string(run.path().join("small.toml")).unwrap();
    let wrong = findings_of(&["small.toml"]);
    let line = text.lines().position(|line| line.starts_with("tua")).unwrap() + 1;
    assert_eq!(
        (&wrong[0]["line"], &wrong[0]["column"], &wrong[0]["nearest"]),
        (&json!(line), &json!(1), &json!("tau"))
    );
    run.change("tua = 1", "tau = 1");
    std::fs::write(run.path().join("vetoes.toml"), "[[veto]]\nid = 'a/b/0#1'\n").unwrap();
    assert_eq!(findings_of(&["small.toml"])[0]["path"].as_str().map(|path| path.ends_with("vetoes.toml")), Some(true));
    let printed = String::from_utf8(run.run(&["check", "small.toml"]).stderr).unwrap();
    assert!(printed.contains("1 problem in `vetoes.toml`"), "{printed}");
    std::fs::remove_file(run.path().join("vetoes.toml")).unwrap();
    let printed = String::from_utf8(run.run(&["export", "."]).stderr).unwrap();
    assert!(printed.contains("--format"), "{printed}");
    assert_eq!(run.run(&["check", "nowhere.toml"]).status.code(), Some(2));
    assert_eq!(run.run(&["check", "."]).status.code(), Some(2));
}
