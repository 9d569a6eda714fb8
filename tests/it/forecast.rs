//! Forecasts compared with runs, and `status` during and after a run.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{Scripted, ScriptedServer, TestRun};

const REPLY: &str = "(nods) I have heard that said before, and I do not hold with it.";

/// Makes a run whose base, source and scene characters are played by a server; all others are offline.
fn run(url: &str) -> TestRun {
    let run = TestRun::new();
    let price = "price = { input = 0.4, cached_input = 0.1, output = 1.6 }";
    let served = format!("[models.served]\nprovider = \"openai\"\nmodel = \"m\"\nmax_tries = 1\n{price}\n\n[cast]");
    run.change("[cast]", &served);
    run.change("base = \"reader\"", "base = \"served\"");
    run.change("scene = \"reader\"", "scene = \"served\"");
    if !url.is_empty() {
        std::fs::write(run.path().join(".env"), format!("OPENAI_BASE_URL={url}\n")).expect("the file `.env`");
    }
    run
}

/// Answers without token counts, so that both sides use estimates.
fn uncounted(content: &str) -> Scripted {
    Scripted::json(200, &json!({"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}))
}

fn dry(run: &TestRun, arguments: &[&str]) -> Value {
    run.build(&[&["--dry-run"], arguments].concat(), 0)
}

fn sum(asks: &Value, key: &str) -> u64 {
    asks.as_array().expect("asks").iter().filter_map(|ask| ask.pointer(key)?.as_u64()).sum()
}

#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn expect_near(forecast: u64, real: u64, what: &str) {
    let ratio = forecast as f64 / real as f64;
    assert!((0.8..=1.2).contains(&ratio), "{what}: {forecast} expected, {real} came");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_forecast_is_close_to_the_run_and_subtracts_paid_calls() {
    let server = ScriptedServer::ruled(|_, _| uncounted(REPLY)).await;
    let run = run(&server.url());
    let before = dry(&run, &[]);
    assert!(server.bodies().is_empty(), "no server is asked");
    assert!(!run.path().join("outputs").exists() && !run.path().join("scene_pool").exists(), "nothing is written");
    let summary = run.build(&[], 0);
    expect_near(before["total"]["calls"].as_u64().unwrap(), summary["calls"]["made"].as_u64().unwrap(), "calls");
    expect_near(
        before["total"]["prompt"].as_u64().unwrap(),
        summary["tokens"]["prompt"].as_u64().unwrap(),
        "prompt tokens",
    );
    expect_near(
        before["total"]["cacheable"].as_u64().unwrap(),
        summary["tokens"]["cacheable"].as_u64().unwrap(),
        "cacheable tokens",
    );
    let of_server = |asks: &Value| {
        let asks = asks.as_array().unwrap().iter().filter(|ask| ask["model"] == "served");
        Value::Array(asks.cloned().collect())
    };
    expect_near(
        sum(&of_server(&before["asks"]), "/calls"),
        sum(&of_server(&summary["asks"]), "/calls/made"),
        "served calls",
    );
    // All calls are in the journal, so they are paid and none are left.
    let after = dry(&run, &[]);
    assert_eq!((after["total"]["calls"].as_u64(), after["total"]["usd"].as_f64()), (Some(0), Some(0.0)), "{after}");
    assert_eq!(after["total"]["paid"], summary["calls"]["made"]);
    assert_eq!(after["paid_usd"], summary["usd"], "sums of the same in another order");
    assert_eq!(after["wall_s"], 0.0);
}

#[test]
fn a_forecast_is_deterministic_and_needs_no_server_or_key() {
    let run = run("");
    let few = |arguments: &[&str]| dry(&run, &[&["--limit", "1"], arguments].concat());
    let first = few(&["--latency", "2"]);
    assert_eq!(few(&["--latency", "2"]), first);
    let asks = |forecast: &Value| {
        let asks = forecast["asks"].as_array().unwrap().iter().filter(|ask| ask["model"] == "served");
        asks.cloned().collect::<Vec<Value>>()
    };
    let reply = asks(&first).into_iter().find(|ask| ask["ask"] == "simulate/test_reply").expect("replies");
    assert!(reply["calls"].as_u64() > Some(2) && reply["basis"] == "assumed", "{reply}");
    assert!(reply["usd"].as_f64() > reply["usd_cached"].as_f64(), "what is cached costs less: {reply}");
    let calls: u32 = asks(&first).iter().map(|ask| u32::try_from(ask["calls"].as_u64().unwrap()).unwrap()).sum();
    let wall = |forecast: &Value| forecast["wall_s"].as_f64().unwrap();
    assert!(wall(&first) > 4.0 && wall(&first) < 2.0 * f64::from(calls), "side by side: {} s", wall(&first));
    // With one call at a time the durations add up.
    let narrow = few(&["--latency", "2", "--set", "models.served.concurrency=1"]);
    assert!((wall(&narrow) - 2.0 * f64::from(calls)).abs() < 0.001, "{calls} calls, {} s", wall(&narrow));
    // A budget that will be reached is reported but does not limit the forecast.
    let slow = ["--latency", "0", "--set", "models.served.requests_per_minute=60", "--set", "budget.max_usd=0.0001"];
    let paced = few(&slow);
    assert!((wall(&paced) - f64::from(calls - 1)).abs() < 0.001, "{calls} calls, {} s", wall(&paced));
    assert_eq!(paced["total"]["calls"], first["total"]["calls"]);
    assert_eq!((&paced["budget"][0]["key"], &paced["budget"][0]["reached"]), (&json!("max_usd"), &json!(true)));
    let output = run.run(&["build", "small.toml", "--dry-run", "--limit", "1"]);
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(
        shown.starts_with("stage ") && shown.contains("simulate/test_reply") && shown.contains("\n      cost  $"),
        "{shown}"
    );
    assert!(!run.path().join("outputs").exists(), "nothing is written");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_limited_run_replaces_assumptions_by_measurements() {
    let server = ScriptedServer::ruled(|_, _| Scripted::content(REPLY)).await;
    let run = run(&server.url());
    run.build(&["--limit", "2"], 0);
    let forecast = dry(&run, &[]);
    let asks = forecast["asks"].as_array().unwrap();
    let measured = asks.iter().find(|ask| ask["model"] == "served" && ask["ask"] == "simulate/scene_reply").unwrap();
    assert!(measured["paid"].as_u64() > Some(5), "{measured}");
    // The server reports two tokens per reply and ten per prompt.
    assert_eq!(measured["basis"], "measured");
    assert_eq!(measured["completion"].as_u64().unwrap(), 2 * measured["calls"].as_u64().unwrap(), "{measured}");
    let each = measured["prompt"].as_u64().unwrap().checked_div(measured["calls"].as_u64().unwrap());
    assert!(each.is_some_and(|each| (6..=15).contains(&each)), "{measured}");
    // Measurements are not used for another model with the same name.
    let other = dry(&run, &["--set", "models.served.model='other'"]);
    assert!(paid(&forecast, "served") > 0 && paid(&other, "served") == 0, "{other}");
    let asks = other["asks"].as_array().unwrap();
    assert!(asks.iter().all(|ask| ask["basis"] != "measured"), "{other}");
}

fn paid(forecast: &Value, model: &str) -> u64 {
    let asks = forecast["asks"].as_array().unwrap();
    asks.iter().filter(|ask| ask["model"] == model).filter_map(|ask| ask["paid"].as_u64()).sum()
}

fn status(run: &TestRun, arguments: &[&str]) -> Value {
    let output = run.run(&[&["status", "outputs/small", "--json"], arguments].concat());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {errors}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn status_shows_a_run_while_it_works_and_afterwards() {
    let server = ScriptedServer::ruled(|_, _| uncounted(REPLY)).await;
    let run = run(&server.url());
    let none = run.run(&["status", "outputs/small"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&none.stderr).contains("hint: give a run folder"));
    server.answer(false);
    let mut child = run.command(&["build", "small.toml", "--quiet"]);
    let mut child = child.stdout(Stdio::null()).spawn().expect("it starts");
    while server.bodies().is_empty() {
        tokio::task::yield_now().await;
    }
    // Its next status reports the waiting requests.
    let working = loop {
        let working = status(&run, &["--no-estimate"]);
        // On a slow machine an earlier stage may still be active.
        let is_there = working["stages"].as_array().unwrap().iter().any(|stage| stage["stage"] == "simulate");
        if is_there && working["in_flight"].as_u64() > Some(0) {
            break working;
        }
    };
    assert_eq!((&working["state"], &working["missing"]), (&json!("running"), &Value::Null));
    assert!(working["stages"].as_array().unwrap().iter().any(|stage| stage["outcome"].is_string()), "{working}");
    assert!(working["rows"]["scenes"].as_u64() > Some(0), "{working}");
    let estimated = status(&run, &[]);
    assert!(estimated["missing"]["calls"].as_u64() > Some(10), "{estimated}");
    assert!(estimated["missing"]["usd"].as_f64() > Some(0.0), "{estimated}");
    server.answer(true);
    assert!(child.wait().expect("it ends").success());
    let done = status(&run, &[]);
    assert_eq!((&done["state"], &done["missing"]), (&json!("done"), &Value::Null));
    let summary = run.build(&[], 0);
    let rows: u64 =
        summary["rows"]["samples"].as_object().map_or(0, |splits| splits.values().filter_map(Value::as_u64).sum());
    assert_eq!(done["rows"]["samples"].as_u64().unwrap_or_default(), rows);
    assert_eq!(done["calls"]["made"], summary["calls"]["journal"]);
    let shown = run.run(&["status", "outputs/small", "--watch"]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.starts_with("outputs/small: done in ") && shown.contains("simulate/test_reply"), "{shown}");
}

#[test]
fn status_shows_why_a_run_stopped_and_what_is_missing() {
    let run = TestRun::new();
    run.build(&["--set", "budget.max_calls=60"], 5);
    let stopped = status(&run, &[]);
    assert_eq!((&stopped["state"], &stopped["calls"]["made"]), (&json!("budget"), &json!(60)));
    assert!(stopped["error"].as_str().unwrap().contains("max_calls = 60"), "{stopped}");
    let missing = stopped["missing"]["calls"].as_u64().unwrap();
    // A run that does not respond is counted from its journal, with the same result.
    let path = run.path().join("outputs/small/status.json");
    let word = std::fs::read_to_string(&path).expect("the run's last word");
    std::fs::write(&path, word.replacen("\"budget\"", "\"running\"", 1)).expect("the same");
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_mins(1);
    let file = std::fs::File::options().append(true).open(&path).expect("the same");
    file.set_modified(long_ago).expect("it is ours");
    let gone = status(&run, &[]);
    assert_eq!((&gone["state"], &gone["calls"]["journal"]), (&json!("gone"), &json!(60)));
    assert_eq!((&gone["usd"], &gone["missing"]["calls"]), (&json!(0.0), &json!(missing)));
    // Without a status the remaining work is unknown, since the configuration is missing.
    std::fs::remove_file(run.path().join("outputs/small/status.json")).expect("the run's last word");
    let unknown = status(&run, &[]);
    assert_eq!((&unknown["state"], &unknown["calls"]["journal"]), (&json!("unknown"), &json!(60)));
    assert_eq!(unknown["missing"], Value::Null);
    let rest = run.build(&[], 0);
    assert_eq!(rest["calls"]["made"].as_u64(), Some(missing), "an offline dry run equals the run");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn faults_and_cacheable_tokens_are_reported_and_a_replay_writes_the_same_manifest() {
    let server = ScriptedServer::ruled(|n, _: &Value| match n % 10 {
        3 => Scripted::Body(429, "retry-after: 0", json!({"error": {"message": "slow down"}}).to_string()),
        7 => Scripted::content(""),
        _ => Scripted::content(REPLY),
    })
    .await;
    let run = run(&server.url());
    let summary = run.build(&[], 0);
    let faults = &summary["faults"]["served"];
    assert!(faults["rate_limited"].as_u64() > Some(0) && faults["empty_reply"].as_u64() > Some(0), "{summary}");
    assert_eq!(summary["reasks"], faults["empty_reply"]);
    assert_eq!(sum(&summary["asks"], "/tokens/cacheable"), summary["tokens"]["cacheable"].as_u64().unwrap());
    assert!(summary["tokens"]["cacheable"].as_u64() > Some(0), "{summary}");
    let read = || std::fs::read_to_string(run.path().join("outputs/small/manifest.json")).expect("a manifest");
    let manifest = read();
    let written: Value = serde_json::from_str(&manifest).expect("JSON");
    assert_eq!(
        written["faults"]["served"],
        json!({"empty_reply": faults["empty_reply"]}),
        "what the journal lacks is not reported"
    );
    assert_eq!((&written["cacheable"], &written["reasks"]), (&summary["tokens"]["cacheable"], &summary["reasks"]));
    let replayed = run.build(&["--replay", "--set", "models.served.concurrency=1"], 0);
    assert_eq!((&replayed["faults"], &replayed["reasks"]), (&json!({}), &summary["reasks"]));
    assert_eq!(read().replace("concurrency = 1\\n", "concurrency = 32\\n"), manifest);
    let shown = String::from_utf8(run.run(&["build", "small.toml", "--replay"]).stdout).unwrap();
    assert!(shown.contains("   retries  ") && shown.contains("of prompt tokens extend an earlier prompt: "), "{shown}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fatal_error_has_a_hint() {
    for (status, message, hint) in [
        (429, "You exceeded your current quota (insufficient_quota)", "the quota is used up"),
        (404, "The model `m` does not exist", "`models.served.model` must be one of them"),
    ] {
        let server = ScriptedServer::ruled(move |_, _| Scripted::error(status, message)).await;
        let run = run(&server.url());
        let output = run.run(&["build", "small.toml", "--limit", "1"]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{errors}");
        assert!(errors.contains(&format!("HTTP {status}")) && errors.contains(hint), "{errors}");
    }
}
