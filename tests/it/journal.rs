//! The command `journal`: what people see of the calls of a run.

use serde_json::Value;

use crate::support::TestRun;

fn shown(run: &TestRun, arguments: &[&str], code: i32) -> String {
    let output = run.run(&[&["journal"], arguments].concat());
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{errors}");
    if code == 0 { String::from_utf8(output.stdout).expect("text") } else { errors }
}

#[test]
fn a_journal_is_shown_whole_and_in_parts() {
    let run = TestRun::new();
    let output = run.run(&["extract", "small.toml", "--json", "--quiet", "--limit", "1"]);
    let left: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    let made = left["calls"]["made"].as_u64().expect("a count");

    let stats: Value =
        serde_json::from_str(&shown(&run, &["stats", "outputs/small", "--json"], 0)).expect("one JSON object");
    assert_eq!(stats["records"].as_u64(), Some(made));
    assert_eq!(stats["total"]["prompt"], left["tokens"]["prompt"]);
    assert_eq!(stats["total"]["completion"], left["tokens"]["completion"]);
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
    let content = zh["request"]["messages"][1]["content"].as_str().expect("the text stands in it");
    assert!(content.contains("第一回"), "{content}");

    let key = zh["key"].as_str().expect("a key");
    let by_key = shown(&run, &["show", "outputs/small", &key[..12]], 0);
    assert!(by_key.starts_with("extract/scenes  lian-wen-ji/0/scenes") && by_key.contains("第一回"), "{by_key}");
    assert_eq!(lines(&shown(&run, &["show", "outputs/small", key, "--json"], 0)), std::slice::from_ref(zh));
    let below = lines(&shown(&run, &["show", "outputs/small", "lian-wen-ji/0", "--json"], 0));
    assert!(below.contains(zh), "a draw's beginning shows all below it");
    assert!(below.iter().all(|record| record["draw"].as_str().is_some_and(|draw| draw.starts_with("lian-wen-ji/0/"))));
}

#[test]
fn what_is_no_journal_is_told_with_a_hint() {
    let run = TestRun::new();
    let errors = shown(&run, &["stats", "outputs/nothing"], 2);
    assert!(errors.contains("outputs/nothing") && errors.contains("hint: name a run's folder"), "{errors}");
    let errors = shown(&run, &["export", "small.toml"], 2);
    assert!(errors.contains("`small.toml`: it is no journal"), "{errors}");
    run.run(&["chunk", "small.toml", "--quiet"]);
    let errors = shown(&run, &["show", "outputs/small", "00"], 2);
    assert!(errors.contains("no call has the key or the draw `00`"), "{errors}");
}
