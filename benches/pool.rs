//! What a large pool costs: time and memory of listing it, of drawing a lane's scenes from it, and of checking it.
//!
//! `cargo bench --bench pool -- SCENES KILOBYTES` makes a pool of so many scenes of so many kilobytes each, a hundred books in
//! both languages, and measures each command in a process of its own. 100,000 scenes of 8 KB when silent.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

mod process;
mod scenes;

use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use dramaturg::dataset::check_pool;
use dramaturg::schema::{Character, CharacterFile, Language};
use dramaturg::stages::simulate::{Params, drawn};
use dramaturg::store::Pool;

use self::process::{cpu_seconds, peak_megabytes};

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
            let (index, faults) = pool.index_all().expect("it can be read");
            assert!(faults.is_empty(), "{faults:?}");
            let lines: usize = index.heads().map(|head| head.lines as usize).sum();
            format!("{} scenes with {lines} lines", index.len())
        }
        "sample" => {
            let (index, _) = pool.index_all().expect("it can be read");
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
            file.write_all(scenes::scene(&slug, language, scene, bytes).as_bytes()).expect("written");
        }
        file.flush().expect("written");
    }
}
