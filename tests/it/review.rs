//! What users do with a finished run: read the report, veto rows, add a judge, compare runs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use dramaturg::store;
use dramaturg::store::Dataset;
use polars::frame::DataFrame;
use serde_json::Value;

use crate::chat::texts;
use crate::support::TestRun;

const RUN: &str = "outputs/small";

fn frames(run: &TestRun, config: &str) -> Vec<DataFrame> {
    let dataset = Dataset::open(&run.path().join(RUN).join("dataset")).expect("the data set reads");
    let files = dataset.of(config).flat_map(|table| &table.files);
    let parts = files.flat_map(|file| store::groups(file, None).expect("the table reads"));
    parts.map(|part| part.expect("the rows read").1).collect()
}

fn table(run: &TestRun, config: &str) -> DataFrame {
    frames(run, config).swap_remove(0)
}

fn ids(frame: &DataFrame) -> Vec<String> {
    texts(frame, "id").into_iter().flatten().collect()
}

fn read(run: &TestRun, path: &str) -> String {
    std::fs::read_to_string(run.path().join(RUN).join(path)).expect(path)
}

/// Returns the rejects of each stage by file.
fn rejected(run: &TestRun) -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(run.path().join(RUN).join("rejected")).expect("a folder");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).expect("text"))).collect()
}

fn vetoes(run: &TestRun, text: &str) {
    std::fs::write(run.path().join("vetoes.toml"), text).expect("the file of vetoes");
}

#[test]
fn vetoes_are_applied_and_listed() {
    let run = TestRun::new();
    run.build(&[], 0);
    let (before, report) = (table(&run, "samples"), read(&run, "report.html"));
    run.build(&["--replay"], 0);
    assert_eq!(read(&run, "report.html"), report, "the same journal, the same report");

    let all = ids(&before);
    let of_language = |code: &str| -> Vec<String> {
        let languages = texts(&before, "language");
        let pairs = all.iter().zip(languages).filter(|(_, language)| language.as_deref() == Some(code));
        pairs.map(|(id, _)| id.clone()).collect()
    };
    let (english, chinese) = (of_language("en"), of_language("zh"));
    let conversation_of = |id: &str| id.split('#').next().expect("an id has parts").to_owned();
    // A sample, a whole conversation, and an edit in another conversation of either language.
    let (vetoed, edited) = (&english[0], chinese.last().expect("a sample"));
    let vetoed_conversation = conversation_of(&chinese[0]);
    assert_ne!(vetoed_conversation, conversation_of(edited), "{chinese:?}");
    vetoes(
        &run,
        &format!(
            "[[veto]]\nid = \"{vetoed}\"\nreason = \"she would not say so\"\n\n[[veto]]\nid = \"{vetoed_conversation}\"\nreason = \"答非所问\"\n\n\
             [[edit]]\nid = \"{edited}\"\nreference = \"（点头）正是。\"\nreason = \"错字\"\n"
        ),
    );
    let summary = run.build(&["--replay"], 0);
    let after = table(&run, "samples");
    let gone: BTreeSet<String> =
        all.iter().filter(|id| *id == vetoed || conversation_of(id) == vetoed_conversation).cloned().collect();
    let left: Vec<String> = all.iter().filter(|id| !gone.contains(*id)).cloned().collect();
    assert_eq!(ids(&after), left);
    assert!(!ids(&table(&run, "conversations")).contains(&vetoed_conversation));
    assert_eq!(summary["rejected"]["export"], gone.len() as u64 + 1, "{summary}");
    let rejected = table(&run, "rejected");
    let reasons: BTreeSet<String> = texts(&rejected, "detail").into_iter().flatten().collect();
    assert!(reasons.contains("she would not say so") && reasons.contains("答非所问"), "{reasons:?}");
    assert!(reasons.contains(&format!("答非所问 (the conversation `{vetoed_conversation}`)")), "{reasons:?}");
    let place = left.iter().position(|id| id == edited).expect("it stays");
    assert_eq!(texts(&after, "reference")[place].as_deref(), Some("（点头）正是。"));
    assert_eq!(texts(&after, "edit_reason")[place].as_deref(), Some("错字"));
    assert_eq!(texts(&after, "edit_reason").iter().flatten().count(), 1);
    let report = read(&run, "report.html");
    assert!(report.contains(&format!("{} rows were removed and 1 reference edited", gone.len() + 1)));
    assert!(report.contains("she would not say so") && report.contains("now <bdi>（点头）正是。</bdi>"), "{report}");
    let card = read(&run, "dataset/README.md");
    assert!(card.contains(&format!("| export | vetoed | {} |", gone.len() + 1)), "{card}");
    assert!(card.contains("have a reference that was edited by hand"), "{card}");
    assert!(read(&run, "manifest.json").contains("\"vetoes\""));

    // Vetoing a scene removes its conversations and samples.
    let scene = texts(&before, "scene_id")[0].clone().expect("a scene");
    vetoes(&run, &format!("[[veto]]\nid = \"{scene}\"\nreason = \"not ours\"\n"));
    run.build(&["--replay"], 0);
    assert!(!ids(&table(&run, "scenes")).contains(&scene));
    assert!(texts(&table(&run, "conversations"), "scene_id").iter().all(|id| id.as_deref() != Some(&scene)));
    assert!(texts(&table(&run, "samples"), "scene_id").iter().all(|id| id.as_deref() != Some(&scene)));

    // An unknown id is reported with its position and a hint; the old data set is kept.
    let slip = vetoed.replace("vivid", "vivd");
    vetoes(&run, &format!("[[veto]]\nid = \"{slip}\"\nreason = \"a slip\"\n"));
    let output = run.run(&["build", "small.toml", "--replay"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("vetoes.toml:2:6") && errors.contains(&format!("no row has the id `{slip}`")), "{errors}");
    assert!(errors.contains("no data set was written") && !errors.contains("nothing was run"), "{errors}");
    assert!(errors.contains(vetoed.as_str()), "the nearest id is named: {errors}");
    assert!(!ids(&table(&run, "scenes")).contains(&scene), "the previous data set is kept");
    // With `--limit`, unknown ids are accepted.
    vetoes(&run, &format!("[[veto]]\nid = \"{}\"\nreason = \"later\"\n", all.last().expect("a sample")));
    run.build(&["--replay", "--limit", "1"], 0);
}

#[test]
fn a_vetoed_character_or_role_removes_its_rows() {
    let run = TestRun::new();
    let instructions = Path::new(env!("CARGO_MANIFEST_DIR")).join("pipelines/instructions/*.jsonl");
    let instruct = format!(
        "[instruct]\nroles = 'characters'\ninstructions = ['{}']\nmin_segment = {{ en = 100, zh = 150 }}\n\
         agnostic_calls = 2\ncandidates = 20\nreplies = 2\nmax_instructions = {{ en = 5, zh = 5 }}\n\n[simulate]",
        instructions.display()
    );
    run.change("[simulate]", &instruct);
    run.build(&[], 0);
    let column = |config: &str, column: &str| -> BTreeSet<String> {
        frames(&run, config).iter().flat_map(|frame| texts(frame, column)).flatten().collect()
    };
    let (characters, roles) = (column("characters", "id"), column("roles", "role_id"));
    let of_sample = |id: &String| characters.iter().find(|one| id.starts_with(&format!("{one}/"))).cloned();
    let character = column("samples", "id").iter().find_map(of_sample).expect("a sample of a character");
    let role = column("role_specific", "role_id").into_iter().find(|role| *role != character).expect("another role");
    vetoes(
        &run,
        &format!(
            "[[veto]]\nid = \"{character}\"\nreason = \"不像\"\n[[veto]]\nid = \"{role}\"\nreason = \"too thin\"\n"
        ),
    );
    run.build(&["--replay"], 0);
    let without = |ids: &BTreeSet<String>| -> BTreeSet<String> {
        ids.iter().filter(|id| **id != character && **id != role).cloned().collect()
    };
    assert_eq!(column("characters", "id"), without(&characters));
    assert_eq!(column("roles", "role_id"), without(&roles));
    for config in ["role_specific", "role_general"] {
        let left = column(config, "role_id");
        assert!(!left.is_empty(), "{config}");
        assert_eq!(left, without(&left), "{config}");
    }
    for config in ["samples", "conversations"] {
        assert!(column(config, "id").iter().filter_map(of_sample).all(|one| one != character), "{config}");
    }
    let reasons = column("rejected", "detail");
    for reason in [format!("不像 (the character `{character}`)"), format!("too thin (the role `{role}`)")] {
        assert!(reasons.contains(&reason), "{reason}: {reasons:?}");
    }
}

#[test]
fn an_extra_judge_is_added_compared_and_removed() {
    let run = TestRun::new();
    run.build(&[], 0);
    let tables = run.tables();
    let copy = |to: &str| {
        let to = run.path().join(to);
        for (path, bytes) in run.tables() {
            let path = to.join("dataset").join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, bytes).expect("a copy");
        }
        std::fs::copy(run.path().join(RUN).join("manifest.json"), to.join("manifest.json")).expect("a copy");
    };
    copy("before");
    let json = |arguments: &[&str]| -> Value {
        let output = run.run(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("JSON")
    };
    let journal = std::fs::metadata(run.journal()).expect("a journal").len();
    let forecast = json(&["select", RUN, "--judge", "vivid", "--dry-run", "--json"]);
    let asks = forecast["asks"].as_array().expect("asks");
    let judged = asks
        .iter()
        .find(|ask| ask["ask"] == "select/judge" && ask["model"] == "vivid")
        .expect("a forecast of the verdicts");
    assert_eq!(std::fs::metadata(run.journal()).expect("a journal").len(), journal, "a dry run writes nothing");

    let added = json(&["select", RUN, "--judge", "vivid", "--json", "--quiet"]);
    let agreement = &added["agreement"]["vivid"];
    assert_eq!(agreement["turns"], judged["calls"], "{added}");
    assert_eq!(added["calls"]["made"], judged["calls"], "nothing else is asked");
    assert!(agreement["same_dimension"].as_f64() > Some(0.2) && agreement["kappa"].as_f64() <= Some(1.0), "{added}");
    assert!(read(&run, "report.html").contains("κ of σ"));
    let again = json(&["select", RUN, "--judge", "vivid", "--judge", "offline", "--json", "--quiet"]);
    assert_eq!(again["agreement"]["vivid"], *agreement, "earlier judges are kept");
    assert_eq!(again["calls"]["made"], again["agreement"]["offline"]["turns"], "{again}");

    // Both verdicts are added, and nothing else changes.
    let changes = json(&["diff", "before", RUN, "--json"]);
    let samples = &changes["tables"]["samples"];
    assert_eq!(
        (samples["added"].as_array().map(Vec::len), samples["removed"].as_array().map(Vec::len)),
        (Some(0), Some(0))
    );
    assert_eq!(samples["columns"].as_object().expect("columns").keys().collect::<Vec<_>>(), ["verdicts"]);
    let talks = changes["tables"]["conversations"]["columns"].as_object().expect("columns");
    assert_eq!(talks.keys().collect::<Vec<_>>(), ["turns"]);
    assert!(changes["tables"].get("scenes").is_none(), "{changes}");
    let keys: Vec<&str> =
        changes["configuration"].as_array().expect("keys").iter().filter_map(|key| key["name"].as_str()).collect();
    assert!(keys.contains(&"cast.judges"), "{keys:?}");
    let output = run.run(&["diff", "before", RUN]);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        printed.contains("cast.judges  – → [\"vivid\", \"offline\"]") && printed.contains(" changed, "),
        "{printed}"
    );
    assert_eq!(String::from_utf8_lossy(&run.run(&["diff", "before", "before"]).stdout), "no differences\n");

    // A build without them gives the original tables.
    run.build(&["--replay"], 0);
    assert_eq!(run.tables(), tables);

    // Rejects are compared by stage, reason and id.
    let sample = ids(&table(&run, "samples")).swap_remove(0);
    vetoes(&run, &format!("[[veto]]\nid = \"{sample}\"\nreason = \"不像\"\n"));
    run.build(&["--replay"], 0);
    let changes = json(&["diff", "before", RUN, "--json"]);
    assert_eq!(changes["left_out"]["export vetoed"]["added"], serde_json::json!([sample]), "{changes}");
    assert_eq!(changes["left_out"].as_object().map(serde_json::Map::len), Some(1), "{changes}");
    let printed = String::from_utf8_lossy(&run.run(&["diff", RUN, "before"]).stdout).into_owned();
    assert!(
        printed.contains(&format!("rejected, export vetoed: 0 added, 1 removed, 0 unchanged\n  removed  `{sample}`")),
        "{printed}"
    );

    for (arguments, expected) in [
        (&["select", RUN, "--judge", "vivd"][..], "vivid"),
        (&["select", "nowhere", "--judge", "vivid"], "nowhere"),
        (&["diff", "before", "nowhere"], "manifest.json"),
    ] {
        let output = run.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains(expected), "{errors}");
    }
}

#[test]
fn verdicts_are_added_only_to_the_existing_data_set() {
    let run = TestRun::new();
    run.build(&[], 0);
    let left_out = rejected(&run);
    // A later command writes another configuration, without a data set, and its own rejects.
    run.change("tau = 1", "tau = 2");
    let output = run.run(&["extract", "small.toml", "--set", "seed=12", "--quiet"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let before = (run.tables(), read(&run, "manifest.json"), left_out);
    // The pool has changed since; it is not modified.
    let pool = || {
        let entries = std::fs::read_dir(run.path().join("scene_pool")).expect("a pool");
        let files = entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_file());
        let mut files: Vec<_> = files.map(|path| (path.clone(), std::fs::read(path).expect("bytes"))).collect();
        files.sort();
        files
    };
    let of_pool = pool();
    let added = run.run(&["select", RUN, "--judge", "vivid", "--json", "--quiet"]);
    assert_eq!(pool(), of_pool, "judging writes no scene");
    assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
    let printed: Value = serde_json::from_slice(&added.stdout).expect("JSON");
    assert_eq!(
        printed["calls"]["made"], printed["agreement"]["vivid"]["turns"],
        "nothing but verdicts is asked: {printed}"
    );
    assert!(read(&run, "manifest.json").contains("tau = 1") && !read(&run, "manifest.json").contains("seed = 12"));
    run.change("tau = 2", "tau = 1");
    run.build(&["--replay"], 0);
    assert_eq!((run.tables(), read(&run, "manifest.json"), rejected(&run)), before);

    // Missing books are reported as such.
    std::fs::create_dir(run.path().join("elsewhere")).expect("a folder");
    let moved = before.1.replace(env!("CARGO_MANIFEST_DIR"), "not-here");
    std::fs::write(run.path().join("elsewhere/manifest.json"), moved).expect("written");
    let output = run.run(&["select", "elsewhere", "--judge", "vivid"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("elsewhere/manifest.json") && errors.contains("where the run was started"), "{errors}");

    // Changes of the run are rejected; only calls for added verdicts are made and forecast.
    let journal = (run.journal(), run.path().join("journal.aside"));
    for dry_run in [&[][..], &["--dry-run"]] {
        let refused = |more: &[&str], code: i32, expected: [&str; 2]| {
            let output = run.run(&[&["select", RUN, "--judge", "vivid", "--quiet"], more, dry_run].concat());
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(code), "{more:?}: {errors}");
            assert!(expected.iter().all(|expected| errors.contains(expected)), "{more:?}: {errors}");
            assert_eq!((run.tables(), read(&run, "manifest.json"), rejected(&run)), before);
        };
        for set in ["simulate.tau=4", "models.vivid.variant=\"brisk\"", "seed=3"] {
            refused(&["--set", set], 2, [set, "would change the run"]);
        }
        refused(&["--limit", "1"], 2, ["--limit 1", "would change the run"]);
        std::fs::rename(&journal.0, &journal.1).expect("moved");
        refused(&[], 4, ["the journal has no answer for `", "only the judges given"]);
        std::fs::rename(&journal.1, &journal.0).expect("moved back");
    }

    let output = run.run(&["split", RUN, "--test", "0.7", "--dev", "0.3", "--quiet"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let divided = run.tables();
    let output = run.run(&["select", RUN, "--judge", "vivid"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("was changed by `split`") && errors.contains("`dramaturg split` after it"), "{errors}");
    assert_eq!(run.tables(), divided);
}

/// Returns the row counts of manifest, card and report.
fn stated_rows(run: &TestRun) -> [Vec<(String, String, u64)>; 3] {
    let manifest: Value = serde_json::from_str(&read(run, "manifest.json")).expect("JSON");
    let mut of_manifest = Vec::new();
    for (config, splits) in manifest["rows"].as_object().expect("rows") {
        let splits = splits.as_object().expect("splits").iter();
        of_manifest
            .extend(splits.map(|(split, rows)| (config.clone(), split.clone(), rows.as_u64().expect("a count"))));
    }
    let mut of_card = Vec::new();
    let card = read(run, "dataset/README.md");
    for part in card.split("\n### `").skip(1) {
        let (config, rest) = part.split_once("`\n").expect("a heading");
        let counts = rest.lines().find(|line| line.ends_with(" rows")).expect("counts");
        of_card.extend(counts.split(", ").map(|count| {
            let mut words = count.split(' ');
            let mut word = || words.next().expect("`split` N rows").trim_matches('`').to_owned();
            (config.to_owned(), word(), word().parse().expect("a count"))
        }));
    }
    let mut of_report = Vec::new();
    let report = read(run, "report.html");
    for row in report.split("<tr class=\"split\"><td>").skip(1) {
        let cells: Vec<&str> =
            row.split("<td").take(3).map(|cell| cell.split("</td>").next().expect("a cell")).collect();
        let word = |cell: &str| cell.rsplit('>').next().expect("text").to_owned();
        let plain = |cell: &str| word(cell.trim_end_matches("</bdi>").trim_end_matches("</code>"));
        of_report.push((plain(cells[0]), plain(cells[1]), plain(cells[2]).replace(',', "").parse().expect("a count")));
    }
    let mut counts = [of_manifest, of_card, of_report];
    for rows in &mut counts {
        rows.sort();
    }
    counts
}

#[track_caller]
fn assert_agree(run: &TestRun) {
    let [manifest, card, report] = stated_rows(run);
    assert!(!manifest.is_empty());
    assert_eq!(card, manifest, "card and manifest");
    assert_eq!(report, manifest, "report and manifest");
    let output = run.run(&["check", RUN]);
    assert!(!String::from_utf8_lossy(&output.stdout).contains("card:"), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn card_report_and_manifest_agree_after_every_command() {
    let run = TestRun::new();
    run.build(&[], 0);
    assert_agree(&run);
    let first = read(&run, "report.html");
    let sample = ids(&table(&run, "samples")).swap_remove(0);
    vetoes(&run, &format!("[[veto]]\nid = \"{sample}\"\nreason = \"no\"\n"));
    run.build(&["--replay"], 0);
    assert_agree(&run);
    let output = run.run(&["select", RUN, "--judge", "vivid", "--quiet"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_agree(&run);
    let split = |arguments: &[&str]| {
        let output = run.run(&[&["split", RUN, "--quiet"], arguments].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    split(&["--test", "0.5", "--dev", "0.2"]);
    assert_agree(&run);
    let divided = read(&run, "report.html");
    assert!(
        divided.contains("The rows of <code>samples</code> were assigned to splits by <code>dramaturg split</code>")
    );
    split(&["--config", "conversations", "--split", "held=0.4"]);
    assert_agree(&run);
    assert!(read(&run, "report.html").contains(">held<"));
    // Repeating the command changes nothing, and a new build undoes it.
    split(&["--config", "conversations", "--test", "0.9999"]);
    split(&["--test", "0.5", "--dev", "0.2"]);
    assert_agree(&run);
    std::fs::remove_file(run.path().join("vetoes.toml")).expect("removed");
    run.build(&["--replay"], 0);
    assert_eq!(read(&run, "report.html"), first);
    assert_agree(&run);

    // An edited report that cannot be updated is put aside.
    let path = run.path().join(RUN).join("report.html");
    std::fs::write(&path, first.replace("<!-- dramaturg:", "<!-- ")).expect("written");
    let output = run.run(&["split", RUN, "--test", "0.5"]);
    let printed = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.contains("report.html"), "{printed}");
    let left = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(!left.contains("<tr class=\"split\">"), "it shows no outdated splits");
}

#[test]
fn the_card_shows_the_original_pipeline_file_after_adding_judges() {
    let run = TestRun::new();
    run.change("tau = 1", "tau = 1 # one of each 各一");
    run.build(&["--set", "simulate.target_probability=0.5"], 0);
    let pipeline = |card: &str| card.split_once("## Pipeline file\n").expect("the section").1.to_owned();
    let before = pipeline(&read(&run, "dataset/README.md"));
    assert!(
        before.contains("tau = 1 # one of each 各一") && before.contains("simulate.target_probability=0.5"),
        "{before}"
    );
    let select = |from: &str, judges: &[&str]| {
        let judges: Vec<&str> = judges.iter().flat_map(|judge| ["--judge", judge]).collect();
        let output = run.run(&[&["select", from, "--quiet"], &judges[..]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        pipeline(&read(&run, "dataset/README.md"))
    };
    let with = |judges: &str| {
        before.replace("simulate.target_probability=0.5\n", &format!("simulate.target_probability=0.5\n{judges}\n"))
    };
    assert_eq!(select(RUN, &["vivid"]), with("cast.judges=[\"vivid\"]"));
    // The file has changed since and has another model: the run keeps its configuration, and the judge comes from the file.
    run.change("tau = 1 ", "tau = 2 ");
    run.change("[models.vivid]", "[models.late]\nprovider = \"offline\"\nvariant = \"brisk\"\n\n[models.vivid]");
    let late = select("small.toml", &["late"]);
    assert!(late.contains("tau = 1 # one of each") && late.contains("cast.judges=[\"vivid\", \"late\"]"), "{late}");
    assert!(late.contains("models.\"late\"={") && late.matches("cast.judges").count() == 1, "{late}");
    assert!(read(&run, "manifest.json").contains("tau = 1\\n"), "the configuration of the run");
    run.change("tau = 2 ", "tau = 1 ");
    run.build(&["--replay", "--set", "simulate.target_probability=0.5"], 0);
    assert!(!read(&run, "dataset/README.md").contains("cast.judges"), "a build follows the file");
}

#[test]
fn the_report_opens_from_disk_and_names_both_languages() {
    let run = TestRun::new();
    run.build(&["--limit", "1"], 0);
    let report = read(&run, "report.html");
    assert!(report.contains("<article lang=\"en\">") && report.contains("<article lang=\"zh\">"));
    assert!(report.contains("offline:vivid") && !report.contains("<script"));
    assert!(!report.contains(run.path().to_str().expect("UTF-8")), "no path of this machine");
    assert!(Path::new(&run.path().join(RUN).join("report.html")).is_file());
}
