//! Cost of a large simulation: time, CPU and memory of many concurrent lanes against a server with latency.
//!
//! `cargo bench --bench chat -- [CHARACTERS] [URL]` plays test characters with 21 source models and a pool of 6,000 scenes,
//! until each of five dimensions was targeted ten times. 20 characters are the size of the paper's run (about 200,000 calls);
//! the default is 2. Without a URL it starts a mock server in another process that answers after 200 ms. 512 requests are in
//! flight: a few for each source, and the rest for the model that plays everything else.
//!
//! The printed bound is the minimum for any scheduler: the longest lane played sequentially, or the calls of the busiest model
//! divided by its concurrency, whichever is larger.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

mod process;
mod scenes;
mod server;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dramaturg::config;
use dramaturg::config::{Endpoints, Environment};
use dramaturg::event::{Event, Reporter};
use dramaturg::pipeline;
use dramaturg::pipeline::{RunOptions, Summary};
use dramaturg::schema::Language;
use dramaturg::schema::Stage;
use dramaturg::store::JournalView;
use serde_json::{Value, json};
use tokio::sync::watch;

use self::process::{cpu_seconds, peak_megabytes, to_f64};
use self::server::{Answer, Server, serve};

const LATENCY: Duration = Duration::from_millis(200);
/// Requests in flight.
const CONCURRENCY: usize = 512;
/// Requests in flight per source.
const OF_A_SOURCE: usize = 3;
const SOURCES: usize = 21;
const TAU: u32 = 10;
/// The model that plays everything except the test characters.
const CAST: &str = "cast";
const SCENES: usize = 6_000;
const BOOKS: usize = 180;
const SCENE_BYTES: usize = 6_000;

fn main() {
    // Cargo adds `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let runtime = pipeline::runtime().expect("the runtime starts");
    if arguments.first().is_some_and(|argument| argument == "serve") {
        runtime.block_on(serve(answer));
        return;
    }
    let characters = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(2);
    let url = arguments.iter().find(|argument| argument.starts_with("http"));
    let server = url.is_none().then(|| Server::start(&["serve"]));
    let url = server.as_ref().map_or_else(|| url.expect("a URL was given").clone(), |server| server.url.clone());
    let folder = tempfile::tempdir().expect("the temporary folder is writable");
    fill(folder.path(), characters);
    runtime.block_on(measure(folder.path(), &url));
}

/// Runs the simulation and prints its cost.
async fn measure(folder: &Path, url: &str) {
    let file = folder.join("chat.toml");
    std::fs::write(&file, pipeline_file(folder, url)).expect("the temporary folder is writable");
    let loaded =
        config::load(&file, &[], &Environment::default(), Endpoints::Needed).expect("the pipeline file is valid");
    let out = folder.join("run");
    let (_stop, stop) = watch::channel(false);
    let options =
        RunOptions { out: Some(out.clone()), limit: None, replay: false, judges: vec![], until: Stage::Export, stop };
    let clock = Arc::new(Stages::default());
    let summary = match pipeline::run(loaded, options, Arc::clone(&clock) as Arc<dyn Reporter>).await {
        Ok(summary) => summary,
        Err(pipeline::RunError::Failures { summary, first, failed, .. }) => {
            println!("{failed} failed, first {first}");
            *summary
        }
        Err(error) => panic!("{error}: {:?}", std::error::Error::source(&error)),
    };
    let (cpu, memory) = (cpu_seconds(), peak_megabytes());
    let path = longest_lane(&out);
    report(&summary, path, clock.seconds(Stage::Simulate), cpu, memory);
    for (stage, peak) in clock.peaks() {
        println!("  {stage}: {:.1} s, {peak} MB peak until its end", clock.seconds(stage));
    }
}

fn report(summary: &Summary, path: u64, wall: f64, cpu: f64, memory: u64) {
    let calls = summary.calls.made;
    let latency = LATENCY.as_secs_f64();
    let mut models: BTreeMap<&str, u64> = BTreeMap::new();
    for ask in summary.asks.iter().filter(|ask| ask.model != "reader") {
        *models.entry(&ask.model).or_default() += ask.calls.made;
    }
    let share = |(model, calls): (&str, u64)| to_f64(calls) * latency / to_f64(concurrency(model) as u64);
    let share = models.into_iter().map(share).fold(0.0, f64::max);
    let lane = to_f64(path) * latency;
    let bound = lane.max(share);
    println!("calls      {calls}, {} failed, {} requests", summary.calls.failed, summary.requests);
    println!("bound      {bound:.1} s (longest lane {lane:.1} s, busiest model {share:.1} s)");
    let all = lane.max(to_f64(calls) * latency / to_f64(CONCURRENCY as u64));
    println!(
        "all        {:.3} of the {all:.1} s that {CONCURRENCY} places which any model may take would need",
        wall / all
    );
    println!("simulate   {wall:.1} s, {:.3} of the bound; the whole run {:.1} s", wall / bound, summary.wall_s);
    println!("CPU        {cpu:.1} s, {:.0} µs per call", cpu * 1e6 / to_f64(calls));
    println!("memory     {memory} MB peak");
    println!("rows       {}", json!(summary.rows));
}

/// Start of a stage, its duration in seconds, and peak memory in MB until its end.
type Took = (Option<Instant>, f64, u64);

/// Times and peak memory by stage.
#[derive(Debug, Default)]
struct Stages(Mutex<BTreeMap<Stage, Took>>);

impl Stages {
    fn seconds(&self, stage: Stage) -> f64 {
        self.0
            .lock()
            .expect("no thread panics while it holds the lock")
            .get(&stage)
            .map_or(0.0, |(_, seconds, _)| *seconds)
    }

    fn peaks(&self) -> Vec<(Stage, u64)> {
        self.0
            .lock()
            .expect("no thread panics while it holds the lock")
            .iter()
            .map(|(stage, (_, _, peak))| (*stage, *peak))
            .collect()
    }
}

impl Reporter for Stages {
    fn report(&self, event: Event) {
        let mut stages = self.0.lock().expect("no thread panics while it holds the lock");
        match event {
            Event::Started { stage, .. } => drop(stages.insert(stage, (Some(Instant::now()), 0.0, 0))),
            Event::Ended { stage, .. } => {
                if let Some((Some(begun), seconds, peak)) = stages.get_mut(&stage) {
                    (*seconds, *peak) = (begun.elapsed().as_secs_f64(), peak_megabytes());
                }
            }
            _ => {}
        }
    }
}

/// Returns the number of sequential calls of the longest lane: for each batch those of its longest conversation, where
/// source and base count as one.
fn longest_lane(run: &Path) -> u64 {
    let batches = batches(&run.join("dataset/conversations/test-00000-of-00001.parquet"));
    let journal = JournalView::open(&run.join("journal.jsonl")).expect("the journal opens");
    let mut conversations: BTreeMap<String, u64> = BTreeMap::new();
    for record in journal.records() {
        let draw = record.expect("the file is readable").draw;
        let mut parts = draw.splitn(4, '/');
        let (Some(character), Some(source), Some(number), Some(part)) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        if !part.ends_with("base") {
            *conversations.entry(format!("{character}/{source}/{number}")).or_default() += 1;
        }
    }
    let mut longest: BTreeMap<(&str, u32), u64> = BTreeMap::new();
    for (conversation, calls) in &conversations {
        let (lane, _) = conversation.rsplit_once('/').expect("an id has three parts");
        // A failed conversation is in no table.
        let Some(batch) = batches.get(conversation) else { continue };
        let most = longest.entry((lane, *batch)).or_default();
        *most = (*most).max(*calls);
    }
    let mut lanes: BTreeMap<&str, u64> = BTreeMap::new();
    for ((lane, _), calls) in longest {
        *lanes.entry(lane).or_default() += calls;
    }
    lanes.into_values().max().unwrap_or(0)
}

/// Returns the batch of each conversation.
fn batches(table: &Path) -> BTreeMap<String, u32> {
    use polars::prelude::{ParquetReader, SerReader as _};
    let file = std::fs::File::open(table).expect("the run has conversations");
    let columns = Some(vec!["id".to_owned(), "batch".to_owned()]);
    let frame = ParquetReader::new(file).with_columns(columns).finish().expect("the file is readable");
    let ids = frame
        .column("id")
        .expect("the column exists")
        .str()
        .expect("the column has strings")
        .iter()
        .map(|id| id.expect("not null"));
    let batches = frame.column("batch").expect("the column exists").i32().expect("the column has numbers").iter();
    let batches = batches.map(|batch| u32::try_from(batch.expect("not null")).expect("the value is not negative"));
    ids.map(str::to_owned).zip(batches).collect()
}

/// Returns the concurrency of a model.
fn concurrency(model: &str) -> usize {
    if model == CAST { CONCURRENCY - SOURCES * OF_A_SOURCE } else { OF_A_SOURCE }
}

/// Writes character files, the scene pool and a book.
fn fill(folder: &Path, count: usize) {
    let custom = folder.join("pool/custom");
    std::fs::create_dir_all(&custom).expect("the temporary folder is writable");
    for book in 0..BOOKS {
        let slug = format!("book-{book}");
        let scenes: Vec<String> = (0..SCENES.div_ceil(BOOKS))
            .map(|scene| scenes::scene(&slug, Language::ALL[book % 2], book * 1000 + scene, SCENE_BYTES))
            .collect();
        std::fs::write(custom.join(format!("{slug}.json")), format!("[{}]", scenes.join(",")))
            .expect("the temporary folder is writable");
    }
    let characters = folder.join("characters");
    std::fs::create_dir_all(&characters).expect("the temporary folder is writable");
    for number in 0..count {
        std::fs::write(characters.join(format!("{number:02}.json")), character(number).to_string())
            .expect("the temporary folder is writable");
    }
    let talk = "“Is it you?” said Anna.\n\n“It is,” said Boris.\n\n".repeat(20);
    std::fs::write(folder.join("book.txt"), format!("Chapter One\n\n{talk}"))
        .expect("the temporary folder is writable");
}

fn character(number: usize) -> Value {
    let (language, [name, key, value, line]) = match number % 2 {
        0 => ("en", ["Guest", "habit", "Counts whatever can be counted, and believes nothing else.", "I have counted"]),
        _ => ("zh", ["客人", "习惯", "凡是数得清的都要数一遍，旁的一概不信。", "我数过"]),
    };
    let attribute = |entry: usize| {
        let visibility = if entry.is_multiple_of(2) { "public" } else { "private" };
        json!({"key": format!("{key} {entry}"), "value": value, "visibility": visibility})
    };
    let profile: Vec<Value> = (0..10).map(attribute).collect();
    let lines: Vec<String> = (0..24).map(|count| format!("{line} {count}.")).collect();
    json!({
        "name": format!("{name} {number}"), "language": language, "type": "established", "profile": profile, "lines": lines,
    })
}

fn pipeline_file(folder: &Path, url: &str) -> String {
    let folder = folder.display();
    let mut text = format!(
        "name = \"chat\"\nseed = 7\nbooks = {{ paths = [\"{folder}/book.txt\"] }}\n\n[models.reader]\nprovider = \"offline\"\n"
    );
    let mut model = |name: &str| {
        let _ = write!(
            text,
            "[models.{name}]\nprovider = \"openai\"\nbase_url = \"{url}\"\nmodel = \"{name}\"\n\
             concurrency = {}\nprice = {{ input = 1.0, output = 1.0 }}\n",
            concurrency(name)
        );
    };
    let sources: Vec<String> = (0..SOURCES).map(|source| format!("source-{source:02}")).collect();
    sources.iter().map(String::as_str).chain([CAST]).for_each(&mut model);
    let sources = sources.iter().map(|source| format!("\"{source}\"")).collect::<Vec<_>>().join(", ");
    let _ = write!(
        text,
        "[cast]\nextractor = \"reader\"\nsynthesizers = [\"reader\"]\ndirector = \"{CAST}\"\nscene = \"{CAST}\"\n\
         sources = [{sources}]\nbase = \"{CAST}\"\njudge = \"{CAST}\"\n\n[extract]\npool = \"{folder}/pool\"\n\n\
         [synthesize]\nestablished = [\"{folder}/characters/*.json\"]\ncount = {{ en = 0, zh = 0 }}\n\n\
         [simulate]\ntau = {TAU}\n"
    );
    text
}

/// Answers a request after the latency, with an instance of its schema if it has one. Answers depend on the request body.
async fn answer(body: Vec<u8>) -> Answer {
    tokio::time::sleep(LATENCY).await;
    let request: Value = serde_json::from_slice(&body).expect("the client sends JSON");
    let hash = blake3::hash(&body);
    let mut dice = Dice(u64::from_le_bytes(hash.as_bytes()[..8].try_into().expect("the slice has eight bytes")));
    // In a Chinese prompt most bytes belong to Chinese characters.
    let is_chinese = body.iter().filter(|byte| !byte.is_ascii()).count() * 2 > body.len();
    let schema = &request["response_format"]["json_schema"]["schema"];
    let content = match schema["properties"].as_object() {
        Some(properties) => {
            let value = |(name, part): (&String, &Value)| (name.clone(), dice.value(schema, part, is_chinese));
            Value::Object(properties.iter().map(value).collect()).to_string()
        }
        None => dice.line(is_chinese),
    };
    let usage = json!({"prompt_tokens": body.len() / 4, "completion_tokens": content.len() / 4});
    let choices = json!([{"message": {"content": content}, "finish_reason": "stop"}]);
    let body = json!({"model": "mock", "choices": choices, "usage": usage}).to_string();
    Answer { head: "200 OK", body }
}

const EN_WORDS: [&str; 16] = [
    "river", "stone", "lamp", "never", "tide", "ferry", "letter", "winter", "mother", "key", "salt", "bell", "debt",
    "road", "snow", "name",
];
const ZH_WORDS: [&str; 16] = [
    "江水", "石头", "灯火", "从来", "潮汐", "渡船", "书信", "冬天", "母亲", "钥匙", "粗盐", "钟声", "旧债", "大路",
    "雪地", "名字",
];

/// A random generator seeded with a request's body.
struct Dice(u64);

impl Dice {
    const fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    /// Returns a value that is valid for a part of a schema.
    fn value(&mut self, schema: &Value, part: &Value, is_chinese: bool) -> Value {
        if let Some(name) = part["$ref"].as_str().and_then(|name| name.strip_prefix("#/")) {
            let named = schema.pointer(&format!("/{name}")).expect("the schema contains its references");
            return self.value(schema, named, is_chinese);
        }
        match (part["enum"].as_array(), part["oneOf"].as_array()) {
            (Some(values), _) => values[self.roll(values.len())].clone(),
            (_, Some(values)) => values[self.roll(values.len())]["const"].clone(),
            _ => json!(self.line(is_chinese)),
        }
    }

    /// Returns two sentences.
    fn line(&mut self, is_chinese: bool) -> String {
        let (words, gap, end) = if is_chinese { (ZH_WORDS, "", "。") } else { (EN_WORDS, " ", ". ") };
        let mut line = if is_chinese { "(点头) ".to_owned() } else { "(nods) ".to_owned() };
        for _ in 0..2 {
            let sentence: Vec<&str> = (0..12).map(|_| words[self.roll(words.len())]).collect();
            line.push_str(&sentence.join(gap));
            line.push_str(end);
        }
        line.trim_end().to_owned()
    }
}
