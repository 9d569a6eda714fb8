//! Cost of a large scene pool: time and memory of listing it, drawing a lane's scenes, and checking it.
//!
//! `cargo bench --bench pool -- SCENES KILOBYTES` makes a pool with a hundred books in both languages and measures each task in
//! its own process. The default is 100,000 scenes of 8 KB.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

mod process;
mod scenes;

use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use dramaturg::dataset::check_pool;
use dramaturg::schema::{Character, CharacterFile, Language};
use dramaturg::stages::simulate::{Params, scene_order};
use dramaturg::store::Pool;

use self::process::{cpu_seconds, peak_megabytes};

const BOOKS: usize = 100;
/// Scenes drawn by the lane.
const DRAWN: usize = 50;

fn main() {
    // Cargo adds `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [task, folder] = &arguments[..]
        && task.parse::<usize>().is_err()
    {
        measure(task, Path::new(folder));
        return;
    }
    let number = |at: usize, default: usize| {
        arguments.get(at).map_or(default, |text| text.parse().expect("the argument is a number"))
    };
    let (scenes, kilobytes) = (number(0, 100_000), number(1, 8));
    let folder = tempfile::tempdir().expect("the temporary folder is writable");
    fill(folder.path(), scenes, kilobytes * 1000);
    for task in ["list", "sample", "check"] {
        for _ in 0..3 {
            let this = std::env::current_exe().expect("the executable has a path");
            let status = Command::new(this).arg(task).arg(folder.path()).status().expect("the process starts");
            assert!(status.success(), "{task} failed");
        }
    }
}

/// Runs one task and prints its cost.
fn measure(task: &str, folder: &Path) {
    let begun = Instant::now();
    let pool = Pool::find(folder).expect("the pool exists");
    let done = match task {
        "list" => {
            let (index, faults) = pool.index_all().expect("the file is readable");
            assert!(faults.is_empty(), "{faults:?}");
            let lines: usize = index.heads().map(|head| head.lines as usize).sum();
            format!("{} scenes with {lines} lines", index.len())
        }
        "sample" => {
            let (index, _) = pool.index_all().expect("the file is readable");
            let places = scene_order(7, "tess/writer", &tess(), index.heads(), &Params::default());
            let scenes: Vec<_> = places
                .into_iter()
                .take(DRAWN)
                .map(|place| index.scene(place as usize).expect("it was written"))
                .collect();
            format!("{} scenes, first `{}`", scenes.len(), scenes[0].id)
        }
        _ => {
            let found = check_pool(&pool).expect("the file is readable");
            format!("{} scenes, {} faults", found.scenes, found.findings.len())
        }
    };
    let megabytes: u64 = std::fs::read_dir(folder)
        .expect("the pool is readable")
        .map(|file| file.and_then(|file| file.metadata()).map_or(0, |metadata| metadata.len()))
        .sum::<u64>()
        / 1_000_000;
    let (wall, cpu) = (begun.elapsed().as_secs_f64(), cpu_seconds());
    println!("{task:>6}  {wall:.2} s, {cpu:.2} s CPU, {} MB peak, of {megabytes} MB: {done}", peak_megabytes());
}

fn tess() -> Character {
    let file: CharacterFile = serde_json::from_value(serde_json::json!({
        "name": "Tess", "language": "en", "profile": [{"key": "trade", "value": "Pilot.", "visibility": "public"}],
    }))
    .expect("the character is valid");
    file.into()
}

/// Writes a pool in which every second book is Chinese.
fn fill(folder: &Path, scenes: usize, bytes: usize) {
    for book in 0..BOOKS {
        let language = Language::ALL[book % 2];
        let slug = format!("book-{book}");
        let file =
            std::fs::File::create(folder.join(format!("{slug}.jsonl"))).expect("the temporary folder is writable");
        let mut file = std::io::BufWriter::new(file);
        for scene in 0..(scenes / BOOKS).max(1) {
            file.write_all(scenes::scene(&slug, language, scene, bytes).as_bytes())
                .expect("the temporary folder is writable");
        }
        file.flush().expect("the temporary folder is writable");
    }
}
