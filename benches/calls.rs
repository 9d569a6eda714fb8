//! Cost of a call to a served model: time, requests, CPU and memory, with journal and schema check.
//!
//! `cargo bench --bench calls -- URL CALLS CONCURRENCY` calls a server. Without a URL it starts a mock server in another
//! process that answers after 200 ms. `cargo bench --bench calls -- limits SECONDS` starts servers with undisclosed rate
//! limits and prints how much of each limit was used and how many requests were rejected.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

mod process;
mod server;

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dramaturg::llm::{Ask, Budget, Endpoint, Journal, Model, Offline, OfflineAnswer, Sampling, ServedOptions, Session};
use dramaturg::prompt::{PromptError, Prompts};
use dramaturg::schema::{Draw, Message};
use dramaturg::store::FileJournal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::process::{cpu_seconds, peak_megabytes, to_f64};
use self::server::{Answer, Server, serve};

/// Latency of the mock server.
const LATENCY: Duration = Duration::from_millis(200);

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Rating {
    why: String,
    #[schemars(range(min = 1, max = 5))]
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
        Rating { why: "so".to_owned(), score: 3 }
    }
}

fn main() {
    // Cargo adds `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let runtime = dramaturg::pipeline::runtime().expect("the runtime starts");
    let number = |at: usize, default: u64| {
        arguments.get(at).map_or(default, |text| text.parse().expect("the argument is a number"))
    };
    match arguments.first().map(String::as_str) {
        Some("serve") => {
            let counts = Counts::named(arguments.get(1).map_or("", String::as_str));
            let limit = Arc::new(Limit::new(counts, to_f64(number(2, 0))));
            runtime.block_on(serve(move |_| answer(Arc::clone(&limit))));
            return;
        }
        Some("limits") => {
            runtime.block_on(measure_limits(Duration::from_secs(number(1, 60))));
            return;
        }
        _ => {}
    }
    let (calls, concurrency) = (number(1, 20_000), number(2, 1024));
    let server = arguments.is_empty().then(|| Server::start(&["serve"]));
    let url = server.as_ref().map_or_else(|| arguments[0].clone(), |server| server.url.clone());
    runtime.block_on(measure(&url, calls, concurrency));
}

/// Prints how much of each rate limit is used within a time, and how many requests are rejected.
async fn measure_limits(time: Duration) {
    println!("window     | limit/s  | passed | used    | rejected");
    for counts in Counts::ALL {
        for rate in [20, 100, 300] {
            let server = Server::start(&["serve", counts.name(), &rate.to_string()]);
            let (requests, refused) = ask_for(&server.url, time).await;
            let (let_in, most) = (requests - refused, rate * time.as_secs());
            let (used, share) = (to_f64(let_in) * 100.0 / to_f64(most), to_f64(refused) * 100.0 / to_f64(requests));
            println!("{:10} | {rate:8} | {let_in:6} | {used:5.1} % | {share:5.2} %", counts.name());
        }
    }
}

/// Calls a server as fast as it allows for a time. Returns the numbers of requests and of rejected requests.
async fn ask_for(url: &str, time: Duration) -> (u64, u64) {
    const CONCURRENCY: usize = 1024;
    let folder = tempfile::tempdir().expect("the temporary folder is writable");
    let model = model(folder.path(), url, CONCURRENCY);
    let mut tasks = tokio::task::JoinSet::new();
    let asking = async {
        for call in 0.. {
            if tasks.len() >= CONCURRENCY {
                tasks.join_next().await;
            }
            let model = Arc::clone(&model);
            tasks.spawn(async move { model.ask(&Rate(call), &Draw::Other(format!("bench/{call}"))).await.is_ok() });
        }
    };
    // Runs until the time is up.
    let _ = tokio::time::timeout(time, asking).await;
    let usage_tracker = &model.session().usage_tracker;
    let refused = usage_tracker
        .faults()
        .into_iter()
        .filter(|(_, kind, _)| *kind == "rate_limited")
        .map(|(.., count)| count)
        .sum();
    // Requests in progress were accepted.
    let made = usage_tracker.totals().made + model.session().in_flight();
    tasks.abort_all();
    (made + refused, refused)
}

fn model(folder: &Path, url: &str, concurrency: u32) -> Arc<Model> {
    let journal: Arc<dyn Journal> =
        Arc::new(FileJournal::open(&folder.join("journal.jsonl")).expect("the journal opens"));
    let prompts = Prompts::new([], &BTreeMap::new()).expect("an empty list of templates is valid");
    let session = Arc::new(Session::new(7, prompts, journal, Budget::default(), false));
    let options = ServedOptions { concurrency, ..ServedOptions::default() };
    let endpoint = Endpoint { options, ..Endpoint::new(url, "mock") };
    let model = Model::served("mock", endpoint, &Sampling::default(), Value::Null, None, 2, session);
    Arc::new(model.expect("the client is valid"))
}

async fn measure(url: &str, calls: u64, concurrency: u64) {
    let folder = tempfile::tempdir().expect("the temporary folder is writable");
    let concurrency = u32::try_from(concurrency).expect("the number fits");
    let model = model(folder.path(), url, concurrency);
    let session = model.session();
    let begun = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    let mut answered = 0;
    for call in 0..calls {
        // As in a run, requests are built shortly before they are sent.
        if tasks.len() >= 2 * concurrency as usize {
            answered += u64::from(
                tasks.join_next().await.is_some_and(|is_answered| is_answered.expect("the task does not panic")),
            );
        }
        let model = Arc::clone(&model);
        tasks.spawn(async move { model.ask(&Rate(call), &Draw::Other(format!("bench/{call}"))).await.is_ok() });
    }
    while let Some(is_answered) = tasks.join_next().await {
        answered += u64::from(is_answered.expect("the task does not panic"));
    }
    let wall = begun.elapsed().as_secs_f64();
    let requests = session.usage_tracker.totals().requests;
    let cpu = cpu_seconds();
    println!(
        "{answered} of {calls} answered in {wall:.2} s with {requests} requests; {:.0} µs CPU a call, {} MB peak",
        cpu * 1e6 / to_f64(calls),
        peak_megabytes()
    );
    for (_, kind, count) in session.usage_tracker.faults() {
        println!("  {kind}: {count}");
    }
}

/// How a server counts requests per second.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Counts {
    /// No limit.
    No,
    /// Fixed windows of a second, starting with the first request.
    Windows,
    /// A sliding window of a second.
    Sliding,
    /// A token bucket with a capacity of one second.
    Bucket,
}

impl Counts {
    const ALL: [Self; 3] = [Self::Windows, Self::Sliding, Self::Bucket];

    const fn name(self) -> &'static str {
        match self {
            Self::No => "",
            Self::Windows => "windows",
            Self::Sliding => "sliding",
            Self::Bucket => "bucket",
        }
    }

    fn named(name: &str) -> Self {
        Self::ALL.into_iter().find(|counts| counts.name() == name).unwrap_or(Self::No)
    }
}

/// Rate limit of a mock server.
struct Limit {
    counts: Counts,
    most: f64,
    since: Instant,
    count: f64,
    let_in: VecDeque<Instant>,
}

impl Limit {
    fn new(counts: Counts, most: f64) -> Mutex<Self> {
        let count = if counts == Counts::Bucket { most } else { 0.0 };
        Mutex::new(Self { counts, most, since: Instant::now(), count, let_in: VecDeque::new() })
    }

    fn lets_in(&mut self) -> bool {
        const SECOND: Duration = Duration::from_secs(1);
        let now = Instant::now();
        match self.counts {
            Counts::No => true,
            Counts::Windows => {
                if now - self.since >= SECOND {
                    (self.since, self.count) = (now, 0.0);
                }
                self.count += 1.0;
                self.count <= self.most
            }
            Counts::Sliding => {
                while self.let_in.front().is_some_and(|at| now - *at >= SECOND) {
                    self.let_in.pop_front();
                }
                let lets_in = to_f64(self.let_in.len() as u64) < self.most;
                self.let_in.extend(lets_in.then_some(now));
                lets_in
            }
            Counts::Bucket => {
                let more = (now - self.since).as_secs_f64() * self.most;
                (self.count, self.since) = ((self.count + more).min(self.most), now);
                let lets_in = self.count >= 1.0;
                self.count -= f64::from(u8::from(lets_in));
                lets_in
            }
        }
    }
}

/// Answers a request after the latency, or rejects it immediately.
async fn answer(limit: Arc<Mutex<Limit>>) -> Answer {
    let lets_in = limit.lock().expect("no thread panics while it holds the lock").lets_in();
    if !lets_in {
        return Answer { head: "429 Too Many Requests\r\nretry-after: 1", body: "{}".to_owned() };
    }
    tokio::time::sleep(LATENCY).await;
    let reply = r#"{"model":"mock","choices":[{"message":{"content":"{\"why\":\"It is in his voice.\",\"score\":4}"},"finish_reason":"stop"}],"usage":{"prompt_tokens":300,"completion_tokens":12}}"#;
    Answer { head: "200 OK", body: reply.to_owned() }
}
