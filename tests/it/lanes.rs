//! Lanes end to end: books and characters that are added later do not change them.

use std::path::Path;

use serde_json::{Value, json};

use crate::chat::{answer, asked, expect_rows, lot, served, table, texts};
use crate::support::{ScriptedServer, TestRun};

const NO_MADE_UP: [&str; 2] = ["--set", "synthesize.count={ en = 0, zh = 0 }"];

/// Returns the characters of a run.
fn characters(run: &TestRun) -> Vec<Value> {
    let text = std::fs::read_to_string(run.path().join("outputs/small/characters.jsonl")).expect("characters");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// Runs `synthesize` and returns the synthesized characters and stderr.
fn made_up(run: &TestRun, sets: &[&str]) -> (Vec<Value>, String) {
    let output = run.run(&[&["synthesize", "small.toml"], sets].concat());
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{errors}");
    let is_made_up = |character: &Value| character["type"] == "synthesized";
    (characters(run).into_iter().filter(is_made_up).collect(), errors)
}

fn name_of<'a>(characters: &'a [Value], language: &str) -> &'a str {
    let character = characters.iter().find(|character| character["language"] == language).expect("one of each");
    character["name"].as_str().expect("a name")
}

/// Returns settings for one and for two books per language; the Chinese ones are two halves of a book.
fn books(run: &TestRun) -> [String; 2] {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("books");
    let chinese = std::fs::read_to_string(root.join("lian_wen_ji.txt")).expect("the shipped book");
    let middle = chinese.char_indices().nth(chinese.chars().count() / 2).expect("it is long").0;
    let middle = middle + chinese[middle..].find("\n\n").or_else(|| chinese[middle..].find('\n')).expect("a paragraph");
    std::fs::write(run.path().join("shang.txt"), &chinese[..middle]).expect("a book");
    std::fs::write(run.path().join("xia.txt"), &chinese[middle..]).expect("a book");
    let english = |name: &str| root.join(name).display().to_string();
    let first = [english("forty_kilos_short.fountain"), "shang.txt".to_owned()];
    let both = [&first[..], &[english("a_penny_either_way.txt"), "xia.txt".to_owned()]].concat();
    [format!("books.paths={first:?}"), format!("books.paths={both:?}")]
}

#[test]
fn lanes_with_configured_books_keep_every_row_when_books_are_added() {
    let run = TestRun::new();
    // By default a pool character plays its own book if it is the only one in its language.
    run.change("own_book = true\n", "");
    let [first, both] = books(&run);
    let rows = |books: &str, pin: &str| {
        let sets = [books, pin, "synthesize.established='pool'", "synthesize.established_per_book=1"];
        run.build(&sets.iter().flat_map(|set| ["--set", set]).collect::<Vec<_>>(), 0);
        [table(&run, "conversations", "test"), table(&run, "samples", "test"), table(&run, "characters", "train")]
    };
    let pin = "simulate.books=['forty_kilos_short', 'shan*']";
    let before = rows(&first, pin);
    assert!(before[0].height() >= 8 && before[1].height() > 0 && before[2].height() == 4, "{before:?}");
    assert_eq!(before[0], rows(&first, "simulate.books=[]")[0], "the list has all books");
    let after = rows(&both, pin);
    for (before, after) in before.iter().zip(&after) {
        assert!(after.height() > before.height());
        expect_rows(before, after);
    }
    let scenes = texts(&after[0], "scene_id");
    for language in ["forty-kilos-short@", "shang@"] {
        assert!(scenes.iter().flatten().any(|scene| scene.starts_with(language)), "{scenes:?}");
    }
    assert!(scenes.iter().flatten().all(|scene| !scene.starts_with("xia@") && !scene.starts_with("a-penny")));
    // Without the list, lanes play all books of their language.
    let free = rows(&both, "simulate.books=[]");
    for language in ["a-penny-either-way@", "xia@"] {
        assert!(texts(&free[0], "scene_id").iter().flatten().any(|scene| scene.starts_with(language)));
    }
    let (_, errors) = made_up(&run, &["--set", &first, "--set", "simulate.books=['shan*', 'emma']"]);
    assert!(errors.contains("`simulate.books` lists `emma`") && !errors.contains("`shan*`"), "{errors}");
}

#[test]
fn a_synthesized_character_has_no_name_from_the_books_in_play() {
    let run = TestRun::new();
    let wanted = ["--set", "synthesize.count={ en = 3, zh = 2 }"];
    let (before, _) = made_up(&run, &wanted);
    assert_eq!(before.len(), 5);
    let names = ["en", "zh"].map(|language| name_of(&before, language).to_owned());
    let scenes = run.path().join("scene_pool/custom");
    std::fs::create_dir_all(&scenes).expect("a folder");
    for (language, name, title) in [("en", &names[0], "Captain "), ("zh", &names[1], "")] {
        let cast = json!([{"name": format!("{title}{name}")}, {"name": if language == "en" { "Zed" } else { "老周" }}]);
        let situation =
            if language == "en" { "They wait for the ferry at night." } else { "夜里，渡口，两个人等船。" };
        let scene = json!({"id": format!("later-{language}"), "book": "later", "language": language,
            "situation": situation, "characters": cast, "start": null, "end": null, "grounding": null, "model": null});
        std::fs::write(scenes.join(format!("{language}.json")), scene.to_string()).expect("a scene");
    }
    let (after, _) = made_up(&run, &wanted);
    assert_eq!(after.len(), 5, "the requested number");
    assert!(after.iter().all(|one| names.iter().all(|name| one["name"] != name.as_str())), "{after:?}");
    assert_eq!(before.iter().filter(|one| after.contains(one)).count(), 3, "the others are unchanged");
    let rejects = std::fs::read_to_string(run.path().join("outputs/small/rejected/synthesize.jsonl")).expect("rejects");
    for name in &names {
        let is_listed =
            |line: &str| line.contains("\"resembles\"") && line.contains(name.as_str()) && line.contains("`later`");
        assert!(rejects.lines().any(is_listed), "{rejects}");
    }
    // A book that no lane plays does not affect names.
    let pin = ["--set", "simulate.books=['forty-kilos-short', 'lian-wen-ji']"];
    assert_eq!(made_up(&run, &[wanted, pin].concat()).0, before);
}

#[test]
fn an_established_character_does_not_displace_a_synthesized_one() {
    let run = TestRun::new();
    let build = |given: &[&str]| {
        let given = format!("synthesize.established={given:?}");
        let wanted = if given.ends_with("[]") { vec![] } else { vec!["--set", given.as_str()] };
        run.build(&wanted, 0);
        ["conversations", "samples"].map(|config| table(&run, config, "test"))
    };
    run.change("established = [", "established = [] #");
    let before = build(&[]);
    let made = characters(&run);
    assert_eq!(made.len(), 2);
    let english = name_of(&made, "en").split(' ').next().expect("a first name").to_owned();
    let chinese = name_of(&made, "zh").to_owned();
    let mut files = Vec::new();
    for (language, name, alias, value) in
        [("en", "Zachary Ombe", &english, "Slow to answer."), ("zh", "阮三更", &chinese, "答话极慢。")]
    {
        // Its profile contains that of the synthesized character.
        let own = made.iter().find(|one| one["language"] == language).expect("one of each");
        let mut profile = own["profile"].as_array().expect("a profile").clone();
        profile.push(json!({"key": "k", "value": value, "visibility": "public"}));
        let file = json!({"name": name, "aliases": [alias], "language": language, "profile": profile});
        std::fs::write(run.path().join(format!("{language}.json")), file.to_string()).expect("a character");
        files.push(format!("{language}.json"));
    }
    let after = build(&files.iter().map(String::as_str).collect::<Vec<_>>());
    for (before, after) in before.iter().zip(&after) {
        expect_rows(before, after);
    }
    assert!(after[0].height() > before[0].height());
    let (stay, errors) = made_up(&run, &["--set", "synthesize.established=['en.json', 'zh.json']"]);
    assert_eq!(stay, made);
    assert_eq!(errors.matches("both are kept").count(), 2, "{errors}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_world_of_a_character_is_shown_only_to_itself_and_the_judge() {
    let judge = |body: &Value, codes: &[Value]| (codes[lot(body, codes.len())].clone(), 2);
    let server = ScriptedServer::ruled(move |_, body| answer(body, judge)).await;
    let run = served(&server.url());
    run.change("[cast]", "[models.other]\nprovider = \"openai\"\nmodel = \"scenes\"\nmax_tries = 1\n\n[cast]");
    run.change("scene = \"served\"", "scene = \"other\"");
    let worlds = [("en", "Tess Ombe", "In her country salt is money."), ("zh", "阮三更", "她的国里以盐为钱。")];
    for (language, name, world) in worlds {
        let profile =
            json!([{"key": "k", "value": if language == "en" { "Slow." } else { "慢。" }, "visibility": "public"}]);
        let file = json!({"name": name, "language": language, "worldview": world, "profile": profile});
        std::fs::write(run.path().join(format!("{language}.json")), file.to_string()).expect("a character");
    }
    run.build(&[&["--set", "synthesize.established=['en.json', 'zh.json']"][..], &NO_MADE_UP].concat(), 0);
    for (_, name, world) in worlds {
        let asked_of = |of: &dyn Fn(&Value) -> bool| -> Vec<bool> {
            let bodies = server.bodies().into_iter().filter(|body| body.to_string().contains(name) && of(body));
            bodies.map(|body| body["messages"].to_string().matches(world).count() == 1).collect()
        };
        let is_reply = |body: &Value| body.get("response_format").is_none();
        let own = asked_of(&|body| is_reply(body) && body["model"] == "m");
        let judged = asked_of(&|body| asked(body, "dimension").is_some());
        let others = asked_of(&|body| is_reply(body) && body["model"] == "scenes");
        let directed = asked_of(&|body| asked(body, "next").is_some() || asked(body, "quality").is_some());
        assert!(own.iter().all(|seen| *seen) && own.len() > 4, "{name}: {own:?}");
        assert!(judged.iter().all(|seen| *seen) && judged.len() > 4, "{name}: {judged:?}");
        assert!(others.iter().all(|seen| !*seen) && others.len() > 4, "{name}: {others:?}");
        assert!(directed.iter().all(|seen| !*seen) && directed.len() > 4, "{name}: {directed:?}");
    }
    let exported = characters(&run);
    for (_, name, world) in worlds {
        let one = exported.iter().find(|one| one["name"] == name).expect("the character exists");
        assert_eq!(one["worldview"], world, "the column is kept");
    }
}
