//! What a large pool costs: time and memory of listing it, of drawing a lane's scenes from it, and of checking it.
//!
//! `cargo bench --bench pool -- SCENES KILOBYTES` makes a pool of so many scenes of so many kilobytes each, a hundred books in
//! both languages, and measures each command in a process of its own. 100,000 scenes of 8 KB when silent.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use dramaturg::pipeline::check_pool;
use dramaturg::schema::{Character, CharacterFile, Language};
use dramaturg::stages::simulate::{Params, drawn};
use dramaturg::store::Pool;

const BOOKS: usize = 100;
/// How many scenes the lane draws.
const DRAWN: usize = 50;

fn main() {
    // Cargo passes `--bench` along.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [task, folder] = &arguments[..]
        && task.parse::<usize>().is_err()
    {
        measure(task, Path::new(folder));
        return;
    }
    let number = |at: usize, default: usize| arguments.get(at).map_or(default, |text| text.parse().expect("a number"));
    let (scenes, kilobytes) = (number(0, 100_000), number(1, 8));
    let folder = tempfile::tempdir().expect("a folder");
    fill(folder.path(), scenes, kilobytes * 1000);
    for task in ["list", "sample", "check"] {
        for _ in 0..3 {
            let this = std::env::current_exe().expect("the benchmark has a path");
            let status = Command::new(this).arg(task).arg(folder.path()).status().expect("it starts");
            assert!(status.success(), "{task} failed");
        }
    }
}

/// Does one task and prints what it took.
fn measure(task: &str, folder: &Path) {
    let begun = Instant::now();
    let pool = Pool::find(folder).expect("the pool is there");
    let done = match task {
        "list" => {
            let (index, faults) = pool.survey().expect("it can be read");
            assert!(faults.is_empty(), "{faults:?}");
            let lines: usize = index.heads().map(|head| head.lines as usize).sum();
            format!("{} scenes with {lines} lines", index.len())
        }
        "sample" => {
            let (index, _) = pool.survey().expect("it can be read");
            let places = drawn(7, "tess/writer", &tess(), index.heads(), &Params::default());
            let scenes: Vec<_> =
                places.into_iter().take(DRAWN).map(|place| index.scene(place as usize).expect("it is there")).collect();
            format!("{} scenes, first `{}`", scenes.len(), scenes[0].id)
        }
        _ => {
            let found = check_pool(&pool).expect("it can be read");
            format!("{} scenes, {} faults", found.scenes, found.findings.len())
        }
    };
    let megabytes: u64 = std::fs::read_dir(folder)
        .expect("the pool")
        .map(|file| file.and_then(|file| file.metadata()).map_or(0, |metadata| metadata.len()))
        .sum::<u64>()
        / 1_000_000;
    let (wall, cpu) = (begun.elapsed().as_secs_f64(), cpu_seconds());
    println!("{task:>6}  {wall:.2} s, {cpu:.2} s CPU, {} MB at most, of {megabytes} MB: {done}", peak_megabytes());
}

fn tess() -> Character {
    let file: CharacterFile = serde_json::from_value(serde_json::json!({
        "name": "Tess", "language": "en", "profile": [{"key": "trade", "value": "Pilot.", "visibility": "public"}],
    }))
    .expect("a character");
    file.into()
}

/// Writes a pool of scenes, every second book in Chinese.
fn fill(folder: &Path, scenes: usize, bytes: usize) {
    for book in 0..BOOKS {
        let language = Language::ALL[book % 2];
        let slug = format!("book-{book}");
        let file = std::fs::File::create(folder.join(format!("{slug}.jsonl"))).expect("a file");
        let mut file = std::io::BufWriter::new(file);
        for scene in 0..(scenes / BOOKS).max(1) {
            file.write_all(self::scene(&slug, language, scene, bytes).as_bytes()).expect("written");
        }
        file.flush().expect("written");
    }
}

/// Returns a scene as extraction writes it: a cast of four with profiles, and as many lines as fill it up.
fn scene(slug: &str, language: Language, number: usize, bytes: usize) -> String {
    let zh = language == Language::Zh;
    let pick = |en: &'static str, of_zh: &'static str| if zh { of_zh } else { en };
    let names = if zh {
        ["老周", "阿满", "沈三娘", "更夫"]
    } else {
        ["Old Zhou", "Aman", "Mrs. Hale", "The Watchman"]
    };
    let start = number * 10_000;
    let mut line = format!(
        r#"{{"id":"{slug}@{start}","book":"{slug}","language":"{}","chapter":"{}","start":{start},"end":{},"summary":"{}","worldview":"{}","situation":"{}","#,
        language.code(),
        pick("Chapter Seven", "第七回　夜渡"),
        start + 9_999,
        pick("They wait for the ferry, quarrel over the fare and make it up.", "二人候船，为船钱争了几句，又和好了。"),
        pick("A port in winter, where the ferry is the only way over.", "江南水乡，冬日渡口，过江只有这一条船。"),
        pick(
            "Night at the landing. The ferry is late, and it has begun to rain.",
            "夜里，渡口。船迟迟不来，下起雨来了。"
        ),
    );
    line.push_str(r#""motivations":["#);
    for (place, name) in names.iter().enumerate() {
        let comma = if place > 0 { "," } else { "" };
        let wants = pick("Wants to be over the river before light.", "想在天亮以前过江。");
        let _ = write!(line, r#"{comma}{{"character":"{name}","motivation":"{wants}"}}"#);
    }
    line.push_str(r#"],"characters":["#);
    for (place, name) in names.iter().enumerate() {
        let comma = if place > 0 { "," } else { "" };
        let _ = write!(line, r#"{comma}{{"name":"{name}","aliases":[],"profile":["#);
        for (entry, key) in ["persona", "speech", "background", "relationships"].into_iter().enumerate() {
            let comma = if entry > 0 { "," } else { "" };
            let value =
                pick("Speaks little, and means what is said; has a long memory.", "话少，说一句是一句；记性极好。");
            let _ = write!(line, r#"{comma}{{"key":"{key}","value":"{value}","visibility":"public"}}"#);
        }
        line.push_str("]}");
    }
    line.push_str(r#"],"dialogue":["#);
    let mut count = 0;
    while count == 0 || line.len() < bytes {
        let (comma, at) = (if count > 0 { "," } else { "" }, start + 10 + count * 60);
        let speech = pick(
            "I have not seen it \\\"yet\\\". I only tell what I have seen.",
            "我还没瞧见。\\\"瞧见\\\"了的，我才说。",
        );
        let name = names[count % names.len()];
        let _ = write!(
            line,
            r#"{comma}{{"speaker":"{name}","thought":null,"action":null,"speech":"{speech}","start":{at},"end":{},"grounded":"exact","similarity":1.0}}"#,
            at + 50
        );
        count += 1;
    }
    line.push_str("],\"grounding\":1.0,\"model\":\"offline:plain\"}\n");
    line
}

/// Returns the seconds of CPU that this process has taken, user and system; 0 where that cannot be known.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|text| text.parse::<u32>().ok()).unwrap_or_default();
    f64::from(ticks(11) + ticks(12)) / 100.0
}

/// Returns the most memory that this process has held; 0 where that cannot be known.
fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or_default() / 1024
}
