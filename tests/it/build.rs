//! Whole builds: the same bytes again, after any interruption, and from the journal alone.

use serde_json::Value;

use crate::chat::{table, texts};
use crate::support::TestRun;

#[test]
fn a_second_build_makes_no_calls_and_writes_the_same_bytes() {
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
fn a_run_resumes_from_any_part_of_the_journal() {
    let run = TestRun::new();
    run.build(&[], 0);
    let (tables, journal) = (run.tables(), std::fs::read(run.journal()).expect("a journal"));
    // A kill leaves any prefix of the journal, possibly with an incomplete last line.
    for tenth in [0, 3, 8] {
        let cut = journal.len() * tenth / 10 + 7 * tenth;
        std::fs::write(run.journal(), &journal[..cut.min(journal.len())]).expect("a shorter journal");
        let again = run.build(&[], 0);
        assert!(again["calls"]["made"].as_u64() > Some(0), "{again}");
        assert_eq!(run.tables(), tables, "cut at {cut} of {}", journal.len());
    }
}

#[test]
fn a_replay_names_the_missing_call() {
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
fn a_budget_stops_a_run_and_keeps_its_calls() {
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
fn an_added_source_does_not_change_other_lanes() {
    let run = TestRun::new();
    run.build(&[], 0);
    let rows = |run: &TestRun| -> Vec<String> {
        // The journal has every answer with its draw; the lanes of the first source must not draw again.
        std::fs::read_to_string(run.journal()).expect("a journal").lines().map(str::to_owned).collect()
    };
    let before = rows(&run);
    let more = run.build(&["--set", "cast.sources=[\"vivid\", \"reader\"]"], 0);
    let after = rows(&run);
    assert!(after.len() > before.len());
    assert_eq!(after[..before.len()], before[..]);
    assert_eq!(
        more["calls"]["journal"].as_u64(),
        Some(before.iter().filter(|line| line.contains("\"draw\"")).count() as u64)
    );
}

#[test]
fn a_limited_run_is_small_and_its_calls_are_reused() {
    let small_chunks = || {
        let run = TestRun::new();
        run.change("count = { en = 1, zh = 1 }", "count = { en = 4, zh = 3 }\ncharacters_per_world = 3");
        run.change("[simulate]", "[chunk]\nmax_tokens = 2000\n\n[simulate]");
        run
    };
    let made = |summary: &Value| summary["calls"]["made"].as_u64().expect("a count");
    let limited = small_chunks();
    let summary = limited.build(&["--limit", "1"], 0);
    let characters = summary["rows"]["characters"]["train"].as_u64();
    assert_eq!(characters, Some(4), "one that is given and one that is made up in each language: {summary}");
    assert_eq!(summary["rows"]["conversations"]["test"].as_u64(), characters, "one for each lane: {summary}");
    let manifest = std::fs::read_to_string(limited.path().join("outputs/small/manifest.json")).expect("a manifest");
    assert!(manifest.contains("\"limit\": 1,"), "{manifest}");
    // A run without the limit sends the same requests for extraction and synthesis.
    let run = small_chunks();
    let stage = |arguments: &[&str]| -> Value {
        let output = run.run(&[&["synthesize", "small.toml", "--json", "--quiet"], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("one JSON object")
    };
    let (first, rest) = (stage(&["--limit", "1"]), stage(&[]));
    assert!(made(&first) > 4 && made(&rest) > made(&first), "{first} {rest}");
    assert_eq!(rest["calls"]["journal"].as_u64(), Some(made(&first)), "{rest}");
    // The limited run does not change the result of a full run in the same folder.
    let whole = limited.build(&[], 0);
    assert_eq!(whole["calls"]["journal"].as_u64(), Some(made(&summary)), "{whole}");
    run.build(&[], 0);
    assert_eq!(limited.tables(), run.tables());
}

#[test]
fn a_run_reads_only_the_selected_chapters() {
    let run = TestRun::new();
    let book = |language: &str| {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("books");
        root.join(language).display().to_string()
    };
    let extract = |sets: &[&str], code: i32| -> (Vec<Value>, Value) {
        let output = run.run(&[&["extract", "small.toml", "--json", "--quiet"], sets].concat());
        assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
        let summary = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
        let scenes = std::fs::read_to_string(run.path().join("scene_pool/lian-wen-ji.jsonl")).expect("a pool");
        (scenes.lines().map(|line| serde_json::from_str(line).expect("a scene")).collect(), summary)
    };
    let path = book("lian_wen_ji.txt");
    let (whole, _) = extract(&[&format!("--set=books.paths=['{path}']")], 0);
    let (some, summary) = extract(&[&format!("--set=books.paths=[{{path='{path}', chapters='2-3, 7'}}]")], 0);
    assert!(!some.is_empty() && some.len() < whole.len(), "{} of {}", some.len(), whole.len());
    assert!(summary["rejected"]["chunk"].as_u64() >= Some(3), "{summary}");
    let chapters: std::collections::BTreeSet<&str> =
        some.iter().filter_map(|scene| scene["chapter"].as_str()).collect();
    let of = |number: &str| chapters.iter().any(|chapter| chapter.starts_with(number));
    assert!(of("第二回") && of("第三回") && of("第七回") && chapters.len() == 3, "{chapters:?}");
    // No scene spans an unselected chapter.
    let text = std::fs::read_to_string(&path).expect("shipped");
    let points = |until: &str| text[..text.find(&format!("\n{until}")).expect(until)].chars().count() as u64 + 1;
    let (first, second) = ((points("第二回"), points("第四回")), (points("第七回"), points("第八回")));
    for scene in &some {
        let within =
            |(start, end): (u64, u64)| scene["start"].as_u64() >= Some(start) && scene["end"].as_u64() <= Some(end);
        assert!(within(first) || within(second), "{} to {}", scene["start"], scene["end"]);
    }
}

#[test]
fn books_with_the_same_slug_are_an_error_or_rejected() {
    let run = TestRun::new();
    let line = |title: &str, content: &str| serde_json::json!({"title": title, "content": content}).to_string();
    let talk = "“Is it you?” said Anna.\n\n“It is,” said Boris.\n\n".repeat(9);
    std::fs::write(run.path().join("a.jsonl"), line("Low Tide", &talk)).expect("a book");
    std::fs::write(run.path().join("b.jsonl"), line("Low Tide", &talk)).expect("the same book");
    let both = "--set=books.paths=['a.jsonl', 'b.jsonl']";
    let chunk = |code: i32| {
        let output = run.run(&["chunk", "small.toml", both, "--json", "--quiet"]);
        assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
        std::fs::read_to_string(run.path().join("outputs/small/rejected/chunk.jsonl")).expect("rejects")
    };
    let rejected = chunk(0);
    assert!(rejected.contains("\"duplicate\"") && rejected.contains("`b.jsonl`"), "{rejected}");
    std::fs::write(run.path().join("b.jsonl"), line("Low tide!", &format!("{talk}Another.\n"))).expect("another book");
    let rejected = chunk(3);
    assert!(rejected.contains("\"same_slug\"") && rejected.contains("`b.jsonl`"), "{rejected}");
}

#[test]
fn no_row_quotes_more_of_a_book_than_allowed() {
    let run = TestRun::new();
    let whole = run.build(&[], 0);
    let summary = run.build(&["--set", "export.max_quote_chars=24", "--set", "export.canary=\"canary 3f9a0c\""], 0);
    assert_eq!(
        (&summary["calls"]["made"], &summary["rows"]),
        (&Value::from(0), &whole["rows"]),
        "the same rows without calls"
    );
    let dataset = run.path().join("outputs/small/dataset");
    let card = std::fs::read_to_string(dataset.join("README.md")).expect("a card");
    assert!(card.contains("more than 24 code points of a book") && card.contains("`canary 3f9a0c`"), "{card}");
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for (book, language) in [("forty_kilos_short.fountain", "en"), ("lian_wen_ji.txt", "zh")] {
        let text = std::fs::read_to_string(root.join("books").join(book)).expect("a shipped book");
        let windows: std::collections::BTreeSet<String> = windows(&text, 25).collect();
        let mut cut = 0;
        let samples = table(&run, "samples", "test");
        let languages = texts(&samples, "language");
        for column in ["reference", "baseline", "situation", "worldview"] {
            for (text, spoken) in texts(&samples, column).into_iter().zip(&languages) {
                let Some(text) = text.filter(|_| spoken.as_deref() == Some(language)) else { continue };
                let found = self::windows(&text, 25).find(|window| windows.contains(window));
                assert_eq!(found, None, "{text}");
                cut += usize::from(text.contains("[…]"));
            }
        }
        assert!(cut > 0, "nothing of {book} was too long");
    }
}

/// Returns every stretch of so many code points of a text.
fn windows(text: &str, width: usize) -> impl Iterator<Item = String> {
    let chars: Vec<char> = text.chars().collect();
    (width..=chars.len()).map(move |end| chars[end - width..end].iter().collect())
}
