//! Cost and durability of the journal.
//!
//! `cargo bench --bench journal` runs all parts; one can be named with its numbers:
//!
//! - `sync [CALLS] [URL]`: throughput of calls that are answered immediately, 1,024 in flight, with and without waiting for the
//!   disk; with the offline engine, or a server.
//! - `open [RECORDS]`: time and memory to open a journal with records of 2 KB, in another process.
//! - `kill [KILLS] [SEED]`: kills a process that closes a segment every few milliseconds at random moments; no acknowledged
//!   record may be missing.
//!
//! Uses the system's temporary folder.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

mod process;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use dramaturg::llm::{
    Ask, Budget, Endpoint, Journal, Model, Offline, OfflineAnswer, OfflineOptions, Record, Reply, Request, Sampling,
    ServedOptions, Session, Usage,
};
use dramaturg::prompt::{PromptError, Prompts};
use dramaturg::schema::{Draw, Message};
use dramaturg::store::{FileJournal, JournalOptions, JournalView};
use rand::{Rng as _, RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use self::process::{cpu_seconds, peak_megabytes, to_f64};

/// Calls in flight.
const CONCURRENCY: usize = 1024;

fn main() {
    // Cargo adds `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let number = |at: usize, default: u64| {
        arguments.get(at).map_or(default, |text| text.parse().expect("the argument is a number"))
    };
    match arguments.first().map(String::as_str) {
        None => {
            sync(20_000, None);
            open(1_000_000);
            kill(100, 1);
        }
        Some("sync") => sync(number(1, 20_000), arguments.get(2).map(String::as_str)),
        Some("open") => open(number(1, 1_000_000)),
        Some("kill") => kill(number(1, 100), number(2, 1)),
        Some("opens") => opens(Path::new(&arguments[1])),
        Some("writes") => writes(Path::new(&arguments[1]), number(2, 0)),
        Some(other) => panic!("unknown part `{other}`"),
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Rating {
    why: String,
    score: u8,
}

struct Rate(u64);

impl Ask for Rate {
    const NAME: &'static str = "bench/rate";
    type Answer = Rating;

    fn messages(&self, _: &Prompts) -> Result<Vec<Message>, PromptError> {
        let line =
            format!("Line {}. {}", self.0, "“I have not seen it yet. I only tell what I have seen.” ".repeat(20));
        Ok(vec![Message::system("You rate lines of talk, from 1 to 5, and say why."), Message::user(line)])
    }
}

impl OfflineAnswer for Rate {
    fn answer_offline(&self, _: &mut Offline<'_>) -> Rating {
        Rating { why: "It is in his voice, and it answers what was asked of him.".to_owned(), score: 4 }
    }
}

/// Measures the cost of waiting for the disk, in pairs of runs with and without it.
fn sync(calls: u64, url: Option<&str>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("the runtime starts");
    let mut rates = [Vec::new(), Vec::new()];
    // The first pair is a warm-up.
    for pair in 0..8 {
        for sync in if pair % 2 == 0 { [true, false] } else { [false, true] } {
            let rate = runtime.block_on(calls_a_second(calls, url, sync));
            if pair > 0 {
                rates[usize::from(sync)].push(rate);
            }
        }
    }
    let [without, with] = rates.map(|mut rates| {
        rates.sort_by(f64::total_cmp);
        (rates[rates.len() / 2], rates[0], rates[rates.len() - 1])
    });
    for (name, (median, least, most)) in [("without a sync", without), ("with", with)] {
        println!("{name}: {median:.0} calls/s ({least:.0} to {most:.0})");
    }
    println!("syncing costs {:.1} % of the throughput", 100.0 * (1.0 - with.0 / without.0));
}

async fn calls_a_second(calls: u64, url: Option<&str>, sync: bool) -> f64 {
    let folder = tempfile::tempdir().expect("the temporary folder is writable");
    let options = JournalOptions { sync, ..JournalOptions::default() };
    let journal = FileJournal::open_with(&folder.path().join("journal.jsonl"), options).expect("the journal opens");
    let journal: Arc<dyn Journal> = Arc::new(journal);
    let prompts = Prompts::new([], &BTreeMap::new()).expect("an empty list of templates is valid");
    let session = Arc::new(Session::new(7, prompts, journal, Budget::default(), false));
    let model = match url {
        None => Model::offline("mock", OfflineOptions::default(), session),
        Some(url) => {
            let concurrency = u32::try_from(CONCURRENCY).expect("the number fits");
            let options = ServedOptions { concurrency, ..ServedOptions::default() };
            let endpoint = Endpoint { options, ..Endpoint::new(url, "mock") };
            Model::served("mock", endpoint, &Sampling::default(), Value::Null, None, 2, session)
                .expect("the client is valid")
        }
    };
    let model = Arc::new(model);
    let begun = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for call in 0..calls {
        if tasks.len() >= CONCURRENCY {
            tasks.join_next().await.expect("a task is running").expect("the task does not panic");
        }
        let model = Arc::clone(&model);
        tasks.spawn(async move {
            model.ask(&Rate(call), &Draw::Other(call.to_string())).await.map(drop).expect("the call is answered");
        });
    }
    tasks.join_all().await;
    to_f64(calls) / begun.elapsed().as_secs_f64()
}

/// Makes a record of about 2 KB in the journal, with a text shared by many records and one of its own.
fn record(number: u64) -> Record {
    let mut rng = ChaCha8Rng::seed_from_u64(number);
    let mut words = |count: usize| -> String {
        let word = |_| format!("{:x} ", rng.next_u64() % 4000);
        (0..count).map(word).collect()
    };
    let request = Request {
        model: "mock".to_owned(),
        messages: vec![
            Message::system(format!("You are number {}. {}", number / 1000, "Say what you would say. ".repeat(40))),
            Message::user(words(220)),
        ],
        sampling: json!({"temperature": 0.7}),
        schema: Value::Null,
        extra_body: Value::Null,
    };
    let draw = format!("lane/{}/{}", number / 20, number % 20);
    Record {
        key: request.key("bench/say", &draw),
        parent: None,
        ask: "bench/say".to_owned(),
        model: "writer".to_owned(),
        draw,
        request,
        reply: Reply { text: words(120), finish: Some("stop".to_owned()), ..Reply::default() },
        usage: Usage { prompt: 500, cached: 400, completion: 150, reasoning: 0, estimated: false },
        requests: 1,
        latency_ms: 812,
    }
}

/// Writes records concurrently and reports how many are acknowledged.
fn write(journal: &FileJournal, mut begin: u64, last: u64, mut acknowledged: impl FnMut(u64)) {
    const TOGETHER: u64 = 256;
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("the runtime starts");
    while begin < last {
        let end = last.min(begin + TOGETHER);
        let writes = (begin..end).map(|number| journal.write(record(number)));
        for written in runtime.block_on(futures::future::join_all(writes)) {
            written.expect("the disk has space");
        }
        acknowledged(end);
        begin = end;
    }
}

fn this(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("the executable has a path"));
    command.args(arguments);
    command
}

/// Writes a journal and opens it in another process.
fn open(records: u64) {
    let folder = tempfile::tempdir().expect("the temporary folder is writable");
    let path = folder.path().join("journal.jsonl");
    let options = JournalOptions { sync: false, ..JournalOptions::default() };
    let begun = Instant::now();
    let journal = FileJournal::open_with(&path, options).expect("the journal opens");
    let mut next = 0;
    write(&journal, 0, records, |written| {
        if written >= next {
            next += records / 4;
            println!("{written} records after {:.0} s", begun.elapsed().as_secs_f64());
        }
    });
    drop(journal);
    for _ in 0..3 {
        let status = this(&["opens", &path.display().to_string()]).status().expect("the process starts");
        assert!(status.success(), "failed to open the journal");
    }
}

/// Opens a journal, reads from it, and prints the cost.
fn opens(path: &Path) {
    let begun = Instant::now();
    let journal = FileJournal::open(path).expect("the journal opens");
    let (wall, cpu, peak) = (begun.elapsed().as_secs_f64(), cpu_seconds(), peak_megabytes());
    println!("{} records opened in {wall:.2} s, {cpu:.2} s CPU, {peak} MB peak", journal.len());
    let records = u64::try_from(journal.len()).expect("the number fits");
    for (name, step) in [("in their order", 1), ("here and there", 7919)] {
        let begun = Instant::now();
        let count = 20_000;
        for n in 0..count {
            let record = record(n * step % records);
            let answered = journal.find(&record.key).expect("the file is readable").expect("it was written");
            assert_eq!(answered.reply, record.reply);
        }
        println!(
            "  {:.0} µs to compute a key and look it up, {name}",
            begun.elapsed().as_secs_f64() * 1e6 / to_f64(count)
        );
    }
    drop(journal);
    let begun = Instant::now();
    let view = JournalView::open(path).expect("the journal opens");
    let bytes = view.bytes();
    let read = view.records().flatten().count();
    println!(
        "  {read} records read whole in {:.1} s, {} bytes a record in {} files, {} MB peak",
        begun.elapsed().as_secs_f64(),
        bytes / records,
        view.segments(),
        peak_megabytes()
    );
}

/// Options for the `kill` part: a segment has about fifty records.
const SMALL: JournalOptions = JournalOptions { segment_bytes: 100_000, sync: true };

/// Kills a writing process repeatedly and checks that all acknowledged records are there.
fn kill(kills: u64, seed: u64) {
    let folder = tempfile::tempdir().expect("the temporary folder is writable");
    let path = folder.path().join("journal.jsonl");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (mut begin, mut unacknowledged, mut steps) = (0, 0, BTreeMap::<String, u64>::new());
    for _ in 0..kills {
        let mut command = this(&["writes", &path.display().to_string(), &begin.to_string()]);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the process starts");
        let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
        // Killed at any moment after it has opened the journal.
        lines.next().expect("the writer prints a line").expect("the line is UTF-8");
        std::thread::sleep(Duration::from_micros(rng.random_range(0..60_000)));
        child.kill().expect("the process is running");
        child.wait().expect("the process ends");
        let acknowledged = lines.map_while(Result::ok).filter_map(|line| line.parse().ok()).last().unwrap_or(begin);
        *steps.entry(state(folder.path())).or_default() += 1;
        let view = JournalView::open(&path).expect("the journal opens");
        assert_eq!(view.damaged(), 0, "only the last line may be incomplete");
        drop(view);
        let journal = FileJournal::open_with(&path, SMALL).expect("the journal opens");
        assert_eq!(journal.damaged(), 0, "only the last line may be incomplete");
        let held = u64::try_from(journal.len()).expect("the number fits");
        assert!(held >= acknowledged, "{held} records found, {acknowledged} acknowledged");
        for number in begin.saturating_sub(500)..acknowledged {
            let record = record(number);
            let answered = journal.find(&record.key).expect("the file is readable");
            assert_eq!(answered.map(|answered| answered.reply), Some(record.reply), "{number} of {acknowledged}");
        }
        unacknowledged += held - acknowledged;
        begin = acknowledged;
    }
    let view = JournalView::open(&path).expect("the journal opens");
    let kept: Vec<String> = view.records().map(|record| record.expect("the file is readable").key).collect();
    let all: std::collections::BTreeSet<&String> = kept.iter().collect();
    assert_eq!(all.len(), kept.len(), "duplicate records");
    for number in 0..begin {
        assert!(all.contains(&record(number).key), "{number} of {begin}");
    }
    println!(
        "{kills} kills: all of {begin} acknowledged records are there, once; {unacknowledged} more were on their way; {} files",
        view.segments()
    );
    for (state, count) in steps {
        println!("  {count} kills left {state}");
    }
}

/// Describes how far closing a segment had got.
fn state(folder: &Path) -> String {
    let names: Vec<String> = std::fs::read_dir(folder)
        .expect("the temporary folder is writable")
        .map(|entry| entry.expect("the folder is readable").file_name().to_string_lossy().into_owned())
        .collect();
    let count = |is: &dyn Fn(&str) -> bool| names.iter().filter(|name| is(name)).count();
    let is = |name: &str, extension: &str| Path::new(name).extension().is_some_and(|its| its == extension);
    let plain = count(&|name| name != "journal.jsonl" && is(name, "jsonl"));
    let both = count(&|name| names.contains(&format!("{name}.zst")));
    let parts = [
        (count(&|name| name == "journal.jsonl") == 0, "no open file"),
        (count(&|name| name == "journal.jsonl.new") > 0, "the next file begun"),
        (plain > 0, "closed files to compress"),
        (both > 0, "a file in both forms"),
        (count(&|name| name.ends_with(".zst.new")) > 0, "a file half compressed"),
    ];
    let left: Vec<&str> = parts.iter().filter(|(is, _)| *is).map(|(_, what)| *what).collect();
    if left.is_empty() { "nothing unfinished".to_owned() } else { left.join(", ") }
}

/// Writes records from a number on until it is killed, and prints its progress after each batch.
fn writes(path: &Path, begin: u64) {
    let journal = FileJournal::open_with(path, SMALL).expect("the journal opens");
    println!("open");
    write(&journal, begin, begin + 1_000_000, |written| {
        println!("{written}");
        std::io::stdout().flush().expect("stdout is open");
    });
}
