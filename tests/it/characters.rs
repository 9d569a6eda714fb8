//! Established test characters end to end: main characters of a novel, import and export of cards.

use std::path::Path;

use base64::Engine as _;
use serde_json::{Value, json};

use crate::support::TestRun;

const ENGLISH: &str = include_str!("../fixtures/skerry.txt");

const CHINESE: &str = include_str!("../fixtures/ferry_crossing.txt");

/// Makes a run over one novel. The pipeline file names only the sources of its characters.
fn run(book: &str, text: &str, established: &str) -> TestRun {
    let run = TestRun::new();
    std::fs::write(run.path().join(book), text).expect("a book");
    let file = format!(
        "name = \"small\"\nseed = 11\nbooks = {{ paths = [\"{book}\"] }}\n\n[models.reader]\nprovider = \"offline\"\n\
         [models.vivid]\nprovider = \"offline\"\nvariant = \"vivid\"\ncandidates = 32\n\n[cast]\nextractor = \"reader\"\n\
         synthesizers = [\"reader\"]\ndirector = \"reader\"\nscene = \"reader\"\nsources = [\"vivid\"]\nbase = \"reader\"\n\
         judge = \"reader\"\n\n[synthesize]\nestablished = {established}\ncount = {{ en = 0, zh = 0 }}\n\n[simulate]\ntau = 1\n\
         max_turns = 10\nmax_conversations = 2\n"
    );
    std::fs::write(run.path().join("small.toml"), file).expect("the pipeline file");
    run
}

fn rejects(run: &TestRun, stage: &str) -> Vec<Value> {
    let path = run.path().join(format!("outputs/small/rejected/{stage}.jsonl"));
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect("a reject")).collect()
}

/// Returns the cards that the program prints.
fn cards(run: &TestRun, arguments: &[&str]) -> Vec<Value> {
    let output = run.run(&[&["character", "export"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("a card a line")).collect()
}

#[test]
fn the_two_main_characters_of_a_novel_play() {
    for (book, text, names, alias) in [
        ("skerry.txt", ENGLISH, ["Mara Quill", "Tobias Fenn"], "Mara"),
        ("渡口记.txt", CHINESE, ["阿满", "许存义"], "阿满"),
    ] {
        let run = run(book, text, "\"pool\"");
        let summary = run.build(&[], 0);
        assert_eq!(summary["rows"]["characters"]["train"], 2, "{summary} {:?}", rejects(&run, "synthesize"));
        assert!(summary["rows"]["conversations"]["test"].as_u64() >= Some(2), "{summary}");
        assert!(summary["rows"]["samples"]["test"].as_u64() >= Some(1), "{summary}");
        let reasons: Vec<Value> =
            rejects(&run, "simulate").into_iter().map(|reject| reject["reason"].clone()).collect();
        assert!(!reasons.contains(&json!("no_scene")), "{reasons:?}");
        // The same characters come out as cards.
        let cards = cards(&run, &[]);
        let mut found: Vec<&str> = cards.iter().filter_map(|card| card["data"]["name"].as_str()).collect();
        found.sort_unstable();
        let mut names = names;
        names.sort_unstable();
        assert_eq!(found, names);
        for card in &cards {
            let own = &card["data"]["extensions"]["dramaturg"]["character"];
            assert!(own["profile"].as_array().expect("a profile").len() > 1, "{own}");
            for line in own["lines"].as_array().expect("lines") {
                let line = line.as_str().expect("a line").to_owned();
                let plain = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
                assert!(line.split(['.', '。', '?', '？']).all(|part| plain(text).contains(&plain(part))), "{line}");
            }
        }
        let one = self::cards(&run, &[alias]);
        assert!(one.len() == 1 && one[0]["spec"] == "chara_card_v3", "{one:?}");
        // A replay writes the same bytes.
        let tables = run.tables();
        run.build(&["--replay"], 0);
        assert_eq!(run.tables(), tables);
        // Without its own book a lane has no scene, and the reject says what to do.
        let output = run.run(&["build", "small.toml", "--quiet", "--set", "simulate.own_book=false"]);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let rejects = rejects(&run, "simulate");
        assert_eq!(rejects.len(), 2, "{rejects:?}");
        assert!(rejects.iter().all(|reject| {
            reject["reason"] == "no_scene" && reject["detail"].as_str().expect("a text").contains("own_book = true")
        }));
        // A limited run takes one character.
        let summary = run.build(&["--limit", "1"], 0);
        assert_eq!(summary["rows"]["characters"]["train"], 1, "{summary}");
    }
}

#[test]
fn character_files_and_the_pool_combine_without_duplicates() {
    let run = run("skerry.txt", ENGLISH, "[\"pool\", \"mara.json\", \"stranger.json\"]");
    let card = json!({"spec": "chara_card_v2", "spec_version": "2.0", "data": {"name": "Mara Quill",
        "description": "{{char}} keeps a lamp.", "mes_example": "{{char}}: Mind the step.",
        "extensions": {"dramaturg": {"character": {"broken": true}}}}});
    std::fs::write(run.path().join("mara.json"), card.to_string()).expect("a card");
    let stranger =
        json!({"char_name": "Ivo", "system_prompt": "Ivo sells salt from a cart.", "initial_message": "Salt?"});
    std::fs::write(run.path().join("stranger.json"), stranger.to_string()).expect("a file");
    let output = run.run(&["synthesize", "small.toml", "--json", "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    // A card names no book, so its Mara is another character.
    assert!(rejects(&run, "synthesize").is_empty());
    let own = json!({"name": "Mara Quill", "language": "en", "book": "skerry", "profile":
        [{"key": "persona", "value": "Counts.", "visibility": "public"}]});
    std::fs::write(run.path().join("mara.json"), own.to_string()).expect("a file");
    let output = run.run(&["synthesize", "small.toml", "--json", "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let rejects = rejects(&run, "synthesize");
    assert!(
        rejects.iter().any(|reject| reject["id"] == "mara-quill@skerry" && reject["reason"] == "given"),
        "{rejects:?}"
    );
}

#[test]
fn a_book_without_characters_is_a_reject_and_not_an_error() {
    let run =
        run("tides.txt", "TIDES\n\nThe water rose at four and fell at ten. Nobody was there to see it.\n", "\"pool\"");
    let output = run.run(&["build", "small.toml", "--json", "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let rejects = rejects(&run, "synthesize");
    assert!(rejects.iter().any(|reject| reject["id"] == "tides" && reject["reason"] == "no_character"), "{rejects:?}");
}

#[test]
fn a_card_is_imported_and_exported() {
    let run = TestRun::new();
    let card = json!({"spec": "chara_card_v2", "spec_version": "2.0", "data": {"name": "Mara", "description": "Keeps a lamp.",
        "first_mes": "Hm?", "extensions": {"other/voice": {"pitch": 0.5}}, "unknown": [1, {"a": null}]}, "outer": true});
    std::fs::write(run.path().join("mara.json"), card.to_string()).expect("a card");
    let out = &cards(&run, &["mara.json"])[0];
    assert_eq!(
        (&out["spec"], &out["spec_version"], &out["outer"]),
        (&json!("chara_card_v3"), &json!("3.0"), &json!(true))
    );
    for (key, value) in card["data"].as_object().expect("a table") {
        assert_eq!(&out["data"][key], value);
    }
    // The same card after the pixels of a picture; if both versions are present, the newer one is used.
    let chunk = |kind: &[u8], data: &[u8]| {
        let body = [kind, data].concat();
        let length = u32::try_from(data.len()).expect("short").to_be_bytes();
        [length.as_slice(), &body, &crc32fast::hash(&body).to_be_bytes()].concat()
    };
    let text = |keyword: &str, card: &Value| {
        let base64 = base64::engine::general_purpose::STANDARD.encode(card.to_string());
        chunk(b"tEXt", format!("{keyword}\0{base64}").as_bytes())
    };
    let older = json!({"name": "Older", "description": "d", "first_mes": ""});
    let parts = [
        b"\x89PNG\r\n\x1a\n".to_vec(),
        chunk(b"IDAT", b"pixels"),
        text("chara", &older),
        text("ccv3", out),
        chunk(b"IEND", b""),
    ];
    std::fs::write(run.path().join("picture.png"), parts.concat()).expect("a picture");
    assert_eq!(&cards(&run, &["picture.png"])[0], out);
    let mut damaged = parts.concat();
    let at = damaged.len() - 40;
    damaged[at] ^= 1;
    std::fs::write(run.path().join("damaged.png"), damaged).expect("a picture");
    let refused = run.run(&["character", "export", "damaged.png"]);
    let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && errors.contains("wrong checksum"), "{errors}");

    let write = |more: &[&str]| run.run(&[&["character", "export", "mara.json", "--out", "cards"], more].concat());
    assert_eq!(write(&[]).status.code(), Some(0));
    let path = run.path().join("cards/mara.json");
    let read = |path: &Path| serde_json::from_slice::<Value>(&std::fs::read(path).expect("a card")).expect("JSON");
    assert_eq!(&read(&path), out);
    assert_eq!(write(&[]).status.code(), Some(0), "repeating the command changes nothing");
    std::fs::write(&path, "{}").expect("an edit");
    let refused = write(&[]);
    let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{errors}");
    assert!(errors.contains("exists with different content") && errors.contains("--force"), "{errors}");
    assert_eq!(std::fs::read_to_string(&path).expect("the edit"), "{}");
    assert_eq!(write(&["--force"]).status.code(), Some(0));
    assert_eq!(&read(&path), out);
}

#[test]
fn an_invalid_character_file_is_reported_with_its_position() {
    let run = TestRun::new();
    std::fs::write(run.path().join("bad.json"), "{\n \"spec\": \"chara_card_v2\",\n \"data\": {\"description\": 3}\n}")
        .unwrap();
    std::fs::write(run.path().join("bare.png"), b"\x89PNG\r\n\x1a\n\0\0\0\0IEND\xae\x42\x60\x82").unwrap();
    std::fs::write(run.path().join("broken.charx"), b"PK\x03\x04nothing").unwrap();
    for (arguments, expected) in [
        (&["bad.json"][..], &["bad.json:3:26", "`data.description` is a number", "a string"][..]),
        (&["bare.png"], &["bare.png", "contains no character card", "`ccv3` or `chara`"]),
        (&["broken.charx"], &["broken.charx", "failed to read", "`card.json` at its root"]),
        (&["gone.png"], &["gone.png"]),
        (&["Nobody", "--pool", "none"], &["none", "`--pool DIR`"]),
    ] {
        let output = run.run(&[&["character", "export"], arguments].concat());
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{errors}");
        for part in expected {
            assert!(errors.contains(part), "`{part}` in {errors}");
        }
    }
    // A pipeline file that names them is rejected before it runs.
    let output = run.run(&["build", "small.toml", "--set", "synthesize.established=[\"*.png\", \"bad.json\"]"]);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(
        errors.contains("bad.json:3:26") && errors.contains("bare.png") && errors.contains("2 problems"),
        "{errors}"
    );
}

#[test]
fn test_characters_of_a_run_are_exported_as_cards_and_imported_again() {
    let run = TestRun::new();
    let refused = run.run(&["extract", "small.toml", "--quiet"]);
    assert_eq!(refused.status.code(), Some(0), "{}", String::from_utf8_lossy(&refused.stderr));
    let refused = run.run(&["character", "export", "--pool", "outputs/small"]);
    let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && errors.contains("has no test characters yet"), "{errors}");
    run.build(&[], 0);
    let from_run = |more: &[&str]| cards(&run, &[&["--pool", "outputs/small"], more].concat());
    let all = from_run(&[]);
    let own = |card: &Value| card["data"]["extensions"]["dramaturg"]["character"].clone();
    let made_up: Vec<&Value> = all.iter().filter(|card| own(card)["type"] == "synthesized").collect();
    assert_eq!((all.len(), made_up.len()), (4, 2), "{all:?}");
    for card in &made_up {
        let file = own(card);
        assert!(file["worldview"].is_string() && file["profile"].as_array().is_some_and(|one| one.len() > 2), "{file}");
        // By name and by id.
        let name = card["data"]["name"].as_str().expect("a name");
        assert_eq!(from_run(&[name]), [(*card).clone()]);
    }
    assert_eq!(from_run(&["--all"]), all);
    let languages: Vec<Value> = made_up.iter().map(|card| own(card)["language"].clone()).collect();
    assert!(languages.contains(&json!("en")) && languages.contains(&json!("zh")), "{languages:?}");
    // Another run uses them as established characters, and exports the same cards.
    let written = run.run(&["character", "export", "--pool", "outputs/small", "--out", "cards"]);
    assert_eq!(written.status.code(), Some(0), "{}", String::from_utf8_lossy(&written.stderr));
    let sets = ["synthesize.established=[\"cards\"]", "synthesize.count={ en = 0, zh = 0 }"];
    let again =
        run.run(&["build", "small.toml", "--quiet", "--out", "outputs/again", "--set", sets[0], "--set", sets[1]]);
    assert_eq!(again.status.code(), Some(0), "{}", String::from_utf8_lossy(&again.stderr));
    assert_eq!(cards(&run, &["--pool", "outputs/again"]), all);
    let name = all[0]["data"]["name"].as_str().expect("a name");
    let almost: String = name.chars().chain(['x']).collect();
    let refused = run.run(&["character", "export", &almost, "--pool", "outputs/small"]);
    let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && errors.contains("no test character named"), "{errors}");
    assert!(errors.contains(&format!("did you mean `{name}`?")), "{errors}");
    // A pool has more characters than the two main ones of each book.
    let (main, everybody) = (cards(&run, &[]), cards(&run, &["--all"]));
    assert!(everybody.len() > main.len() && main.iter().all(|card| everybody.contains(card)), "{}", everybody.len());
}

#[test]
fn pictures_without_a_card_are_skipped_with_a_note() {
    let run = run("skerry.txt", ENGLISH, "\"people\"");
    let people = run.path().join("people");
    std::fs::create_dir(&people).expect("a folder");
    let portrait = b"\x89PNG\r\n\x1a\n\0\0\0\0IEND\xae\x42\x60\x82";
    std::fs::write(people.join("ivo.png"), portrait).expect("a portrait");
    let synthesized = |established: &str| {
        let set = format!("synthesize.established={established}");
        let output = run.run(&["synthesize", "small.toml", "--set", &set]);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, errors) = synthesized("\"people\"");
    assert!(code == Some(2) && errors.contains("ivo.png") && errors.contains("contains no character card"), "{errors}");
    let ivo = json!({"char_name": "Ivo", "system_prompt": "Ivo sells salt from a cart.", "initial_message": "Salt?"});
    std::fs::write(people.join("ivo.json"), ivo.to_string()).expect("a file");
    for established in ["\"people\"", "\"people/*\""] {
        let (code, errors) = synthesized(established);
        assert_eq!(code, Some(0), "{errors}");
        assert!(errors.contains("no character card in `people/ivo.png`"), "{errors}");
    }
    let checked = run.run(&["check", "small.toml"]);
    let text = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert!(checked.status.code() == Some(0) && text.contains("note: no character card in `people/ivo.png`"), "{text}");
    // A picture that is named explicitly is an error, and so is a damaged card.
    for established in ["[\"people\", \"people/ivo.png\"]", "[\"people/*.json\", \"people/*.png\"]"] {
        let (code, errors) = synthesized(established);
        assert!(code == Some(2) && errors.contains("contains no character card"), "{established}: {errors}");
    }
    std::fs::write(people.join("mara.png"), &portrait[..12]).expect("a broken picture");
    let (code, errors) = synthesized("\"people\"");
    assert!(code == Some(2) && errors.contains("mara.png") && errors.contains("truncated"), "{errors}");
}
