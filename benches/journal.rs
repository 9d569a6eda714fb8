//! What the journal costs, and what it survives.
//!
//! `cargo bench --bench journal` runs all three parts; each can be named with its numbers:
//!
//! - `sync [CALLS] [URL]`: the throughput of calls that are answered at once, 1,024 in flight, when answers wait for the disk
//!   and when they do not; by the offline engine, or by a server.
//! - `open [RECORDS]`: how long a journal of records of 2 KB takes to be opened, and how much memory, in a process of its own.
//! - `kill [KILLS] [SEED]`: a process that closes a segment every few milliseconds is killed at random moments; nothing that it
//!   had acknowledged may be missing.
//!
//! Works in the system's temporary folder.

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
    Session, Usage,
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
    // Cargo passes `--bench` along.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let number = |at: usize, default: u64| arguments.get(at).map_or(default, |text| text.parse().expect("a number"));
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
        Some(other) => panic!("no part is called {other}"),
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

/// Measures what waiting for the disk costs, in pairs of runs of either kind.
fn sync(calls: u64, url: Option<&str>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let mut rates = [Vec::new(), Vec::new()];
    // The first pair warms everything up.
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
    println!("a sync costs {:.1} % of the throughput", 100.0 * (1.0 - with.0 / without.0));
}

async fn calls_a_second(calls: u64, url: Option<&str>, sync: bool) -> f64 {
    let folder = tempfile::tempdir().expect("a folder");
    let options = JournalOptions { sync, ..JournalOptions::default() };
    let journal = FileJournal::open_with(&folder.path().join("journal.jsonl"), options).expect("a journal");
    let journal: Arc<dyn Journal> = Arc::new(journal);
    let prompts = Prompts::new([], &BTreeMap::new()).expect("no templates");
    let session = Arc::new(Session::new(7, prompts, journal, Budget::default(), false));
    let model = match url {
        None => Model::offline("mock", OfflineOptions::default(), session),
        Some(url) => {
            let endpoint = Endpoint { concurrency: CONCURRENCY, ..Endpoint::new(url, "mock") };
            Model::served("mock", endpoint, &Sampling::default(), Value::Null, None, 2, session).expect("a client")
        }
    };
    let model = Arc::new(model);
    let begun = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for call in 0..calls {
        if tasks.len() >= CONCURRENCY {
            tasks.join_next().await.expect("there is one").expect("no panic");
        }
        let model = Arc::clone(&model);
        tasks.spawn(async move {
            model.ask(&Rate(call), &Draw::Other(call.to_string())).await.map(drop).expect("an answer")
        });
    }
    tasks.join_all().await;
    to_f64(calls) / begun.elapsed().as_secs_f64()
}

/// Makes a record whose lines in the journal take about 2 KB: words in the place of talk, a text that many have, and one of its own.
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

/// Writes records, many at a time, and hands on how many are acknowledged.
fn write(journal: &FileJournal, mut begin: u64, last: u64, mut acknowledged: impl FnMut(u64)) {
    const TOGETHER: u64 = 256;
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    while begin < last {
        let end = last.min(begin + TOGETHER);
        let writes = (begin..end).map(|number| journal.write(record(number)));
        for written in runtime.block_on(futures::future::join_all(writes)) {
            written.expect("there is room on the disk");
        }
        acknowledged(end);
        begin = end;
    }
}

fn this(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("the benchmark has a path"));
    command.args(arguments);
    command
}

/// Makes a journal and has another process open it.
fn open(records: u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal.jsonl");
    let options = JournalOptions { sync: false, ..JournalOptions::default() };
    let begun = Instant::now();
    let journal = FileJournal::open_with(&path, options).expect("a journal");
    let mut next = 0;
    write(&journal, 0, records, |written| {
        if written >= next {
            next += records / 4;
            println!("{written} records after {:.0} s", begun.elapsed().as_secs_f64());
        }
    });
    drop(journal);
    for _ in 0..3 {
        let status = this(&["opens", &path.display().to_string()]).status().expect("it starts");
        assert!(status.success(), "the journal is opened");
    }
}

/// Opens a journal, reads from it, and tells what that took.
fn opens(path: &Path) {
    let begun = Instant::now();
    let journal = FileJournal::open(path).expect("a journal");
    let (wall, cpu, peak) = (begun.elapsed().as_secs_f64(), cpu_seconds(), peak_megabytes());
    println!("{} records opened in {wall:.2} s, {cpu:.2} s CPU, {peak} MB at most", journal.len());
    let records = u64::try_from(journal.len()).expect("it fits");
    for (name, step) in [("in their order", 1), ("here and there", 7919)] {
        let begun = Instant::now();
        let count = 20_000;
        for n in 0..count {
            let record = record(n * step % records);
            let answered = journal.find(&record.key).expect("it can be read").expect("it is there");
            assert_eq!(answered.reply, record.reply);
        }
        println!("  {:.0} µs to make a key and find it, {name}", begun.elapsed().as_secs_f64() * 1e6 / to_f64(count));
    }
    drop(journal);
    let begun = Instant::now();
    let view = JournalView::open(path).expect("a journal");
    let bytes = view.bytes();
    let read = view.records().flatten().count();
    println!(
        "  {read} records read whole in {:.1} s, {} bytes a record in {} files, {} MB at most",
        begun.elapsed().as_secs_f64(),
        bytes / records,
        view.segments(),
        peak_megabytes()
    );
}

/// The options of the journal whose writer is killed: a segment lasts for some fifty records.
const SMALL: JournalOptions = JournalOptions { segment_bytes: 100_000, sync: true };

/// Kills a process that writes, again and again, and looks for what it had acknowledged.
fn kill(kills: u64, seed: u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal.jsonl");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (mut begin, mut unacknowledged, mut steps) = (0, 0, BTreeMap::<String, u64>::new());
    for _ in 0..kills {
        let mut command = this(&["writes", &path.display().to_string(), &begin.to_string()]);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        // Not before it has opened the journal; then at any instant.
        lines.next().expect("a line").expect("it is text");
        std::thread::sleep(Duration::from_micros(rng.random_range(0..60_000)));
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        let acknowledged = lines.map_while(Result::ok).filter_map(|line| line.parse().ok()).last().unwrap_or(begin);
        *steps.entry(state(folder.path())).or_default() += 1;
        let view = JournalView::open(&path).expect("a journal");
        assert_eq!(view.damaged(), 0, "at most a last line is torn");
        drop(view);
        let journal = FileJournal::open_with(&path, SMALL).expect("a journal");
        assert_eq!(journal.damaged(), 0, "at most a last line is torn");
        let held = u64::try_from(journal.len()).expect("it fits");
        assert!(held >= acknowledged, "{held} records of {acknowledged}");
        for number in begin.saturating_sub(500)..acknowledged {
            let record = record(number);
            let answered = journal.find(&record.key).expect("it can be read");
            assert_eq!(answered.map(|answered| answered.reply), Some(record.reply), "{number} of {acknowledged}");
        }
        unacknowledged += held - acknowledged;
        begin = acknowledged;
    }
    let view = JournalView::open(&path).expect("a journal");
    let kept: Vec<String> = view.records().map(|record| record.expect("it can be read").key).collect();
    let all: std::collections::BTreeSet<&String> = kept.iter().collect();
    assert_eq!(all.len(), kept.len(), "each once");
    for number in 0..begin {
        assert!(all.contains(&record(number).key), "{number} of {begin}");
    }
    println!(
        "{kills} kills: all of {begin} acknowledged records are there, once; {unacknowledged} more were on their way; {} files",
        view.segments()
    );
    for (state, count) in steps {
        println!("  {count} times the kill left {state}");
    }
}

/// Says how far the closing of a segment had come.
fn state(folder: &Path) -> String {
    let names: Vec<String> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
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

/// Writes records from a number on until it is killed; says after each batch how far it is.
fn writes(path: &Path, begin: u64) {
    let journal = FileJournal::open_with(path, SMALL).expect("a journal");
    println!("open");
    write(&journal, begin, begin + 1_000_000, |written| {
        println!("{written}");
        std::io::stdout().flush().expect("somebody listens");
    });
}
