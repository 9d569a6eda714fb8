//! The journal of a run: the `journal` commands, crashes, damage and full disks.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dramaturg::llm::{Journal as _, Record};
use dramaturg::store::{FileJournal, JournalOptions, JournalView};
use serde_json::Value;

use crate::support::{Scripted, ScriptedServer, TestRun};

fn shown(run: &TestRun, arguments: &[&str], code: i32) -> String {
    let output = run.run(&[&["journal"], arguments].concat());
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{errors}");
    if code == 0 { String::from_utf8(output.stdout).expect("text") } else { errors }
}

#[test]
fn stats_show_and_export_print_the_journal() {
    let run = TestRun::new();
    let output = run.run(&["extract", "small.toml", "--json", "--quiet", "--limit", "1"]);
    let summary: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    let made = summary["calls"]["made"].as_u64().expect("a count");

    let stats: Value =
        serde_json::from_str(&shown(&run, &["stats", "outputs/small", "--json"], 0)).expect("one JSON object");
    assert_eq!(stats["records"].as_u64(), Some(made));
    assert_eq!(stats["total"]["prompt"], summary["tokens"]["prompt"]);
    assert_eq!(stats["total"]["completion"], summary["tokens"]["completion"]);
    let asks: u64 = stats["asks"].as_array().expect("asks").iter().filter_map(|ask| ask["records"].as_u64()).sum();
    assert_eq!(asks, made);
    let table = shown(&run, &["stats", "outputs/small/journal.jsonl"], 0);
    assert!(table.contains("extract/scenes") && table.contains(&format!("{made} records")), "{table}");

    let lines =
        |text: &str| -> Vec<Value> { text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect() };
    let all = lines(&shown(&run, &["export", "outputs/small"], 0));
    assert_eq!(all.len() as u64, made);
    let scenes = lines(&shown(&run, &["export", "outputs/small", "--ask", "extract/scenes"], 0));
    assert!(!scenes.is_empty() && scenes.iter().all(|record| record["ask"] == "extract/scenes"));
    let zh = scenes.iter().find(|record| record["draw"] == "lian-wen-ji/0/scenes").expect("the Chinese book's");
    let content = zh["request"]["messages"][1]["content"].as_str().expect("it contains the text");
    assert!(content.contains("第一回"), "{content}");

    let key = zh["key"].as_str().expect("a key");
    let by_key = shown(&run, &["show", "outputs/small", &key[..12]], 0);
    assert!(by_key.starts_with("extract/scenes  lian-wen-ji/0/scenes") && by_key.contains("第一回"), "{by_key}");
    assert_eq!(lines(&shown(&run, &["show", "outputs/small", key, "--json"], 0)), std::slice::from_ref(zh));
    let below = lines(&shown(&run, &["show", "outputs/small", "lian-wen-ji/0", "--json"], 0));
    assert!(below.contains(zh), "a prefix of a draw selects all calls below it");
    assert!(below.iter().all(|record| record["draw"].as_str().is_some_and(|draw| draw.starts_with("lian-wen-ji/0/"))));
}

#[test]
fn a_folder_without_a_journal_is_an_error_with_a_hint() {
    let run = TestRun::new();
    let errors = shown(&run, &["stats", "outputs/nothing"], 2);
    assert!(errors.contains("outputs/nothing") && errors.contains("hint: give a run folder"), "{errors}");
    let errors = shown(&run, &["export", "small.toml"], 2);
    assert!(errors.contains("`small.toml`: not a dramaturg journal"), "{errors}");
    run.run(&["chunk", "small.toml", "--quiet"]);
    let errors = shown(&run, &["show", "outputs/small", "00"], 2);
    assert!(errors.contains("no call with key or draw `00`"), "{errors}");
}

/// Makes a run whose base model is played by a server, four calls at once; all others are offline.
fn served(url: &str) -> TestRun {
    let run = TestRun::new();
    run.change(
        "[cast]",
        "[models.served]\nprovider = \"openai\"\nmodel = \"m\"\nmax_tries = 1\nconcurrency = 4\n\n[cast]",
    );
    run.change("base = \"reader\"", "base = \"served\"");
    let dot_env = format!("OPENAI_BASE_URL={url}\nOPENAI_API_KEY=sk-test\n");
    std::fs::write(run.path().join(".env"), dot_env).expect("the file `.env`");
    run
}

/// Returns a reply that depends only on the request.
fn reply(body: &Value) -> Scripted {
    let asked = body["messages"].to_string().bytes().map(usize::from).sum::<usize>();
    Scripted::content(&format!("(nods) I have heard that said {asked} times before, and I do not hold with it."))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_build_killed_repeatedly_pays_for_no_answer_twice() {
    const KILLS: usize = 3;
    let server = ScriptedServer::ruled(|_, body| reply(body)).await;
    let whole = served(&server.url());
    whole.build(&[], 0);
    let total = server.bodies().len();
    assert!(total > 5 * KILLS, "{total}");
    // After a number of requests the server stops answering, so the build waits with calls in flight.
    let (answers, stalled) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (limit, ignored) = (Arc::clone(&answers), Arc::clone(&stalled));
    let server = ScriptedServer::ruled(move |n, body| {
        if n < limit.load(Ordering::Relaxed) {
            return reply(body);
        }
        ignored.fetch_add(1, Ordering::Relaxed);
        Scripted::Stalled
    });
    let server = server.await;
    let answered = || server.bodies().len() - stalled.load(Ordering::Relaxed);
    let run = served(&server.url());
    let mut lost = 0;
    for kill in 1..=KILLS {
        // At irregular intervals, and before the run ends.
        let until = server.bodies().len() + kill * 7 % 5 * total / 20;
        answers.store(until, Ordering::Relaxed);
        let mut build = run.command(&["build", "small.toml", "--quiet"]).spawn().expect("it starts");
        while server.bodies().len() <= until {
            assert!(build.try_wait().expect("it is ours").is_none(), "the build ended before kill {kill}");
            tokio::task::yield_now().await;
        }
        build.kill().expect("it can be killed");
        build.wait().expect("it ends");
        let view = JournalView::open(&run.journal()).expect("a journal");
        let kept = view.records().filter(|record| record.as_ref().is_ok_and(|record| record.model == "served")).count();
        assert!((lost..=lost + 4).contains(&(answered() - kept)), "{} answered, {kept} kept, {lost} lost", answered());
        lost = answered() - kept;
    }
    answers.store(usize::MAX, Ordering::Relaxed);
    let rest = run.build(&[], 0);
    assert!(rest["calls"]["journal"].as_u64() > Some(0), "{rest}");
    assert_eq!(run.tables(), whole.tables());
    // Requests that arrived during the last kill may be answered later.
    assert!(answered() <= total + lost + 4, "{} answers for {total} calls, {lost} of them lost", answered());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_folder_is_locked_by_one_process() {
    let server = ScriptedServer::ruled(|_, body| reply(body)).await;
    let run = served(&server.url());
    server.answer(false);
    let first = run.command(&["build", "small.toml", "--quiet"]).spawn().expect("it starts");
    while server.bodies().is_empty() {
        tokio::task::yield_now().await;
    }
    let second = run.run(&["build", "small.toml"]);
    let errors = String::from_utf8_lossy(&second.stderr).into_owned();
    assert_eq!(second.status.code(), Some(2), "{errors}");
    assert!(errors.contains(&format!("`outputs/small` is in use by process {}", first.id())), "{errors}");
    assert!(errors.contains("hint: wait for it") && errors.contains("`dramaturg status outputs/small`"), "{errors}");
    let stats = shown(&run, &["stats", "outputs/small"], 0);
    assert!(stats.contains("extract/scenes"), "people may look at it meanwhile: {stats}");
    server.answer(true);
    assert!(first.wait_with_output().expect("it ends").status.success());
}

#[test]
fn closed_segments_are_read_like_the_open_one() {
    let run = TestRun::new();
    let first = run.build(&[], 0);
    let (tables, exported) = (run.tables(), shown(&run, &["export", "outputs/small"], 0));
    let table = shown(&run, &["stats", "outputs/small"], 0);
    assert!(table.contains(" bytes in 1 file, "), "{table}");
    // With segments of one byte, each record fills its segment.
    let options = JournalOptions { segment_bytes: 1, ..JournalOptions::default() };
    let journal = FileJournal::open_with(&run.journal(), options).expect("the journal");
    let record: Record = serde_json::from_str(exported.lines().next().expect("a call")).expect("a record");
    let more = Record { key: "0".repeat(32), draw: "another".to_owned(), ..record };
    let write = journal.write(more.clone());
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(write).expect("it is written");
    drop(journal);
    let closed = run.journal().with_file_name("journal.000001.jsonl.zst");
    let lines = std::fs::read_to_string(run.journal()).expect("the open file");
    assert_eq!((closed.exists(), lines.lines().count()), (true, 1), "all is in the closed file: {lines}");
    let table = shown(&run, &["stats", "outputs/small"], 0);
    assert!(table.contains(" bytes in 2 files, "), "{table}");
    let all = shown(&run, &["export", "outputs/small"], 0);
    assert_eq!(all, format!("{exported}{}\n", serde_json::to_string(&more).expect("JSON")));
    assert!(shown(&run, &["show", "outputs/small", "another"], 0).starts_with(&more.ask));
    let again = run.build(&[], 0);
    assert_eq!((again["calls"]["made"].as_u64(), &again["calls"]["journal"]), (Some(0), &first["calls"]["made"]));
    assert_eq!(run.tables(), tables);
    std::fs::remove_file(closed).expect("the segment exists");
    let output = run.run(&["build", "small.toml"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("journal.000001.jsonl.zst`: later journal segments exist"), "{errors}");
}

#[test]
fn damage_is_reported_and_only_the_damaged_calls_are_repeated() {
    let run = TestRun::new();
    run.build(&[], 0);
    let tables = run.tables();
    let text = std::fs::read_to_string(run.journal()).expect("a journal");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let record = lines.iter().position(|line| line.contains("\"record\"")).expect("a record");
    lines[record] = lines[record].replacen("\"latency_ms\"", "\"latency_mz\"", 1);
    lines.insert(record + 2, "a line that somebody wrote".to_owned());
    std::fs::write(run.journal(), lines.join("\n") + "\n").expect("the journal");
    let output = run.run(&["build", "small.toml"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    assert!(errors.contains("skipped 2 damaged entries in the journal"), "{errors}");
    assert!(String::from_utf8_lossy(&output.stdout).contains(" 1 made, "), "{output:?}");
    assert_eq!(run.tables(), tables);
    let table = shown(&run, &["stats", "outputs/small"], 0);
    assert!(table.contains("2 damaged sections"), "{table}");
}

#[test]
fn a_newer_journal_and_a_file_in_place_of_the_folder_are_errors() {
    let run = TestRun::new();
    let refused = |expected: &str| {
        let output = run.run(&["build", "small.toml"]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(errors.contains(expected) && errors.contains("hint: fix the problem and run"), "{errors}");
    };
    std::fs::create_dir_all(run.path().join("outputs")).expect("a folder");
    std::fs::write(run.path().join("outputs/small"), "a note").expect("a file");
    refused("error: failed to create the folder `outputs/small`");
    std::fs::remove_file(run.path().join("outputs/small")).expect("the file");
    std::fs::create_dir(run.path().join("outputs/small")).expect("a folder");
    let newer = "{\"dramaturg_journal\":3,\"segment\":1}\n{\"what\":\"is this?\"}\n";
    std::fs::write(run.journal(), newer).expect("a file");
    refused("format version 3 is newer than the latest supported version 2");
    assert_eq!(std::fs::read_to_string(run.journal()).expect("the journal exists"), newer, "it stays as it is");
}

#[cfg(unix)]
#[test]
fn a_full_disk_ends_the_run_and_the_next_one_resumes() {
    let whole = TestRun::new();
    whole.build(&[], 0);
    let run = TestRun::new();
    // No file may grow to the length of the journal; blocks have 512 bytes, or 1,024 in some shells.
    let blocks = std::fs::metadata(whole.journal()).expect("a journal").len() * 3 / 4 / 1024;
    let limited = |arguments: &[&str]| {
        let mut command = std::process::Command::new("sh");
        let program = run.command(&[]).get_program().to_owned();
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        command.args(["-c", &script]).arg(program).args(arguments);
        command.current_dir(run.path()).env_clear().output().expect("it runs")
    };
    for _ in 0..2 {
        let output = limited(&["build", "small.toml"]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(errors.contains("error: failed to write the journal `outputs/small/journal.jsonl`"), "{errors}");
        assert!(errors.contains("answered calls are kept"), "{errors}");
        assert!(!run.path().join("outputs/small/dataset").exists(), "no partial result is left");
    }
    let rest = run.build(&[], 0);
    assert!(rest["calls"]["journal"].as_u64() > Some(10), "{rest}");
    assert_eq!(run.tables(), whole.tables());
    let stats: Value = serde_json::from_str(&shown(&run, &["stats", "outputs/small", "--json"], 0)).expect("JSON");
    assert_eq!(stats["damaged"], 0, "the incomplete line was removed");
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_ends_the_run() {
    use std::os::unix::fs::PermissionsExt as _;
    let run = TestRun::new();
    run.build(&["--limit", "1"], 0);
    let (folder, journal) = (run.path().join("outputs/small"), std::fs::read(run.journal()).expect("a journal"));
    let permit = |mode| {
        for path in [run.journal(), folder.join(".lock"), folder.clone()] {
            let mode = if path.is_dir() { mode | 0o111 } else { mode };
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("it is ours");
        }
    };
    permit(0o444);
    let may_write_anywhere = std::fs::write(folder.join("probe"), "").is_ok();
    let stats = shown(&run, &["stats", "outputs/small"], 0);
    let output = run.run(&["build", "small.toml", "--limit", "1", "--set", "seed=12"]);
    permit(0o644);
    assert!(stats.contains("extract/scenes"), "looking at it needs no right to write: {stats}");
    let errors = String::from_utf8_lossy(&output.stderr);
    // The superuser can write anywhere.
    assert_eq!(output.status.code(), Some(i32::from(!may_write_anywhere)), "{errors}");
    if !may_write_anywhere {
        assert!(
            errors.contains("error: failed to open `outputs/small/.lock`") && errors.contains("caused by:"),
            "{errors}"
        );
        assert_eq!(std::fs::read(run.journal()).expect("a journal"), journal);
    }
}
