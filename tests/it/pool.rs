//! The scene pool: what a run writes, what users change, and the command `pool`.

use std::path::Path;

use serde_json::Value;

use crate::support::TestRun;

const OWN: &str = r#"# Mine.
id = "渡口夜话"
book = "custom"
language = "zh"
situation = "夜里，渡口，两个人等船，谁也不先开口。"
[[characters]]
name = "老周"
[[characters]]
name = "阿满"
[[dialogue]]
speaker = "老周"
speech = "船还来么？"
"#;

struct Shown {
    code: Option<i32>,
    out: String,
    errors: String,
}

fn shown(run: &TestRun, arguments: &[&str]) -> Shown {
    let output = run.run(&[&["pool"], arguments].concat());
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Shown { code: output.status.code(), out: text(output.stdout), errors: text(output.stderr) }
}

/// Runs a command that must succeed and parses each line as JSON.
fn json(run: &TestRun, arguments: &[&str]) -> Vec<Value> {
    let Shown { code, out, errors } = shown(run, &[arguments, &["--json"]].concat());
    assert_eq!((code, errors.as_str()), (Some(0), ""), "{arguments:?}");
    out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn extracted() -> TestRun {
    let run = TestRun::new();
    let output = run.run(&["extract", "small.toml", "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    run
}

fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
    names.sort();
    names
}

#[test]
fn an_extracted_pool_can_be_listed_shown_counted_and_is_valid() {
    let run = extracted();
    let scenes = json(&run, &["list"]);
    assert!(scenes.len() > 10, "{scenes:?}");
    assert!(scenes.windows(2).all(|pair| pair[0]["id"].as_str() < pair[1]["id"].as_str()));
    for scene in &scenes {
        assert!(scene["kind"] == "book" && scene["lines"].as_u64() > Some(1), "{scene}");
        assert!(scene["cast"].as_array().is_some_and(|cast| !cast.is_empty()), "{scene}");
    }
    let plain = shown(&run, &["list"]);
    assert_eq!(plain.out.lines().count(), scenes.len());
    assert!(!plain.out.contains('\u{1b}') && plain.errors.is_empty());
    for language in ["en", "zh"] {
        let some = json(&run, &["list", "small.toml", "--language", language]);
        assert!(!some.is_empty() && some.len() < scenes.len(), "{language}");
        assert!(some.iter().all(|scene| scene["language"] == language));
        let id = some[0]["id"].as_str().expect("an id");
        let scene = &json(&run, &["show", id])[0];
        assert_eq!(scene["id"], id);
        let text = shown(&run, &["show", id]).out;
        let speech =
            scene["dialogue"].as_array().and_then(|lines| lines.iter().find_map(|line| line["speech"].as_str()));
        assert!(text.contains(speech.expect("the scene has speech")), "{text}");
        let book = some[0]["book"].as_str().expect("a book");
        assert_eq!(json(&run, &["list", "--book", book]), some, "{book}");
    }
    // Offline salience differs between scenes, and lists can be sorted by it.
    let by = |sort: &str, key: &str| -> Vec<f64> {
        let scenes = json(&run, &["list", "--sort", sort]);
        scenes.iter().map(|scene| scene[key].as_f64().expect("a number")).collect()
    };
    let salience = by("salience", "salience");
    assert_eq!(salience.len(), scenes.len());
    assert!(salience.is_sorted_by(|one, next| one >= next), "{salience:?}");
    assert!(salience[0] <= 100.0 && salience[0] > salience[salience.len() - 1], "{salience:?}");
    assert!(by("lines", "lines").is_sorted_by(|one, next| one >= next));
    assert!(by("grounding", "grounding").is_sorted());
    let stats = &json(&run, &["stats"])[0];
    assert_eq!(stats["scenes"], scenes.len());
    assert_eq!(stats["books"].as_array().map(Vec::len), Some(2), "{stats}");
    assert!(shown(&run, &["stats"]).out.contains("forty-kilos-short"));
    let checked = shown(&run, &["check"]);
    assert_eq!((checked.code, checked.errors.as_str()), (Some(0), ""), "{}", checked.out);
    assert!(checked.out.ends_with(", no problems\n"), "{}", checked.out);
    let missing = shown(&run, &["show", "forty-kilos-shrt@0"]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.errors.contains("did you mean `forty-kilos-short@"), "{}", missing.errors);
}

#[test]
fn an_edited_scene_file_survives_later_runs() {
    let run = extracted();
    let path = run.path().join("scene_pool/forty-kilos-short.jsonl");
    let written = std::fs::read_to_string(&path).expect("the book's scenes");
    let mut scenes: Vec<Value> = written.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    scenes[0]["summary"] = "Mine.".into();
    let mine: String = scenes.iter().map(|scene| format!("{scene}\n")).collect();
    std::fs::write(&path, &mine).expect("written");
    // Another extraction would write other scenes.
    let arguments = ["extract", "small.toml", "--set", "extract.max_utterances=6"];
    let output = run.run(&arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    assert!(errors.contains("forty-kilos-short.jsonl` was edited and is kept"), "{errors}");
    assert_eq!(std::fs::read_to_string(&path).expect("the book's scenes"), mine);
    let id = scenes[0]["id"].as_str().expect("an id");
    assert_eq!(json(&run, &["show", id])[0]["summary"], "Mine.");
    run.build(&[], 0);
    assert_eq!(std::fs::read_to_string(&path).expect("the book's scenes"), mine);
    // An unchanged file is written again, and so is one that was deleted.
    std::fs::remove_file(&path).expect("removed");
    assert_eq!(run.run(&arguments).status.code(), Some(0));
    let anew = std::fs::read_to_string(&path).expect("the book's scenes");
    assert!(anew != written && anew != mine);
    assert_eq!(run.run(&["extract", "small.toml", "--quiet"]).status.code(), Some(0));
    assert_eq!(std::fs::read_to_string(&path).expect("the book's scenes"), written);
}

#[test]
fn an_edit_survives_a_new_extraction() {
    let run = extracted();
    let id = json(&run, &["list"])[0]["id"].as_str().expect("an id").to_owned();
    let mut scene = json(&run, &["show", &id]).remove(0);
    scene["summary"] = "Mine.".into();
    let edits = run.path().join("scene_pool/edits");
    std::fs::create_dir(&edits).expect("a folder");
    std::fs::write(edits.join("mine.jsonl"), format!("\u{feff}{scene}\r\n")).expect("written");
    assert_eq!(
        run.run(&["extract", "small.toml", "--quiet", "--set", "extract.max_utterances=9"]).status.code(),
        Some(0)
    );
    assert_eq!(json(&run, &["show", &id])[0]["summary"], "Mine.");
    let edited = json(&run, &["list", "--kind", "edit"]);
    assert_eq!((edited.len(), edited[0]["line"].as_u64()), (1, Some(1)));
}

#[test]
fn custom_scenes_are_added_once() {
    let run = TestRun::new();
    std::fs::write(run.path().join("mine.toml"), OWN).expect("written");
    let added = json(&run, &["add", "mine.toml"]);
    assert_eq!(added[0]["scenes"][0]["outcome"], "added");
    let path = run.path().join("scene_pool/custom/渡口夜话.toml");
    assert_eq!(std::fs::read_to_string(&path).expect("the scene"), OWN, "comments and all");
    assert_eq!(json(&run, &["add", "mine.toml"])[0]["scenes"][0]["outcome"], "unchanged");
    let other = OWN.replace("船还来么？", "船不来了。");
    std::fs::write(run.path().join("mine.toml"), &other).expect("written");
    let refused = shown(&run, &["add", "mine.toml"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.errors.contains("--replace") && refused.out.is_empty(), "{}", refused.errors);
    assert_eq!(std::fs::read_to_string(&path).expect("the scene"), OWN);
    assert_eq!(json(&run, &["add", "mine.toml", "--replace"])[0]["scenes"][0]["outcome"], "replaced");
    assert_eq!(std::fs::read_to_string(&path).expect("the scene"), other);
    std::fs::write(run.path().join("mine.toml"), other.replace("speaker = \"老周\"", "speaker = \"老邹\""))
        .expect("written");
    let faulty = shown(&run, &["add", "mine.toml", "--replace"]);
    assert_eq!(faulty.code, Some(3));
    assert!(faulty.errors.contains("mine.toml:11:11: dialogue[0].speaker: `老邹` speaks"), "{}", faulty.errors);
    assert_eq!(std::fs::read_to_string(&path).expect("the scene"), other);
    assert_eq!(files(&run.path().join("scene_pool/custom")), ["渡口夜话.toml"]);
    let missing = shown(&run, &["add", "mien.toml"]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.errors.contains("did you mean `mine.toml`?"), "{}", missing.errors);
}

#[test]
fn findings_have_positions_and_exit_code_3() {
    let run = extracted();
    let path = run.path().join("scene_pool/forty-kilos-short.jsonl");
    let written = std::fs::read_to_string(&path).expect("the book's scenes");
    let mut lines: Vec<String> = written.lines().map(str::to_owned).collect();
    lines[1] = lines[1].replacen("\"situation\"", "\"sitaution\"", 1);
    lines.push(lines[0].clone());
    std::fs::write(&path, lines.join("\n")).expect("written");
    let Shown { code, out, errors } = shown(&run, &["check"]);
    assert_eq!((code, errors.as_str()), (Some(3), ""), "{out}");
    assert!(out.contains("scene_pool/forty-kilos-short.jsonl:2:"), "{out}");
    assert!(out.contains("unknown key `sitaution`") && out.contains("did you mean `situation`?"), "{out}");
    assert!(out.contains(&format!("short.jsonl:{}:7: id: the id `", lines.len())), "{out}");
    let found = shown(&run, &["check", "--json"]);
    let found: Value = serde_json::from_str(&found.out).expect("one object");
    assert_eq!(found["findings"].as_array().map(Vec::len), Some(3), "{found}");
    // `list` shows valid scenes and reports the others; a run does not start.
    let listed = shown(&run, &["list"]);
    assert_eq!(listed.code, Some(3));
    assert!(listed.out.lines().count() > 5 && listed.errors.contains("dramaturg pool check"), "{}", listed.errors);
    let output = run.run(&["extract", "small.toml"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(
        errors.contains("line 2: unknown field `sitaution`") && errors.contains("dramaturg pool check"),
        "{errors}"
    );
}

#[test]
fn api_keys_damaged_text_and_private_attributes_are_found() {
    let run = extracted();
    assert_eq!(shown(&run, &["check"]).code, Some(0), "an extracted pool is valid");
    let pool = run.path().join("scene_pool");
    let key = format!("ghp_{}", "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY3zA5");
    let mut expected = Vec::new();
    for name in files(&pool).iter().filter(|name| name.rsplit_once('.').is_some_and(|(_, ending)| ending == "jsonl")) {
        let text = std::fs::read_to_string(pool.join(name)).expect("scenes");
        let mut scenes: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let language = scenes[0]["language"].clone();
        let (owes, planted) = if language == "zh" {
            ("欠船家十一块大洋", "夜里。")
        } else {
            ("Owes the ferryman eleven crowns", "Night. ")
        };
        let private = serde_json::json!({"key": "debt", "value": format!("{owes}."), "visibility": "private"});
        scenes[1]["characters"][0]["profile"].as_array_mut().expect("a profile").push(private);
        scenes[1]["situation"] = format!("{planted}{owes}.").into();
        scenes[2]["summary"] = format!("{planted}{key}").into();
        scenes[3]["dialogue"][0]["speech"] = format!("{planted}\u{fffd}").into();
        scenes[4]["chapter"] = format!("{planted}\0").into();
        let lines: Vec<String> = scenes.iter().map(Value::to_string).collect();
        std::fs::write(pool.join(name), lines.join("\n")).expect("written");
        let path = format!("scene_pool/{name}");
        for (line, check, field) in [
            (2, "private", "situation"),
            (3, "secret", "summary"),
            (4, "text", "dialogue[0].speech"),
            (5, "text", "chapter"),
        ] {
            expected.push((
                check.to_owned(),
                path.clone(),
                line,
                field.to_owned(),
                scenes[usize::try_from(line).expect("a line") - 1]["id"].to_string(),
            ));
        }
    }
    std::fs::create_dir_all(pool.join("aliases")).expect("a folder");
    std::fs::write(pool.join("aliases/own.toml"), format!("people = []\n# {key}\n")).expect("written");
    std::fs::write(pool.join("aliases/raw.toml"), b"people = []\n# \xba\xec\n").expect("written");
    for arguments in [["pool", "check", "scene_pool", "--json"].as_slice(), &["check", "scene_pool", "--json"]] {
        let output = run.run(arguments);
        assert_eq!(output.status.code(), Some(3));
        let printed: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let mut found = Vec::new();
        for finding in printed["findings"].as_array().expect("findings") {
            assert!(finding["remedy"].as_str().is_some_and(|remedy| !remedy.is_empty()), "{finding}");
            assert!(!finding.to_string().contains(&key), "a key is not shown whole: {finding}");
            let text = |name: &str| finding[name].as_str().unwrap_or_default().to_owned();
            let line = finding["line"].as_u64().expect("a line");
            found.push((text("check"), text("path"), line, text("field"), finding["scene"].to_string()));
        }
        let of_people: Vec<_> = found.split_off(found.len() - 2);
        assert_eq!(found, expected);
        let of_people: Vec<_> =
            of_people.iter().map(|(check, path, line, ..)| (check.as_str(), path.as_str(), *line)).collect();
        assert_eq!(
            of_people,
            [("secret", "scene_pool/aliases/own.toml", 2), ("file", "scene_pool/aliases/raw.toml", 2)]
        );
    }
    let printed = shown(&run, &["check"]).out;
    assert!(printed.contains("revoke the key") && printed.contains("make the attribute public"), "{printed}");
    // A scene with an API key is not added.
    std::fs::write(run.path().join("mine.toml"), OWN.replace("# Mine.", &format!("# {key}"))).expect("written");
    let refused = shown(&run, &["add", "mine.toml"]);
    assert_eq!(refused.code, Some(3), "{}", refused.errors);
    assert!(refused.errors.contains("a GitHub token"), "{}", refused.errors);
}

#[test]
fn a_missing_pool_is_an_error() {
    let run = TestRun::new();
    for arguments in [["list", "nowhere"].as_slice(), &["check"], &["stats"], &["show", "a@1", "nowhere"]] {
        let Shown { code, out, errors } = shown(&run, arguments);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(errors.contains("no pool `") && errors.contains("dramaturg extract"), "{errors}");
    }
    assert!(!run.path().join("scene_pool").exists(), "none of the commands creates the pool");
}
