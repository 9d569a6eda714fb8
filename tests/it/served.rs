//! Builds with a served model: failed calls, wrong keys, unresponsive servers and interruption.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{Scripted, ScriptedServer, TestRun};

const KEY: &str = "sk-0123456789-abcdef";
const REPLY: &str = "(nods) I have heard that said before, and I do not hold with it.";

/// Makes a run whose base model is played by a server; all others are offline.
fn run(url: &str) -> TestRun {
    let run = TestRun::new();
    run.change("[cast]", "[models.served]\nprovider = \"openai\"\nmodel = \"m\"\nmax_tries = 1\n\n[cast]");
    run.change("base = \"reader\"", "base = \"served\"");
    let dot_env = format!("OPENAI_BASE_URL={url}\nexport OPENAI_API_KEY='{KEY}'\n");
    std::fs::write(run.path().join(".env"), dot_env).expect("the file `.env`");
    run
}

/// Returns exit code, stdout and stderr of a build.
fn build(run: &TestRun, arguments: &[&str]) -> (i32, String, String) {
    output(&mut run.command(&[&["build", "small.toml"], arguments].concat()))
}

/// Returns exit code, stdout and stderr of a command.
fn output(command: &mut Command) -> (i32, String, String) {
    let output = command.output().expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("the program prints UTF-8");
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

/// Panics if a file in a folder, or its name, contains one of the words; returns the number of files.
fn expect_nowhere(words: &[&str], folder: &Path) -> usize {
    let mut files = 0;
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files += expect_nowhere(words, &path);
            continue;
        }
        let bytes = std::fs::read(&path).expect("a file");
        for word in words {
            assert!(!bytes.windows(word.len()).any(|part| part == word.as_bytes()), "{word} in {}", path.display());
        }
        files += 1;
    }
    files
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_calls_are_reported_and_repeated_by_the_next_run() {
    let whole = run(&ScriptedServer::ruled(|_, _| Scripted::content(REPLY)).await.url());
    whole.build(&[], 0);
    let fails = |n, _: &Value| if n % 5 == 2 { Scripted::error(503, "busy") } else { Scripted::content(REPLY) };
    let server = ScriptedServer::ruled(fails).await;
    let run = run(&server.url());
    let (code, stdout, stderr) = build(&run, &["--json"]);
    assert_eq!(code, 3, "{stderr}");
    let summary: Value = serde_json::from_str(&stdout).expect("one JSON object");
    let failed = summary["calls"]["failed"].as_u64().expect("a count");
    assert!(failed > 0 && summary["rejected"]["simulate"].as_u64() >= Some(1), "{summary}");
    assert!(stderr.contains(&format!("error: {failed} of ")) && stderr.contains(" in `simulate`"), "{stderr}");
    assert!(stderr.contains("caused by: no reply from model `served` after 1 tries: HTTP 503: busy"), "{stderr}");
    assert!(stderr.contains("hint: run `dramaturg build small.toml --json` again to retry these"), "{stderr}");
    // The same server without its failures.
    let server = ScriptedServer::ruled(|_, _| Scripted::content(REPLY)).await;
    let (code, stdout, stderr) =
        build(&run, &["--json", "--set", &format!("models.served.base_url='{}'", server.url())]);
    assert_eq!(code, 0, "{stderr}");
    let summary: Value = serde_json::from_str(&stdout).expect("one JSON object");
    assert!(summary["calls"]["journal"].as_u64() > Some(0), "{summary}");
    assert_eq!(run.tables(), whole.tables());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_reply_in_the_journal_is_not_requested_again() {
    let refused = || Scripted::error(400, "the prompt was flagged by moderation");
    let server = ScriptedServer::ruled(move |n, _| if n == 1 { refused() } else { Scripted::content(REPLY) }).await;
    let run = run(&server.url());
    let (code, _, stderr) = build(&run, &[]);
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("error: 1 of ") && stderr.contains("hint: the journal keeps these replies"), "{stderr}");
    let asked = server.bodies().len();
    assert_eq!(build(&run, &[]).0, 3);
    assert_eq!(server.bodies().len(), asked);
    assert_eq!(build(&run, &["--replay"]).0, 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_api_key_is_in_no_file_and_no_output() {
    let echo = |n, _: &Value| match n {
        0 => Scripted::error(503, &format!("busy, {KEY}")),
        1 => Scripted::error(400, &format!("{KEY} is flagged by moderation")),
        2 => Scripted::error(422, &format!("no such thing as {KEY}")),
        _ => Scripted::content(&format!("{REPLY} {KEY}.")),
    };
    let server = ScriptedServer::ruled(echo).await;
    let run = run(&server.url());
    let mut command = run.command(&["build", "small.toml"]);
    let (code, stdout, stderr) = output(command.env("RUST_LOG", "trace").env("RUST_BACKTRACE", "full"));
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("TRACE"), "the log has the highest level");
    assert!(server.heads().iter().all(|head| head.contains(KEY)), "the key is sent");
    let port = server.url().rsplit(':').next().expect("a port").replace("/v1", "");
    let address = format!("127.0.0.1:{port}");
    for shown in [&stdout, &stderr] {
        assert!(!shown.contains(KEY), "{shown}");
    }
    for folder in ["outputs", "scene_pool"] {
        assert!(expect_nowhere(&[KEY, &address], &run.path().join(folder)) > 1);
    }
    // The server's error repeats the invalid key.
    let server =
        ScriptedServer::ruled(|_, _| Scripted::error(401, &format!("Incorrect API key provided: {KEY}"))).await;
    let set = format!("models.served.base_url='{}'", server.url());
    let (code, stdout, stderr) = build(&run, &["--set", "simulate.tau=2", "--set", "seed=12", "--set", &set]);
    assert_eq!(code, 4, "{stderr}");
    assert!(stdout.is_empty(), "{stdout}");
    assert!(stderr.contains("error: model `served` cannot be used\n  caused by: HTTP 401"), "{stderr}");
    assert!(stderr.contains("hint: set a valid key in the variable named by `models.served.api_key_env`"), "{stderr}");
    assert!(!stderr.contains(KEY), "{stderr}");
    expect_nowhere(&[KEY, &address], &run.path().join("outputs"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_permanent_error_ends_the_run_at_once_with_a_hint() {
    let endpoint = "check `models.served.base_url` (default: OPENAI_BASE_URL) and `models.served.model`";
    let spent = "the quota is used up, and waiting does not help";
    let key = "set a valid key in the variable";
    let quota =
        serde_json::json!({"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}});
    for (fault, hint) in [
        (
            Scripted::error(404, "model `m` does not exist"),
            "`dramaturg check PIPELINE --probe` lists the server's models",
        ),
        (Scripted::error(400, "Invalid model name passed in model=m"), endpoint),
        (Scripted::error(403, "this key may not"), key),
        (Scripted::error(402, "insufficient credits"), spent),
        (Scripted::Body(429, "retry-after: 60", quota.to_string()), spent),
    ] {
        let server = ScriptedServer::ruled(move |_, _| fault.clone()).await;
        let run = run(&server.url());
        run.change("max_tries = 1", "max_tries = 6\nconcurrency = 1");
        let (code, stdout, stderr) = build(&run, &[]);
        assert!(code == 4 && stdout.is_empty(), "{code}: {stderr}");
        assert!(stderr.contains("error: model `served` cannot be used") && stderr.contains(hint), "{hint}: {stderr}");
        assert_eq!(server.bodies().len(), 1, "{stderr}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unresponsive_server_is_reported_and_probed_until_it_answers() {
    // Eight failures in a row open the circuit breaker; up to three calls in flight may be answered in between.
    const AWAY: std::ops::Range<usize> = 4..15;
    let whole = run(&ScriptedServer::ruled(|_, _| Scripted::content(REPLY)).await.url());
    whole.build(&[], 0);
    let away = |n, _: &Value| if AWAY.contains(&n) { Scripted::Closed } else { Scripted::content(REPLY) };
    let server = ScriptedServer::ruled(away).await;
    let run = run(&server.url());
    run.change("max_tries = 1", "max_tries = 30\nconcurrency = 4");
    let (code, _, stderr) = build(&run, &[]);
    assert_eq!(code, 0, "{stderr}");
    for message in ["is failing repeatedly (no complete reply); ", " waiting, next try in 1 s", "is responding again"] {
        assert!(stderr.contains(message), "{message}: {stderr}");
    }
    assert_eq!(run.tables(), whole.tables());
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ctrl_c_finishes_calls_in_flight_and_the_next_run_resumes() {
    let server = ScriptedServer::ruled(|_, _| Scripted::content(REPLY)).await;
    let whole = run(&server.url());
    whole.build(&[], 0);
    let run = run(&server.url());
    let before = server.bodies().len();
    server.answer(false);
    let mut command = run.command(&["build", "small.toml", "--json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    while server.bodies().len() == before {
        tokio::task::yield_now().await;
    }
    let signalled = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("there is `kill`");
    assert!(signalled.success());
    let mut stderr = BufReader::new(child.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    let note = stderr.find(|line| line.starts_with("stopping: ")).expect("it says that it stops");
    assert!(note.contains("waiting for calls in flight"), "{note}");
    server.answer(true);
    let rest: Vec<String> = stderr.collect();
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{rest:?}");
    assert!(output.stdout.is_empty());
    let hint = "hint: run `dramaturg build small.toml --json` again to resume; completed work is kept";
    assert_eq!(rest.last().map(String::as_str), Some(hint), "{rest:?}");
    let asked = server.bodies().len() - before;
    let journal = std::fs::read_to_string(run.journal()).expect("a journal");
    let kept = journal.lines().filter(|line| line.contains("\"model\":\"served\"")).count();
    assert_eq!(kept, asked, "answers in flight are kept");
    run.build(&[], 0);
    assert_eq!(run.tables(), whole.tables());
    assert_eq!(server.bodies().len() - before, before, "no call is made twice");
}
